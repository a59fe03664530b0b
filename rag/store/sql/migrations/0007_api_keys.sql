-- Keys for the REST API and the MCP server. A secret has 256 random bits and nobody chose it: there is nothing to guess
-- from its digest, so a plain SHA-256 is enough, and each request is spared the slow hash that passwords need.

CREATE TABLE api_keys (
    user_id text NOT NULL CHECK (user_id <> ''),
    id uuid NOT NULL,
    name text NOT NULL CHECK (name <> ''),
    digest bytea NOT NULL UNIQUE,  -- SHA-256 of the secret, which is kept nowhere
    hint text NOT NULL,  -- the secret's first characters, to recognise it by
    permissions text[] NOT NULL CHECK (permissions <@ ARRAY['read', 'write', 'admin'] AND permissions <> '{}'),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (user_id, id)
);
