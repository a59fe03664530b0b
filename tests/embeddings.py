"""Embedding models for tests, without a network or model files; vectors depend on the words of a text."""

import hashlib
import math
import re
from collections.abc import Callable

from rag import providers
from rag.types import EmbeddingSpace

WORD = re.compile(r"\w+")

Embed = Callable[[list[str]], list[list[float]]]


def bag_of_words(dimensions: int) -> Embed:
    """Return the normalised word counts, each at a position given by its hash."""

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
    """Return the same vector for every text."""
    return lambda texts: [[1.0] * dimensions for _ in texts]


def register(registry: providers.Registry, name: str, dimensions: int, embed: Embed | None = None) -> EmbeddingSpace:
    """Register `name:model`, by default with bags of words."""
    model = providers.EmbeddingModel("model", dimensions=dimensions)
    registry.register(name, embed or bag_of_words(dimensions), model)
    return EmbeddingSpace(provider=name, model="model", dimensions=dimensions)
