-- name: edit
-- The user's values are stored beside those of the file, which apply again when the user's are removed.
UPDATE documents d
SET name = coalesce(:name, name), tags = coalesce(:tags::text[], tags), disabled = coalesce(:disabled, disabled),
    given_title = CASE WHEN :sets_title THEN :title ELSE given_title END,
    given_author = CASE WHEN :sets_author THEN :author ELSE given_author END,
    given_date = CASE WHEN :sets_dated THEN :dated::date ELSE given_date END
WHERE user_id = :user_id AND id = :document_id AND in_sight(d, :within, :with_trash)
RETURNING *;

-- name: tag
-- Of tags that differ only in case the first stays, so existing ones do.
UPDATE documents d
SET tags = ARRAY(
    SELECT kept.tag
    FROM (
        SELECT DISTINCT ON (lower(tag)) tag, place
        FROM unnest(tags || :added::text[]) WITH ORDINALITY AS all_tags (tag, place)
        WHERE NOT has_tags(:removed::text[], ARRAY[tag])
        ORDER BY lower(tag), place
    ) AS kept
    ORDER BY kept.place
)
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND in_sight(d, :within, :with_trash)
RETURNING id;

-- name: tags
SELECT min(tag) AS name, count(*) AS documents
FROM documents, unnest(tags) AS tag
WHERE user_id = :user_id AND index_id = :index_id AND is_within(index_id, :within)
  AND deleted_at IS NULL AND superseded_by IS NULL
GROUP BY lower(tag)
ORDER BY lower(tag);

-- name: names
SELECT name, given_title FROM documents d
WHERE user_id = :user_id AND id = :document_id AND in_sight(d, :within, :with_trash);
