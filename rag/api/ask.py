"""Models of `/ask`: a question, its answer, and its sources as `name#chunk`."""

import datetime as dt
import uuid
from typing import Any

import pydantic

from rag import prompts, types
from rag.contract import copy_fields, source_of
from rag.types.search import AuthorPart, FilterDocuments, FilterSources, FilterTags, SavedName, SourcePrefix

REWRITES = 3
TOP_K = 6
DIVERSITY = 0.3
"""Search settings of `/ask`: three rewrites and a hypothetical answer if there is a language model, hybrid retrieval
with reciprocal rank fusion, and six diverse results."""
SCORES = {"vector_score", "lexical_score", "final_score"}


class AskFilters(types.Model):
    """The documents to read: a subset of `Filters`."""

    sources: FilterSources = ()
    source_prefix: SourcePrefix | None = None
    document_ids: FilterDocuments = ()
    tags: FilterTags = ()
    author: AuthorPart | None = None
    dated_after: dt.date | None = None
    dated_before: dt.date | None = None
    saved: SavedName | None = None


class AskRequest(types.Model):
    """A question to one index."""

    question: types.QuestionText
    filters: AskFilters = AskFilters()
    must_include: tuple[types.Keyword, ...] = pydantic.Field(default=(), max_length=20)
    must_include_mode: types.MustIncludeMode = "all"
    index_name: types.IndexName = types.DEFAULT_INDEX
    history: types.History = ()
    reading: types.ReadingChoice = "auto"

    def to_answer_request(self, *, has_language_model: bool) -> types.AnswerRequest:
        """Convert to the engine's request."""
        options = types.RetrievalOptions(
            top_k=TOP_K,
            min_score=0.0,
            fusion="rrf",
            multi_query=REWRITES if has_language_model else 0,
            hyde=has_language_model,
            must_include=self.must_include,
            must_include_mode=self.must_include_mode,
            diversity=DIVERSITY,
            filters=types.Filters(**self.filters.model_dump()),
        )
        return types.AnswerRequest(
            question=self.question,
            index_name=self.index_name,
            history=self.history,
            retrieval=options,
            options=types.AnswerOptions(insufficient_evidence_message=prompts.NOT_FOUND_SENTINEL, reading=self.reading),
        )


class AskCitation(types.Model):
    """The quote that supports a sentence of the answer, and its place. Boxes are points of the displayed page.

    `sentence` counts from 0, pages and lines from 1; `quote` is null where nothing supports the sentence.
    `page_label` is the number printed on the page, null if it equals `page`. `cells` are cells of a spreadsheet that
    contain the quote, such as “Balance!B14”.
    """

    id: str
    sentence: int
    source: str
    document_id: uuid.UUID
    name: str
    page: int
    page_label: str | None
    cells: str | None
    lines: tuple[int, int]
    quote: str | None
    boxes: tuple[types.Region, ...]
    verdict: types.Verdict
    unsupported_numbers: tuple[str, ...]
    set_apart: tuple[str, ...] = pydantic.Field(default=(), exclude_if=lambda labels: not labels)

    @classmethod
    def of(cls, citation: types.Citation, hit: types.Hit) -> "AskCitation":
        """Convert a citation of a hit."""
        lines = citation.lines_in(hit)
        return copy_fields(
            cls,
            citation,
            id=citation.citation_id,
            source=source(hit),
            document_id=hit.chunk.document_id,
            name=hit.document_name,
            page=lines[0].page_number,
            lines=(lines[0].number, lines[-1].end),
            set_apart=types.set_apart_labels(lines),
            boxes=citation.regions,
        )


class AskSentence(types.Model):
    """A sentence of an answer: whether its quotes prove it (null if it states no fact), and what is missing in them.

    A `struck` sentence is unreliable: it has no citation, or none that supports it.
    """

    text: str
    support: types.Support | None
    missing: tuple[str, ...]
    struck: bool


class AskResponse(types.Model):
    """An answer from the documents alone.

    `reading` is what reading whole documents takes or took. `debug` is present only if the server runs with RAG_DEBUG.
    """

    status: types.AnswerStatus
    answer: str
    sources: tuple[str, ...]
    sentences: tuple[AskSentence, ...]
    citations: tuple[AskCitation, ...]
    reading: types.WholeReading | None = pydantic.Field(default=None, exclude_if=lambda reading: reading is None)
    debug: dict[str, Any] | None = pydantic.Field(default=None, exclude_if=lambda debug: debug is None)

    @classmethod
    def of(cls, response: types.AnswerResponse, *, debug: bool) -> "AskResponse":
        """Convert an answer."""
        return copy_fields(
            cls,
            response,
            sources=tuple(dict.fromkeys(source(hit) for hit in response.contexts)),
            sentences=tuple(
                copy_fields(AskSentence, sentence, struck=number in response.struck)
                for number, sentence in enumerate(response.sentences)
            ),
            citations=tuple(AskCitation.of(*cited) for cited in response.cited),
            debug=_how_it_was_made(response) if debug else None,
        )


def source(hit: types.Hit) -> str:
    """Name a chunk as `name#chunk`: the displayed source of its document, and its number from 0."""
    return f"{source_of(hit)}#{hit.chunk.ordinal}"


def _how_it_was_made(response: types.AnswerResponse) -> dict[str, Any]:
    scores = [{"source": source(hit), **hit.model_dump(by_alias=True, include=SCORES)} for hit in response.contexts]
    return {
        "model": response.model,
        "retrieval": response.retrieval.model_dump(by_alias=True, exclude={"pages"}),
        "usage": response.usage.model_dump(by_alias=True),
        "contexts": scores,
    }
