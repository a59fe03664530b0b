"""Answer from more pages than fit into one prompt: notes on one part after another (map), then one answer (reduce).

The sources of all parts are numbered through, so that a mark or a quote of a note means the same in the answer.
"""

import itertools
import math
import threading
import uuid
from collections.abc import Generator, Iterable, Sequence
from concurrent import futures
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from rag import errors, prompts, providers, tracing, types
from rag.answering.generation.context import Context, Source, build_context, hit_tokens
from rag.answering.generation.model_answer import Ending, Output, Writer, prompt_messages, stream_visible
from rag.answering.text.markup import CITATION_MARK
from rag.answering.verification import judges
from rag.answering.verification.citations import is_sentinel

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM, ChatMessage

PARTS_AT_ONCE = 3
"""Requests at the same time; vendors' rate limits allow few, and a server on this machine answers one by one."""

STOP_SECONDS = 0.1
"""How often a stop is looked for while no part ends."""

SECTION_SHARE = 2 / 3
"""A part that is filled at least so far ends where a section begins, rather than in its middle."""

NOTE_TOKENS = 400
"""Expected length of the notes on a part; a long list has more, a part without an answer a sentence."""

CLAIM_TOKENS = 60
"""Expected length of an item of an answer with its mark and its quote."""


_QUOTE_TAG = "<quote"


class Note(NamedTuple):
    """What a model noted of the sources of a part or of several, and why that is not complete."""

    sources: tuple[Source, ...]
    text: str
    usage: types.Usage = types.Usage()
    hint: str | None = None
    error: errors.ProviderError | None = None

    @property
    def tells(self) -> bool:
        """Whether it holds something for the answer: a statement with a mark or a quote, beside which it may refuse."""
        is_refused = is_sentinel(CITATION_MARK.sub("", self.text))
        return not is_refused and bool(CITATION_MARK.search(self.text) or _QUOTE_TAG in self.text)

    @property
    def places(self) -> str:
        """The names of the documents with the first and last pages of this."""
        pages: dict[str, list[int]] = {}
        for source in self.sources:
            pages.setdefault(source.hit.document_name, []).extend(_pages(source))
        ranges = ((name, min(numbers), max(numbers)) for name, numbers in pages.items())
        return "; ".join(f"{name}, p. {first}" + (f"–{last}" if last > first else "") for name, first, last in ranges)


class ReadParts(NamedTuple):
    """An answer from notes: the output, the sources that it cites, and the notes that are not complete."""

    output: Output
    context: Context
    incomplete: tuple[Note, ...] = ()

    @property
    def hint(self) -> str | None:
        """Which pages were not read completely, and why."""
        return (
            "\n".join(prompts.NOT_READ.format(places=note.places, _error=note.hint) for note in self.incomplete) or None
        )

    @property
    def unread(self) -> dict[uuid.UUID, tuple[int, ...]]:
        """The pages that were not read completely, by document."""
        pages: dict[uuid.UUID, set[int]] = {}
        for source in (source for note in self.incomplete for source in note.sources):
            pages.setdefault(source.hit.passage.document_id, set()).update(_pages(source))
        return {document_id: tuple(sorted(numbers)) for document_id, numbers in pages.items()}


def _pages(source: Source) -> set[int]:
    return {line.page_number for line in source.lines}


# --- parts ----------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """Pages that are read in one prompt, as its sources, and their tokens."""

    context: Context
    tokens: int


def split_into_parts(pages: Iterable[types.Hit], budget_tokens: int) -> list[Part]:
    """Divide pages in reading order into parts of at most `budget_tokens`, with sources that are numbered through.

    A part ends between two pages, if possible where a section begins. A page that is too long alone is divided, too.
    """
    parts: list[tuple[list[types.Hit], int]] = []
    part: list[types.Hit] = []
    sizes: list[int] = []
    for page, size in itertools.chain.from_iterable(_within(page, budget_tokens) for page in pages):
        while part and sum(sizes) + size > budget_tokens:  # what a section moved on may leave no room for the page
            end = _end(part, sizes, page)
            parts.append((part[:end], sum(sizes[:end])))
            part, sizes = part[end:], sizes[end:]
        part.append(page)
        sizes.append(size)
    numbered: list[Part] = []
    first = 1
    for hits, tokens in (*parts, (part, sum(sizes))):
        context = build_context(hits, budget_tokens=None, first=first)
        if context.sources:
            numbered.append(Part(context, tokens))
            first += len(context.sources)
    return numbered


def _end(part: Sequence[types.Hit], sizes: Sequence[int], following: types.Hit) -> int:
    """Return the number of pages that a full part keeps: up to the last section that begins late in it, else all."""
    filled = [*itertools.accumulate(sizes)]
    for end in range(len(part), 0, -1):
        if filled[end - 1] < SECTION_SHARE * filled[-1]:
            break
        if (part[end] if end < len(part) else following).chunk.section != part[end - 1].chunk.section:
            return end
    return len(part)


def _within(page: types.Hit, budget_tokens: int) -> list[tuple[types.Hit, int]]:
    """Return a page with its tokens, divided between its lines if it is longer than a part."""
    tokens, lines = hit_tokens(page), page.passage.lines
    if tokens <= budget_tokens or len(lines) < 2:
        return [(page, tokens)]
    pieces: list[tuple[types.Hit, int]] = []
    for half in (lines[: len(lines) // 2], lines[len(lines) // 2 :]):
        passage, chunk = (one.model_copy(update={"lines": half}) for one in (page.passage, page.chunk))
        pieces += _within(page.model_copy(update={"passage": passage, "chunk": chunk}), budget_tokens)
    return pieces


# --- prompts --------------------------------------------------------------------------------------------


def part_messages(llm: "LLM", question: str, sources: str, number: int = 1, count: int = 1) -> "list[ChatMessage]":
    """Return the prompt for the notes on the `sources` of part `number` of so many."""
    system, user = prompt_messages(llm, question, "")
    user.content = prompts.ANSWER_PART_USER.format(
        number=number, count=count, not_found=prompts.NOT_FOUND_SENTINEL, context=sources, question=question
    )
    return [system, user]


def merge_messages(question: str, notes: str) -> "list[ChatMessage]":
    """Return the prompt for the answer from notes."""
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    system = prompts.ANSWER_MERGE_SYSTEM.format(not_found=prompts.NOT_FOUND_SENTINEL)
    user = prompts.ANSWER_MERGE_USER.format(notes=notes, question=question)
    return [ChatMessage(role=MessageRole.SYSTEM, content=system), ChatMessage(role=MessageRole.USER, content=user)]


def batches_to_join(sizes: Sequence[int], room: int) -> list[list[int]]:
    """Return the numbers of neighbouring notes, two or as many as fit into one prompt, that are joined first.

    None are if there is `room` for the tokens of all.
    """
    batches: list[list[int]] = []
    tokens = room
    for number, size in enumerate(sizes) if len(sizes) > 1 and sum(sizes) > room else ():
        tokens += size
        if not batches or (len(batches[-1]) > 1 and tokens > room):
            batches.append([])
            tokens = size
        batches[-1].append(number)
    return batches


def _note_tokens(note: Note, count: int) -> int:
    """Return the most tokens of one of so many notes in a prompt."""
    text = prompts.PART_NOTES.format(number=count, count=count, places=note.places, text=note.text) + "\n"
    return providers.estimate_max_tokens(text)


def _notes_room(llm: "LLM", question: str) -> int:
    """Return the tokens for notes in a prompt that joins them."""
    return providers.remaining_tokens(llm, *(message.content or "" for message in merge_messages(question, "")))


def estimate(
    llm: "LLM", question: str, parts: Sequence[Part], max_output_tokens: int, *, is_judged: bool
) -> types.WholeReading:
    """Return what reading the `parts` takes: tokens in and out for the notes, the answer and, if wanted, its verdicts.

    Notes that are too long for one prompt are joined step by step, as when they are read. For the verdicts, the sources
    that the answer cites are read again, each item another one, in as many requests as needed.
    """
    sources = [source for part in parts for source in part.context.sources]
    size, instructions = sum(part.tokens for part in parts), providers.prompt_size(merge_messages(question, ""))
    read = size + len(parts) * providers.prompt_size(part_messages(llm, question, ""))
    written = len(parts) * NOTE_TOKENS
    notes = [NOTE_TOKENS] * len(parts)
    while batches := batches_to_join(notes, _notes_room(llm, question)):
        sizes = [sum(notes[number] for number in batch) for batch in batches]
        joined = [tokens for batch, tokens in zip(batches, sizes, strict=True) if len(batch) > 1]
        read += sum(joined) + len(joined) * instructions
        written += sum(min(max_output_tokens, tokens) for tokens in joined)
        notes = [min(max_output_tokens, tokens) for tokens in sizes]
    answer = min(max_output_tokens, sum(notes))
    if len(notes) > 1:  # a single note is the answer
        read, written = read + instructions + sum(notes), written + answer
    if is_judged:
        claims = math.ceil(answer / CLAIM_TOKENS)
        cited = size * min(claims, len(sources)) // len(sources)
        requests = math.ceil(cited / max(judges.sources_room(llm, question), 1)) if cited else 0
        read += cited + answer + requests * providers.count_tokens(judges.judge_prompt(question, (), ()))
        written += claims * judges.VERDICT_TOKENS
    pages = {(source.hit.passage.document_id, page) for source in sources for page in _pages(source)}
    documents = dict.fromkeys(source.hit.passage.document_id for source in sources)
    usage = types.Usage(input_tokens=read, output_tokens=written)
    return types.WholeReading(
        pages=len(pages),
        document_ids=tuple(documents),
        documents=len(documents),
        model=providers.model_id(llm),
        parts=len(parts),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=providers.cost(llm, usage),
        seconds=providers.reading_seconds(llm, usage.input_tokens),
    )


# --- reading --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PartReader:
    """Reads the `parts` for one question; what `writer` writes is cached part by part."""

    writer: Writer
    question: str
    parts: Sequence[Part]

    def read(self) -> Generator[types.AnswerStage | types.AnswerToken, None, ReadParts]:
        """Yield how many parts are read, then the answer's text; return the answer with its quotes.

        The notes on a single part that has an answer are the answer. After a stop before there is text, it is empty.

        Raises:
            errors.ProviderError: no part could be read, or the notes could not be joined.
        """
        count = len(self.parts)
        requests = [
            (part_messages(self.writer.llm, self.question, part.context.text, number, count), part.context.sources)
            for number, part in enumerate(self.parts, start=1)
        ]
        notes = yield from self._take_notes(requests)
        _raise_if_all_failed(notes)
        incomplete, used = [note for note in notes if note.hint], [note.usage for note in notes]
        told = [note for note in notes if note.tells]
        room = _notes_room(self.writer.llm, self.question)
        while not self.writer.stop() and (
            numbers := batches_to_join([_note_tokens(note, len(told)) for note in told], room)
        ):
            batches = [[told[number] for number in batch] for batch in numbers]
            requests = [self._merged(batch) for batch in batches if len(batch) > 1]
            joined = yield from self._take_notes(requests, done=count)
            count += len(requests)
            alone = [batch[0] for batch in batches if len(batch) == 1]
            if not alone:
                _raise_if_all_failed(joined)
            lost = [note._replace(hint=prompts.NOT_JOINED) for note in joined if not note.tells and not note.hint]
            incomplete += [*(note for note in joined if note.hint), *lost]
            used += [note.usage for note in joined]
            told = [note for note in (*joined, *alone) if note.tells]
        if self.writer.stop():
            return ReadParts(Output("", (), Ending(types.total_usage(used), stopped=True)), Context((), ""))
        known = {source.citation_id: source for note in told for source in note.sources}
        pieces = self.writer.write(self._merged(told)[0]) if len(told) > 1 else _known(told)
        output = yield from stream_visible(tracing.streaming("model", lambda: pieces), known)
        cited = {*CITATION_MARK.findall(output.text), *(quote.citation_id for quote in output.quotes)}
        context = Context.of([source for citation_id, source in known.items() if citation_id in cited])
        ending = output.ending._replace(usage=types.total_usage([*used, output.ending.usage]))
        return ReadParts(output._replace(ending=ending), context, tuple(incomplete))

    def _take_notes(
        self, requests: "Sequence[tuple[Sequence[ChatMessage], tuple[Source, ...]]]", done: int = 0
    ) -> Generator[types.AnswerStage, None, list[Note]]:
        """Yield how many parts are read, `done` before these; return the notes on the requests in order.

        What is not begun at a stop is left out.
        """
        left = threading.Event()
        reader = replace(self, writer=replace(self.writer, stop=lambda: left.is_set() or self.writer.stop()))
        count = done + len(requests)
        threads = futures.ThreadPoolExecutor(PARTS_AT_ONCE, thread_name_prefix="reading")
        try:
            jobs = [threads.submit(tracing.bind_context(reader._note), *request) for request in requests]
            pending = set(jobs)
            yield types.AnswerStage(name="reading", parts=count, parts_read=done)
            while pending and not self.writer.stop():
                ended, pending = futures.wait(pending, STOP_SECONDS, futures.FIRST_COMPLETED)
                if ended:
                    yield types.AnswerStage(name="reading", parts=count, parts_read=count - len(pending))
            return [job.result() for job in jobs if job not in pending]
        finally:
            left.set()
            threads.shutdown(wait=False, cancel_futures=True)

    def _note(self, messages: "Sequence[ChatMessage]", sources: tuple[Source, ...]) -> Note:
        """Return what the model notes of a prompt with these sources; an error is part of the note."""
        visible = stream_visible(self.writer.write(messages), {source.citation_id for source in sources})
        try:
            while True:
                next(visible)
        except StopIteration as end:
            output: Output = end.value
        except errors.ProviderError as error:
            return Note(sources, "", hint=error.message, error=error)
        text = output.text
        for quote in reversed(output.quotes):
            mark = f' id="{quote.citation_id}"' if quote.citation_id else ""
            text = f"{text[: quote.position]} {_QUOTE_TAG}{mark}>{quote.text}</quote>{text[quote.position :]}"
        return Note(sources, text, output.ending.usage, output.ending.hint)

    def _merged(self, notes: Sequence[Note]) -> "tuple[list[ChatMessage], tuple[Source, ...]]":
        """Return the prompt that joins some notes, and their sources."""
        return merge_messages(self.question, _text(notes)), tuple(source for note in notes for source in note.sources)


def _raise_if_all_failed(notes: Sequence[Note]) -> None:
    failed = [note.error for note in notes if note.error]
    if failed and len(failed) == len(notes):
        raise failed[0]


def _text(notes: Sequence[Note]) -> str:
    return "\n".join(
        prompts.PART_NOTES.format(number=number, count=len(notes), places=note.places, text=note.text) + "\n"
        for number, note in enumerate(notes, start=1)
    )


def _known(notes: Sequence[Note]) -> Generator[str, None, Ending]:
    """Yield the notes on the only part that has some, or else the refusal."""
    yield notes[0].text if notes else prompts.NOT_FOUND_SENTINEL
    return Ending()
