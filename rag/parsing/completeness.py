"""How much of a file's text its rendition and its blocks have.

The source's pieces (lines, paragraphs, cells) are first looked for where they are due, one after the other. What is
not found there may stand elsewhere: a table is read in another order, a column was put apart. So it is looked for among
the words that no piece has taken yet, and at last among their characters, as a long run may have been broken. Time is
linear in the length of the texts.
"""

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from rag.parsing.pdf.character_cleaning import without_sides
from rag.parsing.pdf.pages import PageContent
from rag.parsing.pdf.word_boundaries import Word, glued_words, split_words
from rag.types import Completeness, Missing, WordError

WINDOW_CHARS = 20_000
"""So far behind the last piece the next one is looked for."""
NEAR_CHARS = 12
"""So far if it is short, as there may be many like it."""
SHORT_CHARS = 12
LONG_WORD_CHARS = 24
LEAST_SHARE = 0.5
"""Of a long word, any part may be kept; of a shorter one at least so much, or it is something else."""
MAX_PLACES = 50
"""The most places that are told one by one."""
BEGINNING_CHARS = 80
"""How much is told of a missing text."""

_NO_TEXT = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff\ue000-\uf8ff\ufff0-\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
"""What has no shape of its own: control characters, soft hyphens, zero width marks, variation selectors, U+FFFD.

So are characters of private use, icons most often: what they are is known to the file's own fonts only."""


class Tally:
    """Compares a file's text with the blocks of its pages, as they come.

    `texts` is the file's text if it was read by another way than its rendition; if it is None, the rendition's pages
    are what there is to keep. A page's text is asked for only if its blocks have more or fewer characters.
    """

    def __init__(self, texts: Sequence[tuple[str, str]] | None) -> None:
        self._texts = texts
        self._found: list[str] = []
        self._characters = 0
        self._missing: list[Missing] = []
        self._words = 0
        self._glued_words = 0
        self._split_words = 0
        self._word_errors: list[WordError] = []

    def add(
        self,
        page: PageContent,
        page_text: Callable[[int], str],
        page_words: Callable[[int], Iterable[Sequence[Any]]] = lambda _: (),
    ) -> None:
        """The next page; `page_text` gives the text of the page of a number, `page_words` its words as PyMuPDF does."""
        lines = [line.text for block in page.blocks for line in block.lines]
        self._add_words(page, lines, page_words)
        if self._texts is not None:
            self._found += lines
            return
        if page.info.error or page.characters == sum(len("".join(line.split())) for line in lines):
            self._characters += page.characters
            return
        number = page.info.number
        result = measure([(f"page {number}", page_text(number))], lines)
        self._characters += result.source_characters
        self._missing += result.missing

    def _add_words(
        self, page: PageContent, lines: Sequence[str], page_words: Callable[[int], Iterable[Sequence[Any]]]
    ) -> None:
        """Compare the words; MuPDF's are asked for only if the lines have a word that no run has."""
        runs = " ".join(page.runs).split()
        self._words += len(runs)
        if set(" ".join(lines).split()).issubset(runs):
            return
        expected = [
            Word(text, (x0, y0, x1, y1))
            for x0, y0, x1, y1, word, *_ in page_words(page.info.number)
            for text in to_words(word)
        ]
        normal = [to_words(line) for line in lines]
        glued, split = glued_words(expected, normal), split_words(expected, normal)
        self._glued_words += len(glued)
        self._split_words += len(split)
        room = MAX_PLACES - len(self._word_errors)
        place = f"page {page.info.number}"
        self._word_errors += [WordError(place=place, read=w.read, expected=w.expected) for w in [*glued, *split][:room]]

    def result(self) -> Completeness:
        """What all pages together have."""
        if self._texts is not None:
            found = measure(self._texts, self._found)
        else:
            kept = self._characters - sum(place.characters for place in self._missing)
            found = Completeness(
                source_characters=self._characters, kept_characters=kept, missing=tuple(self._missing[:MAX_PLACES])
            )
        return found.model_copy(
            update={
                "words": self._words,
                "glued_words": self._glued_words,
                "split_words": self._split_words,
                "word_errors": tuple(self._word_errors),
            }
        )


class Piece(NamedTuple):
    """A part of a text, as words without what has no shape, and its place in words."""

    place: str
    words: list[str]


def measure(source: Iterable[tuple[str, str]], found: Iterable[str]) -> Completeness:
    """How much of `source`, texts with their places in words, stands in the texts `found`.

    Texts are compared by their characters in compatibility form (NFKC), without white space and marks of no width.
    """
    pieces = [Piece(place, to_words(text)) for place, text in source]
    total = sum(len(word) for piece in pieces for word in piece.words)
    target = _Target([word for text in found for word in to_words(text)])
    rest = [piece for piece in pieces if piece.words and not target.take("".join(piece.words))]
    lost = [piece for piece in target.without_rest(rest) if piece.words]
    missing = list(_places(lost))
    return Completeness(
        source_characters=total,
        kept_characters=total - sum(place.characters for place in missing),
        missing=tuple(missing),
    )


def to_words(text: str) -> list[str]:
    """The words of `text` in the form in which they are compared."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _NO_TEXT.sub("", text).split()


class _Target:
    """The text in which pieces are looked for, without white space."""

    def __init__(self, words: Sequence[str]) -> None:
        self._text = "".join(words)
        self._starts = [0, *accumulate(map(len, words))]
        self._end = 0
        self._gaps: list[tuple[int, int]] = []

    def take(self, piece: str) -> bool:
        """Whether `piece` stands where it is due; what is before it is left for others."""
        reach = NEAR_CHARS if len(piece) < SHORT_CHARS else WINDOW_CHARS
        start = self._text.find(piece, self._end, self._end + len(piece) + reach)
        if start < 0:
            return False
        if start > self._end:
            self._gaps.append((self._end, start))
        self._end = start + len(piece)
        return True

    def without_rest(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Of `pieces` what stands nowhere in the text that no piece has taken."""
        words = Counter(self._left())
        unknown = [Piece(piece.place, _subtract(piece.words, words)) for piece in pieces]
        characters: Counter[str] = Counter()
        for word, count in words.items():
            for character in _decomposed(word):
                characters[character] += count
        return [Piece(piece.place, list(_lost(piece.words, characters))) for piece in unknown]

    def _left(self) -> Iterator[str]:
        """Words, and parts of words, that no piece has taken."""
        for start, end in (*self._gaps, (self._end, len(self._text))):
            index = bisect_right(self._starts, start)
            cuts = [start, *self._starts[index : bisect_left(self._starts, end)], end]
            yield from (self._text[first:last] for first, last in pairwise(cuts))


def _subtract(wanted: Iterable[str], words: Counter[str]) -> list[str]:
    """Those of the `wanted` words that are not among `words`, from which the others are taken."""
    left: list[str] = []
    for word in wanted:
        if words[word] > 0:
            words[word] -= 1
        else:
            left.append(word)
    return left


def _lost(words: Iterable[str], characters: Counter[str]) -> Iterator[str]:
    """Those of `words`, or the ends of them, that cannot be made of `characters`, from which the others are taken."""
    for word in words:
        need = Counter(_decomposed(word))
        there = {character: min(count, characters[character]) for character, count in need.items()}
        share = sum(there.values()) / sum(need.values())
        if share >= LEAST_SHARE or len(word) > LONG_WORD_CHARS:
            characters.subtract(there)
            kept = math.floor(len(word) * share)
        else:
            kept = 0
        if kept < len(word):
            yield word[kept:]


def _decomposed(word: str) -> str:
    """A vowel sign of two parts may stand on both sides of its consonant; a bracket may have been turned."""
    return without_sides(word if word.isascii() else unicodedata.normalize("NFKD", word))


def _places(pieces: Sequence[Piece]) -> Iterator[Missing]:
    """What is missing, place by place; what are too many places together at the end."""
    for piece in pieces[:MAX_PLACES]:
        text = " ".join(piece.words)
        yield Missing(place=piece.place, characters=_characters([piece]), text=text[:BEGINNING_CHARS])
    if rest := pieces[MAX_PLACES:]:
        text = " ".join(word for piece in rest[:MAX_PLACES] for word in piece.words)
        yield Missing(place=f"{len(rest):,} more places", characters=_characters(rest), text=text[:BEGINNING_CHARS])


def _characters(pieces: Iterable[Piece]) -> int:
    return sum(len(word) for piece in pieces for word in piece.words)
