-- The key facts of a document, as chosen when it was read or written by a language model on request. NULL: not chosen yet.
ALTER TABLE documents ADD COLUMN key_facts jsonb;
