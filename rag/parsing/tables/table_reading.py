"""Explain the rows of the tables of a document: caption, heads and sections, also of those that go on over pages."""

from collections.abc import Iterator, Mapping, Sequence

from rag import tables, types
from rag.parsing.pdf.text_lines import RawBlock

Columns = Sequence[tuple[float, float]]

MAX_OPEN_ROWS = 3
"""A table with more rows has begun, even without figures."""
ABOVE = frozenset({types.BlockKind.TEXT, types.BlockKind.HEADING})


class TableReader:
    """Explains tables page by page, and knows the one at the end of the last page."""

    def __init__(self) -> None:
        self._heading: tables.Heading | None = None
        self._columns: Columns = ()
        self._names: list[tables.PlacedRow] = []
        """The rows of a table without figures so far, which may be the heads of what follows on the next page."""

    def read_page(self, blocks: Sequence[RawBlock], running: Sequence[bool]) -> Mapping[int, list[types.TableRow]]:
        """Return the rows of each table by its index in `blocks`; `running` says which are headers and footers."""
        rows: dict[int, list[types.TableRow]] = {}
        body = [index for index, is_running in enumerate(running) if not is_running]
        for position, index in enumerate(body):
            block = blocks[index]
            if block.kind is not types.BlockKind.TABLE:
                continue
            places = _same_columns(block.columns, self._columns) if position == 0 and self._heading else None
            caption = _caption(blocks, body[:position])
            if (
                position == 0
                and self._heading
                and self._names
                and any(tables.is_data(line.text) for line in block.lines)
            ):
                self._heading = tables.Heading(self._heading.caption)  # the page ended within the heads
                for row in self._names:
                    self._heading.explain(row._replace(cells=_moved(row.cells, self._columns, block.columns)))
                places, self._columns = [*range(len(block.columns))], block.columns
            elif places is None or self._heading is None:
                self._heading, self._columns = tables.Heading(caption), block.columns
            placed = [*_placed(block, places)]
            is_open = len(placed) <= MAX_OPEN_ROWS and not any(tables.is_data(row.text) for row in placed)
            self._names = [row._replace(is_head=True) for row in placed] if is_open else []
            rows[index] = [self._heading.explain(row) for row in placed]
        if body and blocks[body[-1]].kind is not types.BlockKind.TABLE:
            self._heading = None
        return rows


def _moved(cells: Sequence[types.TableCell], begun: Columns, columns: Columns) -> tuple[types.TableCell, ...]:
    """Return the cells in the columns of the next page."""
    moved: list[types.TableCell] = []
    for cell in cells:
        left, right = begun[cell.first][0], begun[cell.last][1]
        covered = [number for number, (x0, x1) in enumerate(columns) if left <= (x0 + x1) / 2 <= right] or [0]
        moved.append(types.TableCell(covered[0], covered[-1]))
    return tuple(moved)


def _placed(block: RawBlock, places: Sequence[int] | None) -> Iterator[tables.PlacedRow]:
    """Yield the rows of a block, of a table that goes on in the columns that it began with."""
    for line in block.lines:
        cells = line.cells
        if places is not None:
            cells = tuple(cell._replace(first=places[cell.first], last=places[cell.last]) for cell in cells)
        yield tables.PlacedRow(line.text, line.bbox, cells, line.is_head, line.label)


def _same_columns(columns: Columns, begun: Columns) -> list[int] | None:
    """Return which of the columns `begun` on the last page each of `columns` is; None if they are others."""
    if not columns or len(columns) > len(begun):
        return None
    places: list[int] = []
    for left, right in columns:
        overlaps = [min(right, end) - max(left, start) for start, end in begun]
        place = max(range(len(begun)), key=overlaps.__getitem__)
        if overlaps[place] <= 0 or (places and place <= places[-1]):
            return None
        places.append(place)
    return places


def _caption(blocks: Sequence[RawBlock], above: Sequence[int]) -> str:
    """Return the caption of a table in the texts right above it."""
    texts: list[str] = []
    for index in reversed(above):
        if blocks[index].kind not in ABOVE:
            break
        texts.insert(0, " ".join(line.text for line in blocks[index].lines))
    return tables.SEPARATOR.join(tables.caption_rows(texts))
