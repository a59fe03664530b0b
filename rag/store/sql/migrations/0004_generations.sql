-- Vectors of several embedding models beside each other. Those of one model are a generation of the index's chunks;
-- `indexes.generation` says which one is searched and read. Chunks have the same ids and ordinals in each, so postings
-- and citations hold for all of them.

CREATE TABLE embedding_generations (
    user_id text NOT NULL,
    index_id uuid NOT NULL,
    generation int NOT NULL,
    provider text NOT NULL,
    model text NOT NULL,
    dimensions int NOT NULL CHECK (dimensions > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, index_id, generation),
    UNIQUE (user_id, index_id, provider, model, dimensions),
    FOREIGN KEY (user_id, index_id) REFERENCES indexes (user_id, id) ON DELETE CASCADE
);

ALTER TABLE indexes ADD COLUMN previous_generation int;  -- to go back to, if it has not been dropped
UPDATE indexes SET generation = 1 WHERE generation <> 1;  -- so far no row of a chunk depended on it
INSERT INTO embedding_generations (user_id, index_id, generation, provider, model, dimensions, created_at)
SELECT user_id, id, generation, provider, model, dimensions, created_at FROM indexes;

DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT relname
        FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^data_document_chunks_[0-9]+$'
    LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN generation int NOT NULL DEFAULT 1', name);
        EXECUTE format('ALTER TABLE %I ALTER generation DROP DEFAULT', name);
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', name, name || '_pkey');
        EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (user_id, document_id, generation, ordinal)', name);
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', name, name || '_user_id_chunk_id_key');
        EXECUTE format('ALTER TABLE %I ADD UNIQUE (user_id, chunk_id, generation)', name);
    END LOOP;
END
$$;

-- `stored_chunks` has all generations; `document_chunks` the active one of each index.
CREATE OR REPLACE FUNCTION create_document_chunks_view() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tables text;
BEGIN
    SELECT string_agg(format(
        'SELECT chunk_id, document_id, text, embedding::vector, page_number, x0, y0, x1, y1, line_start, line_end, '
        'user_id, index_id, ordinal, page_end, section, context, lines, generation FROM %I', relname),
        ' UNION ALL ' ORDER BY relname)
    INTO tables
    FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^data_document_chunks_[0-9]+$';
    EXECUTE 'CREATE OR REPLACE VIEW stored_chunks (id, document_id, content, embedding, page_number, '
        'x0, y0, x1, y1, line_start, line_end, user_id, index_id, ordinal, page_end, section, context, lines, '
        'generation) AS ' || tables;
END
$$;

SELECT create_document_chunks_view();
-- The join stands outside the union, or conditions of a query would not reach the tables' keys.
CREATE OR REPLACE VIEW document_chunks AS
    SELECT c.id, c.document_id, c.content, c.embedding, c.page_number, c.x0, c.y0, c.x1, c.y1, c.line_start, c.line_end,
           c.user_id, c.index_id, c.ordinal, c.page_end, c.section, c.context, c.lines
    FROM stored_chunks c
    JOIN indexes i ON i.user_id = c.user_id AND i.id = c.index_id AND i.generation = c.generation;

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
            embedding %2$s(%3$s) NOT NULL,
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
