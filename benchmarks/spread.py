"""Users with libraries of very different sizes, on a plain PostgreSQL server or spread over a Citus cluster."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks import databases, libraries, material, timing
from benchmarks.libraries import CHUNKS_PER_DOCUMENT, MADE_DOCUMENTS, SPACE, Library
from benchmarks.search import GivenVectors
from benchmarks.settings import Clusters, local_config
from rag.engine import Installation
from rag.store.store import Store
from rag.types import AnswerRequest, SearchRequest

PLAIN = "plain"


class SpreadLibrary(Library):
    """A user's documents: texts of a pool, each with vectors around that of its topic."""

    @property
    def made(self) -> int:
        """The number of documents; none is copied."""
        return self.documents

    def texts(self, document: int) -> list[str]:
        """Return the texts of the document's chunks."""
        return _texts(document % MADE_DOCUMENTS)

    def vectors(self, document: int) -> list[list[float]]:
        """Return the unit vectors of the document's chunks."""
        topic = self._rng("topic", document % MADE_DOCUMENTS).standard_normal(SPACE.dimensions)
        noise = self._rng("noise", self.user_id, document).standard_normal((CHUNKS_PER_DOCUMENT, SPACE.dimensions))
        vectors: list[list[float]] = material.normalised(topic + noise).tolist()
        return vectors

    def question_vector(self, question: str, number: int) -> list[float]:
        """Return a vector near that of the chunk."""
        document, ordinal = divmod(number, CHUNKS_PER_DOCUMENT)
        noise = material.normalised(self._rng(question).standard_normal(SPACE.dimensions))
        vector: list[float] = material.normalised(np.array(self.vectors(document)[ordinal]) + noise / 2).tolist()
        return vector


@cache
def _texts(document: int) -> list[str]:
    return Library("", MADE_DOCUMENTS).texts(document)


def users(options: Clusters) -> list[Library]:
    """Return the users' documents, evenly on a logarithmic scale, the smallest library first."""
    sizes = np.geomspace(*options.user_chunks, options.users) / CHUNKS_PER_DOCUMENT
    return [SpreadLibrary(f"user {number}", max(1, round(size))) for number, size in enumerate(sizes.tolist())]


Questions = Mapping[Library, dict[str, list[float]]]
"""Questions of each user, with their vectors."""


@dataclass(frozen=True)
class Server:
    """A database with our schema on a plain server or on a cluster; distributing its tables took so many seconds."""

    name: str
    url: str
    store: Store
    installation: Installation
    seconds: float = 0.0

    def search(self, user: Library, question: str) -> object:
        """Search as users do."""
        engine = self.installation.for_user(user.user_id)
        return engine.search(SearchRequest(query=question, index_name=libraries.INDEX_NAME))

    def answer(self, user: Library, question: str) -> object:
        """Answer without a language model."""
        engine = self.installation.for_user(user.user_id)
        return engine.answer(AnswerRequest(question=question, index_name=libraries.INDEX_NAME))


@contextmanager
def plain(server_url: str, questions: Questions) -> Iterator[Server]:
    """Yield a new database on a plain server."""
    with databases.temporary(server_url) as url, Store.open(url) as store:
        yield Server(PLAIN, url, store, installation(store, questions))


@contextmanager
def cluster(coordinator_url: str, questions: Questions) -> Iterator[Server]:
    """Yield a new distributed database."""
    with databases.on_all_nodes(coordinator_url) as url, Store.open(url) as store:
        seconds = timing.seconds(store.distribute)
        placed = store.distribution()
        nodes = sum(node.shards > 0 for node in placed.nodes) if placed else 0
        yield Server(f"{nodes} nodes", url, store, installation(store, questions), seconds)


def installation(store: Store, questions: Questions) -> Installation:
    """Return an installation on this store that knows the vectors of the questions."""
    vectors = {text: vector for own in questions.values() for text, vector in own.items()}
    return Installation(local_config(), store=store, embedders={SPACE: GivenVectors(vectors)})
