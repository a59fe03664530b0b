-- The second wall: row-level security. The first is `user_id = :user_id` in every statement; where one forgets it, the
-- server itself shows a transaction the rows of one user only, whom the setting `pagelight.user_id` names, and none
-- without it. What works for all users says so by `pagelight.all_users`, which counts for the tables' owner and for the
-- role pagelight_worker, who may read the few columns that `walls.sql` gives it.

-- Called for every table with a column user_id, at the end of bringing the schema forward and where a function makes one.
-- It changes only what lacks: ALTER TABLE waits for everybody who uses the table.
CREATE FUNCTION protect(of_table regclass) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found pg_class;
    worker oid := to_regrole('pagelight_worker');
BEGIN
    SELECT * INTO found FROM pg_class WHERE oid = of_table;
    IF NOT (found.relrowsecurity AND found.relforcerowsecurity) THEN
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', of_table);
    END IF;
    -- After a transaction that had it, the setting is empty; no user is called that.
    IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = of_table AND polname = 'of_user') THEN
        EXECUTE format('CREATE POLICY of_user ON %s USING (user_id = nullif(current_setting(''pagelight.user_id'', true), ''''))',
                       of_table);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_policy WHERE polrelid = of_table AND polname = 'of_all_users') THEN
        EXECUTE format('CREATE POLICY of_all_users ON %s TO %I USING (current_setting(''pagelight.all_users'', true) = ''on'')',
                       of_table, pg_get_userbyid(found.relowner));
    END IF;
    IF worker IS NOT NULL AND NOT EXISTS (
        SELECT FROM pg_policy WHERE polrelid = of_table AND polname = 'of_all_users' AND worker = ANY (polroles)) THEN
        EXECUTE format('ALTER POLICY of_all_users ON %s TO %I, pagelight_worker', of_table, pg_get_userbyid(found.relowner));
    END IF;
    IF to_regrole('pagelight_app') IS NOT NULL AND NOT has_table_privilege('pagelight_app', of_table, 'SELECT') THEN
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO pagelight_app', of_table);
    END IF;
END
$$;

-- A view shows what whoever asks it may see, not what its owner may.
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

-- Tables and views of chunks: they are made for a vector size when it is needed, and not named in a migration.
CREATE FUNCTION protect_chunks() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM protect(oid) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      AND relname ~ '^data_document_chunks_[0-9]+($|_)';
    PERFORM protect_view(oid) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'v' AND relname IN ('stored_chunks', 'document_chunks');
END
$$;

-- The one thing that the app's role makes, by the owner's hand.
CREATE FUNCTION add_chunk_table(dimensions int) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM create_chunk_table(dimensions);
    PERFORM protect_chunks();
END
$$;

-- Who calls it has no say in which tables and functions its names mean.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION add_chunk_table(int) SET search_path = %s, pg_temp', (
        SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
        FROM unnest(current_schemas(false)) WITH ORDINALITY AS path (name, place)));
END
$$;
REVOKE EXECUTE ON FUNCTION add_chunk_table(int) FROM PUBLIC;
