"""PDFs with one sentence in blue, the only blue thing in them, so that a test can see where it stands."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rag.parsing.pdf.mupdf import pymupdf
from rag.types import Rect

BLUE = (0.0, 0.0, 1.0)
BLUE_SRGB = 0x0000FF
SIZE_PT = 11
LEADING_PT = 16
LONG_PAGES = 500
LONG_PAGE = 437

FILLER = (
    "Minutes of the meeting were taken by the secretary and approved without a vote.",
    "Members discussed the budget of the coming year at some length.",
    "Repairs of the roof were put off until the spring.",
    "A letter of thanks was sent to everybody who had helped.",
    "The next meeting takes place in the usual room.",
)


@dataclass(frozen=True)
class Paper:
    """A file, the sentence that stands in it in blue, and a question that it answers."""

    name: str
    sentence: str
    question: str
    content: bytes

    def boxes(self) -> list[tuple[int, Rect]]:
        """Page and box, on the displayed page, of each blue line, from top to bottom."""
        with pymupdf.open(stream=self.content, filetype="pdf") as document:
            return [(page.number + 1, box) for page in document for box in _blue_lines(page)]


def _blue_lines(page: Any) -> Iterator[Rect]:
    for block in page.get_text("dict")["blocks"]:
        for line in block.get("lines", ()):
            if any(span["color"] == BLUE_SRGB for span in line["spans"]):
                yield Rect(*(pymupdf.Rect(line["bbox"]) * page.rotation_matrix).normalize())


def _write(page: Any, x: float, y: float, lines: list[str], *, blue: tuple[int, ...] = ()) -> None:
    for number, line in enumerate(lines):
        colour = BLUE if number in blue else (0.0, 0.0, 0.0)
        page.insert_text((x, y + number * LEADING_PT), line, fontsize=SIZE_PT, color=colour)


def _sheet(sentence: str, *, x: float = 72, y: float = 120) -> Any:
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    _write(page, x, y, [*FILLER[:3]])
    _write(page, x, y + 5 * LEADING_PT, [sentence], blue=(0,))
    _write(page, x, y + 8 * LEADING_PT, [*FILLER[3:]])
    return document


def plain(sentence: str) -> bytes:
    """One upright page."""
    content: bytes = _sheet(sentence).tobytes()
    return content


def two_columns(sentence: str) -> bytes:
    """Two columns; the sentence takes two lines of the right one."""
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    words = sentence.split()
    half = len(words) // 2
    left = [" ".join(line.split()[:7]) + "." for line in FILLER * 4]
    right = [" ".join(line.split()[:6]) + "." for line in FILLER]
    _write(page, 60, 100, left)
    _write(page, 320, 100, right)
    target = [" ".join(words[:half]), " ".join(words[half:])]
    _write(page, 320, 100 + 7 * LEADING_PT, target, blue=(0, 1))
    _write(page, 320, 100 + 11 * LEADING_PT, right)
    content: bytes = document.tobytes()
    return content


def rotated(sentence: str) -> bytes:
    """A page with /Rotate 90, upright when displayed."""
    document = pymupdf.open()
    with _sheet(sentence) as source:
        page = document.new_page(width=842, height=595)
        page.show_pdf_page(page.rect, source, 0, rotate=90)
        page.set_rotation(90)
    content: bytes = document.tobytes()
    return content


def cropped(sentence: str) -> bytes:
    """A page of which a part is displayed."""
    document = _sheet(sentence, x=150, y=260)
    document[0].set_cropbox(pymupdf.Rect(110, 190, 590, 620))
    content: bytes = document.tobytes()
    return content


def long(sentence: str, pages: int = LONG_PAGES, on_page: int = LONG_PAGE) -> bytes:
    """Many pages, the sentence far behind."""
    document = pymupdf.open()
    for number in range(1, pages + 1):
        page = document.new_page(width=595, height=842)
        _write(page, 72, 120, [f"Section {number}", f"Item {number} was read aloud and noted."])
        if number == on_page:
            _write(page, 72, 500, [sentence], blue=(0,))
    content: bytes = document.tobytes(deflate=True)
    return content


def _paper(kind: Callable[[str], bytes], sentence: str, question: str) -> Paper:
    return Paper(f"{kind.__name__}.pdf", sentence, question, kind(sentence))


def all_papers() -> list[Paper]:
    """One paper of each kind, each about something of its own."""
    return [
        _paper(
            plain,
            "The lighthouse was rebuilt in granite after the storm of 1887.",
            "When was the lighthouse rebuilt in granite?",
        ),
        _paper(
            two_columns,
            "The brewery bought its copper kettles from a shipyard in Danzig for 4,200 guilders.",
            "What did the brewery pay for its copper kettles?",
        ),
        _paper(
            rotated,
            "The orchestra lost its first violin to a travelling circus in March.",
            "To whom did the orchestra lose its first violin?",
        ),
        _paper(
            cropped,
            "The glacier retreated by 31 metres between two summers.",
            "By how many metres did the glacier retreat?",
        ),
        _paper(
            long,
            "The observatory keeps its spare telescope mirror in a wine cellar.",
            "Where does the observatory keep its spare telescope mirror?",
        ),
    ]


def of_many_sizes(count: int) -> bytes:
    """Pages upright, across and large, in turn."""
    document = pymupdf.open()
    for number in range(count):
        width, height = ((595, 842), (842, 595), (1190.7, 900.3))[number % 3]
        _write(document.new_page(width=width, height=height), 72, 120, [f"Sheet {number + 1}.", *FILLER])
    content: bytes = document.tobytes()
    return content
