"""Caches: kept per user, counted, and cleared as a whole or by kind."""

import pytest

from rag import store
from tests.integration.samples import SPACE, random_vector


def stats(db: store.Store, kind: store.CacheKind, user_id: str = "ann") -> store.CacheStats:
    (found,) = [cache for cache in db.caches.stats(user_id) if cache.kind == kind]
    return found


def test_completions_are_kept_and_replaced(db: store.Store) -> None:
    assert db.caches.completion("ann", "hyde", b"key") is None
    db.caches.keep_completion("ann", "hyde", b"key", "first\x00")
    assert db.caches.completion("ann", "hyde", b"key") == "first"
    db.caches.keep_completion("ann", "hyde", b"key", "second")
    assert db.caches.completion("ann", "hyde", b"key") == "second"
    assert db.caches.completion("ann", "rewrites", b"key") is None


def test_sizes_and_hit_rates(db: store.Store) -> None:
    assert [cache.kind for cache in db.caches.stats("ann")] == [*store.CACHE_KINDS]
    assert stats(db, "answers").hit_rate is None
    db.caches.keep_completion("ann", "answers", b"1234", "six by")
    for key in (b"1234", b"1234", b"1234", b"other"):
        db.caches.completion("ann", "answers", key)
    assert stats(db, "answers") == store.CacheStats("answers", entries=1, bytes=10, hits=3, misses=1)
    assert stats(db, "answers").hit_rate == pytest.approx(0.75)
    db.embedding_cache.put("ann", SPACE, {b"a": random_vector("a")})
    db.embedding_cache.get("ann", SPACE, [b"a", b"b"])
    assert stats(db, "embeddings") == store.CacheStats("embeddings", 1, SPACE.dimensions * 4 + 1, hits=1, misses=1)


def test_clearing_takes_the_kinds_asked_for_of_one_user(db: store.Store) -> None:
    for user_id in ("ann", "bob"):
        db.caches.keep_completion(user_id, "answers", b"key", "answer")
        db.caches.keep_completion(user_id, "hyde", b"key", "hyde")
        db.embedding_cache.put(user_id, SPACE, {b"a": random_vector("a")})
    assert db.caches.clear("ann", ["answers"]) == 1
    assert db.caches.completion("ann", "answers", b"key") is None
    assert db.caches.completion("ann", "hyde", b"key") == "hyde"
    assert db.caches.clear("ann") == 2
    assert not any(any(cache[1:]) for cache in db.caches.stats("ann"))
    assert db.caches.completion("bob", "answers", b"key") == "answer"
    assert db.embedding_cache.get("bob", SPACE, [b"a"])
