"""Questions, answers and their citations; conversations."""

import datetime as dt
import uuid
from enum import StrEnum
from typing import Any, Literal

import pydantic

from rag.types.search import Hit, RetrievalOptions, Usage
from rag.types.text import Model, Region


class Verdict(StrEnum):
    """How well a quote stands in its source: word for word, nearly so and put right, or not at all."""

    VERIFIED = "verified"
    CORRECTED = "corrected"
    UNVERIFIED = "unverified"


class Citation(Model):
    """A claim's source: the hit, the verbatim quote in its passage, and the boxes of exactly those characters.

    `sentence` is the index of the answer's sentence it supports; `quote` is None when nothing in the passage
    supports the sentence (verdict `unverified`).
    """

    citation_id: str
    sentence: int
    hit: Hit
    quote: str | None
    regions: tuple[Region, ...]
    verdict: Verdict
    unsupported_numbers: tuple[str, ...] = ()


class Sentence(Model):
    """A sentence of the answer as shown, without its citation marks, and the ids it cites."""

    text: str
    citation_ids: tuple[str, ...] = ()
    start: int
    end: int


class Message(Model):
    """A turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str = pydantic.Field(max_length=100_000)


class AnswerOptions(Model):
    """What counts as an answer."""

    require_citations: bool = True
    insufficient_evidence_message: str | None = None


class GenerationOptions(Model):
    """Which model writes, and how. `provider` "extractive" quotes the sources and needs no model."""

    provider: str | None = None
    model: str | None = None
    temperature: float = pydantic.Field(default=0.1, ge=0.0, le=2.0)
    max_output_tokens: int = pydantic.Field(default=1024, ge=1, le=100_000)


class AnswerRequest(Model):
    """A question to one index."""

    index_name: str = "default"
    question: str = pydantic.Field(min_length=1, max_length=4000)
    history: tuple[Message, ...] = ()
    retrieval: RetrievalOptions = RetrievalOptions()
    generation: GenerationOptions = GenerationOptions()
    options: AnswerOptions = AnswerOptions()


AnswerStatus = Literal["ok", "insufficient_context"]


class AnswerResponse(Model):
    """A grounded answer. `answer` carries its marks [S1]…; `nearest` are the passages found when it is insufficient."""

    status: AnswerStatus
    answer: str
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    nearest: tuple[Hit, ...] = ()
    retrieval: dict[str, Any] = pydantic.Field(default_factory=dict)
    model: str
    usage: Usage = Usage()


class AnswerToken(Model):
    """A piece of a streamed answer; the pieces are provisional until the AnswerResponse that ends the stream."""

    text: str


AnswerEvent = AnswerToken | AnswerResponse


class Conversation(Model):
    """A chat of one user over one index."""

    id: uuid.UUID
    user_id: str
    index_id: uuid.UUID
    title: str
    document_ids: tuple[uuid.UUID, ...] = ()
    created_at: dt.datetime
    updated_at: dt.datetime


class ChatMessage(Model):
    """A kept turn; an assistant's turn keeps its whole response, so that its citations light up again."""

    id: uuid.UUID
    conversation_id: uuid.UUID
    role: Literal["user", "assistant"]
    content: str
    response: AnswerResponse | None = None
    created_at: dt.datetime
