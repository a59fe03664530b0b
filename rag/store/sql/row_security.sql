-- name: create_roles
-- They own, create and bypass nothing, and only log in on the embedded server. Roles belong to the whole server:
-- another installation on it may have created them, or be doing so right now.
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
    NULL;  -- the next query tells which roles exist
END
$$;

-- name: roles
-- The existing roles. One with more rights than ours was created by somebody else.
SELECT rolname AS name, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb AS has_excess_rights, rolcanlogin AS can_login
FROM pg_roles WHERE rolname IN ('pagelight_app', 'pagelight_worker', 'pagelight_backup');

-- name: allow_login
ALTER ROLE {role} LOGIN;

-- name: account
SELECT session_user::text AS name, current_setting('is_superuser')::boolean AS is_superuser,
       current_setting('server_version_num')::int AS version;

-- name: grant_roles
-- INHERIT FALSE: inheriting would merge the rights of both roles.
GRANT pagelight_app, pagelight_worker TO {account} WITH INHERIT FALSE, SET TRUE;

-- name: grant_roles_before_16
GRANT pagelight_app, pagelight_worker TO {account};

-- name: can_back_up
SELECT coalesce(pg_has_role(to_regrole('pagelight_backup'),
                            CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END),
                false) AS allowed;

-- name: grant_backup
GRANT pagelight_backup TO {account} WITH INHERIT FALSE, SET TRUE;

-- name: grant_backup_before_16
GRANT pagelight_backup TO {account};

-- name: set_role
SET ROLE {role};

-- name: reset_role
RESET ROLE;

-- name: current_role
SELECT current_user::text AS name;

-- name: protect
-- `tables` are those of the migrations; a database may have tables of other programs too.
SELECT protect(c.oid)
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY (:tables::text[])
  AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped);

-- name: protect_chunks
SELECT protect_chunks();

-- name: grant
-- Grants the roles missing rights. protect() does so for tables with a user_id and for views.
DO $$
DECLARE
    missing text;
BEGIN
    FOR missing IN
        SELECT format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), r.rolname)
        FROM pg_roles r
        WHERE r.rolname IN ('pagelight_app', 'pagelight_worker', 'pagelight_backup')
          AND NOT has_schema_privilege(r.oid, current_schema(), 'USAGE')
        UNION ALL
        -- Functions that run as the owner.
        SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', f.signature, r.rolname)
        FROM pg_roles r, unnest(ARRAY[
            'add_chunk_table(int)', 'shared_with(text)', 'shared_collections(text)', 'shared_collection_of(text, uuid)',
            'shared_matrices(text)', 'delete_annotations(text, uuid[])', 'answers_shown_to(text)', 'turns_shown_to(text, uuid)', 'colleagues(text, boolean)']) AS f (signature)
        WHERE r.rolname = 'pagelight_app' AND NOT has_function_privilege(r.oid, to_regprocedure(f.signature), 'EXECUTE')
        UNION ALL
        -- Whole tables without text of users. The audit log has names of documents and chats, which admins see when
        -- they read that of all users.
        SELECT format('GRANT %s ON %s TO %I', p.privilege, c.oid::regclass, r.rolname)
        FROM (VALUES
            ('pagelight_app', '^audit$', ARRAY['SELECT', 'INSERT']),
            ('pagelight_worker', '^(audit|migrations)$', ARRAY['SELECT']),
            ('pagelight_worker',
             '^(accounts|memberships|logins|deletions|work_counts|backups|request_rates|procrastinate_\w+)$',
             ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']),
            ('pagelight_backup', '^(audit|migrations)$', ARRAY['SELECT'])
        ) AS t (role, tables, privileges)
        JOIN pg_roles r ON r.rolname = t.role
        JOIN pg_class c ON c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname ~ t.tables
        CROSS JOIN unnest(t.privileges) AS p (privilege)
        WHERE NOT has_table_privilege(r.oid, c.oid, p.privilege)
        UNION ALL
        SELECT format('GRANT USAGE ON SEQUENCE %s TO %I', c.oid::regclass, r.rolname)
        FROM pg_roles r, pg_class c
        WHERE r.rolname = 'pagelight_worker' AND c.relnamespace = current_schema()::regnamespace
          AND starts_with(c.relname, 'procrastinate_')
          AND CASE WHEN c.relkind = 'S' THEN NOT has_sequence_privilege(r.oid, c.oid, 'USAGE') END
        UNION ALL
        -- What a worker may read of all users' rows: owner and urgency, never content; and the owner of a key by its
        -- digest.
        SELECT format('GRANT %s (%I) ON %s TO %I', t.privilege, a.attname, a.attrelid::regclass, r.rolname)
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
        ) AS t (privilege, relation, names)
        JOIN pg_roles r ON r.rolname = 'pagelight_worker'
        JOIN pg_attribute a ON a.attrelid = to_regclass(t.relation) AND a.attname = ANY (t.names) AND NOT a.attisdropped
        WHERE NOT has_column_privilege(r.oid, a.attrelid, a.attnum, t.privilege)
    LOOP
        EXECUTE missing;
    END LOOP;
END
$$;

-- name: bind
-- Until the end of the transaction. Citus passes on SET LOCAL to the other servers, but not set_config; it takes a literal.
SET LOCAL pagelight.user_id = {user_id};

-- name: state
-- The role, and the tables with users' data that lack row-level security.
SELECT current_user::text AS role, coalesce(array_agg(c.relname::text ORDER BY c.relname), '{}') AS unprotected
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND (c.relname = ANY (:tables::text[]) OR c.relname ~ '^data_document_chunks_[0-9]+($|_)')
  AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped)
  AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid));

-- name: forced
SELECT c.relname AS name
FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ANY (:tables::text[]) AND c.relforcerowsecurity;

-- name: unforce
ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY;

-- name: force
ALTER TABLE {table} FORCE ROW LEVEL SECURITY;
