-- name: lock_document
-- Blocks a purge of the document, but not moving it to the trash or updating its progress, because this may take long.
-- It also blocks switching the index to another generation.
SELECT d.user_id, d.id AS document_id, d.number AS document_number, d.language, d.index_id, i.number AS index_number,
       i.name AS index_name, i.provider, i.model, i.dimensions, i.generation
FROM documents d JOIN indexes i ON i.user_id = d.user_id AND i.id = d.index_id
WHERE d.user_id = :user_id AND d.id = :document_id
FOR KEY SHARE OF d FOR SHARE OF i;

-- name: sizes
-- All vector sizes that the document may have.
SELECT DISTINCT dimensions FROM embedding_generations WHERE user_id = :user_id AND index_id = :index_id;

-- name: lock_replacement
SELECT pg_advisory_xact_lock(hashtextextended(:user_id::text || chr(10) || :document_id::text, 1));

-- name: delete
-- In all generations, so that all vectors are of the present text.
DELETE FROM {chunks} WHERE user_id = :user_id AND document_id = :document_id;

-- name: delete_postings
DELETE FROM postings WHERE user_id = :user_id AND document_number = :document_number;

-- name: delete_front
DELETE FROM postings
WHERE user_id = :user_id AND document_number = :document_number AND block >> 20 = :field;

-- name: add
-- COPY does not work with row-level security. With binary parameters this is as fast, and faster than COPY into a
-- temporary table and INSERT … SELECT. There is never a conflict: it is there because Citus would use COPY without it.
INSERT INTO {chunks} (user_id, index_id, document_id, generation, ordinal, chunk_id, text, embedding, page_number, page_end,
                      x0, y0, x1, y1, line_start, line_end, section, context, lines)
SELECT :user_id, :index_id, :document_id, :generation, c.*
FROM unnest(:ordinal::int[], :chunk_id::uuid[], :text::text[], :embedding::{vector}[], :page_number::int[], :page_end::int[],
            :x0::float8[], :y0::float8[], :x1::float8[], :y1::float8[], :line_start::int[], :line_end::int[],
            :section::text[], :context::text[], :lines::jsonb[]) AS c
ON CONFLICT (user_id, document_id, generation, ordinal) DO NOTHING;

-- name: postings
-- Terms that are too long for a key are left out; counts and lengths are capped at the range of their bytes. Reads no
-- table: as a part of the insertion, Citus would send the lexemes to every node, and need each of them.
WITH lexemes AS MATERIALIZED (
    SELECT c.field, c.ordinal, l.lexeme, least(cardinality(l.positions), 255) AS count
    FROM unnest(:fields::int[], :ordinals::int[], :texts::text[]) AS c (field, ordinal, text),
         unnest(to_tsvector(:language::regconfig, c.text)) AS l
    WHERE octet_length(l.lexeme) <= 255
), lengths AS MATERIALIZED (
    SELECT field, ordinal, least(sum(count), 65535)::int AS length FROM lexemes GROUP BY field, ordinal
), packed AS (
    SELECT lexeme, (field << 20) | (ordinal >> 7) AS block,
           string_agg(int4send(((ordinal & 127) << 24) | (count << 16) | length), '' ORDER BY ordinal) AS packed
    FROM (
        SELECT field, ordinal, lexeme, count, length FROM lexemes JOIN lengths USING (field, ordinal)
        UNION ALL
        SELECT :page_field, ordinal, '', 1, 0 FROM unnest(:page_starts::int[]) AS ordinal
    ) AS posting
    GROUP BY field, lexeme, ordinal >> 7
)
SELECT coalesce(array_agg(lexeme), '{}')::text AS terms, coalesce(array_agg(block), '{}')::text AS blocks,
       coalesce(array_agg(packed), '{}')::text AS packed,
       (SELECT coalesce(sum(length), 0)::bigint FROM lengths WHERE field = 0) AS lexeme_count
FROM packed;

-- name: add_postings
INSERT INTO postings (user_id, index_number, term, document_number, block, packed)
SELECT :user_id, :index_number, p.term, :document_number, p.block, p.packed
FROM unnest(:terms::text[], :blocks::int[], :packed::bytea[]) AS p (term, block, packed)
ON CONFLICT (user_id, index_number, term, document_number, block) DO NOTHING;  -- see `add`

-- name: delete_landmarks
DELETE FROM landmarks WHERE user_id = :user_id AND document_id = :document_id;

-- name: add_landmarks
INSERT INTO landmarks (user_id, document_id, name, page_number, first_ordinal, last_ordinal, strength)
SELECT :user_id, :document_id, l.*
FROM unnest(:names::text[], :page_numbers::int[], :first_ordinals::int[], :last_ordinals::int[], :strengths::real[]) AS l
ON CONFLICT (user_id, document_id, name, page_number) DO NOTHING;  -- see `add`

-- name: time
-- The transaction may have begun long ago.
SELECT clock_timestamp() AS finished_at;

-- name: finish_document
-- With `while_read` only if its reading was not cancelled. Facts of the former text are removed. A partial document stays in its stage and keeps its
-- attempts, because the rest may be what ends its worker.
UPDATE documents
SET status = :status, error = NULL, error_code = NULL, title = :title, author = :author, dated = :dated, subject = :subject, pages = :pages, page_count = :page_count,
    failed_pages = :failed_pages, line_count = :line_count, chunk_count = :chunk_count, char_count = :char_count,
    token_count = :token_count, lexeme_count = :lexeme_count, language = :language, completeness = :completeness,
    note = :note, pictures_waiting = :pictures_waiting, key_facts = NULL,
    vector_count = :vector_count, renewing = false, partial = :partial,
    attempts = CASE WHEN :partial THEN attempts ELSE 0 END, retry_after = CASE WHEN :partial THEN retry_after END,
    progress_done = CASE WHEN :partial THEN progress_done ELSE :vector_count END,
    progress_total = CASE WHEN :partial THEN progress_total ELSE :chunk_count END,
    stage_started_at = CASE WHEN status = :status THEN stage_started_at ELSE :finished_at END,
    stage_started_with = CASE WHEN status = :status THEN stage_started_with ELSE 0 END,
    queued_at = CASE WHEN :status::text = 'ready' THEN NULL ELSE queued_at END,
    indexed_at = CASE WHEN :status::text = 'ready' THEN clock.at ELSE indexed_at END
FROM (SELECT now() AS at) AS clock
WHERE user_id = :user_id AND id = :document_id AND (NOT :while_read OR status IN ('queued', 'parsing', 'embedding'));

-- name: get
-- Documents without `pages`, which can be thousands and would be repeated for each chunk.
SELECT c.id AS chunk_id, c.content, c.ordinal, c.section, c.context, c.lines,
       d.user_id, d.id, d.index_id, d.name, d.mime_type, d.sha256, d.size, d.source, d.shown_source, d.title, d.status, d.progress_done,
       d.progress_total, d.error, d.error_code, d.page_count, d.failed_pages, d.line_count, d.chunk_count, d.language,
       d.created_at, d.indexed_at, d.deleted_at, d.vector_count, d.pictures_waiting, d.completeness, d.note, d.container_id,
       d.lineage_id, d.version, d.superseded_by, d.author, d.dated, d.given_title, d.given_author, d.given_date, d.tags,
       d.disabled, d.stage_started_at, d.stage_started_with
FROM document_chunks c JOIN documents d ON d.user_id = c.user_id AND d.id = c.document_id
WHERE c.user_id = :user_id AND c.id = ANY (:ids::uuid[]) AND d.deleted_at IS NULL AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: with_words
-- Includes documents in the trash, last, but not older versions.
SELECT c.id AS chunk_id, c.document_id, d.name AS document_name, c.page_number, d.deleted_at IS NOT NULL AS in_trash
FROM document_chunks c JOIN documents d ON d.user_id = c.user_id AND d.id = c.document_id
WHERE c.user_id = :user_id AND c.index_id = :index_id AND c.content ~* :pattern AND d.superseded_by IS NULL
  AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
ORDER BY in_trash, d.created_at, c.ordinal
LIMIT :limit;

-- name: in_scope
SELECT c.id
FROM {documents_in_scope} scope
JOIN document_chunks c ON c.user_id = :user_id AND c.document_id = scope.id
WHERE c.id = ANY (:ids::uuid[])
  AND (:must_all::text[] IS NULL OR c.content ~* ALL (:must_all::text[]))
  AND (:must_any::text[] IS NULL OR c.content ~* ANY (:must_any::text[]));

-- name: vectors
SELECT c.id, c.embedding::text AS embedding
FROM document_chunks c JOIN documents d ON d.user_id = c.user_id AND d.id = c.document_id
WHERE c.user_id = :user_id AND c.id = ANY (:ids::uuid[]) AND d.deleted_at IS NULL AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: of_document
SELECT c.id, c.document_id, c.content, c.ordinal, c.section, c.context, c.lines
FROM document_chunks c JOIN documents d ON d.user_id = c.user_id AND d.id = c.document_id
WHERE c.user_id = :user_id AND c.document_id = :document_id AND d.deleted_at IS NULL AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
  AND (:page_number::int IS NULL OR :page_number::int BETWEEN c.page_number AND c.page_end)
ORDER BY c.ordinal
LIMIT :limit::bigint OFFSET :offset::bigint;

-- name: landmarks
SELECT l.name, l.page_number, l.strength
FROM landmarks l JOIN documents d ON d.user_id = l.user_id AND d.id = l.document_id
WHERE l.user_id = :user_id AND l.document_id = :document_id AND d.deleted_at IS NULL AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
  AND l.name = ANY (:names::text[])
ORDER BY l.name, l.page_number;

-- name: on_pages
-- A chunk is returned once for each requested page.
SELECT c.document_id, c.content, c.lines
FROM unnest(:document_ids::uuid[], :page_numbers::int[]) AS page (document_id, number)
JOIN documents d ON d.user_id = :user_id AND d.id = page.document_id AND d.deleted_at IS NULL
  AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
JOIN document_chunks c ON c.user_id = d.user_id AND c.document_id = d.id
WHERE page.number BETWEEN c.page_number AND c.page_end
ORDER BY c.document_id, c.ordinal;

-- name: texts
SELECT c.content, c.lines
FROM document_chunks c JOIN documents d ON d.user_id = c.user_id AND d.id = c.document_id
WHERE c.user_id = :user_id AND c.document_id = :document_id AND d.deleted_at IS NULL AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
ORDER BY c.ordinal;

-- name: to_embed
-- Includes documents in the trash, which may be restored.
SELECT c.id, c.document_id, c.content, c.ordinal, c.section, c.context, c.lines
FROM document_chunks c
WHERE c.user_id = :user_id AND c.document_id = :document_id
ORDER BY c.ordinal;

-- name: ids
SELECT c.id FROM document_chunks c
WHERE c.user_id = :user_id AND c.document_id = :document_id
ORDER BY c.ordinal;

-- name: generation
SELECT generation FROM embedding_generations
WHERE user_id = :user_id AND index_id = :index_id
  AND provider = :provider AND model = :model AND dimensions = :dimensions;

-- name: delete_generation
DELETE FROM {chunks} WHERE user_id = :user_id AND document_id = :document_id AND generation = :generation;
