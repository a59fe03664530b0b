-- The documents in a list. Of the versions of a document these are the current one and those that will replace it; in the
-- trash, older ones only if they were deleted on their own. `wanted` is searched in names, titles, authors and tags.
CREATE OR REPLACE FUNCTION documents_listed(
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
      AND ($15 IS NULL OR EXISTS (
          SELECT FROM unnest(
              ARRAY[d.name, coalesce(d.given_title, d.title), coalesce(d.given_author, d.author)] || d.tags
          ) AS field (words)
          WHERE position(lower($15) IN lower(field.words)) > 0))
$$;
