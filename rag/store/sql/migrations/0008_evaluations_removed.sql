-- Evaluations run from a file (`pagelight eval`); question sets are no longer stored, nor evaluated by jobs.
DROP TABLE evaluation_cases;

ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY;  -- the rows of all users
DELETE FROM jobs WHERE kind = 'evaluation';
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
