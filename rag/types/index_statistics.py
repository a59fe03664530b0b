"""What an index is made of, counted for charts, and what is amiss in it."""

import datetime as dt
import uuid
from typing import Literal

from rag.types.text import Completeness, Model


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
