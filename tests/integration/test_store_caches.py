"""Caches: kept per user, counted, and cleared as a whole or by kind."""

import pytest

from rag.store.conversations.caches import CACHE_KINDS, CacheKind, CacheStats
from rag.store.store import Store
from tests.integration.samples import SPACE, random_vector


def stats(db: Store, kind: CacheKind, user_id: str = "ann") -> CacheStats:
    (found,) = [cache for cache in db.of(user_id).caches.stats() if cache.kind == kind]
    return found


def test_completions_are_kept_and_replaced(db: Store) -> None:
    assert db.of("ann").caches.recall("hyde", b"key") is None
    db.of("ann").caches.keep("hyde", b"key", "first\x00")
    assert db.of("ann").caches.recall("hyde", b"key") == "first"
    db.of("ann").caches.keep("hyde", b"key", "second")
    assert db.of("ann").caches.recall("hyde", b"key") == "second"
    assert db.of("ann").caches.recall("rewrites", b"key") is None


def test_sizes_and_hit_rates(db: Store) -> None:
    assert [cache.kind for cache in db.of("ann").caches.stats()] == [*CACHE_KINDS]
    assert stats(db, "answers").hit_rate is None
    db.of("ann").caches.keep("answers", b"1234", "six by")
    for key in (b"1234", b"1234", b"1234", b"other"):
        db.of("ann").caches.recall("answers", key)
    assert stats(db, "answers") == CacheStats("answers", entries=1, bytes=10, hits=3, misses=1)
    assert stats(db, "answers").hit_rate == pytest.approx(0.75)
    db.of("ann").embedding_cache.put(SPACE, {b"a": random_vector("a")})
    db.of("ann").embedding_cache.get(SPACE, [b"a", b"b"])
    assert stats(db, "embeddings") == CacheStats("embeddings", 1, SPACE.dimensions * 4 + 1, hits=1, misses=1)


def test_clearing_takes_the_kinds_asked_for_of_one_user(db: Store) -> None:
    for user_id in ("ann", "bob"):
        db.of(user_id).caches.keep("answers", b"key", "answer")
        db.of(user_id).caches.keep("hyde", b"key", "hyde")
        db.of(user_id).embedding_cache.put(SPACE, {b"a": random_vector("a")})
    assert db.of("ann").caches.clear(["answers"]) == 1
    assert db.of("ann").caches.recall("answers", b"key") is None
    assert db.of("ann").caches.recall("hyde", b"key") == "hyde"
    assert db.of("ann").caches.clear() == 2
    assert not any(any(cache[1:]) for cache in db.of("ann").caches.stats())
    assert db.of("bob").caches.recall("answers", b"key") == "answer"
    assert db.of("bob").embedding_cache.get(SPACE, [b"a"])
