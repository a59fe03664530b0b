"""Measure OCR of pictures: pages of PDFs become pictures on pages with other text.

The ground truth are the words and boxes of the original page. A box is right if its middle is within the height of an
original one and they share at least half of their combined width. Words are separated by spaces and contain a letter or
digit.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.report import Section, at_least
from benchmarks.settings import Options
from rag import parsing
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import BlockKind, ParsingConfig, Rect

DOCUMENTS, QUICK_DOCUMENTS = 12, 2
LEAST_WORDS = 80
HEADER_PT = 120.0
HEADER_LINES = 6
"""Minimum text of a page, so that it does not count as a scan with a stamp."""
HEADER = "An exhibit is shown below, of which these lines are no part: they are the page's own text, set above it."
PICTURE_DPI = 200
GOAL = 0.9
LEAST_SHARED = 0.5


class Word(NamedTuple):
    """A word and its box on the page with the picture."""

    bbox: Rect
    text: str


class Score(NamedTuple):
    """Counts of original and recognised words, and of those with the right box and the right text."""

    true: int
    found: int
    placed: int
    equal: int


def measure(options: Options, section: Section) -> None:
    """Measure precision and recall over one page each of some documents."""
    if options.pdfs is None:
        section.about = "skipped: give a folder of PDFs with --pdfs"
        return
    paths = sorted(options.pdfs.rglob("*.pdf"))
    wanted = QUICK_DOCUMENTS if options.quick else DOCUMENTS
    scores: list[Score] = []
    for path in paths[:: max(1, len(paths) // wanted)]:
        if len(scores) < wanted and (page := _page_of(path)) is not None:
            scores.append(_score(*page))
    true, found, placed, equal = (sum(column) for column in zip(*scores, strict=True))
    section.about = f"{len(scores)} pages of as many documents, {true:,} words, {found:,} recognised"
    section.add("boxes, precision", placed / max(found, 1), "", at_least(GOAL))
    section.add("boxes, recall", placed / max(true, 1), "", at_least(GOAL))
    section.add("boxes with the same word, precision", equal / max(found, 1), "")
    section.add("boxes with the same word, recall", equal / max(true, 1), "")


def _page_of(path: Path) -> tuple[Any, list[Word]] | None:
    """Return a picture of the page with most words among three, and its words."""
    with pymupdf.open(path) as document:
        places = {document.page_count * part // 4 for part in (1, 2, 3)}
        pages = [document[place] for place in sorted(places) if not document[place].rotation]
        page = max(pages, key=lambda page: len(page.get_text("words")), default=None)
        if page is None or len(words := list(_words(page, below=0.0))) < LEAST_WORDS:
            return None
        return page.get_pixmap(dpi=PICTURE_DPI), words


def _words(page: Any, below: float) -> Iterator[Word]:
    for x0, y0, x1, y1, text, *_ in page.get_text("words"):
        if any(map(str.isalnum, text)) and y0 >= below:
            yield Word(Rect(x0, y0, x1, y1), text)


def _score(picture: Any, words: Sequence[Word]) -> Score:
    width, height = picture.width * 72 / PICTURE_DPI, picture.height * 72 / PICTURE_DPI
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        source, rendition = Path(folder, "source.pdf"), Path(folder, "rendition.pdf")
        with pymupdf.open() as document:
            page = document.new_page(width=width, height=height + HEADER_PT)
            page.insert_text((40, 20), HEADER_LINES * [HEADER], fontsize=12)
            page.insert_image(pymupdf.Rect(0, HEADER_PT, width, height + HEADER_PT), pixmap=picture)
            document.save(source, deflate=True)
        parsed = parsing.read_file(
            source, name=source.name, rendition=rendition, config=ParsingConfig(ocr_language="eng"), pictures=True
        )
        with pymupdf.open(rendition) as document:
            found = [*_words(document[0], below=HEADER_PT)]
    lines = " ".join(line.text for block in parsed.blocks if block.kind is BlockKind.PICTURE for line in block.lines)
    said = set(lines.split())
    placed = list(_pairs(words, [word for word in found if word.text in said]))
    return Score(len(words), len(found), len(placed), sum(true.text == word.text for true, word in placed))


def _pairs(words: Sequence[Word], found: Sequence[Word]) -> Iterator[tuple[Word, Word]]:
    """Pair each word of the page with the one recognised in its place."""
    free = [*found]
    for true in words:
        box = Rect(true.bbox.x0, true.bbox.y0 + HEADER_PT, true.bbox.x1, true.bbox.y1 + HEADER_PT)
        match = max(free, key=lambda word: _shared(box, word.bbox), default=None)
        if match is not None and _shared(box, match.bbox) >= LEAST_SHARED:
            free.remove(match)
            yield true, match


def _shared(box: Rect, other: Rect) -> float:
    """Return the shared share of two boxes' combined width; 0 on different lines."""
    if not box.y0 <= (other.y0 + other.y1) / 2 <= box.y1:
        return 0.0
    shared = min(box.x1, other.x1) - max(box.x0, other.x0)
    return shared / (max(box.x1, other.x1) - min(box.x0, other.x0))
