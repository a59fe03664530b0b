-- name: list
SELECT name, filters FROM saved_filters WHERE user_id = :user_id ORDER BY lower(name), name;

-- name: get
SELECT name, filters FROM saved_filters WHERE user_id = :user_id AND name = :name;

-- name: put
INSERT INTO saved_filters (user_id, name, filters) VALUES (:user_id, :name, :filters)
ON CONFLICT (user_id, name) DO UPDATE SET filters = excluded.filters, updated_at = excluded.updated_at;

-- name: delete
DELETE FROM saved_filters WHERE user_id = :user_id AND name = :name RETURNING name;
