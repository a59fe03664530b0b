-- name: count
-- The generic cell rate algorithm: a minute's requests at once, then one whenever its `share` of a minute (seconds) has
-- passed. Returns the seconds to wait, 0 if allowed, by the server's clock.
WITH admitted AS (
    INSERT INTO request_rates AS r (who, used_until) VALUES (:who, now() + make_interval(secs => :share))
    ON CONFLICT (who) DO UPDATE SET used_until = greatest(r.used_until, now()) + make_interval(secs => :share)
    WHERE r.used_until <= now() + make_interval(secs => 60 - :share)
    RETURNING who
)
SELECT CASE WHEN EXISTS (SELECT 1 FROM admitted) THEN 0 ELSE greatest(0.001, (
    SELECT extract(epoch FROM used_until - now())::float8 + :share - 60 FROM request_rates WHERE who = :who
)) END::float8 AS wait;

-- name: forget
DELETE FROM request_rates WHERE used_until < now();
