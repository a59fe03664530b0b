"""From a question and what was found to an answer whose every claim is tied to its source."""

import contextlib
import time
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from llama_index.core.llms import LLM, ChatMessage, MessageRole

from rag import prompts, providers
from rag.answering import citations, extractive
from rag.answering.context import Context, build_context
from rag.answering.grounding import Grounder, Locate
from rag.answering.markup import SHOWN_MARK, AnswerFilter, plain
from rag.answering.quotes import Quote, normalize
from rag.retrieval import Memory, Reranker, request_digest
from rag.types import (
    AnswerEvent,
    AnswerOptions,
    AnswerResponse,
    AnswerToken,
    Citation,
    GenerationOptions,
    Hit,
    Message,
    Sentence,
    Usage,
    Verdict,
)

EXTRACTIVE_MODEL = "extractive"
"""The name under which answers without a language model are given."""

DEFAULT_OPTIONS = AnswerOptions()
DEFAULT_GENERATION = GenerationOptions()

CONDENSED_MESSAGES = 6
CONDENSED_MESSAGE_CHARS = 1500
"""So much of a conversation is read to understand a follow-up question."""

MAX_QUESTION_CHARS = 1000
"""A "standalone question" longer than this is not one."""


def stream(
    question: str,
    hits: Sequence[Hit],
    *,
    llm: LLM | None,
    locate: Locate,
    reranker: Reranker | None = None,
    memory: Memory | None = None,
    options: AnswerOptions = DEFAULT_OPTIONS,
    generation: GenerationOptions = DEFAULT_GENERATION,
) -> Generator[AnswerEvent, None, None]:
    """Pieces of the answer to `question` from what was found, `hits`, then the checked answer, which replaces them.

    Without `llm` the best sentences of the sources are the answer. The pieces show no quote tag, no HTML and no
    id that is not a source's. What the model wrote is kept in `memory` and not asked for twice.

    Raises:
        errors.ProviderError: the language model refuses or is down.
    """
    started = time.perf_counter()
    context = build_context(hits, budget_tokens=options.max_context_tokens)
    grounder = Grounder(context.hits, locate=locate, reranker=reranker)
    if not context.sources:
        draft = _Draft(model=_model_name(llm))
    elif llm is None:
        draft = yield from _extracted(question, grounder, context, reranker)
    else:
        writer = _Writer(llm, generation, memory if options.use_cache else None)
        draft = yield from _written(question, writer, grounder, context)
    yield _response(draft, context, hits, options, time.perf_counter() - started)


def condense(question: str, history: Sequence[Message], llm: LLM | None) -> str:
    """`question` so that it can be understood without `history`; as it is where there is no history or no model."""
    if not history or llm is None:
        return question
    turns = (f"{message.role}: {_short(message.content)}" for message in history[-CONDENSED_MESSAGES:])
    prompt = prompts.CONDENSE_QUESTION.format(history="\n".join(turns), question=question)
    reply = providers.complete(llm, [ChatMessage(role=MessageRole.USER, content=prompt)])
    condensed = " ".join(reply.split()).strip("\"'“”")
    return condensed if 0 < len(condensed) <= MAX_QUESTION_CHARS else question


def _short(content: str) -> str:
    return SHOWN_MARK.sub("", content)[:CONDENSED_MESSAGE_CHARS]


class _Draft(NamedTuple):
    """An answer before it is known to hold."""

    model: str
    text: str = ""
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Usage = Usage()


def _model_name(llm: LLM | None) -> str:
    return llm.metadata.model_name if llm else EXTRACTIVE_MODEL


# --- written by a language model --------------------------------------------------------------------


@dataclass(frozen=True)
class _Writer:
    """A language model that is asked for an answer once, and remembers it where there is a memory."""

    llm: LLM
    generation: GenerationOptions
    memory: Memory | None

    def write(self, messages: Sequence[ChatMessage]) -> Generator[str, None, Usage]:
        """The answer piece by piece, or in one piece if it was written before; only whole answers are kept."""
        key = self._key(messages)
        known = self.memory.recall("answers", key) if self.memory else None
        if known is not None:
            yield known
            return Usage()
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
        if self.memory:
            self.memory.keep("answers", key, "".join(pieces))
        return usage if usage.output_tokens else _estimated(messages, "".join(pieces))

    def _key(self, messages: Sequence[ChatMessage]) -> bytes:
        options = f"{self.generation.temperature} {self.generation.max_output_tokens}"
        texts = [message.content or "" for message in messages]
        return request_digest(providers.model_id(self.llm), options, prompts.ANSWER_PROMPT_VERSION, *texts)


def _written(
    question: str, writer: _Writer, grounder: Grounder, context: Context
) -> Generator[AnswerToken, None, _Draft]:
    messages = [
        ChatMessage(
            role=MessageRole.SYSTEM, content=prompts.ANSWER_SYSTEM.format(not_found=prompts.NOT_FOUND_SENTINEL)
        ),
        ChatMessage(role=MessageRole.USER, content=prompts.ANSWER_USER.format(context=context.text, question=question)),
    ]
    markup = AnswerFilter(context.hits)
    text, usage = yield from _show(writer.write(messages), markup)
    parsed = citations.parse_shown(text, markup.quotes)
    return _Draft(
        model=_model_name(writer.llm),
        text=parsed.text,
        sentences=tuple(claim.sentence for claim in parsed.claims),
        citations=grounder.ground(parsed.claims),
        usage=usage,
    )


def _show(pieces: Generator[str, None, Usage], markup: AnswerFilter) -> Generator[AnswerToken, None, tuple[str, Usage]]:
    """Yield what may be shown of the model's `pieces`; the text shown in all and what the model says it cost.

    What may still become the refusal is held back, so that it is not shown and then withdrawn.
    """
    shown = held = ""
    usage: Usage | None = None
    with contextlib.closing(pieces):
        while usage is None:
            try:
                held += markup.feed(next(pieces))
            except StopIteration as end:
                usage = end.value or Usage()
                held += markup.finish()
            if held and not _may_refuse(shown + held):
                shown += held
                yield AnswerToken(text=held)
                held = ""
    return shown + held, usage


def _estimated(messages: Sequence[ChatMessage], text: str) -> Usage:
    """What it cost by the embedded model's count, for vendors that do not count."""
    asked = sum(providers.count_tokens(message.content or "") for message in messages)
    return Usage(input_tokens=asked, output_tokens=providers.count_tokens(text))


_SENTINEL = normalize(prompts.NOT_FOUND_SENTINEL).text


def _may_refuse(text: str) -> bool:
    """Whether all of `text` so far is the beginning of the refusal."""
    return _SENTINEL.startswith(normalize(text).text)


def _refuses(text: str) -> bool:
    return _SENTINEL.rstrip(".") in normalize(text).text


# --- quoted from the sources ------------------------------------------------------------------------


def _extracted(
    question: str, grounder: Grounder, context: Context, reranker: Reranker | None
) -> Generator[AnswerToken, None, _Draft]:
    ids = {id(hit): citation_id for citation_id, hit in context.hits.items()}
    text = ""
    sentences: list[Sentence] = []
    cited: list[Citation] = []
    for extract in extractive.extract(question, list(context.hits.values()), reranker=reranker):
        citation_id = ids[id(extract.hit)]
        shown = plain(extract.text)
        if not any(map(str.isalnum, shown)):  # a picture's address, and nothing else
            continue
        gap = "\n\n" if text else ""
        start = len(text) + len(gap)
        piece = f"{gap}{shown} [{citation_id}]"
        yield AnswerToken(text=piece)
        text += piece
        index = len(sentences)
        sentences.append(Sentence(text=shown, citation_ids=(citation_id,), start=start, end=len(text)))
        quoted = [Quote(span, Verdict.VERIFIED) for span in (extract.unit.span, extract.unit.header) if span]
        cited += [grounder.cite(index, citation_id, quote) for quote in quoted]
    return _Draft(EXTRACTIVE_MODEL, text, tuple(sentences), tuple(cited))


# --- does it hold? ----------------------------------------------------------------------------------


def _response(
    draft: _Draft, context: Context, hits: Sequence[Hit], options: AnswerOptions, seconds: float
) -> AnswerResponse:
    grounded = any(citation.quote is not None for citation in draft.citations)
    refused = _refuses(draft.text) and not grounded
    is_ok = bool(draft.text) and not refused and (grounded or not options.require_citations)
    cited = {citation.citation_id for citation in draft.citations} if is_ok else set()
    return AnswerResponse(
        status="ok" if is_ok else "insufficient_context",
        answer=draft.text if is_ok else options.insufficient_evidence_message or prompts.INSUFFICIENT_CONTEXT_MESSAGE,
        sentences=draft.sentences if is_ok else (),
        citations=draft.citations if is_ok else (),
        sources={citation_id: hit for citation_id, hit in context.hits.items() if citation_id in cited},
        nearest=() if is_ok else tuple(hits),
        model=draft.model,
        usage=draft.usage.model_copy(update={"latency_ms": seconds * 1000}),
    )
