"""The schema: applied once, by one process, or refused with words that help."""

import threading

import psycopg
import pytest
from psycopg import conninfo, sql

from rag import errors, store
from rag.store import migrations


def applied(url: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT name, applied_at FROM migrations ORDER BY name").fetchall()


def test_migrating_again_does_nothing(empty_url: str) -> None:
    migrations.migrate(empty_url)
    first = applied(empty_url)
    migrations.migrate(empty_url)
    assert applied(empty_url) == first
    names = {name for name, _ in first}
    assert {"0001_documents", "0002_chunks", "0003_postings", "procrastinate"} <= names


def test_many_processes_may_migrate_at_once(empty_url: str) -> None:
    failures: list[Exception] = []

    def open_store() -> None:
        try:
            store.Store.open(empty_url, pool_size=1).close()
        except errors.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=open_store) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(applied(empty_url)) == len({name for name, _ in applied(empty_url)})


def test_a_failing_migration_leaves_nothing(empty_url: str) -> None:
    with psycopg.connect(empty_url) as connection:
        connection.execute("CREATE TABLE postings (taken boolean)")
    with pytest.raises(errors.StoreError):
        migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    assert tables == [("postings",)]


def test_newer_migrations_of_the_job_queue_are_applied(empty_url: str) -> None:
    migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        name = connection.execute(
            "DELETE FROM migrations WHERE name = 'procrastinate_03.04.00_50_post_add_retry_failed_job_procedure' "
            "RETURNING name"
        ).fetchone()
        connection.execute("DROP FUNCTION IF EXISTS procrastinate_retry_job_v2")
    assert name is not None
    migrations.migrate(empty_url)
    assert name[0] in {row[0] for row in applied(empty_url)}


def test_a_schema_of_a_newer_version_is_refused(empty_url: str) -> None:
    migrations.migrate(empty_url)
    with psycopg.connect(empty_url) as connection:
        connection.execute("INSERT INTO migrations (name) VALUES ('9999_from_the_future')")
    with pytest.raises(errors.StoreError, match="newer version"):
        store.Store.open(empty_url)


def test_an_account_without_rights(empty_url: str) -> None:
    role = sql.Identifier("test_powerless")
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(role))
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
    url = conninfo.make_conninfo(empty_url, user="test_powerless")
    try:
        with pytest.raises(errors.StoreError, match="may not"):
            migrations.migrate(url)
    finally:
        with psycopg.connect(empty_url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP ROLE {}").format(role))


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(errors.StoreError, match="cannot be reached"):
        store.Store.open("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=2")


def test_errors_never_show_the_password() -> None:
    with pytest.raises(errors.StoreError) as caught:
        store.Store.open("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=2")
    assert "secret" not in f"{caught.value} {dict(caught.value.details)}"
