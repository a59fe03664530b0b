-- name: create_roles
-- None owns, makes or bypasses anything, and nobody can log in as them unless the server is ours. Roles are of the
-- whole server: another installation there may have made them, or makes them in this moment.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['pagelight_app', 'pagelight_worker', 'pagelight_backup'] LOOP
        IF to_regrole(name) IS NULL THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT', name);
        END IF;
    END LOOP;
EXCEPTION WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN
    NULL;  -- whether they are there is asked next
END
$$;

-- name: roles
-- What there is of them; one that could do more than we mean is none of ours.
SELECT rolname AS name, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb AS is_mighty, rolcanlogin AS can_login
FROM pg_roles WHERE rolname IN ('pagelight_app', 'pagelight_worker', 'pagelight_backup');

-- name: let_in
ALTER ROLE {role} LOGIN;

-- name: account
SELECT session_user::text AS name, current_setting('is_superuser')::boolean AS is_superuser,
       current_setting('server_version_num')::int AS version;

-- name: grant_roles
-- Inherited, the rights of both would be one.
GRANT pagelight_app, pagelight_worker TO {account} WITH INHERIT FALSE, SET TRUE;

-- name: grant_roles_before_16
GRANT pagelight_app, pagelight_worker TO {account};

-- name: may_back_up
SELECT coalesce(pg_has_role(to_regrole('pagelight_backup'),
                            CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END),
                false) AS allowed;

-- name: grant_backup
GRANT pagelight_backup TO {account} WITH INHERIT FALSE, SET TRUE;

-- name: grant_backup_before_16
GRANT pagelight_backup TO {account};

-- name: become
SET ROLE {role};

-- name: be_oneself
RESET ROLE;

-- name: current_role
SELECT current_user::text AS name;

-- name: protect
-- `tables` are those that the migrations name; a database may have tables of other programs, too.
SELECT protect(c.oid)
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY (:tables::text[])
  AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped);

-- name: protect_chunks
SELECT protect_chunks();

-- name: grant
-- What a worker may see of all users, column by column: whose what is and how urgent, never what stands in it. And
-- whose a key is, for who knows its digest. The queue's own tables have ids.
DO $$
DECLARE
    wanted record;
BEGIN
    IF to_regrole('pagelight_app') IS NULL OR to_regrole('pagelight_worker') IS NULL THEN
        RETURN;
    END IF;
    IF NOT has_function_privilege('pagelight_app', 'add_chunk_table(int)', 'EXECUTE') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO pagelight_app, pagelight_worker', current_schema());
        GRANT EXECUTE ON FUNCTION add_chunk_table(int) TO pagelight_app;
        GRANT SELECT ON migrations TO pagelight_worker;
    END IF;
    -- What the user of a transaction is told of what others have.
    FOR wanted IN
        SELECT to_regprocedure(f.signature) AS function
        FROM unnest(ARRAY['shared_with(text)', 'shared_collections(text)', 'shared_collection_of(text, uuid)',
                          'answers_shown_to(text)', 'turns_shown_to(text, uuid)', 'colleagues(text, boolean)']) AS f (signature)
        WHERE NOT has_function_privilege('pagelight_app', to_regprocedure(f.signature), 'EXECUTE')
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO pagelight_app', wanted.function);
    END LOOP;
    FOR wanted IN
        SELECT oid::regclass AS relation FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND starts_with(relname, 'procrastinate_')
          AND NOT has_table_privilege('pagelight_worker', oid, 'DELETE')
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO pagelight_worker', wanted.relation);
    END LOOP;
    FOR wanted IN
        SELECT oid::regclass AS relation FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND starts_with(relname, 'procrastinate_')
          AND CASE WHEN relkind = 'S' THEN NOT has_sequence_privilege('pagelight_worker', oid, 'USAGE') END
    LOOP
        EXECUTE format('GRANT USAGE ON SEQUENCE %s TO pagelight_worker', wanted.relation);
    END LOOP;
    FOR wanted IN
        SELECT r.privilege, a.attrelid::regclass AS relation, a.attname AS name
        FROM (VALUES
            ('SELECT', 'documents', ARRAY['user_id', 'id', 'number', 'index_id', 'status', 'size', 'page_count', 'chunk_count',
                                          'vector_count', 'progress_done', 'progress_total', 'renewing', 'queued_at', 'taken_at',
                                          'retry_after', 'created_at', 'indexed_at', 'deleted_at', 'attempts',
                                          'pictures_waiting']),
            ('UPDATE', 'documents', ARRAY['queued_at', 'taken_at', 'retry_after', 'attempts', 'error', 'error_code']),
            ('SELECT', 'indexes', ARRAY['user_id', 'id', 'generation']),
            ('SELECT', 'jobs', ARRAY['user_id', 'id', 'kind', 'index_name', 'question_count', 'status', 'progress_done',
                                     'progress_total', 'error_code', 'error', 'attempts', 'retry_after', 'created_at',
                                     'started_at', 'finished_at']),
            ('SELECT', 'api_keys', ARRAY['user_id', 'id', 'name', 'digest', 'hint', 'permissions', 'created_at', 'expires_at',
                                         'last_used_at', 'revoked_at']),
            ('UPDATE', 'api_keys', ARRAY['last_used_at'])
        ) AS r (privilege, relation, names)
        JOIN pg_attribute a ON a.attrelid = to_regclass(r.relation) AND a.attname = ANY (r.names) AND NOT a.attisdropped
        WHERE NOT has_column_privilege('pagelight_worker', a.attrelid, a.attnum, r.privilege)
    LOOP
        EXECUTE format('GRANT %s (%I) ON %s TO pagelight_worker', wanted.privilege, wanted.name, wanted.relation);
    END LOOP;
    -- A backup is of all tables; those that have a user are let be read where they are walled.
    FOR wanted IN
        SELECT c.oid::regclass AS relation FROM pg_class c, pg_roles r
        WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('migrations', 'audit')
          AND r.rolname = 'pagelight_backup' AND NOT has_table_privilege(r.oid, c.oid, 'SELECT')
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO pagelight_backup', current_schema());
        EXECUTE format('GRANT SELECT ON %s TO pagelight_backup', wanted.relation);
    END LOOP;
    -- Whole tables that have no text of anybody's.
    FOR wanted IN
        SELECT g.role, g.privilege, to_regclass(g.relation) AS relation
        FROM (VALUES
            ('pagelight_worker', 'accounts'), ('pagelight_worker', 'memberships'), ('pagelight_worker', 'logins'),
            ('pagelight_worker', 'deletions'), ('pagelight_worker', 'work_counts'), ('pagelight_worker', 'backups'),
            ('pagelight_worker', 'request_rates')
        ) AS t (role, relation), LATERAL (VALUES
            (t.role, 'SELECT', t.relation), (t.role, 'INSERT', t.relation), (t.role, 'UPDATE', t.relation),
            (t.role, 'DELETE', t.relation)
        ) AS g (role, privilege, relation)
        UNION ALL
        -- Who sees that of all users, as admins do, sees names of documents and chats, too.
        SELECT a.role, a.privilege, to_regclass('audit')
        FROM (VALUES ('pagelight_app', 'SELECT'), ('pagelight_app', 'INSERT'), ('pagelight_worker', 'SELECT')) AS a (role, privilege)
    LOOP
        IF NOT has_table_privilege(wanted.role, wanted.relation, wanted.privilege) THEN
            EXECUTE format('GRANT %s ON %s TO %I', wanted.privilege, wanted.relation, wanted.role);
        END IF;
    END LOOP;
END
$$;

-- name: bind
-- Until the end of the transaction.
SELECT set_config('pagelight.user_id', :user_id, true);

-- name: walls
-- The role, and the tables with a user's data that have no second wall, by name.
SELECT current_user::text AS role, coalesce(array_agg(c.relname::text ORDER BY c.relname), '{}') AS unprotected
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND (c.relname = ANY (:tables::text[]) OR c.relname ~ '^data_document_chunks_[0-9]+($|_)')
  AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped)
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid));

-- name: forced
SELECT c.relname AS name
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (:tables::text[]) AND c.relforcerowsecurity;

-- name: unforce
ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY;

-- name: force
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
