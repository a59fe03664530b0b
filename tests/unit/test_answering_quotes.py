from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rag.answering.quotes import QuotablePassage, Quote, normalize
from rag.types import BlockKind, Verdict
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
        ("Acme Inc. […] reported banana sales", "Acme Inc."),
    ],
)
def test_a_quote_that_nearly_stands_there_is_put_right(proposed: str, words: str) -> None:
    quote = PASSAGE.find(proposed)
    assert quote is not None
    assert quote.verdict is Verdict.CORRECTED
    assert words in PASSAGE.slice(quote.span)


@pytest.mark.parametrize(
    "proposed",
    ["", " ", "...", "eported reven", "0,200", "14.4", "Nothing of this kind is written anywhere here", "x" * 9999],
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


class Thinks:
    """Scores a text by whether it holds a word."""

    def __init__(self, word: str) -> None:
        self.word = word

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if self.word in text else 0.1 for text in texts]


def test_a_claim_in_other_words_needs_a_reranker_that_finds_it() -> None:
    claim = "Headcount stood at a hundred and ten"
    assert PASSAGE.align(claim) is None
    assert PASSAGE.align(claim, Thinks("banana")) is None
    quote = PASSAGE.align(claim, Thinks("Staff"))
    assert quote is not None
    assert PASSAGE.slice(quote.span).startswith("Staff numbered")


def test_numbers_open_after_a_quote_are_looked_for_around_it() -> None:
    row = PASSAGE.find("Revenue 514.4 497.0")
    assert row is not None
    assert [PASSAGE.slice(span) for span in PASSAGE.context_of(row.span, ["2021"])] == ["Item\t2022\t2021"]
    assert PASSAGE.context_of(row.span, ["42"]) == []


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
        assert character in normalize(text[offset]).text


@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_proposed_the_quote_is_a_slice_of_the_passage(text: str, proposed: str) -> None:
    passage = QuotablePassage(sources.passage(text))
    for quote in (passage.find(proposed), passage.align(proposed)):
        if quote is not None:
            assert 0 <= quote.span.start < quote.span.end <= len(passage.text)
