-- Indexes, documents and what hangs on them. Every table that holds a user's data has user_id in its key.

CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE indexes (
    user_id text NOT NULL CHECK (user_id <> ''),
    id uuid NOT NULL,
    number int NOT NULL GENERATED ALWAYS AS IDENTITY,  -- a short key for postings
    name text NOT NULL CHECK (name <> ''),
    provider text NOT NULL,
    model text NOT NULL,
    dimensions int NOT NULL CHECK (dimensions > 0),
    chunk_size_chars int NOT NULL,
    chunk_overlap_chars int NOT NULL,
    min_chunk_chars int NOT NULL,
    generation int NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
);

CREATE TABLE documents (
    user_id text NOT NULL,
    id uuid NOT NULL,
    number int NOT NULL GENERATED ALWAYS AS IDENTITY,  -- a short key for postings
    index_id uuid NOT NULL,
    name text NOT NULL,
    mime_type text NOT NULL,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    source text,
    title text,
    status text NOT NULL,
    progress_done int NOT NULL DEFAULT 0,
    progress_total int NOT NULL DEFAULT 0,
    error text,
    error_code text,
    pages jsonb NOT NULL DEFAULT '[]',
    page_count int NOT NULL DEFAULT 0,
    failed_pages int[] NOT NULL DEFAULT ARRAY[]::int[],
    line_count int NOT NULL DEFAULT 0,
    chunk_count int NOT NULL DEFAULT 0,
    char_count bigint NOT NULL DEFAULT 0,
    token_count bigint NOT NULL DEFAULT 0,
    lexeme_count bigint NOT NULL DEFAULT 0,  -- the summed length of its chunks, as BM25 counts it
    created_at timestamptz NOT NULL DEFAULT now(),
    indexed_at timestamptz,
    deleted_at timestamptz,
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, number),
    UNIQUE (user_id, index_id, sha256),
    FOREIGN KEY (user_id, index_id) REFERENCES indexes (user_id, id) ON DELETE CASCADE
) WITH (toast_tuple_target = 256);  -- page sizes out of the way of what every search reads

-- The documents a search may touch. The planner inlines it, so it costs nothing and exists once.
CREATE FUNCTION documents_in_scope(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text
) RETURNS TABLE (id uuid, number int, chunk_count int, lexeme_count bigint)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count
    FROM documents d
    WHERE d.user_id = of_user AND d.index_id = of_index AND d.deleted_at IS NULL
      AND ($3 IS NULL OR d.id = ANY ($3))
      AND ($4 IS NULL OR d.mime_type = ANY ($4))
      AND ($5 IS NULL OR d.source = ANY ($5))
      AND ($6 IS NULL OR starts_with(d.source, $6))
$$;

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

CREATE TABLE conversations (
    user_id text NOT NULL,
    id uuid NOT NULL,
    index_id uuid NOT NULL,
    title text NOT NULL,
    document_ids uuid[] NOT NULL DEFAULT ARRAY[]::uuid[],
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    FOREIGN KEY (user_id, index_id) REFERENCES indexes (user_id, id) ON DELETE CASCADE
);
CREATE INDEX ON conversations (user_id, index_id, updated_at DESC);

CREATE TABLE messages (
    user_id text NOT NULL,
    conversation_id uuid NOT NULL,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,  -- the order of the turns
    id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('user', 'assistant')),
    content text NOT NULL,
    response jsonb,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, conversation_id, number),
    FOREIGN KEY (user_id, conversation_id) REFERENCES conversations (user_id, id) ON DELETE CASCADE
);
