-- Who works here: what they may do, and the groups that documents are shared with. A user without a row is a member.

CREATE TABLE accounts (
    user_id text PRIMARY KEY CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    role text NOT NULL DEFAULT 'member' CHECK (role IN ('member', 'curator', 'admin')),
    name text,  -- as the login provider has it
    email text,
    quota_bytes bigint CHECK (quota_bytes >= 0),  -- of originals; NULL is what the installation allows
    created_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz
);

CREATE TABLE memberships (
    user_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    group_name text NOT NULL CHECK (group_name <> '' AND octet_length(group_name) <= 512),
    PRIMARY KEY (user_id, group_name)
);
CREATE INDEX memberships_group_idx ON memberships (group_name);
