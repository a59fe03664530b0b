"""A database that stops answering: everybody is told so in time, and goes on when it does."""

import datetime as dt
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent import futures

import psycopg
import pytest
from psycopg import conninfo

from rag import errors, worker
from rag.engine import RAGEngine
from rag.store.server import embedded, timeouts
from rag.store.store import Store
from tests.integration.samples import SPACE, Owner, random_vector
from tests.stopping import frozen, own_server

LIMIT_SECONDS = 3.0
PATIENCE_SECONDS = 90.0
"""In which whatever is waited for must have ended, however slow the machine is."""

Database = tuple[Owner, embedded.EmbeddedServer]


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    """A user's store with a document, on an embedded server of its own, and the server."""
    with own_server() as server, Store.open(server.url, pool_size=4, answer_seconds=LIMIT_SECONDS) as db:
        owner = Owner.of(db, "ann")
        owner.ready("a.pdf", ["some words"])
        yield owner, server


def ended(work: Callable[[], object]) -> object:
    """What `work` gives or raises, in a thread, so that one that never ends fails the test and not the run."""
    results: list[object] = []

    def run() -> None:
        try:
            results.append(work())
        except errors.Error as error:
            results.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert results, "it waits for ever"
    return results[0]


def is_told(work: Callable[[], object]) -> bool:
    error = ended(work)
    return isinstance(error, errors.StoreUnavailableError) and "does not answer" in error.message


def until_it_answers(owner: Owner) -> None:
    """Ask as a client does who is told to come again."""
    waiting = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.2)):
        try:
            owner.db.health()
        except errors.StoreUnavailableError:
            waiting.wait(0.2)
        else:
            return
    pytest.fail("the pool did not recover")


@pytest.mark.long
def test_a_frozen_server_is_told_of_and_goes_on_where_it_stood(database: Database) -> None:
    owner, server = database
    confirmed = owner.add("b.pdf")
    mine = owner.db.of("ann")
    asked: list[Callable[[], object]] = [
        lambda: mine.documents.list(owner.index.id),
        lambda: mine.chunks.lexical(owner.scope, "words", 1),
        lambda: mine.chunks.dense(owner.scope, SPACE, random_vector("x"), 1),
        lambda: mine.documents.purge([confirmed.id]),  # which may take any time otherwise
        lambda: owner.add("never.pdf"),
        lambda: owner.db.queue.enqueue("ann", confirmed.id),
        lambda: owner.db.health(1.0),
        lambda: Store.open(server.url),
        lambda: embedded.start(server.data_dir.parent),
    ]
    before = threading.active_count()
    with frozen(server):
        assert [is_told(ask) for ask in asked] == [True] * len(asked)
    until_it_answers(owner)
    assert threading.active_count() == before
    assert [document.name for document in mine.documents.list(owner.index.id)] == ["b.pdf", "a.pdf"]
    assert owner.ready("c.pdf", ["more words"]).name == "c.pdf"


@pytest.mark.long
def test_many_who_ask_at_once_are_all_told_and_leave_no_connection_behind(database: Database) -> None:
    owner, server = database
    results: list[object] = []

    def ask() -> None:
        results.append(is_told(lambda: owner.db.of("ann").documents.list(owner.index.id)))

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(24)]
    with frozen(server):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
    assert results == [True] * 24
    until_it_answers(owner)
    with psycopg.connect(server.url) as connection:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        waiting = threading.Event()
        for _ in range(int(PATIENCE_SECONDS / 0.2)):
            (count,) = connection.execute(query).fetchone() or (0,)
            connection.rollback()
            if count <= 4:  # as many as the pool may have
                return
            waiting.wait(0.2)
        pytest.fail(f"{count} connections are left")


@pytest.fixture
def patient() -> Iterator[Database]:
    """A store that lets statements take any time, on an embedded server of its own, and the server."""
    with own_server() as server, Store.open(server.url, pool_size=2, answer_seconds=1e6) as db:
        yield Owner.of(db, "ann"), server


def test_who_has_no_connection_yet_does_not_wait_as_long_as_a_statement_may_take(patient: Database) -> None:
    owner, server = patient
    asked: list[Callable[[], object]] = [
        lambda: owner.db.of("ann").documents.list(owner.index.id),
        lambda: owner.db.accounts.list(dt.timedelta(days=1)),
    ]
    for ask in asked:  # whose connection is idle, and those who wait for the same ones
        with frozen(server), futures.ThreadPoolExecutor() as pool:
            assert [*pool.map(lambda _: is_told(ask), range(4))] == [True] * 4  # noqa: B023
        until_it_answers(owner)
    with frozen(server):  # which leaves no connection
        assert is_told(asked[0])
        assert is_told(asked[0])
    until_it_answers(owner)


def test_a_statement_beside_others_is_waited_for(patient: Database) -> None:
    """What others find is no verdict on a server that is computing."""
    owner, server = patient
    begun = threading.Event()

    def compute() -> object:
        begun.set()
        return owner.db._database.read(
            lambda connection: connection.execute("SELECT pg_sleep(3)::text AS slept").fetchall()
        )

    with futures.ThreadPoolExecutor() as pool:
        computed = pool.submit(compute)
        begun.wait()
        timeouts.breaker_for(server.url).record_timeout()
        assert computed.result() == [{"slept": ""}]


def test_a_worker_waits_longer_for_the_database(engine: RAGEngine) -> None:
    server = timeouts.breaker_for(engine.installation.database_url)
    server.check_timeout_seconds = timeouts.CHECK_TIMEOUT_SECONDS
    worker.run(engine.installation, wait=False)
    assert server.check_timeout_seconds > timeouts.CHECK_TIMEOUT_SECONDS


def test_a_statement_of_a_connection_beside_the_pool_is_given_up_too(database: Database) -> None:
    owner, server = database
    document = owner.add("claimed.pdf")
    with owner.db.of("ann").documents.lock(document.id) as mine:
        assert mine
        with frozen(server):
            assert is_told(lambda: owner.db.of("ann").documents.lock(document.id).__enter__())
    until_it_answers(owner)


def test_what_takes_longer_than_the_limit_is_ended_by_the_server(database: Database) -> None:
    owner, _ = database
    pool = owner.db._database
    with pytest.raises(errors.StoreError, match="took too long"):
        pool.read(lambda connection: connection.execute("SELECT pg_sleep(60)").fetchall())
    assert owner.db.health()


def test_long_work_is_waited_for_as_long_as_the_server_lives(database: Database) -> None:
    owner, _ = database
    with owner.db._database.transaction(long=True) as connection:
        connection.execute("SELECT pg_sleep(%s)", (2 * LIMIT_SECONDS,))
        assert connection.execute("SELECT 1 AS one").fetchone()
    assert owner.db.health()


@pytest.fixture
def mute_url() -> Iterator[str]:
    """A server that lets everybody in and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as mute:
        yield conninfo.make_conninfo(host="127.0.0.1", port=mute.getsockname()[1], user="ann", dbname="x")


def test_a_server_that_takes_connections_and_never_answers_is_told_of(mute_url: str) -> None:
    for _ in range(3):
        assert is_told(lambda: Store.open(mute_url, answer_seconds=LIMIT_SECONDS))


def test_settings_of_the_url_win() -> None:
    url = "postgresql://db/pagelight?connect_timeout=40&tcp_user_timeout=1"
    assert timeouts.connection_parameters(url, 5).keys() == timeouts.TCP.keys() - {"tcp_user_timeout"}
    assert timeouts.connection_parameters("postgresql://db/pagelight", 5)["connect_timeout"] == 5
