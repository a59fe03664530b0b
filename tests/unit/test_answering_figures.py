"""Figures of a claim: where they stand in its sources, what they stand for there, and what follows from them."""

import pytest

from rag.answering.text.numbers import find_numbers, is_rounded, operands
from rag.answering.verification.citations import Claim
from rag.answering.verification.figure_places import FigureCheck, FigureIndex, check_figures
from rag.answering.verification.grounding import Grounder
from rag.answering.verification.quote_matching import QuotablePassage
from rag.types import BlockKind, Hit, Sentence, Span, Support
from tests import sources


def check(claim: str, *hits: Hit, known: str = "", asked: str = "", quoted: str = "") -> FigureCheck:
    """Look up the figures of `claim`; `known` has those of other sentences, `quoted` is a part of the first source."""
    passages = {f"S{number}": QuotablePassage(hit.passage) for number, hit in enumerate(hits, 1)}
    start = hits[0].passage.text.index(quoted)
    spans = passages["S1"].units_at(Span(start, start + len(quoted))) if quoted else []
    indexes = {name: FigureIndex(passage) for name, passage in passages.items()}
    return check_figures(claim, indexes, {"S1": spans}, find_numbers(known), asked)


def places(found: FigureCheck) -> list[tuple[str, str, int | None]]:
    """Return each found figure with that of the source, and its column; None in a sentence."""
    return [(one.figure.number.text, one.place.number.text, one.place.cell) for one in found.matches]


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
PLANTS = sources.hit(
    "The mill employed 4,812 people at the end of 2024, compared with 4,655 a year earlier. "
    "The northern plant, which makes archive paper, ran for 312 days without a halt. "
    "The southern plant, which makes heavy board, ran for 297 days until the flood. "
    "The council has Vinter, Holm, Berg and Lund as its members.",
    name="plants.pdf",
)


@pytest.mark.parametrize(
    ("claim", "hit", "place"),
    [
        ("Paper sales were €2,127.4 million in 2024.", MILL, "2,127.4"),
        ("Paper sales were €2,127 million in 2024.", MILL, "2,127.4"),
        ("Paper sales were €2,126 million in 2024.", MILL, None),
        ("Paper sales were €2,127,400,000 in 2024.", MILL, "2,127.4"),
        ("Paper sales were €2.1 billion in 2024.", MILL, "2,127.4"),
        ("Paper sales were €2.13 billion in 2024.", MILL, "2,127.4"),
        ("Paper sales were €2.2 billion in 2024.", MILL, None),
        ("Paper sales were €1.65 billion in 2022.", MILL, "1,650.2"),
        ("Paper sales were €2,127.4 billion in 2024.", MILL, None),
        ("Paper sales were €2,127.4 thousand in 2024.", MILL, None),
        ("Board sales were €953 billion in 2024.", MILL, None),
        ("Board sales were €1,200 million in 2023.", MILL, None),  # written to the last million
        ("The operating margin was 11.3% in 2023.", MILL, "11.25"),
        ("The operating margin was 11.4% in 2023.", MILL, None),
        ("Profit per share was €1.3 in 2024.", MILL, "1.31"),
        ("Profit per share was €1 in 2024.", MILL, None),  # one digit is no rounded figure
        ("The mill employed 4.8 thousand people.", PLANTS, "4,812"),
        ("The mill employed 4812 people.", PLANTS, "4,812"),
        ("The mill employed 4,182 people.", PLANTS, None),
    ],
)
def test_a_figure_may_be_rounded_and_in_another_scale(claim: str, hit: Hit, place: str | None) -> None:
    found = check(claim, hit)
    assert [one[1] for one in places(found)] == ([place] if place else [])
    assert bool(found.absent) is (place is None)
    assert found.misplaced == ()


@pytest.mark.parametrize(
    ("figure", "value", "is_same"),
    [
        ("9,140 thousand", 9_139_800.0, True),
        ("9,140 thousand", 8_655.0, False),  # a comma before three digits parts thousands: no 9.14
        ("9,140 million", 9_140_000.0, False),
        ("1.234 Mio.", 1_234_000_000.0, True),  # a point may do so, too
        ("1.234 million", 1_233_900.0, True),
        ("1.234 million", 1_220_000.0, False),
        ("1,234.5", 1_234.54, True),
        ("1,234.5", 1_234.6, False),
        ("0.125", 0.1254, True),
        ("0.125", 0.3, False),
        ("12.5%", -12.46, True),
        (".5", 0.54, True),
        (".5", 0.56, False),
        ("7", 6.6, True),
    ],
)
def test_a_figure_is_rounded_at_its_last_digit(figure: str, value: float, is_same: bool) -> None:
    (number,) = find_numbers(figure)
    assert is_rounded(number, value) is is_same


@pytest.mark.parametrize(
    ("claim", "column", "is_right"),
    [
        ("Board sales were €953 million in 2024.", 0, True),
        ("Board sales were €953 million in FY24.", 0, True),
        ("Board sales were €953 million in 2023.", 0, False),
        ("Board sales were €1,204 million in 2023.", 1, True),
        ("Board sales were €1,204 million in 2024.", 1, False),
        ("Board sales were €1,204 million in FY24.", 1, False),
        ("Board sales were €1,204 million.", 1, True),  # no year is named
        ("Board sales were €1,204 million in the prior-year period of 2024.", 1, True),
    ],
)
def test_a_figure_of_a_table_is_of_the_year_of_its_column(claim: str, column: int, is_right: bool) -> None:
    found = check(claim, MILL)
    assert [place[2] for place in places(found)] == [column]
    assert bool(found.misplaced) is not is_right


@pytest.mark.parametrize(
    ("asked", "is_right"), [("", True), ("in 2023?", True), ("in 2024?", False), ("2023 or 2024?", True)]
)
def test_the_only_year_of_the_question_is_meant_where_the_claim_names_none(asked: str, is_right: bool) -> None:
    found = check("Board sales were €1,204 million.", MILL, asked=asked)
    assert found.misplaced == (() if is_right else ("1,204 million",))
    both = check("Board sales were €1,204 million, after €1,377 million.", MILL, asked=asked)
    assert both.misplaced == ()  # one of them is of another year


def test_each_figure_has_the_year_beside_it() -> None:
    assert check("Board sales were 953 in 2024 and 1,204 in 2023.", MILL).misplaced == ()
    assert check("Board sales were 1,204 in 2024 and 953 in 2023.", MILL).misplaced == ("1,204", "953")
    assert check("Board sales were 953 in 2024, compared with 1,204 a year earlier.", MILL).misplaced == ()


def test_a_year_decides_between_equal_figures() -> None:
    hit = table("\t2024\t2023\nPulp\t75\t75\nChips\t75\t80")
    for year, column in ((2024, 0), (2023, 1)):
        found = check(f"Pulp brought €75 million in {year}.", hit)
        assert places(found) == [("75 million", "75", column)]
        assert found.misplaced == ()


@pytest.mark.parametrize(
    ("claim", "is_right"),
    [
        ("Board sales were €953 million in 2024.", True),
        ("Sales of board were €953 million in 2024.", True),
        ("Paper sales were €953 million in 2024.", False),
        ("Operating costs were €953 million in 2024.", False),
        ("Profits were €953 million in 2024.", True),  # names no row in full: words decide
        ("Sales were €953 million in 2024.", True),
        ("The operating margin was 11.25% in 2023.", True),
        ("Profit per share was 11.25% in 2023.", False),
    ],
)
def test_a_figure_is_not_of_another_row_that_the_claim_names_in_full(claim: str, is_right: bool) -> None:
    found = check(claim, MILL)
    assert len(found.matches) == 1
    assert bool(found.misplaced) is not is_right


REGIONS = table("\tNorth\tSouth\tTotal\nPaper sales\t41.2\t33.9\t75.1\nBoard sales\t9.1\t14.7\t23.8")


@pytest.mark.parametrize(
    ("claim", "is_right"),
    [
        ("Paper sales in the South were 33.9.", True),
        ("Paper sales in the South were 41.2.", False),
        ("Total paper sales were 75.1.", True),
        ("Board sales were 9.1 in the North and 14.7 in the South.", True),
        ("Board sales were 14.7 in the North and 9.1 in the South.", False),
    ],
)
def test_a_figure_is_not_of_another_column_that_the_claim_names(claim: str, is_right: bool) -> None:
    found = check(claim, REGIONS)
    assert found.absent == ()
    assert bool(found.misplaced) is not is_right


@pytest.mark.parametrize(
    ("claim", "hit", "exchanged"),
    [
        ("The northern plant ran for 312 days, the southern plant for 297 days.", PLANTS, ()),
        ("The northern plant ran for 297 days, the southern plant for 312 days.", PLANTS, ("297", "312")),
        ("In 2024 paper sales were 2,127.4 and board sales 953.", MILL, ()),
        ("In 2024 paper sales were 953 and board sales 2,127.4.", MILL, ("953", "2,127.4")),
    ],
)
def test_exchanged_figures_are_misplaced(claim: str, hit: Hit, exchanged: tuple[str, ...]) -> None:
    assert check(claim, hit).misplaced == exchanged


@pytest.mark.parametrize(
    ("claim", "turned"),
    [
        ("Board sales fell from 1,204 to 953.", ()),
        ("Board sales fell to 953 from 1,204.", ()),
        ("Board sales rose from 953 to 1,204.", ("953", "1,204")),
        ("Board sales rose to 1,204 from 953.", ("953", "1,204")),
        ("Board sales went from 1,377 in 2022 to 953 in 2024.", ()),
        ("From Norrtug 953 and from Sydtug 1,204 came.", ()),  # no change
    ],
)
def test_a_change_goes_from_the_earlier_to_the_later_year(claim: str, turned: tuple[str, ...]) -> None:
    assert check(claim, MILL).misplaced == turned


@pytest.mark.parametrize(
    ("claim", "result", "is_right"),
    [
        ("Board sales fell by 1,204 − 953 = 251 in 2024.", "251", True),
        ("Board sales fell by 1,204 − 953 = 261 in 2024.", "261", False),
        ("In 2024, board sales fell by 1,204 - 953 = €251 million.", "251 million", True),
        ("Board sales changed by 953 / 1,204 - 1 = -20.8% in 2024.", "20.8", True),
        ("Board sales changed by 953 / 1,204 - 1 = -28.8% in 2024.", "28.8", False),
        ("In 2024, all sales were 2,127.4 + 953 = 3,080.4.", "3,080.4", True),
        ("In 2024, all sales were 2,127.4 + 953 = 3,180.4.", "3,180.4", False),
        ("Board sales were (953 + 1,204 + 1,377) / 3 = 1,178 on average.", "1,178", True),
        ("Board sales were (953 + 1,204 + 1,377) / 3 = 1,278 on average.", "1,278", False),
        ("251 = 1,204 − 953 is the decline of board sales in 2024.", "251", True),
        ("261 = 1,204 − 953 is the decline of board sales in 2024.", "261", False),
        ("Board sales fell by 1,404 − 953 = 451 in 2024.", "451", False),  # the source has no 1,404
        ("Board sales fell by 1,204 − 953 = 1,377 in 2024.", "1,377", False),  # which stands in the same row
    ],
)
def test_an_equation_is_right_if_its_operands_are_found_and_give_its_result(
    claim: str, result: str, is_right: bool
) -> None:
    found = check(claim, MILL)
    assert result in (found.computed if is_right else found.failed)
    assert bool(found.failed) is not is_right
    assert len(set(found.failed)) == len(found.failed)


def test_a_result_may_also_stand_somewhere_else() -> None:
    found = check("In 2024 pulp brought 75 − 70 = 5 more.", table("\t2024\t2023\nPulp\t75\t70\nChips\t9\t5"))
    assert (found.computed, found.failed) == (("5",), ())


@pytest.mark.parametrize(
    ("claim", "result", "is_right"),
    [
        ("Board sales fell by €251 million in 2024 (1,204 − 953).", "251 million", True),
        ("Board sales fell by €271 million in 2024 (1,204 − 953).", "271 million", False),
        ("Board sales fell by 20.8% ((953 − 1,204) / 1,204) in 2024.", "20.8", True),
        ("Board sales fell by 26.8% ((953 − 1,204) / 1,204) in 2024.", "26.8", False),
        ("Board sales fell by a fifth, 20.8% (953 / 1,204 − 1), in 2024.", "20.8", True),
        ("Board sales fell by €0.25 billion (1,204 − 953) in 2024.", "0.25 billion", True),
        ("Board sales fell by €0.27 billion (1,204 − 953) in 2024.", "0.27 billion", False),
    ],
)
def test_an_expression_in_brackets_shows_what_a_figure_is_computed_from(
    claim: str, result: str, is_right: bool
) -> None:
    found = check(claim, MILL)
    assert (result in found.computed) is is_right
    assert found.failed == (() if is_right else (result,))


def test_operands_stand_in_equations_and_brackets() -> None:
    text = "Of 2,500 it was (953 − 1,204) / 1,204 = -20.8% in 2024 (page 7), or 1,204 - 953 kroner (1,204 − 953)."
    found = operands(text)
    assert [number.text for number in find_numbers(text) if number.start in found] == [
        *("953", "1,204", "1,204"),
        *("1,204", "953"),
    ]


@pytest.mark.parametrize(
    ("claim", "is_right"),
    [
        ("Paper sales of 2,127.4 and board sales of 953 make 3,080.4 together.", True),
        ("Paper sales of 2,127.4 and board sales of 953 make 3,180.4 together.", False),
        ("Costs of 1,612, 1,530 and 1,498 make 4,640.", True),
        ("Costs of 1,612, 1,530 and 1,498 make 4,740.", False),
        ("Board sales fell 20.8% to €953 million in 2024.", True),  # 1,204 stands in the same row
        ("Board sales fell 28.8% to €953 million in 2024.", False),
        ("Board sales fell by €251 million to €953 million in 2024.", True),
        ("Board sales fell by €231 million to €953 million in 2024.", False),
        ("The margin grew by 1.25 percentage points to 12.5% in 2024.", True),
        ("The margin grew by 2.25 percentage points to 12.5% in 2024.", False),
        ("Paper sales of 2,127.4 were 2.2 times board sales of 953.", True),
        ("Paper sales of 2,127.4 were 2.6 times board sales of 953.", False),
        ("Board sales were 44.8% of paper sales of 2,127.4, at 953.", True),
        ("Board sales were 54.8% of paper sales of 2,127.4, at 953.", False),
    ],
)
def test_sums_changes_and_ratios_follow_from_the_figures_of_the_claim_and_of_their_rows(
    claim: str, is_right: bool
) -> None:
    found = check(claim, MILL)
    assert len(found.computed) == is_right
    assert len(found.failed) == (not is_right)


def test_a_figure_may_follow_from_those_of_another_sentence() -> None:
    claim = "That is 177 people more."
    assert check(claim, PLANTS).absent == ("177",)
    assert check(claim, PLANTS, known="The mill employed 4,812 people, after 4,635.").computed == ("177",)
    assert check(claim, PLANTS, known="The mill employed 4,812 people, after 4,655.").absent == ("177",)
    assert check("So 512 people were ill.", PLANTS, known="At 512 people, it peaked.").computed == ("512",)


@pytest.mark.parametrize(
    ("claim", "hit", "is_likely"),
    [
        ("The mill employed 157 people more.", PLANTS, True),  # 4,812 - 4,655, of one sentence
        ("The mill employed 177 people more.", PLANTS, False),
        ("Paper sales were 13.7% higher in 2024.", MILL, True),  # of one row
        ("Paper sales were 17.3% higher in 2024.", MILL, False),
        ("In 2024 all sales were 3,080.4.", MILL, False),  # of two rows: it does not say of which
    ],
)
def test_a_figure_that_one_sentence_about_the_claim_may_give_is_left_open(
    claim: str, hit: Hit, is_likely: bool
) -> None:
    found = check(claim, hit)
    assert (len(found.counts), len(found.absent)) == (is_likely, not is_likely)
    assert (found.matches, found.computed) == ((), ())


@pytest.mark.parametrize(
    ("claim", "is_likely"),
    [
        ("In 2024 all sales were 3,080.4.", True),
        ("In 2024 all sales were 3,090.4.", False),
        ("Sales of board fell by €251,000,000.", True),
        ("Sales of board fell by €261,000,000.", False),
        ("The operating margin rose by 125 basis points.", True),
        ("The operating margin rose by 135 basis points.", False),
    ],
)
def test_a_figure_that_the_quoted_rows_may_give_in_another_unit_is_left_open(claim: str, is_likely: bool) -> None:
    rows = MILL.passage.text[MILL.passage.text.index("Paper") : MILL.passage.text.index("Operating costs") - 1]
    found = check(claim, MILL, quoted="" if "margin" in claim else rows)
    assert (len(found.counts), len(found.absent)) == (is_likely, not is_likely)


def test_a_share_may_be_written_as_a_fraction_in_a_computation() -> None:
    assert check("It is 7,624 in all (953 / 0.125).", MILL).absent == ()
    assert check("It is 6,353 in all (953 / 0.17).", MILL).absent == ("6,353", "0.17")


@pytest.mark.parametrize(
    ("before", "more", "support"), [("4,655", "157", Support.NOT_VERIFIED), ("4,635", "177", Support.NOT_STATED)]
)
def test_a_figure_follows_from_another_sentence_only_if_the_source_confirms_that(
    before: str, more: str, support: Support
) -> None:
    said = [f"The mill employed 4,812 people in 2024, after {before} in 2023.", f"That is {more} people more."]
    sentences = [Sentence(text=text, citation_ids=("S1",), start=0, end=len(text)) for text in said]
    grounder = Grounder({"S1": PLANTS}, locate=sources.locate)
    (_, last), _ = grounder.ground([Claim(sentence, ()) for sentence in sentences])
    assert last.support is support


@pytest.mark.parametrize(
    ("claim", "figures"),
    [
        ("2. The mill employed 4,812 people.", ["4,812"]),
        ("(17) The mill employed 4,812 people.", ["4,812"]),
        ("17 – The mill employed 4,812 people.", ["4,812"]),
        ("On 31 December the mill employed 4,812 people.", ["4,812"]),
        ("At December 31, 2024 the mill employed 4,812 people.", ["4,812"]),
        ("On the 31st of Dec. the mill employed 4,812 people.", ["4,812"]),
        ("In Q4 2024 the mill employed 4,812 people.", ["4,812"]),
        ("In 2024 the mill employed 4,812 people.", ["4,812"]),
        ("In FY24 the mill employed 4,812 people.", ["4,812"]),
        ("The mill – Item 7: 4,812; Item 9: 4,655", ["4,812", "4,655"]),
        ("The mill employed 4,812 people in 7 plants.", ["4,812", "7"]),
    ],
)
def test_list_numbers_days_quarters_years_and_column_names_are_no_figures(claim: str, figures: list[str]) -> None:
    found = check(claim, PLANTS)
    assert [one.figure.number.text for one in found.matches] + [*found.counts] == figures
    assert found.failed == ()


@pytest.mark.parametrize(
    ("claim", "counts", "absent"),
    [
        ("The council has 4 members.", ("4",), ()),
        ("The council has 100 members.", ("100",), ()),
        ("The council has 400 members.", (), ("400",)),
        ("The council is to 40% of women.", (), ("40",)),
        ("The council costs €40.", (), ("40",)),
        ("The council costs 4 million.", (), ("4 million",)),
        ("The council meets every 4.5 weeks.", (), ("4.5",)),
    ],
)
def test_small_whole_numbers_may_be_counted_by_a_reader(
    claim: str, counts: tuple[str, ...], absent: tuple[str, ...]
) -> None:
    found = check(claim, PLANTS)
    assert (found.counts, found.absent) == (counts, absent)


def test_a_row_of_the_answer_has_its_columns() -> None:
    assert check("Board sales – 2024: 953; 2023: 1,204", MILL).failed == ()
    assert check("Board sales – 2024: 1,204; 2023: 953", MILL).misplaced == ("1,204", "953")


def test_a_quoted_place_is_preferred() -> None:
    hit = sources.hit("The quay is 120 metres long.", "The pier, of oak, is 120 metres long.")
    claim = "It measures 120 metres."
    for number, quoted in enumerate(("The quay", "The pier")):
        (found,) = check(claim, hit, quoted=quoted).matches
        assert found.place.unit == number


def test_each_figure_may_stand_in_a_source_of_its_own() -> None:
    found = check("The mill employed 4,812 people and sold paper for €2,127.4 million.", PLANTS, MILL)
    assert [one.citation_id for one in found.matches] == ["S1", "S2"]
    assert found.failed == ()


@pytest.mark.parametrize(
    ("claim", "support", "missing"),
    [
        ("Board sales were €953 million in 2024.", Support.SUPPORTED, ()),
        ("In 2024, €953 million came from the board that it made.", Support.NOT_VERIFIED, None),
        ("In 2024, €963 million came from the board that it made.", Support.NOT_STATED, ("963 million",)),
        ("In 2023, €953 million came from the board that it made.", Support.NOT_STATED, ("953 million",)),
        ("Board sales fell by 1,204 − 953 = 261.", Support.NOT_STATED, ("261",)),
    ],
)
def test_a_figure_that_the_look_up_does_not_confirm_is_not_stated(
    claim: str, support: Support, missing: tuple[str, ...] | None
) -> None:
    sentence = Sentence(text=claim, citation_ids=("S1",), start=0, end=len(claim))
    ((judged,), _) = Grounder({"S1": MILL}, locate=sources.locate).ground([Claim(sentence, ())])
    assert judged.support is support
    assert missing is None or judged.missing == missing
