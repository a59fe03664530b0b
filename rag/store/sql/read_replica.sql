-- name: written
-- What is confirmed is in the log up to here. And by what a server is known as a copy, and as whom it is asked.
SELECT pg_current_wal_flush_lsn()::text AS position, (SELECT system_identifier FROM pg_control_system()) AS cluster,
       current_user::text AS account, current_database()::text AS database;

-- name: has
-- One that is no replica any more has a history of its own.
SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= :position::pg_lsn
       AND (SELECT system_identifier FROM pg_control_system()) = :cluster
       AND current_user::text = :account AND current_database()::text = :database AS present;
