-- What users do with documents: conversations, annotations, matrices, jobs; and caches.


-- Conversations

CREATE TABLE conversations (
    user_id text NOT NULL,
    id uuid NOT NULL,
    index_owner text CHECK (index_owner <> user_id),  -- of a shared collection; NULL: the user's own
    index_id uuid NOT NULL,
    -- A chat about a shared collection remains when that is deleted; one about an own collection does not.
    own_index_id uuid GENERATED ALWAYS AS (CASE WHEN index_owner IS NULL THEN index_id END) STORED,
    document_ids uuid[] NOT NULL DEFAULT ARRAY[]::uuid[],
    title text NOT NULL,
    pinned boolean NOT NULL DEFAULT false,
    leaf bigint,  -- the number of the last message of the branch that is shown
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, own_index_id) REFERENCES indexes (user_id, id) ON DELETE CASCADE
);
CREATE INDEX ON conversations (user_id, index_id, updated_at DESC);
CREATE INDEX conversations_own_index_idx ON conversations (user_id, own_index_id);

-- Messages form a tree: an edited question or a regenerated answer is a sibling of the former one.
CREATE TABLE messages (
    user_id text NOT NULL,
    conversation_id uuid NOT NULL,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,  -- the order of the messages
    id uuid NOT NULL,
    parent bigint,  -- the number of the message before; NULL for the first
    role text NOT NULL CHECK (role IN ('user', 'assistant')),
    content text NOT NULL,
    response jsonb,
    rating text CHECK (rating IN ('good', 'bad')),
    reason text,  -- for the rating
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, conversation_id, number),
    FOREIGN KEY (user_id, conversation_id) REFERENCES conversations (user_id, id) ON DELETE CASCADE
);
CREATE INDEX messages_parent_idx ON messages (user_id, conversation_id, parent);


-- Saved filters, glossaries, annotations, evaluation sets

CREATE TABLE saved_filters (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    name text NOT NULL CHECK (name <> ''),
    filters jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, name)
);

-- A user's own vocabulary, in the format of the packaged ones.
CREATE TABLE glossaries (
    user_id text PRIMARY KEY CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    toml text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);

-- Highlights and notes of a user in documents, also in those of shared collections.
CREATE TABLE annotations (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    id uuid NOT NULL,
    owner text NOT NULL,  -- of the document
    document_id uuid NOT NULL,
    regions jsonb NOT NULL,
    quote text NOT NULL,
    note text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (owner, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);
CREATE INDEX annotations_document_idx ON annotations (owner, document_id);

-- Questions with known answers, in named sets.
CREATE TABLE evaluation_cases (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    set_name text NOT NULL CHECK (set_name <> ''),
    id text NOT NULL,
    question jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, set_name, id)
);


-- Matrices
-- The same questions asked of several documents. A row is a document in all its versions.

CREATE TABLE matrices (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    id uuid NOT NULL,
    name text NOT NULL,
    questions jsonb NOT NULL,
    lineage_ids uuid[] NOT NULL,
    job_id uuid,  -- the job that last filled it
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (user_id, id)
);

-- A cell belongs to the text of its question (`asked`, see question_key), not to the question's position: a worker may fill
-- cells while questions are reordered. The document and hash that it was answered from tell when it is out of date.
CREATE TABLE matrix_cells (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    matrix_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    asked bytea,
    document_id uuid NOT NULL,
    sha256 text NOT NULL,
    cell jsonb NOT NULL,
    previous jsonb,  -- the answer from the content before
    PRIMARY KEY (user_id, matrix_id, lineage_id, asked),
    FOREIGN KEY (user_id, matrix_id) REFERENCES matrices (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);
CREATE INDEX ON matrix_cells (user_id, document_id);

CREATE FUNCTION question_key(question jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT sha256(convert_to(question ->> 'text', 'UTF8'))
$$;


-- Jobs
-- Long work that a user starts and follows. The queue (procrastinate) only wakes a worker; the work is described here.

CREATE TABLE jobs (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    id uuid NOT NULL,
    kind text NOT NULL,
    index_name text NOT NULL,
    request jsonb NOT NULL,
    -- So that a worker can estimate an evaluation or a matrix without the right to read its questions.
    question_count int NOT NULL GENERATED ALWAYS AS (
        CASE WHEN jsonb_typeof(request -> 'questions') = 'array' THEN jsonb_array_length(request -> 'questions')
             WHEN jsonb_typeof(request -> 'cells') = 'number' THEN (request -> 'cells')::int
             ELSE 0
        END
    ) STORED,
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    progress_done int NOT NULL DEFAULT 0,
    progress_total int NOT NULL DEFAULT 0,
    result jsonb,
    error_code text,
    error text,
    attempts int NOT NULL DEFAULT 0,  -- since it last made progress
    retry_after timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz,
    finished_at timestamptz,
    PRIMARY KEY (user_id, id)
);
CREATE INDEX ON jobs (user_id, created_at DESC);
CREATE INDEX ON jobs (created_at) WHERE status IN ('queued', 'running');

-- Results of the finished steps of a job, by which it is resumed: questions by position, documents by id.
CREATE TABLE job_steps (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    job_id uuid NOT NULL,
    step text NOT NULL,
    outcome jsonb NOT NULL,
    PRIMARY KEY (user_id, job_id, step),
    FOREIGN KEY (user_id, job_id) REFERENCES jobs (user_id, id) ON DELETE CASCADE
);

-- Who works on a document or job holds a claim: a session-level advisory lock with this key. The server releases it when
-- the worker's connection ends.
CREATE FUNCTION claim_key(user_id text, id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT hashtextextended(user_id || chr(10) || id::text, 0)
$$;

-- The keys of the claims that are held now, by any session.
CREATE FUNCTION held_claims() RETURNS SETOF bigint LANGUAGE sql AS $$
    SELECT (classid::bigint << 32) | objid::bigint
    FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
$$;


-- Caches

CREATE TABLE embedding_cache (
    user_id text NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    dimensions int NOT NULL,
    text_hash bytea NOT NULL,
    vector bytea NOT NULL,  -- float32, little endian
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, provider, model, dimensions, text_hash)
);

CREATE TABLE completion_cache (
    user_id text NOT NULL,
    kind text NOT NULL,
    key bytea NOT NULL,  -- SHA-256 of everything that the completion depends on
    completion text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, kind, key)
);

-- Unlogged: losing a count does no harm, and counting does not wait for the disk.
CREATE UNLOGGED TABLE cache_counts (
    user_id text NOT NULL,
    kind text NOT NULL,
    hits bigint NOT NULL DEFAULT 0,
    misses bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, kind)
);
