-- Who works here, what they share with each other, and what is recorded about it.


-- Accounts, logins and API keys

-- A user without a row is a member.
CREATE TABLE accounts (
    user_id text PRIMARY KEY CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    role text NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'curator', 'admin')),
    name text,  -- from the login provider
    email text,
    language text CHECK (language ~ '^[a-z]{2,3}$'),  -- of the user interface; NULL: the browser's
    quota_bytes bigint CHECK (quota_bytes >= 0),      -- of original files; NULL: the installation's default
    logins_valid_after timestamptz,                   -- logins issued before are invalid
    created_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz
);

CREATE TABLE memberships (
    user_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    group_name text NOT NULL CHECK (group_name <> '' AND octet_length(group_name) <= 512),
    by_login boolean NOT NULL DEFAULT false,  -- from the login provider, replaced at each login
    PRIMARY KEY (user_id, group_name)
);
CREATE INDEX memberships_group_idx ON memberships (group_name);

-- Logins of browsers. Each can be ended here, whatever its cookie says.
CREATE TABLE logins (
    user_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    id uuid NOT NULL,  -- derived from the claims that distinguish logins
    started_at timestamptz NOT NULL,  -- as issued by the provider
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    PRIMARY KEY (user_id, id)
);

-- Keys for the REST API and the MCP server. A secret has 256 random bits, so a plain SHA-256 is safe: there is nothing to
-- guess, and no request pays for the slow hash that passwords need.
CREATE TABLE api_keys (
    user_id text NOT NULL CHECK (user_id <> ''),
    id uuid NOT NULL,
    name text NOT NULL CHECK (name <> ''),
    digest bytea NOT NULL UNIQUE,  -- SHA-256 of the secret, which is not stored
    hint text NOT NULL,  -- the first characters of the secret
    permissions text[] NOT NULL CHECK (permissions <@ ARRAY['read', 'write', 'admin'] AND permissions <> '{}'),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (user_id, id)
);

-- Rate limits, shared by all processes. Unlogged: rows are useless after a minute and need not survive a crash.
CREATE UNLOGGED TABLE request_rates (
    who text PRIMARY KEY,
    used_until timestamptz NOT NULL  -- each request moves it forward by its share of a minute; at most a minute ahead
);


-- Sharing of collections

CREATE TABLE shares (
    user_id text NOT NULL CHECK (user_id <> ''),  -- the owner
    index_id uuid NOT NULL,
    grantee_kind text NOT NULL CHECK (grantee_kind IN ('user', 'group')),
    grantee text NOT NULL CHECK (grantee <> '' AND octet_length(grantee) <= 2000),
    permission text NOT NULL CHECK (permission IN ('read', 'write')),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, index_id, grantee_kind, grantee),
    FOREIGN KEY (user_id, index_id) REFERENCES indexes (user_id, id) ON DELETE CASCADE
);
CREATE INDEX shares_grantee_idx ON shares (grantee, grantee_kind);

-- The collections that others share with a user, by name or through a group. The only place that decides this.
CREATE FUNCTION shared_with(asker text) RETURNS TABLE (user_id text, index_id uuid, permission text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text;
BEGIN
    IF NOT is_present(asker) THEN
        RETURN;
    END IF;
    before := see_all_users();
    RETURN QUERY
    SELECT s.user_id, s.index_id, CASE WHEN bool_or(s.permission = 'write') THEN 'write' ELSE 'read' END
    FROM shares s
    WHERE s.user_id <> asker AND (
        s.grantee_kind = 'user' AND s.grantee = asker
        OR s.grantee_kind = 'group' AND s.grantee IN (SELECT m.group_name FROM memberships m WHERE m.user_id = asker))
    GROUP BY s.user_id, s.index_id;
    PERFORM see_all_users(before);
END
$$;

CREATE FUNCTION shared_collections(asker text) RETURNS TABLE (collection indexes, permission text, owner_name text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text := see_all_users();
BEGIN
    RETURN QUERY
    SELECT i, s.permission, a.name
    FROM shared_with(asker) s
    JOIN indexes i ON i.user_id = s.user_id AND i.id = s.index_id
    LEFT JOIN accounts a ON a.user_id = s.user_id;
    PERFORM see_all_users(before);
END
$$;

-- The collection through which a user may see a document of another; its trash only with the right to write.
CREATE FUNCTION shared_collection_of(asker text, document_id uuid) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
    before text := see_all_users();
    found uuid;
BEGIN
    SELECT d.index_id INTO found
    FROM shared_with(asker) s JOIN documents d ON d.user_id = s.user_id AND d.index_id = s.index_id
    WHERE d.id = shared_collection_of.document_id AND (d.deleted_at IS NULL OR s.permission = 'write');
    PERFORM see_all_users(before);
    RETURN found;
END
$$;

-- The users and groups that a collection can be shared with, for those who may share.
CREATE FUNCTION colleagues(asker text, is_admin boolean)
RETURNS TABLE (kind text, id text, name text, email text) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text;
BEGIN
    IF NOT is_present(asker) THEN
        RETURN;
    END IF;
    before := see_all_users();
    RETURN QUERY
    SELECT found.* FROM (
        SELECT 'user', a.user_id, a.name, a.email FROM accounts a WHERE a.user_id <> asker
        UNION ALL
        SELECT DISTINCT 'group', m.group_name, NULL, NULL FROM memberships m
    ) AS found (kind, id, name, email)
    WHERE is_admin OR EXISTS (SELECT FROM accounts a WHERE a.user_id = asker AND a.role IN ('curator', 'admin'));
    PERFORM see_all_users(before);
END
$$;

-- With an account all shares by it and with it are deleted: its name may be given to somebody else.
CREATE FUNCTION forget_shares() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before text := see_all_users();
BEGIN
    DELETE FROM shares WHERE user_id = OLD.user_id OR grantee_kind = 'user' AND grantee = OLD.user_id;
    PERFORM see_all_users(before);
    RETURN OLD;
END
$$;
CREATE TRIGGER forget_shares AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION forget_shares();

SELECT run_by_owner(name::regprocedure)
FROM unnest(ARRAY['shared_with(text)', 'shared_collections(text)', 'shared_collection_of(text, uuid)',
                  'colleagues(text, boolean)', 'forget_shares()']) AS f (name);


-- Sharing of conversations and answers

-- Read-only links. They work only for users who may also read the collection.
CREATE TABLE answer_links (
    user_id text NOT NULL CHECK (user_id <> ''),  -- the owner of the conversation
    id uuid NOT NULL,
    conversation_id uuid NOT NULL,
    message_id uuid,  -- of one answer; NULL: the whole conversation in its present state
    grantee_kind text NOT NULL CHECK (grantee_kind IN ('user', 'group')),
    grantee text NOT NULL CHECK (grantee <> '' AND octet_length(grantee) <= 2000),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, conversation_id) REFERENCES conversations (user_id, id) ON DELETE CASCADE
);
-- One link per grantee. PostgreSQL 14 has no NULLS NOT DISTINCT, hence coalesce.
CREATE UNIQUE INDEX answer_links_once_idx ON answer_links (
    user_id, conversation_id, coalesce(message_id, '00000000-0000-0000-0000-000000000000'::uuid), grantee_kind, grantee);
CREATE INDEX answer_links_grantee_idx ON answer_links (grantee, grantee_kind);

-- The links that others gave a user, by name or through a group, about a collection that the user owns or is shared with.
-- The only place that decides this.
CREATE FUNCTION answers_shown_to(asker text) RETURNS TABLE (
    user_id text, owner_name text, id uuid, conversation_id uuid, message_id uuid, title text, created_at timestamptz,
    index_owner text, index_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text;
BEGIN
    IF NOT is_present(asker) THEN
        RETURN;
    END IF;
    before := see_all_users();
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

-- The messages of a link. An answer that cites a document which the user may not see, or which is deleted, is withheld.
CREATE FUNCTION turns_shown_to(asker text, link_id uuid) RETURNS TABLE (
    number bigint, id uuid, conversation_id uuid, role text, content text, response jsonb, created_at timestamptz,
    held_back boolean)
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

-- With an account all links by it and for it are deleted: its name may be given to somebody else.
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

-- A link to one answer is deleted with it.
CREATE FUNCTION forget_links_of_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM answer_links WHERE user_id = OLD.user_id AND message_id = OLD.id;
    RETURN OLD;
END
$$;
CREATE TRIGGER forget_links_of_message AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION forget_links_of_message();

SELECT run_by_owner(name::regprocedure)
FROM unnest(ARRAY['answers_shown_to(text)', 'turns_shown_to(text, uuid)', 'forget_answer_links()']) AS f (name);


-- Audit log
-- Who did what, when and from where. Rows can be added but never changed.

CREATE TABLE audit (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor text NOT NULL,
    action text NOT NULL,
    owner text NOT NULL,  -- of the thing that it was done to
    subject_kind text NOT NULL DEFAULT '',
    subject_id text NOT NULL DEFAULT '',
    subject_name text NOT NULL DEFAULT '',
    door text NOT NULL DEFAULT '',  -- app, rest, mcp, cli, worker or python
    address text NOT NULL DEFAULT '',
    details jsonb NOT NULL DEFAULT '{}'  -- never text of a document
);
CREATE INDEX audit_at_idx ON audit (at);
CREATE INDEX audit_actor_idx ON audit (actor, id);
CREATE INDEX audit_owner_idx ON audit (owner, id);

ALTER TABLE audit ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY of_user ON audit USING (nullif(current_setting('pagelight.user_id', true), '') IN (actor, owner));
CREATE POLICY of_all_users ON audit
    USING (current_setting('pagelight.all_users', true) = 'on' AND current_user <> 'pagelight_app');

CREATE FUNCTION keep_audit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND current_setting('pagelight.forgetting_audit', true) = 'on'
       AND current_user = (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = TG_RELID) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit is only added to' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER keep_audit BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION keep_audit();
CREATE TRIGGER keep_all_audit BEFORE TRUNCATE ON audit FOR EACH STATEMENT EXECUTE FUNCTION keep_audit();

-- The only way to delete old rows, which is logged in turn. For the owner of the table alone.
CREATE FUNCTION forget_audit(who text, before timestamptz, through text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    gone bigint;
    before_all text;
BEGIN
    IF before > clock_timestamp() THEN
        RAISE EXCEPTION 'the audit lets go of what is past' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    before_all := see_all_users();
    PERFORM set_config('pagelight.forgetting_audit', 'on', true);
    DELETE FROM audit WHERE at < before;
    GET DIAGNOSTICS gone = ROW_COUNT;
    PERFORM set_config('pagelight.forgetting_audit', 'off', true);
    IF gone > 0 THEN
        INSERT INTO audit (actor, action, owner, subject_kind, door, details)
        VALUES (who, 'audit.forget', who, 'audit', through, jsonb_build_object('rows', gone, 'before', before));
    END IF;
    PERFORM see_all_users(before_all);
    RETURN gone;
END
$$;
SELECT run_by_owner('forget_audit(text, timestamptz, text)');


-- Operations
-- For those who run an installation. No user's data.

-- Counters of all workers on all machines since the database was set up.
CREATE TABLE work_counts (
    name text NOT NULL,
    code text NOT NULL DEFAULT '',  -- the error code, where failures are counted
    count bigint NOT NULL,
    PRIMARY KEY (name, code)
);

CREATE TABLE backups (
    created_at timestamptz PRIMARY KEY,
    path text NOT NULL,
    bytes bigint NOT NULL,
    documents bigint NOT NULL,
    files bigint NOT NULL,
    missing bigint NOT NULL,
    verified_at timestamptz  -- when the whole archive was last checked against its manifest
);
