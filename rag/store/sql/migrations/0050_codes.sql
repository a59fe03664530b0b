-- Vectors of 384 dimensions and more are found by their codes, whose graph is a fifth of the size, built in less time, and
-- finds more of the true neighbours where many chunks are alike (docs/scaling.md). The candidates are compared by their
-- vectors (dense.sql). Shorter vectors have too few bits for that.

-- Three bits a dimension: whether it is above -t, 0 and t. The bits in which two codes differ tell how far apart they are
-- (a thermometer code). With t at 0.6 of a dimension's root mean square each of the four ranges has about as many values.
-- The number of dimensions is said, and NULL not excepted, so that the planner makes a constant of t.
CREATE FUNCTION vector_code(embedding vector, dimensions int) RETURNS varbit LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN
    binary_quantize(l2_normalize(embedding) + array_fill((0.6 / sqrt(dimensions))::real, ARRAY[dimensions])::vector)
    || binary_quantize(embedding)
    || binary_quantize(l2_normalize(embedding) - array_fill((0.6 / sqrt(dimensions))::real, ARRAY[dimensions])::vector);

CREATE FUNCTION create_vector_index(of_table text, dimensions int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF dimensions >= 384 THEN
        EXECUTE format('CREATE INDEX %I ON %I USING hnsw ((vector_code(embedding::vector, %s)::bit(%s)) bit_hamming_ops) '
                       'WITH (ef_construction = 200)', of_table || '_codes_idx', of_table, dimensions, 3 * dimensions);
    ELSE
        EXECUTE format('CREATE INDEX %I ON %I USING hnsw (embedding vector_cosine_ops)', of_table || '_embedding_idx', of_table);
    END IF;
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
    PERFORM create_vector_index(name, dimensions);
    PERFORM create_document_chunks_view();
END
$$;

DO $$
DECLARE
    name text;
    dimensions int;
BEGIN
    FOR name, dimensions IN
        SELECT relname, substring(relname FROM '[0-9]+$')::int
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^data_document_chunks_[0-9]+$'
    LOOP
        IF dimensions >= 384 THEN
            EXECUTE format('DROP INDEX IF EXISTS %I', name || '_embedding_idx');
            PERFORM create_vector_index(name, dimensions);
        END IF;
    END LOOP;
END
$$;
