import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.text.markup import CITATION_MARK
from rag.answering.verification import citations

KNOWN = ("S1", "S2", "S3")


def parsed(raw: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(claim.sentence.text, claim.sentence.citation_ids) for claim in citations.parse(raw, KNOWN).claims]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("It rose [S1]. It fell [S2][S3].", [("It rose.", ("S1",)), ("It fell.", ("S2", "S3"))]),
        ("It rose. [S1] It fell. [S2]", [("It rose.", ("S1",)), ("It fell.", ("S2",))]),
        ("It rose.[S1] It fell.[S2]", [("It rose.", ("S1",)), ("It fell.", ("S2",))]),
        ("It rose [S1], then fell [S2].", [("It rose, then fell.", ("S1", "S2"))]),
        ("It rose [S1]\n[S2]\nIt fell", [("It rose", ("S1", "S2")), ("It fell", ())]),
        ("- It rose [S1]\n- It fell [S2]", [("It rose", ("S1",)), ("It fell", ("S2",))]),
        ("It rose.\n- [S2] It fell", [("It rose.", ()), ("It fell", ("S2",))]),
        ("1. It rose. [S1]\n2. It fell. [S2]", [("It rose.", ("S1",)), ("It fell.", ("S2",))]),
        ("## Result\n\nIt rose [S1].", [("Result", ()), ("It rose.", ("S1",))]),
        ("**It rose.** [S1] *It fell.* [S2]", [("**It rose.**", ("S1",)), ("*It fell.*", ("S2",))]),
        ("收入增长了。[S1]成本下降了。[S2]", [("收入增长了。", ("S1",)), ("成本下降了。", ("S2",))]),
        ("Acme Inc. [S1] rose.", [("Acme Inc. rose.", ("S1",))]),
        ("It rose [S9].", [("It rose.", ())]),
        ("It rose [S1][S1] again [S1].", [("It rose again.", ("S1",))]),
        ("---\n\n[S1]", []),
        ("", []),
    ],
)
def test_marks_belong_to_the_sentence_before_them(raw: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert parsed(raw) == expected


def test_quotes_belong_to_the_sentence_they_follow() -> None:
    raw = 'It rose. [S1] <quote id="S1">rose</quote> It fell [S2] <quote id="S2">fell</quote>.'
    claims = citations.parse(raw, KNOWN).claims
    assert [[quote.text for quote in claim.quotes] for claim in claims] == [["rose"], ["fell"]]


def test_a_quote_without_a_mark_gives_its_sentence_the_mark() -> None:
    answer = citations.parse('It rose. <quote id="S1">rose</quote> It fell. <quote id="S2">fell</quote>', KNOWN)
    assert answer.text == "It rose. [S1] It fell. [S2]"
    assert [claim.sentence.citation_ids for claim in answer.claims] == [("S1",), ("S2",)]
    assert [[quote.text for quote in claim.quotes] for claim in answer.claims] == [["rose"], ["fell"]]


@pytest.mark.parametrize(
    ("raw", "text", "quotes"),
    [
        ('Up. <quote id="S1">a</quote><quote id="S2">b</quote>', "Up. [S1][S2]", [["a", "b"]]),
        ('Up. <quote id="S1">a</quote><quote id="S1">b</quote>', "Up. [S1]", [["a", "b"]]),
        ("Up. <quote>a</quote> Down.", "Up. Down.", [["a"], []]),
        (
            'Up. <quote id="S1">a</quote> So. <quote id="S2">b</quote> On. <quote id="S3">c</quote>',
            "Up. [S1] So. [S2] On. [S3]",
            [["a"], ["b"], ["c"]],
        ),
    ],
)
def test_marks_of_quotes_leave_each_quote_with_its_sentence(raw: str, text: str, quotes: list[list[str]]) -> None:
    answer = citations.parse(raw, KNOWN)
    assert answer.text == text
    assert [[quote.text for quote in claim.quotes] for claim in answer.claims] == quotes


def test_a_sentence_spans_its_words_and_marks_in_the_answer() -> None:
    answer = citations.parse("- [S2] It rose. [S1]\n- It fell [S3].", KNOWN)
    assert [answer.text[c.sentence.start : c.sentence.end] for c in answer.claims] == [
        "[S2] It rose. [S1]",
        "It fell [S3].",
    ]


@given(
    st.lists(st.sampled_from(["It rose.", " ", "\n", "[S1]", "[S9]", "- ", '<quote id="S2">x</quote>', "5%", "Inc."]))
)
def test_every_mark_shown_is_known_and_owned_by_a_sentence_that_spans_it(pieces: list[str]) -> None:
    answer = citations.parse("".join(pieces), KNOWN)
    marks = [(match.group(1), match.start()) for match in CITATION_MARK.finditer(answer.text)]
    assert {mark for mark, _ in marks} <= set(KNOWN)
    spans = [(c.sentence.start, c.sentence.end) for c in answer.claims]
    assert spans == sorted(spans)
    if spans:
        for mark, start in marks:
            assert any(
                c.sentence.start <= start < c.sentence.end and mark in c.sentence.citation_ids for c in answer.claims
            )
