"""Embedding generations and health findings of an index."""

import datetime as dt
import uuid
from enum import StrEnum
from typing import Literal

from rag.types.base import Model
from rag.types.documents import EmbeddingSpace, Progress
from rag.types.text import Completeness


class GenerationState(StrEnum):
    """The state of an embedding generation, derived from the stored rows and so correct after a crash."""

    BUILDING = "building"
    """Some chunks have no vector: a build runs or was interrupted, or documents were added."""
    READY = "ready"
    """Complete; can be activated."""
    ACTIVE = "active"
    """Used for search."""
    RETIRED = "retired"
    """Used for search before; can be rolled back to."""


class EmbeddingGeneration(Model):
    """The vectors of one embedding model for the chunks of an index; `progress` counts chunks."""

    user_id: str
    index_id: uuid.UUID
    generation: int
    space: EmbeddingSpace
    state: GenerationState
    progress: Progress
    created_at: dt.datetime


class WordlessPages(Model):
    """A document with pages that have no text: their count and the first page numbers."""

    document_id: uuid.UUID
    name: str
    page_count: int
    wordless: int
    first: tuple[int, ...]


class WordlessSummary(Model):
    """The pages without text of an index, and the documents with the most of them."""

    documents: int = 0
    pages: int = 0
    worst: tuple[WordlessPages, ...] = ()


FindingKind = Literal["failed", "password", "vectors", "pages", "wordless", "incomplete"]
"""`failed`: not read; `password`: waits for one; `vectors`: some of its chunks have none; `pages`: some could not be
read; `wordless`: no text was found in it; `incomplete`: text of the file was not kept."""

REPAIRABLE: frozenset[FindingKind] = frozenset({"failed", "vectors", "pages", "wordless", "incomplete"})
"""Findings that re-reading the document may fix."""


class AilingDocument(Model):
    """A document with a problem; only the fields that concern the finding are set."""

    document_id: uuid.UUID
    name: str
    error: str | None = None
    failed_pages: tuple[int, ...] = ()
    missing_vectors: int = 0
    completeness: Completeness | None = None


class HealthFinding(Model):
    """A problem that `count` documents of an index have; `documents` are the first by name."""

    kind: FindingKind
    count: int
    documents: tuple[AilingDocument, ...]
