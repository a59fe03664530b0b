"""Numbers printed on pages: found where they are a series, and nowhere else."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from rag.parsing.pdf import page_labels
from rag.parsing.pdf.document import parse_rendition
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import Landmark, Line, Rect, page_name
from rag.vocabulary.landmarks import Landmarks
from rag.vocabulary.references import references

HEIGHT = 842.0
ROMANS = ["i", "ii", "iii", "iv", "v", "vi"]


def feet(texts: Mapping[int, str], *, y: float = 810.0) -> list[Line]:
    """A line in the foot of each page."""
    return [
        Line(number=number, page_number=number, bbox=Rect(200, y, 300, y + 10), text=text)
        for number, text in texts.items()
    ]


def labels(lines: list[Line], count: int) -> dict[int, str]:
    return page_labels.find_printed_labels(dict.fromkeys(range(1, count + 1), HEIGHT), lines)


def counted(first: int, count: int, offset: int, form: str = "{}") -> dict[int, str]:
    return {page: form.format(page + offset) for page in range(first, first + count)}


@pytest.mark.parametrize(
    "form",
    [
        *("{}", "- {} -", "– {} –", "Page {}", "page {} of 203", "{}/40", "[{}]"),
        *("Acme plc Annual report 2023 {}", "{} | Acme plc", "Seite {}"),
    ],
)
def test_numbers_are_found_in_the_foot_however_they_are_written(form: str) -> None:
    assert labels(feet(counted(3, 8, -2, form)), 12) == {page: str(page - 2) for page in range(3, 11)}


def test_front_matter_is_roman_and_parts_count_anew() -> None:
    front = dict(enumerate(ROMANS, start=2))
    lines = feet({**front, **counted(8, 10, -7), **counted(18, 6, -17, "F-{}")})
    found = labels(lines, 24)
    assert found == {
        **front,
        **{page: str(page - 7) for page in range(8, 18)},
        **{page: f"F-{page - 17}" for page in range(18, 24)},
    }


def test_a_page_without_its_number_has_the_one_that_is_expected() -> None:
    present = counted(1, 20, 52)
    lacking = {page: text for page, text in present.items() if page not in (4, 5, 13)}
    assert labels(feet(lacking), 20) == present


@pytest.mark.parametrize(
    "texts",
    [
        dict.fromkeys(range(1, 20), "2023"),
        counted(1, 3, 5),
        {page: str(page + (page % 3)) for page in range(1, 20)},
        {page: text for page, text in counted(1, 30, 5).items() if page % 2},  # half of a run is a guess
        {page: f"Total {page * 100}" for page in range(1, 10)},
        dict.fromkeys(range(1, 10), "c"),
        {page: f"{page + 3} of the berths were full, and the others were let." for page in range(1, 10) if page < 4},
    ],
)
def test_nothing_is_guessed(texts: dict[int, str]) -> None:
    assert labels(feet(texts), 30) == {}


def test_numbers_within_the_page_are_none() -> None:
    assert labels(feet(counted(1, 20, 5), y=400.0), 20) == {}


def test_a_longer_series_counts_before_a_shorter_and_a_printed_one_before_the_viewer_s() -> None:
    both = [*feet(counted(1, 20, 0, "Page {} of 20")), *feet(counted(1, 20, 40), y=20.0)]
    assert labels(both, 20)[7] == "47"
    assert labels([*feet(counted(1, 20, 0)), *feet(counted(1, 5, 40), y=20.0)], 20)[3] == "3"


@pytest.mark.parametrize("text", ["iiii", "vx", "ic", "civil", "xxl"])
def test_what_only_looks_like_a_roman_numeral(text: str) -> None:
    assert page_labels._from_roman(text) is None


def numbered(path: Path, prints: list[str], *, named: bool = False) -> Path:
    """A PDF with these words in the feet of its pages; with `named`, its own labels say A-1, A-2 …"""
    with pymupdf.open() as document:
        for number, text in enumerate(prints, start=1):
            page = document.new_page(width=595, height=HEIGHT)
            page.insert_text((72, 100), f"Sentence number {number} of this paper is about cranes.")
            page.insert_text((290, 815), text)
        if named:
            document.set_page_labels([{"startpage": 0, "prefix": "A-", "style": "D", "firstpagenum": 1}])
        document.save(path)
    return path


def test_a_file_s_own_labels_count_before_what_is_printed(tmp_path: Path) -> None:
    prints = ["", *ROMANS, *map(str, range(1, 9))]
    found = parse_rendition(numbered(tmp_path / "printed.pdf", prints)).pages
    assert [page.label for page in found] == [None, *prints[1:]]
    own = parse_rendition(numbered(tmp_path / "named.pdf", prints, named=True)).pages
    assert [page.label for page in own][:2] == ["A-1", "A-2"]


def test_a_page_is_a_landmark_by_both_numbers() -> None:
    marks = Landmarks(()).find(feet({1: "x", 2: "y", 3: "z"}), {2: "IV", 3: "1"})
    strengths = {(mark.name, mark.page_number): mark.strength for mark in marks}
    assert strengths["page 1", 1] > strengths["page 1", 3] > 0.9
    assert ("page iv", 2) in strengths
    assert Landmark(name="page 2", page_number=2, strength=1.0) in marks


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is on page F-12?", ["page f-12"]),
        ("Look at pages F-3 and F-4.", ["page f-3", "page f-4"]),
        ("What is on page iv?", ["page iv"]),
        ("What is on page 53?", ["page 53"]),
    ],
)
def test_questions_name_pages_as_they_are_printed(question: str, names: list[str]) -> None:
    assert [reference.name for reference in references(question)] == names


def test_a_page_is_named_by_label_and_number() -> None:
    assert page_name(54, "53", 203) == "p. 53 (page 54 of 203)"
    assert page_name(54, "iv") == "p. iv (page 54)"
    assert page_name(54) == page_name(54, "54", 203) == "page 54"
