"""The main sections of a document, and how a number of items is shared among sections.

Which sections count most, their names and places say: Edmundson, "New Methods in Automatic Extracting", JACM 16 (1969).
"""

import math
import re
import uuid
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rag import types
from rag.answering.passages.blocks import read_blocks
from rag.ingestion.chunking import SECTION_SEPARATOR

MIN_PARTS = 4
"""Minimum number of numbered parts, the text before the first among them, for a document to consist of them."""

DOMINANT = 0.6
"""A heading over more than this share of the text is the document's title; sections are below it."""

_TELLING = re.compile(
    r"(?:(?:part|item|chapter|section)?\s*[\divxlc.]++[a-z]?(?:(?<=\.)|[\s.:–—-])[\s.:–—-]*+)?(?:the\s+)?(?:abstract|(?:executive\s+)?summary|introduction|overview|highlights|conclusions?|(?:key|main)\s+findings|"
    r"findings|results|recommendations|outlook)\b",
    re.IGNORECASE,
)
"""The beginning of a heading over what a document comes to, unlike that of "Item 16. Form 10-K Summary"."""
_PART = re.compile(
    r"(?:part|item|chapter|article|title|teil|kapitel|artikel)\s+(?:\d+[A-Z]?|[IVXLC]+)\b", re.IGNORECASE
)
_APPENDED = re.compile(r"(?i:appendix|annex|exhibit|attachment|schedule)\b|[A-Z](?:\.\d+)*\.?\s+[A-Z]")
TELLING, APPENDED = 3.0, 0.3
"""Weights of sections with telling names and of appendices; others weigh 1.0."""
EARLINESS = 1.5, 0.5
"""Weights of the first and the last section; interpolated between."""


class Section(NamedTuple):
    """A section with its chunks; the weight says how much of a summary it gives."""

    name: str
    chunks: list[types.Chunk]
    weight: float


def main_sections(chunks: Sequence[types.Chunk], limit: int) -> list[Section]:
    """Return the main sections in reading order: numbered parts, else those where none has nearly all text."""
    sections = _numbered_parts(chunks)
    for depth in () if len(sections) >= MIN_PARTS else (1, 2, 3):
        sections = {}
        for chunk in chunks:
            sections.setdefault(tuple((chunk.section or "").split(SECTION_SEPARATOR)[:depth]), []).append(chunk)
        if max(map(_size, sections.values())) < DOMINANT * _size(chunks):
            break
    sizes = {path: _size(own) for path, own in sections.items()}
    weights = {path: size * _weight(path[-1], place / len(sizes)) for place, (path, size) in enumerate(sizes.items())}
    largest = sorted(weights, key=lambda path: -weights[path])[:limit]
    return [Section(path[-1], own, weights[path]) for path, own in sections.items() if path in largest]


def _numbered_parts(chunks: Sequence[types.Chunk]) -> dict[tuple[str, ...], list[types.Chunk]]:
    """Return the parts that headings such as "Item 7" begin, whatever the levels of the headings below."""
    part = ""
    shares: dict[uuid.UUID, Counter[str]] = {}
    for block in read_blocks(chunks):
        if (block.is_heading or block.is_bold) and _PART.match(block.text):
            part = block.text
        shares.setdefault(block.chunk.id, Counter())[part] += len(block.text)
    parts: dict[tuple[str, ...], list[types.Chunk]] = {}
    for chunk in chunks:
        if chunk.id in shares:
            parts.setdefault((shares[chunk.id].most_common(1)[0][0],), []).append(chunk)
    return parts


def _size(chunks: Sequence[types.Chunk]) -> int:
    return sum(len(chunk.text) for chunk in chunks)


def _weight(name: str, place: float) -> float:
    """Return a section's weight by its name and relative position (0..1)."""
    first, last = EARLINESS
    earliness = first + (last - first) * place
    return earliness * (TELLING if _TELLING.match(name) else APPENDED if _APPENDED.match(name) else 1.0)


def quotas(weights: Sequence[float], limit: int, most: float = math.inf) -> list[int]:
    """Distribute `limit` items over sections: one each, the rest by the method of Sainte-Laguë, at most `most` each."""
    counts = [1] * len(weights)
    while sum(counts) < limit and min(counts) < most:
        open_ones = [index for index, count in enumerate(counts) if count < most]
        counts[max(open_ones, key=lambda index: weights[index] / (2 * counts[index] + 1))] += 1
    return counts
