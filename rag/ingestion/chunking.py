"""Split a document's blocks into chunks.

A chunk is a run of whole lines. It ends at a paragraph if possible, else at a line; only a line longer than a chunk is
split, at a space or else at a character. A chunk does not cross sections unless one is shorter than `min_chunk_chars`;
a table that fits stays whole. Text that is set apart (words in pictures, which are read later, comments, struck out and
hidden text) has chunks of its own, by page and kind. Every page with words is the main page of some chunk, since hits
are shown on main pages.
"""

import itertools
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import NamedTuple

from rag import tables, types

SECTION_SEPARATOR = " > "
MAX_CONTEXT_CHARS = 300
"""Maximum length of a context header line."""

_WORD_BOUNDARY = re.compile(r"[_\-.+]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
_HYPHEN_BREAK = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[^\W\d_A-Z])")
_SPACES = re.compile(r"[^\S\n]+")


def split_blocks(
    blocks: Sequence[types.TextBlock],
    *,
    document_id: uuid.UUID,
    name: str,
    title: str | None,
    options: types.ChunkingOptions,
) -> list[types.Chunk]:
    """Split `blocks` into chunks in reading order.

    Each chunk's context header has the file `name`, `title`, section headings and, in later parts of a table, its
    caption and header rows.
    """
    heading = document_heading(name, title)
    chunks: list[types.Chunk] = []
    found = [*_sections(tables.with_rows(blocks), options.chunk_size_chars)]
    sections = _join_short_sections((section for section in found if not section.is_set_apart), options)
    sections += [section for section in found if section.is_set_apart]
    cuts = [_Cut(section, start, end) for section in sections for start, end in _cut_section(section.lines, options)]
    cuts.sort(key=lambda cut: cut.lines[0].number)
    for cut in _split_shared_pages(cuts, options.min_chunk_chars):
        path = cut.section.path_at(cut.start)
        first, _, rest = path.partition(SECTION_SEPARATOR)
        below_title = rest if title and first.casefold() == title.casefold() else path
        header = [heading + (SECTION_SEPARATOR + below_title if below_title else "")]
        header += _table_header(cut.section.lines, cut.start)
        chunks.append(
            types.Chunk(
                id=uuid.uuid4(),
                document_id=document_id,
                ordinal=len(chunks),
                lines=cut.lines,
                section=path or None,
                context="\n".join(part[:MAX_CONTEXT_CHARS] for part in header if part),
            )
        )
    return chunks


def search_text(chunk: types.Chunk) -> str:
    """Return the text to embed and index: the context header and the text without hyphenation."""
    return f"{chunk.context}\n\n{flowing_text(chunk.text)}"


def flowing_text(text: str) -> str:
    """Join hyphenated words and the lines of each paragraph, and leave out raised marks."""
    joined = _HYPHEN_BREAK.sub("", types.without_raised_marks(text))
    paragraphs = [_SPACES.sub(" ", part.replace("\n", " ")).strip() for part in joined.split("\n\n")]
    return "\n".join(part for part in paragraphs if part)


def document_heading(name: str, title: str | None) -> str:
    """Return the file's name in words, and its title if different: "Acme 10K 2023 · Annual report"."""
    stem = PurePath(name).stem or name
    words = " ".join(_WORD_BOUNDARY.sub(" ", stem).split())
    if not title or title.casefold() in (stem.casefold(), words.casefold()):
        return words
    return f"{words} · {title}"


@dataclass
class _Section:
    path: str
    lines: list[types.Line] = field(default_factory=list)
    is_set_apart: bool = False
    joined: list[tuple[int, str]] = field(default_factory=list)
    """Start and path of short sections that were joined to this one."""

    def join(self, other: "_Section") -> None:
        self.joined.append((len(self.lines), other.path))
        self.lines.extend(other.lines)

    def path_at(self, line: int) -> str:
        return next((path for begin, path in reversed(self.joined) if begin <= line), self.path)


class _Cut(NamedTuple):
    """The range of a section's lines that becomes a chunk."""

    section: _Section
    start: int
    end: int

    @property
    def lines(self) -> tuple[types.Line, ...]:
        return tuple(self.section.lines[self.start : self.end])

    @property
    def main_page(self) -> int:
        """The main page of the chunk."""
        return types.pages_by_share(self.lines)[0]


def _length(lines: Sequence[types.Line]) -> int:
    return sum(len(line.text) + 1 for line in lines)


def _sections(blocks: Iterable[types.TextBlock], size: int) -> Iterator[_Section]:
    """Yield one section per heading, or per group of adjacent headings, then those of the text that is set apart."""
    headings: list[tuple[int, str]] = []
    section, has_body = _Section(path=""), False
    set_apart: dict[tuple[int, types.BlockKind], _Section] = {}
    for block in blocks:
        if block.kind in types.SET_APART:
            own = set_apart.setdefault((block.page_number, block.kind), _Section(section.path, is_set_apart=True))
            own.lines.extend(_pieces(block, size))
            continue
        is_heading = block.kind is types.BlockKind.HEADING
        if is_heading:
            level = block.level or 1
            headings = [entry for entry in headings if entry[0] < level] + [(level, " ".join(block.text.split()))]
            if has_body:
                yield section
                section, has_body = _Section(path=""), False
            section.path = SECTION_SEPARATOR.join(text for _, text in headings)
        has_body = has_body or not is_heading
        section.lines.extend(_pieces(block, size))
    if section.lines:
        yield section
    yield from set_apart.values()


def _pieces(block: types.TextBlock, size: int) -> Iterator[types.Line]:
    """Yield the block's non-empty lines, split to at most `size` characters."""
    for line in block.to_lines():
        if line.text.strip():
            yield from _split_long_line(line, size)


def _join_short_sections(sections: Iterable[_Section], options: types.ChunkingOptions) -> list[_Section]:
    """Join sections below the minimum size with their neighbour, up to a chunk's size."""
    joined: list[_Section] = []
    for section in sections:
        lengths = _length(joined[-1].lines) if joined else 0, _length(section.lines)
        if joined and min(lengths) < options.min_chunk_chars and sum(lengths) <= options.chunk_size_chars:
            joined[-1].join(section)
        else:
            joined.append(section)
    return joined


def _cut_section(lines: Sequence[types.Line], options: types.ChunkingOptions) -> Iterator[tuple[int, int]]:
    start = 0
    while (fit := _fit(lines, start, options.chunk_size_chars)) < len(lines):
        end = _paragraph_cut(lines, start, fit, options.min_chunk_chars) or fit
        yield start, end
        start = _overlap_start(lines, start, end, options.chunk_overlap_chars)
    yield start, len(lines)


def _split_shared_pages(cuts: Sequence[_Cut], least: int) -> list[_Cut]:
    """Split cuts again so that every page with words is the main page of a cut."""
    owners = Counter(cut.main_page for cut in cuts)
    shares: dict[int, Counter[int]] = defaultdict(Counter)
    for index, cut in enumerate(cuts):
        for line in cut.lines:
            shares[line.page_number][index] += len(line.text)
    homeless: dict[int, set[int]] = defaultdict(set)
    for page, share in shares.items():
        index = share.most_common(1)[0][0]
        has_words = any(char.isalpha() for line in cuts[index].lines if line.page_number == page for char in line.text)
        if page not in owners and has_words:
            homeless[index].add(page)
    parts: list[_Cut] = []
    for index, cut in enumerate(cuts):
        if homeless[index]:
            elsewhere = owners.keys() if owners[cut.main_page] > 1 else owners.keys() - {cut.main_page}
            parts += _with_remnants(_cut_out(cut, homeless[index]), homeless[index], elsewhere, least)
        else:
            parts.append(cut)
    return parts


def _with_remnants(parts: Iterable[_Cut], pages: Set[int], elsewhere: Set[int], least: int) -> list[_Cut]:
    """Join too short `parts` of pages with chunks `elsewhere` to the adjacent part of one of `pages`."""
    joined: list[_Cut] = []
    for part in parts:
        both = _Cut(part.section, joined[-1].start, part.end) if joined else part
        rest = [one for one in (*joined[-1:], part) if one.main_page not in pages]
        is_remnant = len(rest) == 1 and rest[0].main_page in elsewhere and _length(rest[0].lines) < least
        if joined and is_remnant and both.main_page in pages:
            joined[-1] = both
        else:
            joined.append(part)
    return joined


def _cut_out(cut: _Cut, pages: Set[int]) -> Iterator[_Cut]:
    numbers = [line.page_number for line in cut.lines]
    start = cut.start
    for _, part in itertools.groupby(numbers, key=lambda number: number in pages and number):
        end = start + len([*part])
        yield _Cut(cut.section, start, end)
        start = end


def _fit(lines: Sequence[types.Line], start: int, size: int) -> int:
    """Return the last end for which `lines[start:end]` has at most `size` characters, or a single line."""
    room = size - _length(lines[start : start + 1])
    end = start + 1
    while end < len(lines) and (room := room - _length(lines[end : end + 1])) >= 0:
        end += 1
    return end


def _paragraph_cut(lines: Sequence[types.Line], start: int, fit: int, least: int) -> int | None:
    """Return the last start of a block up to `fit` with at least `least` characters before it."""
    for cut in range(fit, start, -1):
        if lines[cut].starts_block and _length(lines[start:cut]) >= least:
            return cut
    return None


def _overlap_start(lines: Sequence[types.Line], start: int, end: int, overlap: int) -> int:
    """Return the start of the next chunk: up to `overlap` characters back; table rows are not repeated."""
    begin = end
    while (
        begin - 1 > start
        and lines[begin - 1].kind is not types.BlockKind.TABLE
        and _length(lines[begin - 1 : end]) <= overlap
    ):
        begin -= 1
    return begin


def _table_header(lines: Sequence[types.Line], start: int) -> list[str]:
    """Return caption, section and column heads of the row at `start` if they are said above it, the last that fit."""
    row = lines[start].row
    if row is None or row.is_head:
        return []
    room = MAX_CONTEXT_CHARS // len(row.cells) - 1
    heads = "\t".join(cell.head[-room:] for cell in row.cells)  # the end of a long head is next to the data
    is_first = start == 0 or lines[start].starts_block
    parts = [row.caption, row.section, heads] if heads.strip() or not is_first else []
    parts = [part for part in parts if part.strip()]
    fitting = (parts[at:] for at in range(len(parts)) if len("\n".join(parts[at:])) <= MAX_CONTEXT_CHARS)
    return ["\n".join(next(fitting, parts[-1:]))]


def _split_long_line(line: types.Line, size: int) -> Iterator[types.Line]:
    """Split a line into pieces of at most `size` characters, at spaces if possible."""
    if len(line.text) <= size:
        yield line
        return
    rest, starts_block = line.text, line.starts_block
    while rest:
        cut = len(rest) if len(rest) <= size else (rest.rfind(" ", size // 2, size) + 1 or size)
        yield line.model_copy(update={"text": rest[:cut], "starts_block": starts_block, "row": None})
        rest, starts_block = rest[cut:], False
