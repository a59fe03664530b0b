-- Lists of documents in any order, a page of them at a time: one place that says what such a list has.

-- Of a document's versions the one that is searched, and those that are still to take over; in the trash older ones only
-- where they were thrown away by themselves. `wanted` is looked for in names and titles.
CREATE FUNCTION documents_listed(
    of_user text, of_index uuid, within uuid, with_trash boolean, document_ids uuid[], mime_types text[], sources text[],
    source_prefix text, added_after timestamptz, added_before timestamptz,
    of_tags text[], of_author text, dated_after date, dated_before date,
    wanted text, of_status text, is_disabled boolean, in_trash boolean
) RETURNS SETOF documents
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.*
    FROM documents_filtered($1, only_within($2, $3), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) d
    WHERE (d.deleted_at IS NOT NULL) = $18 AND in_sight(d, $3, $4)
      AND (d.superseded_by IS NULL OR CASE WHEN $18 THEN NOT went_along(d) ELSE is_to_take_over(d) END)
      AND ($17 IS NULL OR d.disabled = $17)
      AND ($16 IS NULL OR d.status = $16)
      AND ($15 IS NULL
           OR position(lower($15) IN lower(d.name)) > 0
           OR position(lower($15) IN lower(coalesce(d.given_title, d.title, ''))) > 0)
$$;

-- Documents as they are into another index of the same embedding space and chunking: with their chunks and vectors, of
-- which only those stay that are searched by. Words are found by documents and need nothing.
CREATE FUNCTION move_documents(of_user text, ids uuid[], target uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    chunks text;
BEGIN
    FOR chunks IN
        SELECT relname
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^data_document_chunks_[0-9]+$'
    LOOP
        EXECUTE format($move$
            DELETE FROM %1$I c USING documents d, indexes i
            WHERE c.user_id = $1 AND c.document_id = ANY ($2) AND d.user_id = $1 AND d.id = c.document_id
              AND i.user_id = $1 AND i.id = d.index_id AND c.generation <> i.generation
        $move$, chunks) USING of_user, ids;
        EXECUTE format($move$
            UPDATE %1$I c SET index_id = $3, generation = i.generation
            FROM indexes i
            WHERE c.user_id = $1 AND c.document_id = ANY ($2) AND i.user_id = $1 AND i.id = $3
        $move$, chunks) USING of_user, ids, target;
    END LOOP;
    UPDATE documents d SET index_id = target WHERE d.user_id = of_user AND d.id = ANY (ids);
END
$$;
