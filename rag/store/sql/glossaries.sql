-- name: get
SELECT toml FROM glossaries WHERE user_id = :user_id;

-- name: put
INSERT INTO glossaries (user_id, toml) VALUES (:user_id, :toml)
ON CONFLICT (user_id) DO UPDATE SET toml = excluded.toml, updated_at = now();

-- name: delete
DELETE FROM glossaries WHERE user_id = :user_id;
