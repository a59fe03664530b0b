-- For BM25: per term, document and block of 128 chunks, the chunks the term stands in.
-- A posting is packed: ordinal << 32 | term count << 16 | length of the chunk.

CREATE TABLE postings (
    user_id text NOT NULL,
    index_number int NOT NULL,
    term text COLLATE "C" NOT NULL,
    document_number int NOT NULL,
    block int NOT NULL,
    packed bigint[] NOT NULL,
    PRIMARY KEY (user_id, index_number, term, document_number, block),
    FOREIGN KEY (user_id, document_number) REFERENCES documents (user_id, number) ON DELETE CASCADE
);
-- A document's postings are written together, so a few bytes per range of pages find them again for deletion.
CREATE INDEX ON postings USING brin (document_number int4_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);
