-- One table of chunks per vector size, in the shape of LlamaIndex's PGVectorStore (id, node_id, text, metadata_,
-- embedding), with typed columns beside it; and a view over all of them.

CREATE FUNCTION create_document_chunks_view() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tables text;
BEGIN
    SELECT string_agg(format(
        'SELECT chunk_id, document_id, text, embedding::vector, page_number, x0, y0, x1, y1, line_start, line_end, '
        'user_id, index_id, ordinal, page_end, section, context, lines FROM %I', relname), ' UNION ALL ' ORDER BY relname)
    INTO tables
    FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^data_document_chunks_[0-9]+$';
    EXECUTE 'CREATE OR REPLACE VIEW document_chunks (id, document_id, content, embedding, page_number, '
        'x0, y0, x1, y1, line_start, line_end, user_id, index_id, ordinal, page_end, section, context, lines) AS ' || tables;
END
$$;

-- pgvector's indexes hold 2,000 dimensions as vector and 4,000 as halfvec. STORAGE PLAIN keeps vectors out of
-- TOAST, which makes exact scans several times faster; a row must then fit an 8 kB page.
CREATE FUNCTION create_chunk_table(dimensions int) RETURNS void LANGUAGE plpgsql AS $$
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
            embedding %2$s(%3$s) NOT NULL,
            page_number int NOT NULL,
            page_end int NOT NULL,
            x0 float8 NOT NULL, y0 float8 NOT NULL, x1 float8 NOT NULL, y1 float8 NOT NULL,
            line_start int NOT NULL,
            line_end int NOT NULL,
            section text,
            context text NOT NULL,
            lines jsonb NOT NULL,  -- per line: number, page, x0, y0, x1, y1, characters, kind, starts a block
            PRIMARY KEY (user_id, document_id, ordinal),
            UNIQUE (user_id, chunk_id),
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

SELECT create_chunk_table(dimensions) FROM unnest(ARRAY[384, 768, 1536]) dimensions;
