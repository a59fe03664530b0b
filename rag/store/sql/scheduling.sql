-- name: next
-- What a lane may take up, the most urgent first. It tells nothing about the documents but whose they are.
-- Among a user's documents the one that is due first: when it came, and as much later as it is large, but not longer than
-- :most_seconds. So small ones overtake large ones, and no large one waits for ever. Among users the one who was served
-- longest ago; the second document of a user comes after the first of every other.
WITH waiting AS MATERIALIZED (
    SELECT user_id, id, number,
           queued_at + make_interval(secs => least(:most_seconds::float8, CASE :lane::text
               WHEN 'embedding' THEN (chunk_count - vector_count) * :seconds_per_chunk::float8
               ELSE size * :seconds_per_byte::float8
           END)) AS due
    FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NOT NULL
      AND lane_of(renewing, status, chunk_count) = :lane::text
      AND (retry_after IS NULL OR retry_after <= clock_timestamp())
      AND (:most_bytes::bigint IS NULL OR size <= :most_bytes::bigint)
), served AS (
    SELECT u.user_id,
           (SELECT d.taken_at FROM documents d
            WHERE d.user_id = u.user_id AND d.taken_at IS NOT NULL
            ORDER BY d.taken_at DESC LIMIT 1) AS served_at
    FROM (SELECT DISTINCT user_id FROM waiting) AS u
)
SELECT user_id, id
FROM waiting JOIN served USING (user_id)
ORDER BY row_number() OVER (PARTITION BY user_id ORDER BY due, number), served_at NULLS FIRST, due, number
LIMIT :limit;

-- name: take
-- Of a document that is claimed. Nothing if it is no longer in that lane. One that its worker does not survive is left
-- alone before the third attempt, and before each after that longer: others are at work there, too.
UPDATE documents
SET taken_at = clock_timestamp(), attempts = attempts + 1, error = NULL, error_code = NULL,
    retry_after = clock_timestamp() + make_interval(secs => (:pauses::float8[])[attempts])
WHERE user_id = :user_id AND id = :id AND deleted_at IS NULL AND queued_at IS NOT NULL
  AND status IN ('queued', 'parsing', 'embedding') AND lane_of(renewing, status, chunk_count) = :lane
  AND (retry_after IS NULL OR retry_after <= clock_timestamp())
RETURNING attempts;

-- name: give_back
-- Of a worker that stops: it was no attempt.
UPDATE documents SET attempts = greatest(attempts - 1, 0), retry_after = NULL WHERE user_id = :user_id AND id = :id;

-- name: enqueue_abandoned
-- What nobody is at, and whoever took it in does not read any more. Who still reads one holds its claim.
UPDATE documents SET queued_at = now()
WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NULL;

-- name: next_pictures
-- A document whose pictures are still to be read, when no document of anybody waits for its words or vectors.
SELECT user_id, id
FROM documents
WHERE pictures_waiting AND status = 'ready' AND deleted_at IS NULL
  AND (retry_after IS NULL OR retry_after <= clock_timestamp()) AND NOT EXISTS (
    SELECT FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NOT NULL
      AND (retry_after IS NULL OR retry_after <= clock_timestamp()))
ORDER BY taken_at NULLS FIRST
LIMIT 1;

-- name: take_pictures
UPDATE documents
SET taken_at = clock_timestamp(), attempts = attempts + 1,
    retry_after = clock_timestamp() + make_interval(secs => (:pauses::float8[])[attempts])
WHERE user_id = :user_id AND id = :id AND pictures_waiting
RETURNING attempts;

-- name: is_due
-- Whether a document or a job waits that was to be tried again later, and now may be.
SELECT EXISTS (
    SELECT FROM documents
    WHERE retry_after <= clock_timestamp() AND deleted_at IS NULL AND queued_at IS NOT NULL
      AND status IN ('queued', 'parsing', 'embedding')
) OR EXISTS (
    SELECT FROM jobs WHERE retry_after <= clock_timestamp() AND status IN ('queued', 'running')
) AS due;

-- name: are_waiting
-- Whether documents of anybody wait for their words or vectors, or are given them just now.
SELECT EXISTS (
    SELECT FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NOT NULL AND NOT renewing
      AND (retry_after IS NULL OR retry_after <= clock_timestamp())
) AS waiting;
