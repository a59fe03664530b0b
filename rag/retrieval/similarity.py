"""Calibrate cosine similarities of an embedding space.

Cosines of different models are not comparable: unrelated texts may have one of 0.05 or 0.7. So the cosines of unrelated
texts are measured once per space, and define its scale.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from rag import types

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.embeddings.base import BaseEmbedding

UNRELATED_SD = 2.1
RELATED_SD = 6.65
"""Start and end of the scale, in standard deviations above the mean cosine of unrelated texts. With the packaged model
these are cosines of 0.55, the best of hundreds of unrelated chunks, and 0.85, which only the best answers reach.
Measured by `python -m benchmarks.scores`; flat from 0.50 to 0.55 and from 0.80 to 0.90."""

UNRELATED_TEXTS = (
    "The tide comes in twice a day, and small boats wait in the bay until the water is deep enough.",
    "Knead the dough for ten minutes, let it rise in a warm place, and bake it until the crust is brown.",
    "The goalkeeper saved two penalties, and the match ended without a goal.",
    "Her grandmother taught her to play the violin before she could read.",
    "Photosynthesis turns light, water and carbon dioxide into sugar and oxygen.",
    "Tenants must give notice in writing three months before they move out.",
    "The bridge was closed to lorries after cracks were found in two of its piers.",
    "In winter the bears sleep in caves and live on the fat of the summer.",
    "The committee met on Tuesday and put off the vote on the new library.",
    "Prices of copper fell as mines in the north went back to work.",
    "Take one tablet in the morning with a glass of water, and none on an empty stomach.",
    "The painter mixed her own colours from earth, chalk and oil.",
    "A triangle with two equal sides has two equal angles.",
    "The train to the coast leaves from platform four every hour.",
    "Restart the device and hold the button until the light turns green.",
    "The treaty ended the war, but neither king kept to it for long.",
    "Bees find their way back to the hive by the position of the sun.",
    "The court dismissed the claim because it had been brought too late.",
    "The valley has vineyards on its southern slopes and forest on the northern ones.",
    "Visitors pay at the gate; children under six enter free of charge.",
    "The engine burns less fuel at a steady speed than in traffic.",
    "He wrote the letter by candlelight and sealed it with red wax.",
    "The comet can be seen low in the west for an hour after sunset.",
    "New staff are trained for two weeks before they serve customers.",
)


class Similarity(NamedTuple):
    """The scale of a space: cosines up to `unrelated` map to 0, from `related` on to 1."""

    unrelated: float
    related: float

    @classmethod
    def of(cls, vectors: Sequence[Sequence[float]]) -> Self:
        """Return the scale of a space from the unit vectors of `UNRELATED_TEXTS`."""
        rows: npt.NDArray[np.float64] = np.asarray(vectors, dtype=np.float64)
        cosines = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
        mean, deviation = float(cosines.mean()), float(cosines.std())
        return cls(mean + UNRELATED_SD * deviation, mean + RELATED_SD * deviation)

    def share(self, cosine: float) -> float:
        """Map a cosine to 0..1."""
        width = max(self.related - self.unrelated, 1e-9)
        return min(max((cosine - self.unrelated) / width, 0.0), 1.0)


class SimilarityScales:
    """A cache of the scales of spaces, each measured on first use."""

    def __init__(self) -> None:
        self._known: dict[types.EmbeddingSpace, Similarity] = {}

    def of(self, space: types.EmbeddingSpace, embedder: "BaseEmbedding") -> Similarity:
        """Return the scale of `space`. Concurrent first calls may both measure it.

        Raises:
            errors.ProviderError: the vendor refuses or is down.
        """
        if space not in self._known:
            self._known[space] = Similarity.of(embedder.get_text_embedding_batch([*UNRELATED_TEXTS]))
        return self._known[space]

    def forget(self, space: types.EmbeddingSpace) -> None:
        """Remove a scale from the cache, as when another model has taken the space's name."""
        self._known.pop(space, None)


COSINES = Similarity(0.0, 1.0)
"""The identity scale, for rankings without fusion."""
