"""Measure latency and recall of search in small and large libraries, compared with PGVectorStore's hybrid search."""

import functools
import math
import random
from collections.abc import Callable, Iterable
from typing import NamedTuple

import psycopg
from llama_index.core.base.embeddings.base import BaseEmbedding
from psycopg import sql
from pydantic import PrivateAttr

from benchmarks import databases, libraries, llama_hybrid
from benchmarks.libraries import Library
from benchmarks.report import Goal, Section, at_least, at_most
from benchmarks.settings import Options, local_config
from benchmarks.timing import Percentiles, percentiles
from rag.engine import RAGEngine
from rag.retrieval import POOL
from rag.store.store import Store
from rag.types import Candidate, SearchRequest

QUICK_SIZES = (50,)
SHARES = (100.0, 1.0, 0.1)
COMPARED_UP_TO = 100_000
"""Maximum chunks of PGVectorStore's table: building its indexes on a million would take an hour."""
QUESTIONS, QUICK_QUESTIONS = 200, 2
QUESTIONS_PER_WARM_UP = 10
"""Number of timed questions per warm-up question."""
RECALL_AT = (10, 100)

HYBRID_MS = {(100_000, 100.0): at_most(60), (1_000_000, 100.0): at_most(300)} | {
    (1_000_000, share): at_most(60) for share in SHARES[1:]
}
"""Goals by chunks in the table and share of the owner."""
FASTER = at_least(3)
RECALL = at_least(0.99)


class GivenVectors(BaseEmbedding):
    """An embedding model with precomputed question vectors, so that only the search is measured."""

    _vectors: dict[str, list[float]] = PrivateAttr()

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        super().__init__(model_name="given")
        self._vectors = vectors

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._vectors[query]

    def _get_text_embedding(self, text: str) -> list[float]:
        """Return a random vector; only the texts that calibrate the space are requested."""
        rng = random.Random(text)
        vector = [rng.gauss(0.0, 1.0) for _ in next(iter(self._vectors.values()))]
        length = math.hypot(*vector)
        return [value / length for value in vector]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._vectors[query]


SPACE_TAKEN = """
    SELECT pg_table_size(%(chunks)s), pg_indexes_size(%(chunks)s), pg_total_relation_size('postings'),
           (SELECT count(*) FROM {chunks})
"""


class Table(NamedTuple):
    """A table of chunks shared by several users."""

    url: str
    store: Store
    size: int

    @property
    def name(self) -> str:
        """The user's name in the figures."""
        return f"{self.size:,} chunks"


def measure(options: Options, section: Section) -> None:
    """Measure three users of each table; the largest owns as many chunks as the size says, others a fraction."""
    sizes = QUICK_SIZES if options.quick else options.chunks
    count = QUICK_QUESTIONS if options.quick else QUESTIONS
    section.about = f"{count} questions per user"
    with databases.server(options) as server_url:
        for size in sizes:
            owners = {share: _library(size, share) for share in SHARES}
            largest = owners[max(SHARES)]
            fill = functools.partial(_fill, owners=[*owners.values()])
            with (
                databases.filled(server_url, str(size), fill, keep=not options.quick) as url,
                Store.open(url) as store,
            ):
                table = Table(url, store, size)
                found = [_measure_owner(section, table, share, library, count) for share, library in owners.items()]
                _measure_space(section, table)
                if size <= COMPARED_UP_TO:
                    _compare(section, table.name, found[0], _theirs(url, largest, count))


def _library(size: int, share: float) -> Library:
    return Library(f"owner of {share:g} %", max(1, round(size * share / 100) // libraries.CHUNKS_PER_DOCUMENT))


def _measure_space(section: Section, table: Table) -> None:
    """Measure bytes on disk per chunk; searches keep the indexes and half of the postings in memory."""
    query = sql.SQL(SPACE_TAKEN).format(chunks=libraries.TABLE)
    with psycopg.connect(table.url) as connection:
        row = connection.execute(query, {"chunks": libraries.TABLE_NAME}).fetchone()
    assert row is not None
    for name, size in zip(("chunks", "indexes of chunks", "postings"), row, strict=False):
        section.add(f"{table.name}: {name}, per chunk", size / row[-1], "bytes")


def _fill(url: str, owners: list[Library]) -> None:
    libraries.fill(url, owners)
    if owners[0].size <= COMPARED_UP_TO:
        llama_hybrid.fill(url, owners[0].user_id)


def _measure_owner(section: Section, table: Table, share: float, library: Library, count: int) -> Percentiles:
    """Add the figures of each kind of search and return those of hybrid search."""
    store, label = table.store, f"{table.name}, {library.user_id}"
    questions = library.questions(count + _warm_up(count))
    scope = library.scope(store)
    embedder = GivenVectors(questions)
    chunks = store.of(library.user_id).chunks
    engine = RAGEngine(local_config(), user_id=library.user_id, store=store, embedders={libraries.SPACE: embedder})

    def dense(question: str) -> list[Candidate]:
        return chunks.dense(scope, libraries.SPACE, questions[question], POOL)

    _add(section, f"{label}: dense", _timed(dense, questions, count))
    _add(section, f"{label}: lexical", _timed(lambda question: chunks.lexical(scope, question, POOL), questions, count))
    hybrid = _timed(
        lambda question: engine.search(SearchRequest(query=question, index_name=libraries.INDEX_NAME)), questions, count
    )
    _add(section, f"{label}: hybrid", hybrid, HYBRID_MS.get((table.size, share)))
    pairs = [
        ([candidate.chunk_id for candidate in dense(question)], library.nearest(table.url, vector, max(RECALL_AT)))
        for question, vector in questions.items()
    ]
    for k in RECALL_AT:
        recalls = [len({*found[:k]} & {*true[:k]}) / len(true[:k]) for found, true in pairs]
        section.add(f"{label}: dense recall@{k}", sum(recalls) / len(recalls), "", RECALL)
    return hybrid


def _theirs(url: str, library: Library, count: int) -> Percentiles:
    """Measure PGVectorStore's hybrid search with the same pools and questions."""
    questions = library.questions(count + _warm_up(count))
    store = llama_hybrid.LlamaHybrid(url)
    found = _timed(lambda question: store.search(question, questions[question], POOL), questions, count)
    store.close()
    return found


def _compare(section: Section, label: str, ours: Percentiles, theirs: Percentiles) -> None:
    _add(section, f"{label}: PGVectorStore's hybrid", theirs)
    section.add(f"{label}: our hybrid is faster, p50", theirs.p50 / ours.p50, "×")
    section.add(f"{label}: our hybrid is faster, p95", theirs.p95 / ours.p95, "×", FASTER)


def _timed(search: Callable[[str], object], questions: Iterable[str], count: int) -> Percentiles:
    """Time the last `count` questions after running the others for warm-up."""
    asked = [*questions]
    for question in asked[:-count]:
        search(question)
    return percentiles(search, asked[-count:])


def _warm_up(count: int) -> int:
    return max(1, count // QUESTIONS_PER_WARM_UP)


def _add(section: Section, name: str, found: Percentiles, goal: Goal | None = None) -> None:
    section.add(f"{name} p50", found.p50, "ms")
    section.add(f"{name} p95", found.p95, "ms", goal)
