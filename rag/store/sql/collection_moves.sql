-- name: going
-- With all versions and attachments, which are locked until the transaction ends.
WITH RECURSIVE going AS (
    SELECT d.id
    FROM documents d
    WHERE d.user_id = :user_id AND d.lineage_id IN (
        SELECT c.lineage_id FROM documents c
        WHERE c.user_id = :user_id AND c.id = ANY (:ids::uuid[]) AND c.deleted_at IS NULL AND c.superseded_by IS NULL)
    UNION
    SELECT p.id FROM going g JOIN documents p ON p.user_id = :user_id AND p.container_id = g.id
)
SELECT d.id, d.index_id, d.name, d.status, d.follows_source, d.sha256,
       d.container_id IS NOT NULL AND d.id = ANY (:ids::uuid[]) AS is_part
FROM documents d
WHERE d.user_id = :user_id AND d.id IN (SELECT g.id FROM going g)
ORDER BY d.lineage_id, d.version DESC
FOR UPDATE;

-- name: indexes
-- Locked until the documents have moved.
SELECT * FROM indexes WHERE user_id = :user_id AND id = ANY (:index_ids::uuid[]) ORDER BY id FOR SHARE;

-- name: twins
SELECT name FROM documents
WHERE user_id = :user_id AND index_id = :index_id AND sha256 = ANY (:hashes::text[]) AND NOT follows_source
LIMIT 1;

-- name: move
SELECT move_documents(:user_id, :ids::uuid[], :index_id::uuid);
