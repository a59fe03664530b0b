-- name: lock
-- Locks the files of a document until the end of the transaction. Shared collections may do this too; it tells nothing.
SELECT pg_advisory_xact_lock(hashtextextended(:document_id::text, 3)) WHERE is_within(:within::uuid, :within);

-- name: draft
INSERT INTO deletions (user_id, document_id, draft) VALUES (:user_id, :document_id, true)
ON CONFLICT (user_id, document_id) DO UPDATE SET draft = true, created_at = excluded.created_at;

-- name: own
DELETE FROM deletions f
WHERE f.user_id = :user_id AND f.document_id = :document_id AND f.draft
  AND EXISTS (SELECT 1 FROM documents d WHERE d.user_id = f.user_id AND d.id = f.document_id AND is_within(d.index_id, :within))
RETURNING f.document_id;

-- name: add
-- Of purged documents.
INSERT INTO deletions (user_id, document_id) SELECT :user_id, id FROM unnest(:ids::uuid[]) AS gone (id)
ON CONFLICT (user_id, document_id) DO UPDATE SET draft = false, created_at = excluded.created_at;

-- name: take
DELETE FROM deletions WHERE user_id = :user_id AND document_id = :document_id RETURNING document_id;

-- name: is_owned
SELECT EXISTS (SELECT 1 FROM documents WHERE user_id = :user_id AND id = :document_id) AS owned;

-- name: is_due
SELECT EXISTS (
    SELECT 1 FROM deletions
    WHERE user_id = :user_id AND document_id = :document_id
      AND created_at <= now() - CASE WHEN draft THEN :older_than::interval ELSE least(:older_than::interval, :patience::interval) END
) AS due;

-- name: due
-- For the cleanup, of all users: ids only.
SELECT user_id, document_id
FROM deletions
WHERE created_at <= now() - CASE WHEN draft THEN :older_than::interval ELSE least(:older_than::interval, :patience::interval) END
ORDER BY created_at;

-- name: known
-- For the cleanup, of all users: ids only, in one snapshot.
SELECT user_id, id FROM documents UNION ALL SELECT user_id, document_id FROM deletions;

-- name: known_by_id
SELECT user_id FROM documents WHERE id = :document_id
UNION ALL
SELECT user_id FROM deletions WHERE document_id = :document_id;

-- name: count
-- The rows of documents in all tables, and of these their chunks, and their vectors.
SELECT chunks.chunks + (SELECT count(*) FROM documents WHERE user_id = :user_id AND id = ANY (:ids::uuid[]))
       + (SELECT count(*) FROM postings WHERE user_id = :user_id AND document_number = ANY (:numbers::int[]))
       + (SELECT count(*) FROM landmarks WHERE user_id = :user_id AND document_id = ANY (:ids::uuid[]))
       + (SELECT count(*) FROM upload_keys WHERE user_id = :user_id AND document_id = ANY (:ids::uuid[])) AS rows,
       chunks.chunks, chunks.vectors
FROM (
    SELECT count(*) AS chunks, count(c.embedding) AS vectors
    FROM document_chunks c
    WHERE c.user_id = :user_id AND c.document_id = ANY (:ids::uuid[])
) AS chunks;

-- name: of_index
SELECT id, number FROM documents WHERE user_id = :user_id AND index_id = :index_id;

-- name: delete_postings
DELETE FROM postings WHERE user_id = :user_id AND document_number = ANY (:numbers::int[]);

-- name: delete_annotations
-- Those of other users on documents that are gone. In a transaction of its own: Citus lets one role write in a transaction.
-- Shared collections may do this too; it restricts nothing.
SELECT delete_annotations(:user_id, :ids::uuid[]) WHERE is_within(:within::uuid, :within);

-- name: delete_documents
DELETE FROM documents WHERE user_id = :user_id AND id = ANY (:ids::uuid[]);

-- name: alone
-- Whether no other process cleans up, while the connection lives.
SELECT pg_try_advisory_lock(hashtextextended('pagelight sweep', 0)) AS alone;
