"""Verdicts about claims: what their quotes hold, and what they do not."""

import pytest

from rag.answering.text.markup import ProposedQuote
from rag.answering.verification import citations
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounder
from rag.types import BlockKind, Citation, Hit, Sentence, Support
from tests import sources

SUPPORTED, PARTLY, NOT_VERIFIED, CONTRADICTED = (
    Support.SUPPORTED,
    Support.PARTLY,
    Support.NOT_VERIFIED,
    Support.CONTRADICTED,
)


def judge(claim: str, *hits: Hit, quote: str | None = None) -> tuple[Sentence, tuple[Citation, ...]]:
    """The verdict about a claim that cites all `hits`, and its citations."""
    found = {f"S{number}": hit for number, hit in enumerate(hits, start=1)}
    sentence = Sentence(text=claim, citation_ids=tuple(found), start=0, end=len(claim))
    quotes = (ProposedQuote("S1", quote, 0),) if quote else ()
    ((judged,), citations) = Grounder(found, locate=sources.locate).ground([Claim(sentence, quotes)])
    return judged, citations


SERVICE = sources.hit(
    "The pilot service of Lindmark employed 63 pilots in 2021. It guided 4,812 ships, 5.2% more than in 2020. "
    "Accidents fell to 3, from 7 in 2020. The service does not guide yachts. Its fees have not changed since 2018.",
    "The harbour master, Ada Vinter, signed the contract with Norrtug on 30 June 2021.",
    (
        BlockKind.TABLE,
        "(in thousands)\t2021\t2020\nFees\t$9,140\t$8,655\nSalaries\t(6,310)\t(6,020)\nBoats\t1,204\t1,377",
    ),
    name="pilots.pdf",
)


@pytest.mark.parametrize(
    ("claim", "quote", "support"),
    [
        (
            "The pilot service employed 64 pilots in 2021.",
            "The pilot service of Lindmark employed 63 pilots in 2021.",
            CONTRADICTED,
        ),
        ("The pilot service did not employ 63 pilots in 2021.", "employed 63 pilots in 2021", CONTRADICTED),
        ("Accidents rose to 3.", "Accidents fell to 3", NOT_VERIFIED),
        ("Accidents fell to 7 in 2021, from 3 in 2020.", "Accidents fell to 3, from 7 in 2020.", CONTRADICTED),
        ("The service guides yachts.", "The service does not guide yachts.", CONTRADICTED),
        ("Its fees have changed since 2018.", "Its fees have not changed since 2018.", CONTRADICTED),
        (
            "It guided 4,812 ships, 5.2% fewer than in 2020.",
            "It guided 4,812 ships, 5.2% more than in 2020.",
            NOT_VERIFIED,
        ),
        ("Fees were $9,140 thousand in 2020.", "Fees $9,140 $8,655", CONTRADICTED),
        ("Fees were $9,140 million in 2021.", "Fees $9,140 $8,655", CONTRADICTED),
        (
            "The contract with Norrtug was signed on 30 July 2021.",
            "signed the contract with Norrtug on 30 June 2021",
            NOT_VERIFIED,
        ),
        (
            "The contract with Sydtug was signed on 30 June 2021.",
            "signed the contract with Norrtug on 30 June 2021",
            PARTLY,
        ),  # no source names it
        ("Norrtug guided 4,812 ships.", "It guided 4,812 ships", NOT_VERIFIED),
        ("Boats were 1,204 thousand in 2019.", "Boats 1,204 1,377", CONTRADICTED),
        ("Accidents cost €3.", "Accidents fell to 3", NOT_VERIFIED),
    ],
)
def test_what_the_source_does_not_say_is_never_supported(claim: str, quote: str, support: Support) -> None:
    judged, citations = judge(claim, SERVICE, quote=quote)
    assert judged.support is support
    assert judged.missing
    assert citations


@pytest.mark.parametrize(
    "claim",
    [
        "The pilot service of Lindmark employed 63 pilots in 2021.",
        "In 2021, the pilot service employed 63 pilots.",
        "According to the report, the pilot service of Lindmark employed 63 pilots in 2021.",
        "The service guided 4812 ships.",
        "Accidents decreased to three.",
        "The service does not guide yachts.",
        "Ada Vinter signed the contract with Norrtug on June 30, 2021.",
        "The contract with Norrtug was signed on 06/30/2021.",
        "Fees were $9.14 million in 2021, compared with $8,655 thousand in 2020.",
        "Boats – 2021: 1,204; 2020: 1,377 (in thousands)",
        "The fees were 9,140 - 8,655 = 485 higher.",
        "The service employed 63 pilots in 2021, and Ada Vinter signed the contract with Norrtug.",
        "**Fees** were **$9,140** thousand in 2021.",
    ],
)
def test_what_the_source_says_is_supported_in_its_words_or_a_little_changed(claim: str) -> None:
    judged, citations = judge(claim, SERVICE)
    assert (judged.support, judged.missing) == (SUPPORTED, ())
    assert all(citation.quote for citation in citations)


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("The pilot service of Lindmark employed 63 pilots and 12 cooks in 2021.", {"12", "cooks"}),
        ("Ada Vinter, a lawyer from Uppsala, signed the contract with Norrtug.", {"Uppsala", "lawyer"}),
    ],
)
def test_what_a_quote_leaves_open_is_named(claim: str, missing: set[str]) -> None:
    judged, _ = judge(claim, SERVICE)
    assert judged.support is PARTLY
    assert missing <= set(judged.missing)


def test_an_irrelevant_quote_gives_way_to_the_words_that_prove_the_claim() -> None:
    judged, (citation,) = judge("The service does not guide yachts.", SERVICE, quote="Its fees have not changed")
    assert judged.support is SUPPORTED
    assert citation.quote == "The service does not guide yachts."


def test_who_does_what_to_whom_is_not_exchanged() -> None:
    hit = sources.hit("In spring Norrtug acquired Sydtug.")
    assert judge("Norrtug acquired Sydtug in spring.", hit)[0].support is SUPPORTED
    assert judge("Sydtug acquired Norrtug in spring.", hit)[0].support is not SUPPORTED


def test_what_no_words_have_to_do_with_shows_none() -> None:
    judged, (citation,) = judge("Elephants live in Africa.", SERVICE, quote="employed 63 pilots in 2021")
    assert (judged.support, citation.quote) == (NOT_VERIFIED, None)


def test_half_of_one_sentence_and_half_of_another_prove_nothing() -> None:
    hit = sources.hit("The northern mill makes paper for archives.", "The southern mill was sold to Norrtug in 2019.")
    judged, _ = judge("The northern mill was sold to Norrtug in 2019.", hit)
    assert judged.support is not SUPPORTED


def test_a_sentence_that_begins_with_it_speaks_of_the_one_before() -> None:
    hit = sources.hit("The Norrtug fleet lies in Lindmark. It has nine boats. Sydtug rows.")
    assert judge("The Norrtug fleet has nine boats.", hit)[0].support is SUPPORTED
    assert judge("The Sydtug fleet has nine boats.", hit)[0].support is not SUPPORTED


def test_a_name_may_stand_in_the_title_and_a_year_too_where_the_words_have_none() -> None:
    hit = sources.hit("The company employed 63 pilots.", name="Norrtug_2021.pdf")
    assert judge("Norrtug employed 63 pilots in 2021.", hit)[0].support is SUPPORTED
    assert judge("Sydtug employed 63 pilots in 2021.", hit)[0].support is not SUPPORTED
    assert judge("Norrtug employed 63 pilots in 2022.", hit)[0].support is not SUPPORTED


def test_another_language_is_no_proof_and_no_contradiction() -> None:
    german, _ = judge("Der Lotsendienst beschäftigte im Jahr 2021 insgesamt 63 Lotsen in Lindmark.", SERVICE)
    assert german.support is NOT_VERIFIED  # its nouns have capitals, and are no names that the source lacks
    wrong, _ = judge("Der Lotsendienst beschäftigte im Jahr 2021 insgesamt 65 Lotsen in Lindmark.", SERVICE)
    assert wrong.support is NOT_VERIFIED


def test_each_of_two_sources_may_prove_a_part() -> None:
    other = sources.hit("The orchard grows eleven kinds of pears.", name="orchard.pdf")
    claim = "The orchard grows eleven kinds of pears, and the pilot service employed 63 pilots in 2021."
    judged, citations = judge(claim, SERVICE, other)
    assert judged.support is SUPPORTED
    assert {citation.citation_id for citation in citations} == {"S1", "S2"}
    assert judge(claim.replace("eleven", "twelve"), SERVICE, other)[0].support is not SUPPORTED


# --- offices ----------------------------------------------------------------------------------------------


OFFICERS = sources.hit(
    (BlockKind.TABLE, "Name\tPosition\tAge\nAda Vinter\tExecutive Vice President and Chief Financial Officer\t65"),
    "Ola Berg is president and chief executive officer. Inge Holm is vice chairman of the board.",
)


@pytest.mark.parametrize(
    ("claim", "is_supported"),
    [
        ("The chief financial officer is Ada Vinter.", True),
        ("The executive vice president is Ada Vinter.", True),
        ("Ola Berg is chief executive officer.", True),
        ("Inge Holm is vice chairman of the board.", True),
        ("The chief executive officer is Ada Vinter.", False),
        ("The president is Ada Vinter.", False),
        ("Inge Holm is chairman of the board.", False),
    ],
)
def test_the_words_of_an_office_stand_together(claim: str, is_supported: bool) -> None:
    judged, _ = judge(claim, OFFICERS)
    assert (judged.support is SUPPORTED) is is_supported, judged


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("The quay was sold in May 2021.", "The quay was sold in June 2021.", False),
        ("The quay was sold in May 2021.", "The quay was sold in May 2021, and the pier leased.", True),
        ("The quay was sold in May 2021.", "The pier was leased, the quay sold on 31/05/2021.", True),
        ("He may sell the quay.", "He may sell the quay, and the pier.", True),
        ("The quay was sold to Will Vinter.", "The quay was sold to Ada Vinter.", False),
        ("Tolls in the United States rose.", "Tolls in the United Kingdom rose.", False),
        ("Tolls in the United States rose.", "Tolls in the U.S. rose, and in Norway.", True),
        ("Tolls in the U.S. rose.", "Tolls in the United States rose, and in Norway.", True),
        ("Tolls in the US rose.", "Tolls in the U.S. rose, and in Norway.", True),
        ("Tolls in the U.S. rose.", "Tolls in the U.K. rose.", False),
        ("Tolls were paid to the US.", "Tolls were paid to us.", False),
        ("IT costs rose by 5 %.", "HR costs rose by 5 %.", False),
        ("The rule came from the WHO.", "The rule came from the FDA.", False),
        ("Holders of Class A shares vote.", "Holders of Class B shares vote.", False),
        ("Holders of Class B shares vote.", "Holders of Class B shares vote, others do not.", True),
        ("The U. S. government may end contracts.", "The U.S. government may end contracts, and buy less.", True),
        ("R&D costs rose in June.", "Costs of research and development rose in June.", True),
        ("Tolls fell because of the war.", "Tolls fell because of the strike.", False),
        ("The quay was left to his son.", "The quay was left to his wife.", False),
        ("Der Hafen war voll.", "Der Hafen ist voll, die Kräne stehen.", True),
    ],
)
def test_a_name_says_something_also_if_it_is_written_like_a_word_that_does_not(
    claim: str, source: str, is_true: bool
) -> None:
    judged, _ = judge(claim, sources.hit(source))
    assert (judged.support is Support.SUPPORTED) is is_true, judged.missing


@pytest.mark.parametrize(
    ("claim", "source", "is_true"),
    [
        ("The harbour had record tolls in June.", "The harbour had tolls in June.", False),
        ("Norrtug sold more tugs in June.", "Norrtug sold tugs in June.", False),
        ("Norrtug almost sold its tugs in June.", "Norrtug sold its tugs in June.", False),
        ("Norrtug made pumps in June.", "Norrtug sold pumps in June.", False),
        ("Ferries go into the harbour.", "Ferries go out of the harbour.", False),
        ("The lamp is off at night.", "The lamp is on at night.", False),
        ("Norrtug sold more than 3 tugs.", "Norrtug sold over 3 tugs, and a pier.", True),
        ("Norrtug sold over three tugs.", "Norrtug sold more than three tugs, and a pier.", True),
        ("Tolls of more than EUR 5 million were paid.", "Tolls of over EUR 5 million were paid in June.", True),
        ("Nearly all tugs were sold.", "Almost all tugs were sold in June.", True),
        ("9 out of 12 tugs were sold.", "9 of the 12 tugs were sold in June.", True),
    ],
)
def test_small_words_that_a_source_lacks_are_not_proved_by_it(claim: str, source: str, is_true: bool) -> None:
    judged, _ = judge(claim, sources.hit(source))
    assert (judged.support is Support.SUPPORTED) is is_true, judged.missing


@pytest.mark.parametrize(
    ("claim", "is_supported"), [("She remains on the board.", True), ("He remains on the board.", False)]
)
def test_a_pronoun_of_the_other_gender_is_of_another_person(claim: str, is_supported: bool) -> None:
    board = sources.hit("Ada Vinter was followed by Tom Ek. She had run the port since 2011 and remains on the board.")
    judged, _ = judge(claim, board)
    assert (judged.support is SUPPORTED) is is_supported, judged


# --- tables: scale, unit, column and sign ---------------------------------------------------------------


def table(caption: str, text: str) -> Hit:
    return sources.hit(caption, (BlockKind.TABLE, text), name="mill.pdf")


MILL = "\t2024\t2023\nPaper sales\t$212\t$187\nBoard sales\t95\t120\nProfit per share\t$1.31\t$1.17"


@pytest.mark.parametrize("caption", ["in $ millions", "(in $ millions)", "$ millions", "($m)", "(in millions)"])
@pytest.mark.parametrize(
    ("claim", "support"),
    [
        ("Paper sales were $212 million in 2024.", SUPPORTED),
        ("Paper sales were $0.212 billion in 2024.", SUPPORTED),
        ("Paper sales were $212,000,000 in 2024.", SUPPORTED),
        ("Board sales were 120 million in 2023.", SUPPORTED),
        ("Paper sales – 2024: $212; 2023: $187", SUPPORTED),
        ("Profit per share was $1.31 in 2024.", SUPPORTED),
        ("Paper sales were $212 thousand in 2024.", CONTRADICTED),
        ("Paper sales were $212 billion in 2024.", CONTRADICTED),
        ("Paper sales were $212 in 2024.", NOT_VERIFIED),
        ("Profit per share was $1.31 million in 2024.", CONTRADICTED),
    ],
)
def test_a_figure_of_a_table_has_the_scale_of_its_caption(caption: str, claim: str, support: Support) -> None:
    judged, _ = judge(claim, table(f"The mill {caption}", MILL))
    assert judged.support == support, judged.missing


SPANNED = (
    "June 30, 2022\tJune 30, 2023\nSales\tRent\tFees\tTax\tSales\tRent\tFees\tTax\n"
    "Port\t211\t212\t213\t214\t221\t222\t223\t224\nQuay\t311\t312\t321\t322\nPier\t411\t421"
)


@pytest.mark.parametrize(
    ("claim", "support"),
    [
        ("Port sales were $221 million in 2023.", SUPPORTED),
        ("Port sales were $211 million in 2022.", SUPPORTED),
        ("Port sales were $211 million in 2023.", CONTRADICTED),
        ("Port rent was $212 million in 2023.", CONTRADICTED),
        ("Pier: $421 million in 2023.", SUPPORTED),
        ("Pier: $411 million in 2023.", CONTRADICTED),
        ("Quay: $321 million in 2023.", NOT_VERIFIED),  # nothing tells which cells are of 2023
        ("Quay: $321 million in 2022.", NOT_VERIFIED),
    ],
)
def test_a_figure_of_a_nested_table_is_of_its_period_alone(claim: str, support: Support) -> None:
    judged, _ = judge(claim, table("(in $ millions)", SPANNED))
    assert judged.support == support, judged.missing


def test_a_scale_that_stands_nowhere_is_named() -> None:
    judged, _ = judge("Paper sales were $212 million in 2024.", table("The mill", MILL))
    assert (judged.support, judged.missing) == (NOT_VERIFIED, ("million",))
    judged, _ = judge("The mill has 212 thousand machines.", sources.hit("The mill has 212 machines."))
    assert judged.support is not SUPPORTED


@pytest.mark.parametrize(
    ("caption", "claim", "support"),
    [
        ("(in € millions)", "Board sales were €95 million in 2024.", SUPPORTED),
        ("(in millions of euros)", "Board sales were 95 million euros in 2024.", SUPPORTED),
        ("(in millions of euros)", "Board sales were $95 million in 2024.", CONTRADICTED),
        ("(in EUR million)", "Board sales were £95 million in 2024.", CONTRADICTED),
        ("(in millions of Canadian dollars)", "Board sales were $95 million in 2024.", SUPPORTED),
        ("(in millions of Canadian dollars)", "Board sales were C$95 million in 2024.", SUPPORTED),
        ("(in millions of Canadian dollars)", "Board sales were US$95 million in 2024.", CONTRADICTED),
        ("(in millions)", "Board sales were €95 million in 2024.", CONTRADICTED),  # the row above it is in dollars
    ],
)
def test_a_figure_of_a_table_is_in_its_currency(caption: str, claim: str, support: Support) -> None:
    judged, _ = judge(claim, table(f"The mill {caption}", MILL))
    assert judged.support == support, judged.missing


def test_another_unit_is_named() -> None:
    judged, _ = judge("Yields rose 14 percentage points in 2021.", sources.hit("Yields rose 14% in 2021."))
    assert judged.support is CONTRADICTED
    assert "percentage points" in judged.missing


REGIONS = "\tNorth\tSouth\tTotal\nPaper sales\t41.2\t33.9\t75.1\nBoard sales\t9.1\t14.7\t23.8"
QUARTERS = "\tQ1 2024\tQ4 2023\tQ1 2023\nPaper sales\t212\t187\t160"


@pytest.mark.parametrize(
    ("text", "claim", "is_supported"),
    [
        (REGIONS, "Paper sales in the South were 33.9.", True),
        (REGIONS, "Total paper sales were 75.1.", True),
        (REGIONS, "Board sales were 9.1 in the North and 14.7 in the South.", True),
        (REGIONS, "Paper sales 41.2 33.9 75.1", True),
        (REGIONS, "Paper sales in the South were 41.2.", False),
        (REGIONS, "Paper sales totalled 41.2.", False),
        (REGIONS, "Board sales were 14.7 in the North and 9.1 in the South.", False),
        (QUARTERS, "Paper sales were 212 in Q1 2024.", True),
        (QUARTERS, "Paper sales were 212 in Q1 2024, compared with 160 in Q1 2023.", True),
        (QUARTERS, "Paper sales were 187 in Q1 2023.", False),
        (QUARTERS, "Paper sales were 187 in the first quarter of 2024.", False),
        (QUARTERS, "Paper sales were 212 in 2024.", False),
        ("\tSix months 2024\t2023\nPaper sales\t212\t187", "Paper sales were 212 in 2024.", False),
    ],
)
def test_a_figure_stands_in_the_column_that_the_claim_speaks_of(text: str, claim: str, is_supported: bool) -> None:
    judged, _ = judge(claim, table("The mill", text))
    assert (judged.support is SUPPORTED) == is_supported, judged.missing


BARE = sources.hit("Because members value low prices, our halls are not elaborate. They are open on six days a week.")


@pytest.mark.parametrize(
    ("claim", "support"),
    [
        ("Our halls are elaborate.", CONTRADICTED),
        ("Our halls are not elaborate.", SUPPORTED),
        ("Members do not value halls that are elaborate.", NOT_VERIFIED),
    ],
)
def test_a_clause_that_says_the_opposite_contradicts(claim: str, support: Support) -> None:
    assert judge(claim, BARE)[0].support is support


@pytest.mark.parametrize(
    "source",
    [
        "If halls are not elaborate, members complain to the board in writing.",
        "Where halls are not elaborate, members complain to the board in writing.",
        "Members value low prices, although the halls may not be elaborate.",
    ],
)
def test_a_clause_that_is_only_possible_contradicts_nothing(source: str) -> None:
    assert judge("Halls are elaborate.", sources.hit(source))[0].support is NOT_VERIFIED


def test_a_not_may_stand_before_or_behind_an_adverb() -> None:
    hit = sources.hit("We currently do not expect to pay dividends.")
    assert judge("We do not currently expect to pay dividends.", hit)[0].support is SUPPORTED


def test_a_claim_keeps_the_source_that_denies_it() -> None:
    found = {"S1": BARE, "S2": sources.hit("Workers of our halls are paid by the hour.")}
    answer = Grounder(found, locate=sources.locate).attribute(citations.parse("Our halls are elaborate [S1].", found))
    assert [claim.sentence.citation_ids for claim in answer.claims] == [("S1",)]


def test_a_source_that_is_quoted_word_for_word_stays_the_cited_one() -> None:
    found = {
        "S1": sources.hit("Whatever exceeds the rent of the landlord is divided into equal parts."),
        "S2": sources.hit("Half of the boats goes to the pilots of Norrtug each year."),
    }
    text = "Half of it goes to the landlord, Norrtug [S1]."
    cited = []
    for said in (text, text.replace(".", ' <quote id="S1">of the landlord is divided into equal parts</quote>.')):
        answer = Grounder(found, locate=sources.locate).attribute(citations.parse(said, found))
        cited.append([claim.sentence.citation_ids for claim in answer.claims])
    assert cited == [[("S2",)], [("S1",)]]


@pytest.mark.parametrize(
    "source",
    [
        "In no event shall a sale of the boats release the pilots from this contract.",
        "Under no circumstances may a sale of the boats release the pilots from this contract.",
    ],
)
def test_a_whole_sentence_may_be_negated_at_its_beginning(source: str) -> None:
    hit = sources.hit(source)
    assert judge("A sale of the boats releases the pilots from this contract.", hit)[0].support is not SUPPORTED
    assert judge(source, hit)[0].support is SUPPORTED
