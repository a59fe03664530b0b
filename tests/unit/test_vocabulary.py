"""Questions widened with the words in which documents put what they ask for."""

from collections import Counter
from collections.abc import Sequence

import pydantic
import pytest

from rag.vocabulary import Vocabulary, Widened, Widener, load, trades
from rag.vocabulary.query_widening import WORD, stem

PACKAGED = trades()

GLOSSARY = """
title = "Finance"

[[synonyms]]
terms = ["net sales", "revenue", "turnover"]

[[synonyms]]
terms = ["shareholders' equity", "net worth"]

[[derived]]
terms = ["quick ratio", "acid-test ratio"]
items = ["accounts receivable", "inventories"]
places = ["balance sheet"]

[[derived]]
terms = ["ratio"]
items = ["quotient"]

[[derived]]
terms = ["EBITDA margin"]
items = ["operating income"]

[[places]]
name = "balance sheet"
terms = ["balance sheet", "financial position"]
titles = ["consolidated balance sheets"]
marks = ["total assets"]

[[places]]
name = "income statement"
terms = ["income statement"]
titles = ["statements of income"]

[[items]]
terms = ["inventories", "total assets"]
place = "balance sheet"

[[items]]
terms = ["earnings per share", "diluted earnings per share"]
place = "income statement"

[[abbreviations]]
short = "EPS"
long = "earnings per share"

[[abbreviations]]
short = "IT"
long = "information technology"

[[abbreviations]]
short = "R&D"
long = "research and development"

[[abbreviations]]
short = "NDA"
long = "non-disclosure agreement"

[[abbreviations]]
short = "EBITDA"
long = "earnings before interest, taxes, depreciation and amortization"
"""


@pytest.fixture(scope="module")
def widener() -> Widener:
    return Widener([load(GLOSSARY)])


@pytest.fixture(scope="module")
def packaged() -> Widener:
    return Widener(PACKAGED)


def found(widened: Widened) -> list[tuple[str, str]]:
    return [(widening.kind, widening.found) for widening in widened.widenings]


def added(widened: Widened) -> list[str]:
    return [phrase for widening in widened.widenings for phrase in widening.added]


def places(widened: Widened) -> list[str]:
    return [place.name for place in widened.places]


def stemmed(text: str) -> str:
    """The stems of `text`, set apart by spaces."""
    words = WORD.findall(text.replace("’", "'"))
    return f" {' '.join(stem(word.lower()) for word in words)} "


def says(widener: Widener, question: str, phrases: Sequence[str]) -> bool:
    """Whether the question, widened, has all the phrases."""
    texts = [stemmed(text) for text in (question, *added(widener.widen(question)))]
    return all(any(stemmed(phrase) in text for text in texts) for phrase in phrases)


def test_a_question_with_a_synonym_is_widened_with_the_others(widener: Widener) -> None:
    (widening,) = widener.widen("What was its turnover in 2020?").widenings
    assert (widening.found, widening.added) == ("turnover", ("net sales", "revenue"))
    assert (widening.trade, widening.kind) == ("Finance", "synonym")


def test_a_derived_figure_brings_its_line_items_and_their_places(widener: Widener) -> None:
    widened = widener.widen("Is the quick ratio healthy?")
    (widening,) = widened.widenings
    assert (widening.found, widening.added) == ("quick ratio", ("accounts receivable", "inventories"))
    assert widening.kind == "derived"
    assert places(widened) == ["balance sheet"]
    assert widened.places[0].marks == ("total assets",)


def test_a_line_item_brings_its_place(widener: Widener) -> None:
    widened = widener.widen("How large are the inventories?")
    assert found(widened) == [("item", "inventories")]
    assert added(widened) == places(widened) == ["balance sheet"]


def test_a_place_that_is_named_brings_no_words(widener: Widener) -> None:
    widened = widener.widen("Show the financial position.")
    assert (widened.widenings, places(widened)) == ((), ["balance sheet"])


def test_places_that_are_named_come_first(widener: Widener) -> None:
    assert places(widener.widen("Are inventories in the income statement?")) == ["income statement", "balance sheet"]


def test_a_question_without_known_words_stays_as_it_is(widener: Widener) -> None:
    assert widener.widen("Who wrote this?") == widener.widen("") == Widened()
    assert Widener([]).widen("What was its turnover?") == Widened()


@pytest.mark.parametrize(
    "question",
    [
        "What was the TURNOVER?",
        "turnovers",
        "turnover's growth",
        "“Turnover”, please",
        "What is the shareholder's equity?",
        "What is the shareholders’ equity?",
        "Shareholders equity",
        "What is the acid test ratio?",
        "What are the acid-test ratios?",
        "Acid\u2011test\nratio",
    ],
)
def test_words_are_found_in_any_case_inflection_and_punctuation(widener: Widener, question: str) -> None:
    assert len(widener.widen(question).widenings) == 1


@pytest.mark.parametrize("question", ["turn over", "overturnover", "quick thinking about the ratings", "net of sales"])
def test_only_whole_terms_are_found(widener: Widener, question: str) -> None:
    assert widener.widen(question) == Widened()


def test_the_longest_term_takes_its_words(widener: Widener) -> None:
    assert found(widener.widen("quick ratio")) == [("derived", "quick ratio")]
    assert found(widener.widen("a quick ratio, the ratio")) == [("derived", "quick ratio"), ("derived", "ratio")]


def test_a_longer_term_wins_over_one_that_begins_before_it() -> None:
    glossary = """
        title = "T"
        [[derived]]
        terms = ["cash flow"]
        items = ["one"]
        [[derived]]
        terms = ["flow per share"]
        items = ["two"]
    """
    assert added(Widener([load(glossary)]).widen("cash flow per share")) == ["two"]


def test_each_rule_widens_once(widener: Widener) -> None:
    assert found(widener.widen("revenue, net sales, and revenue again")) == [("synonym", "revenue")]


def test_what_the_question_says_is_not_added(widener: Widener) -> None:
    assert added(widener.widen("Is revenue the same as net sales?")) == ["turnover"]
    assert added(widener.widen("The quick ratio without inventory?")) == ["accounts receivable", "balance sheet"]
    assert added(widener.widen("The inventories of the balance sheet?")) == []


def test_nothing_is_added_twice(widener: Widener) -> None:
    (widening,) = widener.widen("inventories among the total assets").widenings
    assert widening.added == ("balance sheet",)
    glossary = 'title = "Own"\n[[synonyms]]\nterms = ["revenue", "net sale", "takings"]'
    widened = Widener([load(GLOSSARY), load(glossary)]).widen("revenue")
    assert [(one.trade, one.added) for one in widened.widenings] == [
        ("Finance", ("net sales", "turnover")),
        ("Own", ("takings",)),
    ]


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Who runs IT?", "IT"),
        ("IT's budget", "IT"),
        ("How many NDAs were signed?", "NDA"),
        ("(R&D)", "R&D"),
        ("non-EPS", "EPS"),
    ],
)
def test_an_abbreviation_brings_its_long_form(widener: Widener, question: str, short: str) -> None:
    widening = widener.widen(question).widenings[0]
    assert (widening.kind, widening.found.removesuffix("s").removesuffix("'")) == ("abbreviation", short)
    assert len(widening.added) == 1


@pytest.mark.parametrize("question", ["Who runs it?", "ITEM", "LIT", "eps", "R & D", "EPS2", "BIT"])
def test_an_abbreviation_counts_only_as_it_is_written(widener: Widener, question: str) -> None:
    assert widener.widen(question) == Widened()


def test_an_abbreviation_is_read_as_its_long_form(widener: Widener) -> None:
    widened = widener.widen("What was diluted EPS?")
    assert found(widened) == [("abbreviation", "EPS"), ("item", "diluted EPS")]
    assert places(widened) == ["income statement"]


@pytest.mark.parametrize("question", ["EBITDA margin", "ebitda margin", "Ebitda margins"])
def test_a_term_with_an_abbreviation_is_found_however_it_is_written(widener: Widener, question: str) -> None:
    assert ("derived", question) in found(widener.widen(question))


def test_no_term_begins_amid_an_abbreviation() -> None:
    glossary = """
        title = "T"
        [[derived]]
        terms = ["share", "share price"]
        items = ["one"]
        [[abbreviations]]
        short = "EPS"
        long = "earnings per share"
    """
    assert found(Widener([load(glossary)]).widen("EPS price")) == [("abbreviation", "EPS")]


def test_of_two_meanings_the_first_vocabulary_has_the_word() -> None:
    first = load('title = "A"\n[[abbreviations]]\nshort = "PE"\nlong = "physical education"')
    second = load(
        'title = "B"\n[[abbreviations]]\nshort = "PE"\nlong = "private equity"\n'
        '[[derived]]\nterms = ["private equity"]\nitems = ["funds"]'
    )
    assert added(Widener([first, second]).widen("PE")) == ["physical education", "private equity"]
    assert added(Widener([second, first]).widen("PE")) == ["private equity", "physical education", "funds"]


def test_an_ampersand_stands_for_and() -> None:
    glossary = 'title = "T"\n[[synonyms]]\nterms = ["plant and equipment", "fixed assets"]'
    assert added(Widener([load(glossary)]).widen("plant & equipment")) == ["fixed assets"]


def test_a_place_of_several_vocabularies_has_the_words_of_all() -> None:
    other = load(
        'title = "Own"\n[[places]]\nname = "balance sheet"\nterms = ["Bilanz", "balance sheet"]\n'
        'titles = ["Konzernbilanz", "consolidated balance sheets"]\nmarks = ["Summe Aktiva"]'
    )
    (place,) = Widener([load(GLOSSARY), other]).widen("Bilanz").places
    assert place.terms == ("balance sheet", "financial position", "Bilanz")
    assert place.titles == ("consolidated balance sheets", "Konzernbilanz")
    assert place.marks == ("total assets", "Summe Aktiva")


def test_a_place_may_be_defined_by_another_vocabulary() -> None:
    items = load('title = "Own"\n[[items]]\nterms = ["x"]\nplace = "attic"')
    attic = load('title = "House"\n[[places]]\nname = "attic"\nterms = ["attic"]')
    assert places(Widener([items, attic]).widen("x")) == ["attic"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "title"),
        ('title = "A"\nsynonym = []', "synonym"),
        ('title = "A"\n[[synonyms]]\nterms = ["a"]', "at least 2"),
        ('title = "A"\n[[derived]]\nterms = ["a"]\nitems = []', "at least 1"),
    ],
)
def test_malformed_vocabulary_is_refused(text: str, message: str) -> None:
    with pytest.raises(pydantic.ValidationError, match=message):
        load(text)


def test_a_vocabulary_needs_no_more_than_a_title() -> None:
    assert load('title = "Own"') == Vocabulary("Own")


def test_the_packaged_vocabularies_are_read_once() -> None:
    assert {"Contracts", "Finance"} <= {trade.title for trade in PACKAGED}
    assert trades() is PACKAGED


@pytest.mark.parametrize("trade", PACKAGED, ids=lambda trade: trade.title)
def test_every_packaged_rule_can_fire(packaged: Widener, trade: Vocabulary) -> None:
    rules = [(synonyms.terms, synonyms.terms) for synonyms in trade.synonyms]
    rules += [(derived.terms, derived.items) for derived in trade.derived]
    for terms, phrases in rules:
        for term in terms:
            assert says(packaged, term, phrases), f"{term} does not bring all of {phrases}"
    for abbreviation in trade.abbreviations:
        assert says(packaged, f"the {abbreviation.short}", [abbreviation.long]), abbreviation


@pytest.mark.parametrize("trade", PACKAGED, ids=lambda trade: trade.title)
def test_every_packaged_place_is_found_by_every_term(packaged: Widener, trade: Vocabulary) -> None:
    asked = [(term, place.name) for place in trade.places for term in place.terms]
    asked += [(term, items.place) for items in trade.items for term in items.terms]
    asked += [(term, place) for derived in trade.derived for term in derived.terms for place in derived.places]
    assert [(term, place) for term, place in asked if place not in places(packaged.widen(term))] == []


@pytest.mark.parametrize("trade", PACKAGED, ids=lambda trade: trade.title)
def test_no_packaged_abbreviation_has_two_meanings_in_its_trade(trade: Vocabulary) -> None:
    counts = Counter(abbreviation.short for abbreviation in trade.abbreviations)
    assert [short for short, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("trade", PACKAGED, ids=lambda trade: trade.title)
def test_no_packaged_term_stands_in_two_rules_of_a_kind(trade: Vocabulary) -> None:
    for rules in (
        [rule.terms for rule in trade.synonyms],
        [rule.terms for rule in trade.derived],
        [rule.terms for rule in trade.places],
    ):
        counts = Counter(stems for terms in rules for stems in {stemmed(term) for term in terms})
        assert [stems for stems, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("trade", PACKAGED, ids=lambda trade: trade.title)
def test_every_place_that_a_packaged_vocabulary_names_is_defined(packaged: Widener, trade: Vocabulary) -> None:
    names = {items.place for items in trade.items} | {name for derived in trade.derived for name in derived.places}
    assert names <= {place.name for place in packaged.places}


def test_terms_that_begin_alike_cost_no_more_than_others() -> None:
    """Compared one by one, each word of the question or page would be compared with thousands."""
    terms = "".join(
        f'[[synonyms]]\nterms = ["the a{number}", "the b{number}", "the c{number}"]\n' for number in range(3000)
    )
    (widening,) = Widener([load(f'title = "a"\n{terms}')]).widen("the " * 1000 + "the b27 the").widenings
    assert widening.found == "the b27"
    shorts = "".join(f'[[abbreviations]]\nshort = "A-{number}"\nlong = "b"\n' for number in range(4000))
    widenings = (
        Widener([load(f'title = "a"\n{shorts}')]).widen("A " * 1000 + "the A-7, the A-77s and the A-777.").widenings
    )
    assert [widening.found for widening in widenings] == ["A-7"]  # the others would add the same


def test_term_is_not_found_where_the_question_ends_before_it() -> None:
    toml = (
        'title = "a"\n[[synonyms]]\nterms = ["net", "clear"]\n[[synonyms]]\nterms = ["net sales of goods", "turnover"]'
    )
    (widening,) = Widener([load(toml)]).widen("What is net").widenings
    assert (widening.found, widening.added) == ("net", ("clear",))


# Of one stem with a term that was left out for it: severance, securities, derivatives, bookings, exclusivity, …
EVERYDAY = """
    several severe receive secured derive book exclude exclusive include represent purchase acquire consider term
    terminal publicly dismissed index deposit season register gear bill capital it us is are be this that change
    value income method model result question answer notice hold use make do
"""


def test_an_everyday_word_is_no_term_of_finance_or_law() -> None:
    widener = Widener([trade for trade in PACKAGED if trade.title in {"Contracts", "Finance"}])
    assert [word for word in EVERYDAY.split() if widener.widen(f"What {word} of those?") != Widened()] == []


@pytest.mark.parametrize(
    ("question", "phrases", "place"),
    [
        ("What is the quick ratio?", ["total current liabilities"], "balance sheet"),
        ("What was FY2019 COGS?", ["cost of sales"], "income statement"),
        ("Days payable outstanding?", ["accounts payable", "cost of sales"], "balance sheet"),
        ("How much was capex?", ["purchases of property, plant and equipment"], "cash flow statement"),
        ("Who bears the indemnity?", ["hold harmless"], "indemnification"),
        ("Which law governs? Choice of law?", ["governed by and construed in accordance with"], "governing law"),
        ("What is the docket number?", ["case number"], "case caption"),
    ],
)
def test_analysts_words_become_those_of_documents(
    packaged: Widener, question: str, phrases: list[str], place: str
) -> None:
    widened = packaged.widen(question)
    assert set(phrases) <= set(added(widened))
    assert place in places(widened)
