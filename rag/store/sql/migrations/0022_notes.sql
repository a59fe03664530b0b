-- What the owner of a document should know of how it was read, in words.

ALTER TABLE documents ADD COLUMN note text;

CREATE INDEX ON documents (taken_at) WHERE pictures_waiting;
