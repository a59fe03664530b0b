"""Compare Citus clusters with a plain PostgreSQL server: ingestion, search, answers, space, and a killed node.

Each step is done on all of them in turn, so that disturbances affect all.
"""

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

import psycopg
from psycopg import sql

from benchmarks import databases, libraries, node_outage, spread, timing
from benchmarks.libraries import Library
from benchmarks.report import Section
from benchmarks.settings import Clusters, Options
from benchmarks.spread import PLAIN, Questions, Server
from rag.store.store import Store

QUICK = Clusters(users=3, user_chunks=(50, 100))
SEARCHES, QUICK_SEARCHES = 101, 2
ANSWERS, QUICK_ANSWERS = 11, 2
CLIENTS, QUICK_CLIENTS = 32, 2
ROUNDS, QUICK_ROUNDS = 3, 1
ROUND_SECONDS = 10.0
WARM_UP_SECONDS = 3.0

SPACE_TAKEN = """
    SELECT {kind}_table_size({chunks}), {kind}_total_relation_size({chunks}) - {kind}_table_size({chunks}),
           {kind}_total_relation_size('postings')
"""

Item = TypeVar("Item")


def measure(options: Options, section: Section) -> None:
    """Fill all databases, ask one user's questions, then those of all users at once, and kill a node."""
    given = options.clusters
    users = spread.users(QUICK if options.quick else given)
    searches, answers = (QUICK_SEARCHES, QUICK_ANSWERS) if options.quick else (SEARCHES, ANSWERS)
    questions = {user: user.questions(searches + answers) for user in users}
    chunks = sum(user.size for user in users)
    section.about = f"{len(users)} users with {users[0].size:,} to {users[-1].size:,} chunks, {chunks:,} in all"
    with databases.server(options) as plain_url, ExitStack() as stack:
        made = [spread.plain(plain_url, questions), *(spread.cluster(url, questions) for url in given.coordinators)]
        servers = [stack.enter_context(server) for server in made]
        _measure_ingestion(section, servers, users)
        for noun, user in (("median user", users[len(users) // 2]), ("largest user", users[-1])):
            asked = [(user, text) for text in questions[user]]
            _time(section, f"search, {noun}", servers, lambda server, one: server.search(*one), asked[:searches])
            _time(section, f"answer, {noun}", servers, lambda server, one: server.answer(*one), asked[searches:])
        _measure_statements(section, servers, users[0], searches)
        _measure_throughput(section, servers, questions, quick=options.quick)
        _measure_space(section, servers, chunks)
        if given.restart:
            node_outage.measure(section, servers[-1], questions, given.restart)


def _measure_ingestion(section: Section, servers: list[Server], users: list[Library]) -> None:
    taken = dict.fromkeys((server.name for server in servers), 0.0)
    for document in range(min(users[-1].documents, libraries.MADE_DOCUMENTS)):
        users[-1].texts(document)  # are kept
    for user in users:
        for server in servers:
            taken[server.name] += timing.seconds(partial(user.fill, server.store))
    chunks = sum(user.size for user in users)
    _add(section, "ingestion into the store", {name: chunks / seconds for name, seconds in taken.items()}, "chunks/s")
    for server in servers:
        if server.name != PLAIN:
            section.add(f"tables distributed: {server.name}", server.seconds, "s")
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def _measure_statements(section: Section, servers: list[Server], user: Library, count: int) -> None:
    """Measure statements that go to one node, and those about all users, which go to every shard."""
    name, rounds = libraries.INDEX_NAME, range(count)
    index_ids = {server: user.scope(server.store).index_id for server in servers}
    documents = {server: server.store.of(user.user_id).documents for server in servers}
    chats = {server: server.store.of(user.user_id).conversations for server in servers}
    _time(section, "an index read", servers, lambda server, _: server.store.of(user.user_id).indexes.get(name), rounds)
    _time(section, "documents listed", servers, lambda one, _: documents[one].list(index_ids[one], limit=50), rounds)
    _time(section, "a chat added", servers, lambda one, _: chats[one].create(index_ids[one], title="Figures"), rounds)
    _time(
        section, "a worker looks for work", servers, lambda one, _: one.store.document_scheduler.are_waiting(), rounds
    )
    _time(section, "status of all users", servers, lambda server, _: server.installation.status(), rounds)


def _measure_throughput(section: Section, servers: list[Server], questions: Questions, *, quick: bool) -> None:
    """Search as random users, by clients in one process per core."""
    clients, rounds = (QUICK_CLIENTS, QUICK_ROUNDS) if quick else (CLIENTS, ROUNDS)
    cores = min(os.cpu_count() or 1, clients)
    counts = dict.fromkeys((server.name for server in servers), 0)
    spawned = partial(ProcessPoolExecutor, mp_context=get_context("spawn"), max_tasks_per_child=1)
    with (ThreadPoolExecutor if quick else spawned)(cores) as processes:  # daemons, as in tests, may start no processes
        for server in servers * rounds:
            count = partial(_count_searches, server.url, questions, clients // cores)
            counts[server.name] += sum(done.result() for done in [processes.submit(count) for _ in range(cores)])
    rates = {name: count / rounds / ROUND_SECONDS for name, count in counts.items()}
    _add(section, f"searches of {clients} clients", rates, "1/s")


def _count_searches(url: str, questions: Questions, clients: int) -> int:
    """Return how many searches the clients in this process do after a warm-up."""
    asked = [(user, text) for user, own in questions.items() for text in own]
    with Store.open(url, pool_size=clients) as store, ThreadPoolExecutor(clients) as threads:
        server = Server("", url, store, spread.installation(store, questions))
        start = time.monotonic() + WARM_UP_SECONDS

        def search(_: int) -> int:
            count = 0
            while time.monotonic() < start + ROUND_SECONDS:
                server.search(*random.choice(asked))
                count += time.monotonic() >= start
            return count

        return sum(threads.map(search, range(clients)))


def _measure_space(section: Section, servers: list[Server], chunks: int) -> None:
    sizes = {}
    for server in servers:
        kind = sql.SQL("pg" if server.name == PLAIN else "citus")
        statement = sql.SQL(SPACE_TAKEN).format(kind=kind, chunks=sql.Literal(libraries.TABLE_NAME))
        with psycopg.connect(server.url) as connection:
            sizes[server.name] = connection.execute(statement).fetchone() or ()
    for place, noun in enumerate(("rows and vectors", "indexes of chunks", "postings")):
        _add(section, f"{noun}, per chunk", {name: own[place] / chunks for name, own in sizes.items()}, "bytes")


def _time(
    section: Section,
    name: str,
    servers: list[Server],
    work: Callable[[Server, Item], object],
    items: Sequence[Item],
) -> None:
    """Time the work on each server with all items but the first, which is for warm-up."""
    calls = {server.name: partial(work, server) for server in servers}
    timing.alternating(calls, items[:1])
    found = timing.alternating(calls, items[1:])
    for place, noun in enumerate(timing.Percentiles._fields):
        _add(section, f"{name}, {noun}", {server: times[place] for server, times in found.items()}, "ms")


def _add(section: Section, name: str, values: Mapping[str, float], unit: str) -> None:
    for server, value in values.items():
        section.add(f"{name}: {server}", value, unit)
        if server != PLAIN:
            section.add(f"{name}: {server} / {PLAIN}", value / values[PLAIN], "×")
