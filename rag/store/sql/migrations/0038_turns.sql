-- Turns of a chat in the place of others, which are kept: a question that was put differently, an answer that was made
-- anew. What people think of answers; chats that stay at the top.

ALTER TABLE conversations ADD COLUMN pinned boolean NOT NULL DEFAULT false;
ALTER TABLE conversations ADD COLUMN leaf bigint;  -- the number of the turn that the chat ends with
ALTER TABLE messages ADD COLUMN parent bigint;  -- the number of the turn before, NULL for the first
ALTER TABLE messages ADD COLUMN rating text CHECK (rating IN ('good', 'bad'));
ALTER TABLE messages ADD COLUMN reason text;

-- Row-level security holds for the owner, too; this is of all users.
SELECT see_all_users();
UPDATE messages m SET parent = before.number
FROM (SELECT user_id, conversation_id, number AS own,
             lag(number) OVER (PARTITION BY user_id, conversation_id ORDER BY number) AS number FROM messages) AS before
WHERE m.user_id = before.user_id AND m.conversation_id = before.conversation_id AND m.number = before.own
  AND before.number IS NOT NULL;
UPDATE conversations c SET leaf = last.number
FROM (SELECT user_id, conversation_id, max(number) AS number FROM messages GROUP BY user_id, conversation_id) AS last
WHERE c.user_id = last.user_id AND c.id = last.conversation_id;
SELECT see_all_users('');

CREATE INDEX messages_parent_idx ON messages (user_id, conversation_id, parent);
