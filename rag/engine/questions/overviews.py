"""Overviews of documents: key facts chosen when one is read, and written by a language model on request."""

import datetime as dt
import functools
import uuid
from collections.abc import Iterator
from typing import NamedTuple

from rag import errors, prompts, providers, types
from rag.answering.extraction import key_facts, summary
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.generation.model_answer import final_answer, prompt_messages
from rag.answering.text.markup import plain_text
from rag.answering.text.sentences import one_line
from rag.answering.text.term_weights import content_words
from rag.answering.verification.judges import JUDGE_TOKENS
from rag.engine.library.pages import Pages
from rag.engine.questions.answerer import Answerer
from rag.engine.questions.composite_answers import choose_key_facts
from rag.engine.questions.search import whole_documents
from rag.engine.questions.suggestions import Suggestions
from rag.engine.request_parsing import request_key_errors, restrict_to_documents
from rag.engine.workspace import Workspace
from rag.messages import N_

OUTPUT_TOKENS = 3000
"""Limit of what a model writes, unless the request says otherwise: ten facts with their quotes."""


MAX_REMEMBERED = 256
"""Documents whose key facts a process remembers for readers of a share, some kilobytes each."""


class _Task(NamedTuple):
    """What a model is asked for an overview: its answerer and the passages that it reads."""

    answerer: Answerer
    hits: list[types.Hit]


class Overviews:
    """The overviews of one user's documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._documents = workspace.store.documents

    def get(self, document_id: uuid.UUID) -> types.DocumentOverview:
        """Return the overview of a document. Raises NotFoundError."""
        document = self._documents.get(document_id)
        return self._overview(document, self.facts(document))

    def facts(self, document: types.Document) -> types.KeyFacts:
        """Return the facts kept with a document, else those that are chosen now, which are kept if it is ready.

        Where a reader of a share may not keep them, this process remembers them for the reading of the document.
        """
        if kept := self._documents.key_facts(document.id):  # raises for what the user may not see
            return kept
        remembered, reading = self._workspace.remembered_facts, (document.id, document.indexed_at)
        if known := remembered.get(reading):
            return known
        chosen = self._choose(document)
        if document.status is types.DocumentStatus.READY and document.deleted_at is None:
            try:
                self._documents.keep_key_facts(document.id, chosen, document.indexed_at)
            except errors.ForbiddenError:
                remembered[reading] = chosen
                if len(remembered) > MAX_REMEMBERED:
                    remembered.popitem(last=False)
        return chosen

    def estimate(self, document_id: uuid.UUID, generation: types.GenerationOptions) -> types.OverviewEstimate:
        """Return what an overview by a language model takes. Raises as that, but calls no model."""
        answerer, hits = self._task(self._documents.get(document_id), generation)
        if answerer.llm is None:
            raise errors.ConfigError(NO_MODEL)
        context = answerer.choose_sources(prompts.OVERVIEW, hits)
        tokens = providers.prompt_size(prompt_messages(answerer.llm, prompts.OVERVIEW, context.text))
        written = answerer.generation.max_output_tokens
        if not providers.is_small(answerer.llm):  # the model also judges what it said in other words
            tokens, written = 2 * tokens + written, written + max(written, JUDGE_TOKENS)
        usage = types.Usage(input_tokens=tokens, output_tokens=written)
        return types.OverviewEstimate(
            model=answerer.model,
            input_tokens=tokens,
            output_tokens=written,
            cost_usd=providers.cost(answerer.llm, usage),
        )

    def improve(self, document_id: uuid.UUID, generation: types.GenerationOptions) -> types.DocumentOverview:
        """Have a language model write the key facts, see `Documents.improve_overview`.

        It reads the whole document, or the passages of its key sentences if that is too long.
        """
        document = self._documents.get(document_id)
        answerer, hits = self._task(document, generation)
        if answerer.llm is None:
            raise errors.ConfigError(NO_MODEL)
        # Refused before the model is paid for, if the document may not be changed or was read again
        self._keep(document, self.facts(document))
        with request_key_errors(answerer.generation.auth):
            answer = final_answer(answerer.answer_from(prompts.OVERVIEW, hits))
        facts = [*_proved_facts(answer)] if answer.model != EXTRACTIVE_MODEL else []
        if not facts:
            raise errors.GroundingError(
                N_("{model} wrote no fact that the document proves. The overview stays as it was."),
                model=answerer.model,
            )
        said = sum(sentence.support is not None for sentence in answer.sentences)
        written = types.KeyFacts(
            facts=tuple(facts[: key_facts.MAX_FACTS]),
            model=answer.model,
            dropped=said - len(facts),
            usage=types.total_usage([answer.usage, *answerer.spent]),
            made_at=dt.datetime.now(dt.UTC),
        )
        self._keep(document, written)
        return self._overview(document, written)

    def _keep(self, document: types.Document, facts: types.KeyFacts) -> None:
        if not self._documents.keep_key_facts(document.id, facts, document.indexed_at):
            raise errors.ConflictError(N_("The document was read again meanwhile. Ask for its overview again."))

    def _overview(self, document: types.Document, facts: types.KeyFacts) -> types.DocumentOverview:
        known = Suggestions(self._workspace).known_in(document.id, document.language)
        return types.DocumentOverview(
            **dict(facts),
            document_id=document.id,
            name=document.name,
            title=document.title,
            kind=document.subject.kind,
            names=document.subject.names,
            period=document.subject.period,
            page_count=document.page_count,
            language=document.language,
            questions=known,
        )

    def _choose(self, document: types.Document) -> types.KeyFacts:
        """Return the key facts in the document's own words."""
        store = self._workspace.store
        chosen = choose_key_facts(store, document, store.chunks.of_document(document.id))
        return types.KeyFacts(
            facts=tuple(self._placed(fact, document) for fact in chosen), made_at=dt.datetime.now(dt.UTC)
        )

    def _placed(self, fact: key_facts.KeyFact, document: types.Document) -> types.KeyFact:
        passage = types.Passage(document_id=document.id, lines=fact.chunk.lines)
        locate = functools.partial(Pages(self._workspace).locate, document.id, passage)
        lines = passage.lines_of(*fact.unit.span)
        return types.KeyFact(
            text=fact.text,
            quote=one_line(passage.text[slice(*fact.unit.span)]),
            page_number=lines[0].page_number,
            page_label=document.page_labels.get(lines[0].page_number),
            line_start=lines[0].number,
            line_end=lines[-1].end,
            # a row is marked with its column names and its unit
            regions=tuple(dict.fromkeys(region for span in fact.unit.spans for region in locate(*span))),
        )

    def _task(self, document: types.Document, generation: types.GenerationOptions) -> _Task:
        if document.status is not types.DocumentStatus.READY:
            raise errors.ConflictError(N_("“{name}” is not read yet. Try again when it is."), name=document.name)
        if "max_output_tokens" not in generation.model_fields_set:
            generation = generation.model_copy(update={"max_output_tokens": OUTPUT_TOKENS})
        store = self._workspace.store
        index = store.indexes.get_by_id(document.index_id)
        # Another try is another text, and what is not proved is dropped here
        options = types.AnswerOptions(use_cache=False, require_citations=False)
        asked = types.AnswerRequest(question=prompts.OVERVIEW, generation=generation, options=options)
        request = restrict_to_documents(asked, [document.id])
        answerer = Answerer(
            self._workspace,
            index,
            request,
            llm=self._workspace.models.language_model(generation),
            read_documents=whole_documents(self._workspace, index, request, only_found=True),
        )
        chunks = [chunk for chunk in store.chunks.of_document(document.id) if chunk.kinds & types.PAGE_TEXT]
        vectors = store.chunks.vectors([chunk.id for chunk in chunks])
        central = [key.chunk for key in summary.key_sentences(chunks, vectors, limit=summary.PASSAGES)]
        telling = [fact.chunk for fact in choose_key_facts(store, document, chunks)]
        read = {chunk.ordinal: chunk for chunk in [*chunks[:1], *telling, *central]}
        return _Task(answerer, [summary.to_hit(chunk, document, chunk.lines) for chunk in read.values()])


def _proved_facts(answer: types.AnswerResponse) -> Iterator[types.KeyFact]:
    """Yield the sentences of a model whose quotes prove them, each with the quote that has most of its words."""
    quoted: dict[int, list[types.Citation]] = {}
    for citation in answer.citations:
        if citation.quote is not None and citation.verdict is not types.Verdict.UNVERIFIED:
            quoted.setdefault(citation.sentence, []).append(citation)
    for number, citations in sorted(quoted.items()):
        sentence = answer.sentences[number]
        words = {*content_words(sentence.text)}
        shared = [len(words & {*content_words(citation.quote or "")}) for citation in citations]
        best = citations[shared.index(max(shared))]
        if sentence.is_proved:
            yield types.KeyFact(
                text=plain_text(sentence.text),
                quote=best.shown_quote or "",
                page_number=best.lines[0].page_number,
                page_label=best.page_label,
                line_start=best.lines[0].number,
                line_end=best.lines[-1].end,
                regions=best.regions,
            )


NO_MODEL = N_("No language model is set up. Choose one in the settings, or name one in the request.")
