"""Lists are answered by the items of the document: bold sentences, headings, bullets, clauses."""

import uuid
from collections.abc import Sequence

import pytest

from rag.answering.extraction.list_rows import read_row
from rag.answering.extraction.lists import AskedList, find_list, requested_list
from rag.answering.passages.quotable_units import read_blocks
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.types import BlockKind, Chunk, Line, Rect


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("What are the main risks?", {"risk"}),
        ("what are its key risk factors", {"risk", "factor"}),
        ("List all the requirements of this agreement.", {"requir"}),
        ("What are the company's values?", {"value"}),
        ("Please name the built-in roles", {"built", "role"}),
        ("Was sind die wichtigsten Pflichten?", {"pflich"}),
        ("Nenne mir alle Pflichten des Vertrags.", {"pflich"}),
    ],
)
def test_a_list_is_asked_for(question: str, stems: set[str]) -> None:
    asked = requested_list(question)
    assert asked is not None
    assert asked.stems == stems


@pytest.mark.parametrize(
    "question",
    [
        "What is the main risk?",
        "What are the risks of climate change?",
        "What are the names of the directors who left?",
        "Who lists the risks?",
        "Which risks does the company face in Norway and Sweden?",
    ],
)
def test_other_questions_ask_for_no_list(question: str) -> None:
    assert requested_list(question) is None


def chunk(section: str, *texts: str, first: int = 0, page: int = 1) -> Chunk:
    """Make a chunk; "# " before a text makes a heading, "** " bold type, "| " another line of the same block."""
    lines = []
    for place, text in enumerate(texts):
        mark, _, rest = text.partition(" ")
        lines.append(
            Line(
                number=first + place,
                page_number=page,
                bbox=Rect(0, 0, 1, 1),
                text=rest if mark in {"#", "**", "|"} else text,
                kind=BlockKind.HEADING if mark == "#" else BlockKind.TEXT,
                starts_block=mark != "|",
                is_bold=mark == "**",
            )
        )
    return Chunk(
        id=uuid.uuid4(), document_id=uuid.UUID(int=1), ordinal=first, lines=tuple(lines), section=section or None
    )


def items(chunks: Sequence[Chunk], question: str) -> tuple[list[str], int] | None:
    asked = requested_list(question)
    assert asked is not None
    found = find_list(chunks, asked)
    return found and ([" ".join(key.chunk.text[slice(*key.span)].split()) for key in found.items], found.total)


def risks(name: str, count: int, first: int) -> Chunk:
    texts = [f"# {name}"]
    for number in range(count):
        texts += [
            f"** Storm {number} may close the harbour of {name} for longer than a month, which costs fees.",
            f"Storm {number} did so in the year before.",
        ]
    return chunk(name, *texts, first=first)


BODY = chunk(
    "Business", "# Business", *(f"We run ferry {number} between the islands." for number in range(60)), first=0
)
TAIL = chunk("Staff", "# Staff", "** Our staff is the best of all the islands.", "Some ferries are old.", first=900)


def test_a_list_may_be_of_what_the_title_names() -> None:
    asked = requested_list("What are the values of Acme Harbours?", "Acme Harbours: Employee Handbook")
    assert asked == AskedList(frozenset({"value"}), is_main=False)
    assert requested_list("What are the values of Brine Ferries?", "Acme Harbours: Employee Handbook") is None


def test_bold_sentences_below_a_heading_are_its_items_spread_over_the_sections() -> None:
    parts = (
        chunk("Risk Factors", "# Risk Factors", "Read this.", first=100),
        risks("Sea Risks", 12, 200),
        risks("Land Risks", 4, 300),
    )
    found = items([BODY, *parts, TAIL], "What are the main risks?")
    assert found is not None
    shown, count = found
    assert (len(shown), count) == (10, 16)
    assert shown[0] == "Storm 0 may close the harbour of Sea Risks for longer than a month, which costs fees."
    assert sum("Land Risks" in text for text in shown) == 2
    assert not any("staff" in text for text in shown)


def test_bullets_are_items_without_their_marks() -> None:
    values = chunk(
        "Values", "# Values", "Ours are:", "| 1. Care: we look", "| after you.", "| 2. Speed", "| 3. Calm", first=80
    )
    assert items([BODY, values, TAIL], "What are the values?") == (["Care: we look after you.", "Speed", "Calm"], 3)


def test_bullets_after_a_colon_are_items_though_no_heading_names_them() -> None:
    roles = chunk(
        "Access", "# Access", "Three roles are built in, as follows:", "• Guest", "• Skipper", "More.", first=80
    )
    assert items([BODY, roles, TAIL], "List the built-in roles.") == (["Guest", "Skipper"], 2)


def test_items_cut_between_chunks_are_shown_whole_and_once() -> None:
    first = chunk("Values", "# Values", "• Care of all", "• Speed on", first=80)
    second = chunk("Values", "• Speed on", "| the water", "• Calm at sea", first=82)
    assert items([BODY, first, second, TAIL], "What are the values?") == (
        ["Care of all", "Speed on the water", "Calm at sea"],
        3,
    )


def test_a_section_that_is_named_so_gives_the_beginnings_of_its_paragraphs() -> None:
    text = "Ferries are late when it storms. " + "They are late by the hour of the storm and of the tide. " * 8
    end = chunk("5 Conclusions", "# 5 Conclusions", text, "Bridges are dear to build and keep.", first=80)
    assert items([BODY, end, TAIL], "What are the conclusions?") == (
        ["Ferries are late when it storms.", "Bridges are dear to build and keep."],
        2,
    )


def test_the_parts_of_a_document_are_its_headings_or_its_numbered_clauses() -> None:
    headed = [
        chunk(name, *(f"# {part}" for part in name.split(" / ")), "The parties agree on this.", first=number * 10)
        for number, name in enumerate(
            ("Charter Agreement", "Article I / Fees", "Article II / Term", "Article III / Law")
        )
    ]
    assert items(headed, "List the sections.") == (["Article I Fees", "Article II Term", "Article III Law"], 3)
    clauses = chunk("", "Charter", "1. Fees. The fee is 5.", "2. Term. Two years.", "(a) A third is not.", "3. Law.")
    found = items([clauses], "What are the clauses of this contract?")
    assert found == (["Fees. The fee is 5.", "Term. Two years.", "Law."], 3)


def test_a_list_needs_items() -> None:
    assert items([BODY, TAIL], "What are the main risks?") is None
    assert find_list([], AskedList(frozenset({"term"}), is_main=True)) is None


def test_key_terms_say_how_each_clause_begins_those_first_that_contracts_turn_on() -> None:
    texts = []
    for number in range(1, 20):
        texts += [f"{number}. NOTICES.", f"Notice {number} is sent by letter to the harbour. It is late."]
    texts[-2] = "19. GOVERNING LAW."
    found = items([chunk("Charter", "The charter of a ferry", *texts)], "What are the key terms?")
    assert found is not None
    assert found[0][0] == "Notice 1 is sent by letter to the harbour."
    assert found[0][-1] == "Notice 19 is sent by letter to the harbour."
    assert (len(found[0]), found[1]) == (15, 19)


@pytest.mark.parametrize(
    ("question", "stems", "about"),
    [
        ("How many duties does a tenant have, and what are they?", {"dutie"}, {"tenant"}),
        ("how many conditions are there - which are they", {"condit"}, set()),
        ("Name and title of the executive officers", {"execut", "office"}, set()),
        ("executive officers as of July 2023, names and roles", {"execut", "office"}, set()),
        ("List the trustees with their names and positions", {"truste"}, set()),
    ],
)
def test_a_count_or_persons_may_be_asked_for_as_a_list(question: str, stems: set[str], about: set[str]) -> None:
    asked = requested_list(question)
    assert asked is not None
    assert asked.stems == stems
    assert about <= asked.about


@pytest.mark.parametrize(
    "question",
    [
        "How many exercises are there in units 4 and 5?",
        "How many findings were rated high?",
        "How many recommendations have not been implemented?",
        "How many risk factors are related to China?",
    ],
)
def test_a_count_of_a_part_asks_for_no_list(question: str) -> None:
    assert requested_list(question) is None


@pytest.mark.parametrize(
    "clause", ["does the report list", "are there", "are described in the report", "does 's 10-K have"]
)
def test_a_count_of_what_the_document_names_asks_for_a_list(clause: str) -> None:
    request = requested_list(f"How many risk factors {clause}?")
    assert request is not None
    assert request == AskedList(frozenset({"risk", "factor"}), is_main=False, about=request.about, is_counted=True)


@pytest.mark.parametrize("question", ["How many duties does a tenant have?", "How many people work here and where?"])
def test_a_number_alone_may_be_a_figure_that_the_text_states(question: str) -> None:
    request = requested_list(question)
    assert request is None or request.is_counted


DUTIES = chunk(
    "Leases",
    "# Leases",
    "8. A landlord has the following duties:",
    "(a) to keep the roof tight;",
    "(b) to heat the house;",
    "(c) to sweep the stairs.",
    "Duties of 9. A tenant shall perform the following duties, namely:—",
    "tenants.",
    "(a) to pay the rent in time;",
    "(b) to air the rooms.",
    "Leases 4",
)
NEXT = chunk("Leases", "THE GAZETTE", "(c) to ask before painting;", "16. The court may decide.", first=50, page=2)


@pytest.mark.parametrize(
    ("question", "said", "count"),
    [
        (
            "How many duties does a tenant have, and what are they?",
            ["to pay the rent in time;", "to air the rooms."],
            3,
        ),
        ("How many duties has a landlord, what are they?", ["to keep the roof tight;", "to heat the house;"], 3),
    ],
)
def test_the_list_whose_lead_in_says_what_is_asked_is_read_across_pages(
    question: str, said: list[str], count: int
) -> None:
    found = items([DUTIES, NEXT], question)
    assert found is not None
    assert found[0][:2] == said
    assert found[1] == count


def test_an_item_of_another_numbering_behind_a_page_break_is_not_of_the_list() -> None:
    other = chunk("Leases", "THE GAZETTE", "(f) to do something else;", first=50, page=2)
    found = items([DUTIES, other], "How many duties does a tenant have, and what are they?")
    assert found is not None
    assert found[1] == 2


def test_persons_are_named_with_their_offices() -> None:
    officers = chunk(
        "Officers",
        "# Our officers",
        "The executive officers of Acme as of July 2023 are as follows:",
        "Jane B. Doe, President — Ms. Doe, 58, joined Acme in 1998 and leads it.",
        "John Strand, Treasurer — Mr. Strand, 61, was a banker before.",
        "Acme 12",
    )
    found = items([officers], "executive officers as of July 2023, names and roles")
    assert found == (["Jane B. Doe, President", "John Strand, Treasurer"], 2)


EXPLAINED = "It is explained here, in more than a dozen words, what is meant by the thing said above."


@pytest.mark.parametrize(
    ("texts", "labels", "is_whole"),
    [
        (("(a) A", "(b) B", EXPLAINED, "(c) C", "(d) D", "(e) E"), "abcde", True),
        (("(a) A", "(b) B", "(i) I", "(ii) II", "(iii) III", "(c) C"), "abc", True),
        (("(a) A", "(b) (i) I", "(ii) II", EXPLAINED, "(A) X", "(B) Y", "(iii) III", "(c) C"), "abc", True),
        (("(a) A", "• one", "• two", "(b) B"), "ab", True),
        ((*(f"({letter}) X" for letter in "abcdefghij"), "9. The next."), "abcdefghij", True),
        ((*(f"({letter}) X" for letter in "abcdefgh"), "(i) I", "(ii) II", "(i) X", "(j) X"), "abcdefghij", True),
        (("(i) A", "(ii) B", "(a) X", "(b) Y", "(iii) C", "(iv) D", "(v) E"), "ABCDE", True),
        (("(a) A", "(b) B", *[EXPLAINED] * 5, "(c) C"), "ab", False),
        (("(a) A", "(b) B", "(d) D"), "ab", False),
        (("(c) C", "(d) D"), "cd", False),
        (("(a) A", "(b) B", "# Else", "(c) C"), "ab", False),
        (("1. A", "2. B", "1. X", "2. Y", "3. C"), "AB", False),
        (("1. A", "2. B", "The landlord does:", "1. X", "2. Y", "3. Z"), "AB", True),
        (("• A", "• B", "◦ one", "• C"), "ABC", False),
        (("• A", "• B", EXPLAINED, "• C"), "AB", False),
        (("• A", "• B", EXPLAINED, "Others do:", "• C"), "AB", True),
    ],
)
def test_a_list_has_the_items_of_one_series_and_is_whole_if_none_may_be_missing(
    texts: tuple[str, ...], labels: str, is_whole: bool
) -> None:
    row = read_row(read_blocks([chunk("Leases", *texts)]))
    assert len(row.items) == len(labels)
    assert all(label in item.text for label, item in zip(labels, row.items, strict=True) if label.isupper())
    assert row.is_whole is is_whole


def test_a_list_of_which_items_may_be_missing_is_not_said_to_be_whole() -> None:
    request = requested_list("How many duties does a tenant have, and what are they?")
    assert request is not None
    lead, rest = "A tenant has these duties:", ["(a) to pay;", "(b) to air;"]
    for more, is_whole in (([], True), (["(d) to ask."], False)):
        found = find_list([chunk("Leases", lead, *rest, *more)], request)
        assert found is not None
        assert (found.total, found.is_whole) == (2, is_whole)


def test_several_rows_below_a_heading_are_not_said_to_be_one_list() -> None:
    values = chunk("Values", "# Values", "1. Care", "(a) for all", "2. Speed", "3. Calm", first=80)
    more = chunk("Values", EXPLAINED, "At sea:", "1. Rest", "2. Sleep", first=90)
    for chunks, count, is_whole in (([values], 3, True), ([values, more], 5, False)):
        found = find_list([BODY, *chunks, TAIL], AskedList(frozenset({"value"}), is_main=False))
        assert found is not None
        assert (found.total, found.is_whole) == (count, is_whole)


def test_a_part_holds_its_items_whatever_the_headings() -> None:
    chunks = [
        chunk("Website", "** Item 1A. Risk Factors.", "Described below are the risks that we know of."),
        chunk(
            "Risks of trade", "# Risks of trade", "** Ice may close the harbour for weeks.", "It did in 1963.", first=2
        ),
        chunk("Risks of trade", "** Storms may tear the nets of boats.", "They did in 1987.", first=5),
        chunk("Risks of law", "# Risks of law", "** Fishing may be forbidden by the state.", "It is not.", first=7),
        chunk("Risks of law", "** Item 1B. Open Comments of the Staff.", "There are none of them.", first=10),
        chunk("Boats", *(f"Boat number {number} is painted white and blue." for number in range(12)), first=12),
    ]
    told = ["Ice may close the harbour for weeks.", "Storms may tear the nets of boats."]
    assert items(chunks, "What are the risk factors?") == ([*told, "Fishing may be forbidden by the state."], 3)


def storms(section: str, count: int, *, first: int, page: int, heads: Sequence[str] = ()) -> Chunk:
    texts = [f"Storm {first + number} may close the harbour for weeks." for number in range(count)]
    return chunk(section, *heads, *(f"** {text}" for text in texts), first=first, page=page)


def test_running_headers_begin_no_part() -> None:
    heads = ["** PART I", "** Item 1A"]
    pages = [
        chunk("Report", "** PART I", "** Item 1. Business", "We run ferries.", first=0),
        storms("", 2, heads=["** Item 1A. Risk Factors"], first=10, page=2),
        *(storms(f"Risks of kind {page}", 2, heads=heads, first=10 * page, page=page) for page in (3, 4, 5)),
        chunk("Staff", "** Item 1B. Staff", *(f"Sailor {number} is able." for number in range(12)), first=90, page=6),
    ]
    found = find_list(pages, AskedList(frozenset({"risk", "factor"}), is_main=False))
    assert found is not None
    assert (found.total, found.is_whole) == (8, True)


def test_an_appendix_ends_the_last_part() -> None:
    chunks = [
        BODY,
        chunk("Report", "** Chapter 4 Findings", first=200),
        *(chunk(name, f"# {name}", "It is not so.", first=300 + 10 * place) for place, name in enumerate("ABC")),
        chunk("Annex 1 Staff", "# Annex 1 Staff", "It is large.", first=400),
        *(chunk(name, f"# {name}", "He is able.", first=500 + 10 * place) for place, name in enumerate("XYZ")),
    ]
    assert items(chunks, "What are the findings?") == ([*"ABC"], 3)


def test_a_heading_that_names_most_blocks_with_the_part_is_kept() -> None:
    risk = chunk("Item 3. Risk Factors", "# Item 3. Risk Factors", first=100)
    names = ("Risk Factors", "Law", "Law", "Law")
    chunks = [BODY, risk, *(storms(name, 20, first=200 + 40 * n, page=2) for n, name in enumerate(names))]
    found = find_list(chunks, AskedList(frozenset({"risk", "factor"}), is_main=False))
    assert found is not None
    assert found.total == 80


def test_groups_and_their_items_are_not_added_up() -> None:
    def below(*names: str, first: int) -> Chunk:
        return chunk(SECTION_SEPARATOR.join(["Findings", *names]), f"# {names[-1]}", "It is not so.", first=first)

    chunks = [
        BODY,
        chunk("Findings", "# Findings", "We found these.", first=100),
        below("Access", first=110),
        below("Access", "Old keys", first=120),
        below("Access", "Open doors", first=130),
        below("Backup", first=140),
        below("Backup", "No copies", first=150),
    ]
    found = find_list(chunks, AskedList(frozenset({"findin"}), is_main=False))
    assert found is not None
    assert (found.total, found.is_whole) == (3, False)


def test_sentences_beside_bold_terms_are_not_all_for_sure() -> None:
    parts = [chunk("Risk Factors", "# Risk Factors", first=90), risks("Risks of the Sea", 3, 100)]
    parts[1] = parts[1].model_copy(update={"section": "Risk Factors"})
    for texts, is_whole in (((), True), (("** Ice", "It may come."), False)):
        found = find_list([BODY, *parts, chunk("Risk Factors", *texts or ("So much.",), first=200), TAIL], RISKS)
        assert found is not None
        assert (found.total, found.is_whole) == (3, is_whole)


RISKS = AskedList(frozenset({"risk", "factor"}), is_main=False)


def table(*rows: str, first: int = 0) -> Chunk:
    lines = tuple(
        Line(
            number=first + place,
            page_number=1,
            bbox=Rect(0, 0, 1, 1),
            text=text,
            kind=BlockKind.TABLE,
            starts_block=not place,
        )
        for place, text in enumerate(rows)
    )
    return Chunk(id=uuid.uuid4(), document_id=uuid.UUID(int=1), ordinal=first, lines=lines, section="Faults")


FAULTS = ("Fault code\tMeaning", "7\tNo water", "12\tNo beans", "31\tDoor open")


@pytest.mark.parametrize(
    ("chunks", "count"),
    [
        ([table(*FAULTS)], 3),
        ([table(*FAULTS, "Total\t3 codes")], 3),
        ([table(*FAULTS), table(FAULTS[0], "40\tNo power", first=10)], 4),
        ([table(*FAULTS, "40\t")], 4),
        ([table(*FAULTS, "Lid\t")], None),
        ([table(*FAULTS), table("40\tNo power", first=10)], None),
        ([table(*FAULTS), chunk("Faults", "Of the fridge:", first=10), table(*FAULTS, first=20)], None),
        ([table("Severity\tFault codes", "High\tmany", "Low\tfew", "Middle\tsome", "Total\tall")], None),
        ([table("Severity\tFault codes", "High\t5", "Low\t4", "Middle\t3", "Total\t12")], None),
    ],
)
def test_the_rows_of_one_table_are_a_list(chunks: list[Chunk], count: int | None) -> None:
    found = find_list(chunks, AskedList(frozenset({"fault", "code"}), is_main=False))
    assert (found and (found.total, found.is_whole)) == (count and (count, False))
