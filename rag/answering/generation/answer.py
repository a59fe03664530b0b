"""Answer a question from search hits, by a language model or by extracts, and verify every sentence.

The flow: hits → context (`context`) → model output or extracts → sentences with citations (`verification.citations`) →
a verdict and located quotes for each (`verification.grounding`) → response.
"""

import functools
import time
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING

from rag import errors, prompts, providers, tracing
from rag.answering.conversation.followups import standalone
from rag.answering.extraction import extractive_answer
from rag.answering.extraction.quoted_answer import MODEL as EXTRACTIVE_MODEL
from rag.answering.generation.claim_filter import drop_unproved
from rag.answering.generation.context import (
    MIN_SOURCE_TOKENS,
    Context,
    ReadDocuments,
    build_context,
    build_fitting_context,
    default_budget,
)
from rag.answering.generation.draft import Draft
from rag.answering.generation.model_answer import Stop, Writer, check, generate, never_stop, prompt_messages
from rag.answering.text.markup import CITATION_MARK, plain_text
from rag.answering.verification.checkable_statements import is_refusal
from rag.answering.verification.grounding import Grounder, Locate
from rag.answering.verification.meaning import MeaningJudge
from rag.retrieval import CompletionCache, Reranker
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
)

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM, ChatMessage

DEFAULT_OPTIONS = AnswerOptions()
DEFAULT_GENERATION = GenerationOptions()

CONDENSED_MESSAGES = 6
CONDENSED_MESSAGE_CHARS = 1500
"""Limits of the conversation that is read to understand a follow-up question."""

MAX_CONDENSED_CHARS = 1000
"""A longer model output is no standalone question."""


def stream(
    question: str,
    hits: Sequence[Hit],
    *,
    llm: "LLM | None",
    locate: Locate,
    reranker: Reranker | None = None,
    reader: Reranker | None = None,
    judge: MeaningJudge | None = None,
    memory: CompletionCache | None = None,
    rewritings: Sequence[Rewriting] = (),
    read_documents: ReadDocuments | None = None,
    options: AnswerOptions = DEFAULT_OPTIONS,
    generation: GenerationOptions = DEFAULT_GENERATION,
    stop: Stop = never_stop,
) -> Generator[AnswerEvent, None, None]:
    """Yield stages and pieces of the answer to `question` from `hits`, then the verified answer, which replaces them.

    Without `llm`, and where it gives no answer that the sources support, the best sentences and table rows of the
    sources are the answer; the `reader` and `rewritings` from the vocabulary help to find them. Pieces contain no
    quote tags, no HTML and no ids of unknown sources. Model output is cached in `memory`; `judge` judges sentences in
    other words than their sources, while the stage "judging" shows the answer without that. Once `stop` returns True
    writing ends, and what was written is verified and returned, without asking the judge.

    Raises:
        errors.ConfigError: the language model's window is too small for any source.
        errors.ProviderError: the language model refuses or is down.
    """
    started = time.perf_counter()
    with tracing.span("context", hits=len(hits)) as step:
        context = read_context(question, hits, llm, options, read_documents)
        step.add(sources=len(context.hits))
    grounder = Grounder(context.hits, locate=locate, reranker=reranker, judge=judge)
    choose = functools.partial(
        extractive_answer.choose, question, reranker=reranker, reader=reader, rewritings=rewritings
    )
    if not context.sources:
        draft = Draft(model=_model_name(llm))
    elif llm is None:
        draft = yield from _extract(choose, grounder, context)
    else:
        writer = Writer(llm, generation, memory if options.use_cache else None, stop)
        written = yield from generate(question, writer, grounder, context)
        draft = check(written, grounder, by_meaning=False)
        if grounder.leaves_open(written.answer.claims, written.answer.text):
            so_far = _response(draft, context, hits, options, time.perf_counter() - started)
            if so_far.citations:
                yield AnswerStage(name="judging", so_far=so_far)
            if not stop():
                draft = check(written, grounder, by_meaning=True)
        if not _holds(draft, options):
            whole = read_context(question, hits, None, options)  # quotes need no reading time
            grounder = Grounder(whole.hits, locate=locate, reranker=reranker)
            draft = _quote_instead(draft, _extract(choose, grounder, whole))
            context = whole
    yield _response(draft, context, hits, options, time.perf_counter() - started)


def read_context(
    question: str,
    hits: Sequence[Hit],
    llm: "LLM | None",
    options: AnswerOptions = DEFAULT_OPTIONS,
    read_documents: ReadDocuments | None = None,
) -> Context:
    """Build the context of an answer from `hits` within `options`, the model's context window and its reading time.

    All but small models get those documents whole that fit.

    Raises:
        errors.ConfigError: the model's window is too small for any source.
    """
    budget = options.max_context_tokens or default_budget(llm)
    documents = read_documents(hits, budget) if read_documents and llm and not providers.is_small(llm) else ()
    if llm is None or not (hits or documents):
        return build_context(hits, budget_tokens=budget)
    room = providers.remaining_tokens(llm, *(message.content or "" for message in prompt_messages(llm, question, "")))
    if room < MIN_SOURCE_TOKENS:
        raise errors.ConfigError(
            f"{_model_name(llm)} takes too little at once: with the question, the instructions and "
            f"{llm.metadata.num_output:,} tokens for the answer there is no room for a source. Choose a model with a "
            "larger context window, have its server give it more, or ask for a shorter answer (maxOutputTokens)."
        )
    in_time = providers.reading_budget(llm) or budget
    return build_fitting_context(hits, budget_tokens=min(budget, in_time), room=room, documents=documents)


def condense(question: str, history: Sequence[Message], llm: "LLM | None", names: Sequence[str] = ()) -> str:
    """Rewrite `question` as a standalone question that needs no `history`.

    Without a model, rules do it; they recognise `names` in any spelling.
    """
    if not history:
        return question
    if llm is None:
        whole = standalone(question, [turn.content for turn in history if turn.role == "user"], names)
        return whole if len(whole) <= MAX_CONDENSED_CHARS else question
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    turns = [f"{message.role}: {_short(message.content)}" for message in history[-CONDENSED_MESSAGES:]]
    prompt = _condensing(question, turns)
    while len(turns) > 1 and providers.remaining_tokens(llm, prompt) < 0:
        turns = turns[1:]
        prompt = _condensing(question, turns)
    reply = providers.complete(llm, [ChatMessage(role=MessageRole.USER, content=prompt)])
    condensed = " ".join(reply.split()).strip("\"'“”")
    return condensed if 0 < len(condensed) <= MAX_CONDENSED_CHARS else question


def _condensing(question: str, turns: Sequence[str]) -> str:
    return prompts.CONDENSE_QUESTION.format(history="\n".join(turns), question=question)


def _short(content: str) -> str:
    return CITATION_MARK.sub("", content)[:CONDENSED_MESSAGE_CHARS]


def _model_name(llm: "LLM | None") -> str:
    return llm.metadata.model_name if llm else EXTRACTIVE_MODEL


# --- quoted from the sources ------------------------------------------------------------------------


def _extract(
    choose: Callable[[Sequence[Hit]], extractive_answer.Choice], grounder: Grounder, context: Context
) -> Generator[AnswerToken, None, Draft]:
    ids = {id(hit): citation_id for citation_id, hit in context.hits.items()}
    with tracing.span("model", model=EXTRACTIVE_MODEL):
        choice = choose(list(context.hits.values()))
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
    return Draft(
        EXTRACTIVE_MODEL,
        text,
        tuple(sentences),
        tuple(cited),
        likelihood=choice.likelihood if sentences else None,
        hint=choice.hint,
        nearest=choice.nearest,
    )


def _quote_instead(draft: Draft, extract: Generator[AnswerToken, None, Draft]) -> Draft:
    """Return what the sources say themselves in place of a model's `draft` that does not hold.

    A refusal may be right: only a likely extract replaces it. An empty or unsupported text says nothing about the
    sources.
    """
    try:
        while True:
            next(extract)
    except StopIteration as end:
        quoted: Draft = end.value
    least = LIKELY_THRESHOLD if is_refusal(draft.text) else 0.0
    if quoted.sentences and (quoted.likelihood or 0.0) >= least:
        return quoted._replace(hint=prompts.QUOTED_INSTEAD.format(model=draft.model), usage=draft.usage)
    return draft._replace(hint=quoted.hint, nearest=quoted.nearest)


# --- does it hold? ----------------------------------------------------------------------------------


def _response(
    draft: Draft, context: Context, hits: Sequence[Hit], options: AnswerOptions, seconds: float
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


def _holds(draft: Draft, options: AnswerOptions) -> bool:
    """Return whether a draft is shown as the answer; one that was stopped by the user always is."""
    holds = draft.stopped or (_is_grounded(draft) if options.require_citations else not _is_refusal(draft))
    return bool(draft.text) and holds


def _is_grounded(draft: Draft) -> bool:
    """Return whether a sentence that is not contradicted has a quote, so that a reader can check it.

    A small model's sentence must be verified and have no figure of its own, since its quotes are passages that were
    found afterwards, and it computes wrongly. What half explains such a figure, without one, does not count.
    """
    quoted = {citation.sentence for citation in draft.citations if citation.quote is not None}
    if not draft.is_by_small_model:
        return any(draft.sentences[number].support is not Support.CONTRADICTED for number in quoted)
    failed = {Support.CONTRADICTED, Support.NOT_VERIFIED}
    invented = {citation.sentence for citation in draft.citations if citation.unsupported_numbers}
    held = [draft.sentences[number] for number in quoted - invented if draft.sentences[number].support not in failed]
    proved = {Support.SUPPORTED, Support.QUOTED}
    return any(not invented or one.support in proved or any(map(str.isdigit, one.text)) for one in held)


def _is_refusal(draft: Draft) -> bool:
    """Return whether the draft says that the sources do not answer, and states nothing else."""
    states = any(sentence.support is not None for sentence in draft.sentences)
    return is_refusal(draft.text) and not states
