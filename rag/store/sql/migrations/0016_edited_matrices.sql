-- Of two sessions that edit a matrix, the later one learns of the other; and cells forget versions that were purged.

ALTER TABLE matrices ADD COLUMN edited_at timestamptz NOT NULL DEFAULT now();

ALTER TABLE field_cells NO FORCE ROW LEVEL SECURITY;  -- the rows of all users
ALTER TABLE documents NO FORCE ROW LEVEL SECURITY;
-- A loop, as one of both tables may be spread over nodes and the other not yet.
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT user_id, matrix_id, lineage_id, field_id, (previous ->> 'document_id')::uuid AS document_id, review ->> 'sha256' AS sha256
        FROM field_cells WHERE previous IS NOT NULL OR review IS NOT NULL
    LOOP
        IF NOT EXISTS (SELECT 1 FROM documents d WHERE d.user_id = one.user_id AND d.id = one.document_id) THEN
            UPDATE field_cells c SET previous = NULL
            WHERE c.user_id = one.user_id AND c.matrix_id = one.matrix_id AND c.lineage_id = one.lineage_id
              AND c.field_id = one.field_id;
        END IF;
        IF NOT EXISTS (
            SELECT 1 FROM documents d
            WHERE d.user_id = one.user_id AND d.lineage_id = one.lineage_id AND d.sha256 = one.sha256
        ) THEN
            UPDATE field_cells c
            SET review = jsonb_set(
                c.review || '{"citations": []}', '{words}',
                CASE WHEN jsonb_typeof(c.review -> 'value') = 'string' THEN c.review -> 'value' ELSE '""' END)
            WHERE c.user_id = one.user_id AND c.matrix_id = one.matrix_id AND c.lineage_id = one.lineage_id
              AND c.field_id = one.field_id;
        END IF;
    END LOOP;
END
$$;
ALTER TABLE field_cells FORCE ROW LEVEL SECURITY;
ALTER TABLE documents FORCE ROW LEVEL SECURITY;
