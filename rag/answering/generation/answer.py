"""Answer a question from search hits, by a language model or by extracts, and verify every sentence.

The flow: hits → context (`context`) → model output or extracts → sentences with citations (`verification.citations`) →
a verdict and located quotes for each (`verification.grounding`) → response.
"""

import contextlib
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rag import errors, prompts, providers, tracing
from rag.answering.conversation.followups import standalone
from rag.answering.extraction import extractive_answer
from rag.answering.extraction.quoted_answer import MODEL as EXTRACTIVE_MODEL
from rag.answering.generation.claim_filter import drop_unproved
from rag.answering.generation.context import MIN_SOURCE_TOKENS, Context, build_context, build_fitting_context
from rag.answering.text.markup import CITATION_MARK, AnswerFilter, plain_text
from rag.answering.verification import citations
from rag.answering.verification.checkable_statements import is_refusal
from rag.answering.verification.grounding import Grounder, Locate
from rag.answering.verification.meaning import MeaningJudge
from rag.answering.verification.quote_matching import normalize
from rag.retrieval import CompletionCache, Reranker, request_digest
from rag.types import (
    LIKELY_THRESHOLD,
    AnswerEvent,
    AnswerOptions,
    AnswerResponse,
    AnswerStage,
    AnswerToken,
    Citation,
    GenerationOptions,
    Hit,
    Message,
    Rewriting,
    Sentence,
    Support,
    Usage,
)

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM, ChatMessage

DEFAULT_OPTIONS = AnswerOptions()
DEFAULT_GENERATION = GenerationOptions()

Stop = Callable[[], bool]
"""Return True to stop an answer that is being written."""


def never_stop() -> bool:
    """Never stop."""
    return False


CONDENSED_MESSAGES = 6
CONDENSED_MESSAGE_CHARS = 1500
"""Limits of the conversation that is read to understand a follow-up question."""

MAX_QUESTION_CHARS = 1000
"""A longer model output is no standalone question."""


def stream(
    question: str,
    hits: Sequence[Hit],
    *,
    llm: "LLM | None",
    locate: Locate,
    reranker: Reranker | None = None,
    judge: MeaningJudge | None = None,
    memory: CompletionCache | None = None,
    rewritings: Sequence[Rewriting] = (),
    options: AnswerOptions = DEFAULT_OPTIONS,
    generation: GenerationOptions = DEFAULT_GENERATION,
    stop: Stop = never_stop,
) -> Generator[AnswerEvent, None, None]:
    """Yield stages and pieces of the answer to `question` from `hits`, then the verified answer, which replaces them.

    Without `llm`, and where it gives no answer that the sources support, the best sentences and table rows of the
    sources are the answer; `rewritings` from the vocabulary help to find them. Pieces contain no quote tags, no HTML
    and no ids of unknown sources. Model output is cached in `memory`; `judge` judges sentences in other words than
    their sources. Once `stop` returns True writing ends, and what was written is verified and returned.

    Raises:
        errors.ConfigError: the language model's window is too small for any source.
        errors.ProviderError: the language model refuses or is down.
    """
    started = time.perf_counter()
    with tracing.span("context", hits=len(hits)) as step:
        context = read_context(question, hits, llm, options)
        step.add(sources=len(context.hits))
    grounder = Grounder(context.hits, locate=locate, reranker=reranker, judge=judge)
    if not context.sources:
        draft = _Draft(model=_model_name(llm))
    elif llm is None:
        draft = yield from _extract(question, grounder, context, reranker, rewritings)
    else:
        writer = _Writer(llm, generation, memory if options.use_cache else None, stop)
        draft = yield from _generate(question, writer, grounder, context)
        if not _holds(draft, options):
            draft = _quote_instead(draft, _extract(question, grounder, context, reranker, rewritings))
    yield _response(draft, context, hits, options, time.perf_counter() - started)


def read_context(
    question: str, hits: Sequence[Hit], llm: "LLM | None", options: AnswerOptions = DEFAULT_OPTIONS
) -> Context:
    """Build the context of an answer from `hits` within `options`, the model's context window and its reading time.

    Raises:
        errors.ConfigError: the model's window is too small for any source.
    """
    if llm is None or not hits:
        return build_context(hits, budget_tokens=options.max_context_tokens)
    room = providers.remaining_tokens(llm, *(message.content or "" for message in _messages(llm, question, "")))
    if room < MIN_SOURCE_TOKENS:
        raise errors.ConfigError(
            f"{_model_name(llm)} takes too little at once: with the question, the instructions and "
            f"{llm.metadata.num_output:,} tokens for the answer there is no room for a source. Choose a model with a "
            "larger context window, have its server give it more, or ask for a shorter answer (maxOutputTokens)."
        )
    in_time = providers.reading_budget(llm) or options.max_context_tokens
    return build_fitting_context(hits, budget_tokens=min(options.max_context_tokens, in_time), room=room)


def condense(question: str, history: Sequence[Message], llm: "LLM | None", names: Sequence[str] = ()) -> str:
    """Rewrite `question` as a standalone question that needs no `history`.

    Without a model, rules do it; they recognise `names` in any spelling.
    """
    if not history:
        return question
    if llm is None:
        whole = standalone(question, [turn.content for turn in history if turn.role == "user"], names)
        return whole if len(whole) <= MAX_QUESTION_CHARS else question
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    turns = [f"{message.role}: {_short(message.content)}" for message in history[-CONDENSED_MESSAGES:]]
    prompt = _condensing(question, turns)
    while len(turns) > 1 and providers.remaining_tokens(llm, prompt) < 0:
        turns = turns[1:]
        prompt = _condensing(question, turns)
    reply = providers.complete(llm, [ChatMessage(role=MessageRole.USER, content=prompt)])
    condensed = " ".join(reply.split()).strip("\"'“”")
    return condensed if 0 < len(condensed) <= MAX_QUESTION_CHARS else question


def _condensing(question: str, turns: Sequence[str]) -> str:
    return prompts.CONDENSE_QUESTION.format(history="\n".join(turns), question=question)


def _short(content: str) -> str:
    return CITATION_MARK.sub("", content)[:CONDENSED_MESSAGE_CHARS]


class _Draft(NamedTuple):
    """An answer before the decision whether it is shown."""

    model: str
    text: str = ""
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Usage = Usage()
    likelihood: float | None = None
    hint: str | None = None
    nearest: Hit | None = None
    stopped: bool = False


def _model_name(llm: "LLM | None") -> str:
    return llm.metadata.model_name if llm else EXTRACTIVE_MODEL


# --- written by a language model --------------------------------------------------------------------


WriterResult = tuple[Usage, bool]
"""Usage of an answer, and whether it was stopped early."""
_Shown = tuple[str, WriterResult]


@dataclass(frozen=True)
class _Writer:
    """A language model with a cache of its answers."""

    llm: "LLM"
    generation: GenerationOptions
    memory: CompletionCache | None
    stop: Stop = never_stop

    def write(self, messages: "Sequence[ChatMessage]") -> Generator[str, None, WriterResult]:
        """Yield the answer piece by piece, or at once from the cache; only complete answers are cached."""
        key = self._key(messages)
        known = self.memory.recall("answers", key) if self.memory else None
        if known is not None:
            yield known
            return Usage(), False
        pieces: list[str] = []
        stream = providers.complete_stream(self.llm, messages)
        with contextlib.closing(stream):
            while True:
                try:
                    piece = next(stream)
                except StopIteration as end:
                    usage: Usage = end.value or Usage()
                    break
                pieces.append(piece)
                yield piece
                if self.stop():
                    return self._priced(_estimate_usage(messages, "".join(pieces))), True
        if self.memory:
            self.memory.keep("answers", key, "".join(pieces))
        return self._priced(usage if usage.output_tokens else _estimate_usage(messages, "".join(pieces))), False

    def _priced(self, usage: Usage) -> Usage:
        return usage.model_copy(update={"cost_usd": providers.cost(self.llm, usage)})

    def _key(self, messages: "Sequence[ChatMessage]") -> bytes:
        options = f"{self.generation.temperature} {self.generation.max_output_tokens}"
        texts = [message.content or "" for message in messages]
        return request_digest(providers.model_id(self.llm), options, prompts.ANSWER_PROMPT_VERSION, *texts)


def _generate(
    question: str, writer: _Writer, grounder: Grounder, context: Context
) -> Generator[AnswerStage | AnswerToken, None, _Draft]:
    messages = _messages(writer.llm, question, context.text)
    if seconds := providers.reading_seconds(writer.llm, _count_tokens(messages)):
        yield AnswerStage(name="reading", seconds=seconds)
    markup = AnswerFilter(context.hits)
    model = _model_name(writer.llm)
    written = tracing.streaming("model", lambda: writer.write(messages), model=model)
    text, (usage, stopped) = yield from _stream_visible(written, markup)
    yield AnswerStage(name="checking")
    with tracing.span("ground") as step:
        parsed = grounder.attribute(citations.parse_filtered(text, markup.quotes))
        sentences, cited = grounder.ground(parsed.claims, parsed.text)
        step.add(sentences=len(sentences), citations=len(cited))
    if stopped:
        sentences = _drop_last_verdict(sentences)
    return _Draft(model, parsed.text, sentences, cited, usage, stopped=stopped)


def _drop_last_verdict(sentences: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Drop the verdict "uncited" of a last sentence that was cut off before its citation."""
    if not sentences or sentences[-1].support is not Support.UNCITED:
        return sentences
    return (*sentences[:-1], sentences[-1].model_copy(update={"support": None}))


def _messages(llm: "LLM", question: str, sources: str) -> "list[ChatMessage]":
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    system = prompts.ANSWER_SYSTEM if providers.writes_quotes(llm) else prompts.ANSWER_SYSTEM_PLAIN
    system = system.format(not_found=prompts.NOT_FOUND_SENTINEL)
    user = prompts.ANSWER_USER.format(context=sources, question=question)
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), ChatMessage(role=MessageRole.USER, content=user)]


def _stream_visible(
    pieces: Generator[str, None, WriterResult], markup: AnswerFilter
) -> Generator[AnswerToken, None, _Shown]:
    """Yield the displayable text of `pieces`; return all of it and the writer's result.

    Text that may still become a refusal is held back, so that it is never displayed and withdrawn.
    """
    shown = held = ""
    told: WriterResult | None = None
    with contextlib.closing(pieces):
        while told is None:
            try:
                held += markup.feed(next(pieces))
            except StopIteration as end:
                told = end.value or (Usage(), False)
                held += markup.finish()
            if held and not _may_refuse(shown + held):
                shown += held
                yield AnswerToken(text=held)
                held = ""
    return shown + held, told


def _estimate_usage(messages: "Sequence[ChatMessage]", text: str) -> Usage:
    """Estimate usage with the embedded model's tokenizer, for vendors that report none."""
    return Usage(input_tokens=_count_tokens(messages), output_tokens=providers.count_tokens(text))


def _count_tokens(messages: "Sequence[ChatMessage]") -> int:
    return sum(providers.count_tokens(message.content or "") for message in messages)


_SENTINEL = normalize(prompts.NOT_FOUND_SENTINEL).text


def _may_refuse(text: str) -> bool:
    """Return whether `text` is a prefix of the refusal."""
    return _SENTINEL.startswith(normalize(text).text)


# --- quoted from the sources ------------------------------------------------------------------------


def _extract(
    question: str, grounder: Grounder, context: Context, reranker: Reranker | None, rewritings: Sequence[Rewriting]
) -> Generator[AnswerToken, None, _Draft]:
    ids = {id(hit): citation_id for citation_id, hit in context.hits.items()}
    with tracing.span("model", model=EXTRACTIVE_MODEL):
        choice = extractive_answer.choose(
            question, list(context.hits.values()), reranker=reranker, rewritings=rewritings
        )
    several = len({hit.passage.document_id for hit in context.hits.values()}) > 1
    text = ""
    sentences: list[Sentence] = []
    cited: list[Citation] = []
    for candidate, _, row in choice.extracts:
        citation_id = ids[id(candidate.hit)]
        shown = plain_text(candidate.text)
        if not any(map(str.isalnum, shown)):  # a picture's address, and nothing else
            continue
        where = f"{plain_text(candidate.hit.document_name)}, p. {candidate.page_number}: " if several else ""
        lead = f"\n\n{where}" if text else where
        start = len(text) + len(lead)
        piece = f"{lead}{shown} [{citation_id}]"
        yield AnswerToken(text=piece)
        text += piece
        with tracing.span("ground", citation=citation_id):
            cited.append(grounder.cite_unit(len(sentences), citation_id, candidate.unit, row))
        sentences.append(
            Sentence(text=shown, citation_ids=(citation_id,), start=start, end=len(text), support=Support.QUOTED)
        )
    return _Draft(
        EXTRACTIVE_MODEL,
        text,
        tuple(sentences),
        tuple(cited),
        likelihood=choice.likelihood if sentences else None,
        hint=choice.hint,
        nearest=choice.nearest,
    )


def _quote_instead(draft: _Draft, extract: Generator[AnswerToken, None, _Draft]) -> _Draft:
    """Return what the sources say themselves in place of a model's `draft` that does not hold.

    A refusal may be right: only a likely extract replaces it. An empty or unsupported text says nothing about the
    sources.
    """
    try:
        while True:
            next(extract)
    except StopIteration as end:
        quoted: _Draft = end.value
    least = LIKELY_THRESHOLD if is_refusal(draft.text) else 0.0
    if quoted.sentences and (quoted.likelihood or 0.0) >= least:
        return quoted._replace(hint=prompts.QUOTED_INSTEAD.format(model=draft.model), usage=draft.usage)
    return draft._replace(hint=quoted.hint, nearest=quoted.nearest)


# --- does it hold? ----------------------------------------------------------------------------------


def _response(
    draft: _Draft, context: Context, hits: Sequence[Hit], options: AnswerOptions, seconds: float
) -> AnswerResponse:
    is_ok = _holds(draft, options)
    cited = {citation.citation_id for citation in draft.citations} if is_ok else set()
    response = AnswerResponse(
        status="ok" if is_ok else "insufficient_context",
        answer=draft.text if is_ok else options.insufficient_evidence_message or prompts.INSUFFICIENT_CONTEXT_MESSAGE,
        sentences=draft.sentences if is_ok else (),
        citations=draft.citations if is_ok else (),
        sources={citation_id: hit for citation_id, hit in context.hits.items() if citation_id in cited},
        nearest=() if is_ok else tuple(sorted(hits, key=lambda hit: hit is not draft.nearest)),
        hint=draft.hint,
        likelihood=draft.likelihood if is_ok else None,
        require_citations=options.require_citations,
        stopped=draft.stopped,
        model=draft.model,
        usage=draft.usage.model_copy(update={"latency_ms": seconds * 1000}),
    )
    return drop_unproved(response) if options.drop_unsupported else response


def _holds(draft: _Draft, options: AnswerOptions) -> bool:
    """Return whether a draft is shown as the answer; one that was stopped by the user always is."""
    holds = draft.stopped or (_is_grounded(draft) if options.require_citations else not _is_refusal(draft))
    return bool(draft.text) and holds


def _is_grounded(draft: _Draft) -> bool:
    """Return whether a sentence that is not contradicted has a quote, so that a reader can check it."""
    quoted = {citation.sentence for citation in draft.citations if citation.quote is not None}
    return any(draft.sentences[number].support is not Support.CONTRADICTED for number in quoted)


def _is_refusal(draft: _Draft) -> bool:
    """Return whether the draft says that the sources do not answer, and states nothing else."""
    states = any(sentence.support is not None for sentence in draft.sentences)
    return is_refusal(draft.text) and not states
