"""Have a language model write: the prompt, the stream and its displayable text, broken outputs, dropped sentences."""

import contextlib
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from rag import errors, prompts, providers, types
from rag.answering.text.json_replies import is_cut_off
from rag.answering.text.markup import AnswerFilter, ProposedQuote
from rag.answering.text.normalized_text import normalize
from rag.answering.text.sentences import without_bullet
from rag.messages import N_
from rag.retrieval import CompletionCache, request_digest

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM, ChatMessage


def final_answer(events: Iterable[types.AnswerEvent]) -> types.AnswerResponse:
    """Return the verified answer at the end of `events`.

    Raises:
        errors.GroundingError: the events end without it.
    """
    for event in events:
        if isinstance(event, types.AnswerResponse):
            return event
    raise errors.GroundingError(N_("The answer broke off before it was checked. Ask again."))


def drop_struck(response: types.AnswerResponse) -> types.AnswerResponse:
    """Return `response` without its struck sentences."""
    return drop_sentences(response, response.struck)


def drop_unproved(response: types.AnswerResponse) -> types.AnswerResponse:
    """Return `response` without struck sentences, those that are not verified and those that cite nothing."""
    return drop_sentences(response, (*response.struck, *response.unverified))


def drop_sentences(response: types.AnswerResponse, numbers_struck: Iterable[int]) -> types.AnswerResponse:
    """Return `response` without some sentences (by index), their citations, and sources only they cite."""
    struck = frozenset(numbers_struck)
    if not struck:
        return response
    kept = [index for index in range(len(response.sentences)) if index not in struck]
    numbers = {index: number for number, index in enumerate(kept)}
    cut = list[types.Span]()  # ascending, and none overlaps another
    for index in sorted(struck):
        sentence = response.sentences[index]
        span = _with_gap(response.answer, types.Span(sentence.start, sentence.end))
        if cut and span.start <= cut[-1].end:
            span = types.Span(cut[-1].start, max(cut.pop().end, span.end))
        cut.append(span)
    ends = [*(span.start for span in cut), len(response.answer)]
    starts = [0, *(span.end for span in cut)]
    text = "".join(response.answer[start:end] for start, end in zip(starts, ends, strict=True))
    lead = len(text) - len(text.lstrip())

    def moved(position: int) -> int:
        return position - sum(span.end - span.start for span in cut if span.end <= position) - lead

    citations = tuple(
        citation.model_copy(update={"sentence": numbers[citation.sentence]})
        for citation in response.citations
        if citation.sentence in numbers
    )
    cited = {citation.citation_id for citation in citations}
    return response.model_copy(
        update={
            "answer": text.strip(),
            "sentences": tuple(
                sentence.model_copy(update={"start": moved(sentence.start), "end": moved(sentence.end)})
                for sentence in (response.sentences[index] for index in kept)
            ),
            "citations": citations,
            "sources": {citation_id: hit for citation_id, hit in response.sources.items() if citation_id in cited},
        }
    )


def _with_gap(text: str, span: types.Span) -> types.Span:
    """Extend `span` by its white space, or to the whole line if only a bullet would remain."""
    line_end = text.find("\n", span.end)
    line = types.Span(text.rfind("\n", 0, span.start) + 1, len(text) if line_end < 0 else line_end)
    body = without_bullet(text, line)
    before, after = text[body.start : span.start].strip(" |"), text[span.end : line.end].strip(" |.")
    if not before and not after:
        return types.Span(line.start, min(line.end + 1, len(text)))
    end = line.end - len(text[span.end : line.end].lstrip(" \t"))
    return types.Span(len(text[: span.start].rstrip(" \t")) if end == line.end else span.start, end)


Stop = Callable[[], bool]
"""Return True to stop an answer that is being written."""


def never_stop() -> bool:
    """Never stop."""
    return False


class Ending(NamedTuple):
    """How an output ended: `stopped` before its end by the user or by an error, and what to tell about that."""

    usage: types.Usage = types.Usage()
    stopped: bool = False
    hint: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return not self.stopped and self.hint is None


class Output(NamedTuple):
    """The displayable text of an output, and the quotes proposed in it."""

    text: str
    quotes: Sequence[ProposedQuote]
    ending: Ending


@dataclass(frozen=True)
class Writer:
    """A language model with a cache of its answers, which are JSON of the `schema` if it can be told one.

    Only complete ones that are usable are cached, and JSON that was cut off at the limit, which shows it.
    """

    llm: "LLM"
    generation: types.GenerationOptions
    memory: CompletionCache | None
    stop: Stop = never_stop
    schema: Mapping[str, Any] | None = None
    is_usable: Callable[[str], object] = bool

    def write(self, messages: "Sequence[ChatMessage]") -> Generator[str, None, Ending]:
        """Yield the answer piece by piece, or at once from the cache.

        Raises:
            errors.ProviderError: the model fails before its first word; after it, what was written is kept.
        """
        options = f"{self.generation.temperature} {self.generation.max_output_tokens}"
        texts = [message.content or "" for message in messages]
        key = request_digest(providers.model_id(self.llm), options, prompts.ANSWER_PROMPT_VERSION, *texts)
        known = self.memory.recall("answers", key) if self.memory else None
        if known is not None:
            yield known
            return Ending(hint=self._limit if self.schema and is_cut_off(known) else None)
        if self.stop():
            return Ending(stopped=True)
        pieces: list[str] = []
        ending = yield from self._ask(messages, pieces)
        text = "".join(pieces)
        is_kept = (
            self.is_usable(text) if ending.is_complete else self.schema and not ending.stopped and is_cut_off(text)
        )
        if self.memory and is_kept:
            self.memory.keep("answers", key, text)
        return ending._replace(usage=providers.used(self.llm, ending.usage, messages, text))

    @property
    def _limit(self) -> str:
        return prompts.CUT_OFF.format(tokens=f"{self.generation.max_output_tokens:,}")

    def write_whole(self, messages: "Sequence[ChatMessage]") -> tuple[str, Ending]:
        """Return the whole answer, and how it ended. Raises as `write`."""
        pieces, written = list[str](), self.write(messages)
        while True:
            try:
                pieces.append(next(written))
            except StopIteration as end:
                return "".join(pieces), end.value

    def _ask(self, messages: "Sequence[ChatMessage]", pieces: list[str]) -> Generator[str, None, Ending]:
        with contextlib.closing(providers.complete_stream(self.llm, messages, self.schema)) as stream:
            while True:
                try:
                    piece = next(stream)
                except StopIteration as end:
                    finished = end.value or providers.StreamEnd()
                    return Ending(finished.usage, hint=self._limit if finished.is_cut_off else None)
                except errors.ProviderError as error:
                    if not "".join(pieces).strip():
                        raise
                    return Ending(stopped=True, hint=prompts.BROKEN_OFF.format(_error=error.message))
                pieces.append(piece)
                yield piece
                if self.stop():
                    return Ending(stopped=True)


def prompt_messages(llm: "LLM", question: str, sources: str) -> "list[ChatMessage]":
    """Return the instructions for `llm`, and the question with the `sources`."""
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    system = prompts.ANSWER_SYSTEM_PLAIN if providers.is_small(llm) else prompts.ANSWER_SYSTEM
    system = system.format(not_found=prompts.NOT_FOUND_SENTINEL)
    user = prompts.ANSWER_USER.format(context=sources, question=question)
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), ChatMessage(role=MessageRole.USER, content=user)]


def stream_visible(
    pieces: Generator[str, None, Ending], known: Collection[str]
) -> Generator[types.AnswerToken, None, Output]:
    """Yield the displayable text of `pieces`; return all of it. `known` are the ids of the sources.

    Text that may still become a refusal is held back, so that it is never displayed and withdrawn. Reasoning without
    an opening tag is displayed, but not returned.
    """
    markup = AnswerFilter(known)
    raw = shown = held = ""
    ending: Ending | None = None
    with contextlib.closing(pieces):
        while ending is None:
            try:
                piece = next(pieces)
                raw += piece
                held += markup.feed(piece)
            except StopIteration as end:
                ending = end.value or Ending()
                held += markup.finish()
            if held and (shown or not _REFUSAL.startswith(normalize(held).text)):
                shown += held
                yield types.AnswerToken(text=held)
                held = ""
    answer = providers.strip_reasoning(raw)
    if answer == raw:
        return Output(shown + held, markup.quotes, ending)
    markup = AnswerFilter(known)
    return Output(markup.feed(answer) + markup.finish(), markup.quotes, ending)


_REFUSAL = normalize(prompts.NOT_FOUND_SENTINEL).text
