"""A real replica of a real server: searches are done there as long as they find what the primary would."""

from collections.abc import Iterator

import psycopg
import pytest

from benchmarks import servers as postgres
from benchmarks.servers import Cluster
from rag.store.server import read_replica
from rag.store.server.database import UserDatabase
from rag.store.store import Store
from tests.folders import open_folder
from tests.integration.samples import SPACE, Owner, random_vector


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Cluster, Cluster]]:
    """A primary and its replica."""
    with (
        open_folder() as folder,
        postgres.primary(folder / "primary") as primary,
        postgres.replica(primary, folder / "replica") as following,
    ):
        yield primary, following


@pytest.fixture
def opened(servers: tuple[Cluster, Cluster], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Owner, Cluster]]:
    """A user's store whose searches go to the replica, which is tried again at once whenever it failed."""
    monkeypatch.setattr(read_replica, "REST_SECONDS", 0.0)
    primary, following = servers
    with Store.open(primary.url, pool_size=2, replica_url=following.url) as db:
        yield Owner.of(db, "ann"), following


def searched(db: Store) -> tuple[bool, str]:
    """Whether a replica did a search, and as whom."""

    def ask(bound: UserDatabase) -> tuple[bool, str]:
        asked = "SELECT pg_is_in_recovery() AS there, current_user::text AS account"
        row = bound.read(lambda connection: connection.execute(asked).fetchone()) or {}
        return row["there"], row["account"]

    return UserDatabase(db._database, "ann").search(ask)


def finds(owner: Owner, word: str) -> int:
    """How many chunks, by words and by meaning."""
    chunks = owner.db.of(owner.user_id).chunks
    return len(chunks.lexical(owner.scope, word, 5).chunks) + len(chunks.dense(owner.scope, SPACE, VECTOR, 5))


VECTOR = random_vector(1)
ON_REPLICA, ON_PRIMARY = (True, "pagelight_app"), (False, "pagelight_app")


def test_a_search_is_done_by_the_replica_and_finds_what_was_just_written(opened: tuple[Owner, Cluster]) -> None:
    owner, _ = opened
    for number in range(5):
        owner.ready(f"{number}.pdf", [f"word{number} zebra"])
        assert searched(owner.db) == ON_REPLICA
        assert finds(owner, f"word{number}") > 1
    other = Owner.of(owner.db, "bob")
    assert finds(other, "zebra") == 0


def test_a_replica_that_is_behind_leaves_searches_to_the_primary(opened: tuple[Owner, Cluster]) -> None:
    owner, following = opened
    assert searched(owner.db) == ON_REPLICA
    with psycopg.connect(following.url, autocommit=True) as held:
        held.execute("SELECT pg_wal_replay_pause()")
        owner.ready("late.pdf", ["latecomer"])
        assert searched(owner.db) == ON_PRIMARY
        assert finds(owner, "latecomer") > 1
        held.execute("SELECT pg_wal_replay_resume()")
    assert eventually_on_replica(owner)


def test_a_replica_that_is_down_leaves_searches_to_the_primary(opened: tuple[Owner, Cluster]) -> None:
    owner, following = opened
    owner.ready("kept.pdf", ["keepsake"])
    following.stop()
    assert searched(owner.db) == ON_PRIMARY
    assert finds(owner, "keepsake") > 1
    following.start()
    assert eventually_on_replica(owner)


def test_another_database_is_no_replica(servers: tuple[Cluster, Cluster]) -> None:
    primary, _ = servers
    with Store.open(primary.url, pool_size=2, replica_url=primary.url) as db:
        assert searched(db) == ON_PRIMARY


def eventually_on_replica(owner: Owner) -> bool:
    """It may need some moments to follow again."""
    return any(searched(owner.db) == ON_REPLICA for _ in range(200))
