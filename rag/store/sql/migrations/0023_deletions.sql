-- Files that are to be deleted: of documents that are gone, and as drafts those that an upload has put and whose document
-- is not there yet. They stay rows until the files are deleted, however often that is interrupted.

CREATE TABLE deletions (
    user_id text NOT NULL CHECK (user_id <> ''),
    document_id uuid NOT NULL,
    draft boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, document_id)
);

-- In the transaction that removes documents, whichever statement does, or removes what they are in.
CREATE FUNCTION note_deletions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deletions (user_id, document_id) SELECT g.user_id, g.id FROM gone g
    ON CONFLICT (user_id, document_id) DO UPDATE SET draft = false, created_at = now();
    RETURN NULL;
END
$$;
CREATE TRIGGER note_deletions AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION note_deletions();

-- What there is of a document: its rows in all tables, and of these its chunks, in all generations, and their vectors.
-- The statement that removes it sees what was there before.
CREATE FUNCTION rows_of_document(
    of_user text, of_id uuid, of_number int, OUT rows bigint, OUT chunks bigint, OUT vectors bigint
) LANGUAGE sql STABLE AS $$
    SELECT (SELECT count(*) FROM documents d WHERE d.user_id = of_user AND d.id = of_id)
           + (SELECT count(*) FROM postings p WHERE p.user_id = of_user AND p.document_number = of_number)
           + (SELECT count(*) FROM landmarks l WHERE l.user_id = of_user AND l.document_id = of_id)
           + (SELECT count(*) FROM upload_keys k WHERE k.user_id = of_user AND k.document_id = of_id)
           + count(*),
           count(*), count(c.embedding)
    FROM document_chunks c
    WHERE c.user_id = of_user AND c.document_id = of_id
$$;
