-- name: settings
-- A generic plan does not know the size of the scope, and would use the index always or never. relaxed_order lets HNSW
-- continue until enough rows in scope are found. With an ef_search of 100 it misses one in ten of the true 100
-- neighbours among 85,000 real vectors, with 400 one in sixty, with 1000 one in 250; it is also the number of codes
-- that are compared.
-- Citus passes on what a transaction sets for itself, such as its user for row-level security; other servers take any
-- setting with a dot.
SELECT set_config('citus.propagate_set_commands', 'local', false),
       set_config('plan_cache_mode', 'force_custom_plan', false),
       set_config('hnsw.iterative_scan', 'relaxed_order', false),
       set_config('hnsw.ef_search', '1000', false),
       set_config('ivfflat.iterative_scan', 'relaxed_order', false),
       set_config('ivfflat.probes', '10', false),
       set_config('jit', 'off', false),
       set_config('timezone', 'UTC', false);

-- name: limit
SELECT set_config('statement_timeout', :milliseconds::text, false);

-- name: without_limit
-- For the rest of the transaction.
SELECT set_config('statement_timeout', '0', true);

-- name: lock_migrations
SELECT pg_advisory_xact_lock(hashtextextended('pagelight migrations', 0));

-- name: create_migrations
CREATE TABLE IF NOT EXISTS migrations (
    name text PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- name: list_migrations
SELECT name FROM migrations;

-- name: record_migration
INSERT INTO migrations (name) VALUES (:name);

-- name: create_chunk_table
SELECT create_chunk_table(:dimensions::int);

-- name: add_chunk_table
-- For accounts that do not own the schema.
SELECT add_chunk_table(:dimensions::int);

-- name: reload
SELECT pg_reload_conf();

-- name: chunk_table_exists
SELECT to_regclass('data_document_chunks_' || :dimensions::int) IS NOT NULL AS present;

-- name: try_lock
SELECT pg_try_advisory_lock(claim_key(:user_id, :id)) AS locked;

-- name: read_only
SET TRANSACTION READ ONLY;

-- name: snapshot
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: release_locks
-- Closing the connection would release them too, but only when the server notices.
SELECT pg_advisory_unlock_all();
