-- name: scope
-- Only vectors of the requested space, active or not.
user_id = :user_id AND index_id = :index_id AND generation = (
    SELECT g.generation
    FROM embedding_generations g
    WHERE g.user_id = :user_id AND g.index_id = :index_id
      AND g.provider = :provider AND g.model = :model AND g.dimensions = :dimensions
)
AND embedding IS NOT NULL  -- what has no vector yet is found by its words
AND document_id IN (
    SELECT scope.id
    FROM {documents_in_scope} scope
)
AND (CAST(:must_all AS text[]) IS NULL OR text ~* ALL (CAST(:must_all AS text[])))
AND (CAST(:must_any AS text[]) IS NULL OR text ~* ANY (CAST(:must_any AS text[])))

-- name: candidates
-- The rows in scope with the codes nearest to the question's, to be compared by vector.
user_id = :user_id AND ctid = ANY (ARRAY(
    SELECT ctid
    FROM {chunks}
    WHERE {scope}
    ORDER BY vector_code(embedding::vector, {dimensions})::bit({bits}) <~> vector_code(CAST(:vector AS vector), {dimensions})
    LIMIT :candidates
))

-- name: size
SELECT coalesce(sum(scope.chunk_count), 0) AS chunks
FROM {documents_in_scope} scope;
