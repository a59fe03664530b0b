-- name: portable
-- Makes COPY independent of the servers' settings, without a timeout.
SELECT set_config('statement_timeout', '0', true),
       set_config('lock_timeout', '0', true),
       set_config('idle_in_transaction_session_timeout', '0', true),
       set_config('datestyle', 'ISO', true),
       set_config('intervalstyle', 'iso_8601', true),
       set_config('bytea_output', 'hex', true),
       set_config('extra_float_digits', '1', true),
       set_config('timezone', 'UTC', true);

-- name: tables
-- The tables of `names` and the chunk tables, without generated columns.
SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
  AND (c.relname = ANY (:names::text[]) OR c.relname ~ '^data_document_chunks_[0-9]+$')
GROUP BY c.relname
ORDER BY c.relname;

-- name: held_back
-- Tables whose policies hide rows from this account.
SELECT c.relname AS name
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (:names::text[]) AND row_security_active(c.oid)
  AND NOT (coalesce(current_setting('pagelight.all_users', true) = 'on', false) AND EXISTS (
      SELECT 1 FROM pg_policy p, unnest(p.polroles) AS r (role)
      WHERE p.polrelid = c.oid AND p.polname = 'of_all_users' AND CASE r.role WHEN 0 THEN true ELSE pg_has_role(r.role, 'USAGE') END))
ORDER BY c.relname;

-- name: count
SELECT count(*) FROM {table};

-- name: size
SELECT coalesce(sum(pg_table_size(c.oid)), 0)::bigint FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (:tables::text[]);

-- name: export_snapshot
SELECT pg_export_snapshot();

-- name: schema
SELECT current_schema()::text;

-- name: documents
SELECT user_id, id FROM documents ORDER BY number;

-- name: copy_in
COPY {table} ({columns}) FROM STDIN (FORMAT text, ENCODING 'UTF8');

-- name: lock
LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE;

-- name: forget_the_empty_default
-- The empty default index exists as soon as anyone has opened the app.
DELETE FROM indexes
WHERE name = 'default' AND NOT EXISTS (SELECT 1 FROM documents) AND NOT EXISTS (SELECT 1 FROM conversations);

-- name: has_rows
SELECT EXISTS (SELECT 1 FROM {table}) AS present;

-- name: delete_lost_annotations
-- Readers' notes on documents that are not in the backup of a cluster, where the owner may be on another node.
DELETE FROM annotations WHERE (owner, document_id) NOT IN (SELECT user_id, id FROM documents);

-- name: vector_indexes
SELECT c.relname AS name, pg_get_indexdef(c.oid) AS definition
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am method ON method.oid = c.relam
WHERE c.relnamespace = current_schema()::regnamespace AND method.amname IN ('hnsw', 'ivfflat')
  AND i.indrelid = ANY (:tables::regclass[])
ORDER BY c.relname;

-- name: drop_index
DROP INDEX {index};

-- name: sequences
SELECT c.relname AS table, a.attname AS column, pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (:tables::text[])
  AND pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL;

-- name: continue_sequence
SELECT setval(:sequence::regclass, coalesce(max({column}), 0) + 1, false) FROM {table};

-- name: tidy
-- Updates the planner's statistics, and lets index-only scans skip the tables.
VACUUM (ANALYZE) {tables};
