import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.text.markup import CITATION_MARK
from rag.answering.verification import citations
from rag.answering.verification.citations import checkable_statement

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
        ("It fell in the U.S. [S1] Sales rose. [S2]", [("It fell in the U.S.", ("S1",)), ("Sales rose.", ("S2",))]),
        ("**FX:** unfavorable impact of 5. [S1]", [("**FX:** unfavorable impact of 5.", ("S1",))]),
        ("**Net cash.** It rose. [S1]", [("**Net cash.** It rose.", ("S1",))]),
        ("**It rose. It fell.** [S1]", [("**It rose. It fell.**", ("S1",))]),
        ("**It rose. [S1] It fell. [S2]**", [("**It rose.", ("S1",)), ("It fell.", ("S2",))]),
        ("**Useful?** It is. [S1]", [("**Useful?**", ()), ("It is.", ("S1",))]),
        ("## Sales. Of 2020", [("Sales. Of 2020", ())]),
        ("> It rose [S1]\n- [ ] It fell [S2]", [("It rose", ("S1",)), ("It fell", ("S2",))]),
        ("```text\n5 / 2 = 2.5\n``` [S1]", [("5 / 2 = 2.5", ("S1",))]),
        ("$$\n5 / 2\n= 2.5\n$$\nIt rose. [S1]", [("5 / 2 = 2.5", ()), ("It rose.", ("S1",))]),
        ("No. Sales fell. [S1]", [("No.", ()), ("Sales fell.", ("S1",))]),
        ("No. 5 fell. [S1]", [("No. 5 fell.", ("S1",))]),
        ("---\n\n[S1]", []),
        ("", []),
    ],
)
def test_marks_belong_to_the_sentence_before_them(raw: str, expected: list[tuple[str, tuple[str, ...]]]) -> None:
    assert parsed(raw) == expected


TABLE = "| Item | 2022 |\n|---|---|\n| Sales, incl. fuel. Net. | 5 |\n| **Sum** | 7{mark} |"


@pytest.mark.parametrize(
    ("raw", "ids"),
    [
        (TABLE.format(mark=" [S2]"), [("S2",), ("S2",)]),
        (TABLE.format(mark="") + "\n\n[S1]", [("S1",), ("S1",)]),
        (TABLE.format(mark="") + "\n\nSources: [S1][S2]", [("S1", "S2"), ("S1", "S2")]),
        ("It rose. [S1]\n\n" + TABLE.format(mark=""), [("S1",), ("S1",)]),
        (TABLE.format(mark="") + "\n\nIt rose. [S3]", [("S3",), ("S3",)]),
        ("It rose. [S1]\n\n## Sales\n\n" + TABLE.format(mark=""), [(), ()]),
    ],
)
def test_a_table_row_is_one_sentence_with_the_sources_of_its_table(raw: str, ids: list[tuple[str, ...]]) -> None:
    rows = [cited for text, cited in parsed(raw) if text.startswith("|")]
    assert [list(cited) for cited in rows[1:]] == [list(cited) for cited in ids]
    assert rows[0] == ()


@pytest.mark.parametrize(
    ("raw", "ids"),
    [
        ("It has three parts: [S1]\n\n- Ships\n- Cranes [S2]\n  - old ones\n- Sheds", ["S1", "S1", "S2", "S2", "S1"]),
        ("It has parts.\n\n- Ships sail.\n- Cranes lift. [S2]", ["", "", "S2"]),
        ("It rose. [S1]\n\n- Ships sail.", ["S1", ""]),
        ("- Ships sail. They call. [S3]", ["S3", "S3"]),
        ("- Ships sail.\n- Cranes lift.\n\nSource: [S1]", ["S1", "S1"]),
    ],
)
def test_a_list_item_has_the_sources_of_what_introduces_it(raw: str, ids: list[str]) -> None:
    assert ["".join(cited) for _, cited in parsed(raw)] == ids


def test_a_sentence_has_the_sources_of_the_next_one_if_its_quote_covers_it() -> None:
    quote = '<quote id="S1">Sales rose to $5 million and costs fell to $3 million</quote>'
    assert [cited for _, cited in parsed(f"Sales rose to $5 million. Costs fell. [S1] {quote}")] == [("S1",), ("S1",)]
    assert [cited for _, cited in parsed(f"Sales rose to $6 million. Costs fell. [S1] {quote}")] == [(), ("S1",)]
    assert [cited for _, cited in parsed(f"Sales rose to $5 million.\n\nCosts fell. [S1] {quote}")] == [(), ("S1",)]
    assert [cited for _, cited in parsed("Sales rose to $5 million. Costs fell. [S1]")] == [(), ("S1",)]


def test_a_quote_with_an_empty_line_or_within_a_cell_is_no_sentence() -> None:
    raw = 'It rose. [S1] <quote id="S1">it\n\nrose | more</quote>\n\n'
    raw += '| A | B |\n|---|---|\n| x | y [S2] <quote id="S2">x\ny</quote> |'
    answer = citations.parse(raw, KNOWN)
    assert [claim.sentence.text for claim in answer.claims] == ["It rose.", "| A | B |", "| x | y |"]
    assert [[quote.text for quote in claim.quotes] for claim in answer.claims] == [["it\n\nrose | more"], [], ["x\ny"]]


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


@pytest.mark.parametrize(
    ("raw", "statements"),
    [
        ("Yes. It rose by 5 %. [S1]", ["", "It rose by 5 %."]),
        ("**Answer:** No. It fell. [S1]", ["", "It fell."]),
        ("No. Sales fell by 5 %. [S1]", ["", "Sales fell by 5 %."]),
        ("**No. Sales fell by 5 %.** [S1]", ["Sales fell by 5 %."]),
        ("No – sales fell by 5 %. [S1]", ["sales fell by 5 %."]),
        ("The harbour has two cranes [S1]:\n- old\n- new", ["The harbour has two cranes", "old", "new"]),
        ("The cranes of the harbour are [S1]:\n- old", ["", "old"]),
        ("The harbour has two cranes:\n- old", ["", "old"]),
        (
            "\\[\n\\text{Growth} = \\frac{12 - 10}{10} \\times 100 = 20\\%\n\\] [S1]",
            ["Growth = (12 - 10) / 10 × 100 = 20%"],
        ),
        ("It is $$\\frac{5}{2} = 2.5$$ and \\(2.5\\%\\). [S1]", ["It is 5 / 2 = 2.5 and 2.5%."]),
        ("A | B | C\n---|---|---\n**x** | | 5 \\| 6 [S1]", ["", "x – C: 5 | 6"]),
        ("| A | B |\n|---|---|\n| | **7** |\n| y | |\n| z |", ["", "7", "y", "z"]),
        ("| A | B | C |\n|---|---|---|\n| | Sum | **7** |", ["", "Sum – C: 7"]),
        ("It rose. [S1]\n\nSources: [S1][S2]", ["It rose."]),
    ],
)
def test_what_a_sentence_states(raw: str, statements: list[str]) -> None:
    answer = citations.parse(raw, KNOWN)
    assert [checkable_statement(claim.sentence, answer.text) for claim in answer.claims] == statements
