-- Matrices that are edited: a cell belongs to the words of its question, not to the question's place, so that a worker
-- that is at it while questions move puts nothing below another one's heading.

CREATE FUNCTION question_key(question jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT sha256(convert_to(question ->> 'text', 'UTF8'))
$$;

SELECT see_all_users();
ALTER TABLE matrix_cells ADD COLUMN asked bytea;
UPDATE matrix_cells c SET asked = question_key(m.questions -> c.question)
FROM matrices m WHERE m.user_id = c.user_id AND m.id = c.matrix_id;
DELETE FROM matrix_cells c USING matrix_cells same  -- a question that was asked twice
WHERE same.user_id = c.user_id AND same.matrix_id = c.matrix_id AND same.lineage_id = c.lineage_id
  AND same.asked = c.asked AND same.question < c.question;
SELECT see_all_users('');

ALTER TABLE matrix_cells DROP CONSTRAINT matrix_cells_pkey;
ALTER TABLE matrix_cells DROP COLUMN question;
ALTER TABLE matrix_cells ADD PRIMARY KEY (user_id, matrix_id, lineage_id, asked);
