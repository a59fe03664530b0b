"""Find the boxes of a passage's characters on the page.

Lines were joined from runs of text. The runs inside a line's box are extracted again and aligned with the line's
characters, without white space, which gives each character its box.
"""

import functools
from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rag import errors, types
from rag.messages import N_
from rag.parsing.pdf import character_cleaning, visibility
from rag.parsing.pdf.mupdf import LOCK, MUPDF_ERRORS, display_matrix, open_pdf
from rag.parsing.pdf.text_runs import read_page, to_display
from rag.parsing.sheets.page_grid import PageGrid

TOLERANCE_PT = 0.1
"""Tolerated distance of a run's center from its line's box."""
CELL_GAP_EM = 1.0
"""In table rows, boxes with a wider gap are in different cells and stay separate."""
WORD_GAP_EM = 4.0
"""In running text, a gap wider than between words separates marks set over the line."""
T = TypeVar("T")
CACHED_PAGES = 32
"""Pages whose characters are cached for further quotes (about 0.5 MB each)."""


class Run(NamedTuple):
    """A run of text on the page: its characters without white space, and their boxes."""

    bbox: types.Rect
    text: str
    boxes: tuple[types.Rect, ...]
    is_vertical: bool


def locate(rendition: Path, passage: types.Passage, start: int, end: int) -> tuple[types.Region, ...]:
    """Return the displayed boxes of the characters `passage.text[start:end]`, one per line of print.

    Returns:
        A region per page; characters not found in the rendition have no box.

    Raises:
        errors.NotFoundError: the rendition is missing.
        errors.UnreadableFileError: the rendition cannot be read.
    """
    rects: dict[int, list[types.Rect]] = {}
    for line, first, last in _parts(passage.lines, start, end):
        if boxes := _line_boxes(rendition, line, first, last):
            rects.setdefault(line.page_number, []).extend(boxes)
    return tuple(
        types.Region(page_number=page, rects=tuple(rects[page]), cells=cell_names(rendition, page, rects[page]))
        for page in sorted(rects)
    )


def cell_names(rendition: Path, page_number: int, boxes: Iterable[types.Rect]) -> str | None:
    """Name the cells that `boxes` touch: “Balance!B14” or “Balance!B14:D14, B20”; None outside of sheets.

    Raises:
        errors.NotFoundError: the rendition is missing.
        errors.UnreadableFileError: the rendition cannot be read.
    """
    grid = _read_cached(_read_grid, rendition, page_number)
    return grid.name(boxes) if grid else None


def sheet_grids(rendition: Path) -> dict[int, PageGrid]:
    """Return the grids of the pages of a spreadsheet by page number; none of other documents.

    Raises:
        errors.NotFoundError: the rendition is missing.
        errors.UnreadableFileError: the rendition cannot be read.
    """
    with LOCK, open_pdf(rendition) as document:
        grids = {number: PageGrid.read(document, page) for number, page in enumerate(document, start=1)}
    return {number: grid for number, grid in grids.items() if grid is not None}


def _parts(lines: Sequence[types.Line], start: int, end: int) -> Iterator[tuple[types.Line, int, int]]:
    """Yield the lines of `lines_text(lines)[start:end]` with the offsets of these characters in the line."""
    offset = 0
    for index, line in enumerate(lines):
        if index:
            offset += 2 if line.starts_block else 1
        first, last = max(start - offset, 0), min(end - offset, len(line.text))
        if first < last:
            yield line, first, last
        offset += len(line.text)


def _line_boxes(rendition: Path, line: types.Line, first: int, last: int) -> list[types.Rect]:
    if line.kind is types.BlockKind.NOTE:
        return [line.bbox]  # the words of a comment are not drawn on the page
    before = len(character_cleaning.remove_whitespace(line.text[:first]))
    chosen = len(character_cleaning.remove_whitespace(line.text[first:last]))
    near = [
        run
        for run in _read_cached(_read_runs, rendition, line.page_number)
        if line.bbox.contains_center(run.bbox, TOLERANCE_PT)
    ]
    boxes = align_runs(near, line.text)
    if None in boxes:  # such as "2nd line", whose raised letters stand in a gap of the run "2 line"
        boxes = min(boxes, align_runs(_divided(near), line.text), key=lambda aligned: aligned.count(None))
    boxes = boxes[before : before + chosen]
    vertical = sum(run.is_vertical for run in near) * 2 > len(near)
    gap = CELL_GAP_EM if line.kind is types.BlockKind.TABLE else WORD_GAP_EM
    return merge_boxes((box for box in boxes if box is not None), vertical, gap_em=gap)


def align_runs(runs: Iterable[Run], text: str) -> list[types.Rect | None]:
    """Return a box for each character of `text` but white space from `runs` in any order; None where no run fits.

    Of the runs that fit, one that ends where a word ends is better than a longer one: "1  30  13" has no 13 in front.
    """
    # brackets of right-to-left text may have been mirrored, and raised marks written as superscripts
    words = [character_cleaning.remove_whitespace(word) for word in text.split()]
    ends = {*accumulate(map(len, words))}
    target = character_cleaning.normalize_drawing("".join(words))
    runs = [run._replace(text=character_cleaning.normalize_drawing(run.text)) for run in runs]
    boxes: list[types.Rect | None] = []
    free = sorted(runs, key=lambda run: run.bbox.x0, reverse=character_cleaning.is_right_to_left(target))
    while len(boxes) < len(target):
        fitting = [run for run in free if target.startswith(run.text, len(boxes))]
        if fitting:
            run = max(fitting, key=lambda run: (len(boxes) + len(run.text) in ends, len(run.text)))
            free.remove(run)
            boxes.extend(run.boxes)
        else:
            boxes.append(None)
    return boxes


def _divided(runs: Sequence[Run]) -> Iterator[Run]:
    for run in runs:
        inside = [other.bbox for other in runs if other is not run and run.bbox.contains_center(other.bbox)]
        places = [(box.x0 + box.x1) / 2 for box in inside]
        middles = [(box.x0 + box.x1) / 2 for box in run.boxes]
        cuts = sorted({0, len(middles), *(bisect(middles, place) for place in places)})
        for start, end in pairwise(cuts):
            boxes = run.boxes[start:end]
            yield run._replace(bbox=functools.reduce(types.Rect.union, boxes), text=run.text[start:end], boxes=boxes)


def merge_boxes(boxes: Iterable[types.Rect], vertical: bool, *, gap_em: float) -> list[types.Rect]:
    """Merge neighbouring boxes on one baseline unless their gap is wider than `gap_em` heights."""
    if vertical:
        return [_swap(box) for box in merge_boxes(map(_swap, boxes), False, gap_em=gap_em)]
    lines: list[list[types.Rect]] = []
    for box in boxes:
        line = next((line for line in lines if line[0].is_level_with(box)), None)
        if line is None:
            lines.append([box])
        else:
            line.append(box)
    return [merged for line in lines for merged in _merge_line(sorted(line), gap_em)]


def _merge_line(boxes: Sequence[types.Rect], gap_em: float) -> Iterator[types.Rect]:
    current = boxes[0]
    for box in boxes[1:]:
        if box.x0 - current.x1 > gap_em * (box.y1 - box.y0):
            yield current
            current = box
        else:
            current = current.union(box)
    yield current


def _swap(box: types.Rect) -> types.Rect:
    return types.Rect(box.y0, box.x0, box.y1, box.x1)


def _read_cached(read: Callable[[Path, int, int], T], rendition: Path, page_number: int) -> T:
    """Call the cached function `read`, whose cache is valid while the file is unchanged."""
    with LOCK:
        try:
            return read(rendition, rendition.stat().st_mtime_ns, page_number)
        except FileNotFoundError as error:
            raise errors.NotFoundError(
                N_("The file “{name}” is gone. Ingest the document again."), name=rendition.name
            ) from error


@functools.lru_cache(maxsize=CACHED_PAGES)
def _read_runs(rendition: Path, modified: int, page_number: int) -> tuple[Run, ...]:  # noqa: ARG001  # part of the key
    with open_pdf(rendition) as document:
        try:
            page = document[page_number - 1]
            matrix = display_matrix(page)
            lines = read_page(page, with_characters=True).lines
        except MUPDF_ERRORS:
            return ()
        return tuple(_run(line, matrix) for line in lines)


@functools.lru_cache(maxsize=CACHED_PAGES)
def _read_grid(rendition: Path, modified: int, page_number: int) -> PageGrid | None:  # noqa: ARG001  # part of the key
    with open_pdf(rendition) as document:
        try:
            return PageGrid.read(document, document[page_number - 1])
        except MUPDF_ERRORS:
            return None


def _run(line: visibility.StyledLine, matrix: Any | None) -> Run:
    characters: list[str] = []
    boxes: list[types.Rect] = []
    for char in (char for span in line.spans for char in span["chars"]):
        content = character_cleaning.remove_whitespace(char["c"])
        if content:
            x0, y0, x1, y1 = char["bbox"]
            characters.append(content)
            # a later letter of a split ligature has no width: it shares the first letter's box
            has_no_width = x1 - x0 < 0.01 and y1 - y0 > 0.01
            boxes.append(boxes[-1] if boxes and has_no_width else to_display(char["bbox"], matrix))
    x, y = line.direction
    turned = matrix is not None and abs(matrix.a) < abs(matrix.b)
    return Run(to_display(line.bbox, matrix), "".join(characters), tuple(boxes), (abs(x) < abs(y)) != turned)
