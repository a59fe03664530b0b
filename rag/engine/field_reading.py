"""Read fields from one document: with a language model in few requests, without one the likeliest values it states."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rag import errors, prompts, providers, retrieval, types, vocabulary
from rag.answering.extraction import answer_fit
from rag.answering.fields.answered_question import is_question, read_answered
from rag.answering.fields.asked_field import query_of
from rag.answering.fields.checked_values import Claim, check_fields, joined_records, pages_of
from rag.answering.fields.document_units import DocumentUnits
from rag.answering.fields.model_reply import MAX_FIELDS, OUTPUT_TOKENS, REPLY_SCHEMA, field_messages, read_reply
from rag.answering.fields.quoted_values import FoundFor, Tools, read_listed, read_quoted
from rag.answering.fields.value_candidates import Judges
from rag.answering.generation.context import build_context, hit_tokens
from rag.answering.generation.model_answer import Writer
from rag.answering.verification.grounding import Grounder
from rag.answering.verification.judges import VERDICTS_SCHEMA, judge_messages, read_verdicts
from rag.engine.library.pages import Pages
from rag.engine.questions.questions import Questions
from rag.engine.questions.search import Search, page_hits
from rag.engine.request_parsing import restrict_to_documents
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import language_code
from rag.messages import N_

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM, ChatMessage

PASSAGES = 12
"""Passages that are searched for each field."""

ROUNDS = 2
"""How often pages are searched and read for fields that those read so far do not state."""

MAX_SPLITS = 3
"""How often what a reply was too short for is asked for in two parts."""

UNREADABLE_REPLY = N_("{model} gave no reply that can be read as values. Fill again, or choose another model.")

_T = TypeVar("_T")
Read = Iterator[tuple[types.FieldDefinition, types.FoundField]]
Reply = tuple[list[types.FoundField | None], str | None]
"""What a reply says of each field, None where it says nothing, and the hint if it was cut off."""
Ask = Callable[[Sequence[types.FieldDefinition], Sequence[types.Hit]], Reply]


class FieldReader:
    """Reads fields from a user's documents, one document at a time; `usage` adds up what models took."""

    def __init__(self, workspace: Workspace, questions: Questions, generation: types.GenerationOptions) -> None:
        """Read with the model of `generation`, else that of the settings. Raises as `language_model`."""
        self._workspace = workspace
        self._questions = questions
        wanted = {"max_output_tokens": OUTPUT_TOKENS, "temperature": 0.0}
        wanted = {name: value for name, value in wanted.items() if name not in generation.model_fields_set}
        self._generation = generation.model_copy(update=wanted)
        llm = workspace.models.language_model(self._generation)
        # A small model cannot keep to the form of the reply: fields are read as without one.
        self._llm = None if llm is None or providers.is_small(llm) else llm
        self._spent: list[types.Usage] = []
        self.has_model = self._llm is not None
        self.model = llm.metadata.model_name if llm else ""

    @property
    def usage(self) -> types.Usage:
        """What all requests used so far."""
        return types.total_usage(self._spent)

    def read(
        self, document: types.Document, fields: Sequence[types.FieldDefinition], pause: Callable[[], None]
    ) -> Read:
        """Yield each field with what the document says of it, as soon as it is known.

        `pause` is called before each request. What concerns this document or field alone is a failed field.
        Raises ProviderError.
        """
        if self._llm is None:
            told = 0
            try:
                for found in self._quote(document, fields, pause):
                    told += 1
                    yield found
            except (errors.GroundingError, errors.NotFoundError) as error:  # concerns this document only
                failed = types.FoundField(state="failed", reason=error.message)
                yield from ((field, failed) for field in fields[told:])
            return
        for first in range(0, len(fields), MAX_FIELDS):
            batch = fields[first : first + MAX_FIELDS]
            try:
                yield from self._read_batch(self._llm, document, batch, pause)
            except (errors.GroundingError, errors.NotFoundError) as error:  # concerns this document only
                yield from ((field, types.FoundField(state="failed", reason=error.message)) for field in batch)

    # --- with a language model ---

    def _read_batch(
        self, llm: "LLM", document: types.Document, fields: Sequence[types.FieldDefinition], pause: Callable[[], None]
    ) -> list[tuple[types.FieldDefinition, types.FoundField]]:
        """Read the whole document if it fits, else search pages for the fields, and again for those not stated.

        All is returned together: what a killed job has not saved is read again from the same replies, which are kept.
        """
        budget = self._workspace.models.with_context_budget(types.AnswerOptions(), llm).max_context_tokens or 0
        room = providers.remaining_tokens(llm, *(one.content or "" for one in field_messages(fields, "")))
        budget = min(budget, room)
        pages = page_hits(document, self._workspace.store.chunks.of_document(document.id))
        is_whole = sum(map(hit_tokens, pages)) <= budget
        language = language_code(document.language)

        def ask(asked: Sequence[types.FieldDefinition], read: Sequence[types.Hit]) -> Reply:
            return self._ask(llm, asked, read, language, pause)

        found = [types.FoundField(state="not_stated", model=self.model) for _ in fields]
        read_pages = set[int]()
        for _ in range(1 if is_whole else ROUNDS):
            places = [place for place, one in enumerate(found) if one.state == "not_stated"]
            open_fields = [fields[place] for place in places]
            chosen = pages if is_whole else self._find_pages(document, open_fields, pages, budget, read_pages)
            if not (open_fields and chosen):
                break
            read_pages.update(pages_of(chosen))
            for place, one in zip(places, self._read_pages(ask, open_fields, chosen), strict=True):
                found[place] = one.model_copy(update={"pages_read": tuple(sorted(read_pages))})
        return [*zip(fields, found, strict=True)]

    def _find_pages(
        self,
        document: types.Document,
        fields: Sequence[types.FieldDefinition],
        pages: Sequence[types.Hit],
        budget: int,
        read: set[int],
    ) -> list[types.Hit]:
        """Return pages, not `read` yet, that fit into the budget: of each field the best, then the second best …."""
        search = self._search(document)
        ranked = []
        for field in fields:
            found = [hit.chunk.main_page for hit in search.run(retrieval.Query(query_of(field))).results]
            if field.type == "records":  # a list may go on on the next page
                found = [page for number in found for page in (number, number + 1)]
            ranked.append(found)
        by_number = {page.chunk.main_page: page for page in pages}
        chosen: dict[int, types.Hit] = {}
        for number in dict.fromkeys(page for rank in itertools.zip_longest(*ranked) for page in rank):
            if number is None or number in read or number not in by_number:
                continue
            budget -= hit_tokens(by_number[number])
            if budget < 0 and chosen:
                break
            chosen[number] = by_number[number]
        return [chosen[number] for number in sorted(chosen)]

    def _read_pages(
        self,
        ask: Ask,
        fields: Sequence[types.FieldDefinition],
        pages: Sequence[types.Hit],
        splits: int = MAX_SPLITS,
    ) -> list[types.FoundField]:
        """Read fields from pages; what a cut-off reply leaves open is asked for again, a list by half the pages."""
        found, hint = ask(fields, pages)
        left = [place for place, one in enumerate(found) if one is None]
        if hint and left and splits:
            if len(fields) > 1:
                for part in filter(None, (left[:1], left[1:])):  # the first may be a list that fills a reply alone
                    again = self._read_pages(ask, [fields[place] for place in part], pages, splits - 1)
                    for place, one in zip(part, again, strict=True):
                        found[place] = one
            elif fields[0].type == "records" and len(pages) > 1:
                halves = pages[: len(pages) // 2], pages[len(pages) // 2 :]
                return [joined_records([self._read_pages(ask, fields, half, splits - 1)[0] for half in halves])]
        failed = types.FoundField(state="failed", reason=hint or UNREADABLE_REPLY.format(model=self.model))
        return [(one or failed).model_copy(update={"model": self.model}) for one in found]

    def _ask(
        self,
        llm: "LLM",
        fields: Sequence[types.FieldDefinition],
        pages: Sequence[types.Hit],
        language: str | None,
        pause: Callable[[], None],
    ) -> Reply:
        """Ask for fields of pages, and check what is replied; what quotes mean is judged by a second request."""
        context = build_context(pages, budget_tokens=None)
        messages = field_messages(fields, context.text)
        replies, hint = self._complete(llm, messages, REPLY_SCHEMA, lambda text: read_reply(text, len(fields)), pause)

        def judge(claims: Sequence[Claim]) -> list[bool]:
            cited = frozenset[str]().union(*(claim.source_ids for claim in claims))
            sources = [text for source_id, text in context.texts.items() if source_id in cited]
            messages = judge_messages(prompts.FIELDS_JUDGED, sources, [claim.text for claim in claims])
            verdicts, _ = self._complete(llm, messages, VERDICTS_SCHEMA, read_verdicts, pause)
            proved = {n: one.sources for n, one in verdicts.items() if one.verdict == "supported"}
            return [not claim.source_ids.isdisjoint(proved.get(n, ())) for n, claim in enumerate(claims, start=1)]

        grounder = Grounder(context.hits, locate=Pages(self._workspace).locate)
        found = check_fields(fields, replies, context.hits, grounder, judge, language=language)
        return [found.get(number) for number in range(1, len(fields) + 1)], hint

    def _complete(
        self,
        llm: "LLM",
        messages: "Sequence[ChatMessage]",
        schema: Mapping[str, Any],
        read: Callable[[str], _T],
        pause: Callable[[], None],
    ) -> tuple[_T, str | None]:
        """Return what is read in a reply, which is cached if that is anything, and the hint if it was cut off."""
        pause()
        writer = Writer(llm, self._generation, self._workspace.store.caches, schema=schema, is_usable=read)
        reply, ending = writer.write_whole(messages)
        self._spent.append(ending.usage)
        if ending.stopped:  # it broke off; a job tries again later
            raise errors.ProviderError(ending.hint or "", details={"provider": self.model})
        return read(reply), ending.hint

    # --- without a language model ---

    def _quote(
        self, document: types.Document, fields: Sequence[types.FieldDefinition], pause: Callable[[], None]
    ) -> Read:
        """Yield each field with the likeliest value that the document states."""
        store, models = self._workspace.store, self._workspace.models
        figures = [vocabulary.find_figure(field.name) for field in fields]
        places = {figure.place for figure in figures if figure and figure.place}
        statements = vocabulary.own_pages(store.chunks.landmarks(document.id, places))
        pages = page_hits(document, store.chunks.of_document(document.id))
        units = DocumentUnits(document, pages, statements)
        judges = Judges(models.reranker, models.reader, models.entailment_model)
        search, tools = self._search(document), Tools(judges, Pages(self._workspace).locate)
        for field in fields:
            pause()
            if is_question(field):
                yield field, self._answer(document, field)
                continue
            if field.type == "records":
                yield field, read_listed(field, units, tools.locate)
                continue
            query = retrieval.Query(query_of(field))
            found_for = FoundFor(search.run(query), query.findings.rewritings)
            yield field, read_quoted(field, units, found_for, tools)

    def _answer(self, document: types.Document, field: types.FieldDefinition) -> types.FoundField:
        """Answer a question in words as the chat does."""
        request = types.AnswerRequest(
            index_name=str(document.index_id), question=field.question, generation=self._generation
        )
        response = self._questions.answer(restrict_to_documents(request, [document.id]))
        self._spent.append(response.usage)
        item = answer_fit.requested_item(field.question)
        names = [item.place] if item and item.place else []
        statements = vocabulary.own_pages(self._workspace.store.chunks.landmarks(document.id, names))
        return read_answered(field.question, response, statements)

    def _search(self, document: types.Document) -> Search:
        index = self._workspace.store.indexes.get_by_id(document.index_id)
        options = types.RetrievalOptions(top_k=PASSAGES, min_score=0.0, routing=False)
        request = restrict_to_documents(types.SearchRequest(query="-", retrieval=options), [document.id])
        return Search(self._workspace, index, request)
