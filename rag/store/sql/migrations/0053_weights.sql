-- A matrix asks as an evaluation does, and is weighed by its cells as that is by its questions. The right to read the
-- column, which goes with it, is given again at the end.
ALTER TABLE jobs DROP COLUMN question_count;
ALTER TABLE jobs ADD COLUMN question_count int NOT NULL GENERATED ALWAYS AS (
    CASE WHEN jsonb_typeof(request -> 'questions') = 'array' THEN jsonb_array_length(request -> 'questions')
         WHEN jsonb_typeof(request -> 'cells') = 'number' THEN (request -> 'cells')::int
         ELSE 0
    END
) STORED;
