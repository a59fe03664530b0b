-- name: create
INSERT INTO conversations AS made (user_id, id, index_id, title, document_ids, sources)
SELECT user_id, :id, id, :title, :document_ids::uuid[], :sources::text[] FROM indexes WHERE user_id = :user_id AND id = :index_id
RETURNING made.*;

-- name: create_about_shared
-- About an index that another user shares with the user.
INSERT INTO conversations (user_id, id, index_id, index_owner, title, document_ids, sources)
SELECT :user_id, :id, index_id, user_id, :title, :document_ids::uuid[], :sources::text[]
FROM shared_with(:user_id) WHERE user_id = :index_owner AND index_id = :index_id
ON CONFLICT (user_id, id) DO NOTHING
RETURNING *;

-- name: shared
-- The indexes that others share with the user.
SELECT coalesce(array_agg(user_id), '{}') AS owners, coalesce(array_agg(index_id), '{}') AS shared_ids FROM shared_with(:user_id);

-- name: list
SELECT *
FROM conversations c
WHERE user_id = :user_id AND (index_id = :index_id OR :with_lost AND index_owner IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM unnest(:owners::text[], :shared_ids::uuid[]) AS s (owner, id) WHERE s.owner = c.index_owner AND s.id = c.index_id))
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
      AND NOT EXISTS (SELECT 1 FROM unnest(:words::text[]) AS w (word) WHERE strpos(lower(m.content), lower(w.word)) = 0)
    ORDER BY m.number DESC
    LIMIT 1
) AS said ON true
WHERE c.user_id = :user_id AND (c.index_id = :index_id OR :with_lost AND c.index_owner IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM unnest(:owners::text[], :shared_ids::uuid[]) AS s (owner, id) WHERE s.owner = c.index_owner AND s.id = c.index_id))
  AND (said.id IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM unnest(:words::text[]) AS w (word) WHERE strpos(lower(c.title), lower(w.word)) = 0))
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

-- name: lock
-- Nobody else adds a turn until the end of the transaction. The next one comes after the chat's last.
SELECT leaf AS parent FROM conversations WHERE user_id = :user_id AND id = :conversation_id FOR UPDATE;

-- name: beside
-- Where an alternative to a turn comes.
SELECT parent FROM messages
WHERE user_id = :user_id AND conversation_id = :conversation_id AND id = :beside AND role = :role;

-- name: append
INSERT INTO messages (user_id, conversation_id, parent, id, role, content, response)
VALUES (:user_id, :conversation_id, :parent, :id, :role, :content, :response::jsonb)
RETURNING id, conversation_id, role, content, response, created_at, number;

-- name: end_with
UPDATE conversations SET updated_at = now(), leaf = :leaf WHERE user_id = :user_id AND id = :conversation_id;

-- name: versions
-- The alternatives at one place.
SELECT id FROM messages
WHERE user_id = :user_id AND conversation_id = :conversation_id AND role = :role AND parent IS NOT DISTINCT FROM :parent::bigint
ORDER BY number;

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
WHERE user_id = :user_id AND id = :conversation_id AND EXISTS (SELECT 1 FROM below)
RETURNING id;

-- name: rate
UPDATE messages SET rating = :rating, reason = :reason
WHERE user_id = :user_id AND conversation_id = :conversation_id AND id = :message_id AND role = 'assistant'
RETURNING id;
