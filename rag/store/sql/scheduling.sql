-- name: next
-- The most urgent documents of a lane, by ids only. Of a user's documents the one that is due first: its arrival plus a
-- delay by size of up to :most_seconds, so small ones overtake large ones, and no large one waits for ever. A user's
-- second document comes after the first of every other user; users are ordered by when they were last served, if that was
-- within ten minutes: older documents are not looked at.
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
), served AS MATERIALIZED (
    SELECT d.user_id, max(d.taken_at) AS served_at
    FROM documents d
    WHERE d.user_id IN (SELECT w.user_id FROM waiting w) AND d.taken_at > now() - interval '10 minutes'
    GROUP BY d.user_id
)
SELECT user_id, id
FROM waiting LEFT JOIN served USING (user_id)
ORDER BY row_number() OVER (PARTITION BY user_id ORDER BY due, number), served_at NULLS FIRST, due, number
LIMIT :limit;

-- name: take
-- For a locked document; returns nothing if it has left the lane. A document whose worker died is left alone before the
-- third attempt, and longer before each later one.
UPDATE documents
SET taken_at = clock.at, attempts = attempts + 1, error = NULL, error_code = NULL,
    retry_after = seconds_after(clock.at, (:pauses::float8[])[attempts])
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :id AND deleted_at IS NULL AND queued_at IS NOT NULL
  AND status IN ('queued', 'parsing', 'embedding') AND lane_of(renewing, status, chunk_count) = :lane
  AND (retry_after IS NULL OR retry_after <= clock.at)
RETURNING attempts;

-- name: give_back
-- For a stopping worker: does not count as an attempt.
UPDATE documents SET attempts = greatest(attempts - 1, 0), retry_after = NULL WHERE user_id = :user_id AND id = :id;

-- name: enqueue_abandoned
-- Documents that no process has locked, and that their uploader no longer reads.
UPDATE documents SET queued_at = now()
WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NULL;

-- name: next_pictures
-- A document with unread pictures, if no document of any user waits to be read or embedded.
SELECT user_id, id
FROM documents
WHERE pictures_waiting AND status = 'ready' AND deleted_at IS NULL
  AND (retry_after IS NULL OR retry_after <= clock_timestamp()) AND NOT EXISTS (
    SELECT 1 FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NOT NULL
      AND (retry_after IS NULL OR retry_after <= clock_timestamp()))
ORDER BY taken_at NULLS FIRST
LIMIT 1;

-- name: take_pictures
UPDATE documents
SET taken_at = clock.at, attempts = attempts + 1, retry_after = seconds_after(clock.at, (:pauses::float8[])[attempts])
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :id AND pictures_waiting
RETURNING attempts;

-- name: is_due
-- Whether the retry of a document or a job is due.
SELECT EXISTS (
    SELECT 1 FROM documents
    WHERE retry_after <= clock_timestamp() AND deleted_at IS NULL AND queued_at IS NOT NULL
      AND status IN ('queued', 'parsing', 'embedding')
) OR EXISTS (
    SELECT 1 FROM jobs WHERE retry_after <= clock_timestamp() AND status IN ('queued', 'running')
) AS due;

-- name: are_waiting
-- Whether documents of any user wait to be read or embedded, or are being so.
SELECT EXISTS (
    SELECT 1 FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NOT NULL AND NOT renewing
      AND (retry_after IS NULL OR retry_after <= clock_timestamp())
) AS waiting;

-- name: unfinished
-- For workers, of all users: ids only.
SELECT user_id, id
FROM documents
WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL
ORDER BY created_at, number;
