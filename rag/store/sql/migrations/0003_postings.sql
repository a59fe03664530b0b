-- For BM25: per term, document and block of 128 chunks, the chunks the term stands in.
-- `packed` has four bytes per chunk, big endian: ordinal in the block (1), term count (1), length of the chunk (2).

CREATE TABLE postings (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    index_number int NOT NULL,
    term text COLLATE "C" NOT NULL,
    document_number int NOT NULL,
    block int NOT NULL,
    packed bytea NOT NULL,
    -- With the postings in the index a term's are read side by side, and not one page per document.
    PRIMARY KEY (user_id, index_number, term, document_number, block) INCLUDE (packed),
    FOREIGN KEY (user_id, document_number) REFERENCES documents (user_id, number) ON DELETE CASCADE
) WITH (autovacuum_vacuum_insert_threshold = 20000, autovacuum_vacuum_insert_scale_factor = 0.02);
-- To replace and to delete a document's; equal keys are kept once, so it is small.
CREATE INDEX ON postings (user_id, document_number);
