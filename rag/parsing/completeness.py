"""Measure how much of a file's text its rendition and its blocks have.

The source's pieces (lines, paragraphs, cells) are first searched in sequence. Pieces not found may be elsewhere, as
tables and columns are read in another order, so their words are matched with words not matched yet, and finally their
characters, as long words may be broken. Takes linear time.
"""

import functools
import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pypdfium2

from rag import types
from rag.messages import N_
from rag.parsing.pdf.character_cleaning import UNKNOWN, normalize_drawing
from rag.parsing.pdf.pages import PageContent
from rag.parsing.pdf.visibility import MIN_CONTRAST

WINDOW_CHARS = 20_000
"""Maximum distance from the end of one piece to the next."""
NEAR_CHARS = 12
"""Maximum distance to a short piece, as there may be many equal ones."""
SHORT_CHARS = 12
LONG_WORD_CHARS = 24
MIN_SHARE = 0.5
"""Least share of a word's characters to count as its part; any share of a long word counts."""
MAX_PLACES = 50
"""Maximum number of missing places to report."""
EXCERPT_CHARS = 80
"""Reported length of a missing text."""

_NO_TEXT = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff\ue000-\uf8ff\ufff0-\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
"""Characters without a glyph: control characters, soft hyphens, zero-width marks, variation selectors, U+FFFD.

Also private-use characters, mostly icons, whose meaning only the file's fonts know."""
COMPARED_EVERY = 10
"""One page in so many is compared."""
MIN_LOST = 3
"""Fewer characters may differ by the way in which a program splits ligatures or joins hyphenated words."""

ZOOM = 2.0
"""Pixels per point when looking for ink."""
MAX_CODES = 0.02
"""Share of control and private-use characters from which PDFium's reading of a page says nothing."""
_NO_CHARACTERS = frozenset({"Cc", "Co", "Cs"})
_NO_LETTERS = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Mn", "Zs"})


class SecondReading:
    """Compares pages of the PDF at `path` with what PDFium reads there, which shares no code with MuPDF.

    Reading every page twice would double the time, so each tenth page is compared, and all of them once one differs.
    What PDFium cannot read is not compared.
    """

    def __init__(self, path: Path) -> None:
        self.missing: list[types.Missing] = []
        self.compared_pages = 0
        self._skipped: list[tuple[int, Sequence[str]]] = []
        try:
            self._document: Any = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError:
            self._document = None

    def add(self, number: int, lines: Sequence[str]) -> None:
        """Compare page `number` (from 1), of which `lines` were read, if its turn has come."""
        if self._document is None:
            return
        if number % COMPARED_EVERY != 1 and not self.missing:
            self._skipped.append((number, lines))
            return
        self._compare(number, lines)
        if self.missing:
            for skipped in self._skipped:
                self._compare(*skipped)
            self._skipped.clear()

    def _compare(self, number: int, lines: Sequence[str]) -> None:
        try:
            page = self._document[number - 1]
            text = page.get_textpage().get_text_range()
        except pypdfium2.PdfiumError:
            return
        counts = Counter("".join(text.split()))
        codes = sum(count for char, count in counts.items() if unicodedata.category(char) in _NO_CHARACTERS)
        if codes > MAX_CODES * len(text):
            return  # PDFium knows the characters of this page less than MuPDF
        self.compared_pages += 1
        lost = Counter(_comparable_letters(text)) - Counter(_comparable_letters("".join(lines)))
        if lost.total() < MIN_LOST:
            return
        read = Counter(_comparable_letters(word) for line in lines for word in line.split())
        places = [match for match in re.finditer(r"\S+", text) if _comparable_letters(match[0]) not in read]
        words = [match[0] for match in places if _has_ink(page, match.span())]
        characters = min(lost.total(), sum(len(_comparable_letters(word)) for word in words))
        if characters >= MIN_LOST:
            excerpt = " ".join(words)[:EXCERPT_CHARS]
            self.missing.append(types.Missing(place=f"page {number}", characters=characters, text=excerpt))


class CompletenessCheck:
    """Compares a file's text with the blocks of its pages, page by page.

    `texts` is the source's text; None compares with the runs of text on the rendition's pages, if a page's blocks have
    another number of characters, and with a `second_reading` of the file.
    """

    def __init__(self, texts: Sequence[tuple[str, str]] | None, second_reading: SecondReading | None = None) -> None:
        self._texts = texts
        self._second_reading = second_reading
        self._unknown: list[types.Missing] = []
        self._remarks: dict[types.RemarkKind, Counter[int]] = defaultdict(Counter)
        self._found: list[str] = []
        self._characters = 0
        self._missing: list[types.Missing] = []

    def add(self, page: PageContent) -> None:
        """Compare the next page."""
        lines = [line.text for block in page.blocks for line in block.lines]
        self._add_remarks(page)
        if self._second_reading:
            self._second_reading.add(page.info.number, lines)
        if self._texts is not None:
            self._found += lines
            return
        if page.info.error or page.characters == sum(len("".join(line.split())) for line in lines):
            self._characters += page.characters
            return
        result = measure([(f"page {page.info.number}", "\n".join(page.runs))], lines)
        self._characters += result.source_characters
        self._missing += result.missing

    def _add_remarks(self, page: PageContent) -> None:
        number = page.info.number
        if page.unknown_glyphs and self._texts is None:  # else its character is missing in the comparison of texts
            beside = next((line.text for block in page.blocks for line in block.lines if UNKNOWN in line.text), UNKNOWN)
            missing = types.Missing(place=f"page {number}", characters=page.unknown_glyphs, text=beside[:EXCERPT_CHARS])
            self._unknown.append(missing)
        for block in page.blocks:
            if block.kind in types.NO_EVIDENCE:
                kind: types.RemarkKind = "struck" if block.kind is types.BlockKind.STRUCK else "hidden"
                self._remarks[kind][number] += sum(len("".join(line.text.split())) for line in block.lines)

    def result(self) -> types.Completeness:
        """Return the completeness of all pages together."""
        if self._texts is not None:
            found = measure(self._texts, self._found)
        else:
            kept = self._characters - sum(place.characters for place in self._missing)
            found = types.Completeness(
                source_characters=self._characters, kept_characters=kept, missing=tuple(self._missing[:MAX_PLACES])
            )
        compared = self._second_reading.compared_pages if self._second_reading else 0
        places = {missing.place for missing in found.missing}
        others = self._second_reading.missing if self._second_reading else []
        unread = [missing for missing in others if missing.place not in places]
        return found.model_copy(
            update={
                "source_characters": found.source_characters + sum(missing.characters for missing in unread),
                "kept_characters": found.kept_characters - sum(missing.characters for missing in self._unknown),
                "missing": (*found.missing, *self._unknown, *unread)[:MAX_PLACES],
                "compared_pages": compared,
                "remarks": tuple(
                    types.Remark(
                        kind=kind, characters=pages.total(), pages=tuple(sorted(pages))[: types.MAX_REMARK_PAGES]
                    )
                    for kind, pages in self._remarks.items()
                ),
            }
        )


class SourcePiece(NamedTuple):
    """A part of a text as words without invisible characters, and a description of its place."""

    place: str
    words: list[str]


def measure(source: Iterable[tuple[str, str]], found: Iterable[str]) -> types.Completeness:
    """Measure how much of `source`, texts with descriptions of their places, is in the texts `found`.

    Texts are compared in NFKC form without white space and invisible characters.
    """
    pieces = [SourcePiece(place, to_words(text)) for place, text in source]
    total = sum(len(word) for piece in pieces for word in piece.words)
    target = _Target([word for text in found for word in to_words(text)])
    unmatched = [piece for piece in pieces if piece.words and not target.match_next("".join(piece.words))]
    missing = list(_missing_places([piece for piece in target.missing_parts(unmatched) if piece.words]))
    return types.Completeness(
        source_characters=total,
        kept_characters=total - sum(place.characters for place in missing),
        missing=tuple(missing),
    )


def to_words(text: str) -> list[str]:
    """Return the words of `text` in NFKC form without invisible characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _NO_TEXT.sub("", text).split()


class _Target:
    """The text that is searched, without white space."""

    def __init__(self, words: Sequence[str]) -> None:
        self._text = "".join(words)
        self._starts = [0, *accumulate(map(len, words))]
        self._end = 0
        self._gaps: list[tuple[int, int]] = []

    def match_next(self, piece: str) -> bool:
        """Match `piece` close behind the last one; skipped text stays unmatched."""
        reach = NEAR_CHARS if len(piece) < SHORT_CHARS else WINDOW_CHARS
        start = self._text.find(piece, self._end, self._end + len(piece) + reach)
        if start < 0:
            return False
        if start > self._end:
            self._gaps.append((self._end, start))
        self._end = start + len(piece)
        return True

    def missing_parts(self, pieces: Iterable[SourcePiece]) -> list[SourcePiece]:
        """Reduce `pieces` to the words that are nowhere in the unmatched text."""
        words: Counter[str] = Counter()
        for start, end in (*self._gaps, (self._end, len(self._text))):
            index = bisect_right(self._starts, start)
            cuts = [start, *self._starts[index : bisect_left(self._starts, end)], end]
            words.update(self._text[first:last] for first, last in pairwise(cuts))
        unknown = [SourcePiece(piece.place, _subtract_words(piece.words, words)) for piece in pieces]
        characters: Counter[str] = Counter()
        for word, count in words.items():
            for character in _decomposed(word):
                characters[character] += count
        return [SourcePiece(piece.place, list(_subtract_characters(piece.words, characters))) for piece in unknown]


def _subtract_words(wanted: Iterable[str], words: Counter[str]) -> list[str]:
    """Return the wanted words that are not in `words`, and remove the others from it."""
    left: list[str] = []
    for word in wanted:
        if words[word] > 0:
            words[word] -= 1
        else:
            left.append(word)
    return left


def _subtract_characters(words: Iterable[str], characters: Counter[str]) -> Iterator[str]:
    """Yield the words, or their ends, that `characters` do not make up, and remove the others' characters."""
    for word in words:
        needed = Counter(_decomposed(word))
        found = {character: min(count, characters[character]) for character, count in needed.items()}
        share = sum(found.values()) / sum(needed.values())
        if share >= MIN_SHARE or len(word) > LONG_WORD_CHARS:
            characters.subtract(found)
            kept = math.floor(len(word) * share)
        else:
            kept = 0
        if kept < len(word):
            yield word[kept:]


def _decomposed(word: str) -> str:
    """Split two-part vowel signs, whose parts may surround a consonant, and normalize mirrored brackets."""
    return normalize_drawing(word if word.isascii() else unicodedata.normalize("NFKD", word))


def _missing_places(pieces: Sequence[SourcePiece]) -> Iterator[types.Missing]:
    """Yield the missing texts by place, those past `MAX_PLACES` summed up in a last entry."""
    for piece in pieces[:MAX_PLACES]:
        text = " ".join(piece.words)
        yield types.Missing(place=piece.place, characters=_characters([piece]), text=text[:EXCERPT_CHARS])
    if rest := pieces[MAX_PLACES:]:
        text = " ".join(word for piece in rest[:MAX_PLACES] for word in piece.words)
        yield types.Missing(
            place=N_("{count} more places").format(count=f"{len(rest):,}"),
            characters=_characters(rest),
            text=text[:EXCERPT_CHARS],
        )


def _characters(pieces: Iterable[SourcePiece]) -> int:
    return sum(len(word) for piece in pieces for word in piece.words)


def _has_ink(page: Any, span: tuple[int, int]) -> bool:
    """Whether PDFium draws anything where it reads `span`, unlike text in hidden layers and clipped text."""
    text_page = page.get_textpage()
    lefts, bottoms, rights, tops = zip(*map(text_page.get_charbox, range(*span)), strict=True)
    page_left, _, _, page_top = page.get_cropbox()
    picture = _rendered(page)
    rows = range(int((page_top - max(tops)) * ZOOM), int((page_top - min(bottoms)) * ZOOM) + 1)
    columns = slice(max(0, int((min(lefts) - page_left) * ZOOM)), max(0, int((max(rights) - page_left) * ZOOM) + 1))
    pixels = b"".join(picture[row][columns] for row in rows if 0 <= row < len(picture))
    return bool(pixels) and max(pixels) - min(pixels) >= MIN_CONTRAST


@functools.lru_cache(maxsize=1)
def _rendered(page: Any) -> list[bytes]:
    """Return the rows of the page drawn in grey, not rotated."""
    bitmap = page.render(scale=ZOOM, rotation=-page.get_rotation() % 360, grayscale=True)
    pixels = bytes(bitmap.buffer)
    return [pixels[row * bitmap.stride : row * bitmap.stride + bitmap.width] for row in range(bitmap.height)]


def _comparable_letters(text: str) -> str:
    """Return the characters with a glyph of their own, in one form whatever their height and direction."""
    plain = unicodedata.normalize("NFKD", normalize_drawing(text))
    return "".join(filter(_is_letter, plain))


@functools.lru_cache(maxsize=4096)
def _is_letter(char: str) -> bool:
    return unicodedata.category(char) not in _NO_LETTERS and not char.isspace()
