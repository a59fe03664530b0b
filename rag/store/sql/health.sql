-- name: health
-- Nothing of any user's: versions, and the workers that gave a sign of life.
SELECT current_setting('server_version') AS server_version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
       (SELECT max(name) FROM migrations WHERE name ~ '^[0-9]{4}_') AS migration,
       (SELECT count(*) FROM procrastinate_workers
        WHERE last_heartbeat > now() - make_interval(secs => :stalled_seconds)) AS workers;
