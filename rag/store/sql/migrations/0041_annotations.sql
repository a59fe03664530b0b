-- What a user marks and notes in documents: their own, or of a collection that another shares with them.

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
