-- A document has a hundred thousand postings, and to look the document up for each took most of the time of adding them.
-- They are added while their document is locked, so it is there; with it they go, all in one statement.

ALTER TABLE postings DROP CONSTRAINT postings_user_id_document_number_fkey;

CREATE FUNCTION delete_postings_of_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM postings AS p USING deleted AS d WHERE p.user_id = d.user_id AND p.document_number = d.number;
    RETURN NULL;
END
$$;

CREATE TRIGGER delete_postings AFTER DELETE ON documents
    REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION delete_postings_of_deleted();
