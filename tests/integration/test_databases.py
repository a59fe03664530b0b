"""What tests are lent: a database as good as new, or another one."""

import psycopg
import pytest
from psycopg import sql

from rag.store.store import Store
from tests.databases import Databases
from tests.integration.samples import Owner

TABLES = """
    SELECT relname FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname <> 'migrations'
"""


def test_a_reused_database_has_no_rows(databases: Databases) -> None:
    with databases.lent() as first, Store.open(first, pool_size=2) as opened:
        number = _number(first, Owner.of(opened, "ada").ready("Harbour.pdf", ["Ships came in."]).name)
    with databases.lent() as second:
        assert second == first
        with psycopg.connect(second) as connection:
            tables = {name for (name,) in connection.execute(TABLES)}
            assert {"documents", "data_document_chunks_384", "audit"} <= tables
            some = sql.SQL("SELECT FROM {}")
            assert {name for name in tables if connection.execute(some.format(sql.Identifier(name))).rowcount} == set()
        with Store.open(second, pool_size=2) as opened:
            assert _number(second, Owner.of(opened, "ada").ready("Orchard.pdf", ["Apples."]).name) == number


def _number(url: str, name: str) -> int:
    with psycopg.connect(url) as connection:
        (number,) = connection.execute("SELECT number FROM documents WHERE name = %s", [name]).fetchone() or (0,)
    return int(number)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE documents ADD COLUMN secret text",
        "ALTER TABLE documents DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE documents DISABLE ROW LEVEL SECURITY; ALTER TABLE documents ENABLE ROW LEVEL SECURITY",
        "REVOKE SELECT ON indexes FROM pagelight_app",
        "CREATE INDEX mine ON documents (name)",
        "DROP POLICY IF EXISTS own_rows ON documents; CREATE POLICY mine ON documents USING (true)",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "INSERT INTO migrations (name) VALUES ('9999_mine')",
        "DROP TABLE migrations",
    ],
)
def test_a_database_with_a_changed_schema_is_not_reused(databases: Databases, change: str) -> None:
    with databases.lent() as first, psycopg.connect(first) as connection:
        for statement in change.split("; "):  # Citus does not pass on two at once
            connection.execute(statement)
    with databases.lent() as second:
        assert second != first


def test_connections_end_when_a_database_is_returned(databases: Databases) -> None:
    with databases.lent() as url:
        left = psycopg.connect(url)
    with pytest.raises(psycopg.OperationalError):
        left.execute("SELECT 1")
    left.close()
