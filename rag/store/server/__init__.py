"""PostgreSQL: the embedded server, connections, roles and migrations."""
