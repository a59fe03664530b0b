-- What answers show of a document's source, which may be read on other machines: an address, or of a file of this
-- machine its path in the folder that it follows, else its name. Without one it is the document's name; the next sync of
-- its folder tells the path of what is there already.

ALTER TABLE documents ADD COLUMN shown_source text;

UPDATE documents SET shown_source = regexp_replace(source, '://[^/@]*@', '://')
WHERE source !~* '^([/\\~]|[a-z]:[/\\]|(file|local):)' AND source NOT LIKE '%::%';

-- A source may be named as answers show it, in full, or by the end of its path.
CREATE OR REPLACE FUNCTION documents_in_scope(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz DEFAULT NULL, added_before timestamptz DEFAULT NULL
) RETURNS TABLE (id uuid, number int, chunk_count int, lexeme_count bigint)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count
    FROM documents d
    WHERE d.user_id = of_user AND d.index_id = of_index AND d.deleted_at IS NULL
      AND ($3 IS NULL OR d.id = ANY ($3))
      AND ($4 IS NULL OR d.mime_type = ANY ($4))
      AND ($5 IS NULL OR coalesce(d.shown_source, d.name) = ANY ($5) OR d.source = ANY ($5)
           OR EXISTS (SELECT FROM unnest($5) AS s WHERE s <> '' AND right(d.source, length(s) + 1) = '/' || s))
      AND ($6 IS NULL OR starts_with(coalesce(d.shown_source, d.name), $6) OR starts_with(d.source, $6))
      AND ($7 IS NULL OR d.created_at >= $7)
      AND ($8 IS NULL OR d.created_at < $8)
$$;
