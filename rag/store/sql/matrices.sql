-- name: create
INSERT INTO matrices (user_id, id, name, questions, lineage_ids)
VALUES (:user_id, :id, :name, :questions, :lineage_ids)
RETURNING *;

-- name: list
SELECT * FROM matrices WHERE user_id = :user_id ORDER BY created_at DESC, id;

-- name: get
SELECT * FROM matrices WHERE user_id = :user_id AND id = :id;

-- name: set_job
UPDATE matrices SET job_id = :job_id WHERE user_id = :user_id AND id = :id RETURNING *;

-- name: edit
-- Values that are not given stay. The answers of removed questions and documents are deleted.
WITH edited AS (
    UPDATE matrices
    SET name = coalesce(:name::text, name), questions = coalesce(:questions::jsonb, questions),
        lineage_ids = coalesce(:lineage_ids::uuid[], lineage_ids)
    WHERE user_id = :user_id AND id = :id
    RETURNING *
), gone AS (
    DELETE FROM matrix_cells c USING edited m
    WHERE c.user_id = :user_id AND c.matrix_id = m.id
      AND (c.lineage_id <> ALL (m.lineage_ids)
           OR NOT EXISTS (SELECT 1 FROM jsonb_array_elements(m.questions) q WHERE question_key(q.value) = c.asked))
)
SELECT * FROM edited;

-- name: delete
DELETE FROM matrices WHERE user_id = :user_id AND id = :id RETURNING id;

-- name: documents
-- The current version of each document.
SELECT * FROM documents
WHERE user_id = :user_id AND lineage_id = ANY (:lineage_ids::uuid[]) AND superseded_by IS NULL AND deleted_at IS NULL;

-- name: cells
-- With the present number of each question.
SELECT c.cell || q.number AS cell, c.previous || q.number AS previous
FROM matrices m
CROSS JOIN LATERAL (
    SELECT question_key(value) AS asked, jsonb_build_object('question', ordinality - 1) AS number
    FROM jsonb_array_elements(m.questions) WITH ORDINALITY
) q
JOIN matrix_cells c ON c.user_id = m.user_id AND c.matrix_id = m.id AND c.asked = q.asked
WHERE m.user_id = :user_id AND m.id = :id
ORDER BY c.lineage_id, q.number;

-- name: put
-- Only if it is still asked. Answers from other content are kept.
INSERT INTO matrix_cells AS kept (user_id, matrix_id, lineage_id, asked, document_id, sha256, cell)
SELECT m.user_id, m.id, :lineage_id, question_key(q.value), d.id, :sha256, :cell
FROM matrices m
JOIN documents d ON d.user_id = m.user_id AND d.id = :document_id
CROSS JOIN LATERAL (
    SELECT value FROM jsonb_array_elements(m.questions) WHERE value ->> 'text' = :question LIMIT 1
) q
WHERE m.user_id = :user_id AND m.id = :id AND :lineage_id = ANY (m.lineage_ids)
ON CONFLICT (user_id, matrix_id, lineage_id, asked) DO UPDATE
SET previous = CASE WHEN kept.sha256 <> excluded.sha256 THEN kept.cell ELSE kept.previous END,
    document_id = excluded.document_id, sha256 = excluded.sha256, cell = excluded.cell
RETURNING asked;

-- name: open
-- Matrices, of one id, one document or all, with a cell that a ready document has not answered from its present content.
-- Without those whose job was cancelled.
SELECT m.*
FROM matrices m
WHERE m.user_id = :user_id AND (:id::uuid IS NULL OR m.id = :id)
  AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.user_id = :user_id AND j.id = m.job_id AND j.status = 'cancelled')
  AND EXISTS (
      SELECT 1
      FROM documents d CROSS JOIN jsonb_array_elements(m.questions) q
      WHERE d.user_id = :user_id AND d.lineage_id = ANY (m.lineage_ids)
        AND (:lineage_id::uuid IS NULL OR d.lineage_id = :lineage_id)
        AND d.superseded_by IS NULL AND d.deleted_at IS NULL AND d.status = 'ready'
        AND NOT EXISTS (
            SELECT 1 FROM matrix_cells c
            WHERE c.user_id = :user_id AND c.matrix_id = m.id AND c.lineage_id = d.lineage_id
              AND c.asked = question_key(q.value) AND c.sha256 = d.sha256))
ORDER BY m.created_at, m.id;
