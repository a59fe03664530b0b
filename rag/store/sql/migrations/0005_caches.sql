-- What was asked of language models before; counters of every cache; and dates as a filter of searches.

CREATE TABLE completion_cache (
    user_id text NOT NULL,
    kind text NOT NULL,
    key bytea NOT NULL,  -- SHA-256 of everything the completion depends on
    completion text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, kind, key)
);

-- A lost count does no harm, and counting must not wait for the disk.
CREATE UNLOGGED TABLE cache_counts (
    user_id text NOT NULL,
    kind text NOT NULL,
    hits bigint NOT NULL DEFAULT 0,
    misses bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, kind)
);

DROP FUNCTION documents_in_scope(text, uuid, uuid[], text[], text[], text);
CREATE FUNCTION documents_in_scope(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz DEFAULT NULL, added_before timestamptz DEFAULT NULL
) RETURNS TABLE (id uuid, number int, chunk_count int, lexeme_count bigint)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count
    FROM documents d
    WHERE d.user_id = of_user AND d.index_id = of_index AND d.deleted_at IS NULL
      AND ($3 IS NULL OR d.id = ANY ($3))
      AND ($4 IS NULL OR d.mime_type = ANY ($4))
      AND ($5 IS NULL OR d.source = ANY ($5))
      AND ($6 IS NULL OR starts_with(d.source, $6))
      AND ($7 IS NULL OR d.created_at >= $7)
      AND ($8 IS NULL OR d.created_at < $8)
$$;
