-- name: add
INSERT INTO documents (user_id, index_id, id, name, mime_type, sha256, size, source, shown_source, status,
                       follows_source, deleted_at, lineage_id, container_id)
SELECT i.user_id, i.id, :id, :name, :mime_type, :sha256, :size, :source, :shown_source, :status,
       :follows_source OR coalesce(c.follows_source, false),  -- so do the parts of what follows one
       CASE WHEN :in_trash THEN now() ELSE c.deleted_at END, :id, c.id
FROM indexes i LEFT JOIN documents c ON c.user_id = i.user_id AND c.id = :container_id
WHERE i.user_id = :user_id AND i.id = :index_id AND (:container_id::uuid IS NULL OR c.id IS NOT NULL)
  AND (:follows_source OR c.follows_source IS TRUE OR NOT EXISTS (
      SELECT 1 FROM documents d
      WHERE d.user_id = :user_id AND d.index_id = :index_id AND d.sha256 = :sha256))
ON CONFLICT DO NOTHING
RETURNING *;

-- name: same_content
-- Of those with the content the one that can be seen first.
SELECT id, name, deleted_at IS NOT NULL AS in_trash
FROM documents
WHERE user_id = :user_id AND index_id = :index_id AND sha256 = :sha256
  AND (NOT :follows_source OR (follows_source AND source = :source))
ORDER BY deleted_at DESC NULLS FIRST, number
LIMIT 1;

-- name: get
SELECT * FROM documents WHERE user_id = :user_id AND id = :document_id;

-- name: list
-- Without the pages' sizes, which can be thousands per document.
SELECT user_id, id, index_id, name, mime_type, sha256, size, source, shown_source, title, status, progress_done, progress_total, error,
       error_code, page_count, failed_pages, line_count, chunk_count, language, created_at, indexed_at, deleted_at, vector_count,
       pictures_waiting, completeness, container_id, lineage_id, version, superseded_by, author, dated, given_title,
       given_author, given_date, tags, disabled, parts, stage_started_at, stage_started_with
FROM documents
WHERE user_id = :user_id AND index_id = :index_id AND (deleted_at IS NOT NULL) = :in_trash
  AND (:search::text IS NULL
       OR position(lower(:search::text) IN lower(name)) > 0
       OR position(lower(:search::text) IN lower(coalesce(title, ''))) > 0)
ORDER BY coalesce(deleted_at, created_at) DESC, number DESC
LIMIT :limit::bigint OFFSET :offset::bigint;

-- name: languages
SELECT id, language FROM documents WHERE user_id = :user_id AND id = ANY (:ids::uuid[]);

-- name: update_progress
-- Also in the trash: it may come back, and then tells how far it is. What is not being read any more says nothing.
UPDATE documents
SET stage_started_at = CASE WHEN status = :status AND progress_done <= :done THEN stage_started_at ELSE clock_timestamp() END,
    stage_started_with = CASE WHEN status = :status AND progress_done <= :done THEN stage_started_with ELSE :done END,
    status = :status, progress_done = :done, progress_total = :total, error = NULL, error_code = NULL
WHERE user_id = :user_id AND id = :document_id AND status IN ('queued', 'parsing', 'embedding')
RETURNING id;

-- name: fail
-- What was cancelled stays so, whatever its end looked like to who was at it.
UPDATE documents
SET status = 'failed', attempts = 0, queued_at = NULL,
    error = CASE WHEN error_code = 'cancelled' THEN error ELSE :message END,
    error_code = CASE WHEN error_code = 'cancelled' THEN error_code ELSE :code END
WHERE user_id = :user_id AND id = :document_id
RETURNING id;

-- name: requeue
-- From its beginning. What is found of it stays until then.
UPDATE documents
SET status = 'queued', progress_done = 0, progress_total = 0, error = NULL, error_code = NULL, attempts = 0,
    renewing = chunk_count > 0 AND NOT partial, queued_at = NULL
WHERE user_id = :user_id AND id = :document_id AND deleted_at IS NULL
RETURNING *;

-- name: trash
UPDATE documents SET deleted_at = now()
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND deleted_at IS NULL
RETURNING id;

-- name: restore
UPDATE documents d SET deleted_at = NULL
FROM (SELECT id, deleted_at
      FROM documents
      WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND deleted_at IS NOT NULL
      FOR UPDATE) AS was
WHERE d.user_id = :user_id AND d.id = was.id
RETURNING d.id, was.deleted_at AS was_deleted_at;

-- name: purge
DELETE FROM documents
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND deleted_at IS NOT NULL
RETURNING id;

-- name: unfinished
-- For the restart of a worker, who works for all users; it tells nothing about the documents.
SELECT user_id, id
FROM documents
WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL
ORDER BY created_at, number;
