-- The language of a document, by the name that PostgreSQL's text search has for it: its postings are of that language's
-- stems. Documents from before have English ones, and are taken for English until they are read anew.

ALTER TABLE documents
    ADD COLUMN language text NOT NULL DEFAULT 'english' CHECK (language::regconfig IS NOT NULL);  -- else the cast fails

DROP FUNCTION documents_in_scope(text, uuid, uuid[], text[], text[], text, timestamptz, timestamptz);
CREATE FUNCTION documents_in_scope(
    of_user text, of_index uuid, document_ids uuid[], mime_types text[], sources text[], source_prefix text,
    added_after timestamptz DEFAULT NULL, added_before timestamptz DEFAULT NULL
) RETURNS TABLE (id uuid, number int, chunk_count int, lexeme_count bigint, language text)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT d.id, d.number, d.chunk_count, d.lexeme_count, d.language
    FROM documents d
    WHERE d.user_id = of_user AND d.index_id = of_index AND d.deleted_at IS NULL
      AND ($3 IS NULL OR d.id = ANY ($3))
      AND ($4 IS NULL OR d.mime_type = ANY ($4))
      AND ($5 IS NULL OR coalesce(d.shown_source, d.name) = ANY ($5) OR d.source = ANY ($5)
           OR EXISTS (SELECT FROM unnest($5) AS s WHERE s <> '' AND right(d.source, length(s) + 1) = '/' || s))
      AND ($6 IS NULL OR starts_with(coalesce(d.shown_source, d.name), $6) OR starts_with(d.source, $6))
      AND ($7 IS NULL OR d.created_at >= $7)
      AND ($8 IS NULL OR d.created_at < $8)
$$;
