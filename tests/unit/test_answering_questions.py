"""What is read out of a question."""

import pytest

from rag.answering.extraction.question_intent import Kind, parse_question, years_of
from rag.types import Rewriting


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many ships were handled?", Kind.NUMBER),
        ("What was the number of ships?", Kind.NUMBER),
        ("What percentage of ships was late?", Kind.NUMBER),
        ("What is the monthly rent of the mill?", Kind.NUMBER),
        ("What is the length?", Kind.NUMBER),
        ("What is the fee schedule?", Kind.TEXT),
        ("When was Lindmark founded?", Kind.DATE),
        ("Which year did the crane open?", Kind.DATE),
        ("Who audits the harbour?", Kind.NAME),
        ("Where is the mill?", Kind.PLACE),
        ("Which company runs the mill?", Kind.NAME),
        ("What is the e-mail address of the desk?", Kind.EMAIL),
        ("What is the colour of the ferries?", Kind.COLOUR),
        ("Which two colors does the flag have?", Kind.COLOUR),
        ("Welche Farbe hat die Fähre?", Kind.COLOUR),
        ("What is the fax number?", Kind.PHONE),
        ("On which website is it?", Kind.WEBSITE),
        ("How can the desk be reached by phone?", Kind.PHONE),
        ("E-mail of the desk", Kind.EMAIL),
        ("Wie ist die E-Mail-Adresse?", Kind.EMAIL),
        ("Desk's phone?", Kind.PHONE),
        ("What did the harbour do with its phone business?", Kind.TEXT),
        ("Which part does the website play in its sales?", Kind.TEXT),
        ("How many e-mails are sent?", Kind.NUMBER),
        ("What is the address of the mill?", Kind.ADDRESS),
        ("What is the title of the report?", Kind.TITLE),
        ("What does the crane lift?", Kind.TEXT),
        ("How is coal lifted when using the crane?", Kind.TEXT),
        ("What happens when the crane stops?", Kind.TEXT),
    ],
)
def test_the_kind_of_thing_that_is_asked_for(question: str, kind: Kind) -> None:
    assert parse_question(question).kind is kind


@pytest.mark.parametrize(
    ("kind", "holding", "lacking"),
    [
        ("How many ships called in 2019?", "There were 12 ships in 2019.", "There were ships in 2019."),
        ("How many ships called in 2019?", "There were twelve ships.", "There were few ships."),
        (
            "How many cranes were sold?",
            "We sold 12 cranes for $5 million.",
            "Cranes – 2021: $ 201; 2020: 183 (in millions)",
        ),
        ("How many pilots are there?", "It has two harbour pilots.", "It is one harbour for all."),
        ("By how many percent did it rise?", "It rose by 14 percent.", "It rose in spring."),
        ("How many million euros did it cost?", "It cost 3 million euros.", "It cost a lot."),
        ("How many pilots are there?", "There are forty pilots.", "There are pilots."),
        ("When was it rebuilt?", "It was rebuilt after the storm of 1887.", "It was rebuilt for 1,887 ships."),
        ("How many times faster is it?", "It is 3x as fast.", "It is fast in all 3 harbours."),
        ("How long does mooring take?", "It takes half an hour.", "It takes 3 ropes."),
        ("When does the year end?", "It ends on the last Saturday of September.", "It ends in the harbour."),
        ("Within what time must it be filed?", "File it within twelve months.", "File it at the quay."),
        ("When was it founded?", "It was founded in 1931.", "It runs within a day every week."),
        ("What is the rate of breakage?", "It is two in a hundred.", "There is no breakage."),
        ("How often does the ferry run?", "It runs daily.", "It runs to 3 islands."),
        ("Who runs Lindmark?", "The owner of Lindmark is Strand.", "The owner of Lindmark is known."),
        ("When was it built in 1931?", "It was rebuilt on 4 May.", "It was rebuilt after 1931."),
        ("What is the e-mail address?", "Write to desk@harbour.example today.", "Write to the desk."),
        ("What colour is the hull?", "The hull was painted dark green.", "The hull was painted again."),
        ("What is the fax number?", "Fax: +41 31 555 12 13", "It was founded in 1931."),
        ("What is the phone number?", "Call (555) 123-4567.", "Rent – 2022: 514; 2021: 496"),
        ("What is the phone number?", "Phone 01.40.20.50.50", "Inspected on 05/10/2015."),
        ("Which is the website?", "See www.harbour.example.", "See the harbour."),
        ("What is its address?", "12 Mill Lane, Tollhaven", "At the mill"),
    ],
)
def test_a_text_holds_the_asked_kind_or_not(kind: str, holding: str, lacking: str) -> None:
    assert parse_question(kind).holds_kind(holding)
    assert not parse_question(kind).holds_kind(lacking)


def test_every_text_may_be_what_is_asked_for_in_general() -> None:
    assert parse_question("What does the crane lift?").holds_kind("Grain.")


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("in 2019 and 1931", {"2019", "1931"}),
        ("in FY2019", {"2019"}),
        ("$2019 or 2,019 or 2019.5 or 2019%", set()),
        ("in the year 1850 or 2150", set()),
        ("2019/2020", {"2019", "2020"}),
    ],
)
def test_years_of_a_question_are_found(text: str, years: set[str]) -> None:
    assert years_of(text) == years


def test_a_fiscal_year_is_a_year() -> None:
    assert parse_question("What was revenue in FY22?").years == {"2022"}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When was Lindmark founded?", ("Lindmark",)),
        ("Lindmark's ships in Tollhaven's harbour?", ("Tollhaven",)),
        ("Who runs McBride and the X-25?", ("McBride", "X-25")),
        ("What does GPT-4o score?", ("GPT-4o",)),
        ("What is a NATO base?", ("NATO",)),
        ("McBride lifts what?", ("McBride",)),
        ("How many ships called?", ()),
        ("WHAT DOES THE MILL MAKE?", ()),
        ("What are days payable (DPO)? The DPO is defined as: 365 * payables / NATO", ("NATO",)),
        ("Is it open? Does Lindmark own it? Who else does?", ("Lindmark",)),
    ],
)
def test_names_are_known_by_how_they_are_written(question: str, names: tuple[str, ...]) -> None:
    assert parse_question(question).names == names


@pytest.mark.parametrize(
    "question",
    [
        "What did it earn in USD?",
        "When was it built, in the format DD-MM-YYYY?",
        "Is it the 2nd mill?",
        "Answer with Yes or No, please: is it old?",
        "What is the Email of the desk on Page 2?",
        "What did it earn (in thousands of CHF)?",
        "What did it earn in 2019?",
    ],
)
def test_words_about_the_form_of_an_answer_are_no_names(question: str) -> None:
    assert parse_question(question).names == ()


def test_what_a_vocabulary_knows_is_no_name_and_its_words_are_sought_too() -> None:
    found = [
        Rewriting(kind="abbreviation", found="R&D", added=("research and development",)),
        Rewriting(kind="period", found="FY22", added=("2022",)),
    ]
    asked = parse_question("What was R&D in FY22?", found)
    assert asked.names == ()
    assert asked.also == (("resear", "develo"),)


def test_pages_of_a_question_are_found() -> None:
    assert parse_question("What stands on page 2?").pages == {"2"}
    assert parse_question("What stands on pages 2 and 3?").pages == {"2", "3"}
    assert parse_question("What stands on the first page?").pages == {"#1"}
    assert parse_question("What stands in section 3?").pages == frozenset()


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("In 2019 Lindmark and Tollhaven earned nothing.", ()),
        ("LINDMARK and Toll-haven, 2019", ()),
        ("Lindmark of Tolhaven in 2019", ()),
        ("Lindmark in 2018", ("2019", "Tollhaven")),
        ("", ("2019", "Lindmark", "Tollhaven")),
    ],
)
def test_years_and_names_that_stand_nowhere_are_missing_unless_misspelt(text: str, missing: tuple[str, ...]) -> None:
    asked = parse_question("What did Lindmark and Tollhaven earn in 2019?")
    assert asked.missing(text) == missing
    assert asked.share_named(text) == pytest.approx(1 - len(missing) / 3)


def test_a_short_code_is_never_misspelt() -> None:
    asked = parse_question("What does the X-25 lift?")
    assert asked.missing("The X 25 lifts coal.") == ()
    assert asked.missing("The X-26 lifts coal.") == ("X-25",)


def test_a_short_name_is_a_word_of_its_own() -> None:
    asked = parse_question("How much does it take in xWh?")
    assert asked.missing("Hoax whatever: check the box when done.") == ("xWh",)
    assert asked.missing("It takes 310xWh a year.") == ()
    assert parse_question("How much CO2 does it emit?").missing("It emits 3 tCO2e a year.") == ()


def test_of_a_question_without_years_and_names_nothing_is_missing() -> None:
    assert parse_question("What does the crane lift?").share_named("") == 1.0
