import pytest

from rag.parsing.metadata import find_title
from rag.types import BlockKind, Line, Rect, TextBlock

WIDE = Rect(0, 0, 200, 20)


def heading(text: str, level: int = 1, page: int = 1, box: Rect = WIDE) -> TextBlock:
    line = Line(number=1, page_number=page, bbox=box, text=text, kind=BlockKind.HEADING)
    return TextBlock(
        page_number=page,
        bbox=box,
        line_start=1,
        line_end=1,
        text=text,
        kind=BlockKind.HEADING,
        level=level,
        lines=(line,),
    )


@pytest.mark.parametrize(
    "title",
    [
        "On Herons",
        "Annual Report 2023",
        "Exhibit 12: Plans of the harbour",
        "The Duties of an Audit Committee",
        "年度报告",
    ],
)
def test_a_title_given_by_a_person_stays(title: str) -> None:
    assert find_title(f" {title}\n", [heading("Something else")]) == title


@pytest.mark.parametrize(
    "title",
    [
        None,
        "",
        "untitled",
        "Microsoft Word - Document1",
        "Slide 1",
        "Presentation2",
        "draft.docx",
        "0000012927-19-000010",
        "FORM 10-K",
        "Table of Contents",
        "UNITED STATES SECURITIES AND EXCHANGE COMMISSION",
        "UNITED STATES OF AMERICA",
        "Abstract",
        "Owner's Manual",
        "User Guide",
    ],
)
def test_what_many_files_have_in_common_is_no_title(title: str | None) -> None:
    assert find_title(title, [heading("On Herons")]) == "On Herons"
    assert find_title(title, []) is None


@pytest.mark.parametrize(
    "boilerplate",
    [
        "FORM 10-Q",
        "PART I",
        "Item 1A.",
        "HEARING",
        "United States Court of Appeals",
        "For the Eleventh Circuit",
        "Ministry of Health",
        "STATE OF OHIO",
        "Filed 01/02/2020 No. 48897809",
        "II. The Harbour",
        "Dear Shareholders:",
    ],
)
def test_a_telling_heading_comes_before_a_larger_one_that_is_not(boilerplate: str) -> None:
    assert find_title(None, [heading(boilerplate), heading("Herons of the North", level=2)]) == "Herons of the North"
    assert find_title(None, [heading(boilerplate)]) is None


def test_of_telling_headings_the_largest_and_first_is_the_title() -> None:
    found = [heading("Herons", 2), heading("Second", 1, page=2), heading("First", 1), heading("Third", 1, page=3)]
    assert find_title(None, found) == "First"
    assert find_title(None, found[-1:]) is None


def test_what_is_written_upwards_is_no_title() -> None:
    stamp = heading("Received by post", box=Rect(0, 0, 20, 200))
    assert find_title(None, [stamp, heading("Herons", level=2)]) == "Herons"


@pytest.mark.parametrize(
    ("label", "distance", "page", "expected"),
    [
        ("(Exact name of registrant as specified in its charter)", 2, 1, "Acme plc"),
        ("(Name of the company)", 2, 1, "Acme plc"),
        ("(State of incorporation)", 2, 1, "Large"),
        ("(Name of the company)", 90, 1, "Large"),
        ("(Name of the company)", 2, 2, "Large"),
    ],
)
def test_a_name_stands_right_over_its_label(label: str, distance: float, page: int, expected: str) -> None:
    name = heading("Acme plc", level=3, box=Rect(0, 100, 90, 112))
    under = heading(label, level=3, page=page, box=Rect(0, 112 + distance, 90, 124 + distance))
    assert find_title(None, [heading("Large"), name, under]) == expected


def test_a_title_goes_on_in_the_next_heading_after_a_word_that_ends_no_title() -> None:
    found = [heading("The Nests of"), heading("Herons and"), heading("Egrets"), heading("Abstract")]
    assert find_title(None, found) == "The Nests of Herons and Egrets"
    assert find_title(None, [heading("The Nests of"), heading("Herons", level=2)]) == "The Nests of"
