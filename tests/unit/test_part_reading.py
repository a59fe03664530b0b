import re
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, ChatResponse, ChatResponseGen
from pydantic import PrivateAttr

from rag import errors, prompts
from rag.answering.generation.context import hit_tokens
from rag.answering.generation.model_answer import Stop, Writer, never_stop
from rag.answering.generation.part_reading import (
    Part,
    PartReader,
    ReadParts,
    batches_to_join,
    estimate,
    merge_messages,
    split_into_parts,
)
from rag.providers import prompt_size
from rag.types import AnswerStage, GenerationOptions, Hit
from tests import sources
from tests.unit.test_answering import ScriptedLLM

DOCUMENT = uuid.uuid4()


def page(number: int, *, section: str | None = None, lines: int = 10) -> Hit:
    text = "\n".join(f"Line {line} of page {number} tells of the harbour." for line in range(lines))
    hit = sources.hit(text, document_id=DOCUMENT, first=1 + 1000 * number, page_number=number)
    return hit.model_copy(update={"chunk": hit.chunk.model_copy(update={"section": section})})


def ids(parts: Sequence[Part]) -> list[list[str]]:
    return [[source.citation_id for source in part.context.sources] for part in parts]


def pages_of(parts: Sequence[Part]) -> list[list[int]]:
    return [[source.hit.passage.page_number for source in part.context.sources] for part in parts]


PAGE_TOKENS = hit_tokens(page(1))


def test_pages_are_read_in_order_within_the_budget_with_ids_numbered_through() -> None:
    parts = split_into_parts(map(page, range(1, 8)), 3 * PAGE_TOKENS + 5)
    assert pages_of(parts) == [[1, 2, 3], [4, 5, 6], [7]]
    assert ids(parts) == [["S1", "S2", "S3"], ["S4", "S5", "S6"], ["S7"]]
    assert [part.tokens for part in parts] == pytest.approx([3 * PAGE_TOKENS, 3 * PAGE_TOKENS, PAGE_TOKENS], abs=9)
    assert "[S4] [Source: report.pdf, Page 4" in parts[1].context.text


def test_what_fits_is_one_part() -> None:
    assert pages_of(split_into_parts(map(page, range(1, 4)), 100 * PAGE_TOKENS)) == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("begins_at", "expected"),
    [(4, [[1, 2, 3], [4, 5, 6, 7]]), (5, [[1, 2, 3, 4], [5, 6, 7]]), (2, [[1, 2, 3, 4], [5, 6, 7]])],
)
def test_a_part_ends_where_a_section_begins_late_in_it(begins_at: int, expected: list[list[int]]) -> None:
    pages = [page(number, section="Fees" if number >= begins_at else "Berths") for number in range(1, 8)]
    assert pages_of(split_into_parts(pages, 4 * PAGE_TOKENS + 5)) == expected


def test_a_page_that_is_longer_than_a_part_is_divided_and_nothing_of_it_is_lost() -> None:
    long = page(1, lines=100)
    parts = split_into_parts([long, page(2)], 2 * PAGE_TOKENS)
    assert len(parts) > 4
    assert all(part.tokens <= 2 * PAGE_TOKENS for part in parts)
    read = [line.number for part in parts for source in part.context.sources for line in source.lines]
    assert read == [line.number for hit in (long, page(2)) for line in hit.passage.lines]


def test_pages_that_a_section_moves_on_leave_room_for_the_next_page() -> None:
    pages = [page(n, section="Fees" if n >= 4 else "Berths", lines=36 if n == 5 else 10) for n in range(1, 7)]
    budget = 4 * PAGE_TOKENS + 5
    assert hit_tokens(pages[4]) < budget  # it fits, but not behind the fourth page, which begins a section
    parts = split_into_parts(pages, budget)
    assert pages_of(parts) == [[1, 2, 3], [4], [5], [6]]
    assert all(part.tokens <= budget for part in parts)


# --- reading ---


class NotingLLM(ScriptedLLM):
    """Replies what a function makes of the prompt; an error of it is that of the vendor."""

    reply: str = ""
    _reply_to: Callable[[str], str] = PrivateAttr()

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        prompt = messages[-1].content or ""
        self._asked.append(prompt)
        text = self._reply_to(prompt)
        yield ChatResponse(message=ChatMessage(role="assistant", content=text), delta=text)


def is_join(prompt: str) -> bool:
    return prompt.startswith("Notes:")


def noted(prompt: str) -> str:
    """Return a long note on each source of a part, or a short one with the marks of all notes."""
    if is_join(prompt):
        return "- Berths are told of. " + "".join(dict.fromkeys(re.findall(r"\[S\d+\]", prompt)))
    told = "A berth of the harbour is told of here, and it is told of at length. " * 12
    return "\n".join(f"- {told}[{id_}]" for id_ in re.findall(r"^\[(S\d+)\]", prompt, re.MULTILINE))


def read(
    reply_to: Callable[[str], str], *, pages: int = 6, window: int = 100_000, stop: Stop = never_stop
) -> tuple[ReadParts, list[AnswerStage], list[str]]:
    """Read each page as a part: what was read, the stages, and the prompts that joined notes."""
    llm = NotingLLM(window=window)
    llm._reply_to = reply_to
    parts = split_into_parts(map(page, range(1, pages + 1)), PAGE_TOKENS + 5)
    reading = PartReader(Writer(llm, GenerationOptions(), None, stop), "Which berths?", parts).read()
    stages: list[AnswerStage] = []
    while True:
        try:
            event = next(reading)
        except StopIteration as end:
            return end.value, stages, [prompt for prompt in llm.asked if is_join(prompt)]
        if isinstance(event, AnswerStage):
            stages.append(event)


NARROW = 1500
"""A window in which the notes on some parts fit, but not those on six."""


def test_a_note_that_also_says_what_its_part_lacks_is_kept() -> None:
    lacks = "The documents do not state the depth of the berths.\n"
    result, _, (joined,) = read(lambda prompt: noted(prompt) if is_join(prompt) else lacks + noted(prompt))
    assert "[S1]" in joined
    assert len(result.context.sources) == 6


@pytest.mark.parametrize(
    "empty", [prompts.NOT_FOUND_SENTINEL, f"{prompts.NOT_FOUND_SENTINEL} [S1]", "Nothing of this is in here.", ""]
)
def test_a_note_that_holds_nothing_is_left_out(empty: str) -> None:
    result, _, joins = read(lambda prompt: noted(prompt) if "[S2]" in prompt else empty)
    assert not joins
    assert [source.citation_id for source in result.context.sources] == ["S2"]


def test_joining_step_by_step_sends_no_note_alone_and_tells_how_far_it_is() -> None:
    result, stages, joins = read(noted, pages=7, window=NARROW)
    assert len(joins) > 2
    assert all(prompt.count("(Part ") > 1 for prompt in joins)
    assert len(result.context.sources) == 7
    told = [(stage.parts_read, stage.parts) for stage in stages]
    assert told == sorted(told)
    assert told[-1] == (7 + len(joins) - 1, 7 + len(joins) - 1)  # all but the last, which is the answer


def test_a_stop_is_seen_between_the_steps() -> None:
    joined: list[str] = []

    def reply(prompt: str) -> str:
        if is_join(prompt):
            joined.append(prompt)
            time.sleep(0.05)
        return noted(prompt)

    result, _, _ = read(reply, pages=24, window=NARROW, stop=lambda: bool(joined))
    assert result.output.ending.stopped
    assert result.output.text == ""
    assert len(joined) < 8  # of as many batches


@pytest.mark.parametrize("lost", ["", "Nothing is told of berths."])
def test_notes_that_are_joined_to_nothing_are_told_and_not_the_answer(lost: str) -> None:
    result, _, _ = read(lambda prompt: lost if is_join(prompt) and "[S1]" in prompt else noted(prompt), window=NARROW)
    assert "[S6]" in result.output.text
    assert result.hint is not None
    assert result.hint.startswith("Not read completely: report.pdf, p. 1–")
    assert prompts.NOT_JOINED in result.hint


def test_a_step_that_fails_is_told_unless_all_do() -> None:
    def reply(prompt: str, failing: str) -> str:
        if is_join(prompt) and failing in prompt:
            raise errors.ProviderError("Too busy.")
        return noted(prompt)

    result, _, _ = read(lambda prompt: reply(prompt, "[S1]"), window=NARROW)
    assert "[S6]" in result.output.text
    assert result.hint is not None
    assert "Too busy." in result.hint
    with pytest.raises(errors.ProviderError, match="Too busy"):
        read(lambda prompt: reply(prompt, ""), window=NARROW)


# --- what it takes ---


def test_the_estimate_counts_the_pages_that_are_read_again_to_judge_what_cites_them() -> None:
    parts = split_into_parts(map(page, range(1, 41)), 4 * PAGE_TOKENS)
    size = sum(part.tokens for part in parts)

    def judging(window: int, *, output: int = 4096) -> int:
        llm = NotingLLM(window=window)
        judged, plain = (estimate(llm, "Which berths?", parts, output, is_judged=one) for one in (True, False))
        assert judged.output_tokens > plain.output_tokens
        return judged.input_tokens - plain.input_tokens

    assert judging(100_000) > size  # a long answer cites each page
    assert judging(100_000, output=600) < size / 2  # a short one has ten items
    assert judging(3000) > judging(100_000) + 500  # instructions go with each request


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], []),
        ([99], []),
        ([5, 5], []),
        ([5, 6], [[0, 1]]),
        ([4, 4, 4], [[0, 1], [2]]),
        ([2, 3, 4, 2, 9], [[0, 1, 2], [3, 4]]),
        ([12, 12, 1, 9], [[0, 1], [2, 3]]),
    ],
)
def test_notes_are_joined_in_order_two_or_as_many_as_fit(sizes: list[int], batches: list[list[int]]) -> None:
    assert batches_to_join(sizes, 10) == batches


def test_the_estimate_counts_the_steps_in_which_notes_are_joined() -> None:
    def reply(prompt: str) -> str:
        marks = re.findall(r"\[S\d+\]" if is_join(prompt) else r"^\[S\d+\]", prompt, re.MULTILINE)
        return "told " * (700 if is_join(prompt) else 400) + "".join(dict.fromkeys(marks))

    window, parts = 2000, split_into_parts(map(page, range(1, 25)), PAGE_TOKENS + 5)
    _, _, joins = read(reply, pages=24, window=window)
    assert len(joins) > 8
    sent = sum(prompt_size(merge_messages("", prompt)) for prompt in joins)
    narrow, wide = (
        estimate(NotingLLM(window=size), "Which berths?", parts, 700, is_judged=False) for size in (window, 10**6)
    )
    joined_at_once = 24 * 400
    assert narrow.input_tokens - wide.input_tokens == pytest.approx(sent - joined_at_once, rel=0.2)
    assert narrow.output_tokens - wide.output_tokens == 700 * (len(joins) - 1)


def test_an_estimate_knows_what_it_is_for() -> None:
    parts = split_into_parts([page(1), page(2)], PAGE_TOKENS + 5)
    reading = estimate(NotingLLM(), "Which berths?", parts, 1000, is_judged=True)
    assert (reading.document_ids, reading.documents, reading.pages) == ((DOCUMENT,), 1, 2)
    assert reading.model is not None
    assert reading.model.endswith(":scripted-1")
