"""Claims in the words of their source that small words make say something else, and claims that keep them."""

import pytest

from rag.answering.citations import Claim
from rag.answering.grounding import Grounder
from rag.answering.markup import ProposedQuote
from rag.types import Sentence, Support
from tests import sources


def judge(claim: str, source: str) -> Sentence:
    """The verdict about a claim that quotes all of `source`."""
    sentence = Sentence(text=claim, citation_ids=("S1",), start=0, end=len(claim))
    grounder = Grounder({"S1": sources.hit(source)}, locate=sources.locate)
    ((judged,), _) = grounder.ground([Claim(sentence, (ProposedQuote("S1", source, 0),))])
    return judged


def check(claim: str, source: str, *, is_true: bool) -> None:
    """It is supported if it is true; if not, something is named that it lacks."""
    judged = judge(claim, source)
    assert (judged.support is Support.SUPPORTED) is is_true, judged.missing
    assert bool(judged.missing) is not is_true


MOST = "Most of the ferries were repaired in Oskarshamn, some of our quays rebuilt, and two of the five cranes failed."
SECOND = "Lyngdal is the second largest harbour of the coast, and one of the oldest."


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("Most of the ferries were repaired in Oskarshamn.", MOST, True),
        ("All of the ferries were repaired in Oskarshamn.", MOST, False),
        ("The ferries were only repaired in Oskarshamn.", MOST, False),
        ("Many ferries were repaired in Oskarshamn.", MOST, False),
        ("Two of the five cranes failed.", MOST, True),
        ("The five cranes failed.", MOST, False),
        ("Some of our quays were rebuilt.", MOST, True),
        ("Our quays were rebuilt.", MOST, False),
        ("All quays were rebuilt.", MOST, False),
        ("Five of the two cranes failed.", MOST, False),
        ("Lyngdal is the second largest harbour of the coast.", SECOND, True),
        ("Lyngdal is the largest harbour.", SECOND, False),
        ("Lyngdal is the oldest harbour.", "Lyngdal is one of the oldest harbours of the coast.", False),
        ("Lyngdal is one of the oldest harbours.", "Lyngdal is one of the oldest harbours of the coast.", True),
        ("Every pilot has a licence.", "Each pilot of the station has a licence.", True),
        ("Pilots have a licence every year.", "Pilots of the station have a licence each year.", True),
        ("Tolls come only from lorries.", "Tolls come solely from lorries.", True),
        ("The number of lorries fell to 14.", "The number of lorries in the tunnel fell to 14.", True),
        ("9 out of 12 lorries passed.", "9 of the 12 lorries passed.", True),
        ("Die Fähren wurden repariert.", "Alle Fähren wurden in Oskarshamn repariert.", True),
    ],
)  # fmt: skip
def test_a_claim_speaks_of_as_much_as_its_source(claim: str, source: str, is_true: bool) -> None:
    check(claim, source, is_true=is_true)
