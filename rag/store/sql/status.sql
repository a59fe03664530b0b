-- Numbers of all users together. Of single documents and jobs only owner, id and progress, never a name or a text.

-- name: database
SELECT current_setting('server_version') AS server_version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
       (SELECT max(name) FROM migrations WHERE name ~ '^[0-9]{4}_') AS migration,
       pg_database_size(current_database()) AS bytes,
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()) AS connections,
       current_setting('max_connections')::int AS max_connections,
       (SELECT extract(epoch FROM clock_timestamp() - min(xact_start))::float8 FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()) AS oldest_transaction_seconds,
       CASE WHEN pg_is_in_recovery()
            THEN extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8
       END AS behind_primary_seconds;

-- name: replicas
SELECT coalesce(application_name, '') AS name, coalesce(state, 'unknown') AS state,
       extract(epoch FROM replay_lag)::float8 AS behind_seconds
FROM pg_stat_replication
ORDER BY application_name;

-- name: workers
SELECT id, last_heartbeat AS last_seen
FROM procrastinate_workers
WHERE last_heartbeat > now() - make_interval(secs => :stalled_seconds)
ORDER BY id;

-- name: lanes
-- What waits, and what a worker has locked.
WITH work AS (
    SELECT lane_of(renewing, status, chunk_count) AS lane, user_id, id, queued_at AS since
    FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL
    UNION ALL
    SELECT 'pictures', user_id, id, indexed_at
    FROM documents
    WHERE pictures_waiting AND status = 'ready' AND deleted_at IS NULL
    UNION ALL
    SELECT 'jobs', user_id, id, created_at
    FROM jobs
    WHERE status IN ('queued', 'running')
), found AS (
    SELECT lane, since, claim_key(user_id, id) IN (SELECT held_claims()) AS is_taken
    FROM work
)
SELECT lane,
       count(*) FILTER (WHERE NOT is_taken) AS waiting,
       count(*) FILTER (WHERE is_taken) AS running,
       extract(epoch FROM clock_timestamp() - min(since) FILTER (WHERE NOT is_taken))::float8 AS oldest_seconds
FROM found
GROUP BY lane;

-- name: running
WITH work AS (
    SELECT lane_of(renewing, status, chunk_count) AS kind, user_id, id, progress_done AS done, progress_total AS total,
           taken_at AS since
    FROM documents
    WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL
    UNION ALL
    SELECT 'pictures', user_id, id, 0, 0, taken_at
    FROM documents
    WHERE pictures_waiting AND status = 'ready' AND deleted_at IS NULL
    UNION ALL
    SELECT kind, user_id, id, progress_done, progress_total, started_at
    FROM jobs
    WHERE status IN ('queued', 'running')
)
SELECT kind, user_id, id, done, total, since
FROM work
WHERE claim_key(user_id, id) IN (SELECT held_claims())
ORDER BY since NULLS LAST, id
LIMIT :limit;

-- name: library
SELECT (SELECT count(*) FROM (SELECT user_id FROM accounts UNION SELECT user_id FROM documents) AS known) AS users, counted.*
FROM (
    SELECT count(*) FILTER (WHERE deleted_at IS NULL) AS documents,
           count(*) FILTER (WHERE deleted_at IS NOT NULL) AS in_trash,
           count(*) FILTER (WHERE deleted_at IS NULL AND status = 'failed') AS failed,
           coalesce(sum(page_count), 0)::bigint AS pages,
           coalesce(sum(size), 0)::bigint AS original_bytes
    FROM documents
) AS counted;

-- name: indexes
SELECT (SELECT count(*) FROM indexes) AS indexes, counted.*,
       (SELECT coalesce(array_agg(c.relname::text ORDER BY c.relname), '{}')
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE NOT i.indisvalid AND c.relnamespace = current_schema()::regnamespace) AS invalid
FROM (
    SELECT coalesce(sum(chunk_count), 0)::bigint AS chunks,
           coalesce(sum(chunk_count - vector_count) FILTER (WHERE status = 'ready'), 0)::bigint AS missing_vectors
    FROM documents
) AS counted;

-- name: counts
SELECT name, code, count FROM work_counts ORDER BY name, code;

-- name: count
-- Sorted, so that two workers never deadlock.
INSERT INTO work_counts AS present (name, code, count)
SELECT name, :code, count FROM unnest(:names::text[], :counts::bigint[]) AS done (name, count)
ORDER BY name
ON CONFLICT (name, code) DO UPDATE SET count = present.count + excluded.count;

-- name: record_backup
INSERT INTO backups (created_at, path, bytes, documents, files, missing, verified_at)
VALUES (:created_at, :path, :bytes, :documents, :files, :missing, :verified_at)
ON CONFLICT (created_at) DO NOTHING;

-- name: last_backup
SELECT created_at, path, bytes, documents, files, missing, verified_at
FROM backups ORDER BY created_at DESC LIMIT 1;

-- name: health
-- Versions and live workers, nothing of users.
SELECT current_setting('server_version') AS server_version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
       (SELECT max(name) FROM migrations WHERE name ~ '^[0-9]{4}_') AS migration,
       (SELECT count(*) FROM procrastinate_workers
        WHERE last_heartbeat > now() - make_interval(secs => :stalled_seconds)) AS workers;
