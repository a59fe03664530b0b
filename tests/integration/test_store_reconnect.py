"""Lost connections: a clear error at most, and the next call works."""

import os
import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from rag import errors
from rag.store.server import embedded
from rag.store.server.database import store_errors
from rag.store.store import Store
from tests.folders import open_folder
from tests.integration.samples import SPACE, Owner, random_vector


@pytest.fixture
def owner(db: Store) -> Owner:
    owner = Owner.of(db, "ann")
    owner.ready("a.pdf", ["some words"])
    return owner


def end_connections(url: str) -> int:
    """End all other connections to the database, as a restarted server would."""
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    return len(rows)


def test_reads_and_writes_go_on_after_idle_connections_were_lost(owner: Owner, database_url: str) -> None:
    db = owner.db
    calls: list[Callable[[], object]] = [
        lambda: db.of("ann").documents.list(owner.index.id),
        lambda: db.of(owner.user_id).chunks.lexical(owner.scope, "words", 1).chunks,
        lambda: db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("x"), 1),
        lambda: db.of("ann").documents.trash([uuid.uuid4()]) == [],
        lambda: db.queue.enqueue("ann", uuid.uuid4()),
    ]
    for call in calls:
        assert end_connections(database_url) > 0
        assert call()


def test_a_write_goes_on_after_all_of_several_idle_connections_were_lost(owner: Owner, database_url: str) -> None:
    database = owner.db._database
    with database.transaction(), database.transaction(), database.transaction():
        pass  # three connections are kept now
    assert end_connections(database_url) >= 3
    assert owner.add("b.pdf").name == "b.pdf"


def test_a_user_who_cannot_be_told_of_is_refused_and_no_connection_is_lost(owner: Owner) -> None:
    database = owner.db._database
    before = database.pool.get_stats().get("returns_bad", 0)
    with pytest.raises(errors.ValidationError):
        owner.db.of("an\x00n").documents.list(owner.index.id)
    assert owner.db.of("ann").documents.list(owner.index.id)
    assert database.pool.get_stats().get("returns_bad", 0) == before


@pytest.fixture
def locked(owner: Owner, database_url: str) -> Iterator[None]:
    """The tables are locked, so that every statement waits, until its connection is ended."""
    with psycopg.connect(database_url) as locker:
        locker.execute("LOCK TABLE documents IN ACCESS EXCLUSIVE MODE")
        ended = threading.Event()

        def end_waiting() -> None:
            for _ in range(200):
                with psycopg.connect(database_url, autocommit=True) as connection:
                    waiting = connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
                    ).fetchall()
                if waiting:
                    locker.rollback()
                    ended.set()
                    return
                time.sleep(0.02)

        thread = threading.Thread(target=end_waiting)
        thread.start()
        yield
        thread.join()
        assert ended.is_set()


@pytest.mark.usefixtures("locked")
def test_a_read_that_is_cut_off_is_tried_again(owner: Owner) -> None:
    assert owner.db.of("ann").documents.list(owner.index.id)


@pytest.mark.usefixtures("locked")
def test_a_lexical_search_that_is_cut_off_is_tried_again(owner: Owner) -> None:
    assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, "words", 1).chunks


@pytest.mark.usefixtures("locked")
def test_a_dense_search_that_is_cut_off_is_tried_again(owner: Owner) -> None:
    assert owner.db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("x"), 1)


@pytest.mark.usefixtures("locked")
def test_a_write_that_is_cut_off_says_so_and_the_next_works(owner: Owner) -> None:
    with pytest.raises(errors.StoreError, match="connection to the database was lost"):
        owner.add("b.pdf")
    assert owner.add("b.pdf").name == "b.pdf"


@pytest.fixture
def crashing() -> Iterator[tuple[Owner, Path]]:
    """A user on an embedded server of its own, and the file that names the server's process."""
    with open_folder() as folder:
        server = embedded.start(folder / "database")
        with Store.open(server.url) as db:
            owner = Owner.of(db, "ann")
            owner.ready("a.pdf", ["some words"])
            yield owner, server.data_dir / "postmaster.pid"
        server.close()


@pytest.mark.long
def test_a_killed_server_is_back_with_all_that_was_confirmed(crashing: tuple[Owner, Path]) -> None:
    owner, pid_file = crashing
    for _ in range(2):
        confirmed = {document.id for document in owner.db.of("ann").documents.list(owner.index.id)}
        os.kill(int(pid_file.read_text().split()[0]), signal.SIGKILL)
        assert owner.db.of(owner.user_id).chunks.lexical(owner.scope, "words", 10).chunks
        assert owner.db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("x"), 10)
        assert {document.id for document in owner.db.of("ann").documents.list(owner.index.id)} == confirmed
        owner.ready(f"{uuid.uuid4()}.pdf", ["more words"])


def test_a_node_of_a_cluster_that_is_down_is_no_refused_statement() -> None:
    with pytest.raises(errors.StoreUnavailableError, match="does not answer"), store_errors():
        raise psycopg.errors.ConnectionFailure("connection to the remote node failed")
