-- name: create
-- About an index of the user's own, or one that is shared with the user.
INSERT INTO conversations (user_id, id, index_id, index_owner, title, document_ids, sources)
SELECT :user_id, :id, i.id, i.owner, :title, :document_ids::uuid[], :sources::text[]
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
ORDER BY pinned DESC, updated_at DESC, id;

-- name: get
SELECT * FROM conversations WHERE user_id = :user_id AND id = :conversation_id;

-- name: update
UPDATE conversations SET title = coalesce(:title::text, title), pinned = coalesce(:pinned::boolean, pinned)
WHERE user_id = :user_id AND id = :conversation_id RETURNING id;

-- name: delete
DELETE FROM conversations WHERE user_id = :user_id AND id = :conversation_id RETURNING id;

-- name: search
-- The chats with all words in the title or in one turn, which is returned.
SELECT c.*, said.id AS message_id, coalesce(said.content, c.title) AS content
FROM conversations c
LEFT JOIN LATERAL (
    SELECT m.id, m.content FROM messages m
    WHERE m.user_id = :user_id AND m.conversation_id = c.id
      AND NOT EXISTS (SELECT FROM unnest(:words::text[]) AS w (word) WHERE strpos(lower(m.content), lower(w.word)) = 0)
    ORDER BY m.number DESC
    LIMIT 1
) AS said ON true
WHERE c.user_id = :user_id AND (c.index_id = :index_id OR :with_lost AND c.index_owner IS NOT NULL AND NOT EXISTS (
    SELECT FROM shared_with(:user_id) s WHERE s.user_id = c.index_owner AND s.index_id = c.index_id))
  AND (said.id IS NOT NULL OR NOT EXISTS (
    SELECT FROM unnest(:words::text[]) AS w (word) WHERE strpos(lower(c.title), lower(w.word)) = 0))
ORDER BY c.pinned DESC, c.updated_at DESC, c.id
LIMIT :most;

-- name: messages
-- From the chat's last turn back to its first, each with its alternatives, itself included.
WITH RECURSIVE path AS (
    SELECT m.* FROM messages m JOIN conversations c ON c.user_id = m.user_id AND c.id = m.conversation_id
    WHERE m.user_id = :user_id AND m.conversation_id = :conversation_id AND m.number = c.leaf
    UNION ALL
    SELECT m.* FROM messages m JOIN path ON m.number = path.parent
    WHERE m.user_id = :user_id AND m.conversation_id = :conversation_id
), latest AS (
    SELECT * FROM path ORDER BY number DESC LIMIT :last::bigint
)
SELECT id, conversation_id, role, content, response, created_at, rating, reason, ARRAY(
    SELECT v.id FROM messages v
    WHERE v.user_id = :user_id AND v.conversation_id = :conversation_id AND v.role = latest.role
      AND v.parent IS NOT DISTINCT FROM latest.parent
    ORDER BY v.number) AS versions
FROM latest
ORDER BY number;

-- name: append_both
-- Adds a question and its answer, or neither, and returns the answer: after the chat's last turn, or as alternatives to
-- the turn `beside`.
WITH place AS (
    SELECT c.user_id, c.id, CASE WHEN :beside::uuid IS NULL THEN c.leaf ELSE b.parent END AS parent
    FROM conversations c
    LEFT JOIN messages b ON b.user_id = c.user_id AND b.conversation_id = c.id AND b.id = :beside::uuid
    WHERE c.user_id = :user_id AND c.id = :conversation_id AND (:beside::uuid IS NULL OR b.role = 'user')
    FOR UPDATE OF c
), asked AS (
    INSERT INTO messages (user_id, conversation_id, parent, id, role, content)
    SELECT user_id, id, parent, :question_id, 'user', :question FROM place
    RETURNING user_id, conversation_id, number
), added AS (
    INSERT INTO messages (user_id, conversation_id, parent, id, role, content, response)
    SELECT user_id, conversation_id, number, :id, 'assistant', :content, :response::jsonb FROM asked
    RETURNING id, conversation_id, role, content, response, created_at, number
), touched AS (
    UPDATE conversations c SET updated_at = clock_timestamp(), leaf = added.number
    FROM added WHERE c.user_id = :user_id AND c.id = added.conversation_id
)
SELECT id, conversation_id, role, content, response, created_at, ARRAY[id] AS versions FROM added;

-- name: append
-- Adds a turn after the chat's last one, or as an alternative to the turn `beside`, which is kept.
WITH place AS (
    SELECT c.user_id, c.id, CASE WHEN :beside::uuid IS NULL THEN c.leaf ELSE b.parent END AS parent
    FROM conversations c
    LEFT JOIN messages b ON b.user_id = c.user_id AND b.conversation_id = c.id AND b.id = :beside::uuid
    WHERE c.user_id = :user_id AND c.id = :conversation_id AND (:beside::uuid IS NULL OR b.role = :role)
    FOR UPDATE OF c
), added AS (
    INSERT INTO messages (user_id, conversation_id, parent, id, role, content, response)
    SELECT user_id, id, parent, :id, :role, :content, :response::jsonb FROM place
    RETURNING id, conversation_id, role, content, response, created_at, number, parent
), touched AS (
    UPDATE conversations c SET updated_at = clock_timestamp(), leaf = added.number
    FROM added WHERE c.user_id = :user_id AND c.id = added.conversation_id
)
SELECT id, conversation_id, role, content, response, created_at, ARRAY(
    SELECT v.id FROM messages v
    WHERE v.user_id = :user_id AND v.conversation_id = added.conversation_id AND v.role = added.role
      AND v.parent IS NOT DISTINCT FROM added.parent
    ORDER BY v.number) || id AS versions
FROM added;

-- name: replace_answer
UPDATE messages SET content = :content, response = :response::jsonb
WHERE user_id = :user_id AND conversation_id = :conversation_id AND id = :message_id AND role = 'assistant'
RETURNING id;

-- name: is_locked
-- See `Conversations.lock`.
SELECT claim_key(:user_id, :conversation_id) IN (SELECT held_claims()) AS locked;

-- name: choose
-- The chat continues from a turn and ends with the latest turn that followed it.
WITH RECURSIVE below AS (
    SELECT number FROM messages
    WHERE user_id = :user_id AND conversation_id = :conversation_id AND id = :message_id
    UNION ALL
    SELECT m.number FROM messages m JOIN below ON m.parent = below.number
    WHERE m.user_id = :user_id AND m.conversation_id = :conversation_id
)
UPDATE conversations SET leaf = (SELECT max(number) FROM below)
WHERE user_id = :user_id AND id = :conversation_id AND EXISTS (SELECT FROM below)
RETURNING id;

-- name: rate
UPDATE messages SET rating = :rating, reason = :reason
WHERE user_id = :user_id AND conversation_id = :conversation_id AND id = :message_id AND role = 'assistant'
RETURNING id;
