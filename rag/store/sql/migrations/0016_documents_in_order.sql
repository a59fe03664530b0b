-- What documents need to be read in steps, in versions and as parts of others, and to be kept in order.

ALTER TABLE documents
    -- Reading in steps: words are searched first, vectors follow, then words in pictures.
    ADD COLUMN vector_count int NOT NULL DEFAULT 0,       -- how many of its chunks have a vector in the active generation
    ADD COLUMN pictures_waiting boolean NOT NULL DEFAULT false,  -- pages have pictures whose words are not read yet
    ADD COLUMN completeness jsonb,                        -- how much of the file's text its rendition has, and what lacks
    -- Where it came in.
    ADD COLUMN container_id uuid,                         -- the mail or archive that it was part of
    -- Versions: one row each. All of one document have the `lineage_id` of the first, which is the first's own id.
    ADD COLUMN lineage_id uuid,
    ADD COLUMN version int NOT NULL DEFAULT 1 CHECK (version > 0),
    ADD COLUMN superseded_by uuid,                        -- the version that took its place in every search
    -- Order. What the file says of itself, and what its owner says, which counts.
    ADD COLUMN author text,
    ADD COLUMN dated date,
    ADD COLUMN given_title text,
    ADD COLUMN given_author text,
    ADD COLUMN given_date date,
    ADD COLUMN tags text[] NOT NULL DEFAULT ARRAY[]::text[],
    ADD COLUMN disabled boolean NOT NULL DEFAULT false;   -- kept, and left out of every search
UPDATE documents SET vector_count = chunk_count, lineage_id = id;
ALTER TABLE documents ALTER lineage_id SET NOT NULL;
CREATE INDEX ON documents (user_id, lineage_id);
CREATE INDEX ON documents (user_id, container_id) WHERE container_id IS NOT NULL;

DROP FUNCTION documents_in_scope(text, uuid, uuid[], text[], text[], text, timestamptz, timestamptz);
CREATE FUNCTION documents_in_scope(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz DEFAULT NULL, added_before timestamptz DEFAULT NULL,
    of_tags text[] DEFAULT NULL, of_author text DEFAULT NULL, dated_after date DEFAULT NULL, dated_before date DEFAULT NULL
) RETURNS TABLE (id uuid, number int, chunk_count int, lexeme_count bigint, language text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count, d.language
    FROM documents d
    WHERE d.user_id = of_user AND d.index_id = of_index AND d.deleted_at IS NULL
      AND d.superseded_by IS NULL AND NOT d.disabled
      AND ($3 IS NULL OR d.id = ANY ($3))
      AND ($4 IS NULL OR d.mime_type = ANY ($4))
      AND ($5 IS NULL OR coalesce(d.shown_source, d.name) = ANY ($5) OR d.source = ANY ($5)
           OR EXISTS (SELECT FROM unnest($5) AS s WHERE s <> '' AND right(d.source, length(s) + 1) = '/' || s))
      AND ($6 IS NULL OR starts_with(coalesce(d.shown_source, d.name), $6) OR starts_with(d.source, $6))
      AND ($7 IS NULL OR d.created_at >= $7)
      AND ($8 IS NULL OR d.created_at < $8)
      AND ($9 IS NULL OR d.tags @> $9)
      AND ($10 IS NULL OR position(lower($10) IN lower(coalesce(d.given_author, d.author, ''))) > 0)
      AND ($11 IS NULL OR coalesce(d.given_date, d.dated) >= $11)
      AND ($12 IS NULL OR coalesce(d.given_date, d.dated) < $12)
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT relname
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^data_document_chunks_[0-9]+$'
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER embedding DROP NOT NULL', name);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION create_chunk_table(dimensions int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text := 'data_document_chunks_' || dimensions;
    type text := CASE WHEN dimensions <= 1600 THEN 'vector' ELSE 'halfvec' END;
BEGIN
    IF dimensions NOT BETWEEN 1 AND 4000 THEN
        RAISE EXCEPTION 'vectors of % dimensions cannot be indexed', dimensions;
    END IF;
    IF to_regclass(format('%I', name)) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format($table$
        CREATE TABLE %1$I (
            id bigint GENERATED ALWAYS AS IDENTITY,
            user_id text NOT NULL,
            index_id uuid NOT NULL,
            document_id uuid NOT NULL,
            ordinal int NOT NULL,
            chunk_id uuid NOT NULL,
            node_id varchar NOT NULL GENERATED ALWAYS AS (chunk_id::varchar) STORED,
            text varchar NOT NULL,
            metadata_ jsonb NOT NULL DEFAULT '{}',
            embedding %2$s(%3$s),  -- NULL until it is computed: words are searched before
            page_number int NOT NULL,
            page_end int NOT NULL,
            x0 float8 NOT NULL, y0 float8 NOT NULL, x1 float8 NOT NULL, y1 float8 NOT NULL,
            line_start int NOT NULL,
            line_end int NOT NULL,
            section text,
            context text NOT NULL,
            lines jsonb NOT NULL,  -- per line: number, page, x0, y0, x1, y1, characters, kind, starts a block
            generation int NOT NULL,
            PRIMARY KEY (user_id, document_id, generation, ordinal),
            UNIQUE (user_id, chunk_id, generation),
            FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
        )
    $table$, name, type, dimensions);
    IF dimensions <= 3200 THEN
        EXECUTE format('ALTER TABLE %I ALTER embedding SET STORAGE PLAIN', name);
    END IF;
    EXECUTE format('CREATE INDEX ON %I USING hnsw (embedding %s_cosine_ops)', name, type);
    PERFORM create_document_chunks_view();
END
$$;
