-- The schema of the first release is in the files 0001 to 0004. A later change is a new numbered file beside them; released
-- files never change.
--
-- This one has the functions that keep users apart. Every table with a user's data has `user_id`, the owner, as the first
-- column of its primary key.


-- Row-level security
-- The first protection is `user_id = :user_id` in every statement. Should one forget it, the server itself shows a
-- transaction only the rows of the user in the setting `pagelight.user_id`, and none without it. Work for all users sets
-- `pagelight.all_users`, which takes effect only for the tables' owner, for pagelight_backup, which may only read, and for
-- pagelight_worker, which may read only the few columns that walls.sql grants.

-- Called at each start for every table with a user_id, and when a chunk table is made. Changes only what is missing, as ALTER
-- TABLE waits for everybody who uses the table.
CREATE FUNCTION protect(of_table regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found pg_class;
    of_all_users oid[];
    names text;
BEGIN
    SELECT * INTO found FROM pg_class WHERE oid = of_table;
    SELECT array_agg(oid), string_agg(quote_ident(rolname), ', ') INTO of_all_users, names
    FROM pg_roles WHERE oid = found.relowner OR rolname IN ('pagelight_worker', 'pagelight_backup');
    IF NOT (found.relrowsecurity AND found.relforcerowsecurity) THEN
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', of_table);
    END IF;
    -- After a transaction that set it, the setting is empty rather than NULL; no user has an empty name.
    IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = of_table AND polname = 'of_user') THEN
        EXECUTE format('CREATE POLICY of_user ON %s USING (user_id = nullif(current_setting(''pagelight.user_id'', true), ''''))',
                       of_table);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = of_table AND polname = 'of_all_users') THEN
        EXECUTE format('CREATE POLICY of_all_users ON %s TO %s USING (current_setting(''pagelight.all_users'', true) = ''on'')',
                       of_table, names);
    ELSIF NOT EXISTS (
        SELECT FROM pg_policy WHERE polrelid = of_table AND polname = 'of_all_users' AND polroles @> of_all_users) THEN
        EXECUTE format('ALTER POLICY of_all_users ON %s TO %s', of_table, names);
    END IF;
    IF to_regrole('pagelight_app') IS NOT NULL AND NOT has_table_privilege('pagelight_app', of_table, 'SELECT') THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO pagelight_app', of_table);
    END IF;
    IF to_regrole('pagelight_backup') IS NOT NULL AND NOT has_table_privilege('pagelight_backup', of_table, 'SELECT') THEN
        EXECUTE format('GRANT SELECT ON %s TO pagelight_backup', of_table);
    END IF;
END
$$;

-- A view shows the rows that its reader may see, not those that its owner may.
CREATE FUNCTION protect_view(of_view regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('server_version_num')::int >= 150000 AND NOT EXISTS (
        SELECT FROM pg_class WHERE oid = of_view AND reloptions @> ARRAY['security_invoker=true']) THEN
        EXECUTE format('ALTER VIEW %s SET (security_invoker = true)', of_view);
    END IF;
    IF to_regrole('pagelight_app') IS NOT NULL AND NOT has_table_privilege('pagelight_app', of_view, 'SELECT') THEN
        EXECUTE format('GRANT SELECT ON %s TO pagelight_app', of_view);
    END IF;
END
$$;

-- Chunk tables are made when a vector size is first used, so no migration names them. They may be partitioned.
CREATE FUNCTION protect_chunks() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM protect(oid) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      AND relname ~ '^data_document_chunks_[0-9]+($|_)';
    PERFORM protect_view(oid) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'v' AND relname IN ('stored_chunks', 'document_chunks');
END
$$;


-- Running as the owner
-- Some questions need the rows of all users, such as which collections are shared with a user. Each is answered by one
-- SECURITY DEFINER function that returns nothing else.

-- Makes a function run as its owner. A fixed search_path keeps callers from replacing the tables and functions that it
-- names. PostgreSQL lets every role run a new function, so that is revoked; walls.sql grants it to the app.
CREATE FUNCTION run_by_owner(of_function regprocedure) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    path text := (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
                  FROM unnest(current_schemas(false)) WITH ORDINALITY AS p (name, place));
BEGIN
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %s, pg_temp', of_function, path);
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', of_function);
END
$$;

-- Switches the rows of all users on, or back to `wanted`, until the end of the transaction; returns the former setting.
-- Functions restore it before they return; after an error it ends with the transaction.
CREATE FUNCTION see_all_users(wanted text DEFAULT 'on') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before text := coalesce(current_setting('pagelight.all_users', true), '');
BEGIN
    PERFORM set_config('pagelight.all_users', wanted, true);
    RETURN before;
END
$$;

-- Whether the transaction is that of the user `asker`. Nobody else is answered in a user's name.
CREATE FUNCTION is_present(asker text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(asker = nullif(current_setting('pagelight.user_id', true), ''), false)
$$;
