-- name: create
INSERT INTO indexes (user_id, id, name, provider, model, dimensions, chunk_size_chars, chunk_overlap_chars, min_chunk_chars)
VALUES (:user_id, :id, :name, :provider, :model, :dimensions, :chunk_size_chars, :chunk_overlap_chars, :min_chunk_chars)
ON CONFLICT (user_id, name) DO NOTHING
RETURNING *;

-- name: add_generation
INSERT INTO embedding_generations (user_id, index_id, generation, provider, model, dimensions)
SELECT user_id, id, generation, provider, model, dimensions
FROM indexes
WHERE user_id = :user_id AND id = :index_id;

-- name: delete_generations
DELETE FROM embedding_generations WHERE user_id = :user_id AND index_id = :index_id;

-- name: lock_by_name
SELECT * FROM indexes WHERE user_id = :user_id AND name = :name FOR UPDATE;

-- name: has_documents
-- Includes documents in the trash, which may be restored.
SELECT EXISTS (SELECT 1 FROM documents WHERE user_id = :user_id AND index_id = :index_id) AS present;

-- name: change_space
UPDATE indexes
SET provider = :provider, model = :model, dimensions = :dimensions, generation = generation + 1, previous_generation = NULL
WHERE user_id = :user_id AND id = :index_id
RETURNING *;

-- name: change_chunking
UPDATE indexes
SET chunk_size_chars = :chunk_size_chars, chunk_overlap_chars = :chunk_overlap_chars, min_chunk_chars = :min_chunk_chars
WHERE user_id = :user_id AND id = :index_id
RETURNING *;

-- name: get
SELECT * FROM indexes WHERE user_id = :user_id AND name = :name AND is_within(id, :within);

-- name: find
-- A name may look like an id, and takes precedence.
SELECT * FROM indexes
WHERE user_id = :user_id AND (name = :name OR id = :id::uuid) AND is_within(id, :within)
ORDER BY name = :name DESC
LIMIT 1;

-- name: get_by_id
SELECT * FROM indexes WHERE user_id = :user_id AND id = :index_id AND is_within(id, :within);

-- name: list
SELECT * FROM indexes WHERE user_id = :user_id AND is_within(id, :within) ORDER BY name;

-- name: follow
UPDATE indexes SET followed = followed || jsonb_build_object(:folder::text, :request::jsonb)
WHERE user_id = :user_id AND id = :index_id
RETURNING id;

-- name: followed
SELECT kept.request
FROM indexes CROSS JOIN LATERAL jsonb_each(followed) AS kept (folder, request)
WHERE user_id = :user_id AND id = :index_id
ORDER BY kept.folder;

-- name: lock
-- No document is added until the end of the transaction.
SELECT id FROM indexes WHERE user_id = :user_id AND id = :index_id FOR UPDATE;

-- name: delete
DELETE FROM indexes WHERE user_id = :user_id AND id = :index_id RETURNING id;

-- name: stats
-- Counts current versions; bytes of all versions.
SELECT count(*) FILTER (WHERE is_live) AS documents,
       count(*) FILTER (WHERE deleted_at IS NOT NULL AND is_listed) AS documents_in_trash,
       count(*) FILTER (WHERE deleted_at IS NULL AND status = 'failed' AND is_listed) AS failed_documents,
       coalesce(sum(page_count) FILTER (WHERE is_live), 0)::bigint AS pages,
       coalesce(sum(chunk_count) FILTER (WHERE is_live), 0)::bigint AS chunks,
       coalesce(sum(char_count) FILTER (WHERE is_live), 0)::bigint AS characters,
       coalesce(sum(token_count) FILTER (WHERE is_live), 0)::bigint AS tokens,
       coalesce(sum(size), 0)::bigint AS file_bytes,
       coalesce(sum(chunk_count), 0)::bigint AS stored_chunks,
       coalesce(sum(lexeme_count), 0)::bigint AS stored_lexemes
FROM (
    SELECT d.*, d.deleted_at IS NULL AND d.superseded_by IS NULL AS is_live,
           d.superseded_by IS NULL OR CASE WHEN d.deleted_at IS NULL THEN {is_to_take_over} ELSE NOT {went_along} END AS is_listed
    FROM documents d
    WHERE d.user_id = :user_id AND d.index_id = :index_id AND in_sight(d.index_id, d.deleted_at, :within, :with_trash)
) AS found;

-- name: languages
SELECT language, sum(chunk_count)::bigint AS chunks
FROM documents
WHERE user_id = :user_id AND index_id = :index_id AND is_within(index_id, :within)
  AND deleted_at IS NULL AND superseded_by IS NULL AND chunk_count > 0
GROUP BY language
ORDER BY chunks DESC, language;

-- name: table_size
-- Average size of a row with its share of the indexes. The planner's estimate of the rows is outdated until the next
-- analysis, and the count of live rows is lost when the server crashes. Not shown for shared collections.
SELECT pg_total_relation_size(c.oid)::float8 / greatest(c.reltuples, pg_stat_get_live_tuples(c.oid), 1) AS row_bytes
FROM pg_class c
WHERE c.oid = to_regclass(:table_name::text) AND :within::uuid IS NULL;

-- name: wordless
-- Pages are counted by their chunks; the numbers of missing ones are only computed for the documents shown.
WITH live AS (
    SELECT user_id, id, name, page_count
    FROM documents
    WHERE user_id = :user_id AND index_id = :index_id AND is_within(index_id, :within)
      AND deleted_at IS NULL AND superseded_by IS NULL AND status = 'ready' AND page_count > 0
), covered AS MATERIALIZED (
    SELECT DISTINCT c.document_id, page
    FROM live JOIN document_chunks c ON c.user_id = :user_id AND c.document_id = live.id
    CROSS JOIN LATERAL generate_series(c.page_number, c.page_end) AS page
), worst AS (
    SELECT live.id, live.name, live.page_count, live.page_count - coalesce(counted.pages, 0) AS wordless
    FROM live LEFT JOIN (
        SELECT document_id, count(*) AS pages FROM covered GROUP BY document_id
    ) AS counted ON counted.document_id = live.id
    WHERE live.page_count > coalesce(counted.pages, 0)
), shown AS (
    SELECT *, count(*) OVER () AS all_documents, (sum(wordless) OVER ())::bigint AS all_pages
    FROM worst
    ORDER BY wordless DESC, name, id
    LIMIT :most
)
SELECT id AS document_id, name, page_count, wordless, all_documents, all_pages, ARRAY(
           SELECT number FROM generate_series(1, page_count) AS number
           EXCEPT SELECT page FROM covered WHERE covered.document_id = shown.id
           ORDER BY 1 LIMIT :most_pages
       ) AS first
FROM shown
ORDER BY wordless DESC, name, id;

-- name: findings
-- Without documents that are being read. A document can have several findings.
WITH live AS (
    SELECT d.*
    FROM documents d
    WHERE d.user_id = :user_id AND d.index_id = :index_id AND is_within(d.index_id, :within) AND d.deleted_at IS NULL
      AND (d.superseded_by IS NULL OR {is_to_take_over}) AND d.status IN ('ready', 'failed', 'needs_password')
), found AS (
    SELECT kind, id AS document_id, name, error, failed_pages, chunk_count - vector_count AS missing_vectors, completeness
    FROM live CROSS JOIN LATERAL (VALUES
        ('failed', status = 'failed'),
        ('password', status = 'needs_password'),
        ('vectors', status = 'ready' AND vector_count < chunk_count),
        ('pages', status = 'ready' AND cardinality(failed_pages) > 0),
        ('wordless', status = 'ready' AND chunk_count = 0),
        ('incomplete', status = 'ready'
            AND (completeness ->> 'source_characters')::bigint - (completeness ->> 'kept_characters')::bigint
                > :max_loss::float8 * (completeness ->> 'source_characters')::bigint)
    ) AS kinds (kind, holds)
    WHERE holds AND (:kind::text IS NULL OR kind = :kind)
), placed AS (
    SELECT *, row_number() OVER (PARTITION BY kind ORDER BY name, document_id) AS place,
           count(*) OVER (PARTITION BY kind) AS count
    FROM found
)
SELECT kind, count, document_id, name, error, failed_pages, missing_vectors, completeness
FROM placed
WHERE place <= :most
ORDER BY kind, place;
