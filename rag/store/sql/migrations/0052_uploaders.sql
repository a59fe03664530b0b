-- Who put a document into another's collection; NULL is its owner. What a worker finds in it later was uploaded by them, too.

ALTER TABLE documents ADD COLUMN uploaded_by text;
