"""Questions, answers and their citations."""

import datetime as dt
import string
import uuid
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

import pydantic

from rag.types.base import TEXT, Input, Model
from rag.types.documents import EmbeddingSpace
from rag.types.requests import Auth, AuthField, ProviderOptions, spread
from rag.types.search import Hit, RetrievalOptions, RetrievalRequest, SearchMode, Usage
from rag.types.text import Line, Region


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


class Verdict(StrEnum):
    """How well a quote stands in its source: word for word, nearly so and put right, or not at all."""

    VERIFIED = "verified"
    CORRECTED = "corrected"
    UNVERIFIED = "unverified"


class Support(StrEnum):
    """Whether the quotes of a sentence prove it: all of it, a part of it, nothing of it, or it cites nothing at all."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"
    UNCITED = "uncited"


class QuotedRow(Model):
    """A row of a table as it is quoted: its label, and under the name of each column its cell.

    `caption` is what stands above the table, with its unit and scale; `asked` the index of the column that answers.
    """

    label: str
    columns: tuple[str, ...]
    cells: tuple[str, ...]
    caption: str | None = None
    asked: int | None = None


class Citation(Model):
    """A claim's source, the verbatim quote in its passage, and the boxes of exactly those characters.

    `citation_id` names one of the answer's sources, `sentence` is the index of the sentence it supports; `lines` are
    those that the quote touches. `quote` is None when nothing in the passage supports the sentence (verdict
    `unverified`), and has no lines then. `row` is the quote where it is a row of a table. `page_label` is the number
    printed on the page that it begins on, None where that is the page's own. `cells` are those of a sheet that it
    stands in, of a row the one that answers: “Balance!B14”.
    """

    citation_id: str
    sentence: int
    quote: str | None
    lines: tuple[Line, ...] = ()
    regions: tuple[Region, ...]
    verdict: Verdict
    unsupported_numbers: tuple[str, ...] = ()
    row: QuotedRow | None = None
    page_label: str | None = None
    cells: str | None = None

    def lines_in(self, hit: Hit) -> tuple[Line, ...]:
        """Where it stands in the hit that it cites: the lines of the quote or, without one, of the chunk."""
        return self.lines or hit.chunk.lines


class Sentence(Model):
    """A sentence of the answer as shown, without its citation marks, and the ids it cites.

    `support` says whether its quotes prove it, None where it states nothing that could be proved; `missing` what they
    do not hold, as the sentence has it.
    """

    text: str
    citation_ids: tuple[str, ...] = ()
    start: int
    end: int
    support: Support | None = None
    missing: tuple[str, ...] = ()

    @property
    def is_unproved(self) -> bool:
        """Whether it states something, and nothing that is quoted holds it."""
        return self.support in (Support.UNSUPPORTED, Support.UNCITED)


class Message(Input):
    """A turn of a conversation."""

    role: Literal["user", "assistant"]
    content: str = pydantic.Field(max_length=100_000)


class AnswerOptions(Input):
    """What counts as an answer, how much of what was found is read for it, and whether an earlier one will do.

    With `require_citations`, sentences that are not proved are marked as such, or with `drop_unsupported` left out.
    An earlier answer is taken up only for the same question, sources, model and options; it is checked again.
    """

    require_citations: bool = True
    drop_unsupported: bool = False
    insufficient_evidence_message: str | None = None
    max_context_tokens: int = pydantic.Field(default=10_000, ge=200, le=1_000_000)
    use_cache: bool = True


class GenerationOptions(Input):
    """Which model writes, and how. `provider` "extractive" quotes the sources and needs no model.

    `auth` is a key for that provider, who must then be named. What a request groups as `options` is taken up too.
    """

    provider: str | None = None
    model: str | None = None
    temperature: float = pydantic.Field(default=0.1, ge=0.0, le=2.0)
    max_output_tokens: int = pydantic.Field(default=1024, ge=1, le=100_000)
    auth: AuthField = Auth()
    provider_options: ProviderOptions = ProviderOptions()

    @pydantic.model_validator(mode="before")
    @classmethod
    def _spread_options(cls, values: object) -> object:
        return spread(values, "options")


class AnswerRequest(RetrievalRequest):
    """A question to one index."""

    question: str = pydantic.Field(min_length=1, max_length=4000, pattern=TEXT)
    history: tuple[Message, ...] = ()
    generation: GenerationOptions = GenerationOptions()
    options: AnswerOptions = AnswerOptions()


AnswerStatus = Literal["ok", "insufficient_context"]

Confidence = Literal["likely", "unsure"]

LIKELY = 0.6
"""The likelihood from which on an answer is called likely, below it unsure."""


class RetrievalSummary(Model):
    """How an answer's sources were searched, and how many places were found: on which `pages` of which documents."""

    top_k: int = 8
    min_score: float = 0.2
    mode: SearchMode = "hybrid"
    returned: int = 0
    pages: Mapping[uuid.UUID, tuple[int, ...]] = pydantic.Field(
        default_factory=dict, exclude_if=lambda pages: not pages
    )


class AnswerResponse(Model):
    """A grounded answer. `answer` carries its marks [S1]…; `sources` has the hit of each id that is cited, in order.

    An insufficient answer has none; `nearest` are the passages found then, and `hint` says what was not found among
    them. `likelihood` is the probability, in 0..1, that a quoted answer is right, None for a written one. `question` is
    what was answered, where what was asked could not be understood without the conversation. Where `require_citations`
    was asked for, at least one sentence of an `ok` answer is supported, unless it was `stopped` while it was written.
    `follow_ups` are questions that the documents it quotes can answer next. `provenance` is what it was made from.
    """

    status: AnswerStatus
    answer: str
    question: str | None = None
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    sources: Mapping[str, Hit] = pydantic.Field(default_factory=dict)
    nearest: tuple[Hit, ...] = ()
    hint: str | None = None
    likelihood: float | None = None
    require_citations: bool = True
    stopped: bool = False
    follow_ups: tuple[str, ...] = ()
    retrieval: RetrievalSummary = RetrievalSummary()
    model: str
    usage: Usage = Usage()
    provenance: Provenance | None = None

    @property
    def contexts(self) -> tuple[Hit, ...]:
        """The hits that are cited, each once, in the order of their ids."""
        return tuple(self.sources.values())

    @property
    def cited(self) -> tuple[tuple[Citation, Hit], ...]:
        """Each citation with the hit that it cites."""
        return tuple((citation, self.sources[citation.citation_id]) for citation in self.citations)

    @property
    def confidence(self) -> Confidence | None:
        """What an answer of its likelihood is called; None if nobody reckoned one."""
        if self.likelihood is None:
            return None
        return "likely" if self.likelihood >= LIKELY else "unsure"

    @property
    def rows(self) -> Mapping[int, int]:
        """The sentences that are nothing but a row of a table, each with its only citation, which has the row."""
        cited: dict[int, list[int]] = {}
        for number, citation in enumerate(self.citations):
            cited.setdefault(citation.sentence, []).append(number)
        return {
            own: numbers[0] for own, numbers in cited.items() if len(numbers) == 1 and self.citations[numbers[0]].row
        }

    @property
    def struck(self) -> tuple[int, ...]:
        """The sentences, by number, that are shown struck through: those not proved, where citations are required."""
        unproved = (number for number, sentence in enumerate(self.sentences) if sentence.is_unproved)
        return tuple(unproved) if self.require_citations else ()

    @property
    def labels(self) -> tuple[str, ...]:
        """A name for each citation: its id, and a letter when several quotes come from the same source: S1a, S1b."""
        ids = [citation.citation_id for citation in self.citations]
        return tuple(
            f"{own}{string.ascii_lowercase[ids[:i].count(own) % 26]}" if ids.count(own) > 1 else own
            for i, own in enumerate(ids)
        )


class AnswerToken(Model):
    """A piece of a streamed answer; the pieces are provisional until the AnswerResponse that ends the stream."""

    text: str


AnswerEvent = AnswerToken | AnswerResponse
