"""Answer one question: understand → search → choose the sources → write or extract → cite → verify → finish."""

import contextlib
import datetime as dt
import functools
import time
import uuid
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from rag import answering, errors, prompts, providers, retrieval, tracing, types, vocabulary
from rag.answering.conversation import suggested_questions
from rag.answering.extraction import answer_fit, extractive_answer, question_intent
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.generation.context import (
    MIN_SOURCE_TOKENS,
    Context,
    ReadDocuments,
    build_context,
    build_fitting_context,
    default_budget,
)
from rag.answering.generation.model_answer import (
    Output,
    Stop,
    Writer,
    drop_unproved,
    final_answer,
    never_stop,
    prompt_messages,
    stream_visible,
)
from rag.answering.generation.part_reading import PartReader
from rag.answering.text.markup import plain_text
from rag.answering.verification import citations, judges
from rag.answering.verification.citations import is_refusal
from rag.answering.verification.grounding import Grounder, Locate
from rag.answering.verification.judges import JUDGE_TOKENS, EntailmentJudge, LanguageModelJudge, MeaningJudge, Prompted
from rag.engine.conversations.provenance import provenance
from rag.engine.library.pages import Pages
from rag.engine.questions.ambiguity import disambiguate
from rag.engine.questions.composite_answers import CompositeAnswers, single_answer
from rag.engine.questions.document_mentions import find_mentions
from rag.engine.questions.search import Search, whole_documents
from rag.engine.questions.suggestions import Suggestions
from rag.engine.questions.understanding import Understanding, UnderstoodQuestion
from rag.engine.questions.whole_reading import Plan, WholeReading
from rag.engine.request_parsing import request_key_errors
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import detect
from rag.messages import N_

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.llms import LLM
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.response_synthesizers import BaseSynthesizer

Events = Generator[types.AnswerEvent, None, None]


class Tools(NamedTuple):
    """What answers are made with beside a language model; those of the workspace, unless others are given."""

    locate: Locate
    reranker: retrieval.Reranker | None = None
    reader: retrieval.Reranker | None = None
    judge: MeaningJudge | None = None
    memory: retrieval.CompletionCache | None = None


class Answerer:
    """Answers one user's question to an index; what is the same for the whole question is bound here, once.

    The methods stand in the order in which a question passes them. `stream` is the whole way. LlamaIndex's query engine
    joins the search to `answer_from`, which is the way from the passages to the verified answer.
    """

    def __init__(
        self,
        workspace: Workspace,
        index: types.Index,
        request: types.AnswerRequest,
        *,
        llm: "LLM | None" = None,
        stop: Stop = never_stop,
        read_documents: ReadDocuments | None = None,
        tools: Tools | None = None,
    ) -> None:
        """Without `llm` the answer is quoted. Once `stop` returns True, writing ends.

        `read_documents` reads those that may be given whole; `stream` finds them itself. `tools` replace our own.
        """
        self.workspace = workspace
        self.index = index
        self.options = workspace.models.with_context_budget(request.options, llm)
        self.request = request.model_copy(update={"options": self.options})  # as understood, from the first step on
        self.generation = request.generation
        self.llm = llm
        self.stop = stop
        self.read_documents = read_documents
        self.spent: list[types.Usage] = []
        """What requests beside those for the answer itself used: plans, complete questions, verdicts."""
        self._understanding = Understanding(workspace, index, self.request, self.spent)
        self._understood: UnderstoodQuestion | None = None
        self._whole_question = request.question  # of which this may be the part for one document, without its name
        self._reading: types.WholeReading | None = None
        self._started = time.perf_counter()
        if tools is not None:
            self.tools = tools

    @functools.cached_property
    def model(self) -> str:
        """The name of the model that writes."""
        return self.llm.metadata.model_name if self.llm else EXTRACTIVE_MODEL

    @functools.cached_property
    def tools(self) -> Tools:
        """The models and stores of the workspace.

        What a small model writes is judged by the entailment model alone, unless the request says otherwise.
        """
        models, options = self.workspace.models, self.options
        locate, memory = Pages(self.workspace).locate, self.workspace.store.caches
        if self.llm is None:
            return Tools(locate, models.reranker, models.reader, None, memory)
        judge: MeaningJudge = EntailmentJudge(models.entailment_model)
        if judges.is_judged_by_writer(self.llm, options.judge_with_model):
            # the verdicts leave most of a small window to the sources
            tokens = min(JUDGE_TOKENS, providers.context_window(self.llm) // 4)
            tokens = max(self.generation.max_output_tokens, tokens)
            exact = models.language_model(
                self.generation.model_copy(update={"temperature": 0.0, "max_output_tokens": tokens})
            )
            completions = retrieval.Completions(exact or self.llm, memory if options.use_cache else None, self.spent)
            judge = LanguageModelJudge(completions, self.model, judge)
        return Tools(locate, models.reranker, models.reader, judge, memory)

    @functools.cached_property
    def search(self) -> Search:
        """The search for the request as it is understood."""
        return Search(self.workspace, self.index, self.request)

    @functools.cached_property
    def composite(self) -> CompositeAnswers:
        """The answers that combine several searches."""
        return CompositeAnswers(self.workspace, self.index, self.request, self._quote_from_one_search, self.stop)

    # --- the whole way ------------------------------------------------------------------------------

    def stream(self) -> Events:
        """Return the stages and pieces of the answer, then the verified answer, which replaces them.

        What fails before the answer begins is raised here. Raises as `Questions.answer`.
        """
        # A client that has gone pays for no plan and no completed question
        self._understood = understood = self._understanding.understand(None if self.stop() else self.llm)
        self.request = understood.request
        if understood.elsewhere is None:
            return self._stream_understood(understood)
        answer = final_answer(self._stream_understood(understood))
        if answer.status != "ok":  # it may be about something else
            other = Answerer(self.workspace, self.index, understood.elsewhere, stop=self.stop, tools=self.tools)
            answer = final_answer(other.stream()).model_copy(update={"question": understood.rewritten})
        return single_answer(answer)

    def _stream_understood(self, understood: UnderstoodQuestion) -> Events:
        question = self.request.question
        with request_key_errors(self.request.auth):
            writes_queries = self.llm is not None and not providers.is_small(self.llm)
            is_whole = self.options.reading == "whole"
            events = None if is_whole else self.composite.counted_rows(question, by_model=writes_queries)
            if events:
                return self._finish(understood, events, self.request.auth)
            whole = WholeReading(self.workspace, self.index, self.llm, self.options)
            plan = whole.plan(understood)
            if plan:
                self._reading = plan.told
                if plan.choice != "offer":
                    return self._finish(understood, self._read_whole(question, plan), self.generation.auth)
            elif self.llm is None:
                events = self.composite.events(question)
            elif providers.is_small(self.llm):  # small models take other rows, and compute wrongly
                events = self.composite.computed_figure(question)
            if events:  # lists, summaries and figures without a model are not from the best passages
                return self._finish(understood, events, self.request.auth)
            query = retrieval.Query(question, passage_text=understood.passage_text)
            hits: Sequence[types.Hit] = self.composite.model_passages(question, understood.searches) if self.llm else ()
            if self.stop():
                draft = types.AnswerResponse(status="insufficient_context", answer="", stopped=True, model=self.model)
                events = single_answer(self._decide(draft, hits, self._started))
                return self._finish(understood, events, self.generation.auth)
            self.read_documents = whole_documents(self.workspace, self.index, self.request, only_found=bool(hits))
            if hits:
                events = self.answer_from(question, hits)
            else:
                written = cast("answering.GroundedStream", self.query_engine(streaming=True).query(query))
                events, hits = written.events, retrieval.to_hits(written.source_nodes)
                # Only fused scores can be compared between documents: not ranks, nor the scores of one search alone
                is_comparable = self.search.options.mode == "hybrid" and not self.search.options.by_ranks
                if self.llm is None and is_comparable:
                    space = self.index.space
                    documents = self._understanding.documents
                    asked_back = disambiguate(self.workspace, space, query, documents, self.options)
                    if asked_back:
                        events = single_answer(asked_back)
                        return self._finish(understood, events, self.generation.auth, unread=whole.refusal)
            search = self.search.response(query, hits, 0.0)
        return self._finish(understood, events, self.generation.auth, search, whole.refusal)

    def quote(self) -> types.AnswerResponse:
        """Answer without a language model and a conversation, by several searches or by one."""
        if events := self.composite.events(self.request.question):
            return final_answer(events)
        return self._quote_from_one_search(self.request)

    def _quote_from_one_search(self, request: types.AnswerRequest) -> types.AnswerResponse:
        """Answer a request, such as for a part of the question, by one search and in the documents' words."""
        understood = Understanding(self.workspace, self.index, request, []).understand(None)
        answerer = Answerer(self.workspace, self.index, understood.request)
        answerer._understood = understood
        answerer._whole_question = self.request.question
        query_engine = answerer.query_engine(streaming=True)
        query = retrieval.Query(understood.request.question, passage_text=understood.passage_text)
        written = cast("answering.GroundedStream", query_engine.query(query))
        return final_answer(written.events)

    def query_engine(
        self,
        *,
        streaming: bool = False,
        retriever: "BaseRetriever | None" = None,
        postprocessors: "Sequence[BaseNodePostprocessor] | None" = None,
        synthesizer: "BaseSynthesizer | None" = None,
    ) -> "RetrieverQueryEngine":
        """Return LlamaIndex's query engine of the search and the answer; given parts replace ours."""
        import llama_index.core
        from llama_index.core.query_engine import RetrieverQueryEngine

        return RetrieverQueryEngine(
            retriever or self.search.retriever(),
            synthesizer or answering.GroundedSynthesizer(self.answer_from, streaming=streaming),
            self.search.stages() if postprocessors is None else [*postprocessors],
        )

    # --- from the passages to the verified answer ---------------------------------------------------

    def answer_from(
        self, question: str, hits: Sequence[types.Hit], rewritings: Sequence[types.Rewriting] = ()
    ) -> Events:
        """Yield stages and pieces of the answer to `question` from `hits`, then the verified answer.

        Without a language model, and where it gives no answer that the sources support, the best sentences and table
        rows of the sources are the answer; `rewritings` from the vocabulary help to find them. Pieces contain no quote
        tags, no HTML and no ids of unknown sources. While sentences in other words than their sources are judged by
        meaning, the stage "judging" has the answer without that. What was written before a stop is verified without it.

        Raises:
            errors.ConfigError: the language model's window is too small for any source.
            errors.ProviderError: the language model refuses or is down.
        """
        started = time.perf_counter()
        with tracing.span("context", hits=len(hits)) as step:
            context = self.choose_sources(question, hits)
            step.add(sources=len(context.hits))
        if not context.sources:
            draft = types.AnswerResponse(status="insufficient_context", answer="", model=self.model)
        elif self.llm is None:
            draft = yield from self._extract(question, context, rewritings)
        else:
            output = yield from self._write(self.llm, question, context)
            draft = yield from self._check(question, context, output, hits, started)
            if not self._holds(draft) and not self.stop():
                draft = self._quoted_instead(draft, question, hits, rewritings)
        yield self._decide(draft, hits, started)

    def _read_whole(self, question: str, plan: Plan) -> Events:
        """Yield the events of an answer from all pages: of one prompt, or of notes on its parts; or ask back."""
        if plan.choice == "ask":
            yield from single_answer(plan.asked_back())
            return
        started, self.llm, self.generation = time.perf_counter(), plan.llm, plan.generation
        if len(plan.parts) == 1:
            context = plan.parts[0].context
            output = yield from self._write(plan.llm, question, context)
            hint = None
        else:
            read = yield from PartReader(self._writer(plan.llm), question, plan.parts).read()
            output, context, hint = read.output, read.context, read.hint
            self._reading = plan.reading.model_copy(
                update={"is_done": not output.ending.stopped, "unread": read.unread}
            )
        draft = yield from self._check(question, context, output, (), started)
        hits: Sequence[types.Hit] = ()
        if not self._holds(draft) and not draft.stopped:
            hits = self.search.run(retrieval.Query(question)).results
            draft = self._quoted_instead(draft, question, hits, ())
        hints = "\n".join(filter(None, (hint, draft.hint)))
        yield self._decide(draft.model_copy(update={"hint": hints or None}), hits, started)

    # --- choose the sources -------------------------------------------------------------------------

    def choose_sources(self, question: str, hits: Sequence[types.Hit], *, quoted: bool = False) -> Context:
        """Return the context of an answer from `hits`, within the options, the model's window and its reading time.

        All but small models get those documents whole that fit. What is `quoted` needs no window and no reading time.

        Raises:
            errors.ConfigError: the model's window is too small for any source.
        """
        llm = None if quoted else self.llm
        budget = self.options.max_context_tokens or default_budget(llm)
        is_strong = llm is not None and not providers.is_small(llm)
        documents = self.read_documents(hits, budget) if self.read_documents and is_strong else ()
        if llm is None or not (hits or documents):
            return build_context(hits, budget_tokens=budget)
        room = providers.remaining_tokens(llm, *(one.content or "" for one in prompt_messages(llm, question, "")))
        if room < MIN_SOURCE_TOKENS:
            raise errors.ConfigError(
                N_(
                    "{model} takes too little at once: with the question, the instructions and {count} tokens for the "
                    "answer there is no room for a source. Choose a model with a larger context window, have its "
                    "server give it more, or ask for a shorter answer (maxOutputTokens)."
                ),
                model=self.model,
                count=f"{llm.metadata.num_output:,}",
            )
        in_time = providers.reading_budget(llm) or budget
        return build_fitting_context(hits, budget_tokens=min(budget, in_time), room=room, documents=documents)

    # --- write, verify ------------------------------------------------------------------------

    def _write(
        self, llm: "LLM", question: str, context: Context
    ) -> Generator[types.AnswerStage | types.AnswerToken, None, Output]:
        prompt = prompt_messages(llm, question, context.text)
        if seconds := providers.reading_seconds(llm, providers.prompt_size(prompt)):
            yield types.AnswerStage(name="reading", seconds=seconds)
        writer = self._writer(llm)
        written = tracing.streaming("model", lambda: writer.write(prompt), model=self.model)
        return (yield from stream_visible(written, context.hits))

    def _writer(self, llm: "LLM") -> Writer:
        return Writer(llm, self.generation, self.tools.memory if self.options.use_cache else None, self.stop)

    def _check(
        self, question: str, context: Context, output: Output, hits: Sequence[types.Hit], started: float
    ) -> Generator[types.AnswerStage, None, types.AnswerResponse]:
        """Yield what is done, with the answer while it is judged by meaning; return what is written with verdicts."""
        grounder = Grounder(
            context.hits,
            locate=self.tools.locate,
            reranker=self.tools.reranker,
            judge=self.tools.judge,
            prompted=Prompted(question, context.texts),
        )
        yield types.AnswerStage(name="checking")
        with tracing.span("attribute"):  # sentences get the sources that they cite, or else one that says it
            answer = grounder.attribute(citations.parse_filtered(output.text, output.quotes))
        draft = self._verify(answer, output, grounder, context)
        if grounder.leaves_open(answer.claims, answer.text):
            so_far = self._decide(draft, hits, started)
            if so_far.citations:
                yield types.AnswerStage(name="judging", so_far=so_far)
            if not self.stop():
                draft = self._verify(answer, output, grounder, context, by_meaning=True)
        return draft

    def _verify(
        self,
        answer: citations.ParsedAnswer,
        output: Output,
        grounder: Grounder,
        context: Context,
        *,
        by_meaning: bool = False,
    ) -> types.AnswerResponse:
        """Return an answer with located quotes and verdicts: of facts and words, and `by_meaning` of the judge."""
        with tracing.span("judge" if by_meaning else "ground") as step:
            sentences, cited = grounder.ground(answer.claims, answer.text, by_meaning=by_meaning)
            step.add(sentences=len(sentences), citations=len(cited))
        ending = output.ending
        if not ending.is_complete and sentences and sentences[-1].support is types.Support.UNCITED:
            # the last sentence was cut off before its citation
            sentences = (*sentences[:-1], sentences[-1].model_copy(update={"support": None}))
        return types.AnswerResponse(
            status="ok",
            answer=answer.text,
            sentences=sentences,
            citations=cited,
            sources=context.hits,
            hint=ending.hint,
            stopped=ending.stopped,
            model=self.model,
            usage=ending.usage,
        )

    # --- or extract ---------------------------------------------------------------------------------

    def _extract(
        self, question: str, context: Context, rewritings: Sequence[types.Rewriting]
    ) -> Generator[types.AnswerToken, None, types.AnswerResponse]:
        """Yield the best sentences and table rows of the sources, each with its citation.

        Comments answer what asks for them, or what nothing else answers; words that are struck out or hidden never.
        """
        is_in_comment = False
        subjects, strangers = self._subjects(question), tuple[str, ...]()
        if self._understood and not (subjects or self._subjects(self._whole_question)):
            strangers = answer_fit.named_strangers(question, context.hits.values())
        for kinds in (types.PAGE_TEXT, frozenset({types.BlockKind.NOTE})):
            readable = {id_: lines for id_, hit in context.hits.items() if (lines := hit.of_kinds(kinds)) is not None}
            with tracing.span("model", model=EXTRACTIVE_MODEL):
                # The name of a document may be in none of its sentences
                for text in dict.fromkeys((question, self._understood.unnamed if self._understood else question)):
                    extracts = extractive_answer.choose(
                        text,
                        list(readable.values()),
                        reranker=self.tools.reranker,
                        reader=self.tools.reader,
                        rewritings=rewritings,
                        strangers=strangers,
                        subjects=" ".join(subjects),
                    )
                    if extracts.extracts:
                        break
            if kinds is types.PAGE_TEXT or extracts.extracts:
                choice, sources, is_in_comment = extracts, readable, kinds is not types.PAGE_TEXT
            if choice.extracts and not question_intent.asks_for_comments(question):
                break
        grounder = Grounder(sources, locate=self.tools.locate)
        ids = {id(hit): citation_id for citation_id, hit in sources.items()}
        several = len({hit.passage.document_id for hit in context.hits.values()}) > 1
        text = ""
        sentences: list[types.Sentence] = []
        cited: list[types.Citation] = []
        for candidate, _, row in choice.extracts:
            citation_id = ids[id(candidate.hit)]
            shown = plain_text(candidate.text)
            if not any(map(str.isalnum, shown)):  # a picture's address, and nothing else
                continue
            where = f"{plain_text(candidate.hit.document_name)}, p. {candidate.page_number}: " if several else ""
            lead = f"\n\n{where}" if text else where
            start = len(text) + len(lead)
            piece = f"{lead}{shown} [{citation_id}]"
            yield types.AnswerToken(text=piece)
            text += piece
            with tracing.span("ground", citation=citation_id):
                cited.append(grounder.cite_unit(len(sentences), citation_id, candidate.unit, row))
            sentences.append(
                types.Sentence(
                    text=shown, citation_ids=(citation_id,), start=start, end=len(text), support=types.Support.QUOTED
                )
            )
        return types.AnswerResponse(
            status="ok",
            answer=text,
            sentences=tuple(sentences),
            citations=tuple(cited),
            sources=context.hits,
            nearest=(context.hits[ids[id(choice.nearest)]],) if choice.nearest else (),
            hint=prompts.FROM_A_COMMENT if is_in_comment else choice.hint,
            likelihood=choice.likelihood if sentences else None,
            model=EXTRACTIVE_MODEL,
        )

    def _subjects(self, question: str) -> list[str]:
        """Return the names of documents in `question`; a line item that heads one of them names nobody.

        Of passages that were not searched for here the documents are not known.
        """
        if self._understood is None:
            return []
        names = (question[slice(*one.span)] for one in find_mentions(question, self._understanding.documents))
        return [name for name in names if vocabulary.find_figure(name) is None]

    def _quoted_instead(
        self,
        draft: types.AnswerResponse,
        question: str,
        hits: Sequence[types.Hit],
        rewritings: Sequence[types.Rewriting],
    ) -> types.AnswerResponse:
        """Return what the sources say themselves in place of a model's `draft` that does not hold.

        A refusal may be right: that of a strong model stands, that of a small one gives way to a likely extract. An
        empty or unsupported text says nothing about the sources.
        """
        context = self.choose_sources(question, hits, quoted=True)
        quoted = _without_events(self._extract(question, context, rewritings))
        is_better = bool(quoted.sentences)
        if is_refusal(draft.answer):
            is_small = self.llm is not None and providers.is_small(self.llm)
            is_better = is_better and is_small and (quoted.likelihood or 0.0) >= types.LIKELY_THRESHOLD
        if is_better:
            hint = prompts.QUOTED_INSTEAD.format(model=draft.model)
            return quoted.model_copy(update={"hint": hint, "usage": draft.usage})
        return draft.model_copy(update={"hint": quoted.hint, "nearest": quoted.nearest or tuple(quoted.contexts)})

    # --- does it hold? ------------------------------------------------------------------------------

    def _decide(self, draft: types.AnswerResponse, hits: Sequence[types.Hit], started: float) -> types.AnswerResponse:
        """Return a draft with the sources that it cites, or the refusal with the nearest passages."""
        usage = draft.usage.model_copy(update={"latency_ms": (time.perf_counter() - started) * 1000})
        if not self._holds(draft):
            return types.AnswerResponse(
                status="insufficient_context",
                answer=self.options.insufficient_evidence_message or prompts.INSUFFICIENT_CONTEXT_MESSAGE,
                nearest=tuple(sorted(hits, key=lambda hit: hit not in draft.nearest)),
                hint=draft.hint,
                require_citations=self.options.require_citations,
                stopped=draft.stopped,
                model=draft.model,
                usage=usage,
            )
        cited = {citation.citation_id for citation in draft.citations}
        response = draft.model_copy(
            update={
                "sources": {citation_id: hit for citation_id, hit in draft.sources.items() if citation_id in cited},
                "nearest": (),
                "require_citations": self.options.require_citations,
                "usage": usage,
            }
        )
        return drop_unproved(response) if self.options.drop_unsupported else response

    def _holds(self, draft: types.AnswerResponse) -> bool:
        """Return whether a draft is shown as the answer; one that was stopped by the user always is."""
        if not draft.answer:
            return False
        if draft.stopped:
            return True
        if self.options.require_citations:
            return self._is_grounded(draft)
        return not is_refusal(draft.answer) or any(sentence.support is not None for sentence in draft.sentences)

    def _is_grounded(self, draft: types.AnswerResponse) -> bool:
        """Return whether a sentence that the sources do not deny has a quote, so that a reader can check it.

        A small model's sentence must have no figure of its own, since its quotes are passages that were found
        afterwards, and it computes wrongly. What half explains such a figure, without one, does not count.
        """
        quoted = {citation.sentence for citation in draft.citations if citation.quote is not None}
        is_by_small_model = draft.model != EXTRACTIVE_MODEL and self.llm and providers.is_small(self.llm)
        denied = {types.Support.CONTRADICTED, types.Support.NOT_STATED}
        if not is_by_small_model:
            is_proved = any(sentence.support and sentence.support.is_proved for sentence in draft.sentences)
            return is_proved or any(draft.sentences[number].support not in denied for number in quoted)
        invented = {citation.sentence for citation in draft.citations if citation.unsupported_numbers}
        held = [
            draft.sentences[number] for number in quoted - invented if draft.sentences[number].support not in denied
        ]
        proved = {types.Support.SUPPORTED, types.Support.QUOTED}
        return any(not invented or one.support in proved or any(map(str.isdigit, one.text)) for one in held)

    # --- finish -------------------------------------------------------------------------------------

    def _finish(
        self,
        understood: UnderstoodQuestion,
        events: Events,
        auth: types.Auth,
        search: types.SearchResponse | None = None,
        unread: str | None = None,
    ) -> Events:
        """Yield `events` with the answer completed, also the one that is still being judged.

        It gets the question as it was understood, follow-up questions, why pages are `unread` or which page a page's
        number means, how the `search` went, what it cost and what it was made from. `auth` is the key of the provider
        that may still fail.
        """
        at = dt.datetime.now(dt.UTC)
        follow_ups: tuple[str, ...] | None = None  # an answer that is judged comes twice

        def complete(answer: types.AnswerResponse) -> types.AnswerResponse:
            nonlocal follow_ups
            if follow_ups is None:
                follow_ups = self._follow_ups(understood, answer)
            hint = answer.hint or unread or question_intent.page_note(self.request.question, answer)
            usage = {
                "embedding_tokens": search.usage.embedding_tokens if search else 0,
                "latency_ms": (time.perf_counter() - self._started) * 1000,
            }
            spent = [answer.usage, *self.spent, *self.composite.spent, *([search.usage] if search else ())]
            completed = {
                "question": understood.rewritten,
                "follow_ups": answer.follow_ups or follow_ups,
                "hint": "\n".join(filter(None, (self.composite.uncounted, hint))) or None,
                "retrieval": summary.model_copy(update={"returned": len(search.results if search else answer.sources)}),
                "reading": self._reading,
                "usage": types.total_usage(spent).model_copy(update=usage),
                "provenance": provenance(answer, self.workspace, self.index, self.request, at),
            }
            return answer.model_copy(update=completed)

        pages: dict[uuid.UUID, set[int]] = {}
        for hit in search.results if search else ():
            pages.setdefault(hit.chunk.document_id, set()).update(hit.chunk.pages)
        options = self.search.options
        summary = types.RetrievalSummary(
            top_k=options.top_k,
            min_score=options.min_score,
            mode=options.mode,
            returned=0,
            named=understood.named,
            searches=tuple(search.question for search in understood.searches),
            pages={document_id: tuple(sorted(numbers)) for document_id, numbers in pages.items()},
        )
        with contextlib.closing(events), request_key_errors(auth):
            for event in events:
                yield types.with_changed_answer(event, complete)

    def _follow_ups(self, understood: UnderstoodQuestion, answer: types.AnswerResponse) -> tuple[str, ...]:
        """Return what to ask next, with questions in this language that the document of the first source answers."""
        known: Sequence[str] = ()
        if answer.contexts:
            with contextlib.suppress(errors.NotFoundError):  # purged meanwhile
                document_id = answer.contexts[0].chunk.document_id
                known = Suggestions(self.workspace).known_in(document_id, detect(self.request.question))
        is_alone = bool(answer.contexts) and len(self._understanding.documents) == 1
        return suggested_questions.follow_ups(understood.complete, answer, known, is_alone=is_alone)


def _without_events(extract: Generator[types.AnswerToken, None, types.AnswerResponse]) -> types.AnswerResponse:
    while True:
        try:
            next(extract)
        except StopIteration as end:
            answer: types.AnswerResponse = end.value
            return answer
