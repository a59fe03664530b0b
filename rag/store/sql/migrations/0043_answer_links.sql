-- Conversations and answers that are shown to others, read-only. Whoever is shown one must be let read what it is about.

CREATE TABLE answer_links (
    user_id text NOT NULL CHECK (user_id <> ''),  -- whose conversation it is
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    message_id uuid,  -- of one answer; NULL: of all of it, as it is when it is looked at
    grantee_kind text NOT NULL CHECK (grantee_kind IN ('user', 'group')),
    grantee text NOT NULL CHECK (grantee <> '' AND octet_length(grantee) <= 2000),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, conversation_id) REFERENCES conversations (user_id, id) ON DELETE CASCADE
);
-- Once for each of whom it is shown to; that nulls are alike cannot be said before PostgreSQL 15.
CREATE UNIQUE INDEX answer_links_once_idx ON answer_links (
    user_id, conversation_id, coalesce(message_id, '00000000-0000-0000-0000-000000000000'::uuid), grantee_kind, grantee);
CREATE INDEX answer_links_grantee_idx ON answer_links (grantee, grantee_kind);

-- What others show a user now: given by name or through a group, and about a collection that is the user's own or is
-- shared with the user. The one place where that is decided.
CREATE FUNCTION answers_shown_to(asker text) RETURNS TABLE (
    user_id text, owner_name text, id uuid, conversation_id uuid, message_id uuid, title text, created_at timestamptz,
    index_owner text, index_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text := see_all_users();
BEGIN
    RETURN QUERY
    SELECT l.user_id, a.name, l.id, l.conversation_id, l.message_id, c.title, l.created_at,
           coalesce(c.index_owner, c.user_id), c.index_id
    FROM answer_links l
    JOIN conversations c ON c.user_id = l.user_id AND c.id = l.conversation_id
    LEFT JOIN accounts a ON a.user_id = l.user_id
    WHERE l.user_id <> asker
      AND (l.grantee_kind = 'user' AND l.grantee = asker
           OR l.grantee_kind = 'group' AND l.grantee IN (SELECT m.group_name FROM memberships m WHERE m.user_id = asker))
      AND (c.index_owner = asker OR EXISTS (
           SELECT FROM shared_with(asker) s WHERE s.user_id = coalesce(c.index_owner, c.user_id) AND s.index_id = c.index_id));
    PERFORM see_all_users(before);
END
$$;

-- The turns of one of them. An answer that names a document which the user may not see, or which is gone, is held back.
CREATE FUNCTION turns_shown_to(asker text, link_id uuid) RETURNS TABLE (
    number bigint, id uuid, conversation_id uuid, role text, content text, response jsonb, created_at timestamptz, held_back boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    link record;
    before text;
BEGIN
    SELECT * INTO link FROM answers_shown_to(asker) s WHERE s.id = link_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    before := see_all_users();
    RETURN QUERY
    WITH turns AS (
        SELECT m.*, lead(m.id) OVER (ORDER BY m.number) AS following
        FROM messages m
        WHERE m.user_id = link.user_id AND m.conversation_id = link.conversation_id
    ), chosen AS (
        SELECT t.*, EXISTS (
            SELECT
            FROM (
                SELECT s.value FROM jsonb_each(coalesce(t.response -> 'sources', '{}')) s
                UNION ALL
                SELECT n.value FROM jsonb_array_elements(coalesce(t.response -> 'nearest', '[]')) n
            ) AS named
            WHERE NOT EXISTS (
                SELECT FROM documents d
                WHERE d.user_id = link.index_owner AND d.index_id = link.index_id AND d.deleted_at IS NULL
                  AND d.id = (named.value -> 'chunk' ->> 'document_id')::uuid)
        ) AS hidden
        FROM turns t
        WHERE link.message_id IS NULL OR t.id = link.message_id OR t.following = link.message_id AND t.role = 'user'
    )
    SELECT c.number, c.id, c.conversation_id, c.role, CASE WHEN c.hidden THEN '' ELSE c.content END,
           CASE WHEN c.hidden THEN NULL ELSE c.response END, c.created_at, c.hidden
    FROM chosen c
    ORDER BY c.number;
    PERFORM see_all_users(before);
END
$$;

-- Nothing is shown to an account that is gone: who has its name next is someone else.
CREATE FUNCTION forget_answer_links() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before text := see_all_users();
BEGIN
    DELETE FROM answer_links WHERE user_id = OLD.user_id OR grantee_kind = 'user' AND grantee = OLD.user_id;
    PERFORM see_all_users(before);
    RETURN OLD;
END
$$;
CREATE TRIGGER forget_answer_links AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION forget_answer_links();

-- A link to one answer goes with it.
CREATE FUNCTION forget_links_of_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM answer_links WHERE user_id = OLD.user_id AND message_id = OLD.id;
    RETURN OLD;
END
$$;
CREATE TRIGGER forget_links_of_message AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION forget_links_of_message();

SELECT run_by_owner(name::regprocedure)
FROM unnest(ARRAY['answers_shown_to(text)', 'turns_shown_to(text, uuid)', 'forget_answer_links()']) AS f (name);
