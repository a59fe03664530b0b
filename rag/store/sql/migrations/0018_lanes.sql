-- Documents are read in lanes: words first, then vectors, and beside them what is read again. See `lanes.sql`.

ALTER TABLE documents
    ADD COLUMN queued_at timestamptz,                     -- since when it waits for a worker; NULL: who took it in reads it
    ADD COLUMN taken_at timestamptz,                      -- when a worker last took it, or a batch of it
    ADD COLUMN attempts int NOT NULL DEFAULT 0,           -- how often one took it since it last got on
    ADD COLUMN renewing boolean NOT NULL DEFAULT false,   -- it is read again, and found as it was until that is done
    ADD COLUMN partial boolean NOT NULL DEFAULT false,    -- only its beginning is searched so far
    ADD COLUMN stage_started_at timestamptz,              -- with this the time that is left is told
    ADD COLUMN stage_started_with int NOT NULL DEFAULT 0; -- how much of the stage was done then

UPDATE documents SET queued_at = created_at, renewing = chunk_count > 0 WHERE status IN ('queued', 'parsing', 'embedding');

CREATE INDEX ON documents (queued_at) WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL;
CREATE INDEX ON documents (user_id, taken_at DESC) WHERE taken_at IS NOT NULL;

-- Which lane an unfinished document is in.
CREATE FUNCTION lane_of(renewing boolean, status text, chunk_count int) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN renewing THEN 'renewing' WHEN status = 'embedding' AND chunk_count > 0 THEN 'embedding' ELSE 'reading' END
$$;
