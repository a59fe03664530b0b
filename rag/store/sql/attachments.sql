-- name: set_parts
UPDATE documents SET parts = :parts WHERE user_id = :user_id AND id = :document_id RETURNING id;

-- name: of
SELECT user_id, id, index_id, name, mime_type, sha256, size, source, shown_source, title, status, progress_done, progress_total, error,
       error_code, page_count, failed_pages, line_count, chunk_count, language, created_at, indexed_at, deleted_at, vector_count,
       pictures_waiting, completeness, note, container_id, lineage_id, version, superseded_by, author, dated, given_title,
       given_author, given_date, tags, disabled, parts, stage_started_at, stage_started_with
FROM documents d
WHERE user_id = :user_id AND container_id = ANY (:ids::uuid[]) AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
ORDER BY number;

-- name: containers
-- The containers around a document, innermost first.
WITH RECURSIVE containers AS (
    SELECT container_id AS id, 1 AS depth
    FROM documents
    WHERE user_id = :user_id AND id = :document_id AND container_id IS NOT NULL
    UNION ALL
    SELECT d.container_id, c.depth + 1
    FROM containers c JOIN documents d ON d.user_id = :user_id AND d.id = c.id
    WHERE d.container_id IS NOT NULL
)
SELECT id FROM containers ORDER BY depth;

-- name: unpacked
-- Everything in `container_id` except the content of `document_id`, which is about to be read.
WITH RECURSIVE inside AS (
    SELECT id, size FROM documents WHERE user_id = :user_id AND container_id = :container_id
    UNION ALL
    SELECT d.id, d.size
    FROM inside i JOIN documents d ON d.user_id = :user_id AND d.container_id = i.id
    WHERE i.id <> :document_id
)
SELECT count(*)::int AS files, coalesce(sum(size), 0)::bigint AS size FROM inside;

-- name: match_trash_state
-- The container may have been trashed or restored while its attachments were added.
UPDATE documents d SET deleted_at = c.deleted_at
FROM documents c
WHERE c.user_id = :user_id AND c.id = :container_id
  AND d.user_id = :user_id AND d.id = ANY (:ids::uuid[]) AND d.deleted_at IS DISTINCT FROM c.deleted_at
RETURNING d.id;

-- name: trash
-- Attachments of trashed containers, at any depth. Those that are also in another visible container stay.
WITH RECURSIVE inside AS (
    SELECT id FROM documents WHERE user_id = :user_id AND container_id = ANY (:ids::uuid[]) AND deleted_at IS NULL
    UNION
    SELECT d.id
    FROM inside i JOIN documents d ON d.user_id = :user_id AND d.container_id = i.id
    WHERE d.deleted_at IS NULL
), staying AS (
    SELECT i.id
    FROM inside i
    WHERE EXISTS (
        SELECT 1 FROM documents o
        WHERE o.user_id = :user_id AND o.deleted_at IS NULL AND o.parts <> '[]'
          AND o.parts @> jsonb_build_array(jsonb_build_object('document_id', i.id))
          AND o.id <> ALL (:ids::uuid[]) AND o.id NOT IN (SELECT id FROM inside))
    UNION
    SELECT d.id FROM staying s JOIN documents d ON d.user_id = :user_id AND d.container_id = s.id
)
UPDATE documents d SET deleted_at = now()  -- the time of the transaction: what goes together has the same
WHERE d.user_id = :user_id AND d.id IN (SELECT id FROM inside EXCEPT SELECT id FROM staying)
  AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
RETURNING d.id;

-- name: restore
-- What was trashed with its container is restored with it; what was trashed by itself stays in the trash.
WITH RECURSIVE inside AS (
    SELECT d.id, d.deleted_at
    FROM unnest(:ids::uuid[], :times::timestamptz[]) AS c (id, deleted_at)
    JOIN documents d ON d.user_id = :user_id AND d.container_id = c.id AND d.deleted_at = c.deleted_at
    UNION
    SELECT d.id, d.deleted_at
    FROM inside i
    JOIN documents d ON d.user_id = :user_id AND d.container_id = i.id AND d.deleted_at = i.deleted_at
)
UPDATE documents d SET deleted_at = NULL
FROM inside i
WHERE d.user_id = :user_id AND d.id = i.id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
RETURNING d.id;

-- name: to_purge
WITH RECURSIVE inside AS (
    SELECT id FROM documents WHERE user_id = :user_id AND container_id = ANY (:ids::uuid[]) AND deleted_at IS NOT NULL
    UNION
    SELECT d.id
    FROM inside i JOIN documents d ON d.user_id = :user_id AND d.container_id = i.id
    WHERE d.deleted_at IS NOT NULL
)
SELECT d.id, d.number, d.name
FROM documents d
WHERE d.user_id = :user_id AND d.id IN (SELECT id FROM inside) AND d.id <> ALL (:ids::uuid[])
FOR UPDATE;

-- name: release
-- The remaining attachments become ordinary documents.
UPDATE documents SET container_id = NULL WHERE user_id = :user_id AND container_id = ANY (:ids::uuid[]);
