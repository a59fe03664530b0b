-- The words of a user's house, as TOML in the form of the packaged vocabularies.

CREATE TABLE glossaries (
    user_id text PRIMARY KEY CHECK (user_id <> '' AND octet_length(user_id) <= 512),
    toml text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
);
