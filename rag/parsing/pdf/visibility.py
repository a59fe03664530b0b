"""Tell which text of a page is struck out, and which nobody sees: pale, tiny, covered, or drawn without ink.

Few pages have text that may be either. Only these are read character by character and rendered: a word without contrast
in the rendered page is hidden, whatever the reason. Invisible text over a picture was recognised there, and stays.
"""

import functools
import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

from rag import types
from rag.parsing.pdf import line_characters
from rag.parsing.pdf.character_cleaning import is_readable
from rag.parsing.pdf.mupdf import HIDDEN_COLOR, Box, around, display_matrix, pymupdf

MIN_SIZE_PT = 1.5
"""Smaller type is a dot to the eye; the smallest type in print has 3 points."""
MIN_ALPHA = 20
"""Opacity, of 255, below which text leaves no visible ink."""
MIN_CONTRAST = 24
"""Least difference in brightness, of 255, between the pixels of a visible word: about 1.2 : 1 on white paper."""
PALE = 215
"""Brightness, of 255, from which text may be invisible on white paper."""
DARK = 60
"""Brightness up to which a shape covers text in any blend mode."""
MAX_STRIKE_PT = 2.5
"""Thicker lines through text are bars. MuPDF's box of a drawn line is twice as high as the line."""
STRIKE_ZONE = 0.3, 0.7
"""Where a line strikes text out, as shares of its height."""
MAX_BAR_EM = 3.0
"""Taller outlines are frames around text. A lower one may be a thick line, which the rendered page tells."""
ZOOM = 2.0
"""Pixels per point when looking for ink."""
MAX_PIXELS = 20_000_000
MIN_COVER_EM = 0.3
"""Width, in line heights, of the part of a line that a shape must cover: the grounds of neighbours may touch."""
_STEP_PT = 4.0
_SHAPE = 3
"""PyMuPDF's type of blocks of shapes."""
_INKED = 16 | 32
"""MuPDF's flags of filled and of stroked characters."""


class StyledLine(NamedTuple):
    """One of MuPDF's lines, or a part of it of one kind: TEXT, STRUCK or HIDDEN.

    `spans` are MuPDF's, with their text; `bbox` is on PyMuPDF's unrotated page.
    """

    bbox: Box
    direction: tuple[float, float]
    spans: Sequence[Mapping[str, Any]]
    kind: types.BlockKind = types.BlockKind.TEXT


class PageText(NamedTuple):
    """The lines of a page, its shapes as MuPDF's blocks, and what they were read from (a `pymupdf.TextPage`)."""

    lines: list[StyledLine]
    shapes: list[Any]
    source: Any


def read_page(page: Any, flags: int, *, with_characters: bool = False) -> PageText:
    """Read a page's lines, divided where the kind of their text changes.

    `flags` are those of the text extraction. The spans have `chars` if asked.
    """
    source = page.get_textpage(flags=flags | pymupdf.TEXT_COLLECT_VECTORS)
    blocks = page.get_text("rawdict" if with_characters else "dict", textpage=source)["blocks"]
    if not with_characters and line_characters.is_suspect(blocks):
        blocks = page.get_text("rawdict", textpage=source)["blocks"]
        with_characters = True
    if with_characters:
        line_characters.correct(blocks)
    shapes = [block for block in blocks if block["type"] == _SHAPE]
    marks = _Marks(page, blocks)
    if not (with_characters or marks.strikes or marks.doubtful):
        lines = [line for block in blocks for line in block.get("lines", ())]
        return PageText([StyledLine(line["bbox"], line["dir"], line["spans"]) for line in lines], shapes, source)
    if not with_characters:
        blocks = page.get_text("rawdict", textpage=source)["blocks"]
    lines = [line for block in blocks for line in block.get("lines", ())]
    divided = [part for index, line in enumerate(lines) for part in _divided(index, line, marks)]
    return PageText(divided, shapes, source)


def _divided(index: int, line: Mapping[str, Any], marks: "_Marks") -> Iterator[StyledLine]:
    spans = [_with_text(span, span["chars"]) for span in line["spans"]]
    if index not in marks.strikes and index not in marks.doubtful:
        yield StyledLine(line["bbox"], line["dir"], spans)
        return
    kinds: list[tuple[types.BlockKind, Mapping[str, Any], Sequence[Any]]] = []
    for span in spans:
        for is_space, run in groupby(span["chars"], key=lambda char: char["c"].isspace()):
            word = [*run]
            if is_space and kinds:
                kinds.append((kinds[-1][0], span, word))
            else:
                kinds += [(marks.kind(index, span, part), span, part) for part in marks.parts(index, word)]
    for kind, parts in groupby(kinds, key=lambda part: part[0]):
        found = [_with_text(span, chars) for _, span, chars in parts]
        box = around(char["bbox"] for span in found for char in span["chars"])
        yield StyledLine(box, line["dir"], found, kind)


def _with_text(span: Mapping[str, Any], chars: Sequence[Any]) -> Mapping[str, Any]:
    return {**span, "chars": chars, "text": "".join(char["c"] for char in chars), "origin": chars[0]["origin"]}


def _text(span: Mapping[str, Any]) -> str:
    return str(span["text"]) if "text" in span else "".join(char["c"] for char in span["chars"])


class _Marks:
    """What is drawn on a page over its text: lines that strike it out, and what may hide it.

    `strikes` has the rules that run through MuPDF's lines, by their index; `doubtful` are the indices of lines
    with words that may be hidden.
    """

    def __init__(self, page: Any, blocks: Sequence[Mapping[str, Any]]) -> None:
        self._page = page
        self._lines = [(line, n) for n, block in enumerate(blocks) for line in block.get("lines", ())]
        self._turned = 2 * sum(abs(line["dir"][0]) < 0.5 for line, _ in self._lines) > len(self._lines)
        self._boxes = [self._upright(line["bbox"]) for line, _ in self._lines]
        self.strikes: dict[int, list[Box]] = defaultdict(list)
        self.doubtful: set[int] = set()
        self._dark: dict[int, list[Box]] = defaultdict(list)
        faint = {n for n, (line, _) in enumerate(self._lines) if any(map(_is_faint, line["spans"]))}
        grounded = self._compare([(block, n) for n, block in enumerate(blocks) if block["type"] == _SHAPE])
        self.doubtful |= {n for n in faint if n not in grounded or any(map(_lacks_ink, self._lines[n][0]["spans"]))}

    def _upright(self, box: Box) -> Box:
        """Return a box on the page turned so that most of its text is level."""
        return (box[1], box[0], box[3], box[2]) if self._turned else box

    def _compare(self, shapes: Sequence[tuple[Mapping[str, Any], int]]) -> set[int]:
        """Find the shapes that strike out or may hide lines; return the lines on a ground of another brightness."""
        rows: dict[int, list[int]] = defaultdict(list)
        for index, (_, y0, _, y1) in enumerate(self._boxes):
            rows[int((y0 + y1) / 2 // _STEP_PT)].append(index)
        grounded: set[int] = set()
        for shape, order in shapes:
            x0, y0, x1, y1 = box = self._upright(shape["bbox"])
            if y1 - y0 <= MAX_STRIKE_PT * (2 if shape["stroked"] else 1):
                step = int((y0 + y1) / 2 // _STEP_PT)
                near = [index for one in (step - 1, step, step + 1) for index in rows.get(one, ())]
                self._strike(box, [index for index in near if _crosses(box, self._boxes[index])])
            elif x1 - x0 > MAX_STRIKE_PT and shape["alpha"] >= MIN_ALPHA:
                for step in range(int(y0 // _STEP_PT), int(y1 // _STEP_PT) + 1):
                    for index in rows.get(step, ()):
                        left, top, right, bottom = self._boxes[index]
                        reach = MIN_COVER_EM * (bottom - top)
                        if y0 < (top + bottom) / 2 < y1 and x0 < right - reach and left + reach < x1:
                            grounded |= self._cover(index, box, shape, order)
        return grounded

    def _strike(self, rule: Box, indices: Sequence[int]) -> None:
        """Strike out lines on one level, unless the rule extends far beyond their text, as those of charts do."""
        if not indices:
            return
        level = [self._boxes[index] for index in indices]
        em = max(y1 - y0 for _, y0, _, y1 in level)
        if min(x0 for x0, *_ in level) - em < rule[0] and rule[2] < max(x1 for _, _, x1, _ in level) + em:
            for index in indices:
                self.strikes[index].append(rule)

    def _cover(self, index: int, box: Box, shape: Mapping[str, Any], order: int) -> set[int]:
        """Note whether a shape may hide line `index` below it; return the line if it is its ground."""
        line, line_order = self._lines[index]
        is_later = order > line_order
        if shape["stroked"]:
            _, top, _, bottom = self._boxes[index]
            if is_later and box[3] - box[1] <= MAX_BAR_EM * (bottom - top):
                self.doubtful.add(index)
            return set()
        shade = _brightness(shape["color"])
        if is_later or any(abs(_brightness(span["color"]) - shade) < MIN_CONTRAST for span in line["spans"]):
            self.doubtful.add(index)
            if is_later and shade < DARK:
                self._dark[index].append(box)
            return set()
        return {index}

    def parts(self, index: int, word: Sequence[Any]) -> Iterator[Sequence[Any]]:
        """Divide a word where a line through it begins or ends."""
        for _, part in groupby(word, key=lambda char: self._is_struck(index, char["bbox"])):
            yield [*part]

    def kind(self, index: int, span: Mapping[str, Any], word: Sequence[Any]) -> types.BlockKind:
        """Return the kind of a word of line `index`."""
        box = around(char["bbox"] for char in word)
        if index in self.doubtful and self._is_hidden(index, span, box):
            return types.BlockKind.HIDDEN
        return types.BlockKind.STRUCK if self._is_struck(index, word[0]["bbox"]) else types.BlockKind.TEXT

    def _is_struck(self, index: int, box: Box) -> bool:
        upright = self._upright(box)
        middle = (upright[0] + upright[2]) / 2
        return any(rule[0] < middle < rule[2] and _crosses(rule, upright) for rule in self.strikes.get(index, ()))

    def _is_hidden(self, index: int, span: Mapping[str, Any], box: Box) -> bool:
        if span["color"] == HIDDEN_COLOR or span["size"] < MIN_SIZE_PT:
            return True
        if not span["char_flags"] & _INKED or span["alpha"] < MIN_ALPHA:
            return not self._is_recognised(index, box)
        return self._is_below_ink(index, box) or not self._has_contrast(box)

    def _is_below_ink(self, index: int, box: Box) -> bool:
        """Whether a dark shape covers a word, whatever is written on it; an arrow leaves most of its box free."""
        x0, y0, x1, y1 = self._upright(box)
        place = (x0 + x1) / 2, (y0 + y1) / 2
        if not any(_contains(dark, place) for dark in self._dark.get(index, ())):
            return False
        pixels = self._pixels(box)
        return bool(pixels) and statistics.median(pixels) < DARK + MIN_CONTRAST

    def _is_recognised(self, index: int, box: Box) -> bool:
        """Whether invisible text lies over a picture, or over drawn letters that are no text or unknown."""
        place = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        if any(_contains(image, place) for image in self._images):
            return True
        others = (line for n, (line, _) in enumerate(self._lines) if n != index and _contains(line["bbox"], place))
        is_over_text = any(
            span["char_flags"] & _INKED and is_readable(_text(span)) for line in others for span in line["spans"]
        )
        return not is_over_text and self._has_contrast(box)

    @cached_property
    def _images(self) -> list[Box]:
        return [image["bbox"] for image in self._page.get_image_info()]

    @cached_property
    def _picture(self) -> tuple[Any, float]:
        area = max(1.0, self._page.rect.width * self._page.rect.height)
        zoom = min(ZOOM, (MAX_PIXELS / area) ** 0.5)
        return self._page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False), zoom

    def _has_contrast(self, box: Box) -> bool:
        pixels = self._pixels(box)
        return bool(pixels) and max(pixels) - min(pixels) >= MIN_CONTRAST

    def _pixels(self, box: Box) -> bytes:
        """Return the pixels in the middle of a word's box, without its edges, which other ink may touch."""
        picture, zoom = self._picture
        matrix = display_matrix(self._page)
        shown = pymupdf.Rect(box) if matrix is None else pymupdf.Rect(box) * matrix
        inset = 0.2 * min(shown.width, shown.height)
        middle = pymupdf.Rect(shown.x0 + inset, shown.y0 + inset, shown.x1 - inset, shown.y1 - inset)
        area = (middle * zoom).irect & picture.irect
        rows = [
            picture.samples_mv[y * picture.stride + area.x0 : y * picture.stride + area.x1]
            for y in range(area.y0, area.y1)
        ]
        return b"".join(rows)


def _is_faint(span: Mapping[str, Any]) -> bool:
    """Whether a span with words may be invisible by itself, or is so pale that its ground decides."""
    return (span["color"] != 0 and _brightness(span["color"]) >= PALE and _has_words(span)) or _lacks_ink(span)


def _lacks_ink(span: Mapping[str, Any]) -> bool:
    """Whether a span with words may be invisible on any ground: not drawn, tiny, or in the colour of hidden text."""
    return (
        not span["char_flags"] & _INKED
        or span["alpha"] < MIN_ALPHA
        or span["size"] < MIN_SIZE_PT
        or span["color"] == HIDDEN_COLOR
    ) and _has_words(span)


def _has_words(span: Mapping[str, Any]) -> bool:
    if "text" in span:
        return bool(span["text"].strip())
    return any(not char["c"].isspace() for char in span["chars"])


@functools.lru_cache(4096)
def _brightness(color: int) -> float:
    """Return the brightness of an sRGB colour, of 255 (luma of ITU-R BT.601)."""
    return 0.299 * (color >> 16 & 255) + 0.587 * (color >> 8 & 255) + 0.114 * (color & 255)


def _crosses(rule: Box, line: Box) -> bool:
    """Whether a thin rule runs through the middle of a line or a character."""
    height = line[3] - line[1]
    low, high = (line[1] + share * height for share in STRIKE_ZONE)
    return low < (rule[1] + rule[3]) / 2 < high and rule[0] < line[2] and line[0] < rule[2]


def _contains(box: Box, place: tuple[float, float]) -> bool:
    return box[0] <= place[0] <= box[2] and box[1] <= place[1] <= box[3]
