-- In a shared collection its matrices are read, filled and reviewed, and their fields edited; other statements are their owner's.

-- name: create
INSERT INTO matrices (user_id, id, name, fields, lineage_ids, pilot, follows, index_id)
VALUES (:user_id, :id, :name, :fields, :lineage_ids, :pilot, :follows, :index_id)
RETURNING *;

-- name: list
SELECT * FROM matrices WHERE user_id = :user_id AND is_within(index_id, :within) ORDER BY created_at DESC, id;

-- name: get
SELECT * FROM matrices WHERE user_id = :user_id AND id = :id AND is_within(index_id, :within);

-- name: set_job
UPDATE matrices SET job_id = :job_id WHERE user_id = :user_id AND id = :id AND is_within(index_id, :within) RETURNING *;

-- name: add_job
-- After `set_job`, in the same transaction. It is a job of the owner's, whoever starts it.
INSERT INTO jobs (user_id, id, kind, index_name, request)
SELECT m.user_id, m.job_id, 'matrix', :index_name, :request
FROM matrices m
WHERE m.user_id = :user_id AND m.id = :id AND is_within(m.index_id, :within)
RETURNING *;

-- name: set_pilot
UPDATE matrices SET pilot = :pilot WHERE user_id = :user_id AND id = :id AND is_within(index_id, :within) RETURNING *;

-- name: edit
-- Values that are not given stay. The cells of removed fields and documents are deleted. In a shared collection only fields
-- are edited, of which none is removed.
WITH edited AS (
    UPDATE matrices
    SET name = coalesce(:name::text, name), fields = coalesce(:fields::jsonb, fields),
        lineage_ids = coalesce(:lineage_ids::uuid[], lineage_ids),
        follows = CASE WHEN :sets_follows THEN :follows::jsonb ELSE follows END,
        following_since = CASE WHEN :sets_follows THEN clock.at ELSE following_since END,
        index_id = CASE WHEN :sets_index THEN :index_id::uuid ELSE index_id END, edited_at = clock.at
    FROM (SELECT now() AS at) AS clock
    WHERE user_id = :user_id AND id = :id AND is_within(index_id, :within)
      AND (:within::uuid IS NULL
           OR :name::text IS NULL AND :lineage_ids::uuid[] IS NULL AND NOT :sets_follows AND NOT :sets_index
              AND NOT EXISTS (
                  SELECT 1 FROM jsonb_array_elements(fields) f
                  WHERE NOT :fields::jsonb @> jsonb_build_array(jsonb_build_object('id', f.value -> 'id'))))
    RETURNING matrices.*
), gone AS (
    DELETE FROM field_cells c USING edited m
    WHERE c.user_id = :user_id AND c.matrix_id = m.id
      AND (c.lineage_id <> ALL (m.lineage_ids)
           OR NOT EXISTS (SELECT 1 FROM jsonb_array_elements(m.fields) f WHERE f.value ->> 'id' = c.field_id::text))
)
SELECT * FROM edited;

-- name: outdate
-- The cells of fields that mean something else now.
UPDATE field_cells c SET is_outdated = true
WHERE user_id = :user_id AND matrix_id = :id AND field_id = ANY (:field_ids::uuid[])
  AND EXISTS (SELECT 1 FROM matrices m WHERE m.user_id = :user_id AND m.id = c.matrix_id AND is_within(m.index_id, :within));

-- name: join_following
-- Documents that were read join the matrices that followed their collection when they were added, and have the tags.
UPDATE matrices m
SET lineage_ids = (m.lineage_ids || ARRAY(
    SELECT d.lineage_id FROM documents d
    WHERE d.user_id = :user_id AND d.id = ANY (:document_ids::uuid[]) AND d.status = 'ready'
      AND d.superseded_by IS NULL AND d.deleted_at IS NULL AND d.lineage_id <> ALL (m.lineage_ids)
      AND d.index_id::text = m.follows ->> 'index_id' AND d.created_at >= m.following_since
      AND has_tags(d.tags, ARRAY(SELECT jsonb_array_elements_text(m.follows -> 'tags')))
    ORDER BY d.created_at, d.id
))[: :most]
WHERE m.user_id = :user_id AND m.follows IS NOT NULL
RETURNING m.id;

-- name: delete
DELETE FROM matrices WHERE user_id = :user_id AND id = :id RETURNING id;

-- name: lineages
SELECT id, lineage_id FROM documents d
WHERE user_id = :user_id AND id = ANY (:document_ids::uuid[]) AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: documents
-- The current version of each document.
SELECT {document_columns}
FROM documents d
WHERE d.user_id = :user_id AND d.lineage_id = ANY (:lineage_ids::uuid[]) AND d.superseded_by IS NULL AND d.deleted_at IS NULL
  AND in_sight(d.index_id, d.deleted_at, :within, :with_trash);

-- name: cells
-- In brief without what the table does not show: boxes, other values, pages read, and the value of the content before.
SELECT CASE WHEN :in_brief THEN jsonb_set(cell - ARRAY['alternatives', 'pages_read'], '{citations}',
                                          jsonb_path_query_array(cell, '$.citations[0]') #- '{0,regions}')
            ELSE cell END AS cell,
       CASE WHEN NOT :in_brief AND {previous_in_sight} THEN previous END AS previous, review, is_outdated
FROM field_cells c
WHERE user_id = :user_id AND matrix_id = :id AND {cell_in_sight}
  AND (:lineage_ids::uuid[] IS NULL OR lineage_id = ANY (:lineage_ids::uuid[]))
  AND (:field_ids::uuid[] IS NULL OR field_id = ANY (:field_ids::uuid[]))
ORDER BY lineage_id, field_id;

-- name: compared
-- Cells of fields of which documents are compared, and cells with a value from before, without what is not compared.
SELECT c.cell - omitted.keys AS cell, CASE WHEN {previous_in_sight} THEN c.previous - omitted.keys END AS previous,
       c.review - omitted.keys AS review, c.is_outdated
FROM field_cells c CROSS JOIN (SELECT ARRAY['citations', 'alternatives', 'pages_read'] AS keys) AS omitted
WHERE c.user_id = :user_id AND c.matrix_id = :id AND (c.field_id = ANY (:field_ids::uuid[]) OR c.previous IS NOT NULL)
  AND {cell_in_sight};

-- name: rows
-- Of each document, how many fields are filled, up to date, and have a value, and which a person should look at, as
-- `ShownCell` tells of each cell; but for conflicts, which are not stored. And how many failed for lack of a model.
SELECT r.lineage_id, count(*) AS filled, count(*) FILTER (WHERE r.is_current) AS up_to_date, count(*) FILTER (WHERE r.has_value) AS found,
       count(*) FILTER (WHERE r.needs_model) AS need_model,
       coalesce(array_agg(r.field_id) FILTER (WHERE r.needs_review), '{}') AS to_review
FROM (
    SELECT c.lineage_id, c.field_id, s.state <> 'failed' AND s.is_fresh AS is_current,
           s.state = 'failed' AND s.is_fresh AND c.cell ->> 'reason' = :needs_model AS needs_model,
           c.review ->> 'state' = 'corrected' IS TRUE
           OR s.state IN ('found', 'conflict') AND NOT (s.is_reviewed AND c.review ->> 'state' = 'rejected') AS has_value,
           NOT s.is_reviewed AND (
               c.review IS NOT NULL OR s.state NOT IN ('found', 'not_stated') OR s.confidence < :sure_confidence
               OR s.state = 'not_stated' AND c.field_id = ANY (:required_ids::uuid[])) AS needs_review
    FROM field_cells c
    JOIN documents d ON d.user_id = :user_id AND d.lineage_id = c.lineage_id AND d.superseded_by IS NULL AND d.deleted_at IS NULL
    CROSS JOIN LATERAL (
        SELECT c.cell ->> 'state' AS state, NOT c.is_outdated AND c.sha256 = d.sha256 AS is_fresh,
               coalesce((c.cell ->> 'confidence')::float8, 0) AS confidence,
               coalesce((c.review ->> 'reviewed_at')::timestamptz >= (c.cell ->> 'filled_at')::timestamptz, false) AS is_reviewed
    ) AS s
    WHERE c.user_id = :user_id AND c.matrix_id = :id AND {cell_in_sight}
) AS r
GROUP BY r.lineage_id;

-- name: lock
-- Its definitions stay until the end of the transaction.
SELECT * FROM matrices WHERE user_id = :user_id AND id = :id AND is_within(index_id, :within) FOR NO KEY UPDATE;

-- name: put
-- Values from other content are kept, and what a person decided stays. A value that a person rejected is as old as it was
-- then if it is found again, so that the rejection is of it, too.
INSERT INTO field_cells AS kept (user_id, matrix_id, lineage_id, field_id, document_id, sha256, cell)
SELECT m.user_id, m.id, :lineage_id, :field_id, d.id, :sha256, :cell
FROM matrices m
JOIN documents d ON d.id = :document_id
WHERE m.user_id = :user_id AND d.user_id = :user_id AND m.id = :id AND :lineage_id = ANY (m.lineage_ids)
ON CONFLICT (user_id, matrix_id, lineage_id, field_id) DO UPDATE
SET previous = CASE WHEN kept.sha256 <> excluded.sha256 THEN kept.cell ELSE kept.previous END,
    document_id = excluded.document_id, sha256 = excluded.sha256, is_outdated = false,
    cell = CASE
        WHEN kept.review ->> 'state' = 'rejected' AND NOT kept.is_outdated
         AND (kept.review ->> 'reviewed_at')::timestamptz >= (kept.cell ->> 'filled_at')::timestamptz
         AND kept.cell -> 'state' = excluded.cell -> 'state' AND kept.cell -> 'value' = excluded.cell -> 'value'
         AND kept.cell -> 'unit' = excluded.cell -> 'unit'
         AND (kept.cell -> 'value' <> 'null' OR kept.cell -> 'words' = excluded.cell -> 'words')
        THEN excluded.cell || jsonb_build_object('filled_at', kept.cell -> 'filled_at')
        ELSE excluded.cell
    END
RETURNING field_id;

-- name: lock_cell
-- By a change that changes nothing: Citus locks rows only by statements over one table.
UPDATE field_cells c SET review = review
WHERE user_id = :user_id AND matrix_id = :id AND lineage_id = :lineage_id AND field_id = :field_id AND {cell_in_sight}
RETURNING cell, CASE WHEN {previous_in_sight} THEN previous END AS previous, review, is_outdated;

-- name: review
UPDATE field_cells c SET review = :review::jsonb
WHERE user_id = :user_id AND matrix_id = :id AND lineage_id = :lineage_id AND field_id = :field_id AND {cell_in_sight}
RETURNING field_id;

-- name: keep_decisions
-- Of documents that are to be deleted, while a version of each stays: a cell that a person decided about is emptied and
-- belongs to the current version, to be filled again.
UPDATE field_cells c
SET document_id = d.id, sha256 = d.sha256, is_outdated = true, previous = NULL,
    cell = c.cell || :emptied::jsonb
           || ('{"document_id": "' || d.id::text || '", "sha256": "' || d.sha256 || '", "version": ' || d.version::text || '}')::jsonb
FROM documents d
WHERE c.user_id = :user_id AND c.document_id = ANY (:ids::uuid[]) AND c.review IS NOT NULL
  AND d.user_id = :user_id AND d.lineage_id = c.lineage_id AND d.superseded_by IS NULL AND d.id <> ALL (:ids::uuid[]);

-- name: forget
-- What cells have of documents that are to be deleted: values of the content before, and quotes of a person's decisions.
UPDATE field_cells c
SET previous = CASE WHEN c.previous ->> 'document_id' = ANY (gone.ids) THEN NULL ELSE c.previous END,
    review = CASE WHEN c.review ->> 'sha256' = ANY (gone.hashes)
                  THEN jsonb_set(c.review || '{"citations": []}', '{words}',
                                 CASE WHEN jsonb_typeof(c.review -> 'value') = 'string' THEN c.review -> 'value' ELSE '""' END)
                  ELSE c.review END
FROM (
    SELECT array_agg(id::text) AS ids, array_agg(sha256) AS hashes, array_agg(lineage_id) AS lineages
    FROM documents WHERE user_id = :user_id AND id = ANY (:ids::uuid[])
) AS gone
WHERE c.user_id = :user_id AND c.lineage_id = ANY (gone.lineages)
  AND (c.previous ->> 'document_id' = ANY (gone.ids) OR c.review ->> 'sha256' = ANY (gone.hashes));

-- name: open
-- Matrices, of one id, one document or all, with a cell that a ready document has not filled from its present content for
-- the present field. Of a pilot only its documents count. Without those whose job was cancelled.
SELECT m.*
FROM matrices m
WHERE m.user_id = :user_id AND (:id::uuid IS NULL OR m.id = :id)
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.user_id = :user_id AND j.id = m.job_id AND j.status = 'cancelled')
  AND EXISTS (
      SELECT 1
      FROM documents d CROSS JOIN jsonb_array_elements(m.fields) f
      WHERE d.user_id = :user_id AND d.lineage_id = ANY (m.lineage_ids[1 : coalesce(m.pilot, cardinality(m.lineage_ids))])
        AND (:lineage_id::uuid IS NULL OR d.lineage_id = :lineage_id)
        AND d.superseded_by IS NULL AND d.deleted_at IS NULL AND d.status = 'ready'
        AND NOT EXISTS (
            SELECT 1 FROM field_cells c
            WHERE c.user_id = :user_id AND c.matrix_id = m.id AND c.lineage_id = d.lineage_id
              AND c.field_id::text = f.value ->> 'id' AND c.sha256 = d.sha256 AND NOT c.is_outdated))
ORDER BY m.created_at, m.id;

-- name: templates
SELECT name, fields, index_id, :within::uuid IS NULL AS is_own
FROM field_templates
WHERE user_id = :user_id AND is_within(index_id, :within)
ORDER BY name;

-- name: save_template
INSERT INTO field_templates AS kept (user_id, name, fields, index_id) VALUES (:user_id, :name, :fields, :index_id)
ON CONFLICT (user_id, name) DO UPDATE
SET fields = excluded.fields, saved_at = excluded.saved_at,
    index_id = CASE WHEN :sets_index THEN excluded.index_id ELSE kept.index_id END
RETURNING name, fields, index_id, true AS is_own;

-- name: unshare
-- Of a collection that is deleted.
UPDATE matrices SET index_id = NULL WHERE user_id = :user_id AND index_id = :index_id;

-- name: unshare_templates
UPDATE field_templates SET index_id = NULL WHERE user_id = :user_id AND index_id = :index_id;

-- name: delete_template
DELETE FROM field_templates WHERE user_id = :user_id AND name = :name RETURNING name;
