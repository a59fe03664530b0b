"""Embedding models without a network or a model file, for tests: vectors follow from the words of a text."""

import hashlib
import math
import re
from collections.abc import Callable

from rag import providers
from rag.types import EmbeddingSpace

WORD = re.compile(r"\w+")

Embed = Callable[[list[str]], list[list[float]]]


def bag_of_words(dimensions: int) -> Embed:
    """Counts of words, each at a place that its hash and the number of dimensions tell; of length 1."""

    def embed(text: str) -> list[float]:
        vector = [1e-3] * dimensions
        for word in WORD.findall(text.lower()):
            vector[
                int.from_bytes(hashlib.sha256(f"{dimensions} {word}".encode()).digest()[:4], "big") % dimensions
            ] += 1
        length = math.hypot(*vector)
        return [value / length for value in vector]

    return lambda texts: [embed(text) for text in texts]


def blind(dimensions: int) -> Embed:
    """The same vector for every text: a model that tells nothing apart."""
    return lambda texts: [[1.0] * dimensions for _ in texts]


def register(registry: providers.Registry, name: str, dimensions: int, embed: Embed | None = None) -> EmbeddingSpace:
    """Make `name:model` known; bags of words unless `embed` is given."""
    model = providers.EmbeddingModel("model", dimensions=dimensions)
    registry.register(name, embed or bag_of_words(dimensions), model)
    return EmbeddingSpace(provider=name, model="model", dimensions=dimensions)
