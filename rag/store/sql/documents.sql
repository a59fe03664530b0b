-- name: add
INSERT INTO documents (user_id, index_id, id, name, mime_type, sha256, size, source, shown_source, status,
                       follows_source, deleted_at, lineage_id, container_id)
SELECT i.user_id, i.id, :id, :name, :mime_type, :sha256, :size, :source, :shown_source, :status, :follows_source,
       CASE WHEN :in_trash THEN now() END, :id, :container_id
FROM indexes i
WHERE i.user_id = :user_id AND i.id = :index_id
  AND (:follows_source OR NOT EXISTS (
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
       given_author, given_date, tags, disabled, stage_started_at, stage_started_with
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

-- name: cancel
-- A document that is read again stays what it was before, if that was all of it.
UPDATE documents
SET status = CASE WHEN renewing AND vector_count = chunk_count THEN 'ready' ELSE 'failed' END,
    error = CASE WHEN renewing AND vector_count = chunk_count THEN NULL ELSE :message END,
    error_code = CASE WHEN renewing AND vector_count = chunk_count THEN NULL ELSE :code END,
    renewing = false, attempts = 0, queued_at = NULL
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND status IN ('queued', 'parsing', 'embedding')
RETURNING id;

-- name: lane
SELECT lane_of(renewing, status, chunk_count) AS lane FROM documents
WHERE user_id = :user_id AND id = :document_id AND status IN ('queued', 'parsing', 'embedding');

-- name: requeue
-- From its beginning. What is found of it stays until then.
UPDATE documents
SET status = 'queued', progress_done = 0, progress_total = 0, error = NULL, error_code = NULL, attempts = 0,
    renewing = chunk_count > 0 AND NOT partial, queued_at = NULL
WHERE user_id = :user_id AND id = :document_id AND deleted_at IS NULL
RETURNING *;

-- name: resume
-- Where it stopped: of a document whose words are all here only vectors are missing. One that is being read goes on.
UPDATE documents d
SET status = CASE WHEN only_vectors THEN 'embedding' ELSE 'queued' END,
    progress_done = CASE WHEN only_vectors THEN vector_count ELSE 0 END,
    progress_total = CASE WHEN only_vectors THEN chunk_count ELSE 0 END,
    stage_started_at = clock_timestamp(), stage_started_with = CASE WHEN only_vectors THEN vector_count ELSE 0 END,
    error = NULL, error_code = NULL, attempts = 0,
    renewing = renewing OR chunk_count > 0 AND vector_count = chunk_count
FROM (
    SELECT user_id, id, vector_count < chunk_count AND NOT renewing AND NOT partial AS only_vectors FROM documents
) AS how
WHERE d.user_id = :user_id AND d.id = :document_id AND how.user_id = d.user_id AND how.id = d.id
  AND d.deleted_at IS NULL AND d.status NOT IN ('queued', 'parsing', 'embedding')
RETURNING d.*;

-- name: enqueue
UPDATE documents SET queued_at = coalesce(queued_at, clock_timestamp())
WHERE user_id = :user_id AND id = :document_id
RETURNING *;

-- name: trash
UPDATE documents SET deleted_at = now()
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND deleted_at IS NULL
RETURNING id;

-- name: restore
UPDATE documents SET deleted_at = NULL
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND deleted_at IS NOT NULL
RETURNING id;

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
