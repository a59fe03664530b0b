-- name: cancel
-- A document that was being read again keeps its former state if that was complete.
UPDATE documents
SET status = CASE WHEN renewing AND vector_count = chunk_count THEN 'ready' ELSE 'failed' END,
    error = CASE WHEN renewing AND vector_count = chunk_count THEN NULL ELSE :message END,
    error_code = CASE WHEN renewing AND vector_count = chunk_count THEN NULL ELSE :code END,
    renewing = false, attempts = 0, retry_after = NULL, queued_at = NULL
WHERE user_id = :user_id AND id = ANY (:ids::uuid[]) AND status IN ('queued', 'parsing', 'embedding')
RETURNING id;

-- name: lane
SELECT lane_of(renewing, status, chunk_count) AS lane FROM documents
WHERE user_id = :user_id AND id = :document_id AND status IN ('queued', 'parsing', 'embedding');

-- name: resume
-- If only vectors are missing, reading continues with these. A document that is being read stays as it is.
UPDATE documents d
SET status = CASE WHEN only_vectors THEN 'embedding' ELSE 'queued' END,
    progress_done = CASE WHEN only_vectors THEN vector_count ELSE 0 END,
    progress_total = CASE WHEN only_vectors THEN chunk_count ELSE 0 END,
    stage_started_at = clock_timestamp(), stage_started_with = CASE WHEN only_vectors THEN vector_count ELSE 0 END,
    error = NULL, error_code = NULL, attempts = 0, retry_after = NULL,
    renewing = renewing OR chunk_count > 0 AND vector_count = chunk_count
FROM (
    SELECT user_id, id, vector_count < chunk_count AND NOT renewing AND NOT partial AS only_vectors FROM documents
) AS how
WHERE d.user_id = :user_id AND d.id = :document_id AND how.user_id = d.user_id AND how.id = d.id
  AND d.deleted_at IS NULL AND d.status NOT IN ('queued', 'parsing', 'embedding') AND in_sight(d, :within, :with_trash)
RETURNING d.*;

-- name: enqueue
-- A document that waits for a retry is tried at once.
UPDATE documents d
SET queued_at = coalesce(queued_at, clock_timestamp()), attempts = CASE WHEN retry_after IS NULL THEN attempts ELSE 0 END,
    retry_after = NULL, error = NULL, error_code = NULL
WHERE user_id = :user_id AND id = :document_id AND in_sight(d, :within, :with_trash)
RETURNING *;

-- name: postpone
-- It stays in its lane, with the reason for waiting. A cancelled or finished document stays so.
UPDATE documents
SET status = CASE WHEN lane_of(renewing, status, chunk_count) = 'embedding' THEN status ELSE 'queued' END,
    error = :message, error_code = :code, queued_at = coalesce(queued_at, clock_timestamp()),
    retry_after = clock_timestamp() + make_interval(secs => (:pauses::float8[])[attempts])
WHERE user_id = :user_id AND id = :document_id AND status IN ('queued', 'parsing', 'embedding')
RETURNING id;

-- name: present
SELECT *
FROM documents d
WHERE user_id = :user_id AND id = :document_id AND deleted_at IS NULL AND in_sight(d, :within, :with_trash);

-- name: give_up_pictures
UPDATE documents SET pictures_waiting = false, attempts = 0, retry_after = NULL, note = concat_ws(chr(10), note, :note::text)
WHERE user_id = :user_id AND id = :document_id;

-- name: set_trace
UPDATE documents d SET trace_parent = :traceparent
WHERE user_id = :user_id AND id = :document_id AND in_sight(d, :within, :with_trash)
RETURNING id;

-- name: trace
SELECT trace_parent FROM documents WHERE user_id = :user_id AND id = :document_id;
