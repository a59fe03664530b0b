"""Parse a rendition in this process, and assemble a document from its pages: number the lines, find heading levels."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rag import tables, types
from rag.parsing import metadata
from rag.parsing.pdf import page_labels
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, open_pdf
from rag.parsing.pdf.pages import PageContent, parse_page
from rag.parsing.pdf.text_lines import RawBlock, bounds

LARGER_THAN_BODY = 1.12
MAX_HEADING_LINES = 3
MAX_HEADING_CHARS = 200
MAX_BOLD_HEADING_CHARS = 120
MAX_SENTENCE_HEADING_CHARS = 40
"""Longer text with a final full stop is a sentence, whatever its size."""
MAX_LEVEL = 6
MARGIN = 0.13
"""Height of running headers and footers as a share of the page."""
MIN_REPEATS = 3
"""Least number of pages with a running header or footer."""
_NEVER_HEADINGS = frozenset({types.BlockKind.TABLE, *types.SET_APART})
MAX_SHARE = 0.5
"""A first or last block of more pages than this share is a running header or footer at any height."""
Columns = Sequence[tuple[float, float]]

_CAPTION_KINDS = frozenset({types.BlockKind.TEXT, types.BlockKind.HEADING})


def parse_rendition(path: Path) -> types.ParsedDocument:
    """Parse the PDF at `path`.

    Raises:
        errors.NotFoundError: the file is missing.
        errors.UnreadableFileError: the file is damaged or no PDF.
    """
    with open_pdf(path) as document:
        file_metadata = metadata.read_metadata(document)
        parsed = assemble(iter_pages(document), file_metadata.title)
    return parsed.model_copy(update={"author": file_metadata.author, "dated": file_metadata.dated})


def iter_pages(document: Any) -> Iterator[PageContent]:
    """Yield every page's content; a page that fails has an error and no blocks."""
    labels: list[str | None] = [None] * document.page_count
    try:
        if document.get_page_labels():
            labels = [document[index].get_label() for index in range(document.page_count)]
    except MUPDF_ERRORS:
        pass  # a damaged page, or a damaged list of labels
    for index, label in enumerate(labels):
        yield parse_page(document, index, label=label)


def assemble(pages: Iterable[PageContent], metadata_title: str | None = None) -> types.ParsedDocument:
    """Assemble the document, with lines numbered from 1 in reading order."""
    contents = list(pages)
    body = _body_size(contents)
    repeated = _running_headers(contents)
    levels = _levels(contents, body, repeated)
    blocks: list[types.TextBlock] = []
    number = 1
    table_reader = TableReader()
    for content in contents:
        running = [_is_running(raw, repeated) for raw in content.blocks]
        rows = table_reader.read_page(content.blocks, running)
        for index, raw in enumerate(content.blocks):
            heads = _key(raw) not in repeated and not metadata.is_letterhead(_text(raw), content.info.number)
            is_sheet_name = content.has_grid and raw.kind is types.BlockKind.HEADING
            level = 1 if is_sheet_name else _level(raw, body, levels) if heads else None
            blocks.append(_number(raw, content.info.number, number, level, rows.get(index)))
            number += len(raw.lines)
    return types.ParsedDocument(
        title=metadata.find_title(metadata_title, blocks),
        pages=page_labels.add_printed_labels([content.info for content in contents], blocks),
        blocks=tuple(blocks),
    )


def _number(
    raw: RawBlock, page_number: int, first: int, level: int | None, rows: Sequence[types.TableRow] | None
) -> types.TextBlock:
    own = raw.kind if raw.kind in _NEVER_HEADINGS else types.BlockKind.TEXT
    kind = own if level is None else types.BlockKind.HEADING
    lines = tuple(
        types.Line(
            number=first + offset,
            page_number=page_number,
            bbox=line.bbox,
            text=line.text,
            kind=kind,
            starts_block=offset == 0,
            is_bold=raw.bold and kind is types.BlockKind.TEXT,
            row=rows[offset] if rows else None,
        )
        for offset, line in enumerate(raw.lines)
    )
    return types.TextBlock(
        page_number=page_number,
        bbox=bounds(line.bbox for line in lines),
        line_start=first,
        line_end=first + len(lines) - 1,
        text="\n".join(line.text for line in lines),
        kind=kind,
        level=level,
        lines=lines,
    )


def _body_size(contents: Sequence[PageContent]) -> float:
    """Return the type size of most characters, rounded to half points."""
    sizes: Counter[float] = Counter()
    for content in contents:
        for block in content.blocks:
            if block.kind not in _NEVER_HEADINGS:
                sizes[_round(block.size)] += _length(block)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _running_headers(contents: Sequence[PageContent]) -> set[str]:
    """Return texts, numbers aside, in the margin of several pages, or first or last on most of them."""
    in_margin: Counter[str] = Counter()
    at_end: Counter[str] = Counter()
    for content in contents:
        height = content.info.height
        marginal = {
            _key(block)
            for block in content.blocks
            if block.lines[-1].bbox.y1 < MARGIN * height or block.lines[0].bbox.y0 > (1 - MARGIN) * height
        }
        in_margin.update(marginal)
        at_end.update({_key(content.blocks[0]), _key(content.blocks[-1])} if content.blocks else ())
    most = max(MIN_REPEATS, MAX_SHARE * len(contents) + 1)
    return {key for key, count in in_margin.items() if count >= MIN_REPEATS} | {
        key for key, count in at_end.items() if count >= most and "#" not in key
    }


def _is_running(block: RawBlock, repeated: Container[str]) -> bool:
    """Whether a block is a running header or footer, or a page number; figures alone may be the end of a table."""
    if re.search(r"[^\W\d_]{2}", _text(block)) is None:
        return block.kind is not types.BlockKind.TABLE
    return _key(block) in repeated


def _key(block: RawBlock) -> str:
    return re.sub(r"\d+", "#", _text(block))


def _text(block: RawBlock) -> str:
    return " ".join(line.text for line in block.lines)


def _levels(contents: Sequence[PageContent], body: float, repeated: set[str]) -> list[float]:
    """Return the sizes of headings larger than the body, largest first."""
    sizes = {
        _round(block.size)
        for content in contents
        for block in content.blocks
        if _is_short(block) and block.size >= LARGER_THAN_BODY * body and _key(block) not in repeated
    }
    return sorted(sizes, reverse=True)


def _level(block: RawBlock, body: float, levels: Sequence[float]) -> int | None:
    """Return a heading's level by the rank of its size, bold type of the body's size last; None for other text."""
    if not _is_short(block):
        return None
    if block.size >= LARGER_THAN_BODY * body:
        return min(1 + levels.index(_round(block.size)), MAX_LEVEL)
    last = block.lines[-1].text
    is_heading = block.kind is types.BlockKind.HEADING or (
        block.bold
        and block.size >= 0.95 * body
        and _length(block) <= MAX_BOLD_HEADING_CHARS
        and not last.endswith((".", ",", ";", ":"))
        and not block.lines[0].text.startswith("(")
    )
    return min(1 + len(levels), MAX_LEVEL) if is_heading else None


def _is_short(block: RawBlock) -> bool:
    return (
        block.kind not in _NEVER_HEADINGS
        and len(block.lines) <= MAX_HEADING_LINES
        and _length(block) <= (MAX_SENTENCE_HEADING_CHARS if block.lines[-1].text.endswith(".") else MAX_HEADING_CHARS)
        and sum(map(str.isalpha, "".join(line.text for line in block.lines))) >= 3
    )


def _length(block: RawBlock) -> int:
    return sum(len(line.text) for line in block.lines)


def _round(size: float) -> float:
    return round(2 * size) / 2


class TableReader:
    """Explains tables page by page, and knows the one at the end of the last page."""

    def __init__(self) -> None:
        self._heading: tables.Heading | None = None
        self._columns: Columns = ()

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
            if places is None or self._heading is None:
                self._heading, self._columns = tables.Heading(caption), block.columns
            rows[index] = [self._heading.explain(row) for row in _placed(block, places)]
        if body and blocks[body[-1]].kind is not types.BlockKind.TABLE:
            self._heading = None
        return rows


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
        if blocks[index].kind not in _CAPTION_KINDS:
            break
        texts.insert(0, " ".join(line.text for line in blocks[index].lines))
    return tables.SEPARATOR.join(tables.caption_rows(texts))
