-- name: create
-- About an index of the user's own, or one that its owner shares with the user now.
INSERT INTO conversations (user_id, id, index_id, index_owner, title, document_ids)
SELECT :user_id, :id, i.id, i.owner, :title, :document_ids::uuid[]
FROM (
    SELECT id, NULL AS owner FROM indexes WHERE user_id = :user_id AND :index_owner::text IS NULL
    UNION ALL
    SELECT index_id, user_id FROM shared_with(:user_id) WHERE user_id = :index_owner::text
) AS i
WHERE i.id = :index_id
RETURNING *;

-- name: list
SELECT *
FROM conversations c
WHERE user_id = :user_id AND (index_id = :index_id OR :with_lost AND index_owner IS NOT NULL AND NOT EXISTS (
    SELECT FROM shared_with(:user_id) s WHERE s.user_id = c.index_owner AND s.index_id = c.index_id))
ORDER BY updated_at DESC, id;

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
