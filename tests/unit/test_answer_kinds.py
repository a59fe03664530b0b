"""Questions of a kind are answered by what is of that kind on the page: holders, labelled values, dates, meanings."""

import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag import parsing
from rag.answering.extraction.extractive_answer import CERTAIN_LIKELIHOOD, Choice, choose
from rag.answering.passages.labelled_values import labelled_values
from rag.answering.passages.persons import signatures
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, Hit, Passage, Rewriting, Span
from tests import pdfs, sources

CEO = Rewriting(kind="synonym", found="CEO", added=("chief executive officer",))


@pytest.fixture(scope="module")
def rendition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filing") / "rendition.pdf"
    path.write_bytes(pdfs.filing())
    return path


@pytest.fixture(scope="module")
def pages(rendition: Path) -> list[Hit]:
    """Each page of the filing as a hit."""
    document_id = uuid.uuid4()
    lines = [line for block in parsing.parse_rendition(rendition).blocks for line in block.lines]
    found = []
    for number in range(1, 5):
        own = tuple(line for line in lines if line.page_number == number)
        made = sources.hit("…", name="acme_harbours.pdf", document_id=document_id)
        passage = Passage(document_id=document_id, lines=own)
        chunk = made.chunk.model_copy(update={"lines": own})
        found.append(made.model_copy(update={"passage": passage, "chunk": chunk}))
    return found


def texts(choice: Choice) -> list[str]:
    return [extract.candidate.text for extract in choice.extracts]


def answer(question: str, *blocks: sources.Block) -> list[str]:
    """Return what is certain of the answer."""
    choice = choose(question, [sources.hit(*blocks, name="acme.pdf")])
    return [extract.candidate.text for extract in choice.extracts if extract.candidate.is_certain]


# --- on pages ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("What is the IRS employer identification number?", "I.R.S. Employer Identification No. – 12-3456789"),
        ("In which state is the company incorporated?", "State of incorporation – New Jersey"),
        (
            "What is the address of the principal executive offices?",
            "Address of principal executive offices – 14 Quay Street Tollhaven, New Jersey 07001",
        ),
        (
            "Where is Acme headquartered?",
            "Address of principal executive offices – 14 Quay Street Tollhaven, New Jersey 07001",
        ),
        ("Who is the auditor?", "/s/ Strand & Sons LLP We have served as the Company's auditor since 1999."),
        ("Who audited the company?", "/s/ Strand & Sons LLP We have served as the Company's auditor since 1999."),
        ("Who is the chief executive officer?", "Ola Berg – Age: 49; Position: President and Chief Executive Officer"),
        ("Who is Acme's CEO?", "Ola Berg – Age: 49; Position: President and Chief Executive Officer"),
        ("Who is the treasurer?", "/s/ Pia Sandvik Pia Sandvik Treasurer"),
        ("When does the fiscal year end?", "Our fiscal year ends on the Saturday nearest the end of January."),
        ("What does Berth mean?", '"Berth" means a place at a quay where one ship can be made fast.'),
        ("Was bedeutet Berth?", '"Berth" means a place at a quay where one ship can be made fast.'),
    ],
)
def test_a_unit_of_the_kind_answers(question: str, shown: str, pages: Sequence[Hit]) -> None:
    choice = choose(question, pages, rewritings=[CEO])
    assert texts(choice) == [shown]
    assert choice.likelihood >= CERTAIN_LIKELIHOOD


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("What is the IRS employer identification number?", ["12-3456789", "I.R.S. Employer Identification No."]),
        ("What is the state of incorporation?", ["New Jersey", "State of incorporation"]),
    ],
)
def test_a_value_and_its_label_are_boxed_exactly(
    question: str, quotes: list[str], rendition: Path, pages: Sequence[Hit]
) -> None:
    candidate = choose(question, pages).extracts[0].candidate
    passage = candidate.hit.passage
    assert [passage.text[slice(*span)] for span in candidate.unit.spans] == quotes
    with pymupdf.open(rendition) as document:
        for span, quote in zip(candidate.unit.spans, quotes, strict=True):
            (region,) = parsing.locate(rendition, passage, *span)
            (box,) = region.rects
            found = document[0].search_for(quote)
            assert any(abs(box.x0 - one.x0) < 0.5 and abs(box.x1 - one.x1) < 0.5 for one in found)


def test_each_document_answers_and_none_is_surer_than_its_score() -> None:
    hits = [sources.hit(f"Our fiscal year ends on {day}.", name=f"{day}.pdf") for day in ("May 31", "July 31")]
    choice = choose("When does the fiscal year end?", hits)
    assert {*texts(choice)} == {"Our fiscal year ends on May 31.", "Our fiscal year ends on July 31."}
    assert choice.likelihood == choice.extracts[0].candidate.features.covered != CERTAIN_LIKELIHOOD


# --- values over their labels ---------------------------------------------------------------------------------


def pairs(text: str) -> list[tuple[str, str]]:
    passage = sources.passage(text)
    return [(pair.label, passage.text[slice(*pair.unit.span)]) for pair in labelled_values(passage)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Delaware 12-3456789\n(State) (Tax No.)", [("State", "Delaware"), ("Tax No.", "12-3456789")]),
        (
            "Delaware 001-17 12-34\n(State) (File Number) (Tax No.)",
            [("State", "Delaware"), ("File Number", "001-17"), ("Tax No.", "12-34")],
        ),
        (
            "Ohio 12-34\n(State or other jurisdiction of (Tax No.)\nincorporation)",
            [("State or other jurisdiction of incorporation", "Ohio"), ("Tax No.", "12-34")],
        ),
        (
            "Ohio 12-34\n(State of (Tax\nincorporation) No.)",
            [("State of incorporation", "Ohio"), ("Tax No.", "12-34")],
        ),
        ("Commission file number 1-3247", [("Commission file number", "1-3247")]),
        ("Handelsregister: HRB 123", [("Handelsregister", "HRB 123")]),
        ("Musterstadt\tHRB 123\n(Sitz)\t(Registernummer)", [("Sitz", "Musterstadt"), ("Registernummer", "HRB 123")]),
        ("(201) 555-0147\n(Telephone number)", [("Telephone number", "(201) 555-0147")]),
        ("New York San Jose\n(State) (City)", []),  # it cannot be told where the first value ends
        ("Balance Sheets\n(In millions)", []),
        ("Yes it is, as was said before.\n(See above)", []),
        ("A sentence (with an aside) goes on\nhere.", []),
    ],
)
def test_values_are_paired_with_labels_below(text: str, found: list[tuple[str, str]]) -> None:
    assert pairs(text) == found


@pytest.mark.parametrize("question", ["What is the state of the pier?", "What is the name of the harbour master?"])
def test_a_label_that_lacks_a_word_of_the_question_is_none(question: str) -> None:
    assert answer(question, "Delaware 12-34\n(State of incorporation) (Tax No.)", "Acme\n(Exact name)") == []


# --- holders of offices -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Ola Berg has served as our Chief Executive Officer since 2019.",
        "Ola Berg, 49, Chair of the Board since January 2020 and Chief Executive Officer since January 2019.",
        "/s/ Ola Berg\nOla Berg\nChief Executive Officer\n(Principal Executive Officer)",
        "Ola Berg is Chief Executive Officer of Acme.",
        "Ola Berg, 49, Global Chief Executive Officer and Head of Ferries",
    ],
)
def test_who_holds_an_office_now_is_certain(text: str) -> None:
    assert answer("Who is the chief executive officer?", text)


@pytest.mark.parametrize(
    "text",
    [
        "Ola Berg was Chief Executive Officer of the company until 2019.",
        "Ola Berg, former Chief Executive Officer, joined the board.",
        "Ola Berg is Chief Executive Officer of Brine Ferries.",
        "Ola Berg, Chief Executive Officer, Brine Ferries",
        "Ola Berg joined the company in 2012. Previously he was Chief Executive Officer of the company Tarn.",
        "The Chief Executive Officer is appointed by the board.",
        "Ola Berg reports to the Chief Executive Officer.",
        "Ola Berg, President and Chief Executive Officer, Western Division, effective May 2020",
        "Ola Berg Inge Holm Tom Ek Director Chief Executive Officer",
        "Ola Berg, Deputy Chief Executive Officer",
        "Ola Berg, Deputy to the Chief Executive Officer’s Office",
    ],
)
def test_who_held_another_office_is_not(text: str) -> None:
    assert answer("Who is the chief executive officer?", text) == []


def test_two_signatures_side_by_side_tell_no_office() -> None:
    text = "By /s/ Ola Berg By /s/ Inge Holm\nOla Berg Inge Holm\nTreasurer Chair of the Board"
    assert answer("Who is the treasurer?", text) == []


def test_a_firm_is_the_auditor_only_where_an_audit_is_spoken_of() -> None:
    signed = "/s/ Strand & Sons LLP"
    assert answer("Who is the auditor?", "We conducted our audits carefully.", signed) == [signed]
    assert answer("Who is the auditor?", "We advise on leases.", signed) == []


@pytest.mark.parametrize(
    ("question", "text", "is_answered"),
    [
        ("Who is the chief operating officer?", "Ada Quill is the chief executive officer of the harbour.", False),
        ("Who is the chief operating officer?", "The chief operating officer runs the ferries of the harbour.", False),
        ("Who is the chief operating officer?", "The ferries are run by the chief operating officer, Ada Quill.", True),
        ("Who is the chair of the board?", "The chairman of the board is Ada Quill, since 2011.", True),
        ("Who is the Geschäftsführer?", "Ada Quill leitet den Hafen seit 2011 als Kapitän.", False),
        ("Who is the owner?", "Ada Quill became the owner of the brewery in 2011.", True),
    ],
)
def test_an_office_without_a_named_holder_is_not_answered(question: str, text: str, is_answered: bool) -> None:
    choice = choose(question, [sources.hit(text, name="acme.pdf")])
    assert bool(choice.extracts) is is_answered


# --- dates and meanings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "is_certain"),
    [
        ("The fiscal year ends on the last Sunday of May.", True),
        ("We have a 52-week fiscal year ending on the Saturday closest to July 31.", True),
        ("Our fiscal year ends June 30.", True),
        ("For the fiscal year ended June 30, 2023, sales rose.", False),
        ("The board changed our fiscal year end from Sunday to Saturday.", False),
        ("In the fiscal year ending June 30, 2023 we open stores.", False),
        ("The lease ends on June 30.", False),
    ],
)
def test_when_something_ends_each_year(text: str, is_certain: bool) -> None:
    assert bool(answer("When does the fiscal year end?", text)) is is_certain


@pytest.mark.parametrize("question", ["What is the fiscal year end date?", "When is Acme’s fiscal year-end?"])
def test_the_end_of_the_fiscal_year_may_be_asked_for_by_name(question: str) -> None:
    text = "Our fiscal year ends on the Sunday closest to August 31."
    assert answer(question, "The fiscal year ended August 29, 2021 had 52 weeks.", text) == [text]


@pytest.mark.parametrize(
    ("question", "text", "is_certain"),
    [
        ("Where are the headquarters?", "Our corporate headquarters are located in Tollhaven, New Jersey.", True),
        ("In which city is Acme based?", "We are headquartered in Tollhaven.", True),
        ("Wo ist der Hauptsitz?", "Die Acme AG hat ihren Hauptsitz in Bremen.", True),
        ("Where are the headquarters?", "Each regional headquarters is in a port.", False),
        ("Where are the headquarters?", "Our headquarters moved twice in ten years.", False),
        ("Where is the company’s registered office located?", "Our registered office is at 4 Pier Road.", True),
        ("Wo hat die Acme AG ihren Sitz?", "Die Acme AG hat ihren Sitz in Bremen.", True),
        ("Where are most ports located?", "We are headquartered in Tollhaven.", False),
        ("Where are most of our crews based?", "We are headquartered in Tollhaven.", False),
        ("Where are Acme's European headquarters?", "Our headquarters are in Tollhaven.", False),
        ("In which year did it move its headquarters?", "Our headquarters are in Tollhaven.", False),
    ],
)
def test_where_a_company_has_its_seat(question: str, text: str, is_certain: bool) -> None:
    assert answer(question, text) == ([text] if is_certain else [])


@pytest.mark.parametrize(
    ("text", "is_certain"),
    [
        ("“Base Rate” means the rate of the bank.", True),
        ("The term “Base Rate” shall mean the rate of the bank.", True),
        ("Base Rate is defined as the rate of the bank.", True),
        ("Loans bear a rate (such rate of the bank as is posted on the first day, the “Base Rate”).", True),
        ("“Alternate Base Rate” means another rate.", False),
        ("The Base Rate rose, which means more interest.", False),
    ],
)
def test_a_definition_begins_with_its_term(text: str, is_certain: bool) -> None:
    assert bool(answer("What does Base Rate mean?", text)) is is_certain


@pytest.mark.parametrize(
    ("text", "is_certain"),
    [
        ("Our reportable segments consist of Mail, Freight and Passengers.", True),
        ("The reportable segments are made up of Mail and Freight.", True),
        ("The reportable segments sell alike services.", False),
        ("The revenue of the reportable segments of Acme comprises fares.", False),
    ],
)
def test_what_something_consists_of_tells_what_it_is(text: str, is_certain: bool) -> None:
    assert bool(answer("What are the reportable segments?", text)) is is_certain


def test_a_table_of_persons_is_read_without_its_column_names() -> None:
    table = (BlockKind.TABLE, "Name\tChief Executive Officer\nOla Berg\t4 years")
    assert answer("Who is the chief executive officer?", table) == []


def test_spans_are_within_the_passage(pages: Sequence[Hit]) -> None:
    for hit in pages:
        units = [*(pair.unit for pair in labelled_values(hit.passage)), *signatures(hit.passage)]
        assert all(Span(0, 0) < span <= Span(*[len(hit.passage.text)] * 2) for unit in units for span in unit.spans)


# --- forms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        ("Is the company a large accelerated filer?", ["Large accelerated filer – ☒"]),
        ("Is the company an emerging growth company?", ["Emerging growth company – ☐"]),
        (
            "Is the registrant a shell company?",
            ["Indicate by check mark whether the registrant is a shell company. Yes ☐ No ☒"],
        ),
        ("Is the company a harbour?", []),
        ("Is the quay lit at night?", []),
    ],
)
def test_the_check_box_of_a_form_answers_whether_it_applies(question: str, shown: list[str]) -> None:
    form = "Large accelerated filer\t☒\tAccelerated filer\t☐\nEmerging growth company\t☐"
    text = "Indicate by check mark whether the registrant is a shell company. Yes ☐ No ☒"
    bullet = "■ At night the quay is lit and guarded."
    lead = "See the definitions of “large accelerated filer” and “emerging growth company” in the Act."
    assert answer(question, lead, (BlockKind.TABLE, form), text, bullet) == shown


# --- authors ----------------------------------------------------------------------------------------------------

PAPER: list[sources.Block] = [
    (BlockKind.HEADING, "Moorings of Old Harbours:\nA Comparative Study"),
    (BlockKind.HEADING, "Ola Berg 1,2* and Pia van Sandvik 1"),
    (BlockKind.HEADING, "Tove Lind 2"),
    "1 Institute of Harbours, Tollhaven University",
    "Abstract. Authors of harbours moor ships in many ways.",
]


@pytest.mark.parametrize(
    "question", ["Who are the authors of the paper?", "Who wrote this paper?", "Wer sind die Autoren?"]
)
def test_authors_stand_below_the_title(question: str) -> None:
    assert answer(question, *PAPER) == ["Ola Berg 1,2* and Pia van Sandvik 1 Tove Lind 2"]


@pytest.mark.parametrize(
    "blocks",
    [
        [(BlockKind.HEADING, "Harbour Report"), (BlockKind.HEADING, "Tollhaven University"), "Abstract. It is short."],
        [(BlockKind.HEADING, "Harbour Report"), (BlockKind.HEADING, "Ola Berg"), "He is the governor of Tollhaven."],
        [(BlockKind.HEADING, "Harbour Report"), "The harbour was built by Ola Berg.", "Abstract. It is short."],
    ],
    ids=["institution", "no paper", "sentence"],
)
def test_other_lines_below_a_title_name_no_authors(blocks: list[sources.Block]) -> None:
    assert answer("Who are the authors?", *blocks) == []


# --- headings and titles ------------------------------------------------------------------------------------------


def test_a_heading_may_define_a_term() -> None:
    heading = "made as of July 11, 2006 (the “Effective Date”)"
    assert answer("What is the effective date?", (BlockKind.HEADING, heading), "The ferry runs.") == [heading]


def test_the_label_of_a_form_is_no_answer() -> None:
    label = "(Address of the principal executive offices, including zip code)"
    question = "In alphabet.pdf, what is the address of the principal executive offices?"
    assert label not in texts(choose(question, [sources.hit(label, "Our offices are rented.")]))
    assert texts(choose("What is the address of the offices?", [sources.hit(label[1:-1], "Ferries.")])) == [label[1:-1]]


def test_an_item_that_refers_to_another_document_is_no_answer() -> None:
    item = (
        "The information required by this item on the annual meeting of 2023 is incorporated by reference to our proxy."
    )
    assert texts(choose("What is said on the annual meeting of 2023?", [sources.hit(item, "Ferries sail.")])) == []
    assert texts(choose("What is said on the annual meeting?", [sources.hit(item.partition(" is inc")[0])])) != []


@pytest.mark.parametrize("title", ["23. GOVERNING LAW.", "10.7 Governing Law.", "IV. Law and Venue."])
def test_the_title_of_a_clause_is_no_answer(title: str) -> None:
    law = "This Agreement is governed by the laws of New Jersey."
    assert texts(choose("What is the governing law?", [sources.hit(title, law)])) == [law]
