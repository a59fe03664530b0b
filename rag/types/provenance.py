"""What an answer was made from."""

import datetime as dt
import uuid
from typing import Any

import pydantic

from rag.types.documents import EmbeddingSpace
from rag.types.search import RetrievalOptions
from rag.types.text import Model


class UsedDocument(Model):
    """A document that an answer cites or names as near: which version, and the SHA-256 of its file."""

    id: uuid.UUID
    name: str
    version: int
    sha256: str


class Provenance(Model):
    """What an answer was made from: the question as it was understood, documents, index, prompts and parameters.

    `retrieval` are the options as they were asked for, `configured` as they were in force; `answering` and `writing`
    are how the answer was to be, and who was asked to write it, without any key. The model that did is the response's.
    """

    at: dt.datetime
    question: str
    documents: tuple[UsedDocument, ...]
    index_id: uuid.UUID
    index_name: str
    generation: int
    space: EmbeddingSpace
    prompt_version: str
    program_version: str
    retrieval: RetrievalOptions
    configured: dict[str, Any] = pydantic.Field(default_factory=dict)
    answering: dict[str, Any] = pydantic.Field(default_factory=dict)
    writing: dict[str, Any] = pydantic.Field(default_factory=dict)
