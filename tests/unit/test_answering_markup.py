import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.answering.text import markup

KNOWN = ("S1", "S2", "S3", "S12")


def shown(raw: str, pieces: list[int] | None = None) -> tuple[str, list[markup.ProposedQuote]]:
    answer = markup.AnswerFilter(KNOWN)
    text, start = "", 0
    for end in [*(pieces or []), len(raw)]:
        text += answer.feed(raw[start:end])
        start = end
    return text + answer.finish(), answer.quotes


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Up [S1].", "Up [S1]."),
        ("Up [S1][S2].", "Up [S1][S2]."),
        ("Up [S1, S2].", "Up [S1][S2]."),
        ("Up [S1; s2 and S3].", "Up [S1][S2][S3]."),
        ("Up [S1-S3].", "Up [S1][S2][S3]."),
        ("Up [S1–3].", "Up [S1][S2][S3]."),
        ("Up [s1-s3].", "Up [S1][S2][S3]."),
        ("Up [S2-S3].", "Up [S2][S3]."),
        ("Up [S3-S1].", "Up [S3][S1]."),
        ("Up [S1-S4000].", "Up [S1]."),
        ("Up [s1].", "Up [S1]."),
        ("Up (S1).", "Up [S1]."),
        ("Up (S1, S12).", "Up [S1][S12]."),
        ("Up 【S1】.", "Up [S1]."),
        ("Up 【S1†source】.", "Up [S1]."),
        ("Up [[S1]].", "Up [S1]."),
        ("Up [Source: S1].", "Up [S1]."),
        ("Up [S1, p. 3].", "Up [S1]."),
        ("Up \\[S1\\].", "Up [S1]."),
        ("Up [^S1].", "Up [S1]."),
        ("Up [S1](#s1).", "Up [S1]."),
        ("Up [S1, S1].", "Up [S1]."),
        ("Up (see S1; S2).", "Up [S1][S2]."),
        ("Up [Quelle S1].", "Up [S1]."),
        ("Up [Sources: S1, S3].", "Up [S1][S3]."),
        ("Up [1].", "Up [S1]."),
        ("Up [1][2]. Down. [3] So [1, 2]", "Up [S1][S2]. Down. [S3] So [S1][S2]"),
        ("Up 【1†source】 and on.", "Up [S1] and on."),
    ],
)
def test_marks_of_known_sources_are_made_uniform(raw: str, expected: str) -> None:
    assert shown(raw)[0] == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("Up [S9].", "Up."),
        ("Up [S9] and on.", "Up and on."),
        ("Up [S1, S9].", "Up [S1]."),
        ("Up.[S9] Down.", "Up. Down."),
        ("Up. [S9]\n\nDown.", "Up.\n\nDown."),
        ("Up (S9).", "Up."),
        ("Up [Source: report.pdf, Page 3, Lines 1-9].", "Up."),
        ("Up ⟦S1⟧.", "Up."),
        ("[S9] Up.", "Up."),
        ("Up [\u200bS9].", "Up."),
        ("Up [S\u20609\u200b].", "Up."),
    ],
)
def test_marks_of_unknown_sources_leave_no_trace(raw: str, expected: str) -> None:
    assert shown(raw)[0] == expected


@pytest.mark.parametrize(
    "raw",
    [
        *("Array[0] holds 3.", "See (a) and (b).", "Wow! 3 < 4 > 2.", "Item [12] of 5.", "S1 is a class."),
        *("(in millions)", "It is in C:\\temp."),
        *("As in [7].", "Up [S1]. As in [2].", "a[1].", "[1] Smith, 2020.", "R&D &lt; 5 & < q.", "See [1] and on."),
    ],
)
def test_ordinary_brackets_stay(raw: str) -> None:
    assert shown(raw)[0] == raw


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("See [our site](https://example.org/?q=1) now.", "See our site now."),
        ("See ![x](https://example.org/pixel.png) now.", "See now."),
        ("See [![x](https://example.org/p.png)](https://example.org).", "See [] (https://example.org)."),
        ("See <https://example.org> now.", "See https://example.org now."),
        ("<b>Bold</b> <img src=x onerror=alert(1)>move", "Bold move"),
        ("a<script>alert('x')</script>b", "ab"),
        ("a<script>alert('x')</SCRIPT>b", "ab"),
        ("a <!-- hidden > --> b", "a b"),
        ("a <b", "a < b"),
        ("<<b>script>alert(1)", "< script>alert(1)"),
        ("[x]: https://example.org", "[x] : https://example.org"),
    ],
)
def test_nothing_that_acts_is_shown(raw: str, expected: str) -> None:
    assert shown(raw)[0] == expected


@pytest.mark.parametrize(
    ("raw", "expected", "quotes"),
    [
        ('Up [S1] <quote id="S1">it rose</quote>.', "Up [S1].", [("S1", "it rose")]),
        ("Up [S1] <quote id='s1'>it rose</quote>.", "Up [S1].", [("S1", "it rose")]),
        ("Up [S1] <QUOTE S1>it rose</QUOTE>.", "Up [S1].", [("S1", "it rose")]),
        ("Up [S1] <quote>it rose</quote>.", "Up [S1].", [(None, "it rose")]),
        ('Up [S1] <quote id="S9">it rose</quote>.', "Up [S1].", []),
        ('Up [S1] <quote id="S1">a <b> [S2]</quote>.', "Up [S1].", [("S1", "a <b> [S2]")]),
        ('Up [S1] <quote id="S1">it rose', "Up [S1]", [("S1", "it rose")]),
        ('Up [S1] <quote id="S1">it rose\n\nDown [S2].', "Up [S1]\n\nDown [S2].", [("S1", "it rose")]),
        ('Up <quote id="S1">a<quote id="S2">b</quote>.', "Up.", [("S1", "a"), ("S2", "b")]),
        ('Up [S1] <quote id="S1">it\n\nrose\n- on</quote>.', "Up [S1].", [("S1", "it\n\nrose\n- on")]),
        ('Up <quote id="S1">a <quote id="S2">b</quote> c</quote>. On.', "Up. On.", [("S1", "a"), ("S2", "b")]),
        ('Up <quote id="S1">it rose\n- Down', "Up\n- Down", [("S1", "it rose")]),
        ('Up <quote id="S1">a\n| b\n<quote id="S2">c</quote>', "Up\n| b", [("S1", "a"), ("S2", "c")]),
        ("Up <quote source=“S1” page='3'>a</quote>.", "Up.", [("S1", "a")]),
        ('Up <quote ids="S1, S2">a</quote>.', "Up.", [("S1", "a"), ("S2", "a")]),
        ("Up <quote id=2>a</quote>.", "Up.", [("S2", "a")]),
        ("Up <q id=S1>a</q><quotes>b</quotes>.", "Up.", [("S1", "a"), (None, "b")]),
        ("Up < quote id=S1 >a</ quote >.", "Up.", [("S1", "a")]),
        ("Up &lt;quote id=&quot;S1&quot;&gt;a&lt;/quote&gt;.", "Up.", [("S1", "a")]),
        ('Up <quote id="S1"/>.', "Up.", []),
    ],
)
def test_quote_tags_are_taken_out(raw: str, expected: str, quotes: list[tuple[str | None, str]]) -> None:
    text, found = shown(raw)
    assert text == expected
    assert [(quote.citation_id, quote.text) for quote in found] == quotes


@pytest.mark.parametrize("chars", [1, markup.MAX_QUOTE_CHARS - 60, markup.MAX_QUOTE_CHARS])
def test_a_quote_is_kept_whole_up_to_its_limit_however_it_comes(chars: int) -> None:
    raw = f'Up <quote id="S1">{"w" * chars}</quote>.'
    assert [len(quote.text) for quote in shown(raw, [*range(len(raw))])[1]] == [chars]


@pytest.mark.parametrize(
    ("raw", "expected"), [("a <!-- <b> hidden --> c", "a c"), ("Up.\n\nDown [S9]\n\n.", "Up.\n\nDown\n\n.")]
)
def test_comments_and_paragraphs_are_the_same_however_they_come(raw: str, expected: str) -> None:
    assert shown(raw, [*range(len(raw))])[0] == shown(raw)[0] == expected


def test_a_long_link_is_none_however_it_comes() -> None:
    raw = f"See [it](https://example.org/{'a' * 1900}) now."
    assert shown(raw, [*range(len(raw))])[0] == shown(raw)[0] == "See it now."


def test_an_endless_quote_does_not_swallow_the_answer() -> None:
    text, _ = shown('Up <quote id="S1">' + "word " * 1000 + "End [S2].")
    assert text.endswith("End [S2].")


LATER = [
    *("Rose (by 5%)", "Wow! So", "a [b] c", "a [b\nc", "[a](b)", "3 < 4", "<b>rose", "a\\b", "a <!-- b --> c"),
    *("<script>a</SCRIPT>b", "a <b" + "b" * markup.MAX_HELD_TAG_CHARS, "a [" + "b" * markup.MAX_HELD_MARK_CHARS),
    "[a](" + "b" * (markup.MAX_TAG_CHARS + markup.MAX_HELD_MARK_CHARS),
]


@pytest.mark.parametrize("raw", LATER)
def test_what_can_become_nothing_else_is_shown_at_once(raw: str) -> None:
    answer = markup.AnswerFilter(KNOWN)
    assert answer.feed(raw + " and").endswith(" and")


@pytest.mark.parametrize("raw", ["Rose (S", "Rose (", "Rose !", "Rose [", "Rose [S1", "Rose <", "Rose \\"])
def test_what_never_became_a_mark_is_shown_at_the_end(raw: str) -> None:
    assert shown(raw)[0] == raw


MARKS = ["[S1]", "[S9]", "[S1, S9]", "(S2)", "(S9", "【S1】", "[[S3]]", "[S1", "\\[S1\\]", "[Source: a, Page 1]"]
BRACKETS = ["]", "[", "(", ")", "](", "!", "![a](b)", "[text](http://e.org)", "http://e.org", "\\"]
TAGS = ['<quote id="S1">', "</quote>", "<quote>", "<quot", "<", ">", "<b>", "</", "<!--", "-->", "<img src=x"]
ELEMENTS = ["<script>", "</script>", " ", "\n", "\n\n", ".", "Rose 5%"]
OTHERS = [
    "< quote",
    "</ quote>",
    "<q>",
    "</q>",
    "&lt;quote id=S1&gt;",
    "&lt;/quote&gt;",
    "&",
    "[1]",
    "[2] [3]",
    "【1†a】",
]
BREAKS = ["【1†a】", "\n- ", "\n| ", "\n1. ", '<quote id="S1"/>', "</QUOTE >", '<Quote ids="S1, S2">']
FRAGMENTS = st.sampled_from(MARKS + BRACKETS + TAGS + ELEMENTS + OTHERS + BREAKS)
RAW = st.lists(FRAGMENTS | st.text(max_size=4), max_size=14).map("".join)


@given(raw=RAW, data=st.data())
def test_the_stream_is_the_same_however_it_is_cut(raw: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(raw)), max_size=len(raw)).map(sorted))
    assert shown(raw, cuts) == shown(raw)
    assert shown(raw, list(range(len(raw)))) == shown(raw)


@given(raw=RAW)
def test_whatever_is_written_only_known_marks_and_inert_text_are_shown(raw: str) -> None:
    text, quotes = shown(raw)
    assert not re.search(r"<[A-Za-z/!?]", text)
    assert "](" not in text
    assert "![" not in text
    assert "]:" not in text
    assert {f"S{n}" for n in re.findall(r"\[S(\d+)\]", text)} <= set(KNOWN)
    assert all(quote.citation_id in (None, *KNOWN) and quote.position <= len(text) for quote in quotes)
