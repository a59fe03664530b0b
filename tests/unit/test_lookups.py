"""Questions taken apart into look-ups, by a language model that says what the test wants."""

import uuid
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from rag import prompts
from rag.retrieval.multi_step import EXCERPT_CHARS, MAX_LOOKUP_CHARS, look_up, read_lookups
from rag.retrieval.ranking import Ranking, best_first, merge_lookups
from tests.scripted import Scripted

QUESTION = "Who leads the company that bought Lindmark?"
A, B, C, D, E = (uuid.UUID(int=number) for number in range(5))
DOCUMENT = uuid.UUID(int=99)
TEXTS = {A: "Skagen bought\nLindmark. {braces}", B: "Berta Ohm leads Skagen." + " more" * EXCERPT_CHARS}


class Library:
    """Finds for each text what it is told to, and keeps what was searched together."""

    def __init__(self, **found: Sequence[uuid.UUID]) -> None:
        self.found = found
        self.searched: list[list[str]] = []

    def search(self, texts: Sequence[str]) -> list[Ranking]:
        self.searched.append([*texts])
        keys = [self.found.get(text.split()[0], ()) for text in texts]
        return [Ranking(fused={key: 1 / place for place, key in enumerate(found, 1)}) for found in keys]

    def read(self, ids: Sequence[uuid.UUID]) -> list[Any]:
        document = SimpleNamespace(name="a\nreport.pdf")
        return [(SimpleNamespace(text=TEXTS[key], page_number=key.int + 1), document) for key in ids]


def looked_up(model: Scripted, budget: int, library: Library) -> list[tuple[int, str]]:
    made = look_up(QUESTION, budget, model, search=library.search, read=library.read)
    return [(one.variant.step, one.variant.text) for one in made]


def test_look_ups_follow_what_was_found_until_it_suffices() -> None:
    library = Library(buyer=[A], leader=[B, A])
    model = Scripted("LOOKUP: buyer of Lindmark", "LOOKUP: leader of Skagen", "ENOUGH")
    assert looked_up(model, 8, library) == [(1, "buyer of Lindmark"), (2, "leader of Skagen")]
    assert library.searched == [["buyer of Lindmark"], ["leader of Skagen"]]
    first, second, third = (prompt for _, prompt in model.asked)
    assert {kind for kind, _ in model.asked} == {"lookups"}
    assert first == prompts.TAKE_APART.format(count=8, question=QUESTION)
    place = "[a report.pdf, page 1] Skagen bought Lindmark. {braces}\n"
    found = f"Looked up: buyer of Lindmark\n{place}"
    assert second == prompts.LOOK_FURTHER.format(count=7, question=QUESTION, found=found)
    excerpt = TEXTS[B][:EXCERPT_CHARS].strip()
    found += f"\nLooked up: leader of Skagen\n[a report.pdf, page 2] {excerpt}\n{place}"
    assert third == prompts.LOOK_FURTHER.format(count=6, question=QUESTION, found=found)


def test_look_ups_of_one_step_are_searched_together() -> None:
    library = Library()
    assert looked_up(Scripted("LOOKUP: one\nLOOKUP: two", "ENOUGH"), 4, library) == [(1, "one"), (1, "two")]
    assert library.searched == [["one", "two"]]


@pytest.mark.parametrize(
    ("budget", "replies", "expected"),
    [
        (1, ["LOOKUP: one\nLOOKUP: two"], [(1, "one")]),
        (2, ["LOOKUP: one\nLOOKUP: two"], [(1, "one"), (1, "two")]),
        (3, ["LOOKUP: one\nLOOKUP: two", "LOOKUP: three\nLOOKUP: four"], [(1, "one"), (1, "two"), (2, "three")]),
        (2, ["LOOKUP: one", "LOOKUP: two"], [(1, "one"), (2, "two")]),
    ],
)
def test_the_budget_is_kept_and_nobody_asked_once_it_is_spent(
    budget: int, replies: list[str], expected: list[tuple[int, str]]
) -> None:
    model = Scripted(*replies)
    assert looked_up(model, budget, Library()) == expected
    assert model.replies == []


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "ENOUGH",
        "I would look for the buyer first.",
        "1. buyer\n2. leader",
        "LOOKUP:",
        "LOOKUP: ???",
        f"LOOKUP: {'x' * 301}",
        f"lookup: {QUESTION.upper()}",
        "LOOKUP:\nthe buyer",
    ],
)
def test_a_reply_without_a_look_up_ends_it(reply: str) -> None:
    library = Library()
    assert looked_up(Scripted(reply), 8, library) == []
    assert library.searched == []
    assert looked_up(Scripted("LOOKUP: one", reply), 8, library) == [(1, "one")]


def test_look_ups_made_before_are_not_made_again() -> None:
    model = Scripted("LOOKUP: one\nLOOKUP: ONE", "LOOKUP:  One\nLOOKUP: two", "LOOKUP: two")
    assert looked_up(model, 8, Library()) == [(1, "one"), (2, "two")]


def test_the_model_is_told_that_nothing_was_found() -> None:
    model = Scripted("LOOKUP: one", "ENOUGH")
    looked_up(model, 8, Library())
    assert "Looked up: one\nNothing was found.\n" in model.asked[1][1]


def test_look_ups_are_read_whatever_their_marks() -> None:
    reply = 'Sure!\n- LOOKUP: "one"\n2. Look-up: two: a\n**LOOKUP:** three\nENOUGH\nLOOKUP: ' + "y" * MAX_LOOKUP_CHARS
    assert read_lookups(reply, []) == ["one", "two: a", "three", "y" * MAX_LOOKUP_CHARS]


def ranked(**scores: float) -> Ranking:
    keys = dict(zip("ABCDE", (A, B, C, D, E), strict=True))
    fused = {keys[name]: score for name, score in scores.items()}
    return Ranking(vector=fused, fused=fused, places=dict.fromkeys(fused, (DOCUMENT, 1)))


def test_what_is_best_for_a_look_up_is_as_good_as_what_is_best_for_the_question() -> None:
    question = ranked(A=0.8, B=0.6, C=0.5)
    merged = merge_lookups(question, [ranked(D=0.4, B=0.3, A=0.1), ranked(E=0.9, C=0.09)])
    assert merged.fused == pytest.approx({A: 0.8, B: 0.6, C: 0.5, D: 0.8, E: 0.8})
    assert best_first(merged.fused)[:3] == [A, D, E]
    assert merged.vector == {A: 0.8, B: 0.6, C: 0.5, D: 0.4, E: 0.9}  # of the question, where it has one
    assert set(merged.places) == {A, B, C, D, E}
    even = merge_lookups(ranked(A=0.8, B=0.8, C=0.8), [ranked(B=0.2, D=0.1), ranked(C=0.5)])
    assert best_first(even.fused) == [A, B, C, D]
    tied = merge_lookups(ranked(A=0.8, B=0.8, C=0.8), [ranked(D=0.2)])
    assert best_first(tied.fused) == [A, D, B, C]
    lifted = merge_lookups(question, [ranked(C=0.4, B=0.39)])
    assert lifted.fused == pytest.approx({A: 0.8, B: 0.78, C: 0.8})


def test_a_question_without_candidates_has_those_of_its_look_ups() -> None:
    assert merge_lookups(ranked(), [ranked(A=0.5, B=0.25)]).fused == {A: 1.0, B: 0.5}
    assert merge_lookups(ranked(A=0.7), []) == ranked(A=0.7)
