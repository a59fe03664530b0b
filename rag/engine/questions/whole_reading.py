"""Read all pages that a question is about: decide whether it is about whole documents, what that takes, and do it."""

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from rag import errors, prompts, providers, types
from rag.answering.extraction import summary
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.extraction.whole_document_questions import asks_whole_document
from rag.answering.generation.context import MIN_SOURCE_TOKENS, default_budget
from rag.answering.generation.part_reading import Part, estimate, part_messages, split_into_parts
from rag.answering.verification.judges import is_judged_by_writer
from rag.engine.library import saved_filters
from rag.engine.questions.composite_answers import MAX_DOCUMENTS, chunks_of_section, part_without_names
from rag.engine.questions.document_mentions import find_mentions
from rag.engine.questions.search import page_hits
from rag.engine.questions.understanding import UnderstoodQuestion
from rag.engine.workspace import Workspace
from rag.messages import N_

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM

OUTPUT_TOKENS = 4096
"""Room for the answer to a question about a whole document, where the request does not say another number."""

DIRECT_PROMPTS = 2
"""Pages that fit into so many usual prompts are read without asking."""

SAFE_SHARE = 2
"""A model's tokenizer makes no more than so many times the tokens of ours; where that may not fit, they are counted."""

MAX_SOURCES = 9999
"""Highest number in a citation mark."""


class Plan(NamedTuple):
    """How to read all pages: the `parts`, by which model and with which limits, and what that takes.

    `choice` is whether to read, to ask back, or to answer from passages and offer it.
    """

    llm: "LLM"
    generation: types.GenerationOptions
    parts: Sequence[Part]
    reading: types.WholeReading
    choice: Literal["read", "ask", "offer"]

    @property
    def told(self) -> types.WholeReading | None:
        """What a reader is told; None if all is read in a usual prompt."""
        return None if self.choice == "read" and len(self.parts) == 1 else self.reading

    def asked_back(self) -> types.AnswerResponse:
        """Return the question whether to read all pages."""
        message = prompts.READING_CHOICE.format(count=f"{self.reading.pages:,}")
        return types.AnswerResponse(status="insufficient_context", answer=message, model=EXTRACTIVE_MODEL)


class WholeReading:
    """Plans the reading of all pages for one user's question."""

    def __init__(
        self, workspace: Workspace, index: types.Index, llm: "LLM | None", options: types.AnswerOptions
    ) -> None:
        self._workspace = workspace
        self._store = workspace.store
        self._index = index
        self._llm = llm
        self._options = options
        self.refusal: str | None = None

    def plan(self, understood: UnderstoodQuestion) -> Plan | None:
        """Return how to read all pages that a question is about; None if a search answers it.

        That is so if it asks for something particular, or nothing is read, and where all pages cannot be read: with the
        reading "ask", `refusal` then tells the reader why.

        Raises:
            errors.ValidationError: the request says to read whole, but only passages with certain words or chunks are
                wanted, or more documents or pages are meant than can be read.
            errors.ConfigError: it says so, but no model is set up that can, or its window takes too little at once.
        """
        request, wanted = understood.request, self._options.reading
        extract = summary.requested_summary(request.question)
        is_whole = bool(extract) or asks_whole_document(request.question)
        if wanted == "passages" or (wanted != "whole" and not is_whole):
            return None
        try:
            return self._plan(request, extract.part if extract else "")
        except (errors.ValidationError, errors.ConfigError) as error:
            if wanted == "whole":
                raise
            self.refusal = prompts.FROM_PASSAGES.format(_error=error.message) if wanted == "ask" else None
            return None

    def _plan(self, request: types.AnswerRequest, part: str) -> Plan | None:
        llm = self._llm
        if llm is None or providers.is_small(llm):
            raise errors.ConfigError(
                N_("Reading all pages takes a language model of at least 12 billion parameters. Choose one.")
            )
        request = saved_filters.resolve_saved_filter(self._store, request)
        retrieval = request.retrieval
        if retrieval.must_include or retrieval.passage == "chunk":
            raise errors.ValidationError(
                N_("{option} is for passages that are searched for, but all pages are to be read. Leave one out."),
                option="mustInclude" if retrieval.must_include else "passage",
            )
        documents = self._store.documents.subjects(types.Scope(index_id=self._index.id, filters=retrieval.filters))
        if len(documents) > MAX_DOCUMENTS:
            raise errors.ValidationError(
                N_("At most {limit} documents are read whole, but {count} are meant. Name or choose fewer."),
                limit=MAX_DOCUMENTS,
                count=len(documents),
            )
        if part:
            part = part_without_names(part, request.question, find_mentions(request.question, documents))
        pages = [hit for document in documents for hit in self._pages(document, part)]
        if not pages and part and self._options.reading == "whole":  # no section has that name
            pages = [hit for document in documents for hit in self._pages(document, "")]
        return self._plan_parts(llm, request, pages) if pages else None

    def _pages(self, document: types.DocumentNames, part: str) -> list[types.Hit]:
        """Return the pages of a document, or of its sections named as `part` says, in reading order."""
        chunks = self._store.chunks.of_document(document.id)
        with contextlib.suppress(errors.NotFoundError):  # purged meanwhile
            read = self._store.documents.get(document.id)
            return page_hits(read, chunks_of_section(chunks, part) if part else chunks)
        return []

    def _plan_parts(self, llm: "LLM", request: types.AnswerRequest, pages: Sequence[types.Hit]) -> Plan | None:
        generation = request.generation
        if "max_output_tokens" not in generation.model_fields_set:
            generation = generation.model_copy(update={"max_output_tokens": OUTPUT_TOKENS})
            llm = self._workspace.models.language_model(generation) or llm
        budget = self._options.max_context_tokens or default_budget(llm)
        parts = self._split(llm, request.question, pages, budget)
        if not parts:  # pages without text
            return None
        sources = sum(len(part.context.sources) for part in parts)
        if sources > MAX_SOURCES:
            raise errors.ValidationError(
                N_("At most {limit} pages are read whole, but {count} are meant. Name or choose fewer documents."),
                limit=MAX_SOURCES,
                count=sources,
            )
        is_judged = is_judged_by_writer(llm, self._options.judge_with_model)
        reading = estimate(llm, request.question, parts, generation.max_output_tokens, is_judged=is_judged)
        in_time = providers.reading_budget(llm)
        is_usual = sum(part.tokens for part in parts) <= DIRECT_PROMPTS * min(budget, in_time or budget)
        choice: Literal["read", "ask", "offer"] = "ask" if self._options.reading == "ask" else "offer"
        return Plan(llm, generation, parts, reading, "read" if is_usual or self._options.reading == "whole" else choice)

    def _split(self, llm: "LLM", question: str, pages: Sequence[types.Hit], budget: int) -> Sequence[Part]:
        """Return parts that fit into the budget and into the model's window. Raises ConfigError if it is too small."""
        prompt = part_messages(llm, question, "")
        room = providers.remaining_tokens(llm, *(message.content or "" for message in prompt))
        budget = min(budget, room)
        while budget >= MIN_SOURCE_TOKENS:
            parts = split_into_parts(pages, budget)
            most = max(SAFE_SHARE * part.tokens for part in parts) if parts else 0
            if most > room:
                most = max(providers.estimate_max_tokens(part.context.text) for part in parts)
            if most <= room:
                return parts
            budget = min(int(budget * room / most), budget - 1)
        raise errors.ConfigError(
            N_(
                "{model} takes too little at once to read all pages. Choose a model with a larger context window, have "
                "its server give it more, or ask for a shorter answer (maxOutputTokens)."
            ),
            model=llm.metadata.model_name,
        )
