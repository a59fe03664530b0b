-- name: access
-- The owner of an index that is shared with the asker, and the permission; for the rest of the transaction.
SELECT user_id, permission FROM shared_with(:asker) WHERE index_id = :within;

-- name: hold
-- For a writing transaction: a withdrawal waits for it, or it waits for the withdrawal.
SELECT s.user_id FROM shares s WHERE s.user_id = :user_id AND s.index_id = :within FOR KEY SHARE;

-- name: shared_with_me
-- Collections that others share with the user.
SELECT (s.collection).*, s.permission, s.owner_name
FROM shared_collections(:user_id) s
ORDER BY (s.collection).name, (s.collection).user_id;

-- name: matrices
-- Matrices of those collections, the latest first.
SELECT (s.matrix).*, s.permission, s.owner_name
FROM shared_matrices(:user_id) s
ORDER BY (s.matrix).created_at DESC, (s.matrix).id;

-- name: holding
-- The shared collection that a document is in, trash included.
SELECT shared_collection_of(:user_id, :document_id) AS index_id;

-- name: list
-- The user's shares, of one index or of all.
SELECT s.*, i.name AS index_name
FROM shares s JOIN indexes i ON i.user_id = s.user_id AND i.id = s.index_id
WHERE s.user_id = :user_id AND (:index_id::uuid IS NULL OR s.index_id = :index_id::uuid)
ORDER BY i.name, s.grantee_kind, s.grantee;

-- name: colleagues
-- Returns nobody for users who may not share.
SELECT c.* FROM colleagues(:user_id, :is_admin) c ORDER BY c.kind DESC, lower(coalesce(c.name, c.email, c.id)), c.id;

-- name: may_share
-- Curators, admins, and those whom the configuration makes admins.
SELECT true AS allowed
WHERE :is_admin OR EXISTS (SELECT 1 FROM accounts a WHERE a.user_id = :user_id AND a.role IN ('curator', 'admin'));

-- name: share
-- After `may_share`, in the same transaction.
WITH given AS (
    INSERT INTO shares (user_id, index_id, grantee_kind, grantee, permission)
    SELECT i.user_id, i.id, :grantee_kind, :grantee, :permission
    FROM indexes i
    WHERE i.user_id = :user_id AND i.id = :index_id
    ON CONFLICT (user_id, index_id, grantee_kind, grantee) DO UPDATE SET permission = excluded.permission
    RETURNING *
)
SELECT s.*, i.name FROM given s JOIN indexes i ON i.user_id = s.user_id AND i.id = s.index_id WHERE i.user_id = :user_id;

-- name: unshare
WITH withdrawn AS (
    DELETE FROM shares
    WHERE user_id = :user_id AND index_id = :index_id AND grantee_kind = :grantee_kind AND grantee = :grantee
    RETURNING *
)
SELECT s.*, i.name FROM withdrawn s JOIN indexes i ON i.user_id = s.user_id AND i.id = s.index_id WHERE i.user_id = :user_id;

-- name: place
-- Whether files may be stored for a document: it is visible, or does not exist yet.
SELECT true AS allowed
WHERE NOT EXISTS (
    SELECT 1 FROM documents d
    WHERE d.user_id = :user_id AND d.id = :document_id AND NOT in_sight(d.index_id, d.deleted_at, :within, :with_trash));

-- name: unused
SELECT true AS allowed
WHERE NOT EXISTS (
    SELECT 1 FROM documents d
    WHERE d.user_id = :user_id AND d.id = :document_id AND coalesce(:within, d.index_id) IS NOT NULL);
