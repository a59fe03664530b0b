-- name: collections
-- One row per language: the documents in scope as big endian bytes in any order, and the generation whose rows hold the
-- chunks.
SELECT scope.language,
       string_agg(int4send(scope.number), '') AS numbers,
       string_agg(int4send(scope.chunk_count), '') AS chunk_counts,
       string_agg(int8send(scope.lexeme_count), '') AS lexeme_counts,
       (SELECT dimensions FROM indexes WHERE user_id = :user_id AND id = :index_id) AS dimensions,
       (SELECT generation FROM indexes WHERE user_id = :user_id AND id = :index_id) AS generation
FROM {documents_in_scope} scope
WHERE scope.chunk_count > 0
GROUP BY scope.language
ORDER BY scope.language;

-- name: postings
-- One row per language and term of the question, as big endian bytes: for each block the document (4 bytes), field and
-- block number (3) and number of postings (1), and all postings. Term by term, because sorting the blocks would take
-- longer than the rest. Of all documents of the index unless a few are given: joining those in scope takes longer than
-- reading the others, which the caller drops. A term counts as often as the question has it; synonyms (in English)
-- count less. `asked` is the total weight of the question's own terms in the language, including those that no document
-- has. The question's language is the one with most of its stop words. In other languages they would be rare, as the
-- English "the" is in German documents, and would outweigh the rest.
WITH question AS MATERIALIZED (
    SELECT spoken.language, to_tsvector(spoken.language::regconfig, :query) AS words
    FROM unnest(:question_languages::text[]) AS spoken (language)
), asked AS MATERIALIZED (
    SELECT array_agg(position) AS positions
    FROM (
        SELECT words FROM question
        ORDER BY (SELECT coalesce(sum(cardinality(positions)), 0) FROM unnest(words)) FETCH FIRST ROW WITH TIES
    ) AS own, unnest(own.words) AS word, unnest(word.positions) AS position
), terms AS MATERIALIZED (
    SELECT language, lexeme, max(weight) AS weight,
           sum(floor(max(weight))) OVER (PARTITION BY language) AS asked
    FROM (
        SELECT question.language, term.lexeme, cardinality(term.positions)::float8
        FROM asked, question, unnest(question.words) AS term
        WHERE term.positions && asked.positions
        UNION ALL
        SELECT 'english', lexeme, :added_weight::float8 FROM unnest(to_tsvector('english', :added))
    ) AS term (language, lexeme, weight)
    WHERE language = ANY (:languages::text[])
    GROUP BY language, lexeme
)
SELECT terms.language, terms.weight, terms.asked, found.*
FROM terms, LATERAL (
    SELECT string_agg(int8send((p.document_number::bigint << 32) | (p.block << 8) | (length(p.packed) >> 2)), '') AS blocks,
           string_agg(p.packed, '') AS postings
    FROM postings p
    WHERE p.user_id = :user_id
      AND p.index_number = (SELECT number FROM indexes WHERE user_id = :user_id AND id = only_within(:index_id, :within))
      AND p.term = terms.lexeme
      AND (:numbers::int[] IS NULL OR p.document_number = ANY (:numbers::int[]))
) AS found
WHERE found.blocks IS NOT NULL;

-- name: page_starts
-- The chunks where pages start, except a document's first, in the format of `postings`.
SELECT string_agg(int8send((p.document_number::bigint << 32) | (p.block << 8) | (length(p.packed) >> 2)), '') AS blocks,
       string_agg(p.packed, '') AS postings
FROM postings p
WHERE p.user_id = :user_id
  AND p.index_number = (SELECT number FROM indexes WHERE user_id = :user_id AND id = only_within(:index_id, :within))
  AND p.term = '' AND p.document_number = ANY (:numbers::int[]);

-- name: containing
-- The chunks in scope with the required words, as big endian bytes: document number and ordinal.
SELECT string_agg(int8send((scope.number::bigint << 32) | c.ordinal), '') AS chunks
FROM {documents_in_scope} scope
JOIN {chunks} c ON c.user_id = :user_id AND c.document_id = scope.id AND c.generation = :generation
WHERE (:must_all::text[] IS NULL OR c.text ~* ALL (:must_all::text[]))
  AND (:must_any::text[] IS NULL OR c.text ~* ANY (:must_any::text[]));

-- name: chunks
SELECT best.place, c.chunk_id, c.document_id, c.page_number, c.embedding IS NOT NULL AS has_vector
FROM unnest(:numbers::int[], :ordinals::int[]) WITH ORDINALITY AS best (number, ordinal, place)
JOIN {documents_in_scope} scope
    ON scope.number = best.number AND scope.number = ANY (:numbers::int[])
JOIN {chunks} c ON c.user_id = :user_id AND c.document_id = scope.id AND c.generation = :generation AND c.ordinal = best.ordinal
ORDER BY best.place;

-- name: documents
SELECT best.place, scope.id AS document_id
FROM unnest(:numbers::int[]) WITH ORDINALITY AS best (number, place)
JOIN {documents_in_scope} scope
    ON scope.number = best.number AND scope.number = ANY (:numbers::int[])
ORDER BY best.place;

-- name: landmarks
-- The chunks on pages with one of the names, each with the greatest strength. "page 5" is the page with that label, as
-- printed or in the file; without one the fifth page. "page #5" is the fifth page whatever its label.
SELECT c.chunk_id, c.document_id, c.page_number, max(l.strength)::float8 AS strength,
       bool_and(c.embedding IS NOT NULL) AS has_vector
FROM {documents_in_scope} scope
JOIN unnest(:landmarks::text[]) AS asked (name) ON true
JOIN landmarks l ON l.user_id = :user_id AND l.document_id = scope.id AND l.name = replace(asked.name, '#', '')
    AND CASE WHEN asked.name LIKE 'page #%' THEN l.name = 'page ' || l.page_number AND l.strength = 1
        ELSE l.name <> 'page ' || l.page_number OR NOT EXISTS (
            SELECT 1 FROM landmarks labelled JOIN documents d ON d.user_id = labelled.user_id AND d.id = labelled.document_id
            WHERE labelled.user_id = :user_id AND labelled.document_id = l.document_id AND labelled.name = l.name
              AND labelled.page_number <> l.page_number
              AND d.pages -> (l.page_number - 1) ->> 'label' IS DISTINCT FROM l.page_number::text)
        END
JOIN {chunks} c ON c.user_id = :user_id AND c.document_id = scope.id AND c.generation = :generation
    AND c.ordinal BETWEEN l.first_ordinal AND l.last_ordinal
WHERE scope.number = ANY (:numbers::int[])
  AND (:must_all::text[] IS NULL OR c.text ~* ALL (:must_all::text[]))
  AND (:must_any::text[] IS NULL OR c.text ~* ANY (:must_any::text[]))
GROUP BY c.chunk_id, c.document_id, c.page_number
ORDER BY strength DESC, c.document_id, c.page_number;
