-- name: create
INSERT INTO jobs (user_id, id, kind, index_name, request)
VALUES (:user_id, :id, :kind, :index_name, :request)
RETURNING *;

-- name: get
SELECT * FROM jobs j WHERE j.user_id = :user_id AND j.id = :job_id AND {job_in_sight};

-- name: list
-- Without results, which may be long.
SELECT user_id, id, kind, index_name, status, progress_done, progress_total, error_code, error, attempts, retry_after,
       created_at, started_at, finished_at
FROM jobs
WHERE user_id = :user_id AND (:kind::text IS NULL OR kind = :kind)
ORDER BY created_at DESC, id
LIMIT :limit::bigint OFFSET :offset::bigint;

-- name: start
-- Continues where it stopped. A job whose worker died is left alone before the third attempt, and longer after that.
UPDATE jobs
SET status = 'running', started_at = coalesce(started_at, clock.at), attempts = attempts + 1,
    error = NULL, error_code = NULL, retry_after = seconds_after(clock.at, (:pauses::float8[])[attempts])
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :job_id AND status IN ('queued', 'running')
RETURNING jobs.*;

-- name: steps
SELECT step, outcome FROM job_steps WHERE user_id = :user_id AND job_id = :job_id;

-- name: save_step
-- Not for a job that was cancelled.
WITH going_on AS (
    UPDATE jobs SET attempts = 0, retry_after = NULL
    WHERE user_id = :user_id AND id = :job_id AND status = 'running'
    RETURNING user_id, id
)
INSERT INTO job_steps (user_id, job_id, step, outcome)
SELECT user_id, id, :step, :outcome FROM going_on
ON CONFLICT (user_id, job_id, step) DO UPDATE SET outcome = EXCLUDED.outcome
RETURNING step;

-- name: update_progress
-- Repeated steps after a restart are no progress.
UPDATE jobs
SET progress_done = CASE WHEN progress_total = :total THEN greatest(progress_done, :done) ELSE :done END,
    attempts = CASE WHEN progress_total = :total AND progress_done >= :done THEN attempts ELSE 0 END,
    retry_after = CASE WHEN progress_total = :total AND progress_done >= :done THEN retry_after END,
    progress_total = :total
WHERE user_id = :user_id AND id = :job_id AND status = 'running'
RETURNING id;

-- name: finish
WITH ended AS (
    UPDATE jobs SET status = 'done', result = :result, retry_after = NULL, finished_at = now()
    WHERE user_id = :user_id AND id = :job_id AND status = 'running'
    RETURNING user_id, id
), gone AS (
    DELETE FROM job_steps s USING ended e WHERE s.user_id = :user_id AND s.job_id = e.id
)
SELECT id FROM ended;

-- name: end
-- As failed or cancelled.
WITH ended AS (
    UPDATE jobs j
    SET status = :status, error_code = :code, error = :message, retry_after = NULL, finished_at = now()
    WHERE j.user_id = :user_id AND j.id = :job_id AND j.status IN ('queued', 'running') AND {job_in_sight}
    RETURNING user_id, id
), gone AS (
    DELETE FROM job_steps s USING ended e WHERE s.user_id = :user_id AND s.job_id = e.id
)
SELECT id FROM ended;

-- name: postpone
-- Continues later, with the reason for waiting.
UPDATE jobs
SET status = 'queued', error_code = :code, error = :message, attempts = greatest(attempts, 1),
    retry_after = seconds_after(clock.at, (:pauses::float8[])[greatest(attempts, 1)])
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :job_id AND status = 'running' AND attempts < :most::int
RETURNING id;

-- name: give_back
-- For a stopping worker: does not count as an attempt.
UPDATE jobs SET attempts = greatest(attempts - 1, 0), retry_after = NULL
WHERE user_id = :user_id AND id = :job_id AND status = 'running'
RETURNING id;

-- name: give_way
-- Does not count as an attempt; the time of yielding decides whose turn is next.
UPDATE jobs SET attempts = greatest(attempts - 1, 0), retry_after = now()
WHERE user_id = :user_id AND id = :job_id AND status = 'running'
RETURNING id;

-- name: others_wait
-- Whether a job waits of another user, none of whose jobs is running.
WITH others AS (
    SELECT bool_or(retry_after IS NULL OR retry_after <= clock_timestamp()) AS is_waiting,
           bool_or(claim_key(user_id, id) IN (SELECT held_claims())) AS is_served
    FROM jobs
    WHERE status IN ('queued', 'running') AND user_id <> :user_id
    GROUP BY user_id
)
SELECT EXISTS (SELECT 1 FROM others WHERE is_waiting AND NOT is_served) AS waiting;

-- name: next
-- Of a user's jobs those that were started come first, then the one that is due first: its creation time plus a delay
-- by size. A user's second job comes after the first of every other user; users are ordered by when their last job
-- started or yielded. Returns nothing of what the jobs ask.
WITH waiting AS MATERIALIZED (
    SELECT user_id, id, kind, index_name, status, retry_after,
           created_at + make_interval(secs => least(:most_seconds::float8, CASE
               WHEN kind = 'matrix' THEN question_count * :seconds_per_question::float8
               ELSE :most_seconds::float8
           END)) AS due
    FROM jobs
    WHERE status IN ('queued', 'running') AND (retry_after IS NULL OR retry_after <= clock_timestamp())
), served AS MATERIALIZED (
    SELECT j.user_id, greatest(max(j.started_at), max(w.gave_way_at)) AS served_at
    FROM jobs j JOIN (SELECT user_id, max(retry_after) AS gave_way_at FROM waiting GROUP BY user_id) AS w ON w.user_id = j.user_id
    GROUP BY j.user_id
)
SELECT user_id, id, kind, index_name
FROM waiting JOIN served USING (user_id)
ORDER BY row_number() OVER (PARTITION BY user_id ORDER BY status = 'running' DESC, due), served_at NULLS FIRST, due
LIMIT :limit;
