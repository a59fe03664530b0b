"""The queue of documents to be read."""

import uuid

import psycopg
import pytest

from rag.store.store import Store
from tests import forked

DOCUMENT = uuid.uuid4()


def run_all(db: Store) -> list[tuple[str, uuid.UUID]]:
    done: list[tuple[str, uuid.UUID]] = []
    db.queue.run(lambda user_id, document_id: done.append((user_id, document_id)), wait=False)
    return done


def test_a_job_runs_once(db: Store) -> None:
    assert db.queue.enqueue("ann", DOCUMENT)
    assert run_all(db) == [("ann", DOCUMENT)]
    assert run_all(db) == []


def test_a_waiting_document_is_not_queued_twice(db: Store) -> None:
    assert db.queue.enqueue("ann", DOCUMENT)
    assert not db.queue.enqueue("ann", DOCUMENT)
    assert db.queue.enqueue("bob", DOCUMENT)
    assert sorted(run_all(db)) == [("ann", DOCUMENT), ("bob", DOCUMENT)]
    assert db.queue.enqueue("ann", DOCUMENT)


def test_a_failing_job_does_not_stop_the_others(db: Store) -> None:
    done: list[str] = []

    def process(user_id: str, _: uuid.UUID) -> None:
        if user_id == "ann":
            raise RuntimeError("cannot")
        done.append(user_id)

    db.queue.enqueue("ann", DOCUMENT)
    db.queue.enqueue("bob", DOCUMENT)
    db.queue.run(process, wait=False)
    assert done == ["bob"]
    assert db.queue.enqueue("ann", DOCUMENT)  # it may be tried again


WORKER = """
import os, sys, uuid
from rag.store.store import Store
Store.open(sys.argv[1]).queue.run(lambda user_id, document_id: os._exit(9), wait=False)
"""


@pytest.fixture
def abandoned(db: Store, database_url: str) -> Store:
    """A store with a job whose worker was killed in the middle of it."""
    db.queue.enqueue("ann", DOCUMENT)
    assert forked.run(WORKER, database_url) == 9
    return db


def test_a_dead_workers_document_can_be_read_again_at_once(abandoned: Store) -> None:
    """Nobody needs to wait for the dead to be noticed."""
    assert run_all(abandoned) == []
    assert abandoned.queue.enqueue("ann", DOCUMENT)
    assert run_all(abandoned) == [("ann", DOCUMENT)]


def test_a_dead_workers_job_is_forgotten_once_it_is_known_to_be_dead(abandoned: Store, database_url: str) -> None:
    assert abandoned.queue.discard_stalled() == 0  # it might still be alive
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 minute'")
    assert abandoned.queue.enqueue("ann", DOCUMENT)  # a waiting job is no hindrance
    assert abandoned.queue.discard_stalled() == 1
    assert abandoned.queue.discard_stalled() == 0
    assert run_all(abandoned) == [("ann", DOCUMENT)]
