"""The vectors of several embedding models beside each other, and how well each of them serves."""

import datetime as dt
import uuid
from enum import StrEnum

from rag.types.documents import EmbeddingSpace, Progress
from rag.types.text import Model


class GenerationState(StrEnum):
    """What a generation is to its index. It follows from the rows there are, so it is right whatever was killed."""

    BUILDING = "building"
    """Documents lack vectors: a build is running, was broken off, or documents came since."""
    READY = "ready"
    """Complete, and can be switched to."""
    ACTIVE = "active"
    """The one that is searched."""
    RETIRED = "retired"
    """The one that was searched before, and can be rolled back to."""


class EmbeddingGeneration(Model):
    """The vectors of one embedding model for the chunks of an index; `progress` counts chunks."""

    user_id: str
    index_id: uuid.UUID
    generation: int
    space: EmbeddingSpace
    state: GenerationState
    progress: Progress
    created_at: dt.datetime


class GenerationScore(Model):
    """How well a generation serves a set of questions: means in 0..1."""

    generation: EmbeddingGeneration
    recall_at_5: float
    mrr: float


class GenerationComparison(Model):
    """The active generation and another on the same questions; `missing` are files that are not in the index."""

    questions: int
    missing: tuple[str, ...] = ()
    active: GenerationScore
    candidate: GenerationScore

    @property
    def is_no_worse(self) -> bool:
        """Whether the other one finds at least as much, and at least as high up."""
        new, old = self.candidate, self.active
        return new.recall_at_5 >= old.recall_at_5 and new.mrr >= old.mrr
