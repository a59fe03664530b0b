-- Tables over the nodes of a Citus cluster. The statements of a database without Citus come first.

-- name: has_citus
SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS present;

-- name: in_sequence
-- Citus refuses some changes of the schema after others that ran over several connections per node. A server without
-- Citus takes any setting with a dot.
SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true);

-- name: distributed
-- Our tables whose rows are on the nodes.
SELECT c.relname AS name
FROM pg_dist_partition d JOIN pg_class c ON c.oid = d.logicalrelid
WHERE d.partmethod = 'h' AND c.relnamespace = current_schema()::regnamespace
ORDER BY c.relname;

-- name: cluster
-- `without_vector` are nodes on which this database has no pgvector.
SELECT current_setting('is_superuser')::boolean AS is_superuser,
       citus_is_coordinator() AS is_coordinator,
       (SELECT count(*) FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND shouldhaveshards) AS nodes,
       (SELECT coalesce(array_agg(n.nodename || ':' || n.nodeport ORDER BY n.nodeid), '{}')
        FROM run_command_on_all_nodes($$SELECT count(*) FROM pg_extension WHERE extname = 'vector'$$) AS r
        JOIN pg_dist_node n ON n.nodeid = r.nodeid
        WHERE NOT r.success OR r.result <> '1') AS without_vector;

-- name: load_vector
-- pg_settings has the settings of pgvector from when its library is loaded.
SELECT '[1]'::vector;

-- name: session_settings
-- What session.sql has set in this session.
SELECT name, setting AS value FROM pg_settings WHERE source = 'session' ORDER BY name;

-- name: set_up_database
-- Citus passes it on to the same database of the other nodes.
ALTER DATABASE {database} SET {name} = {value};

-- name: run_on_nodes
-- Each node runs the command for itself.
SELECT n.nodename || ':' || n.nodeport AS address, r.result
FROM run_command_on_all_nodes('SET LOCAL citus.enable_ddl_propagation = off; ' || :command) AS r
JOIN pg_dist_node n ON n.nodeid = r.nodeid
WHERE NOT r.success;

-- name: roles
-- Nodes log in at each other as the role of a transaction, without the options of its connection.
SELECT rolname AS name, rolcanlogin AS can_login,
       rolname = 'pagelight_app' OR coalesce(rolconfig @> ARRAY['pagelight.all_users=on'], false) AS sees_its_rows
FROM pg_roles WHERE rolname IN ('pagelight_app', 'pagelight_worker', 'pagelight_backup')
ORDER BY rolname;

-- name: see_all_users
ALTER ROLE {role} SET pagelight.all_users = 'on';

-- name: undistributed
-- Tables with users' data that are whole, with the tables that their foreign keys refer to.
SELECT c.relname AS name,
       coalesce((SELECT array_agg(DISTINCT t.relname::text)
                 FROM pg_constraint f JOIN pg_class t ON t.oid = f.confrelid
                 WHERE f.conrelid = c.oid AND f.contype = 'f' AND f.confrelid <> c.oid), '{}') AS referenced,
       c.relpersistence = 'u' AS is_unlogged
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND (c.relname = ANY (:tables::text[]) OR c.relname ~ '^data_document_chunks_[0-9]+$')
  AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped)
  AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
ORDER BY c.relname;

-- name: log
-- Citus moves shards to another node by their log.
ALTER TABLE {table} SET LOGGED;

-- name: distribute
SELECT create_distributed_table(quote_ident(:table)::regclass, 'user_id', colocate_with => :colocate_with);

-- name: delete_local_rows
-- The rows from before have been copied to the nodes.
SELECT truncate_local_data_after_distributing_table(quote_ident(:table)::regclass);

-- name: distribute_functions
-- Citus passes new functions on, except those on tables that were not distributed then.
SELECT create_distributed_function(p.oid::regprocedure)
FROM pg_proc p
WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind = 'f'
  AND p.proname !~ '^procrastinate_'
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
  AND NOT EXISTS (SELECT FROM pg_dist_object o WHERE o.classid = 'pg_proc'::regclass AND o.objid = p.oid)
ORDER BY p.oid;

-- name: nodes
SELECT n.nodename || ':' || n.nodeport AS address,
       n.groupid = 0 AS is_coordinator,
       (SELECT count(*) FROM citus_shards s
        WHERE s.nodename = n.nodename AND s.nodeport = n.nodeport AND s.citus_table_type = 'distributed') AS shards,
       (SELECT coalesce(sum(s.shard_size), 0)::bigint FROM citus_shards s
        WHERE s.nodename = n.nodename AND s.nodeport = n.nodeport AND s.citus_table_type = 'distributed')
       + CASE WHEN n.groupid = 0 THEN
             (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
              WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'm'))
         ELSE 0 END AS bytes
FROM pg_dist_node n
WHERE n.isactive AND n.noderole = 'primary'
ORDER BY n.groupid, n.nodeid;

-- name: on_coordinator
SELECT c.relname AS name
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
  AND NOT EXISTS (SELECT FROM pg_dist_shard s WHERE c.relname = shard_name(s.logicalrelid, s.shardid))
ORDER BY c.relname;
