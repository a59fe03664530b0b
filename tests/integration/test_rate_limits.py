"""How often somebody asks: counted in one place for all processes."""

import time
from concurrent.futures import ThreadPoolExecutor

import psycopg

from rag.store.store import Store

PER_MINUTE = 5
SHARE_SECONDS = 60 / PER_MINUTE


def test_processes_count_together(database_url: str) -> None:
    with Store.open(database_url, pool_size=4) as here, Store.open(database_url, pool_size=4) as there:
        stores = [here, there] * 20
        began = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            waits = [*pool.map(lambda db: db.rate_limits.count("ada", PER_MINUTE), stores)]
        assert waits.count(0.0) == PER_MINUTE
        took = time.monotonic() - began  # a request may wait for one that began later, from which its time is counted
        assert all(0 <= wait <= SHARE_SECONDS + took for wait in waits)
        assert here.rate_limits.count("bob", PER_MINUTE) == 0.0


def test_who_waits_as_long_as_they_were_told_is_admitted(database_url: str) -> None:
    with Store.open(database_url, pool_size=2) as db:
        assert [db.rate_limits.count("ada", 1), db.rate_limits.count("bob", 1)] == [0.0, 0.0]
        assert 50 < db.rate_limits.count("ada", 1) <= 60
        _let_pass(database_url, seconds=61)
        assert db.rate_limits.count("ada", 1) == 0.0
        assert db.rate_limits.count("ada", 1) > 0
        db.rate_limits.forget()
        with psycopg.connect(database_url) as connection:
            assert connection.execute("SELECT who FROM request_rates").fetchall() == [("ada",)]


def _let_pass(url: str, *, seconds: int) -> None:
    """As if so much time had gone by."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE request_rates SET used_until = used_until - make_interval(secs => %s)", [seconds])
