-- What failed for want of something is tried again, each time later, and long work goes on where it stood.

ALTER TABLE documents ADD COLUMN retry_after timestamptz;  -- no worker takes it before; NULL: at once

ALTER TABLE jobs
    ADD COLUMN attempts int NOT NULL DEFAULT 0,  -- how often a worker took it since it last got on
    ADD COLUMN retry_after timestamptz,
    DROP CONSTRAINT jobs_status_check,
    ADD CONSTRAINT jobs_status_check CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled'));
CREATE INDEX ON jobs (created_at) WHERE status IN ('queued', 'running');

-- What came of the steps of a job that are done: questions by their place, documents by their id.
CREATE TABLE job_steps (
    user_id text NOT NULL CHECK (octet_length(user_id) <= 512),
    job_id uuid NOT NULL,
    step text NOT NULL,
    outcome jsonb NOT NULL,
    PRIMARY KEY (user_id, job_id, step),
    FOREIGN KEY (user_id, job_id) REFERENCES jobs (user_id, id) ON DELETE CASCADE
);
