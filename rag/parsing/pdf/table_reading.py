"""Explain the rows of the tables of a document: caption, heads and sections, also of those that go on over pages."""

from collections.abc import Iterator, Mapping, Sequence

from rag.parsing.pdf.text_lines import RawBlock
from rag.types import BlockKind, TableRow, tables

Columns = Sequence[tuple[float, float]]

ABOVE = frozenset({BlockKind.TEXT, BlockKind.HEADING})


class TableReader:
    """Explains tables page by page, and knows the one at the end of the last page."""

    def __init__(self) -> None:
        self._heading: tables.Heading | None = None
        self._columns: Columns = ()
        self._last: list[tables.PlacedRow] = []
        self._are_names = False

    def read_page(self, blocks: Sequence[RawBlock], running: Sequence[bool]) -> Mapping[int, list[TableRow]]:
        """Return the rows of each table by its index in `blocks`; `running` says which are headers and footers."""
        rows: dict[int, list[TableRow]] = {}
        body = [index for index, is_running in enumerate(running) if not is_running]
        for position, index in enumerate(body):
            block = blocks[index]
            if block.kind is not BlockKind.TABLE:
                continue
            places = _same_columns(block.columns, self._columns) if position == 0 and self._heading else None
            if places is None or self._heading is None:
                self._heading = tables.Heading(_caption(blocks, body[:position]))
                self._columns = block.columns
            elif self._are_names:  # the page ended within the heads
                self._heading = tables.Heading(self._heading.caption)
                for row in self._last:
                    self._heading.explain(row._replace(is_head=True))
            placed = [*_placed(block, places, self._heading)]
            self._last, self._are_names = placed, len(placed) <= tables.MAX_HEADER_ROWS and not any(
                tables.is_data(row.text) for row in placed
            )
            rows[index] = [self._heading.explain(row) for row in placed]
        if body and blocks[body[-1]].kind is not BlockKind.TABLE:
            self._heading = None
        return rows


def _placed(
    block: RawBlock, places: Sequence[int] | None, heading: tables.Heading
) -> Iterator[tables.PlacedRow]:
    """Yield the rows of a block, of a table that goes on in the columns that it began with."""
    begun = [text for _, text in heading.heads]
    first = [text.strip() for line in block.lines if line.is_head for text in line.text.split("\t") if text.strip()]
    is_repeated = first == begun
    for line in block.lines:
        cells, is_head = line.cells, line.is_head
        if places is not None:
            cells = tuple(cell._replace(first=places[cell.first], last=places[cell.last]) for cell in cells)
            if is_head and is_repeated:
                yield tables.PlacedRow(line.text, line.bbox, cells, True)
                continue
        yield tables.PlacedRow(line.text, line.bbox, cells, is_head)


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
