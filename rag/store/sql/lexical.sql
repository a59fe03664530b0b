-- name: chunks
-- BM25 with k1 = 1.2 and b = 0.75; numbers of chunks, their mean length and document frequencies are those of the scope.
WITH scope AS MATERIALIZED (
    SELECT number, id, chunk_count, lexeme_count
    FROM documents_in_scope(:user_id, :index_id, :document_ids, :mime_types, :sources, :source_prefix)
), totals AS (
    SELECT sum(chunk_count) AS chunks, sum(lexeme_count)::float8 / greatest(sum(chunk_count), 1) AS mean_length FROM scope
), found AS MATERIALIZED (
    SELECT p.term, p.document_number, p.packed
    FROM postings p JOIN scope ON scope.number = p.document_number
    WHERE p.user_id = :user_id AND p.index_number = (SELECT number FROM indexes WHERE user_id = :user_id AND id = :index_id)
      AND p.term = ANY (ARRAY(SELECT lexeme FROM unnest(to_tsvector('english', :query))))
), weights AS (
    SELECT term, ln(1 + (chunks - sum(cardinality(packed)) + 0.5) / (sum(cardinality(packed)) + 0.5))::float8 AS idf
    FROM found, totals GROUP BY term, chunks
), best AS (
    SELECT document_number, (posting >> 32)::int AS ordinal,
           sum(idf * (posting >> 16 & 65535) * 2.2::float8
               / ((posting >> 16 & 65535) + 1.2::float8 * (0.25 + 0.75 * (posting & 65535) / mean_length))) AS score
    FROM found JOIN weights USING (term), totals, unnest(packed) AS posting
    GROUP BY 1, 2
    ORDER BY score DESC, document_number, ordinal
    LIMIT :limit
)
SELECT c.id AS chunk_id, c.document_id, c.page_number, best.score
FROM best
JOIN scope ON scope.number = best.document_number
JOIN document_chunks c ON c.user_id = :user_id AND c.document_id = scope.id AND c.ordinal = best.ordinal
ORDER BY best.score DESC, best.document_number, best.ordinal;

-- name: documents
-- BM25 on whole documents: a document is the bag of its chunks, overlaps included.
WITH scope AS MATERIALIZED (
    SELECT number, id, lexeme_count
    FROM documents_in_scope(:user_id, :index_id, :document_ids, :mime_types, :sources, :source_prefix)
    WHERE chunk_count > 0
), totals AS (
    SELECT count(*) AS documents, avg(lexeme_count)::float8 AS mean_length FROM scope
), found AS MATERIALIZED (
    SELECT p.term, p.document_number, sum(posting >> 16 & 65535)::float8 AS count
    FROM postings p JOIN scope ON scope.number = p.document_number, unnest(p.packed) AS posting
    WHERE p.user_id = :user_id AND p.index_number = (SELECT number FROM indexes WHERE user_id = :user_id AND id = :index_id)
      AND p.term = ANY (ARRAY(SELECT lexeme FROM unnest(to_tsvector('english', :query))))
    GROUP BY p.term, p.document_number
), weights AS (
    SELECT term, ln(1 + (documents - count(*) + 0.5) / (count(*) + 0.5))::float8 AS idf
    FROM found, totals GROUP BY term, documents
)
SELECT scope.id AS document_id,
       sum(idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * scope.lexeme_count / mean_length))) AS score
FROM found JOIN weights USING (term) JOIN scope ON scope.number = found.document_number, totals
GROUP BY scope.id
ORDER BY score DESC, scope.id
LIMIT :limit;
