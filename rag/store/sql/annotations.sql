-- name: list
SELECT id, document_id, regions, quote, note, created_at
FROM annotations
WHERE user_id = :user_id AND document_id = :document_id
ORDER BY (regions -> 0 ->> 'page_number')::int, (regions -> 0 -> 'rects' -> 0 ->> 1)::float8, created_at;

-- name: add
-- Up to the maximum per document. The store checks before that the user may see the document.
INSERT INTO annotations (user_id, id, owner, document_id, regions, quote, note)
SELECT :user_id, :id, :owner, :document_id, :regions, :quote, :note
WHERE (SELECT count(*) FROM annotations WHERE user_id = :user_id AND document_id = :document_id) < :most
RETURNING id, document_id, regions, quote, note, created_at;

-- name: edit
UPDATE annotations SET note = :note
WHERE user_id = :user_id AND document_id = :document_id AND id = :id
RETURNING id, document_id, regions, quote, note, created_at;

-- name: delete
DELETE FROM annotations WHERE user_id = :user_id AND document_id = :document_id AND id = :id RETURNING id;
