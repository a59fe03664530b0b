-- Long work that a user starts and follows: what was asked, how far it is, and what came out. The queue only wakes a
-- worker; what is to be done stands here.

CREATE TABLE jobs (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    id uuid NOT NULL,
    kind text NOT NULL,
    index_name text NOT NULL,
    request jsonb NOT NULL,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done', 'failed')),
    progress_done int NOT NULL DEFAULT 0,
    progress_total int NOT NULL DEFAULT 0,
    result jsonb,
    error_code text,
    error text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX ON jobs (user_id, created_at DESC);

-- A client that got no answer to its upload sends it again under the same key.
CREATE TABLE upload_keys (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    key text NOT NULL CHECK (octet_length(key) <= 1024),
    document_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key),
    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);
CREATE INDEX ON upload_keys (user_id, document_id);
