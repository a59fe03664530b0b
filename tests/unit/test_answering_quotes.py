import re
import uuid
from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag.answering.text.normalized_text import normalize
from rag.answering.verification.quote_matching import MIN_SHARED, RERANKED_SENTENCES, QuotablePassage, Quote
from rag.types import BlockKind, Passage, Verdict
from tests import sources

TEXT = (
    "In fiscal 2022, Acme Inc. reported revenue of $514.4 mil-\nlion, up 3.5% from the prior year. The “first-class”\n"
    "offices are eﬃcient. Staff numbered 110 – not 10,200 – at year end."
)
PASSAGE = QuotablePassage(
    sources.passage(
        (BlockKind.HEADING, "Results for 2022"),
        TEXT,
        (BlockKind.TABLE, "Item\t2022\t2021\nRevenue\t514.4\t497.0\nCosts\t312.9\t298.1"),
        "Marks like [S9] or <quote> are quoted as they stand.",
    )
)


def found(quote: Quote | None) -> tuple[str, Verdict] | None:
    return (PASSAGE.slice(quote.span), quote.verdict) if quote else None


@pytest.mark.parametrize(
    ("proposed", "words"),
    [
        ("reported revenue of $514.4 million", "reported revenue of $514.4 mil-\nlion"),
        ("REPORTED REVENUE", "reported revenue"),
        ("The 'first-class' offices", "The “first-class”\noffices"),
        ('the "first-class" offices are efficient', "The “first-class”\noffices are eﬃcient"),
        ("110 - not 10,200 - at", "110 – not 10,200 – at"),
        ("Staff numbered 110.", "Staff numbered 110"),
        ("“up 3.5%”", "up 3.5%"),
        ("Revenue 514.4 497.0", "Revenue\t514.4\t497.0"),
        ("Marks like ⟦S9⟧ or ⟨quote⟩ are", "Marks like [S9] or <quote> are"),
    ],
)
def test_a_quote_that_stands_there_is_verified(proposed: str, words: str) -> None:
    assert found(PASSAGE.find(proposed)) == (words, Verdict.VERIFIED)


@pytest.mark.parametrize(
    ("proposed", "words"),
    [
        ("reported revenues of $514.4 million, up 3.5 % from prior year", "up 3.5% from the prior year"),
        ("Acme Inc. ... up 3.5%", "Acme Inc. reported revenue of $514.4 mil-\nlion, up 3.5%"),
        ("Acme Inc. ... “ ... up 3.5%", "Acme Inc. reported revenue of $514.4 mil-\nlion, up 3.5%"),
        ("Acme Inc. […] reported banana sales", "Acme Inc."),
        ("up 3.5% ... In fiscal 2022, Acme Inc. reported", "In fiscal 2022, Acme Inc. reported"),  # not in this order
    ],
)
def test_a_quote_that_nearly_stands_there_is_put_right(proposed: str, words: str) -> None:
    quote = PASSAGE.find(proposed)
    assert quote is not None
    assert quote.verdict is Verdict.CORRECTED
    assert words in PASSAGE.slice(quote.span)


LEDGER = QuotablePassage(
    sources.passage(
        "• The firm¹ grew by −1.1 points – not by 2019-2020 – on sales* of US$ 5,409 (5.2 %). It rose in",
        (BlockKind.TABLE, "Item\t2022\t2021\t2020\nSales ........\t$\t5,409\t$\t—\t$ 12\nLoss\t(5.2)\t-3\t1 234"),
        "Fees & costs of X² and 10² are “A | B”. What is left is of course a sum of 7 − 4 ships.",
    )
)


@pytest.mark.parametrize(
    "proposed",
    [
        *("- The firm grew by -1.1 points", "The **firm** grew by −1.1 points", "on sales of US$ 5,409", "5.2 %"),
        *(
            "Sales 5,409 12",
            "Sales | $5,409 | — | $12",
            "Sales $ 5,409 $ — $ 12",
            "Sales 5,409 $ 12",
            "| Loss | (5.2) | -3 |",
        ),
        *("Fees &amp; costs of X² and 10²", "Fees & costs of X and 10²", "Sales \\$ 5,409", "1 234", "2019-2020"),
    ],
)
def test_a_quote_may_leave_out_what_separates_and_decorates(proposed: str) -> None:
    quote = LEDGER.find(proposed)
    assert quote is not None
    assert quote.verdict is Verdict.VERIFIED
    assert re.findall("[0-9]+", LEDGER.slice(quote.span)) == re.findall("[0-9]+", proposed)


@pytest.mark.parametrize(
    "proposed",
    [
        *(
            "Sales 5,40912",
            "Sales 5,409 1 2",
            "Sales € 5,409",
            "Loss 5.2",
            "5.2)",
            "3",
            "1.1 points",
            "1234",
            "Loss 5.2 -3",
        ),
        *(
            "not by 2019 2020",
            "by 1.1 points",
            "Fees and 10",
            "Sales 5,408 12",
            "Sales $ 5,409 £ 12",
            "a sum of 7 4 ships",
        ),
    ],
)
def test_a_quote_with_other_figures_or_without_a_sign_is_none(proposed: str) -> None:
    quote = LEDGER.find(proposed)
    assert quote is None or quote.verdict is not Verdict.VERIFIED


def test_a_quote_goes_on_over_a_page_break() -> None:
    first = sources.lines("Harbour report", "The cranes of the harbour lift", "Page 3")
    second = sources.lines("Harbour report", "timber and stone.", "Page 4", first=4, page_number=2)
    passage = QuotablePassage(Passage(document_id=uuid.uuid4(), lines=(*first, *second)))
    quote = passage.find("The cranes of the harbour lift timber and stone.")
    assert quote is not None
    assert quote.verdict is Verdict.VERIFIED
    assert passage.slice(quote.span).startswith("The cranes")


def test_a_quote_that_nearly_stands_there_has_the_same_figures() -> None:
    assert PASSAGE.find("reported revenues of $514.4 million, up 3.5 % from prior year") is not None
    assert PASSAGE.find("reported revenues of $514.9 million, up 3.5 % from prior year") is None


def test_of_several_places_the_first_that_cuts_no_word_is_taken() -> None:
    passage = QuotablePassage(sources.passage("Unpriced goods had no price, repriced ones a price, and so a price."))
    quote = passage.find("price")
    assert quote is not None
    assert passage.text[: quote.span.start] == "Unpriced goods had no "


@pytest.mark.parametrize(
    ("proposed", "expected"),
    [
        ("売上高は", ("売上高は", Verdict.VERIFIED)),
        ("売上高は...100億円です", ("売上高は100億円です", Verdict.CORRECTED)),
        ("00億円です", None),
        ("億円です", None),  # of which number is not said
    ],
)
def test_words_without_spaces_end_where_a_number_begins(proposed: str, expected: tuple[str, Verdict] | None) -> None:
    passage = QuotablePassage(sources.passage("売上高は100億円です。"))
    quote = passage.find(proposed)
    assert (quote and (passage.slice(quote.span), quote.verdict)) == expected


def test_parts_of_a_quote_that_lie_far_apart_are_not_one() -> None:
    passage = QuotablePassage(
        sources.passage("It rose in spring. " + "And so on it went. " * 25 + "It fell deeply in autumn.")
    )
    quote = passage.find("It rose in spring ... it fell deeply in autumn")
    assert quote is not None
    assert passage.slice(quote.span) == "It fell deeply in autumn"


def test_a_quote_that_nearly_stands_there_is_widened_to_whole_words() -> None:
    quote = PASSAGE.find("eported revenue of $514.4 million, up 3.5% from the prio")
    assert found(quote) == ("reported revenue of $514.4 mil-\nlion, up 3.5% from the prior", Verdict.CORRECTED)


@pytest.mark.parametrize(
    "proposed",
    [
        "",
        " ",
        "...",
        "eported reven",
        "esults for",
        "0,200",
        "not 10",
        "14.4",
        "revenue of $514",
        "4 million",
        "up 3",
        "5% from the prior",
        "Nothing of this kind is written anywhere here",
        "Acme lost revenue of $514.4 million, up from the next year",  # alike, but not nearly the same
        "x" * 9999,
    ],
)
def test_what_does_not_stand_there_is_not_found(proposed: str) -> None:
    assert PASSAGE.find(proposed) is None


@pytest.mark.parametrize(
    ("claim", "words", "verdict"),
    [
        ("Staff numbered 110 – not 10,200 – at year end.", "Staff numbered 110", Verdict.VERIFIED),
        ("Revenue grew to $514.4 million in 2022", "In fiscal 2022, Acme Inc. reported revenue", Verdict.CORRECTED),
        ("Costs were 312.9", "Costs\t312.9\t298.1", Verdict.CORRECTED),
        (
            "Acme's offices are first-class, and its staff numbered 110.",
            "offices are eﬃcient. Staff numbered 110",
            None,
        ),
    ],
)
def test_a_claim_is_aligned_with_what_says_the_same(claim: str, words: str, verdict: Verdict | None) -> None:
    quote = PASSAGE.align(claim)
    assert quote is not None
    assert words in PASSAGE.slice(quote.span)
    assert quote.verdict is (verdict or Verdict.CORRECTED)


MILL = QuotablePassage(
    sources.passage(
        (BlockKind.HEADING, "The mill of Basel"),
        "It was built in 1931. It makes paper for archives. Dinner is soup.\nSoup is what is eaten for dinner here.",
        (BlockKind.HEADING, "The river"),
        "Ships call twice. They carry timber.",
    )
)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ("It was built in about 1931.", "It was built in 1931."),
        ("Built in 1931, it makes paper.", "It was built in 1931. It makes paper for archives."),
        ("Paper for archives is made, built from 1931 on.", "It was built in 1931. It makes paper for archives."),
        ("There, ships carry timber; they call twice.", "Ships call twice. They carry timber."),
        ("For dinner, soup.", "Dinner is soup."),  # of two that say it, the shorter
        ("At the river ships call, twice.", "Ships call twice."),  # a heading is no part of a sentence
    ],
)
def test_a_claim_is_aligned_with_one_sentence_or_two_neighbours_that_say_clearly_more(claim: str, words: str) -> None:
    quote = MILL.align(claim)
    assert quote is not None
    assert MILL.slice(quote.span) == words


@pytest.mark.parametrize(
    "claim", ["It rose in spring and fell in autumn", "In autumn it fell, in spring it rose at last"]
)
def test_the_first_two_sentences_of_a_passage_are_neighbours_too(claim: str) -> None:
    passage = QuotablePassage(sources.passage("It rose in spring. It fell in autumn at last."))
    quote = passage.align(claim)
    assert quote is not None
    assert passage.slice(quote.span) == passage.text


def test_a_number_says_more_than_two_words() -> None:
    parts = ("The harbour was opened in 1931.", (BlockKind.HEADING, "Today"), "The old crane lifts timber.")
    passage = QuotablePassage(sources.passage(*parts))
    quote = passage.align("Old, from 1931, is the crane")
    assert quote is not None
    assert passage.slice(quote.span) == "The harbour was opened in 1931."


@pytest.mark.parametrize(
    ("claim", "quoted", "is_supported"),
    [
        ("Revenue grew", "reported revenue of $514.4 million", True),
        ("Bananas are yellow and sweet", "Staff numbered 110", False),
        ("Profits, margins, dividends, liquidity and outlook disappointed investors this year", "at year end", False),
    ],
)
def test_a_quote_supports_a_claim_if_they_have_something_in_common(claim: str, quoted: str, is_supported: bool) -> None:
    quote = PASSAGE.find(quoted)
    assert quote is not None
    assert (PASSAGE.shared(claim, quote.span) >= MIN_SHARED) == is_supported


class Thinks:
    """Scores a text by whether it holds a word, and keeps what it was asked."""

    def __init__(self, word: str, score: float = 0.9) -> None:
        self.word, self.score = word, score
        self.asked: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked += texts
        return [self.score if self.word in text else 0.1 for text in texts]


def test_a_claim_in_other_words_needs_a_reranker_that_finds_it() -> None:
    claim = "Headcount stood at a hundred and ten"
    assert PASSAGE.align(claim) is None
    assert PASSAGE.align(claim, Thinks("banana")) is None
    quote = PASSAGE.align(claim, Thinks("Staff"))
    assert quote is not None
    assert PASSAGE.slice(quote.span).startswith("Staff numbered")


def test_a_reranker_decides_from_its_own_boundary_on() -> None:
    assert PASSAGE.align("Headcount was a hundred and ten", Thinks("Staff", 0.5)) is not None
    assert PASSAGE.align("Headcount was a hundred and ten", Thinks("Staff", 0.49)) is None


def test_a_reranker_reads_the_sentences_with_most_words_of_the_claim() -> None:
    others = " ".join(f"Nothing of note happened at place {number}." for number in range(10))
    passage = QuotablePassage(sources.passage(f"{others} The headcount fell."))
    thinks = Thinks("headcount")
    assert passage.align("Fewer people, by headcount, were employed by the venerable firm", thinks) is not None
    assert len(thinks.asked) == RERANKED_SENTENCES
    assert thinks.asked[0] == "The headcount fell."


def test_numbers_open_after_a_quote_are_looked_for_around_it() -> None:
    row = PASSAGE.find("Revenue 514.4 497.0")
    assert row is not None
    assert [PASSAGE.slice(span) for span in PASSAGE.context_with(row.span, ["2021"])] == ["Item\t2022\t2021"]
    assert PASSAGE.context_with(row.span, ["42"]) == []
    both = PASSAGE.context_with(row.span, ["2021", "312.9"])
    assert [PASSAGE.slice(span) for span in both] == ["Item\t2022\t2021", "Costs\t312.9\t298.1"]


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("47", ["Paper earned 31 in the north and 47 in the south."]),
        ("2022", ["Results for 2022"]),
        ("5", ["There were 5 mills."]),
        ("8", ["Ink earned 8."]),
        ("2019", []),
        ("9", []),
    ],
)
def test_numbers_are_looked_for_in_the_sentence_its_heading_and_its_neighbours(missing: str, words: list[str]) -> None:
    text = "There were 5 mills. Paper earned 31 in the north and 47 in the south. Ink earned 8. Glue earned 9."
    headings = ((BlockKind.HEADING, "Report of 2019"), (BlockKind.HEADING, "Results for 2022"))
    for passage in (
        QuotablePassage(sources.passage(*headings, text)),
        QuotablePassage(sources.passage(text, (BlockKind.HEADING, "Report of 2019"))),
    ):
        quote = passage.find("earned 31 in the north")
        assert quote is not None
        found = [passage.slice(span) for span in passage.context_with(quote.span, [missing])]
        assert found == [word for word in words if word in passage.text]


def test_a_number_around_a_quote_has_the_scale_that_is_declared_there() -> None:
    passage = QuotablePassage(sources.passage("Results in millions", (BlockKind.TABLE, "Item\t2022\nRevenue\t520")))
    quote = passage.find("Item 2022")
    assert quote is not None
    assert [passage.slice(span) for span in passage.context_with(quote.span, ["0.52 billion"])] == ["Revenue\t520"]


def test_an_empty_passage_supports_nothing() -> None:
    empty = QuotablePassage(sources.passage(""))
    assert empty.find("anything") is None
    assert empty.align("anything at all", Thinks("")) is None


@given(st.data())
def test_every_piece_of_a_passage_is_found_and_its_offsets_slice_to_it(data: st.DataObject) -> None:
    words = PASSAGE.text.split()
    start = data.draw(st.integers(0, len(words) - 3))
    end = data.draw(st.integers(start + 3, len(words)))
    assume(not words[end - 1].endswith("-"))  # half a broken word is none
    glue = data.draw(st.sampled_from([" ", "\n", "  ", "\t"]))
    proposed = glue.join(words[start:end])
    quote = PASSAGE.find(proposed)
    assert quote is not None
    assert quote.verdict is Verdict.VERIFIED
    wanted = normalize(proposed).text.strip("\"'.,;:")
    assert wanted in normalize(PASSAGE.slice(quote.span)).text


@given(st.text(max_size=40))
def test_normalized_offsets_lead_back_to_the_characters(text: str) -> None:
    normalized = normalize(text)
    assert len(normalized.text) == len(normalized.offsets)
    assert list(normalized.offsets) == sorted(normalized.offsets)
    assert all(0 <= offset < len(text) for offset in normalized.offsets)
    for character, offset in zip(normalized.text, normalized.offsets, strict=True):
        assert character in normalize(text[offset]).text or (character == " " and text[offset].isspace())


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_proposed_the_quote_is_a_slice_of_the_passage(text: str, proposed: str) -> None:
    passage = QuotablePassage(sources.passage(text))
    for quote in (passage.find(proposed), passage.align(proposed)):
        if quote is not None:
            assert 0 <= quote.span.start < quote.span.end <= len(passage.text)
