-- Questions put to documents, each to each. A row is a document through all its versions; a cell is kept with what it
-- was answered from, so that it can be told when that is no longer what is searched.

CREATE TABLE matrices (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    id uuid NOT NULL,
    name text NOT NULL,
    questions jsonb NOT NULL,
    lineage_ids uuid[] NOT NULL,
    job_id uuid,  -- that filled it last
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (user_id, id)
);

-- `previous` is the answer of the content before. With the document that it quotes a cell goes.
CREATE TABLE matrix_cells (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    matrix_id uuid NOT NULL,
    lineage_id uuid NOT NULL,
    question int NOT NULL,
    document_id uuid NOT NULL,
    sha256 text NOT NULL,
    cell jsonb NOT NULL,
    previous jsonb,
    PRIMARY KEY (user_id, matrix_id, lineage_id, question),
    FOREIGN KEY (user_id, matrix_id) REFERENCES matrices (user_id, id) ON DELETE CASCADE,
    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);
CREATE INDEX ON matrix_cells (user_id, document_id);
