-- What those who run an installation look at. None of it is any user's.

-- What workers have done since the database was set up: of all of them, so that one place tells of all machines.
CREATE TABLE work_counts (
    name text NOT NULL,
    code text NOT NULL DEFAULT '',  -- of an error, where failures are counted
    count bigint NOT NULL,
    PRIMARY KEY (name, code)
);

-- The archives that were written, as whoever wrote them knew.
CREATE TABLE backups (
    created_at timestamptz PRIMARY KEY,
    path text NOT NULL,
    bytes bigint NOT NULL,
    documents bigint NOT NULL,
    files bigint NOT NULL,
    missing bigint NOT NULL,
    verified_at timestamptz  -- when it was last read as a whole, and found to be what its manifest says
);

-- The W3C trace context of the upload: the worker's spans belong to it. NULL where nothing is traced.
ALTER TABLE documents ADD COLUMN trace_parent text;
