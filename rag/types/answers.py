"""Questions, answers and their citations."""

import datetime as dt
import string
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

import pydantic

from rag.messages import N_
from rag.types.base import Input, Model
from rag.types.documents import EmbeddingSpace
from rag.types.requests import Auth, AuthField, CollapseWhiteSpace, ProviderOptions, QuestionText, spread
from rag.types.search import Hit, RetrievalOptions, RetrievalRequest, SearchMode, Usage
from rag.types.text import BlockKind, Line, Region


class UsedDocument(Model):
    """A document version that an answer cites or lists as near, with the SHA-256 of its file."""

    id: uuid.UUID
    name: str
    version: int
    sha256: str


class Provenance(Model):
    """The inputs of an answer: resolved question, documents, index, prompts and parameters.

    `retrieval` holds the requested options, `configured` the effective ones; `answering` and `writing` the answer and
    generation options without keys. The model that wrote the answer is in the response.
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
    """Whether a quote was found in its source: verbatim, with corrections, or not at all."""

    VERIFIED = "verified"
    CORRECTED = "corrected"
    UNVERIFIED = "unverified"


class Support(StrEnum):
    """How the sources support a sentence.

    `quoted` is a verbatim extract, or a lone figure or name that its source has. `supported` was judged against its
    sources and holds. Of `partly`, one part is stated and another is missing. `not_stated` is in none of them.
    `contradicted` is denied by them. `not_verified` could not be decided. `uncited` cites nothing.
    """

    QUOTED = "quoted"
    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_STATED = "not_stated"
    NOT_VERIFIED = "not_verified"
    CONTRADICTED = "contradicted"
    UNCITED = "uncited"

    @property
    def is_proved(self) -> bool:
        """Whether the sources say all of the sentence."""
        return self in (Support.QUOTED, Support.SUPPORTED)


class QuotedRow(Model):
    """A quoted table row: its label, and one cell for each column name.

    `caption` is the text above the table, with unit and scale; `asked` is the index of the column that answers.
    """

    label: str
    columns: tuple[str, ...]
    cells: tuple[str, ...]
    caption: str | None = None
    asked: int | None = None


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


class Citation(Model):
    """A claim's source, the verbatim quote in its passage, and the boxes of exactly those characters.

    `citation_id` names one of the answer's sources, `sentence` is the index of the sentence it supports; `lines` are
    the quoted lines. Without support in the passage `quote` is None, `lines` is empty and the verdict is `unverified`.
    `row` is set if the quote is a table row. `page_label` is the number printed on the quote's first page, None if it
    equals the page number. `cells` are the quoted cells of a sheet, of a row the one that answers: “Balance!B14”.
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

    @property
    def shown_quote(self) -> str | None:
        """The quote on one line, table cells separated by dots; column names of several lines column by column."""
        if self.quote is None:
            return None
        rows = [[" ".join(cell.split()) for cell in row.split("\t") if cell.strip()] for row in self.quote.split("\n")]
        if "\t" not in self.quote:
            return " ".join(cell for row in rows for cell in row)
        *names, below = [row for row in rows if row]
        are_named = all(map(_has_letter, (cell for row in names for cell in row))) and not any(map(_has_letter, below))
        if names and are_named and {len(row) for row in names} == {len(below)}:
            return " · ".join(" ".join(column) for column in zip(*names, below, strict=True))
        return " · ".join(cell for row in rows for cell in row)

    def lines_in(self, hit: Hit) -> tuple[Line, ...]:
        """Return the lines of the quote or, without a quote, of the cited chunk."""
        return self.lines or hit.chunk.lines


SAME_WORDS = "words"
"""`Sentence.judged_by` of a sentence that was compared word by word."""

SAME_MEANING = "meaning"
"""`Sentence.judged_by` of a sentence that the entailment model judged."""


class Sentence(Model):
    """A sentence of the displayed answer, without its citation marks, and the ids it cites.

    `support` is None if the sentence makes no verifiable statement; `missing` lists what the quotes lack. `judged_by`
    is "words" or "meaning" for a comparison on this machine, else the language model's name; `probability` is the
    entailment model's, in 0..1. `rests_on` is the kind of the words that alone say it if they are struck out or hidden.
    """

    text: str
    citation_ids: tuple[str, ...] = ()
    start: int
    end: int
    support: Support | None = None
    missing: tuple[str, ...] = ()
    judged_by: str | None = None
    probability: float | None = None
    rests_on: BlockKind | None = pydantic.Field(default=None, exclude_if=lambda kind: kind is None)

    @property
    def basis(self) -> str:
        """What the verdict rests on, in a few words; empty if nothing judged the sentence."""
        if self.judged_by is None or not self.support or self.support in (Support.QUOTED, Support.UNCITED):
            return ""
        if self.judged_by == SAME_WORDS:
            return N_("same words") if self.support is Support.SUPPORTED else ""
        if self.judged_by == SAME_MEANING:
            shown = self.probability is not None and self.support is Support.SUPPORTED
            return N_("same meaning, p = {p}").format(p=f"{self.probability:.2f}") if shown else N_("by meaning")
        return N_("judged by {model}").format(model=self.judged_by)

    @property
    def is_proved(self) -> bool:
        """Whether the sources say all of the sentence."""
        return self.support is not None and self.support.is_proved

    @property
    def is_unproved(self) -> bool:
        """Whether the sentence makes a statement of which no part is proved."""
        return self.support in (Support.NOT_STATED, Support.NOT_VERIFIED, Support.CONTRADICTED, Support.UNCITED)


MAX_TURN_CHARS = 20_000
MAX_TURNS = 100
MAX_HISTORY_CHARS = 200_000


class Message(Input):
    """A message of a conversation."""

    role: Literal["user", "assistant"]
    content: Annotated[str, pydantic.Field(max_length=MAX_TURN_CHARS), CollapseWhiteSpace]


def _bounded_history(history: tuple[Message, ...]) -> tuple[Message, ...]:
    if sum(len(turn.content) for turn in history) > MAX_HISTORY_CHARS:
        raise ValueError(f"The turns should have at most {MAX_HISTORY_CHARS:,} characters together; send the latest")
    return history


History = Annotated[
    tuple[Message, ...], pydantic.Field(max_length=MAX_TURNS), pydantic.AfterValidator(_bounded_history)
]
"""The turns of a conversation before a question, oldest first."""


ReadingChoice = Literal["auto", "ask", "passages", "whole"]


class AnswerOptions(Input):
    """Options of an answer: citations, refusal text, context size and caching.

    With `require_citations`, contradicted sentences are struck through. `drop_unsupported` removes them and those
    that are not verified or cite nothing. With `judge_with_model`, the language model that wrote the answer also judges
    sentences that are in other words than their sources; None leaves that to all but small models. With
    `plan_searches`, all but small models first complete the question and choose what is searched in which documents.
    Sources have at most `max_context_tokens`; None: as set for all users (RAG_MAX_CONTEXT_TOKENS), else by the model's
    context window. A cached answer is used only for the same question, sources, model and options, and is verified
    again.

    `reading` says what a question about a whole document (a summary, a list, "how many …") is answered from, where its
    pages do not fit into one prompt: "whole" has a language model read all pages part by part, whatever is asked;
    "passages" never; "ask" asks back with what it takes. "auto" reads them where that takes little more than a usual
    answer, and else answers from the best passages and tells what reading all takes. Where all pages cannot be read,
    "whole" raises ValidationError or ConfigError, and "ask" answers from the best passages with the reason as hint.
    """

    require_citations: bool = True
    drop_unsupported: bool = False
    insufficient_evidence_message: str | None = None
    max_context_tokens: int | None = pydantic.Field(default=None, ge=200, le=1_000_000)
    use_cache: bool = True
    judge_with_model: bool | None = None
    reading: ReadingChoice = "auto"
    plan_searches: bool = True


class GenerationOptions(Input):
    """The language model and its parameters; `provider` "extractive" quotes the sources without a model.

    `auth` is a key for `provider`, which is then required. Fields may also be grouped under `options`.
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
    """A question about one index."""

    question: QuestionText
    history: History = ()
    generation: GenerationOptions = GenerationOptions()
    options: AnswerOptions = AnswerOptions()


AnswerStatus = Literal["ok", "insufficient_context"]

Confidence = Literal["likely", "unsure"]

LIKELY_THRESHOLD = 0.6
"""Minimum likelihood of an answer with confidence `likely`."""


class RetrievalSummary(Model):
    """The search behind an answer: its options, the number of hits and their `pages` by document.

    `named` are the documents that the question names, by id with the names of their files: only these were searched.
    `searches` are the texts that a language model planned to search for.
    """

    top_k: int = 8
    min_score: float = 0.2
    mode: SearchMode = "hybrid"
    returned: int = 0
    pages: Mapping[uuid.UUID, tuple[int, ...]] = pydantic.Field(
        default_factory=dict, exclude_if=lambda pages: not pages
    )
    named: Mapping[uuid.UUID, str] = pydantic.Field(default_factory=dict, exclude_if=lambda named: not named)
    searches: tuple[str, ...] = pydantic.Field(default=(), exclude_if=lambda searches: not searches)


class WholeReading(Model):
    """What it takes to read all pages that a question is about, in so many `parts`, or what was read if `is_done`.

    Tokens and `cost_usd` are estimates, the cost by the vendor's list price; None if that is unknown. `seconds` is how
    long a model on this machine reads, if its speed is known. `unread` are pages by document whose part failed. All
    this is of the documents `document_ids` and of the `model` (`provider:model`); older answers do not have these.
    """

    document_ids: tuple[uuid.UUID, ...] = pydantic.Field(default=(), exclude_if=lambda ids: not ids)
    model: str | None = pydantic.Field(default=None, exclude_if=lambda model: model is None)
    pages: int
    documents: int = 1
    parts: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
    seconds: float | None = None
    is_done: bool = False
    unread: Mapping[uuid.UUID, tuple[int, ...]] = pydantic.Field(
        default_factory=dict, exclude_if=lambda unread: not unread
    )

    @property
    def rounded_tokens(self) -> int:
        """All tokens, in thousands."""
        return round(self.input_tokens + self.output_tokens, -3)


class AnswerResponse(Model):
    """A grounded answer with citation marks [S1]…; `sources` maps each cited id to its hit, in order.

    An insufficient answer has no sources; `nearest` then holds the passages found, and `hint` says what they lack. The
    `hint` of an extract says that the language model gave no answer that holds; that of another answer, which page was
    read where the question names one whose printed number differs, or from which rows of a spreadsheet it is computed.
    `likelihood` is the probability, in 0..1, that a quoted answer is right, None for a generated one. `question` is the
    question as resolved from the conversation, if that changed it. With `require_citations`, a
    sentence of an `ok` answer has a quote and is not contradicted, unless generation was `stopped`. `follow_ups` are
    questions that the quoted documents can answer. `reading` tells of an answer to a question about whole documents
    what was read, or what reading all pages would take.
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
    reading: WholeReading | None = pydantic.Field(default=None, exclude_if=lambda reading: reading is None)
    model: str
    usage: Usage = Usage()
    provenance: Provenance | None = None

    @property
    def contexts(self) -> tuple[Hit, ...]:
        """The cited hits, without duplicates, in the order of their ids."""
        return tuple(self.sources.values())

    @property
    def cited(self) -> tuple[tuple[Citation, Hit], ...]:
        """Each citation with its hit."""
        return tuple((citation, self.sources[citation.citation_id]) for citation in self.citations)

    @property
    def confidence(self) -> Confidence | None:
        """The confidence that follows from `likelihood`; None without one."""
        if self.likelihood is None:
            return None
        return "likely" if self.likelihood >= LIKELY_THRESHOLD else "unsure"

    @property
    def rows(self) -> Mapping[int, int]:
        """The index of the citation of each sentence that consists of a single quoted table row."""
        counts = Counter(citation.sentence for citation in self.citations)
        return {
            citation.sentence: number
            for number, citation in enumerate(self.citations)
            if citation.row and counts[citation.sentence] == 1
        }

    @property
    def struck(self) -> tuple[int, ...]:
        """The indexes of contradicted sentences, which are shown struck through if citations are required."""
        return self._indexes(Support.CONTRADICTED)

    @property
    def unverified(self) -> tuple[int, ...]:
        """The indexes of sentences marked as not stated, not verified or without a source if citations are required."""
        return self._indexes(Support.NOT_STATED, Support.NOT_VERIFIED, Support.UNCITED)

    def _indexes(self, *supports: Support) -> tuple[int, ...]:
        numbers = (number for number, sentence in enumerate(self.sentences) if sentence.support in supports)
        return tuple(numbers) if self.require_citations else ()

    @property
    def labels(self) -> tuple[str, ...]:
        """A label for each citation: its id, with a letter if several quotes share a source: S1a, S1b."""
        ids = [citation.citation_id for citation in self.citations]
        return tuple(
            f"{own}{string.ascii_lowercase[ids[:i].count(own) % 26]}" if ids.count(own) > 1 else own
            for i, own in enumerate(ids)
        )


class AnswerToken(Model):
    """A piece of a streamed answer, provisional until the AnswerResponse that ends the stream."""

    text: str


class AnswerStage(Model):
    """What is done while no text comes: a model reads the sources, or the sentences are checked or judged by meaning.

    `seconds` is how long a model on this machine reads, from its last prompts. Of pages that are read in `parts`,
    `parts_read` were read. `so_far` is the answer that is being judged, with the verdicts of facts and words; the
    AnswerResponse that ends the stream replaces it.
    """

    name: Literal["reading", "checking", "judging"]
    seconds: float | None = None
    parts: int | None = None
    parts_read: int = 0
    so_far: AnswerResponse | None = None


AnswerEvent = AnswerStage | AnswerToken | AnswerResponse


def with_changed_answer(event: AnswerEvent, change: Callable[[AnswerResponse], AnswerResponse]) -> AnswerEvent:
    """Return `event` with its answer changed, whether it is the answer or the one so far; other events as they are."""
    if isinstance(event, AnswerResponse):
        return change(event)
    if isinstance(event, AnswerStage) and event.so_far is not None:
        return event.model_copy(update={"so_far": change(event.so_far)})
    return event
