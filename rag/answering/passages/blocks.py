"""Split the chunks of a document into its paragraphs, headings and bullets."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from rag import types
from rag.answering.passages.boilerplate import placed_lines, trim_line
from rag.answering.passages.quotable_units import continues
from rag.answering.text.sentences import has_bullet, one_line
from rag.ingestion.chunking import SECTION_SEPARATOR


class Block(NamedTuple):
    """A paragraph, heading or bullet of a chunk."""

    chunk: types.Chunk
    span: types.Span
    kind: types.BlockKind
    is_bold: bool
    is_bullet: bool
    number: int

    @property
    def text(self) -> str:
        """Its text on one line."""
        return one_line(self.chunk.text[slice(*self.span)])

    @property
    def is_heading(self) -> bool:
        """Whether it is a heading."""
        return self.kind is types.BlockKind.HEADING

    @property
    def path(self) -> tuple[str, ...]:
        """The headings of its chunk, the highest first."""
        return tuple((self.chunk.section or "").split(SECTION_SEPARATOR))


def read_blocks(chunks: Sequence[types.Chunk]) -> list[Block]:
    """Return the blocks of a document in reading order; of one in overlapping chunks the longest version."""
    longest: dict[int, Block] = {}
    for chunk in chunks:
        for block in _blocks_of(chunk):
            known = longest.get(block.number)
            if known is None or len(known.text) < len(block.text):
                longest[block.number] = block
    return [longest[number] for number in sorted(longest)]


def _blocks_of(chunk: types.Chunk) -> Iterator[Block]:
    """Yield the blocks of a chunk; a bullet begins one. What is left of a block that began before is skipped."""
    lines = [*placed_lines(types.Passage(document_id=chunk.document_id, lines=chunk.lines))]
    begins = [
        index
        for index, (_, line) in enumerate(lines)
        if has_bullet(line.text) or (_is_apart(lines[index - 1][1], line) if index else line.starts_block)
    ]
    for start, end in pairwise([*begins, len(lines)]):
        first, last = lines[start], lines[end - 1]
        span = types.Span(trim_line(*first).start, trim_line(*last).end)
        if span.start < span.end and first[1].kind in {types.BlockKind.TEXT, types.BlockKind.HEADING}:
            is_bold = all(line.is_bold for _, line in lines[start:end])
            is_bullet = first[1].kind is types.BlockKind.TEXT and has_bullet(first[1].text)
            yield Block(chunk, span, first[1].kind, is_bold, is_bullet, first[1].number)


def _is_apart(before: types.Line, line: types.Line) -> bool:
    return before.kind is not line.kind or (line.starts_block and not continues(before, line))
