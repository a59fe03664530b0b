-- Collections, their documents, and what is searched.

CREATE EXTENSION IF NOT EXISTS vector;


-- Collections
-- A collection is called an index in the code: documents with one chunking and one embedding model.

CREATE TABLE indexes (
    user_id text NOT NULL CHECK (user_id <> ''),
    id uuid NOT NULL,
    number int NOT NULL GENERATED ALWAYS AS IDENTITY,  -- a short key for postings
    name text NOT NULL CHECK (name <> ''),
    provider text NOT NULL,
    model text NOT NULL,
    dimensions int NOT NULL CHECK (dimensions > 0),
    chunk_size_chars int NOT NULL,
    chunk_overlap_chars int NOT NULL,
    min_chunk_chars int NOT NULL,
    generation int NOT NULL DEFAULT 1,  -- the active one, see embedding_generations
    previous_generation int,            -- to switch back to, unless it was dropped
    -- The followed folders by the prefix of their files' ids, each with the options of its last sync (no keys).
    followed jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, name)
);

-- The vectors of several embedding models can be stored side by side; those of one model are a generation. Chunks have the
-- same ids and ordinals in every generation, so postings and citations are valid for all of them.
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


-- Documents

CREATE TABLE documents (
    user_id text NOT NULL,
    id uuid NOT NULL,
    number int NOT NULL GENERATED ALWAYS AS IDENTITY,  -- a short key for postings
    index_id uuid NOT NULL,

    -- The file.
    name text NOT NULL,
    mime_type text NOT NULL,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    source text,                                       -- its path or URL
    shown_source text,                                 -- the source as answers show it, without local folders or passwords
    follows_source boolean NOT NULL DEFAULT false,     -- it is synced with its source
    uploaded_by text,                                  -- who added it to another user's collection; NULL: its owner
    trace_parent text,                                 -- W3C trace context of the upload, for the worker's spans
    container_id uuid,                                 -- the mail or archive that it was part of
    -- The files in a mail or archive: {"name", "size", "document_id", "reason"} each, also those that were skipped.
    parts jsonb NOT NULL DEFAULT '[]',

    -- Metadata of the file, and what the owner gave instead, which takes precedence.
    title text,
    author text,
    dated date,
    given_title text,
    given_author text,
    given_date date,
    tags text[] NOT NULL DEFAULT ARRAY[]::text[],
    disabled boolean NOT NULL DEFAULT false,           -- excluded from every search

    -- Versions: all versions of a document share `lineage_id`, the id of the first. The one that is searched is the only
    -- one without `superseded_by`; older ones, and one that is not ready yet, name another version there.
    lineage_id uuid NOT NULL,
    version int NOT NULL DEFAULT 1 CHECK (version > 0),
    superseded_by uuid,

    -- The content.
    language text NOT NULL DEFAULT 'english' CHECK (language::regconfig IS NOT NULL),  -- the cast fails if unknown
    pages jsonb NOT NULL DEFAULT '[]',
    page_count int NOT NULL DEFAULT 0,
    failed_pages int[] NOT NULL DEFAULT ARRAY[]::int[],
    line_count int NOT NULL DEFAULT 0,
    chunk_count int NOT NULL DEFAULT 0,
    vector_count int NOT NULL DEFAULT 0,               -- chunks with a vector in the active generation
    char_count bigint NOT NULL DEFAULT 0,
    token_count bigint NOT NULL DEFAULT 0,
    lexeme_count bigint NOT NULL DEFAULT 0,            -- the total length of its chunks for BM25
    completeness jsonb,                                -- how much of the file's text was read, and what is missing
    note text,                                         -- a message for the owner about how it was read

    -- Processing.
    status text NOT NULL,
    progress_done int NOT NULL DEFAULT 0,
    progress_total int NOT NULL DEFAULT 0,
    stage_started_at timestamptz,                      -- for the estimate of the remaining time
    stage_started_with int NOT NULL DEFAULT 0,         -- progress_done at that time
    error text,
    error_code text,
    queued_at timestamptz,                             -- NULL: the process that received it reads it itself
    taken_at timestamptz,                              -- when a worker last took it, or a batch of it
    attempts int NOT NULL DEFAULT 0,                   -- since it last made progress
    retry_after timestamptz,                           -- no worker takes it before; NULL: at once
    renewing boolean NOT NULL DEFAULT false,           -- read again; searched in its old state until that is done
    partial boolean NOT NULL DEFAULT false,            -- only its beginning is searchable so far
    pictures_waiting boolean NOT NULL DEFAULT false,   -- the words in its pictures are not read yet

    created_at timestamptz NOT NULL DEFAULT now(),
    indexed_at timestamptz,
    deleted_at timestamptz,                            -- since when it is in the trash
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, number),
    FOREIGN KEY (user_id, index_id) REFERENCES indexes (user_id, id) ON DELETE CASCADE
) WITH (toast_tuple_target = 256);  -- moves `pages` out of the rows that every search reads

-- An upload with known content is a duplicate; equal files at two followed places are two documents. A path may be too
-- long for a key, its hash is not.
CREATE UNIQUE INDEX documents_content ON documents
    (user_id, index_id, sha256, (CASE WHEN follows_source THEN md5(source) ELSE '' END));
CREATE INDEX documents_source ON documents (user_id, index_id, md5(source)) WHERE source IS NOT NULL;
CREATE UNIQUE INDEX documents_current ON documents (user_id, lineage_id) WHERE superseded_by IS NULL;
CREATE INDEX ON documents (user_id, lineage_id);
CREATE INDEX ON documents (user_id, container_id) WHERE container_id IS NOT NULL;
CREATE INDEX ON documents USING gin (parts jsonb_path_ops) WHERE parts <> '[]';
CREATE INDEX ON documents (queued_at) WHERE status IN ('queued', 'parsing', 'embedding') AND deleted_at IS NULL;
CREATE INDEX ON documents (user_id, taken_at DESC) WHERE taken_at IS NOT NULL;
CREATE INDEX ON documents (taken_at) WHERE pictures_waiting;

-- A client that got no response to its upload repeats it with the same key.
CREATE TABLE upload_keys (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    key text NOT NULL CHECK (octet_length(key) <= 1024),
    document_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, key),
    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);
CREATE INDEX ON upload_keys (user_id, document_id);

-- The key of an upload into another user's collection gets the uploader as a prefix. Keys never contain a line feed.
CREATE FUNCTION upload_key(asker text, key text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN asker IS NULL THEN key ELSE asker || chr(10) || key END
$$;

-- The named parts of documents: statements, sections, tables, notes, pages. A row names the chunks that have most of their
-- characters on the page.
CREATE TABLE landmarks (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    document_id uuid NOT NULL,
    name text NOT NULL,
    page_number int NOT NULL,
    first_ordinal int NOT NULL,
    last_ordinal int NOT NULL,
    strength real NOT NULL CHECK (strength > 0 AND strength <= 1),
    PRIMARY KEY (user_id, document_id, name, page_number),
    FOREIGN KEY (user_id, document_id) REFERENCES documents (user_id, id) ON DELETE CASCADE
);

-- Files to delete: of purged documents, and drafts of uploads whose document is not stored yet. A row stays until its
-- files are gone, however often the deletion is interrupted.
CREATE TABLE deletions (
    user_id text NOT NULL CHECK (user_id <> ''),
    document_id uuid NOT NULL,
    draft boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, document_id)
);

-- A trigger, so that documents that are deleted by a cascade are noted, too.
CREATE FUNCTION note_deletions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO deletions (user_id, document_id) SELECT g.user_id, g.id FROM gone g
    ON CONFLICT (user_id, document_id) DO UPDATE SET draft = false, created_at = now();
    RETURN NULL;
END
$$;
CREATE TRIGGER note_deletions AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION note_deletions();

-- The processing lane of an unfinished document, see lanes.sql.
CREATE FUNCTION lane_of(renewing boolean, status text, chunk_count int) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN renewing THEN 'renewing' WHEN status = 'embedding' AND chunk_count > 0 THEN 'embedding' ELSE 'reading' END
$$;


-- Chunks and vectors
-- One table of chunks per vector size, in the shape of LlamaIndex's PGVectorStore (id, node_id, text, metadata_, embedding)
-- with typed columns beside it, and views over all of them.

-- A vector of 384 dimensions or more is found by its code: an HNSW graph over codes is a fifth of the size of one over
-- vectors, is built faster, and finds more of the true neighbours where many chunks are alike (docs/scaling.md). The
-- candidates are then compared by their vectors (dense.sql). Shorter vectors have too few bits for that.
--
-- Three bits per dimension: whether it is above -t, 0 and t. The number of bits in which two codes differ measures their
-- distance (a thermometer code). With t at 0.6 of a dimension's root mean square, each of the four ranges has about as
-- many values. `dimensions` is an argument, and the function is not STRICT, so that the planner makes a constant of t.
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

-- The names of the chunk tables.
CREATE FUNCTION chunk_tables() RETURNS SETOF name LANGUAGE sql STABLE AS $$
    SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^data_document_chunks_[0-9]+$'
$$;

-- `stored_chunks` has the chunks of all generations.
CREATE FUNCTION create_document_chunks_view() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tables text;
BEGIN
    SELECT string_agg(format(
        'SELECT chunk_id, document_id, text, embedding::vector, page_number, x0, y0, x1, y1, line_start, line_end, '
        'user_id, index_id, ordinal, page_end, section, context, lines, generation FROM %I', name),
        ' UNION ALL ' ORDER BY name)
    INTO tables
    FROM chunk_tables() AS name;
    EXECUTE 'CREATE OR REPLACE VIEW stored_chunks (id, document_id, content, embedding, page_number, '
        'x0, y0, x1, y1, line_start, line_end, user_id, index_id, ordinal, page_end, section, context, lines, '
        'generation) AS ' || tables;
END
$$;

-- pgvector indexes up to 2,000 dimensions as vector and 4,000 as halfvec. STORAGE PLAIN keeps vectors out of TOAST, which
-- makes exact scans several times faster; a row must then fit into a page of 8 kB.
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
            generation int NOT NULL,
            ordinal int NOT NULL,
            chunk_id uuid NOT NULL,
            node_id varchar NOT NULL GENERATED ALWAYS AS (chunk_id::varchar) STORED,
            text varchar NOT NULL,
            metadata_ jsonb NOT NULL DEFAULT '{}',
            embedding %2$s(%3$s),  -- NULL until it is computed: words are searchable before
            page_number int NOT NULL,
            page_end int NOT NULL,
            x0 float8 NOT NULL, y0 float8 NOT NULL, x1 float8 NOT NULL, y1 float8 NOT NULL,
            line_start int NOT NULL,
            line_end int NOT NULL,
            section text,
            context text NOT NULL,
            lines jsonb NOT NULL,  -- per line: number, page, x0, y0, x1, y1, characters, kind, starts a block
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

SELECT create_chunk_table(dimensions) FROM unnest(ARRAY[384, 768, 1536]) dimensions;

-- The chunks of each collection's active generation. The join is outside the union, or else conditions of a query would
-- not reach the tables' keys.
CREATE VIEW document_chunks AS
    SELECT c.id, c.document_id, c.content, c.embedding, c.page_number, c.x0, c.y0, c.x1, c.y1, c.line_start, c.line_end,
           c.user_id, c.index_id, c.ordinal, c.page_end, c.section, c.context, c.lines
    FROM stored_chunks c
    JOIN indexes i ON i.user_id = c.user_id AND i.id = c.index_id AND i.generation = c.generation;

-- The only thing that the app's role may create.
CREATE FUNCTION add_chunk_table(dimensions int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM create_chunk_table(dimensions);
    PERFORM protect_chunks();
END
$$;
SELECT run_by_owner('add_chunk_table(int)');

-- Moves documents into another collection with the same embedding space and chunking. Only the active generation of their
-- vectors goes along. Postings are found by document and need no change.
CREATE FUNCTION move_documents(of_user text, ids uuid[], target uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    chunks text;
BEGIN
    FOR chunks IN SELECT chunk_tables() LOOP
        EXECUTE format($move$
            DELETE FROM %1$I c USING documents d, indexes i
            WHERE c.user_id = $1 AND c.document_id = ANY ($2) AND d.user_id = $1 AND d.id = c.document_id
              AND i.user_id = $1 AND i.id = d.index_id AND c.generation <> i.generation
        $move$, chunks) USING of_user, ids;
        EXECUTE format($move$
            UPDATE %1$I c SET index_id = $3, generation = i.generation
            FROM indexes i
            WHERE c.user_id = $1 AND c.document_id = ANY ($2) AND i.user_id = $1 AND i.id = $3
        $move$, chunks) USING of_user, ids, target;
    END LOOP;
    UPDATE documents d SET index_id = target WHERE d.user_id = of_user AND d.id = ANY (ids);
END
$$;


-- Postings
-- For BM25: the chunks that a term occurs in, one row per term, document and block of 128 chunks.

CREATE TABLE postings (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    index_number int NOT NULL,
    term text COLLATE "C" NOT NULL,
    document_number int NOT NULL,
    block int NOT NULL,
    packed bytea NOT NULL,
    -- INCLUDE stores the postings of a term side by side; without it each document costs a page read.
    PRIMARY KEY (user_id, index_number, term, document_number, block) INCLUDE (packed)
) WITH (autovacuum_vacuum_insert_threshold = 20000, autovacuum_vacuum_insert_scale_factor = 0.02);
CREATE INDEX ON postings (user_id, document_number);
COMMENT ON COLUMN postings.block IS 'field << 20 | block of 128 chunks. Fields: 0 the chunk; 1 the text and 2 the title of its
page, both stored at the page''s first chunk; 3 the document''s front matter, at its first chunk; 4 page starts (empty term)';
COMMENT ON COLUMN postings.packed IS 'four bytes per chunk, big endian: ordinal in the block (1), term count (1), length of the
chunk (2)';

-- Postings have no foreign key: checking the document of each of a hundred thousand rows took most of the time of inserting
-- them. They are inserted while their document is locked, and this trigger deletes them with it.
CREATE FUNCTION delete_postings_of_deleted() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM postings AS p USING deleted AS d WHERE p.user_id = d.user_id AND p.document_number = d.number;
    RETURN NULL;
END
$$;
CREATE TRIGGER delete_postings AFTER DELETE ON documents
    REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION delete_postings_of_deleted();

-- The number of rows of a document in all tables, and of these its chunks in all generations, and their vectors. Used by the
-- statement that purges it, which still sees them.
CREATE FUNCTION rows_of_document(
    of_user text, of_id uuid, of_number int, OUT rows bigint, OUT chunks bigint, OUT vectors bigint
) LANGUAGE sql STABLE AS $$
    SELECT (SELECT count(*) FROM documents d WHERE d.user_id = of_user AND d.id = of_id)
           + (SELECT count(*) FROM postings p WHERE p.user_id = of_user AND p.document_number = of_number)
           + (SELECT count(*) FROM landmarks l WHERE l.user_id = of_user AND l.document_id = of_id)
           + (SELECT count(*) FROM upload_keys k WHERE k.user_id = of_user AND k.document_id = of_id)
           + count(*),
           count(*), count(c.embedding)
    FROM document_chunks c
    WHERE c.user_id = of_user AND c.document_id = of_id
$$;


-- Versions of documents

-- Until the end of the transaction nobody else numbers versions of the document or changes which one is searched.
CREATE FUNCTION lock_lineage(of_user text, of_lineage uuid) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(hashtextextended(of_user || chr(10) || of_lineage::text, 2))
$$;

-- Replaces `older` documents by one, atomically: no search sees both or none. The new one is taken out of the trash and
-- becomes the latest version; tags and metadata given by the owner, and chats about the document, are carried over.
CREATE FUNCTION supersede(of_user text, taker uuid, older uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    former documents;
    latest int;
BEGIN
    SELECT * INTO former FROM documents d
    WHERE d.user_id = of_user AND d.id = ANY (older) AND d.id <> taker
    ORDER BY d.number DESC LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM lock_lineage(of_user, former.lineage_id);
    SELECT max(d.version) INTO latest FROM documents d WHERE d.user_id = of_user AND d.lineage_id = former.lineage_id;
    UPDATE documents d SET superseded_by = taker, lineage_id = former.lineage_id
    WHERE d.user_id = of_user AND d.id = ANY (older) AND d.id <> taker;
    UPDATE documents d
    SET deleted_at = NULL, superseded_by = NULL, lineage_id = former.lineage_id,
        version = CASE WHEN d.lineage_id = former.lineage_id AND d.version > former.version
                       THEN d.version ELSE latest + 1 END,
        tags = former.tags, given_title = former.given_title, given_author = former.given_author,
        disabled = former.disabled
    WHERE d.user_id = of_user AND d.id = taker;
    UPDATE conversations c
    SET document_ids = ARRAY(
        SELECT DISTINCT CASE WHEN o.id = ANY (older) THEN taker ELSE o.id END FROM unnest(c.document_ids) AS o (id))
    WHERE c.user_id = of_user AND c.document_ids && older;
END
$$;

-- A version takes over in the transaction that makes it ready or restores it from the trash, unless a later one already did.
CREATE FUNCTION take_over() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    present uuid;
BEGIN
    PERFORM lock_lineage(NEW.user_id, NEW.lineage_id);
    SELECT d.id INTO present FROM documents d
    WHERE d.user_id = NEW.user_id AND d.lineage_id = NEW.lineage_id AND d.superseded_by IS NULL
      AND d.version < NEW.version;
    IF FOUND THEN
        PERFORM supersede(NEW.user_id, NEW.id, ARRAY[present]);
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER take_over AFTER UPDATE OF status, deleted_at ON documents
FOR EACH ROW WHEN (NEW.status = 'ready' AND NEW.deleted_at IS NULL AND NEW.superseded_by IS NOT NULL)
EXECUTE FUNCTION take_over();

-- Whether an older version was put into the trash together with the current one.
CREATE FUNCTION went_along(older documents) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM documents c
        WHERE c.user_id = older.user_id AND c.lineage_id = older.lineage_id AND c.superseded_by IS NULL
          AND c.deleted_at = older.deleted_at)
$$;

-- Whether a version is later than the current one and will replace it.
CREATE FUNCTION is_to_take_over(later documents) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM documents c
        WHERE c.user_id = later.user_id AND c.lineage_id = later.lineage_id AND c.superseded_by IS NULL
          AND c.version < later.version)
$$;


-- Filters and lists of documents
-- What a filter selects is defined once here, for searches and for lists. The planner inlines these functions.

-- A statement on a shared collection is limited to the index `within` (NULL: all of the user's).
CREATE FUNCTION is_within(index_id uuid, within uuid) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT within IS NULL OR index_id = within
$$;
CREATE FUNCTION in_sight(document documents, within uuid, with_trash boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT within IS NULL OR document.index_id = within AND (with_trash OR document.deleted_at IS NULL)
$$;
CREATE FUNCTION only_within(index_id uuid, within uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN within IS NULL OR index_id = within THEN index_id END
$$;

-- Tags are case-insensitive.
CREATE FUNCTION has_tags(of_document text[], wanted text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY(SELECT lower(tag) FROM unnest(of_document) AS tag) @> ARRAY(SELECT lower(tag) FROM unnest(wanted) AS tag)
$$;

-- A source may be named as answers show it, in full, or by the end of its path (data/policies.md).
CREATE FUNCTION documents_filtered(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz, added_before timestamptz,
    of_tags text[], of_author text, dated_after date, dated_before date
) RETURNS SETOF documents
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.*
    FROM documents d
    WHERE d.user_id = of_user AND d.index_id = of_index
      AND ($3 IS NULL OR d.id = ANY ($3))
      AND ($4 IS NULL OR d.mime_type = ANY ($4))
      AND ($5 IS NULL OR coalesce(d.shown_source, d.name) = ANY ($5) OR d.source = ANY ($5)
           OR EXISTS (SELECT FROM unnest($5) AS s WHERE s <> '' AND right(d.source, length(s) + 1) = '/' || s))
      AND ($6 IS NULL OR starts_with(coalesce(d.shown_source, d.name), $6) OR starts_with(d.source, $6))
      AND ($7 IS NULL OR d.created_at >= $7)
      AND ($8 IS NULL OR d.created_at < $8)
      AND ($9 IS NULL OR has_tags(d.tags, $9))
      AND ($10 IS NULL OR position(lower($10) IN lower(coalesce(d.given_author, d.author, ''))) > 0)
      AND ($11 IS NULL OR coalesce(d.given_date, d.dated) >= $11)
      AND ($12 IS NULL OR coalesce(d.given_date, d.dated) < $12)
$$;

-- The documents that a search may return.
CREATE FUNCTION documents_in_scope(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz DEFAULT NULL, added_before timestamptz DEFAULT NULL,
    of_tags text[] DEFAULT NULL, of_author text DEFAULT NULL, dated_after date DEFAULT NULL, dated_before date DEFAULT NULL
) RETURNS TABLE (id uuid, number int, chunk_count int, lexeme_count bigint, language text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count, d.language
    FROM documents_filtered($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) d
    WHERE d.deleted_at IS NULL AND d.superseded_by IS NULL AND NOT d.disabled
$$;

-- The documents in a list. Of the versions of a document these are the current one and those that will replace it; in the
-- trash, older ones only if they were deleted on their own. `wanted` is searched in names and titles.
CREATE FUNCTION documents_listed(
    of_user text, of_index uuid, within uuid, with_trash boolean, document_ids uuid[], mime_types text[], sources text[],
    source_prefix text, added_after timestamptz, added_before timestamptz,
    of_tags text[], of_author text, dated_after date, dated_before date,
    wanted text, of_status text, is_disabled boolean, in_trash boolean
) RETURNS SETOF documents
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.*
    FROM documents_filtered($1, only_within($2, $3), $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) d
    WHERE (d.deleted_at IS NOT NULL) = $18 AND in_sight(d, $3, $4)
      AND (d.superseded_by IS NULL OR CASE WHEN $18 THEN NOT went_along(d) ELSE is_to_take_over(d) END)
      AND ($17 IS NULL OR d.disabled = $17)
      AND ($16 IS NULL OR d.status = $16)
      AND ($15 IS NULL
           OR position(lower($15) IN lower(d.name)) > 0
           OR position(lower($15) IN lower(coalesce(d.given_title, d.title, ''))) > 0)
$$;
