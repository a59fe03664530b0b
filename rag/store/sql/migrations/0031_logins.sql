-- Logins of browsers, each of which can be ended here whatever its cookie says; and where a membership comes from.

ALTER TABLE accounts ADD COLUMN logins_valid_after timestamptz;  -- what was issued before opens nothing any more

ALTER TABLE memberships ADD COLUMN by_login boolean NOT NULL DEFAULT false;  -- renewed with each login, not given here

CREATE TABLE logins (
    user_id text NOT NULL REFERENCES accounts ON DELETE CASCADE,
    id uuid NOT NULL,  -- made from the claims that tell one login from another
    started_at timestamptz NOT NULL,  -- as the provider issued it
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    PRIMARY KEY (user_id, id)
);
