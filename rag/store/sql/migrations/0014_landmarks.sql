-- The named parts of documents: statements, sections, tables, notes, the pages themselves. A row names the chunks that have
-- most of their characters on the page. Documents from before have none until they are read anew.

CREATE TABLE landmarks (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    document_id uuid NOT NULL,
    name text NOT NULL,
    page_number int NOT NULL,
    first_ordinal int NOT NULL,
    last_ordinal int NOT NULL,
    strength real NOT NULL CHECK (strength > 0 AND strength <= 1),
    PRIMARY KEY (user_id, document_id, name, page_number),
    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);

-- A document's front (its name, its title and its first pages) is block -1 of its postings, with a single posting a term.
COMMENT ON COLUMN postings.block IS 'of 128 chunks, from 0; -1: the document''s front';
