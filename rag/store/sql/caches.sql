-- name: get_completion
SELECT completion FROM completion_cache WHERE user_id = :user_id AND kind = :kind AND key = :key;

-- name: put_completion
INSERT INTO completion_cache (user_id, kind, key, completion) VALUES (:user_id, :kind, :key, :completion)
ON CONFLICT (user_id, kind, key) DO UPDATE SET completion = excluded.completion, created_at = excluded.created_at;

-- name: without_waiting
-- Counting must not wait for the disk.
SELECT set_config('synchronous_commit', 'off', true);

-- name: count
INSERT INTO cache_counts (user_id, kind, hits, misses) VALUES (:user_id, :kind, :hits, :misses)
ON CONFLICT (user_id, kind) DO UPDATE
SET hits = cache_counts.hits + excluded.hits, misses = cache_counts.misses + excluded.misses;

-- name: list
WITH entries AS (
    SELECT kind, count(*) AS entries, sum(octet_length(completion) + octet_length(key)) AS bytes
    FROM completion_cache WHERE user_id = :user_id GROUP BY kind
    UNION ALL
    SELECT 'embeddings', count(*), coalesce(sum(octet_length(vector) + octet_length(text_hash)), 0)
    FROM embedding_cache WHERE user_id = :user_id
)
SELECT kinds.kind, coalesce(entries.entries, 0)::bigint AS entries, coalesce(entries.bytes, 0)::bigint AS bytes,
       coalesce(counts.hits, 0) AS hits, coalesce(counts.misses, 0) AS misses
FROM unnest(:kinds::text[]) WITH ORDINALITY AS kinds (kind, place)
LEFT JOIN entries ON entries.kind = kinds.kind
LEFT JOIN cache_counts counts ON counts.user_id = :user_id AND counts.kind = kinds.kind
ORDER BY kinds.place;

-- name: clear_completions
DELETE FROM completion_cache WHERE user_id = :user_id AND kind = ANY (:kinds::text[]) RETURNING kind;

-- name: clear_embeddings
DELETE FROM embedding_cache WHERE user_id = :user_id RETURNING text_hash;

-- name: clear_counts
DELETE FROM cache_counts WHERE user_id = :user_id AND kind = ANY (:kinds::text[]);

-- name: get_vectors
SELECT text_hash, vector
FROM embedding_cache
WHERE user_id = :user_id AND provider = :provider AND model = :model AND dimensions = :dimensions
  AND text_hash = ANY (:hashes::bytea[]);

-- name: put_vectors
INSERT INTO embedding_cache (user_id, provider, model, dimensions, text_hash, vector)
SELECT :user_id, :provider, :model, :dimensions, hash, vector
FROM unnest(:hashes::bytea[], :vectors::bytea[]) AS new (hash, vector)
ON CONFLICT DO NOTHING;
