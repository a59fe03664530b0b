-- Whom a collection can be shared with: everybody who was seen, and every group, for those who may share.

CREATE FUNCTION colleagues(asker text, is_admin boolean)
RETURNS TABLE (kind text, id text, name text, email text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text := see_all_users();
BEGIN
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

SELECT run_by_owner('colleagues(text, boolean)');
