-- name: lock
-- Locks the files of a document until the end of the transaction. Shared collections may do this too; it tells nothing.
SELECT pg_advisory_xact_lock(hashtextextended(:document_id::text, 3)) WHERE is_within(:within::uuid, :within);

-- name: draft
INSERT INTO deletions (user_id, document_id, draft) VALUES (:user_id, :document_id, true)
ON CONFLICT (user_id, document_id) DO UPDATE SET draft = true, created_at = now();

-- name: own
DELETE FROM deletions f
WHERE f.user_id = :user_id AND f.document_id = :document_id AND f.draft
  AND EXISTS (SELECT FROM documents d WHERE d.user_id = f.user_id AND d.id = f.document_id AND is_within(d.index_id, :within))
RETURNING f.document_id;

-- name: take
DELETE FROM deletions WHERE user_id = :user_id AND document_id = :document_id RETURNING document_id;

-- name: is_owned
SELECT EXISTS (SELECT FROM documents WHERE user_id = :user_id AND id = :document_id) AS owned;

-- name: is_due
SELECT EXISTS (
    SELECT FROM deletions
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
-- What is left of deleted documents.
SELECT coalesce(sum(r.rows), 0)::bigint AS rows, coalesce(sum(r.chunks), 0)::bigint AS chunks,
       coalesce(sum(r.vectors), 0)::bigint AS vectors
FROM unnest(:ids::uuid[], :numbers::int[]) AS d (id, number),
     LATERAL rows_of_document(:user_id::text, d.id, d.number) AS r;

-- name: alone
-- Whether no other process cleans up, while the connection lives.
SELECT pg_try_advisory_lock(hashtextextended('pagelight sweep', 0)) AS alone;
