-- name: lock_index
-- Waits for writers of chunks and blocks them; documents can still be added.
SELECT * FROM indexes WHERE user_id = :user_id AND id = :index_id FOR NO KEY UPDATE;

-- name: add
INSERT INTO embedding_generations (user_id, index_id, generation, provider, model, dimensions)
SELECT :user_id, :index_id, max(generation) + 1, :provider, :model, :dimensions
FROM embedding_generations
WHERE user_id = :user_id AND index_id = :index_id
HAVING count(*) > 0
ON CONFLICT (user_id, index_id, provider, model, dimensions) DO NOTHING;

-- name: list
-- Vectors are added in order, so a document is complete if its last chunk has a vector.
SELECT g.*, i.generation AS active, i.previous_generation AS previous, chunks.done, chunks.total
FROM embedding_generations g
JOIN indexes i ON i.user_id = :user_id AND i.id = g.index_id
CROSS JOIN LATERAL (
    SELECT coalesce(sum(d.chunk_count), 0)::bigint AS total,
           coalesce(sum(d.chunk_count) FILTER (WHERE EXISTS (
               SELECT 1 FROM stored_chunks c
               WHERE c.user_id = :user_id AND c.document_id = d.id AND c.generation = g.generation
                 AND c.ordinal = d.chunk_count - 1 AND c.embedding IS NOT NULL
           )), 0)::bigint AS done
    FROM documents d
    WHERE d.user_id = :user_id AND d.index_id = g.index_id
) AS chunks
WHERE g.user_id = :user_id AND g.index_id = :index_id
ORDER BY g.generation;

-- name: missing
-- Includes documents in the trash, which may be restored.
SELECT d.id
FROM documents d
WHERE d.user_id = :user_id AND d.index_id = :index_id AND d.chunk_count > 0 AND NOT EXISTS (
    SELECT 1 FROM {chunks} c
    WHERE c.user_id = d.user_id AND c.document_id = d.id AND c.generation = :generation
      AND c.ordinal = d.chunk_count - 1 AND c.embedding IS NOT NULL
)
ORDER BY d.number;

-- name: get
SELECT * FROM embedding_generations
WHERE user_id = :user_id AND index_id = :index_id AND generation = :generation
  AND (provider, model, dimensions) = (:provider, :model, :dimensions);

-- name: switch
UPDATE indexes i
SET generation = g.generation, provider = g.provider, model = g.model, dimensions = g.dimensions,
    previous_generation = CASE WHEN i.previous_generation = g.generation THEN NULL ELSE i.generation END
FROM embedding_generations g
WHERE i.user_id = :user_id AND i.id = :index_id
  AND g.user_id = i.user_id AND g.index_id = i.id AND g.generation = :generation
RETURNING i.*;

-- name: count_vectors
-- All documents have all vectors in the active generation.
UPDATE documents SET vector_count = chunk_count
WHERE user_id = :user_id AND index_id = :index_id AND vector_count <> chunk_count;

-- name: drop
DELETE FROM embedding_generations WHERE user_id = :user_id AND index_id = :index_id AND generation = :generation;

-- name: drop_chunks
DELETE FROM {chunks} c
USING documents d
WHERE d.user_id = :user_id AND d.index_id = :index_id
  AND c.user_id = d.user_id AND c.document_id = d.id AND c.generation = :generation;

-- name: forget_previous
UPDATE indexes SET previous_generation = NULL
WHERE user_id = :user_id AND id = :index_id AND previous_generation = :generation;
