"""Parse pages: size, label, and blocks in reading order."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rag import types
from rag.messages import N_
from rag.parsing.ocr import pictures
from rag.parsing.pdf import character_cleaning, reading_order, text_lines, text_runs
from rag.parsing.pdf.comments import read_comments
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, to_rect
from rag.parsing.pdf.text_runs import Direction, Piece, Rule
from rag.parsing.sheets.page_grid import PageGrid
from rag.parsing.tables import ruled_tables, table_grid

MAX_UNKNOWN_MARKS = 3
"""Unknown glyphs alone in a line that may be a mark such as a tick; more are a line that cannot be read."""

_INVERSE = {
    Direction.RIGHT: Direction.RIGHT,
    Direction.LEFT: Direction.LEFT,
    Direction.DOWN: Direction.UP,
    Direction.UP: Direction.DOWN,
}
"""The directions that undo the turns of `_rotate`."""


class PageContent(NamedTuple):
    """A parsed page. A page that failed has an error in `info` and no blocks.

    `characters` counts the page's characters without white space, for comparison with the blocks. `runs` are the texts
    that MuPDF reads, before they are joined to lines. `unknown_glyphs` counts glyphs without a
    known character.
    """

    info: types.PageInfo
    blocks: list[text_lines.RawBlock]
    characters: int = 0
    unknown_glyphs: int = 0
    has_grid: bool = False
    """Whether the page is of a sheet, whose headings and tables are known."""
    runs: Sequence[str] = ()


def parse_page(document: Any, index: int, *, label: str | None = None) -> PageContent:
    """Parse page `index` (from 0); errors are reported in `info`."""
    info = types.PageInfo(number=index + 1, width=0.0, height=0.0, label=label)
    try:
        page = document[index]
        box = to_rect(page.rect)
        info = types.PageInfo(number=index + 1, width=box.x1 - box.x0, height=box.y1 - box.y0, label=label)
        content, rules, source = text_runs.page_content(page)
        grid = PageGrid.read(document, page)
        if grid is not None:
            content = grid.without_labels(content)
        content, unknown_glyphs = _legible(content)
        comments = read_comments(page)
        noted = [line.text for block in comments for line in block.lines]
        characters = sum(len("".join(text.split())) for text in noted)
        characters += sum(len(piece.text) - piece.text.count(" ") for piece in content)
        runs = [*(piece.text for piece in content), *noted]
        plain = [piece for piece in content if piece.kind is types.BlockKind.TEXT]
        own, recognised = pictures.split_recognised(
            text_runs.split_glued(page, source, plain), pictures.recognised_boxes(page)
        )
        blocks = [*(_sheet_blocks(grid, own, rules, box) if grid is not None else page_blocks(own, rules, box))]
        apart = [(types.BlockKind.PICTURE, words) for words in recognised] + [
            (kind, [piece for piece in content if piece.kind is kind])
            for kind in (types.BlockKind.STRUCK, types.BlockKind.HIDDEN)
        ]
        for kind, pieces in apart:
            blocks += [block._replace(kind=kind) for block in page_blocks(pieces, (), box)]
        return PageContent(
            info if grid is None else info.model_copy(update={"label": grid.label}),
            [*blocks, *comments],
            characters,
            unknown_glyphs,
            has_grid=grid is not None,
            runs=runs,
        )
    except MUPDF_ERRORS as error:
        words = f"{type(error).__name__}: {error}"[:280]
        reason = N_("The page cannot be read ({error})").format(error=words)
        return PageContent(info.model_copy(update={"error": reason}), [])


def _legible(content: Sequence[Piece]) -> tuple[list[Piece], int]:
    """Leave out lines of unknown glyphs, except single marks, and count the unknown glyphs that nobody recognised."""
    most = 0 if any(piece.is_recognised for piece in content) else MAX_UNKNOWN_MARKS
    counts = [piece.text.count(character_cleaning.UNKNOWN) for piece in content]
    legible = [
        piece
        for piece, count in zip(content, counts, strict=True)
        if count == 0 or count <= most or character_cleaning.is_readable(piece.text)
    ]
    return legible, sum(counts) if most else sum(piece.text.count(character_cleaning.UNKNOWN) for piece in legible)


def _sheet_blocks(
    grid: PageGrid, pieces: Sequence[Piece], rules: Sequence[Rule], page_box: types.Rect
) -> Iterator[text_lines.RawBlock]:
    """Yield blocks of the sheet's name, the text above its cells, its cells, and the text below them."""
    parts = grid.split(pieces)
    below = [rule for rule in rules if rule.bbox.y0 > grid.rows[-1].end]
    yield from parts.headings
    yield from page_blocks(parts.above, (), page_box)
    yield from parts.cells
    yield from page_blocks(parts.below, below, page_box)


def page_blocks(pieces: Sequence[Piece], rules: Sequence[Rule], page_box: types.Rect) -> Iterator[text_lines.RawBlock]:
    """Yield blocks in reading order, text of the page's main direction first."""
    by_direction = Counter[Direction]()
    for piece in pieces:
        by_direction[piece.direction] += len(piece.text)
    for direction, _ in by_direction.most_common():
        of_direction = [piece for piece in pieces if piece.direction is direction]
        if direction is Direction.RIGHT:
            yield from _upright_blocks(of_direction, rules, page_box)
            continue
        turned = [piece._replace(bbox=_rotate(piece.bbox, direction)) for piece in of_direction]
        turned_rules = [rule._replace(bbox=_rotate(rule.bbox, direction)) for rule in rules]
        for block in _upright_blocks(turned, turned_rules, _rotate(page_box, direction)):
            lines = [line._replace(bbox=_rotate(line.bbox, _INVERSE[direction])) for line in block.lines]
            yield block._replace(lines=lines)


def _upright_blocks(
    pieces: Sequence[Piece], rules: Sequence[Rule], page_box: types.Rect
) -> Iterator[text_lines.RawBlock]:
    ruled, rest = ruled_tables.find_ruled_tables(pieces, rules, page_box)
    items: list[Piece | ruled_tables.Table] = [*rest, *ruled]
    for group in reading_order.reading_order(items):
        for block in text_lines.with_headers(_group_blocks(group)):
            made = table_grid.arrange(block) if block.kind is types.BlockKind.TABLE else block
            yield made._replace(lines=[line._replace(boxes=(), fields=()) for line in made.lines])


def _group_blocks(group: Sequence[Piece | ruled_tables.Table]) -> Iterator[text_lines.RawBlock]:
    loose: list[Piece] = []
    for item in sorted(group, key=lambda item: item.bbox.y0 + item.bbox.y1):
        if isinstance(item, Piece):
            loose.append(item)
        else:
            yield from text_lines.make_blocks(text_lines.make_rows(loose))
            loose = []
            yield item.block
    yield from text_lines.make_blocks(text_lines.make_rows(loose))


def _rotate(box: types.Rect, direction: Direction) -> types.Rect:
    """Rotate `box` as the page on which text in `direction` goes right."""
    match direction:
        case Direction.RIGHT:
            return box
        case Direction.LEFT:
            return types.Rect(-box.x1, -box.y1, -box.x0, -box.y0)
        case Direction.DOWN:
            return types.Rect(box.y0, -box.x1, box.y1, -box.x0)
        case Direction.UP:
            return types.Rect(-box.y1, box.x0, -box.y0, box.x1)
