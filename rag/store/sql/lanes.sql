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
-- Of a document that is claimed. Nothing if it is no longer in that lane.
UPDATE documents SET taken_at = clock_timestamp(), attempts = attempts + 1
WHERE user_id = :user_id AND id = :id AND deleted_at IS NULL AND queued_at IS NOT NULL
  AND status IN ('queued', 'parsing', 'embedding') AND lane_of(renewing, status, chunk_count) = :lane
RETURNING attempts;

-- name: give_back
-- Of a worker that stops: it was no attempt.
UPDATE documents SET attempts = greatest(attempts - 1, 0) WHERE user_id = :user_id AND id = :id;

-- name: line_up
-- What nobody is at, and whoever took it in does not read any more. Who still reads one holds its claim.
UPDATE documents SET queued_at = now()
WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NULL;

-- name: next_pictures
-- A document whose pictures are still to be read, when no document of anybody waits for its words or vectors.
SELECT user_id, id
FROM documents
WHERE pictures_waiting AND status = 'ready' AND deleted_at IS NULL AND NOT EXISTS (
    SELECT FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL AND queued_at IS NOT NULL)
ORDER BY taken_at NULLS FIRST
LIMIT 1;

-- name: take_pictures
UPDATE documents SET taken_at = clock_timestamp(), attempts = attempts + 1
WHERE user_id = :user_id AND id = :id AND pictures_waiting
RETURNING attempts;
