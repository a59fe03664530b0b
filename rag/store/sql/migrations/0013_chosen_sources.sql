-- What was ticked when a chat began: ids of documents and keys of groups, which have other documents later. Empty: document_ids.
ALTER TABLE conversations ADD COLUMN sources text[] NOT NULL DEFAULT ARRAY[]::text[];
