-- How often somebody asked of late, for all processes on all machines together.

-- Unlogged: what is in it is of no use after a minute, so that it need not outlive a crash of the server, nor be sent to
-- replicas, and counting a request waits for no disk.
CREATE UNLOGGED TABLE request_rates (
    who text PRIMARY KEY,
    used_until timestamptz NOT NULL  -- each request moves it on by its share of a minute; a minute ahead is too much
);
