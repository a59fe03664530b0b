-- The collection with which a matrix, or a list of fields, is shared: whoever may read the one may read the other. NULL: the
-- owner's alone. No foreign key: if the collection is deleted, they are the owner's alone again.
ALTER TABLE matrices ADD COLUMN index_id uuid;
ALTER TABLE field_templates ADD COLUMN index_id uuid;

-- The matrices of collections that others share with a user.
CREATE FUNCTION shared_matrices(asker text) RETURNS TABLE (matrix matrices, permission text, owner_name text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text := see_all_users();
BEGIN
    RETURN QUERY
    SELECT m, s.permission, a.name
    FROM shared_with(asker) s
    JOIN matrices m ON m.user_id = s.user_id AND m.index_id = s.index_id
    LEFT JOIN accounts a ON a.user_id = s.user_id;
    PERFORM see_all_users(before);
END
$$;
SELECT run_by_owner('shared_matrices(text)'::regprocedure);
