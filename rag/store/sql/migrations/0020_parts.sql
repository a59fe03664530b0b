-- What became of the files in a mail or an archive: those that were left out are named there and nowhere else.
-- Each is {"name", "size", "document_id", "reason"}; `document_id` is that of the document with its content.

ALTER TABLE documents ADD COLUMN parts jsonb NOT NULL DEFAULT '[]';
CREATE INDEX ON documents USING gin (parts jsonb_path_ops) WHERE parts <> '[]';
