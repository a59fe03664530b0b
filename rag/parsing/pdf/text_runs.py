"""Extract runs of text and ruling lines from a page, in display space.

MuPDF takes gaps below 0.8 em for spaces, so runs are split in which it joined the cells of a table.
"""

import enum
import functools
import re
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from rag import types
from rag.parsing.ocr.invisible_text import FONT
from rag.parsing.pdf import annotations, character_cleaning, visibility
from rag.parsing.pdf.mupdf import display_matrix, from_display, pymupdf, to_rect

TEXT_FLAGS = pymupdf.TEXT_PRESERVE_WHITESPACE | pymupdf.TEXT_MEDIABOX_CLIP
"""Flags of every text extraction: ligatures are split for search, hyphens stay, unknown glyphs are U+FFFD."""

MIN_SPACED_LETTERS = 5
_SPACED_LETTERS = re.compile(rf"(?<!\S)(?:[^\W_]\s+){{{MIN_SPACED_LETTERS - 1},}}[^\W_](?!\S)")
WORD_GAP = 1.6
"""Gap between words that are set wide, in gaps between their letters."""
MAIN_SHARE = 0.15
COPY_EM = 0.15
"""Equal texts this close together are one text drawn twice."""
MAX_RAISED_SIZE = 0.9
"""Size of a raised mark as a share of the type beside it."""
MIN_RISE_EM = 0.15
"""Least height of its baseline above that of the type beside it."""
SIGN_GAP_EM = 0.15
"""A bullet with a wider gap behind it is a word of its own."""
_BOLD_FONT = 16
_BOLD_CHARS = 8
CELL_GAP_EM = 0.45
"""A wider gap between two words of a row of figures parts cells; a space has 0.25 to 0.35 em."""
MAX_GLUED_CHARS = 80
"""Longer runs are text."""
_FIGURE = r"[$€£¥]?\s?\(?[-–−]?\d(?:[\d.,]*\d)?\)?%?"
_GLUED = re.compile(rf"(?:^|\s)(?:{_FIGURE}|[—–-]+)\s+(?={_FIGURE}(?:\s|$)|[$€£¥]$)")
_CURRENCY_SIGNS = frozenset("$€£¥")


class Direction(enum.Enum):
    """The writing direction on the displayed page."""

    RIGHT = enum.auto()
    DOWN = enum.auto()
    LEFT = enum.auto()
    UP = enum.auto()


_LEVEL = frozenset({Direction.RIGHT, Direction.LEFT})


class Piece(NamedTuple):
    """A run of text on one baseline. `order` is its index in the page's content, `size` is in points.

    `text` is stripped, but `bbox` includes white space at the ends, which `space_left` and `space_right` tell.
    Pieces that are `is_recognised` belong to the invisible layer over a picture. `kind` is TEXT, STRUCK or HIDDEN.
    """

    bbox: types.Rect
    text: str
    size: float
    bold: bool
    direction: Direction
    order: int
    is_recognised: bool = False
    space_left: bool = False
    space_right: bool = False
    kind: types.BlockKind = types.BlockKind.TEXT


class Rule(NamedTuple):
    """A drawn line or shape: its box, and whether it is a rectangle."""

    bbox: types.Rect
    is_rectangle: bool


def page_content(page: Any) -> tuple[list[Piece], list[Rule], Any]:
    """Extract the page's runs of text in content order, its rules, and the text page that they are from."""
    lines, shapes, source = read_page(page)
    if any(map(_is_letter_spaced, lines)):
        lines = [*map(_without_letter_spacing, read_page(page, with_characters=True).lines)]
    visible = to_rect(page.rect)
    matrix = display_matrix(page)
    # text beyond the crop box is never shown
    pieces = [*_without_copies(piece for piece in _pieces(lines, matrix) if visible.contains_center(piece.bbox))]
    rules = [Rule(to_display(block["bbox"], matrix), block["isrect"]) for block in shapes]
    return pieces, rules, source


def _without_copies(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield `pieces` without texts drawn again in one place, which imitates bold type or a shadow."""
    places: dict[str, list[types.Rect]] = defaultdict(list)
    for piece in pieces:
        others = places[piece.text]
        x, y, reach = piece.bbox.x0, piece.bbox.y0, max(COPY_EM * piece.size, 0.1)
        if not others or not any(abs(x - other.x0) < reach and abs(y - other.y0) < reach for other in others):
            others.append(piece.bbox)
            yield piece


def read_page(page: Any, *, with_characters: bool = False) -> visibility.PageText:
    """Read a page as `visibility.read_page` does, and the state of its form fields.

    Comments typed on the page are left out.
    """
    fields = annotations.replaced_fields(page)
    comments = [*annotations.comments(page)]
    hidden = [*filter(annotations.is_icon, comments), *(field.annotation for field in fields)]
    with annotations.hidden(hidden):
        lines, shapes, source = visibility.read_page(page, TEXT_FLAGS, with_characters=with_characters)
    for comment in filter(annotations.is_typed, comments):
        box = from_display(annotations.box(comment), page)
        words = annotations.letters(annotations.content(comment))
        lines = [line for line in lines if not (_text_in(line, box) and _text_in(line, box) in words)]
    return visibility.PageText([*lines, *(line for field in fields for line in field.lines)], shapes, source)


def _text_in(line: visibility.StyledLine, box: Any) -> str:
    """Return the letters of a line in `box`, "" if it is elsewhere."""
    x0, y0, x1, y1 = line.bbox
    if not box.contains(pymupdf.Point((x0 + x1) / 2, (y0 + y1) / 2)):
        return ""
    return annotations.letters("".join(span["text"] for span in line.spans))


def _is_letter_spaced(line: visibility.StyledLine) -> bool:
    """Whether a line has a run of single letters, as "B A L A N C E", that is no list of them in their order."""
    text = line.spans[0]["text"] if len(line.spans) == 1 else "".join([span["text"] for span in line.spans])
    if 3 * text.count(" ") < len(text) or (run := _SPACED_LETTERS.search(text)) is None:
        return False
    letters = run[0].split()
    steps = [ord(second) - ord(first) in (0, 1) for first, second in pairwise(letters)]
    return 2 * sum(steps) < len(steps)


def _without_letter_spacing(line: visibility.StyledLine) -> visibility.StyledLine:
    """Close the gaps between letters that are set wide, and keep those between words, which are much wider."""
    if not _is_letter_spaced(line):
        return line
    characters = [char for span in line.spans for char in span["chars"]]
    text = "".join(char["c"] for char in characters)
    along = 0 if abs(line.direction[0]) > abs(line.direction[1]) else 1
    for run in reversed([*_SPACED_LETTERS.finditer(text)]):
        letters = [char for char in characters[run.start() : run.end()] if not char["c"].isspace()]
        gaps = [
            max(one["bbox"][along], other["bbox"][along]) - min(one["bbox"][along + 2], other["bbox"][along + 2])
            for one, other in pairwise(letters)
        ]
        usual = statistics.median(gaps)
        closed = letters[0]["c"] + "".join(
            (" " if gap > WORD_GAP * usual else "") + letter["c"] for gap, letter in zip(gaps, letters[1:], strict=True)
        )
        text = text[: run.start()] + closed + text[run.end() :]
    return line._replace(spans=[{**line.spans[0], "text": text}])


def to_display(box: tuple[float, float, float, float], matrix: Any | None) -> types.Rect:
    """Convert a box of PyMuPDF's unrotated page to display space; `matrix` comes from `display_matrix`."""
    return to_rect(box if matrix is None else tuple(pymupdf.Rect(box) * matrix))


def _pieces(lines: Iterable[visibility.StyledLine], matrix: Any | None) -> Iterator[Piece]:
    order = 0
    for bbox, direction, spans, kind in lines:
        alone = len(spans) == 1
        main = spans[0] if alone else _main_span(spans)
        raw = spans[0]["text"] if alone else _with_superscripts(spans, main, direction)
        content = character_cleaning.clean(raw)
        if not content:
            continue
        bold = bool(main["flags"] & _BOLD_FONT or main["char_flags"] & _BOLD_CHARS)
        first, last = raw[0].isspace(), raw[-1].isspace()
        space_left, space_right = (last, first) if character_cleaning.is_right_to_left(raw) else (first, last)
        yield Piece(
            to_display(bbox, matrix),
            content,
            round(main["size"], 1),
            bold,
            _direction(direction, matrix),
            order,
            main["font"] == FONT,
            space_left,
            space_right,
            kind,
        )
        order += 1


def _with_superscripts(
    spans: Sequence[Mapping[str, Any]], main: Mapping[str, Any], direction: tuple[float, float]
) -> str:
    """Return the text of a line's spans, small ones above the baseline of the `main` span in superscripts."""
    text = ""
    (main_x, main_y), (along_x, along_y) = main["origin"], direction
    for span, following in zip(reversed(spans), (None, *reversed(spans)), strict=False):
        part, gap, (x, y) = span["text"], "", span["origin"]
        sign = part[-1:]
        if following and direction == (1, 0) and not sign.isascii() and unicodedata.category(sign) == "So":
            # MuPDF adds no space in a gap behind a sign or an unknown glyph
            gap = " " if following["bbox"][0] - span["bbox"][2] > SIGN_GAP_EM * span["size"] else ""
        rise = along_y * (x - main_x) - along_x * (y - main_y)
        if span["size"] <= MAX_RAISED_SIZE * main["size"] and rise >= MIN_RISE_EM * main["size"]:
            part = character_cleaning.superscript(part, text)
        text = part + gap + text
    return text


def _main_span(spans: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the span with the largest type of a relevant share: small capitals have large ones among them."""
    enough = MAIN_SHARE * sum(len(span["text"]) for span in spans)
    lengths: Counter[float] = Counter()
    for span in spans:
        lengths[span["size"]] += len(span["text"])
    size = max((size for size, length in lengths.items() if length >= enough), default=spans[0]["size"])
    return max((span for span in spans if span["size"] == size), key=lambda span: len(span["text"]))


def _direction(vector: tuple[float, float], matrix: Any | None) -> Direction:
    x, y = vector
    if matrix is not None:
        x, y = x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d
    if abs(x) >= abs(y):
        return Direction.RIGHT if x >= 0 else Direction.LEFT
    return Direction.DOWN if y > 0 else Direction.UP


def split_glued(page: Any, source: Any, pieces: Sequence[Piece]) -> list[Piece]:
    """Split the short runs of a page at wide gaps if some of them have several figures; `source` has its words."""
    if not any(len(piece.text) <= MAX_GLUED_CHARS and _GLUED.search(piece.text) for piece in pieces):
        return list(pieces)
    matrix = display_matrix(page)
    lines: dict[int, list[tuple[types.Rect, str]]] = defaultdict(list)
    axis = 1 if Counter(piece.direction for piece in pieces).most_common(1)[0][0] in _LEVEL else 0
    for x0, y0, x1, y1, text, *_ in page.get_text("words", textpage=source):
        box = types.Rect(x0, y0, x1, y1) if matrix is None else to_display((x0, y0, x1, y1), matrix)
        lines[round((box[axis] + box[axis + 2]) / 2)].append((box, text))
    return [part for piece in pieces for part in _unglued(piece, lines)]


def _unglued(piece: Piece, lines: dict[int, list[tuple[types.Rect, str]]]) -> list[Piece]:
    """Return the parts of a run between wide gaps, or the run itself if its words are not found again."""
    if " " not in piece.text or len(piece.text) > MAX_GLUED_CHARS:
        return [piece]
    along = 0 if piece.direction in _LEVEL else 1
    at = round((piece.bbox[1 - along] + piece.bbox[3 - along]) / 2)
    near = [word for place in (at - 1, at, at + 1) for word in lines[place] if piece.bbox.contains_center(word[0])]
    backwards = piece.direction in {Direction.UP, Direction.LEFT}
    words = sorted(near, key=lambda word: word[0][along], reverse=backwards)
    if character_cleaning.clean(" ".join(text for _, text in words)) != piece.text:
        return [piece]
    groups = [[words[0]]]
    for before, word in pairwise(words):
        first, second = (word, before) if backwards else (before, word)
        is_sign = word[1] in _CURRENCY_SIGNS and before[1][-1] in "0123456789)%—–-"
        if is_sign or second[0][along] - first[0][along + 2] > CELL_GAP_EM * piece.size:
            groups.append([])
        groups[-1].append(word)
    if len(groups) == 1:
        return [piece]
    return [
        piece._replace(
            bbox=to_rect(functools.reduce(types.Rect.union, (box for box, _ in group))),
            text=character_cleaning.clean(" ".join(text for _, text in group)),
        )
        for group in groups
    ]
