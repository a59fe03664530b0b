-- Questions whose answers are known, in sets under a name: what answers and searches are measured with.

CREATE TABLE evaluation_cases (
    user_id text NOT NULL CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    set_name text NOT NULL CHECK (set_name <> ''),
    id text NOT NULL,
    question jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, set_name, id)
);
