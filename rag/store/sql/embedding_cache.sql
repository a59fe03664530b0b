-- name: get
SELECT text_hash, vector
FROM embedding_cache
WHERE user_id = :user_id AND provider = :provider AND model = :model AND dimensions = :dimensions
  AND text_hash = ANY (:hashes::bytea[]);

-- name: put
INSERT INTO embedding_cache (user_id, provider, model, dimensions, text_hash, vector)
SELECT :user_id, :provider, :model, :dimensions, hash, vector
FROM unnest(:hashes::bytea[], :vectors::bytea[]) AS new (hash, vector)
ON CONFLICT DO NOTHING;
