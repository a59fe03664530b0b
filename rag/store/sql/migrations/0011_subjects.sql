-- Who or what a document is about: {"names", "kind", "period"}, as learned when it was read, and what the owner gave
-- instead. NULL: not learned, as the document was read before.
ALTER TABLE documents ADD COLUMN subject jsonb, ADD COLUMN given_subject jsonb;
