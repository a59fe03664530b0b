"""Correct the characters of MuPDF's lines: the order of right-to-left text, and drawn soft hyphens.

MuPDF reads right-to-left words in logical order, but leaves the words as they stand on the page and reverses Arabic
digits. The characters are sorted by their places here, and the Unicode bidirectional algorithm (UAX #9) is inverted:
numbers and words of other scripts run from left to right.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Any, NamedTuple

from rag.parsing.pdf import character_cleaning

SAME_PLACE_PT = 0.01
_SUSPECT = re.compile("[\u00ad\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SOFT_HYPHEN = "\u00ad"
_PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]")
"""Forms of letters and ligatures that stand for the letters themselves."""
_OPENING, _CLOSING = "([{", ")]}"
_STRONG = {"R": "R", "AL": "R", "L": "L", "EN": "N", "AN": "N"}

Line = Mapping[str, Any]


class _Cluster(NamedTuple):
    """Characters in one place: a letter with its marks, or a ligature, each with the index of its span."""

    start: float
    end: float
    characters: list[tuple[Mapping[str, Any], int]]

    @property
    def text(self) -> str:
        return str(self.characters[0][0]["c"])


def is_suspect(blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether blocks, as PyMuPDF's dicts without characters, have text to correct."""
    return any(
        not span["text"].isascii() and _SUSPECT.search(span["text"])
        for block in blocks
        for line in block.get("lines", ())
        for span in line["spans"]
    )


def correct(blocks: Sequence[Mapping[str, Any]]) -> None:
    """Correct the characters of `blocks`, which are PyMuPDF's dicts with characters."""
    lines = [(line, _text(line)) for block in blocks for line in block.get("lines", ())]
    is_backwards = character_cleaning.is_right_to_left("".join(text for _, text in lines))
    for line, text in lines:
        if not text.isascii() and _SUSPECT.search(text):
            ordered = [(char, index) for index, span in enumerate(line["spans"]) for char in span["chars"]]
            if character_cleaning.has_right_to_left(text):
                clusters = sorted(_clusters(ordered, line["dir"]), key=lambda cluster: cluster.start + cluster.end)
                backwards = is_backwards or character_cleaning.is_right_to_left(text)
                ordered = [*chain.from_iterable(_in_logical_order(clusters, backwards))]
            line["spans"] = [*_spans(_with_drawn_hyphens(ordered), line["spans"])]


def _text(line: Line) -> str:
    return "".join(char["c"] for span in line["spans"] for char in span["chars"])


def _spans(
    characters: Sequence[tuple[Mapping[str, Any], int]], spans: Sequence[Mapping[str, Any]]
) -> Iterator[Mapping[str, Any]]:
    """Yield the spans again, each once per run of its characters."""
    for index, run in groupby(characters, key=lambda character: character[1]):
        chars = [char for char, _ in run]
        x0, y0, x1, y1 = zip(*(char["bbox"] for char in chars), strict=True)
        box = min(x0), min(y0), max(x1), max(y1)
        yield {**spans[index], "chars": chars, "bbox": box, "origin": chars[0]["origin"]}


def _with_drawn_hyphens(
    characters: Sequence[tuple[Mapping[str, Any], int]],
) -> list[tuple[Mapping[str, Any], int]]:
    """Replace soft hyphens by hyphens where they are drawn inside a line; at its end they divide a word."""
    last = max((place for place, (char, _) in enumerate(characters) if not char["c"].isspace()), default=0)
    return [
        ({**char, "c": "-"}, index)
        if char["c"] == _SOFT_HYPHEN and (place < last or last == 0) and not _has_no_extent(char)
        else (char, index)
        for place, (char, index) in enumerate(characters)
    ]


def _has_no_extent(char: Mapping[str, Any]) -> bool:
    x0, y0, x1, y1 = char["bbox"]
    return bool(x1 - x0 < SAME_PLACE_PT or y1 - y0 < SAME_PLACE_PT)


def _clusters(
    characters: Sequence[tuple[Mapping[str, Any], int]], direction: tuple[float, float]
) -> Iterator[_Cluster]:
    """Yield letters with the marks that are drawn over them, and ligatures with all their letters."""
    extents = [_extent(char["bbox"], direction) for char, _ in characters]
    bases = [
        place
        for place, (char, _) in enumerate(characters)
        if extents[place][1] - extents[place][0] >= SAME_PLACE_PT and not unicodedata.combining(char["c"])
    ]
    if not bases:
        yield _Cluster(*extents[0], [*characters])
        return
    attached: dict[int, list[int]] = {place: [] for place in bases}
    for place in sorted({*range(len(characters))}.difference(bases)):
        char = characters[place][0]
        if unicodedata.combining(char["c"]):
            middle = sum(extents[place])
            base = min(bases, key=lambda base: (abs(sum(extents[base]) - middle), characters[base][0]["c"].isspace()))
        else:
            base = min(bases, key=lambda base: (_distance(characters[base][0], char), abs(base - place)))
        attached[base].append(place)
    for base in bases:
        before = [place for place in attached[base] if place < base]  # MuPDF reversed a ligature with its line
        order = [base, *reversed(before), *(place for place in attached[base] if place > base)]
        yield _Cluster(*extents[base], [part for place in order for part in _letters(characters[place])])


def _letters(character: tuple[Mapping[str, Any], int]) -> list[tuple[Mapping[str, Any], int]]:
    char, index = character
    if not _PRESENTATION_FORMS.match(char["c"]):
        return [character]
    return [({**char, "c": letter}, index) for letter in unicodedata.normalize("NFKC", char["c"])]


def _extent(box: tuple[float, float, float, float], direction: tuple[float, float]) -> tuple[float, float]:
    """Return where a box begins and ends along `direction`."""
    x0, y0, x1, y1 = box
    places = [x * direction[0] + y * direction[1] for x in (x0, x1) for y in (y0, y1)]
    return min(places), max(places)


def _distance(char: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    (x0, y0), (x1, y1) = char["origin"], other["origin"]
    return round(abs(x0 - x1) + abs(y0 - y1), 2)


def _in_logical_order(
    clusters: Sequence[_Cluster], is_backwards: bool
) -> Iterator[list[tuple[Mapping[str, Any], int]]]:
    """Yield the characters of clusters, which are sorted from left to right, in the order in which they are read."""
    levels = _levels([cluster.text for cluster in clusters], is_backwards)
    order = [*range(len(clusters))]
    for level in range(max(levels, default=0), 0, -1):  # rule L2, which is its own inverse
        for is_reversed, run in groupby([*order], key=lambda place: levels[place] >= level):
            if is_reversed:
                places = [*run]
                first = order.index(places[0])
                order[first : first + len(places)] = places[::-1]
    for place in order:
        characters = clusters[place].characters
        yield [
            ({**char, "c": character_cleaning.mirror_brackets(char["c"])}, index) for char, index in characters
        ] if levels[place] % 2 else characters


def _levels(texts: Sequence[str], is_backwards: bool) -> list[int]:
    """Return the embedding levels of characters that stand from left to right on a line."""
    classes = [unicodedata.bidirectional(text) for text in texts]
    strong = [_STRONG.get(name, "") for name in classes]
    _join_numbers(classes, strong)
    levels = [1 if is_backwards else 0] * len(texts)
    places = range(len(texts))
    if is_backwards:
        for is_right_to_left, run in groupby(places, key=lambda place: strong[place] == "R"):
            if not is_right_to_left:
                _raise_left_to_right([*run], texts, strong, levels)
        return levels
    for is_left_to_right, run in groupby(places, key=lambda place: strong[place] == "L"):
        segment = [*run]
        letters = [] if is_left_to_right else [place for place in segment if strong[place] == "R"]
        for place in range(letters[0], letters[-1] + 1) if letters else ():
            levels[place] = 2 if strong[place] == "N" else 1
    return levels


def _raise_left_to_right(segment: Sequence[int], texts: Sequence[str], strong: Sequence[str], levels: list[int]) -> None:
    """Set the levels of numbers and of words from left to right, with the numbers and brackets that belong to them."""
    letters = [place for place in segment if strong[place] == "L"]
    if letters:
        first = letters[0]
        last = max(place for place in segment if strong[place])
        while last + 1 in segment and _closes(texts[first : last + 2]):
            last += 1
        levels[first : last + 1] = [2] * (last + 1 - first)
    for place in segment:
        if strong[place] == "N":
            levels[place] = 2


def _closes(texts: Sequence[str]) -> bool:
    """Whether the last of `texts` is the closing bracket of an opening one among them."""
    if texts[-1] not in _CLOSING:
        return False
    opening = _OPENING[_CLOSING.index(texts[-1])]
    return texts.count(opening) >= texts.count(texts[-1])


def _join_numbers(classes: Sequence[str], strong: list[str]) -> None:
    """Make separators within numbers, and the signs beside them, part of the number (rules W4 and W5)."""
    after_arabic = False
    for place in reversed(range(len(classes))):
        if classes[place] in ("R", "AL", "L"):
            after_arabic = classes[place] == "AL"
        if 0 < place < len(classes) - 1 and classes[place - 1] == classes[place + 1] in ("EN", "AN"):
            is_european = classes[place + 1] == "EN" and not after_arabic
            if classes[place] == "CS" or (classes[place] == "ES" and is_european):
                strong[place] = "N"
        if classes[place] == "ET" and not after_arabic and _is_beside_number(classes, place):
            strong[place] = "N"


def _is_beside_number(classes: Sequence[str], place: int) -> bool:
    """Whether only signs such as "%" stand between the place and a European number."""
    for step in (-1, 1):
        beside = place + step
        while 0 <= beside < len(classes) and classes[beside] == "ET":
            beside += step
        if 0 <= beside < len(classes) and classes[beside] == "EN":
            return True
    return False
