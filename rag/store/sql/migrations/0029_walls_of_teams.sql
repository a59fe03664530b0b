-- What the second wall lets through where users work together: collections that others share with a user, and what was
-- done. Each is decided in one function that runs by its owner's hand and says nothing but that.

-- So that a worker weighs an evaluation without reading its questions.
ALTER TABLE jobs ADD COLUMN question_count int NOT NULL GENERATED ALWAYS AS (
    CASE WHEN jsonb_typeof(request -> 'questions') = 'array' THEN jsonb_array_length(request -> 'questions') ELSE 0 END
) STORED;

-- Whoever calls such a function has no say in what its names mean. It sees the rows of all users until it returns: the
-- setting is put back as it was, and an error ends the transaction with it.
CREATE FUNCTION run_by_owner(of_function regprocedure) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    path text := (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
                  FROM unnest(current_schemas(false)) WITH ORDINALITY AS p (name, place));
BEGIN
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %s, pg_temp', of_function, path);
END
$$;

-- Gives what the setting was before.
CREATE FUNCTION see_all_users(wanted text DEFAULT 'on') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before text := coalesce(current_setting('pagelight.all_users', true), '');
BEGIN
    PERFORM set_config('pagelight.all_users', wanted, true);
    RETURN before;
END
$$;

CREATE OR REPLACE FUNCTION shared_with(asker text) RETURNS TABLE (user_id text, index_id uuid, permission text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text := see_all_users();
BEGIN
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

CREATE FUNCTION shared_collections(asker text) RETURNS TABLE (collection indexes, permission text, owner_name text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text := see_all_users();
BEGIN
    RETURN QUERY
    SELECT i, s.permission, a.name
    FROM shared_with(asker) s
    JOIN indexes i ON i.user_id = s.user_id AND i.id = s.index_id
    LEFT JOIN accounts a ON a.user_id = s.user_id;
    PERFORM see_all_users(before);
END
$$;

CREATE FUNCTION shared_collection_of(asker text, document_id uuid) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    before text := see_all_users();
    found uuid;
BEGIN
    SELECT d.index_id INTO found
    FROM shared_with(asker) s JOIN documents d ON d.user_id = s.user_id AND d.index_id = s.index_id
    WHERE d.id = shared_collection_of.document_id AND (d.deleted_at IS NULL OR s.permission = 'write');
    PERFORM see_all_users(before);
    RETURN found;
END
$$;

CREATE OR REPLACE FUNCTION forget_shares() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before text := see_all_users();
BEGIN
    DELETE FROM shares WHERE user_id = OLD.user_id OR grantee_kind = 'user' AND grantee = OLD.user_id;
    PERFORM see_all_users(before);
    RETURN OLD;
END
$$;

ALTER TABLE audit ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_user ON audit USING (nullif(current_setting('pagelight.user_id', true), '') IN (actor, owner));
CREATE POLICY of_all_users ON audit
    USING (current_setting('pagelight.all_users', true) = 'on' AND current_user <> 'pagelight_app');

SELECT run_by_owner(name::regprocedure)
FROM unnest(ARRAY['shared_with(text)', 'shared_collections(text)', 'shared_collection_of(text, uuid)', 'forget_shares()',
                  'forget_audit(text, timestamptz, text)']) AS f (name);
