"""Landmarks: the named parts of a document (statements, sections, tables, notes, pages) and their pages.

The text of a page hardly says what it is: the words of a balance sheet stand all over a report, and "page 12" nowhere.
Landmarks are found during ingestion, and preferred by questions that name them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from rag import types
from rag.vocabulary.query_widening import widener
from rag.vocabulary.references import caption
from rag.vocabulary.vocabulary import APOSTROPHES, Place

TITLE = 0.5
"""Weight of a title at the top of a page, relative to the share of marks (1.0). Flat from 0.3 to 1."""
TITLE_CHARACTERS = 400
"""Length of a page's top, in which a heading may follow a letterhead."""
MIN_STRENGTH = 0.25
"""Minimum strength; weaker pages only have some words in common with the place."""
PRINTED = 0.95
"""Strength of a printed page number; a page's number in the file has 1.0."""
NO_LABELS: Mapping[int, str] = MappingProxyType({})
CAPTION, HEADING = 0.9, 1.0
LISTED = 0.3
"""Strength of a caption or heading; at least `LIST_LENGTH` of a kind on a page are a list of contents."""
LIST_LENGTH = 6

_WORD = re.compile(r"[a-z0-9&%']+")

Phrase = tuple[str, ...]


class Landmarks:
    """Finds the landmarks of documents: the `places` of vocabularies, pages and numbered captions."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._places = {place.name: ({*map(_words, place.marks)}, {*map(_words, place.titles)}) for place in places}
        self._phrases = {phrase for marks, titles in self._places.values() for phrase in (*marks, *titles) if phrase}
        self._lengths: dict[str, set[int]] = defaultdict(set)
        for phrase in self._phrases:
            self._lengths[phrase[0]].add(len(phrase))

    def find(self, lines: Iterable[types.Line], labels: Mapping[int, str] = NO_LABELS) -> list[types.Landmark]:
        """Return the landmarks of a document, each name once per page with its maximum strength.

        `labels` maps page numbers to printed numbers: "page 53" may be either, which the search decides.
        """
        pages: dict[int, list[types.Line]] = defaultdict(list)
        for line in lines:
            pages[line.page_number].append(line)
        last = max(pages, default=0)
        landmarks = [landmark for number, on_page in pages.items() for landmark in self._on_page(number, last, on_page)]
        landmarks += [
            types.Landmark(name=f"page {label.lower()}", page_number=number, strength=PRINTED)
            for number, label in labels.items()
            if number in pages
        ]
        strongest = {(mark.name, mark.page_number): mark for mark in sorted(landmarks, key=lambda mark: mark.strength)}
        return [strongest[key] for key in dict.fromkeys((mark.name, mark.page_number) for mark in landmarks)]

    def _on_page(self, number: int, last: int, lines: Sequence[types.Line]) -> Iterator[types.Landmark]:
        yield types.Landmark(name=f"page {number}", page_number=number, strength=1.0)
        yield types.Landmark(name=f"page {number - last - 1}", page_number=number, strength=1.0)
        text = "\n".join(line.text for line in lines)
        present, on_top = self._present(text), self._present(text[:TITLE_CHARACTERS])
        for name, (marks, titles) in self._places.items():
            share = len(marks & present) / len(marks) if marks else 0.0
            strength = (share + TITLE * (not titles.isdisjoint(on_top))) / (1 + TITLE)
            if strength >= MIN_STRENGTH:
                yield types.Landmark(name=name, page_number=number, strength=strength)
        yield from _captions(number, lines)

    def _present(self, text: str) -> set[Phrase]:
        """Return the known phrases in `text`."""
        words = _words(text)
        return {
            phrase
            for start, word in enumerate(words)
            for length in self._lengths.get(word, ())
            if (phrase := words[start : start + length]) in self._phrases
        }


@cache
def landmarks() -> Landmarks:
    """Return the landmark finder of the packaged vocabularies."""
    return Landmarks(widener().places)


def own_pages(marks: Iterable[types.Landmark]) -> dict[str, frozenset[int]]:
    """Return the pages of each landmark: those of maximum strength in the document, and adjacent ones.

    `marks` are all landmarks of the document with these names. Weaker pages belong to others, such as an affiliate's
    statements in the notes.
    """
    by_name: dict[str, list[types.Landmark]] = defaultdict(list)
    for mark in marks:
        by_name[mark.name].append(mark)
    pages = {}
    for name, named in by_name.items():
        surest = max(mark.strength for mark in named)
        strongest = [mark.page_number for mark in named if mark.strength == surest]
        pages[name] = frozenset(
            mark.page_number for mark in named if any(abs(mark.page_number - page) <= 1 for page in strongest)
        )
    return pages


def _captions(number: int, lines: Sequence[types.Line]) -> Iterator[types.Landmark]:
    captions = []
    for line in lines:
        is_heading = line.kind is types.BlockKind.HEADING
        if line.kind is not types.BlockKind.TABLE and (reference := caption(line.text, is_heading=is_heading)):
            captions.append((reference, HEADING if is_heading else CAPTION))
    counts: Mapping[str, int] = Counter(reference.kind for reference, _ in captions)
    for reference, strength in captions:
        listed = counts[reference.kind] >= LIST_LENGTH
        yield types.Landmark(name=reference.name, page_number=number, strength=LISTED if listed else strength)


def _words(text: str) -> Phrase:
    return tuple(_WORD.findall(text.lower().translate(APOSTROPHES)))
