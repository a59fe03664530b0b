-- name: create
INSERT INTO jobs (user_id, id, kind, index_name, request)
VALUES (:user_id, :id, :kind, :index_name, :request)
RETURNING *;

-- name: get
SELECT * FROM jobs WHERE user_id = :user_id AND id = :job_id;

-- name: list
-- Without results, which may be long.
SELECT user_id, id, kind, index_name, status, progress_done, progress_total, error_code, error, created_at, started_at,
       finished_at
FROM jobs
WHERE user_id = :user_id AND (:kind::text IS NULL OR kind = :kind)
ORDER BY created_at DESC, id
LIMIT :limit::bigint OFFSET :offset::bigint;

-- name: start
UPDATE jobs SET status = 'running', started_at = clock_timestamp(), progress_done = 0
WHERE user_id = :user_id AND id = :job_id AND status IN ('queued', 'running')
RETURNING *;

-- name: update_progress
UPDATE jobs SET progress_done = :done, progress_total = :total
WHERE user_id = :user_id AND id = :job_id AND status = 'running'
RETURNING id;

-- name: finish
UPDATE jobs SET status = 'done', result = :result, finished_at = clock_timestamp()
WHERE user_id = :user_id AND id = :job_id AND status = 'running'
RETURNING id;

-- name: fail
UPDATE jobs SET status = 'failed', error_code = :code, error = :message, finished_at = clock_timestamp()
WHERE user_id = :user_id AND id = :job_id AND status IN ('queued', 'running')
RETURNING id;

-- name: unfinished
-- For a worker. The second job of a user comes after the first of every other.
SELECT user_id, id FROM jobs WHERE status IN ('queued', 'running')
ORDER BY row_number() OVER (PARTITION BY user_id ORDER BY created_at), created_at;
