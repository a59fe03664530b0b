-- name: create
INSERT INTO api_keys (user_id, id, name, digest, hint, permissions, expires_at)
VALUES (:user_id, :id, :name, :digest, :hint, :permissions::text[], :expires_at::timestamptz)
RETURNING user_id, id, name, hint, permissions, created_at, expires_at, last_used_at, revoked_at;

-- name: list
SELECT user_id, id, name, hint, permissions, created_at, expires_at, last_used_at, revoked_at
FROM api_keys
WHERE user_id = :user_id
ORDER BY created_at DESC, id;

-- name: revoke
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
WHERE user_id = :user_id AND id = :key_id
RETURNING user_id, id, name, hint, permissions, created_at, expires_at, last_used_at, revoked_at;

-- name: find
-- Without user_id: the key's user is the result.
SELECT user_id, id, name, hint, permissions, created_at, expires_at, last_used_at, revoked_at,
       last_used_at IS NULL OR last_used_at <= now() - make_interval(secs => :precision_seconds) AS is_stale
FROM api_keys
WHERE digest = :digest AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now());

-- name: touch
-- Of many concurrent requests one writes, and the others do not wait for it.
UPDATE api_keys SET last_used_at = now()
WHERE (user_id, id) = (
    SELECT user_id, id
    FROM api_keys
    WHERE user_id = :user_id AND id = :key_id
      AND (last_used_at IS NULL OR last_used_at <= now() - make_interval(secs => :precision_seconds))
    FOR UPDATE SKIP LOCKED
);

-- name: exist
SELECT EXISTS (SELECT 1 FROM api_keys WHERE revoked_at IS NULL) AS present;
