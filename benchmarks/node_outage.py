"""Kill a node of a Citus cluster while users search and write, and start it again."""

import shlex
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, cycle

import psycopg

from benchmarks import libraries
from benchmarks.chaos.ledger import log_progress
from benchmarks.libraries import CHUNKS_PER_DOCUMENT, Library
from benchmarks.report import Section, at_most
from benchmarks.spread import Questions, Server
from rag import errors
from rag.store.store import Store

CLIENTS = 8
"""Half of them are users of the node, if it has so many."""
NORMAL_SECONDS, DOWN_SECONDS, AFTER_SECONDS = 10.0, 20.0, 10.0
BACK_SECONDS = 180.0
"""Maximum wait until all clients are served again."""
PAUSE_SECONDS = 0.2
"""Pause of a client after an error."""
ACTS = ("list", "search", "write")

NODE_OF_USER = """
    SELECT n.nodename || ':' || n.nodeport
    FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
    WHERE p.shardid = get_shard_id_for_distribution_column('documents', %s::text) AND n.noderole = 'primary'
"""


@dataclass(frozen=True)
class Attempt:
    """One act of a client, with its error if it failed."""

    act: str
    started: float
    ended: float
    error: str = ""


class Client(threading.Thread):
    """Lists, searches and writes in turn as one user until it is stopped."""

    def __init__(self, number: int, user: Library, questions: list[str], cluster: Server) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self.user = user
        self.attempts: list[Attempt] = []
        self.stored: set[uuid.UUID] = set()
        """Acknowledged documents."""
        self.stopping = threading.Event()
        self._cluster = cluster
        self._numbers = count(user.documents + number * 10_000)
        self._questions = cycle(questions)

    def run(self) -> None:
        """Run until the end."""
        index = self._cluster.store.of(self.user.user_id).indexes.get(libraries.INDEX_NAME)
        while not self.stopping.is_set():
            self._try("list", lambda: self._cluster.store.of(self.user.user_id).documents.list(index.id, limit=50))
            self._try("search", lambda: self._cluster.search(self.user, next(self._questions)))
            self._try("write", lambda: self.stored.add(self.user.add(self._cluster.store, index, next(self._numbers))))

    def served_since(self, moment: float) -> bool:
        """Return whether each act has succeeded since `moment`."""
        return len({each.act for each in self.attempts if each.started > moment and not each.error}) == len(ACTS)

    def _try(self, act: str, call: Callable[[], object]) -> None:
        started, error = time.monotonic(), ""
        try:
            call()
        except errors.Error as raised:
            error = f"{type(raised).__name__}: {raised.message}"
        self.attempts.append(Attempt(act, started, time.monotonic(), error))
        if error:
            time.sleep(PAUSE_SECONDS)


def measure(section: Section, cluster: Server, questions: Questions, restart: tuple[str, str, str]) -> None:
    """Kill the node and start it again while clients work, and compare the database with what was acknowledged."""
    address, kill, start = restart
    with psycopg.connect(cluster.url) as connection:
        nodes = {user: str(*connection.execute(NODE_OF_USER, [user.user_id]).fetchone() or ()) for user in questions}
    groups = {
        "users of the node": [user for user in questions if nodes[user] == address][: CLIENTS // 2],
        "users of other nodes": [user for user in questions if nodes[user] != address][: CLIENTS // 2],
    }
    if not all(groups.values()):
        raise errors.ConfigError(f"Not all of {address} and the other nodes have users. The nodes: {nodes}")
    clients = {
        noun: [Client(number, user, [*questions[user]], cluster) for number, user in enumerate(group)]
        for noun, group in groups.items()
    }
    everybody = [client for group in clients.values() for client in group]
    for client in everybody:
        client.start()
    time.sleep(NORMAL_SECONDS)
    killed = _run(kill)
    time.sleep(DOWN_SECONDS)
    started = _run(start)
    while not all(client.served_since(started) for client in everybody) and time.monotonic() < started + BACK_SECONDS:
        time.sleep(PAUSE_SECONDS)
    back = time.monotonic()
    time.sleep(AFTER_SECONDS)
    for client in everybody:
        client.stopping.set()
    for client in everybody:
        client.join()
    for noun, group in clients.items():
        _add(section, f"node killed, {noun}", group, killed)
    section.add("node killed: seconds from its start until all are served", back - started, "s", at_most(BACK_SECONDS))
    lost = [
        document for client in everybody for document in client.stored if not _is_whole(cluster.store, client, document)
    ]
    section.add("node killed: acknowledged documents", sum(len(client.stored) for client in everybody), "documents")
    section.add("node killed: lost", len(lost), "documents", at_most(0))
    section.failed |= bool(lost)


def _run(command: str) -> float:
    """Run a command and return when it began."""
    began = time.monotonic()
    log_progress(command)
    subprocess.run(shlex.split(command), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return began


def _add(section: Section, noun: str, clients: list[Client], killed: float) -> None:
    attempts = [each for client in clients for each in client.attempts]
    for act in ACTS:
        own = [each for each in attempts if each.act == act]
        section.add(f"{noun}: {act}, succeeded", sum(not each.error for each in own), "requests")
        section.add(f"{noun}: {act}, failed", sum(bool(each.error) for each in own), "requests")
        section.add(f"{noun}: {act}, the longest", max(each.ended - each.started for each in own), "s")
    failures = Counter(f"{each.act}: {each.error}" for each in attempts if each.error)
    section.notes += [f"{noun}: {times} × {failure}" for failure, times in failures.most_common()]
    if early := [each for each in attempts if each.error and each.started < killed - 1]:
        section.notes.append(f"{noun}: {len(early)} failed before the node was killed")


def _is_whole(store: Store, client: Client, document_id: uuid.UUID) -> bool:
    try:
        return len(store.of(client.user.user_id).chunks.of_document(document_id)) == CHUNKS_PER_DOCUMENT
    except errors.NotFoundError:
        return False
