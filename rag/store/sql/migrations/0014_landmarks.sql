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

-- What stands where is searched in several fields: `block` of a posting is field << 20 | number of the block.
COMMENT ON COLUMN postings.block IS 'field << 20 | block of 128 chunks; field 0: the chunk, 1: its page''s text and 2: title, both of the
page''s first chunk, 3: the front of the document, of its first chunk, 4: that a page begins (the term is empty)';
