-- Who may have something done by the owner's hand. PostgreSQL lets every role of the server run a function unless that is
-- taken back: one of another program could ask what is shared with whom, or delete shares by a trigger of its own.

-- Whom it is for, `walls.sql` says.
CREATE OR REPLACE FUNCTION run_by_owner(of_function regprocedure) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    path text := (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
                  FROM unnest(current_schemas(false)) WITH ORDINALITY AS p (name, place));
BEGIN
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %s, pg_temp', of_function, path);
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', of_function);
END
$$;

-- Whether a transaction is that of the user for whom a function is asked. As with rows: who is nobody is told nothing.
CREATE FUNCTION is_present(asker text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(asker = nullif(current_setting('pagelight.user_id', true), ''), false)
$$;

CREATE OR REPLACE FUNCTION shared_with(asker text) RETURNS TABLE (user_id text, index_id uuid, permission text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text;
BEGIN
    IF NOT is_present(asker) THEN
        RETURN;
    END IF;
    before := see_all_users();
    RETURN QUERY
    SELECT s.user_id, s.index_id, CASE WHEN bool_or(s.permission = 'write') THEN 'write' ELSE 'read' END
    FROM shares s
    WHERE s.user_id <> asker AND (
        s.grantee_kind = 'user' AND s.grantee = asker
        OR s.grantee_kind = 'group' AND s.grantee IN (SELECT m.group_name FROM memberships m WHERE m.user_id = asker))
    GROUP BY s.user_id, s.index_id;
    PERFORM see_all_users(before);
END
$$;

-- Through this one, `turns_shown_to` as well; and `shared_collections` and `shared_collection_of` through `shared_with`.
CREATE OR REPLACE FUNCTION answers_shown_to(asker text) RETURNS TABLE (
    user_id text, owner_name text, id uuid, conversation_id uuid, message_id uuid, title text, created_at timestamptz,
    index_owner text, index_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text;
BEGIN
    IF NOT is_present(asker) THEN
        RETURN;
    END IF;
    before := see_all_users();
    RETURN QUERY
    SELECT l.user_id, a.name, l.id, l.conversation_id, l.message_id, c.title, l.created_at,
           coalesce(c.index_owner, c.user_id), c.index_id
    FROM answer_links l
    JOIN conversations c ON c.user_id = l.user_id AND c.id = l.conversation_id
    LEFT JOIN accounts a ON a.user_id = l.user_id
    WHERE l.user_id <> asker
      AND (l.grantee_kind = 'user' AND l.grantee = asker
           OR l.grantee_kind = 'group' AND l.grantee IN (SELECT m.group_name FROM memberships m WHERE m.user_id = asker))
      AND (c.index_owner = asker OR EXISTS (
           SELECT FROM shared_with(asker) s WHERE s.user_id = coalesce(c.index_owner, c.user_id) AND s.index_id = c.index_id));
    PERFORM see_all_users(before);
END
$$;

CREATE OR REPLACE FUNCTION colleagues(asker text, is_admin boolean)
RETURNS TABLE (kind text, id text, name text, email text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text;
BEGIN
    IF NOT is_present(asker) THEN
        RETURN;
    END IF;
    before := see_all_users();
    RETURN QUERY
    SELECT found.* FROM (
        SELECT 'user', a.user_id, a.name, a.email FROM accounts a WHERE a.user_id <> asker
        UNION ALL
        SELECT DISTINCT 'group', m.group_name, NULL, NULL FROM memberships m
    ) AS found (kind, id, name, email)
    WHERE is_admin OR EXISTS (SELECT FROM accounts a WHERE a.user_id = asker AND a.role IN ('curator', 'admin'));
    PERFORM see_all_users(before);
END
$$;

SELECT run_by_owner(name::regprocedure)
FROM unnest(ARRAY['shared_with(text)', 'shared_collections(text)', 'shared_collection_of(text, uuid)', 'answers_shown_to(text)',
                  'turns_shown_to(text, uuid)', 'colleagues(text, boolean)', 'forget_shares()', 'forget_answer_links()']) AS f (name);

-- Only who owns the tables lets old rows of the audit go, and of those that are to come none.
CREATE OR REPLACE FUNCTION forget_audit(who text, before timestamptz, through text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    gone bigint;
    before_all text;
BEGIN
    IF before > clock_timestamp() THEN
        RAISE EXCEPTION 'the audit lets go of what is past' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    before_all := see_all_users();
    PERFORM set_config('pagelight.forgetting_audit', 'on', true);
    DELETE FROM audit WHERE at < before;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('pagelight.forgetting_audit', 'off', true);
    IF gone > 0 THEN
        INSERT INTO audit (actor, action, owner, subject_kind, door, details)
        VALUES (who, 'audit.forget', who, 'audit', through, jsonb_build_object('rows', gone, 'before', before));
    END IF;
    PERFORM see_all_users(before_all);
    RETURN gone;
END
$$;
SELECT run_by_owner('forget_audit(text, timestamptz, text)');

-- Every process of the app is a worker to the database, too.
DO $$
BEGIN
    IF to_regrole('pagelight_worker') IS NOT NULL THEN
        REVOKE EXECUTE ON FUNCTION forget_audit(text, timestamptz, text) FROM pagelight_worker;
        REVOKE INSERT ON audit FROM pagelight_worker;  -- in anybody's name; what is done is told by the app's role
    END IF;
END
$$;

-- `pagelight_backup` reads what all users have, and writes nothing.
CREATE OR REPLACE FUNCTION protect(of_table regclass) RETURNS void LANGUAGE plpgsql AS $$
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
    -- After a transaction that had it, the setting is empty; no user is called that.
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
