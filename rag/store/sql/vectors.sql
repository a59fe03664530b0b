-- name: missing
-- The next chunks of a document without a vector, trash included.
SELECT c.chunk_id AS id, c.document_id, c.text AS content, c.ordinal, c.section, c.context, c.lines
FROM {chunks} c
JOIN indexes i ON i.user_id = c.user_id AND i.id = c.index_id AND i.generation = c.generation
WHERE c.user_id = :user_id AND c.document_id = :document_id AND c.embedding IS NULL
  AND (i.provider, i.model, i.dimensions) = (:provider, :model, :dimensions)
ORDER BY c.ordinal
LIMIT :limit;

-- name: add
-- Skips chunks that are gone or have a vector, and documents that are no longer being embedded. The count of vectors is
-- always exact.
WITH wanted AS (
    SELECT id FROM documents
    WHERE user_id = :user_id AND id = :document_id AND status = 'embedding' AND NOT renewing
    FOR NO KEY UPDATE
), filled AS (
    UPDATE {chunks} c SET embedding = v.embedding::vector
    FROM wanted, unnest(:ids::uuid[], :vectors::text[]) AS v (id, embedding)
    WHERE c.user_id = :user_id AND c.document_id = wanted.id AND c.generation = :generation AND c.chunk_id = v.id
      AND c.embedding IS NULL
    RETURNING c.chunk_id
), counted AS (
    SELECT count(*)::int AS added FROM filled
)
UPDATE documents d
SET vector_count = d.vector_count + added, progress_done = d.vector_count + added, progress_total = d.chunk_count,
    error = NULL, error_code = NULL, attempts = 0, retry_after = NULL
FROM wanted, counted
WHERE d.user_id = :user_id AND d.id = wanted.id
RETURNING d.vector_count, d.chunk_count;

-- name: finish
-- A document whose chunks all have vectors is ready.
UPDATE documents d
SET status = 'ready', vector_count = d.chunk_count, progress_done = d.chunk_count, progress_total = d.chunk_count,
    error = NULL, error_code = NULL, attempts = 0, retry_after = NULL, queued_at = NULL, indexed_at = now()
WHERE d.user_id = :user_id AND d.id = :document_id AND d.status = 'embedding' AND NOT d.renewing
  AND NOT EXISTS (
      SELECT 1 FROM {chunks} c
      WHERE c.user_id = d.user_id AND c.document_id = d.id AND c.generation = :generation AND c.embedding IS NULL)
RETURNING d.id;
