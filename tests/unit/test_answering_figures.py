"""Figures of a claim: where they stand in its sources, what they stand for there, and what follows from them."""

from collections.abc import Sequence

import pytest

from rag.answering.text.numbers import find_numbers
from rag.answering.verification.figure_places import FigureCheck, FigureIndex, check_figures
from rag.answering.verification.quote_matching import QuotablePassage
from rag.types import BlockKind, Hit, Span
from tests import sources


def check(claim: str, *hits: Hit, known: str = "", asked: str = "", quoted: str = "") -> FigureCheck:
    """Look up the figures of `claim`; `known` has those of other sentences, `quoted` is a part of the first source."""
    passages = {f"S{number}": QuotablePassage(hit.passage) for number, hit in enumerate(hits, 1)}
    indexes = {name: FigureIndex(passage) for name, passage in passages.items()}
    start = hits[0].passage.text.index(quoted)
    spans = passages["S1"].units_at(Span(start, start + len(quoted))) if quoted else []
    return check_figures(claim, indexes, {"S1": spans}, find_numbers(known), asked)


def places(found: FigureCheck) -> list[tuple[str, str, int | None]]:
    """Return each found figure with that of the source, and its column; None in a sentence."""
    return [(one.figure.number.text, one.place.number.text, one.place.cell) for one in found.found]


def table(text: str, caption: str = "(in millions of euros)") -> Hit:
    return sources.hit(caption, (BlockKind.TABLE, text), name="mill.pdf")


MILL = table(
    "\t2024\t2023\t2022\n"
    "Paper sales\t2,127.4\t1,871.6\t1,650.2\n"
    "Board sales\t953\t1,204\t1,377\n"
    "Operating costs\t(1,612)\t(1,530)\t(1,498)\n"
    "Profit per share\t1.31\t1.17\t1.05\n"
    "Operating margin\t12.5%\t11.25%\t9.8%"
)
MEETING = sources.hit(
    "The mill employed 4,812 people at the end of 2024, compared with 4,655 a year earlier. "
    "Its northern plant, which was opened in 1998 and makes paper for archives, ran for 312 days without a halt. "
    "The southern plant, which belongs to the mill since the merger with Norrtug, makes board and ran for 297 days. "
    "The council has Vinter, Holm, Berg and Lund as its members.",
    name="meeting.pdf",
)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Paper sales were €2,127.4 million in 2024.", MILL),
        ("Paper sales were €2,127 million in 2024.", MILL),
        ("Paper sales were €2.1 billion in 2024.", MILL),
        ("Paper sales were €2.13 billion in 2024.", MILL),
        ("Paper sales were about 2,130 million euros in 2024.", MILL) ,
        ("Paper sales were €2,127,400,000 in 2024.", MILL),
        ("Paper sales were €1.65 billion in 2022.", MILL),
        ("The operating margin was 11.3% in 2023.", MILL),
        ("Operating costs were €1,612 million in 2024.", MILL),
        ("The mill employed 4.8 thousand people.", MEETING),
        ("The mill employed 4812 people.", MEETING),
        ("Paper sales were €2.2 billion in 2024.", MILL),
        ("Paper sales were €2,126 million in 2024.", MILL),
        ("Paper sales were €2,127.4 billion in 2024.", MILL),
        ("Paper sales were €2,127.4 thousand in 2024.", MILL),
        ("Board sales were €1.204 thousand in 2023.", MILL),
        ("Board sales were €953 billion in 2024.", MILL),
        ("Board sales were €1,200 million in 2023.", MILL),
        ("The operating margin was 11.2% in 2023.", MILL),
        ("The operating margin was 11.1% in 2023.", MILL),
        ("Profit per share was €1.3 in 2024.", MILL),
        ("Profit per share was €1 in 2024.", MILL),
        ("Profit per share was €2 in 2024.", MILL),
        ("Paper sales were €2,127 million in 2023.", MILL),
        ("Paper sales were €1,871.6 million in 2024.", MILL),
        ("Board sales were 953 in 2024 and 1,204 in 2023.", MILL),
        ("Board sales were 1,204 in 2024 and 953 in 2023.", MILL),
        ("Board sales were 1,204, compared with 953 a year earlier.", MILL),
        ("Paper sales were €953 million in 2024.", MILL),
        ("Operating costs were €953 million in 2024.", MILL),
        ("Paper sales in 2024 were 2,127.4 and board sales 953.", MILL),
        ("Paper sales in 2024 were 953 and board sales 2,127.4.", MILL),
        ("Board sales fell from 1,204 to 953.", MILL),
        ("Board sales fell from 953 to 1,204.", MILL),
        ("Board sales went from 1,377 in 2022 to 953 in 2024.", MILL),
        ("The northern plant ran for 312 days, the southern plant for 297 days.", MEETING),
        ("The northern plant ran for 297 days, the southern plant for 312 days.", MEETING),
        ("Board sales fell by 1,204 − 953 = 251 in 2024.", MILL),
        ("Board sales fell by 1,204 − 953 = 261 in 2024.", MILL),
        ("Board sales fell by 20.8% ((953 − 1,204) / 1,204) in 2024.", MILL),
        ("Board sales fell by 26.8% ((953 − 1,204) / 1,204) in 2024.", MILL),
        ("Board sales fell by €251 million (1,204 − 953).", MILL),
        ("Board sales fell by €271 million (1,204 − 953).", MILL),
        ("Paper and board sales were 2,127.4 + 953 = 3,080.4 in 2024.", MILL),
        ("Paper sales of 2,127.4 and board sales of 953 make 3,080.4 together.", MILL),
        ("Paper sales of 2,127.4 and board sales of 953 make 3,180.4 together.", MILL),
        ("Board sales fell 20.8% to €953 million in 2024.", MILL),
        ("Board sales fell 28.8% to €953 million in 2024.", MILL),
        ("Paper sales were 2.2 times board sales of €953 million in 2024.", MILL),
        ("2. The mill employed 4,812 people.", MEETING),
        ("(17) The mill employed 4,812 people.", MEETING),
        ("On 31 December the mill employed 4,812 people.", MEETING),
        ("At December 31, 2024 the mill employed 4,812 people.", MEETING),
        ("In Q4 2024 the mill employed 4,812 people.", MEETING),
        ("In the 4th quarter of 2024 the mill employed 4,812 people.", MEETING),
        ("The council has 4 members.", MEETING),
        ("The council has 400 members.", MEETING),
        ("The council has 40% women.", MEETING),
        ("Paper sales – 2024: 2,127.4; 2023: 1,871.6", MILL),
        ("Sales 2024: 953; Sales 2023: 1,204", MILL),
        ("Board sales – Item 7: 953; Item 8: 1,204", MILL),
        ("The operating margin was -12.5% in 2024.", MILL),
        ("Profit per share was –1.31 in 2024.", MILL),
        ("Operating costs were -1,612 in 2024.", MILL),
        ("Paper sales were 13.7% higher.", MILL),
        ("The mill had 157 people more.", MEETING),
        ("Sales grew.", MILL),
    ],
)
def test_print(claim, source):
    c = check(claim, source)
    print("\n#", claim, places(c), "COMP", c.computed, "ABS", c.absent, "CNT", c.counts, "MIS", c.misplaced)
