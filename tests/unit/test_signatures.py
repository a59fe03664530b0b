"""Signatures are read with the name and office below them, and listed when it is asked who signed."""

import pytest

from rag.answering.extraction.lists import FoundList, asks_signers, find_signers
from rag.answering.passages.persons import signatures
from rag.types import Passage
from tests import sources


def read(passage: Passage) -> list[str]:
    return [passage.text[slice(*unit.span)] for unit in signatures(passage)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "/s/ Ola Berg\nTreasurer\n/s/ Inge Holm\nDirector\nDate: 4 May 2020",
            ["/s/ Ola Berg\nTreasurer", "/s/ Inge Holm\nDirector"],
        ),
        (
            "By /s/ Ola Berg By /s/ Inge Holm\nOla Berg Inge Holm\nDirector Chair of the Board\n70",
            ["By /s/ Ola Berg By /s/ Inge Holm\nOla Berg Inge Holm\nDirector Chair of the Board"],
        ),
        (
            "/s/ Ola Berg\tDirector\t4 May 2020\nOla Berg\n/s/ Inge Holm\tChair",
            ["/s/ Ola Berg\tDirector\t4 May 2020\nOla Berg", "/s/ Inge Holm\tChair"],
        ),
        ("/s/ Ola Berg\nOla Berg\nBRINE FERRIES, INC.\nBy: /s/ Tom Ek", ["/s/ Ola Berg\nOla Berg", "By: /s/ Tom Ek"]),
        (f"/s/ Ola Berg\nTreasurer\n{'This report was signed below by these ' * 3}", ["/s/ Ola Berg\nTreasurer"]),
        ("/s/ OLA BERG\nOLA BERG\nDirector", ["/s/ OLA BERG\nOLA BERG\nDirector"]),
        ("/s/ Ola Berg\nTreasurer\nAssets\t12\t13", ["/s/ Ola Berg\nTreasurer"]),
    ],
)
def test_a_signature_ends_before_what_is_not_its_own(text: str, expected: list[str]) -> None:
    assert read(sources.passage(text)) == expected


def test_a_signature_ends_with_its_page() -> None:
    first = sources.lines("/s/ Ola Berg\nTreasurer")
    found = sources.passage("…").model_copy(
        update={"lines": (*first, *sources.lines("Exhibit 31", first=3, page_number=2))}
    )
    assert read(found) == ["/s/ Ola Berg\nTreasurer"]


# --- who signed ---------------------------------------------------------------------------------------------------

PAGES = (
    "ACME HARBOURS, INC.\n/s/ Ola Berg\nOla Berg\nPresident and Director",
    "/s/ Inge Holm\tChair of the Board\nInge Holm",
    "/s/ Tom Ek\nTom Ek\nDirector of Safety",
    "/s/ Una Dahl\nUna Dahl\nDirector, Human Resources",
    "/s/ Ola Berg\nOla Berg\nPresident",
)


def found(question: str) -> FoundList | None:
    return find_signers([sources.hit(page).chunk for page in PAGES], question)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who signed the report?", ["Ola Berg", "Inge Holm", "Tom Ek", "Una Dahl"]),
        ("Who are the directors?", ["Ola Berg", "Inge Holm"]),
        ("Who signed for Acme Harbours?", ["Ola Berg", "Inge Holm", "Tom Ek", "Una Dahl"]),
    ],
)
def test_each_signer_is_listed_once(question: str, names: list[str]) -> None:
    listed = found(question)
    assert listed is not None
    texts = [item.chunk.text[slice(*item.span)] for item in listed.items]
    assert [name for text in texts for name in names if name in text] == names
    assert (len(texts), listed.total, listed.items[0].section) == (len(names), len(names), "ACME HARBOURS, INC.")


def test_a_party_without_signatures_has_no_signers() -> None:
    assert found("Who signed on behalf of Brine Ferries?") is None


def test_without_signatures_nothing_is_listed() -> None:
    assert find_signers([sources.hit("The report was signed by Ola Berg.").chunk], "Who signed the report?") is None


@pytest.mark.parametrize(
    ("question", "is_asked"),
    [
        ("Who signed this agreement?", True),
        ("Who has signed 's annual report?", True),  # after the name of the document was taken out
        ("Who are the signatories to the lease?", True),
        ("Wer hat den Vertrag unterschrieben?", True),
        ("Who are the members of the board of directors?", True),
        ("Who are 's directors?", True),
        ("List the directors.", True),
        ("Who signed the treaty of 1648?", False),
        ("Who signed this agreement for Brine Ferries, Inc.?", True),
        ("Who signed off the budget?", False),
        ("Who are the directors of photography?", False),
        ("How many directors are there?", False),
    ],
)
def test_only_questions_for_all_signers_or_directors_are_recognised(question: str, is_asked: bool) -> None:
    assert asks_signers(question) is is_asked
