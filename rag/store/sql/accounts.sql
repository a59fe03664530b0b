-- name: get
SELECT a.user_id, a.role, a.name, a.email, a.language, a.quota_bytes, a.created_at, a.last_seen_at,
       ARRAY(SELECT m.group_name FROM memberships m WHERE m.user_id = a.user_id ORDER BY m.group_name) AS groups,
       ARRAY(SELECT m.group_name FROM memberships m WHERE m.user_id = a.user_id AND m.by_login
             ORDER BY m.group_name) AS groups_by_login
FROM accounts a
WHERE a.user_id = :user_id;

-- name: ensure
-- Does nothing for a name that cannot have an account.
INSERT INTO accounts (user_id) SELECT :user_id WHERE octet_length(:user_id) BETWEEN 1 AND 512 AND :within::uuid IS NULL
ON CONFLICT DO NOTHING;

-- name: see
-- Of many requests within a minute one writes.
INSERT INTO accounts AS a (user_id, last_seen_at)
SELECT :user_id, now() WHERE octet_length(:user_id) BETWEEN 1 AND 512
ON CONFLICT (user_id) DO UPDATE SET last_seen_at = now()
WHERE a.last_seen_at IS NULL OR a.last_seen_at <= now() - make_interval(secs => :precision_seconds);

-- name: lock
-- Locked until the end of the transaction.
SELECT role, quota_bytes FROM accounts WHERE user_id = :user_id FOR NO KEY UPDATE;

-- name: groups
-- Groups that came the same way: from a login, or from an admin.
SELECT group_name FROM memberships WHERE user_id = :user_id AND by_login = :by_login ORDER BY group_name;

-- name: log_in
-- The provider's profile of the user. Without a role from it, the present role stays.
UPDATE accounts SET role = coalesce(:role::text, role), name = :name, email = :email, last_seen_at = now()
WHERE user_id = :user_id
RETURNING role;

-- name: leave_groups
DELETE FROM memberships
WHERE user_id = :user_id AND by_login = :by_login AND NOT group_name = ANY (:groups::text[]);

-- name: join_groups
INSERT INTO memberships (user_id, group_name, by_login)
SELECT :user_id, name, :by_login FROM unnest(:groups::text[]) AS joined (name)
ON CONFLICT (user_id, group_name) DO UPDATE SET by_login = memberships.by_login AND excluded.by_login;

-- name: open_login
-- An ended login stays ended, and none starts that was issued before all were ended.
INSERT INTO logins (user_id, id, started_at)
SELECT a.user_id, :login_id, :started_at
FROM accounts a
WHERE a.user_id = :user_id AND (a.logins_valid_after IS NULL OR a.logins_valid_after <= :started_at)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: find_login
SELECT l.id, l.user_id, l.started_at, l.last_seen_at,
       l.last_seen_at <= now() - make_interval(secs => :precision_seconds) AS is_stale
FROM logins l
WHERE l.user_id = :user_id AND l.id = :login_id AND l.ended_at IS NULL;

-- name: touch_login
UPDATE logins SET last_seen_at = now() WHERE user_id = :user_id AND id = :login_id;

-- name: list_logins
SELECT id, user_id, started_at, last_seen_at
FROM logins
WHERE user_id = :user_id AND ended_at IS NULL AND started_at > now() - make_interval(secs => :lifetime_seconds)
ORDER BY last_seen_at DESC, id;

-- name: end_login
UPDATE logins SET ended_at = now() WHERE user_id = :user_id AND id = :login_id AND ended_at IS NULL;

-- name: end_logins
UPDATE logins SET ended_at = now() WHERE user_id = :user_id AND ended_at IS NULL;

-- name: end_what_was_issued
-- Providers give whole seconds, so tokens are valid again from the next second on.
UPDATE accounts SET logins_valid_after = date_trunc('second', now()) + interval '1 second' WHERE user_id = :user_id;

-- name: accepts
-- Whether a token issued at a time is still valid. A user without a row has ended no login.
SELECT NOT EXISTS (SELECT 1 FROM accounts WHERE user_id = :user_id AND logins_valid_after > :issued_at) AS accepted;

-- name: set_role
UPDATE accounts SET role = :role WHERE user_id = :user_id RETURNING user_id;

-- name: set_quota
UPDATE accounts SET quota_bytes = :quota_bytes::bigint WHERE user_id = :user_id RETURNING user_id;

-- name: set_language
UPDATE accounts SET language = :language::text WHERE user_id = :user_id;

-- name: lock_quota
-- Locks the user's storage until the end of the transaction; the next upload sees everything before it. Also for users with
-- a share of the owner's index, which their transaction has checked; the condition on it restricts nothing.
SELECT coalesce(quota_bytes, :quota_bytes::bigint) AS quota_bytes
FROM accounts
WHERE user_id = :user_id AND is_within(:within::uuid, :within)
FOR NO KEY UPDATE;

-- name: has_room
-- Also for users with a share, see `lock_quota`.
SELECT quota IS NULL OR used + :size <= quota AS has_room
FROM (SELECT coalesce((SELECT quota_bytes FROM accounts WHERE user_id = :user_id), :quota_bytes::bigint) AS quota,
             (SELECT coalesce(sum(size), 0) FROM documents WHERE user_id = :user_id) AS used) AS storage
WHERE :within::uuid IS NULL OR EXISTS (SELECT 1 FROM indexes i WHERE i.user_id = :user_id AND i.id = :within);

-- name: storage
-- The user's own storage; a share does not tell the owner's.
SELECT (SELECT coalesce(sum(size), 0)::bigint FROM documents WHERE user_id = :user_id) AS used_bytes,
       coalesce((SELECT quota_bytes FROM accounts WHERE user_id = :user_id), :quota_bytes::bigint) AS quota_bytes
WHERE :within::uuid IS NULL;

-- name: list_all
-- For admins. Includes owners of data who were never seen.
WITH counted AS MATERIALIZED (
    SELECT user_id, count(*) AS documents, sum(size) AS used_bytes FROM documents GROUP BY user_id
)
SELECT u.user_id, coalesce(a.role, 'member') AS role, a.name, a.email, a.quota_bytes, a.created_at, a.last_seen_at,
       ARRAY(SELECT m.group_name FROM memberships m WHERE m.user_id = u.user_id ORDER BY m.group_name) AS groups,
       ARRAY(SELECT m.group_name FROM memberships m WHERE m.user_id = u.user_id AND m.by_login
             ORDER BY m.group_name) AS groups_by_login,
       coalesce(d.documents, 0) AS documents, coalesce(d.used_bytes, 0)::bigint AS used_bytes,
       coalesce(k.keys, 0) AS keys, coalesce(l.logins, 0) AS logins
FROM (SELECT user_id FROM accounts UNION SELECT user_id FROM counted UNION SELECT user_id FROM api_keys) AS u
LEFT JOIN accounts a ON a.user_id = u.user_id
LEFT JOIN counted AS d ON d.user_id = u.user_id
LEFT JOIN (SELECT user_id, count(*) AS keys FROM api_keys
           WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) GROUP BY user_id) AS k
       ON k.user_id = u.user_id
LEFT JOIN (SELECT user_id, count(*) AS logins FROM logins
           WHERE ended_at IS NULL AND started_at > now() - make_interval(secs => :lifetime_seconds)
           GROUP BY user_id) AS l
       ON l.user_id = u.user_id
ORDER BY u.user_id;

-- name: all_keys
-- For admins; without secrets.
SELECT user_id, id, name, hint, permissions, created_at, expires_at, last_used_at, revoked_at
FROM api_keys
ORDER BY created_at DESC, id;

-- name: all_jobs
-- For admins; without requests and results.
SELECT user_id, id, kind, index_name, status, progress_done, progress_total, error_code, error, retry_after, created_at,
       started_at, finished_at
FROM jobs
ORDER BY created_at DESC, id
LIMIT :limit;
