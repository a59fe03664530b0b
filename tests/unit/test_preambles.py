"""The preamble of a contract names its parties."""

import pytest

from rag.answering.extraction.signers_and_parties import find_parties
from rag.vocabulary.common_questions import asks_parties
from tests import sources

BETWEEN = (
    "This Agreement is made as of 4 May 2020 by and between Acme Harbours, Inc., a New Jersey corporation\n"
    "(“Acme”), and Brine Ferries Ltd. (the “Carrier”)."
)


def parties(*blocks: sources.Block, first: int = 1) -> str | None:
    found = find_parties([sources.hit(*blocks, first=first).chunk])
    return found and " ".join(found.items[0].chunk.text[slice(*found.items[0].span)].split())


@pytest.mark.parametrize("after", ["WHEREAS, Acme owns quays;", "1. Term", "(the “Agreement”)", "Recitals"])
def test_it_ends_before_the_contract_begins(after: str) -> None:
    assert parties("FERRY AGREEMENT", BETWEEN, after) == " ".join(BETWEEN.split())


def test_names_may_stand_in_straight_quotes() -> None:
    straight = BETWEEN.replace("“", '"').replace("”", '"')
    assert parties("FERRY AGREEMENT", straight, "1. Term") == " ".join(straight.split())


def test_its_words_may_stand_on_lines_of_their_own() -> None:
    lines = ("between", "Acme Harbours, Inc. (“Acme”) and", "Brine Ferries Ltd. (“Carrier”)")
    assert parties("FERRY AGREEMENT", *lines, "1. TERM") == " ".join(lines)


@pytest.mark.parametrize(
    "text",
    [
        "The distance between Acme and Brine is 40 km.",
        "A dispute between Acme (“Acme”) is settled.",
        "The harbours are between the river and the sea.",
    ],
)
def test_what_names_no_two_parties_is_none(text: str) -> None:
    assert parties(text) is None


def test_what_stands_far_below_is_none() -> None:
    assert parties(BETWEEN, first=400) is None


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Who are the parties?", True),
        ("Who are the parties to this agreement?", True),
        ("Between whom was the contract made?", True),
        ("Wer sind die Vertragsparteien?", True),
        ("Who are the parties in the coalition of 2020?", False),
        ("Who pays the parties?", False),
        ("What are the duties of the parties?", False),
    ],
)
def test_only_questions_for_the_parties_are_recognised(question: str, is_asked: bool) -> None:
    assert asks_parties(question) is is_asked
