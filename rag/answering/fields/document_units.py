"""All units of a document that may state a field's value: sentences, rows, headings, and values with their labels."""

import contextlib
import functools
import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from rag import errors, types
from rag.answering.fields.defined_terms import defined_terms
from rag.answering.fields.text_spans import without_article
from rag.answering.passages.labelled_values import labelled_values
from rag.answering.passages.quotable_units import Placed, Unit, placed_lines, split_passage, trim_line
from rag.answering.passages.statements import display_text, quoted_row, words_at
from rag.answering.passages.table_text import is_caption
from rag.answering.tables.data_tables import TypedTable, read_tables
from rag.answering.tables.figure_rows import Statements
from rag.answering.text import term_weights
from rag.answering.text.sentences import one_line

LARGE = 1.2
"""Height of the letters of a title, over the usual one."""

MIN_TITLE_CHARS = 12
"""Shorter titles are initials and ornaments."""

MAX_TEXT_CHARS = 1200
"""Longer units are read as far as this."""


class FieldUnit(NamedTuple):
    """A unit of a page with its text, and its text in the context of what it stands under.

    `size` is the height of its letters over the usual one of its document.
    """

    hit: types.Hit
    unit: Unit
    text: str
    context: str
    words: frozenset[str]
    page: int
    size: float = 1.0

    @property
    def row(self) -> types.QuotedRow | None:
        """The table row that it is, or None."""
        return quoted_row(self.hit.passage.text, self.unit)

    @property
    def label(self) -> str:
        """The label of a row, or of a value."""
        return words_at(self.hit.passage.text, self.unit.label)


class DocumentUnits:
    """A document's units in reading order, with the rarity of their words and the pages of its own statements."""

    def __init__(self, document: types.Document, pages: Sequence[types.Hit], statements: Statements) -> None:
        """Split the `pages` of a document."""
        self.subject, self.title = document.subject, document.title
        self.pages = pages
        self.statements = statements
        self.units = [*itertools.chain.from_iterable(map(_units, pages))]
        sizes = [unit.size for unit in self.units if unit.unit.kind is types.BlockKind.TEXT]
        self.largest_height = max(
            (one.size for one in self.units if one.page == 1 and len(one.text) > MIN_TITLE_CHARS), default=1.0
        )
        usual = statistics.median(sizes) if sizes else 1.0
        self.units = [unit._replace(size=unit.size / (usual or 1.0)) for unit in self.units]
        self.largest = self.largest_height / (usual or 1.0)
        self.units += [*_titles(pages[0], usual)] if pages else []
        self._captions: dict[int, list[tuple[int, str]]] = {}
        self.last_page = max((unit.page for unit in self.units), default=1)

    @functools.cached_property
    def rarity(self) -> Mapping[str, float]:
        """The inverse document frequency of each word, by units."""
        return term_weights.idf(unit.words for unit in self.units)

    @functools.cached_property
    def terms(self) -> frozenset[str]:
        """What the document calls somebody or something, by `without_article`."""
        terms = (term.term for unit in self.units for term in defined_terms(unit.text))
        return frozenset(map(without_article, terms))

    @functools.cached_property
    def tables(self) -> list[TypedTable]:
        """The tables of the pages; none if one is too large to be read."""
        with contextlib.suppress(errors.LimitError):
            return read_tables((line for page in self.pages for line in page.passage.lines), {})
        return []

    def line(self, line: types.Line) -> tuple[types.Hit, types.Span] | None:
        """Return the page that has a line, and where in its passage; None if none of the pages has it."""
        return self._lines.get((line.page_number, line.number))

    @functools.cached_property
    def _lines(self) -> Mapping[tuple[int, int], tuple[types.Hit, types.Span]]:
        placed = ((page, offset, line) for page in self.pages for offset, line in placed_lines(page.passage))
        return {(line.page_number, line.number): (page, trim_line(offset, line)) for page, offset, line in placed}

    @property
    def has_large_title(self) -> bool:
        """Whether the first page has larger letters than the rest."""
        return self.largest > LARGE

    def pages_with(self, words: str) -> int:
        """Return on how many pages the words stand."""
        return sum(words.casefold() in text for text in self._folded)

    @functools.cached_property
    def _folded(self) -> list[str]:
        return [one_line(page.passage.text).casefold() for page in self.pages]

    @functools.cached_property
    def _rarest(self) -> float:
        return max(self.rarity.values(), default=1.0)

    def captions(self, page: types.Hit) -> list[tuple[int, str]]:
        """Return the lines of a page that give the scale of figures, with their offsets."""
        if page.chunk.main_page not in self._captions:
            placed = placed_lines(page.passage)
            self._captions[page.chunk.main_page] = [(at, line.text) for at, line in placed if is_caption(line.text)]
        return self._captions[page.chunk.main_page]

    def covered(self, asked: Sequence[str], words: frozenset[str]) -> float:
        """Return the share of the asked words, weighted by rarity, in `words`; absent ones weigh as the rarest."""
        weights = {word: self.rarity.get(word, self._rarest) for word in asked}
        return sum(weight for word, weight in weights.items() if word in words) / (sum(weights.values()) or 1.0)


def _units(page: types.Hit) -> Iterator[FieldUnit]:
    """Yield the units of a page, and each value with its label."""
    text, heading = page.passage.text, ""
    for unit in split_passage(page.passage):
        if unit.kind is types.BlockKind.HEADING:
            heading = one_line(text[slice(*unit.span)])
        yield _unit(page, unit, display_text(text, unit)[:MAX_TEXT_CHARS], heading)
    for labelled in labelled_values(page.passage):
        value = one_line(text[slice(*labelled.unit.span)])
        yield _unit(page, labelled.unit, f"{labelled.label}: {value}", heading)


def _titles(page: types.Hit, usual: float) -> Iterator[FieldUnit]:
    """Yield the successive lines of a page in the same large letters as one unit each."""
    large = [one for one in placed_lines(page.passage) if _height(one[1]) > LARGE * usual and one[1].text.strip()]
    runs: list[list[Placed]] = []
    for one in large:
        last = runs[-1][-1][1] if runs else None
        is_same = last and abs(_height(last) - _height(one[1])) < 0.1 * usual and one[1].number - last.number <= 1
        if is_same:
            runs[-1].append(one)
        else:
            runs.append([one])
    for run in runs:
        span = types.Span(trim_line(*run[0]).start, trim_line(*run[-1]).end)
        text = one_line(page.passage.text[slice(*span)])
        unit = Unit(span, types.BlockKind.HEADING)
        words = frozenset(term_weights.words(text))
        yield FieldUnit(page, unit, text, text, words, run[0][1].page_number, _height(run[0][1]) / (usual or 1.0))


def _height(line: types.Line) -> float:
    height, width = line.bbox.y1 - line.bbox.y0, line.bbox.x1 - line.bbox.x0
    return height if len(line.text) < 3 or width > height else 0.0  # turned text


def _unit(page: types.Hit, unit: Unit, shown: str, heading: str) -> FieldUnit:
    text = page.passage.text
    above = [heading, *(words_at(text, span) for span in (unit.section, unit.caption))]
    context = ". ".join([*dict.fromkeys(part.rstrip(".:") for part in above if part and part != shown), shown])
    lines = page.passage.lines_of(*unit.span)
    height = statistics.median(map(_height, lines))
    words = frozenset(term_weights.words(context))
    return FieldUnit(page, unit, shown, context, words, lines[0].page_number, height)
