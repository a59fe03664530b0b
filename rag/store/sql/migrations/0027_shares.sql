-- Collections that others may read, or write too. Nothing is shared until its owner says so.

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

-- What others share with a user now, by name or through a group. The one place where that is decided.
CREATE FUNCTION shared_with(asker text) RETURNS TABLE (user_id text, index_id uuid, permission text)
LANGUAGE sql STABLE AS $$
    SELECT s.user_id, s.index_id, CASE WHEN bool_or(s.permission = 'write') THEN 'write' ELSE 'read' END
    FROM shares s
    WHERE s.user_id <> asker AND (
        s.grantee_kind = 'user' AND s.grantee = asker
        OR s.grantee_kind = 'group' AND s.grantee IN (SELECT m.group_name FROM memberships m WHERE m.user_id = asker))
    GROUP BY s.user_id, s.index_id
$$;

-- An account that is gone shares nothing and is shared nothing with: who has its name next is someone else.
CREATE FUNCTION forget_shares() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM shares WHERE user_id = OLD.user_id OR grantee_kind = 'user' AND grantee = OLD.user_id;
    RETURN OLD;
END $$;
CREATE TRIGGER forget_shares AFTER DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION forget_shares();

-- What a statement may touch that acts within one index (NULL: all of the user's), with or without the trash.
CREATE FUNCTION is_within(index_id uuid, within uuid) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT within IS NULL OR index_id = within
$$;
CREATE FUNCTION in_sight(document documents, within uuid, with_trash boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT within IS NULL OR document.index_id = within AND (with_trash OR document.deleted_at IS NULL)
$$;
CREATE FUNCTION only_within(index_id uuid, within uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN within IS NULL OR index_id = within THEN index_id END
$$;

-- Upload keys of who uploads into another's collection are not its owner's: a line end is in no key.
CREATE FUNCTION upload_key(asker text, key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN asker IS NULL THEN key ELSE asker || chr(10) || key END
$$;

-- A chat about another's collection stays the asker's own: it is there without the collection, too.
ALTER TABLE conversations ADD COLUMN index_owner text CHECK (index_owner <> user_id);
ALTER TABLE conversations ADD COLUMN own_index_id uuid
    GENERATED ALWAYS AS (CASE WHEN index_owner IS NULL THEN index_id END) STORED;
ALTER TABLE conversations DROP CONSTRAINT conversations_user_id_index_id_fkey;
ALTER TABLE conversations ADD FOREIGN KEY (user_id, own_index_id) REFERENCES indexes (user_id, id) ON DELETE CASCADE;
CREATE INDEX conversations_own_index_idx ON conversations (user_id, own_index_id);
