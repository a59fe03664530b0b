-- A source may be named as answers show it, in full, or by the end of its path (data/policies.md); a prefix as a beginning
-- of these, or as folders of the path (data/, data/p). Backslashes of Windows are taken as slashes.
CREATE OR REPLACE FUNCTION documents_filtered(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz, added_before timestamptz,
    of_tags text[], of_author text, dated_after date, dated_before date
) RETURNS SETOF documents
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.*
    FROM documents d,
         LATERAL (SELECT translate(coalesce(d.shown_source, d.name), '\', '/') AS shown,
                         translate(d.source, '\', '/') AS path,
                         ARRAY(SELECT translate(s, '\', '/') FROM unnest($5) AS s WHERE s <> '') AS ends,
                         translate($6, '\', '/') AS prefix) AS n
    WHERE d.user_id = of_user AND d.index_id = of_index
      AND ($3 IS NULL OR d.id = ANY ($3))
      AND ($4 IS NULL OR d.mime_type = ANY ($4))
      AND ($5 IS NULL OR n.shown = ANY (n.ends) OR n.path = ANY (n.ends)
           OR EXISTS (SELECT FROM unnest(n.ends) AS s WHERE right(n.path, length(s) + 1) = '/' || s))
      AND ($6 IS NULL OR starts_with(n.shown, n.prefix) OR starts_with(n.path, n.prefix)
           OR position('/' || rtrim(n.prefix, '/') || '/' IN n.path) > 0
           OR (position('/' IN n.prefix) > 0 AND position('/' || n.prefix IN n.path) > 0))
      AND ($7 IS NULL OR d.created_at >= $7)
      AND ($8 IS NULL OR d.created_at < $8)
      AND ($9 IS NULL OR has_tags(d.tags, $9))
      AND ($10 IS NULL OR position(lower($10) IN lower(coalesce(d.given_author, d.author, ''))) > 0)
      AND ($11 IS NULL OR coalesce(d.given_date, d.dated) >= $11)
      AND ($12 IS NULL OR coalesce(d.given_date, d.dated) < $12)
$$;
