-- name: postings
-- One row: the documents in scope, and of each term of the question its postings in them, as bytes (big endian).
-- Element i of `documents`, `blocks`, `counts` and `postings` belongs to one term; its rows are strung together.
WITH scope AS MATERIALIZED (
    SELECT number, chunk_count, lexeme_count
    FROM documents_in_scope(:user_id, :index_id, :document_ids, :mime_types, :sources, :source_prefix)
    WHERE chunk_count > 0
), found AS (
    SELECT string_agg(int4send(p.document_number), '') AS documents,
           string_agg(int4send(p.block), '') AS blocks,
           string_agg(int4send(length(p.packed) >> 2), '') AS counts,
           string_agg(p.packed, '') AS postings
    FROM postings p JOIN scope ON scope.number = p.document_number
    WHERE p.user_id = :user_id
      AND p.index_number = (SELECT number FROM indexes WHERE user_id = :user_id AND id = :index_id)
      AND p.term = ANY (ARRAY(SELECT lexeme FROM unnest(to_tsvector('english', :query))))
    GROUP BY p.term
)
SELECT (SELECT string_agg(int4send(number), '' ORDER BY number) FROM scope) AS numbers,
       (SELECT string_agg(int4send(chunk_count), '' ORDER BY number) FROM scope) AS chunk_counts,
       (SELECT string_agg(int8send(lexeme_count), '' ORDER BY number) FROM scope) AS lexeme_counts,
       array_agg(documents) AS documents,
       array_agg(blocks) AS blocks,
       array_agg(counts) AS counts,
       array_agg(postings) AS postings
FROM found;

-- name: chunks
SELECT best.place, c.id AS chunk_id, c.document_id, c.page_number
FROM unnest(:numbers::int[], :ordinals::int[]) WITH ORDINALITY AS best (number, ordinal, place)
JOIN documents_in_scope(:user_id, :index_id, :document_ids, :mime_types, :sources, :source_prefix) scope
    ON scope.number = best.number
JOIN document_chunks c ON c.user_id = :user_id AND c.document_id = scope.id AND c.ordinal = best.ordinal
ORDER BY best.place;

-- name: documents
SELECT best.place, scope.id AS document_id
FROM unnest(:numbers::int[]) WITH ORDINALITY AS best (number, place)
JOIN documents_in_scope(:user_id, :index_id, :document_ids, :mime_types, :sources, :source_prefix) scope
    ON scope.number = best.number
ORDER BY best.place;
