-- name: create
INSERT INTO conversations (user_id, id, index_id, title, document_ids)
SELECT i.user_id, :id, i.id, :title, :document_ids::uuid[]
FROM indexes i
WHERE i.user_id = :user_id AND i.id = :index_id
RETURNING *;

-- name: list
SELECT * FROM conversations WHERE user_id = :user_id AND index_id = :index_id ORDER BY updated_at DESC, id;

-- name: get
SELECT * FROM conversations WHERE user_id = :user_id AND id = :conversation_id;

-- name: rename
UPDATE conversations SET title = :title WHERE user_id = :user_id AND id = :conversation_id RETURNING id;

-- name: delete
DELETE FROM conversations WHERE user_id = :user_id AND id = :conversation_id RETURNING id;

-- name: messages
SELECT id, conversation_id, role, content, response, created_at
FROM (
    SELECT * FROM messages
    WHERE user_id = :user_id AND conversation_id = :conversation_id
    ORDER BY number DESC
    LIMIT :last::bigint
) AS latest
ORDER BY number;

-- name: append_both
-- A question and its answer, which is returned: both or neither.
WITH conversation AS (
    UPDATE conversations SET updated_at = clock_timestamp()
    WHERE user_id = :user_id AND id = :conversation_id
    RETURNING user_id, id
), added AS (
    INSERT INTO messages (user_id, conversation_id, id, role, content, response)
    SELECT user_id, conversation.id, turn.id, turn.role, turn.content, turn.response
    FROM conversation,
         (VALUES (1, :question_id::uuid, 'user', :question::text, NULL::jsonb),
                 (2, :id::uuid, 'assistant', :content::text, :response::jsonb)) AS turn (place, id, role, content, response)
    ORDER BY turn.place
    RETURNING id, conversation_id, role, content, response, created_at
)
SELECT * FROM added WHERE role = 'assistant';

-- name: append
WITH conversation AS (
    UPDATE conversations SET updated_at = clock_timestamp()
    WHERE user_id = :user_id AND id = :conversation_id
    RETURNING user_id, id
)
INSERT INTO messages (user_id, conversation_id, id, role, content, response)
SELECT user_id, conversation.id, :id, :role, :content, :response::jsonb FROM conversation
RETURNING id, conversation_id, role, content, response, created_at;
