"""Embedding generations, statistics, health findings and glossaries of an index."""

import datetime as dt
import uuid
from enum import StrEnum
from typing import Literal

from rag.types.base import Model
from rag.types.documents import EmbeddingSpace, Progress
from rag.types.text import Completeness


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


class Growth(Model):
    """How much of what an index holds now it held at a moment."""

    at: dt.datetime
    documents: int
    pages: int
    chunks: int


class LengthBand(Model):
    """How many chunks have from `start` up to `end` characters; None: any number from `start` on."""

    start: int
    end: int | None
    chunks: int


class WordlessPages(Model):
    """A document with pages that no chunk has a line on: how many of them, and the first of their numbers."""

    document_id: uuid.UUID
    name: str
    page_count: int
    wordless: int
    first: tuple[int, ...]


class WordlessSummary(Model):
    """Pages without text of a whole index, and the documents that have the most of them."""

    documents: int = 0
    pages: int = 0
    worst: tuple[WordlessPages, ...] = ()


class MapPoint(Model):
    """A chunk on the map of an index, and how it begins."""

    chunk_id: uuid.UUID
    document_id: uuid.UUID
    document_name: str
    page_number: int
    beginning: str
    x: float
    y: float


class EmbeddingMap(Model):
    """Chunks laid out by their vectors on the two directions in which these differ most.

    `spread` is the share of all difference that each of the directions shows, in 0..1. Of more than can be shown
    `points` are a sample of all `chunks` that have a vector.
    """

    points: tuple[MapPoint, ...] = ()
    chunks: int = 0
    spread: tuple[float, float] = (0.0, 0.0)


FindingKind = Literal["failed", "password", "vectors", "pages", "wordless", "incomplete"]
"""`failed`: not read; `password`: waits for one; `vectors`: some of its chunks have none; `pages`: some could not be
read; `wordless`: no text was found in it; `incomplete`: text of the file was not kept."""

MENDABLE: frozenset[FindingKind] = frozenset({"failed", "vectors", "pages", "wordless", "incomplete"})
"""What reading the document again may mend."""


class AilingDocument(Model):
    """A document that something is amiss with; of what can be told that is set which its finding is about."""

    document_id: uuid.UUID
    name: str
    error: str | None = None
    failed_pages: tuple[int, ...] = ()
    missing_vectors: int = 0
    completeness: Completeness | None = None


class HealthFinding(Model):
    """What is amiss with `count` documents of an index; `documents` are the first of them by name."""

    kind: FindingKind
    count: int
    documents: tuple[AilingDocument, ...]


class GlossarySummary(Model):
    """What a glossary calls itself, and how much of each kind it has."""

    title: str
    synonyms: int
    derived: int
    places: int
    items: int
    abbreviations: int
