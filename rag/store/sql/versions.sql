-- name: of_same_name
-- The latest document that a file of this name and content may be a version of, without those that follow a folder.
SELECT d.*
FROM documents d
WHERE d.user_id = :user_id AND d.index_id = :index_id AND is_within(d.index_id, :within) AND d.name = :name AND d.deleted_at IS NULL
  AND d.superseded_by IS NULL AND NOT d.follows_source
  AND d.container_id IS NULL AND NOT d.mime_type = ANY (:containers)
  AND NOT EXISTS (
      SELECT 1 FROM documents s
      WHERE s.user_id = d.user_id AND s.index_id = d.index_id AND s.sha256 = :sha256)
ORDER BY d.number DESC
LIMIT 1;

-- name: list
-- All versions of the documents that have these among their versions.
SELECT {document_columns}
FROM documents o JOIN documents d ON d.user_id = o.user_id AND d.lineage_id = o.lineage_id
WHERE o.user_id = :user_id AND o.id = ANY (:ids::uuid[])
  AND in_sight(o.index_id, o.deleted_at, :within, :with_trash) AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
  AND (d.deleted_at IS NULL OR :in_trash)
ORDER BY d.lineage_id, d.version DESC, d.number DESC;

-- name: replaced
-- The current version, which a version that was read is to replace.
SELECT c.id
FROM documents o JOIN documents c ON c.user_id = o.user_id AND c.lineage_id = o.lineage_id AND c.superseded_by IS NULL
WHERE o.user_id = :user_id AND o.id = :document_id AND o.superseded_by IS NOT NULL AND o.status = 'ready'
  AND o.deleted_at IS NULL;

-- name: taker
-- A document that was in the trash since it was added was not thrown away.
SELECT d.deleted_at <> d.created_at AS thrown_away FROM documents d WHERE d.user_id = :user_id AND d.id = :document_id;

-- name: supersede
SELECT supersede(:user_id, :document_id, :older::uuid[]);
