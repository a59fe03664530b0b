-- name: written
-- The log position of confirmed transactions, and the identity of the server and of the account.
SELECT pg_current_wal_flush_lsn()::text AS position, (SELECT system_identifier FROM pg_control_system()) AS cluster,
       current_user::text AS account, current_database()::text AS database;

-- name: has
-- A promoted replica has a different history.
SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= :position::pg_lsn
       AND (SELECT system_identifier FROM pg_control_system()) = :cluster
       AND current_user::text = :account AND current_database()::text = :database AS present;
