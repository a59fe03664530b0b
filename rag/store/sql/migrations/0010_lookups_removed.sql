-- Saved answers do not tell of look-ups any more, nor of who reranked.
ALTER TABLE messages NO FORCE ROW LEVEL SECURITY;  -- the rows of all users
UPDATE messages SET response = response #- '{provenance,retrieval,lookups}' #- '{provenance,retrieval,rerank,by}'
WHERE response -> 'provenance' ? 'retrieval';
ALTER TABLE messages FORCE ROW LEVEL SECURITY;
