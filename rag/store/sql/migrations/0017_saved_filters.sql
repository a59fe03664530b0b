-- Filters under a name, and one place that says what a filter lets through: for searches and for lists.

CREATE TABLE saved_filters (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    name text NOT NULL CHECK (name <> ''),
    filters jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, name)
);

-- Tags are the same in upper and lower case.
CREATE FUNCTION has_tags(of_document text[], wanted text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ARRAY(SELECT lower(tag) FROM unnest(of_document) AS tag) @> ARRAY(SELECT lower(tag) FROM unnest(wanted) AS tag)
$$;

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

CREATE OR REPLACE FUNCTION documents_in_scope(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz DEFAULT NULL, added_before timestamptz DEFAULT NULL,
    of_tags text[] DEFAULT NULL, of_author text DEFAULT NULL, dated_after date DEFAULT NULL, dated_before date DEFAULT NULL
) RETURNS TABLE (id uuid, number int, chunk_count int, lexeme_count bigint, language text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count, d.language
    FROM documents_filtered($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) d
    WHERE d.deleted_at IS NULL AND d.superseded_by IS NULL AND NOT d.disabled
$$;
