-- Citus can spread the tables over servers by user (docs/scaling.md). It runs no trigger and no SQL function on spread
-- tables, and has no foreign key from one user's rows to another's: what these did is in the statements now.

-- The time that is `seconds` after `moment`. IMMUTABLE, which adding an interval with days or months would not be.
CREATE FUNCTION seconds_after(moment timestamptz, seconds float8) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT moment + make_interval(secs => seconds)
$$;


-- Triggers

DROP TRIGGER note_deletions ON documents;
DROP FUNCTION note_deletions();
DROP TRIGGER delete_postings ON documents;
DROP FUNCTION delete_postings_of_deleted();
DROP TRIGGER forget_links_of_message ON messages;
DROP FUNCTION forget_links_of_message();
DROP TRIGGER take_over ON documents;
DROP FUNCTION take_over();

-- Versions among `ids` that became ready, or came back from the trash, replace the current ones of their documents, unless
-- a later one did already. To be called in the transaction of that change.
CREATE FUNCTION take_over(of_user text, ids uuid[], within uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    taker record;
    present uuid;
BEGIN
    FOR taker IN
        SELECT d.id, d.lineage_id, d.version FROM documents d
        WHERE d.user_id = of_user AND d.id = ANY (ids) AND is_within(d.index_id, take_over.within)
          AND d.status = 'ready' AND d.deleted_at IS NULL AND d.superseded_by IS NOT NULL
        ORDER BY d.lineage_id, d.version
    LOOP
        PERFORM lock_lineage(of_user, taker.lineage_id);
        SELECT d.id INTO present FROM documents d
        WHERE d.user_id = of_user AND d.lineage_id = taker.lineage_id AND d.superseded_by IS NULL
          AND d.version < taker.version;
        IF FOUND THEN
            PERFORM supersede(of_user, taker.id, ARRAY[present]);
        END IF;
    END LOOP;
END
$$;

-- Deletes readers' notes on those documents of their owner that are gone: the owner cannot see them.
ALTER TABLE annotations DROP CONSTRAINT annotations_owner_document_id_fkey;
CREATE FUNCTION delete_annotations(of_owner text, ids uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    before text;
BEGIN
    IF NOT is_present(of_owner) THEN
        RETURN;
    END IF;
    before := see_all_users();
    DELETE FROM annotations WHERE owner = of_owner AND document_id = ANY (ids) AND document_id <> ALL (ARRAY(
        SELECT d.id FROM documents d WHERE d.user_id = of_owner AND d.id = ANY (ids)));
    PERFORM see_all_users(before);
END
$$;

-- Citus passes on SET LOCAL, but not set_config.
CREATE OR REPLACE FUNCTION see_all_users(wanted text DEFAULT 'on') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before text := coalesce(current_setting('pagelight.all_users', true), '');
BEGIN
    EXECUTE format('SET LOCAL pagelight.all_users = %L', wanted);
    RETURN before;
END
$$;


-- Sharing of answers: see 0004 for what they return. What other users share is looked up first, and not within the query
-- over spread tables.

CREATE OR REPLACE FUNCTION answers_shown_to(asker text) RETURNS TABLE (
    user_id text, owner_name text, id uuid, conversation_id uuid, message_id uuid, title text, created_at timestamptz,
    index_owner text, index_id uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before text;
BEGIN
    IF NOT is_present(asker) THEN
        RETURN;
    END IF;
    before := see_all_users();
    RETURN QUERY
    WITH shared AS MATERIALIZED (SELECT s.user_id, s.index_id FROM shared_with(asker) s)
    SELECT l.user_id, a.name, l.id, l.conversation_id, l.message_id, c.title, l.created_at,
           coalesce(c.index_owner, c.user_id), c.index_id
    FROM answer_links l
    JOIN conversations c ON c.user_id = l.user_id AND c.id = l.conversation_id
    LEFT JOIN accounts a ON a.user_id = l.user_id
    WHERE l.user_id <> asker
      AND (l.grantee_kind = 'user' AND l.grantee = asker
           OR l.grantee_kind = 'group' AND l.grantee IN (SELECT m.group_name FROM memberships m WHERE m.user_id = asker))
      AND (c.index_owner = asker
           OR (coalesce(c.index_owner, c.user_id), c.index_id) IN (SELECT s.user_id, s.index_id FROM shared s));
    PERFORM see_all_users(before);
END
$$;

CREATE OR REPLACE FUNCTION turns_shown_to(asker text, link_id uuid) RETURNS TABLE (
    number bigint, id uuid, conversation_id uuid, role text, content text, response jsonb, created_at timestamptz,
    held_back boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    link record;
    before text;
    visible uuid[];
BEGIN
    SELECT * INTO link FROM answers_shown_to(asker) s WHERE s.id = link_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    before := see_all_users();
    visible := ARRAY(
        SELECT d.id FROM documents d
        WHERE d.user_id = link.index_owner AND d.index_id = link.index_id AND d.deleted_at IS NULL AND d.id = ANY (ARRAY(
            SELECT n.document_id FROM messages m, documents_named_by(m.response) AS n (document_id)
            WHERE m.user_id = link.user_id AND m.conversation_id = link.conversation_id
              AND (link.message_id IS NULL OR m.id = link.message_id OR m.role = 'user'))));
    RETURN QUERY
    WITH turns AS (
        SELECT m.*, lead(m.id) OVER (ORDER BY m.number) AS following
        FROM messages m
        WHERE m.user_id = link.user_id AND m.conversation_id = link.conversation_id
    ), chosen AS (
        SELECT t.*, EXISTS (
            SELECT 1 FROM documents_named_by(t.response) AS n (document_id)
            WHERE NOT coalesce(n.document_id = ANY (visible), false)
        ) AS hidden
        FROM turns t
        WHERE link.message_id IS NULL OR t.id = link.message_id OR t.following = link.message_id AND t.role = 'user'
    )
    SELECT c.number, c.id, c.conversation_id, c.role, CASE WHEN c.hidden THEN '' ELSE c.content END,
           CASE WHEN c.hidden THEN NULL ELSE c.response END, c.created_at, c.hidden
    FROM chosen c
    ORDER BY c.number;
    PERFORM see_all_users(before);
END
$$;

-- The documents of an answer's sources, and of what it shows instead of an answer.
CREATE FUNCTION documents_named_by(response jsonb) RETURNS SETOF uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (named.value -> 'chunk' ->> 'document_id')::uuid
    FROM (
        SELECT s.value FROM jsonb_each(coalesce(response -> 'sources', '{}')) s
        UNION ALL
        SELECT n.value FROM jsonb_array_elements(coalesce(response -> 'nearest', '[]')) n
    ) AS named
$$;

SELECT run_by_owner(name::regprocedure)
FROM unnest(ARRAY['answers_shown_to(text)', 'turns_shown_to(text, uuid)', 'delete_annotations(text, uuid[])']) AS f (name);


-- Functions of rows of `documents`, and over that table: see scope.sql

DROP FUNCTION documents_listed(text, uuid, uuid, boolean, uuid[], text[], text[], text, timestamptz, timestamptz, text[], text,
                               date, date, text, text, boolean, boolean);
DROP FUNCTION documents_in_scope(text, uuid, uuid[], text[], text[], text, timestamptz, timestamptz, text[], text, date, date);
DROP FUNCTION documents_filtered(text, uuid, uuid[], text[], text[], text, timestamptz, timestamptz, text[], text, date, date);
DROP FUNCTION went_along(documents);
DROP FUNCTION is_to_take_over(documents);
DROP FUNCTION in_sight(documents, uuid, boolean);
DROP FUNCTION rows_of_document(text, uuid, int);

CREATE FUNCTION in_sight(index_id uuid, deleted_at timestamptz, within uuid, with_trash boolean) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT within IS NULL OR index_id = within AND (with_trash OR deleted_at IS NULL)
$$;

-- IMMUTABLE, which array_to_string is not for arrays of every type.
CREATE FUNCTION joined_tags(tags text[]) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT array_to_string(tags, ' ')
$$;

-- A prefix is a beginning of the source, or folders of its path (data/, data/p). Backslashes of Windows are taken as
-- slashes. The planner inlines it, as long as it has no FROM.
CREATE FUNCTION has_source_prefix(shown text, path text, wanted text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT starts_with(translate(shown, '\', '/'), translate(wanted, '\', '/'))
           OR starts_with(translate(path, '\', '/'), translate(wanted, '\', '/'))
           OR position('/' || rtrim(translate(wanted, '\', '/'), '/') || '/' IN translate(path, '\', '/')) > 0
           OR (position('/' IN translate(wanted, '\', '/')) > 0
               AND position('/' || translate(wanted, '\', '/') IN translate(path, '\', '/')) > 0)
$$;



-- Chunks
-- The columns are named in the query: Citus does not know the names in a view's head.

DROP VIEW document_chunks;
DROP VIEW stored_chunks;

-- A new chunk table is spread if the others are.
CREATE FUNCTION spread_chunk_tables() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
        EXECUTE $spread$
            SELECT create_distributed_table(name::text, 'user_id', colocate_with => 'documents')
            FROM chunk_tables() AS name
            WHERE EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'documents'::regclass)
              AND NOT EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(quote_ident(name)))
        $spread$;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION create_document_chunks_view() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    tables text;
BEGIN
    PERFORM spread_chunk_tables();
    SELECT string_agg(format(
        'SELECT chunk_id AS id, document_id, text AS content, embedding::vector AS embedding, page_number, x0, y0, x1, y1, '
        'line_start, line_end, user_id, index_id, ordinal, page_end, section, context, lines, generation FROM %I', name),
        ' UNION ALL ' ORDER BY name)
    INTO tables
    FROM chunk_tables() AS name;
    EXECUTE 'CREATE OR REPLACE VIEW stored_chunks AS ' || tables;
END
$$;
SELECT create_document_chunks_view();

CREATE VIEW document_chunks AS
    SELECT c.id, c.document_id, c.content, c.embedding, c.page_number, c.x0, c.y0, c.x1, c.y1, c.line_start, c.line_end,
           c.user_id, c.index_id, c.ordinal, c.page_end, c.section, c.context, c.lines
    FROM stored_chunks c
    JOIN indexes i ON i.user_id = c.user_id AND i.id = c.index_id AND i.generation = c.generation;
