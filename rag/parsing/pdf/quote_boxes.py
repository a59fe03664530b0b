"""From characters of a passage to their boxes on the page.

A passage's lines were put together from runs of text on the page. The runs inside a line's box are found again
and laid along the line's characters, white space left out, so that each character knows its box.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rag import errors
from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.mupdf import FAILURES, LOCK, display_matrix, open_pdf
from rag.parsing.pdf.text_runs import TEXT_FLAGS, to_display
from rag.parsing.sheets.page_grid import PageGrid
from rag.types import BlockKind, Line, Passage, Rect, Region

TOLERANCE_PT = 0.1
"""How far the middle of a run may be out of its line's box."""
CELL_GAP_EM = 1.0
"""Boxes in a table's row with a wider gap between them stay apart: they are in different cells."""
WORD_GAP_EM = 4.0
"""So they do in running text if the gap is wider than any between words: a mark set over the line stands elsewhere."""
Kept = TypeVar("Kept")
KEPT_PAGES = 32
"""Pages whose characters are kept, for the next quote from the same page (about 0.5 MB each)."""


class Run(NamedTuple):
    """A run of text as it stands on the page: its characters without white space, and a box for each."""

    bbox: Rect
    text: str
    boxes: tuple[Rect, ...]
    is_vertical: bool


def locate(rendition: Path, passage: Passage, start: int, end: int) -> tuple[Region, ...]:
    """The boxes of exactly the characters `passage.text[start:end]`, one per line of print, in points as displayed.

    Returns:
        A region per page; nothing for characters that are not found in the rendition.

    Raises:
        errors.NotFoundError: the rendition is gone.
        errors.UnreadableFileError: it cannot be read any more.
    """
    rects: dict[int, list[Rect]] = {}
    for line, first, last in _parts(passage.lines, start, end):
        found = _line_boxes(rendition, line, first, last)
        if found:
            rects.setdefault(line.page_number, []).extend(found)
    return tuple(
        Region(page_number=page, rects=tuple(rects[page]), cells=cell_names(rendition, page, rects[page]))
        for page in sorted(rects)
    )


def cell_names(rendition: Path, page_number: int, boxes: Iterable[Rect]) -> str | None:
    """The cells that `boxes` on the page of a sheet touch: “Balance!B14” or “Balance!B14:D14, B20”.

    Returns:
        None if the page is of no sheet, or no cell is touched.

    Raises:
        errors.NotFoundError: the rendition is gone.
        errors.UnreadableFileError: it cannot be read any more.
    """
    grid = _of_page(_read_grid, rendition, page_number)
    return grid.name(boxes) if grid else None


def _parts(lines: Sequence[Line], start: int, end: int) -> Iterator[tuple[Line, int, int]]:
    """Lines that have characters of `lines_text(lines)[start:end]`, with the offsets of these in the line."""
    offset = 0
    for index, line in enumerate(lines):
        if index:
            offset += 2 if line.starts_block else 1
        first, last = max(start - offset, 0), min(end - offset, len(line.text))
        if first < last:
            yield line, first, last
        offset += len(line.text)


def _line_boxes(rendition: Path, line: Line, first: int, last: int) -> list[Rect]:
    target = character_cleaning.squash(line.text)
    before, chosen = (
        len(character_cleaning.squash(line.text[:first])),
        len(character_cleaning.squash(line.text[first:last])),
    )
    near = [_run(raw) for raw in _page_lines(rendition, line.page_number) if _is_in(raw.bbox, line.bbox)]
    boxes = lay(near, target)[before : before + chosen]
    vertical = sum(run.is_vertical for run in near) * 2 > len(near)
    gap = CELL_GAP_EM if line.kind is BlockKind.TABLE else WORD_GAP_EM
    return merge((box for box in boxes if box is not None), vertical, gap_em=gap)


def _is_in(box: Rect, line: Rect) -> bool:
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    return (
        line.x0 - TOLERANCE_PT <= x <= line.x1 + TOLERANCE_PT and line.y0 - TOLERANCE_PT <= y <= line.y1 + TOLERANCE_PT
    )


def lay(runs: Iterable[Run], target: str) -> list[Rect | None]:
    """A box for each character of `target`, from `runs` that make it up in some order; None where none fits."""
    target = character_cleaning.without_sides(
        target
    )  # as brackets of what runs from right to left may have been turned
    runs = [run._replace(text=character_cleaning.without_sides(run.text)) for run in runs]
    boxes: list[Rect | None] = []
    free = sorted(runs, key=lambda run: run.bbox.x0, reverse=character_cleaning.is_right_to_left(target))
    while len(boxes) < len(target):
        fitting = [run for run in free if target.startswith(run.text, len(boxes))]
        if fitting:
            run = max(fitting, key=lambda run: len(run.text))
            free.remove(run)
            boxes.extend(run.boxes)
        else:
            boxes.append(None)
    return boxes


def merge(boxes: Iterable[Rect], vertical: bool, *, gap_em: float) -> list[Rect]:
    """Neighbouring boxes on one baseline become one; a gap wider than `gap_em` heights keeps them apart."""
    if vertical:
        return [_swap(box) for box in merge(map(_swap, boxes), False, gap_em=gap_em)]
    lines: list[list[Rect]] = []
    for box in boxes:
        line = next((line for line in lines if _is_level(line[0], box)), None)
        if line is None:
            lines.append([box])
        else:
            line.append(box)
    return [merged for line in lines for merged in _merge_line(sorted(line), gap_em)]


def _merge_line(boxes: Sequence[Rect], gap_em: float) -> Iterator[Rect]:
    current = boxes[0]
    for box in boxes[1:]:
        if box.x0 - current.x1 > gap_em * (box.y1 - box.y0):
            yield current
            current = box
        else:
            current = current.union(box)
    yield current


def _is_level(first: Rect, other: Rect) -> bool:
    return 2 * (min(first.y1, other.y1) - max(first.y0, other.y0)) >= min(first.y1 - first.y0, other.y1 - other.y0)


def _swap(box: Rect) -> Rect:
    return Rect(box.y0, box.x0, box.y1, box.x1)


class _RawLine(NamedTuple):
    """A run as PyMuPDF gives it: only `bbox` is in display space. Kept by the thousand, so it is small."""

    bbox: Rect
    characters: tuple[str, ...]
    boxes: tuple[tuple[float, float, float, float], ...]
    is_vertical: bool
    matrix: Any | None


def _page_lines(rendition: Path, page_number: int) -> tuple[_RawLine, ...]:
    """The runs of text on a page; none if the page cannot be read."""
    return _of_page(_read_lines, rendition, page_number)


def _of_page(read: Callable[[Path, int, int], Kept], rendition: Path, page_number: int) -> Kept:
    """What `read` finds on a page, or has kept of it while the file stays as it is."""
    with LOCK:
        try:
            return read(rendition, rendition.stat().st_mtime_ns, page_number)
        except FileNotFoundError as error:
            raise errors.NotFoundError(f"The file “{rendition.name}” is gone. Ingest the document again.") from error


@functools.lru_cache(maxsize=KEPT_PAGES)
def _read_lines(rendition: Path, modified: int, page_number: int) -> tuple[_RawLine, ...]:  # noqa: ARG001  # part of the key
    with open_pdf(rendition) as document:
        try:
            page = document[page_number - 1]
            matrix = display_matrix(page)
            blocks = page.get_text("rawdict", flags=TEXT_FLAGS)["blocks"]
        except FAILURES:
            return ()
        return tuple(_raw_line(line, matrix) for block in blocks for line in block.get("lines", ()))


@functools.lru_cache(maxsize=KEPT_PAGES)
def _read_grid(rendition: Path, modified: int, page_number: int) -> PageGrid | None:  # noqa: ARG001  # part of the key
    with open_pdf(rendition) as document:
        try:
            return PageGrid.read(document, document[page_number - 1])
        except FAILURES:
            return None


def _raw_line(line: dict[str, Any], matrix: Any | None) -> _RawLine:
    characters = [char for span in line["spans"] for char in span["chars"]]
    x, y = line["dir"]
    turned = matrix is not None and abs(matrix.a) < abs(matrix.b)
    return _RawLine(
        to_display(line["bbox"], matrix),
        tuple(char["c"] for char in characters),
        tuple(char["bbox"] for char in characters),
        (abs(x) < abs(y)) != turned,
        matrix,
    )


def _run(raw: _RawLine) -> Run:
    characters: list[str] = []
    boxes: list[Rect] = []
    for character, box in zip(raw.characters, raw.boxes, strict=True):
        content = character_cleaning.squash(character)
        if content:
            characters.append(content)
            boxes.append(boxes[-1] if boxes and _has_no_width(box) else to_display(box, raw.matrix))
    return Run(raw.bbox, "".join(characters), tuple(boxes), raw.is_vertical)


def _has_no_width(box: tuple[float, float, float, float]) -> bool:
    """So it is with the later letters of a ligature, which MuPDF takes apart: they share the first one's box."""
    return box[2] - box[0] < 0.01 and box[3] - box[1] > 0.01
