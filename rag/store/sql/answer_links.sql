-- name: list
-- The user's links, of one conversation or of all.
SELECT l.*, c.title
FROM answer_links l JOIN conversations c ON c.user_id = l.user_id AND c.id = l.conversation_id
WHERE l.user_id = :user_id AND (:conversation_id::uuid IS NULL OR l.conversation_id = :conversation_id::uuid)
ORDER BY l.created_at, l.id;

-- name: share
-- For a conversation of the user's own, or an answer in it. Repeating it changes nothing.
WITH link AS (
    INSERT INTO answer_links (user_id, id, conversation_id, message_id, grantee_kind, grantee)
    SELECT c.user_id, :id, c.id, :message_id::uuid, :grantee_kind, :grantee
    FROM conversations c
    WHERE c.user_id = :user_id AND c.id = :conversation_id
      AND (:message_id::uuid IS NULL OR EXISTS (
           SELECT 1 FROM messages m
           WHERE m.user_id = :user_id AND m.conversation_id = c.id AND m.id = :message_id::uuid AND m.role = 'assistant'))
    ON CONFLICT (user_id, conversation_id, coalesce(message_id, '00000000-0000-0000-0000-000000000000'::uuid), grantee_kind, grantee)
    DO UPDATE SET grantee = excluded.grantee
    RETURNING *, xmax = 0 AS is_new
)
SELECT l.*, c.title
FROM link l JOIN conversations c ON c.user_id = l.user_id AND c.id = l.conversation_id
WHERE c.user_id = :user_id;

-- name: unshare
WITH gone AS (
    DELETE FROM answer_links WHERE user_id = :user_id AND id = :id RETURNING *
)
SELECT l.*, c.title
FROM gone l JOIN conversations c ON c.user_id = l.user_id AND c.id = l.conversation_id
WHERE c.user_id = :user_id;

-- name: shared_with_me
-- What others share with the user.
SELECT s.user_id AS owner, s.owner_name, s.id, s.conversation_id, s.message_id, s.title, s.created_at, s.index_id
FROM answers_shown_to(:user_id) s
ORDER BY s.created_at DESC, s.id;

-- name: turns
-- Without answers that are being written or broke off: nothing tells which documents they are about.
SELECT id, conversation_id, role, content, response, created_at, held_back FROM turns_shown_to(:user_id, :id)
WHERE role = 'user' OR held_back OR response IS NOT NULL
ORDER BY number;
