-- What the second wall lets through where users work together: collections that others share with a user, and what was
-- done. Each is decided in one function that runs by its owner's hand and says nothing but that.

-- So that a worker weighs an evaluation without reading its questions.
ALTER TABLE jobs ADD COLUMN question_count int NOT NULL GENERATED ALWAYS AS (
    CASE WHEN jsonb_typeof(request -> 'questions') = 'array' THEN jsonb_array_length(request -> 'questions') ELSE 0 END
) STORED;

-- Who calls such a function has no say in what its names mean, and it sees the rows of all users.
CREATE FUNCTION let_see_all(of_function regprocedure) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    path text := (SELECT string_agg(quote_ident(name), ', ' ORDER BY place)
                  FROM unnest(current_schemas(false)) WITH ORDINALITY AS p (name, place));
BEGIN
    EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER SET search_path = %s, pg_temp SET pagelight.all_users = on',
                   of_function, path);
END
$$;

DO $$
BEGIN
    IF to_regclass('shares') IS NOT NULL THEN
        PERFORM let_see_all('shared_with(text)');
        PERFORM let_see_all('forget_shares()');
        CREATE FUNCTION shared_collections(asker text)
        RETURNS TABLE (collection indexes, permission text, owner_name text)
        LANGUAGE sql STABLE AS 'SELECT i, s.permission, a.name
            FROM shared_with($1) s
            JOIN indexes i ON i.user_id = s.user_id AND i.id = s.index_id
            LEFT JOIN accounts a ON a.user_id = s.user_id';
        PERFORM let_see_all('shared_collections(text)');
        CREATE FUNCTION shared_collection_of(asker text, document_id uuid) RETURNS uuid
        LANGUAGE sql STABLE AS 'SELECT d.index_id
            FROM shared_with($1) s JOIN documents d ON d.user_id = s.user_id AND d.index_id = s.index_id
            WHERE d.id = $2 AND (d.deleted_at IS NULL OR s.permission = ''write'')';
        PERFORM let_see_all('shared_collection_of(text, uuid)');
    END IF;
    IF to_regclass('audit') IS NOT NULL THEN
        ALTER TABLE audit ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
        CREATE POLICY of_user ON audit
            USING (nullif(current_setting('pagelight.user_id', true), '') IN (actor, owner));
        CREATE POLICY of_all_users ON audit USING (current_setting('pagelight.all_users', true) = 'on'
            AND current_user <> 'pagelight_app');
        PERFORM let_see_all('forget_audit(text, timestamptz, text)');
    END IF;
END
$$;
