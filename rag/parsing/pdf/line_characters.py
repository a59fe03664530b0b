"""Correct the characters of MuPDF's lines: the order of right-to-left text, and drawn soft hyphens.

MuPDF reads right-to-left words in logical order, but leaves the words as they stand on the page and reverses Arabic
digits. The characters are sorted by their places here, and the Unicode bidirectional algorithm (UAX #9) is inverted:
numbers and words of other scripts run from left to right.
"""

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.mupdf import Box, around

SAME_PLACE_PT = 0.01
TOUCH_PT = 0.1
"""Distance of a letter without width from the ligature to which it belongs."""
MIN_HYPHEN_SHARE = 0.5
"""Room before the next character, in widths of a hyphen, from which it is drawn."""
WORD_GAP_EM, CELL_GAP_EM = 0.15, 0.8
"""Gaps between words and between cells, as MuPDF divides left-to-right text."""
MIN_BAR_PT, MAX_BAR_PT, MAX_BAR_HEIGHT_PT = 2, 15, 2
"""Extent of a bar that may be a minus, in any usual size of type."""
MINUS_WIDTH_EM, MINUS_HEIGHT_EM, MINUS_GAP_EM = (0.3, 0.8), (0.15, 0.5), 0.35
"""Width of a minus, height of its middle above the baseline, and gap before the figure."""
MAX_BARS = 30
"""Pages with more bars have charts or dashed lines."""
_TEXT, _SHAPE = 0, 3
"""PyMuPDF's types of blocks of text, and of what is drawn."""
_SUSPECT = re.compile("[\u00ad\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_SOFT_HYPHEN = "\u00ad"
_PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]")
"""Forms of letters and ligatures that stand for the letters themselves."""
_TURNED = re.compile(r"[.,:;!?\u060c\u061b\u061f]+\s*\d[^A-Za-z]*|\d[^A-Za-z]*[-−+]|[)\]}][^A-Za-z]*[(\[{]")
"""Lines without letters in right-to-left text: ".2024", "3.2%-", or ")118(" with brackets as they are written."""
_LAM, _ALEFS = "\u0644", "\u0627\u0622\u0623\u0625"
_OPENING, _CLOSING = "([{", ")]}"
_ENDS = ".,:;!?%\u060c\u061b\u061f\u066a"
_STRONG = {"R": "R", "AL": "R", "L": "L", "EN": "N", "AN": "N"}

Character = tuple[Mapping[str, Any], int]
"""A character as PyMuPDF's dict, and the index of its span."""


class _Cluster(NamedTuple):
    """Characters in one place: a letter with its marks, or a ligature, each with the index of its span."""

    start: float
    end: float
    characters: list[Character]

    @property
    def text(self) -> str:
        return str(self.characters[0][0]["c"])


def is_suspect(blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether blocks, as PyMuPDF's dicts without characters, have text to correct."""
    spans = [span for block in blocks if block["type"] == _TEXT for line in block["lines"] for span in line["spans"]]
    text = "".join([span["text"] for span in spans])
    if not text.isascii() and _SUSPECT.search(text):
        return True
    bars = [block["bbox"] for block in blocks if _is_bar(block)]
    return 0 < len(bars) <= MAX_BARS and any(_is_beside(bar, span) for bar in bars for span in spans)


def correct(blocks: Sequence[dict[str, Any]]) -> None:
    """Correct the lines of `blocks`, which are PyMuPDF's dicts with characters."""
    bars = [block["bbox"] for block in blocks if _is_bar(block)]
    if 0 < len(bars) <= MAX_BARS:
        _add_minuses(blocks, bars)
    texts = [_text(line) for block in blocks for line in block.get("lines", ())]
    is_backwards = character_cleaning.is_right_to_left("".join(texts))
    has_right_to_left = any(map(character_cleaning.has_right_to_left, texts))
    turned: list[_Turned] = []
    for block in blocks:
        lines: list[dict[str, Any]] = []
        for line in block.get("lines", ()):
            text = _text(line)
            if character_cleaning.has_right_to_left(text) or (is_backwards and _TURNED.fullmatch(text.strip())):
                parts = [_Turned(line, part, is_backwards) for part in _parts(line)]
                turned += parts
                lines += [part.line for part in parts]
            elif _SOFT_HYPHEN in text:
                lines.append({**line, "spans": [*_spans(_with_drawn_hyphens(_characters(line)), line["spans"])]})
            else:
                lines.append(line)
        if "lines" in block:
            block["lines"] = lines
    if has_right_to_left:
        as_drawn = sum(part.unpaired(mirrored=True) for part in turned) <= sum(
            part.unpaired(mirrored=False) for part in turned
        )
        for part in turned:
            part.write(mirrored=as_drawn)


def _is_bar(block: Mapping[str, Any]) -> bool:
    """Whether a shape is a short level bar, which may be a minus."""
    if block["type"] != _SHAPE:
        return False
    x0, y0, x1, y1 = block["bbox"]
    return bool(MIN_BAR_PT < x1 - x0 < MAX_BAR_PT and y1 - y0 < MAX_BAR_HEIGHT_PT)


def _add_minuses(blocks: Sequence[Mapping[str, Any]], bars: Sequence[Box]) -> None:
    """Add a minus for each bar that is drawn alone before a figure, at the height of a minus."""
    spans = [
        span for block in blocks for line in block.get("lines", ()) if line["dir"] == (1, 0) for span in line["spans"]
    ]
    for span in spans:
        size = span["size"]
        beside = [bar for bar in bars if _is_beside(bar, span) and _is_alone(bar, bars, size)]
        beside = [bar for bar in beside if not any(_strikes(bar, other) for other in spans)]
        chars: list[Mapping[str, Any]] = []
        for char in span["chars"]:
            if char["c"].isdigit() and not (chars and chars[-1]["c"].isdigit()):
                start = char["origin"][0]
                bar = next((bar for bar in beside if -1 < start - bar[2] < MINUS_GAP_EM * size), None)
                if bar and (not chars or chars[-1]["c"].isspace() or chars[-1]["bbox"][2] < bar[0]):
                    box = bar[0], char["bbox"][1], bar[2], char["bbox"][3]
                    chars.append({**char, "c": "−", "bbox": box, "origin": (bar[0], char["origin"][1])})
            chars.append(char)
        span["chars"] = chars


def _is_beside(bar: Box, span: Mapping[str, Any]) -> bool:
    """Whether a bar is as wide and high as the minus of a span's type, and before or within the span."""
    size, height = span["size"], span["origin"][1] - (bar[1] + bar[3]) / 2
    return bool(
        MINUS_HEIGHT_EM[0] * size < height < MINUS_HEIGHT_EM[1] * size
        and MINUS_WIDTH_EM[0] * size < bar[2] - bar[0] < MINUS_WIDTH_EM[1] * size
        and span["bbox"][0] - MINUS_GAP_EM * size < bar[2] < span["bbox"][2]
    )


def _strikes(bar: Box, span: Mapping[str, Any]) -> bool:
    """Whether a bar goes through a character, which it strikes out."""
    x, y = (bar[0] + bar[2]) / 2, (bar[1] + bar[3]) / 2
    boxes = (char["bbox"] for char in span["chars"] if not char["c"].isspace())
    return any(box[0] < x < box[2] and box[1] < y < box[3] for box in boxes)


def _is_alone(bar: Box, bars: Sequence[Box], size: float) -> bool:
    """Whether the bar is no part of a dashed line."""
    return not any(
        other != bar and abs(other[1] - bar[1]) < 1 and max(other[0] - bar[2], bar[0] - other[2]) < size
        for other in bars
    )


def _text(line: Mapping[str, Any]) -> str:
    return "".join(char["c"] for span in line["spans"] for char in span["chars"])


def _characters(line: Mapping[str, Any]) -> list[Character]:
    return [(char, index) for index, span in enumerate(line["spans"]) for char in span["chars"]]


class _Turned:
    """A part of a line with right-to-left text, or of one for it, in logical order.

    Files store the brackets of such text as they are written or as they are drawn, that is mirrored.
    """

    def __init__(self, line: Mapping[str, Any], clusters: Sequence[_Cluster], is_backwards: bool) -> None:
        self.line = {**line}
        texts = [cluster.text for cluster in clusters]
        drawn = "".join(text[0] for text in texts)
        self._levels = _levels(texts, _is_backwards(drawn, _text(line), is_backwards))
        self._clusters = clusters
        self._order = _logical_order(self._levels)

    def unpaired(self, *, mirrored: bool) -> int:
        """Count the brackets without a partner."""
        text = "".join(self._clusters[place].text for place in self._order if self._levels[place] % 2)
        return character_cleaning.count_unpaired(character_cleaning.mirror_brackets(text) if mirrored else text)

    def write(self, *, mirrored: bool) -> None:
        """Set the spans and the box of the line."""
        found: list[Character] = []
        for place in self._order:
            characters = self._clusters[place].characters
            if mirrored and self._levels[place] % 2:
                characters = [
                    ({**char, "c": character_cleaning.mirror_brackets(char["c"])}, index) for char, index in characters
                ]
            found += characters
        self.line["spans"] = [*_spans(found, self.line["spans"])]
        self.line["bbox"] = around(char["bbox"] for char, _ in found)


def _is_backwards(drawn: str, stored: str, of_page: bool) -> bool:
    """Whether a line begins at its right, given as it is drawn and as it is stored, and whether most of the page do."""
    if character_cleaning.is_right_to_left(drawn):
        return True
    letters = [character for character in drawn if character.isalpha()]
    if not letters:
        return of_page
    left, right = map(character_cleaning.has_right_to_left, (letters[0], letters[-1]))
    first = next(character for character in stored if character.isalpha())
    return (of_page and (left or right)) or (right and character_cleaning.has_right_to_left(first))


def _spans(characters: Sequence[Character], spans: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the spans again, each once per run of its characters."""
    for index, run in groupby(characters, key=lambda character: character[1]):
        chars = [char for char, _ in run]
        box = around(char["bbox"] for char in chars)
        yield {**spans[index], "chars": chars, "bbox": box, "origin": chars[0]["origin"]}


def _with_drawn_hyphens(characters: Sequence[Character]) -> list[Character]:
    """Replace soft hyphens by hyphens where they are drawn inside a line, and drop those that are not drawn.

    At a line's end they divide a word.
    """
    kept: list[Character] = []
    last = max((place for place, (char, _) in enumerate(characters) if not char["c"].isspace()), default=0)
    for place, (char, index) in enumerate(characters):
        if char["c"] != _SOFT_HYPHEN or (place == last and place > 0):
            kept.append((char, index))
        elif _is_drawn(char, characters[place + 1][0] if place < len(characters) - 1 else None):
            kept.append(({**char, "c": "-"}, index))
    return kept or [*characters]


def _is_drawn(char: Mapping[str, Any], following: Mapping[str, Any] | None) -> bool:
    """Whether a character takes room on its line."""
    x0, y0, x1, y1 = char["bbox"]
    if following is None:
        return bool(x1 - x0 > SAME_PLACE_PT and y1 - y0 > SAME_PLACE_PT)
    distance = math.dist(char["origin"], following["origin"])
    return bool(distance > MIN_HYPHEN_SHARE * min(x1 - x0, y1 - y0))


def _parts(line: Mapping[str, Any]) -> Iterator[list[_Cluster]]:
    """Yield the clusters of a line from left to right, with missing spaces, divided at the gaps between cells."""
    clusters = sorted(_clusters(_characters(line), line["dir"]), key=lambda cluster: cluster.start + cluster.end)
    part = [clusters[0]]
    for before, cluster in pairwise(clusters):
        char, index = before.characters[0]
        gap, size = cluster.start - before.end, line["spans"][index]["size"]
        if gap > CELL_GAP_EM * size:
            yield part
            part = []
        elif gap > WORD_GAP_EM * size and not before.text.isspace() and not cluster.text.isspace():
            part.append(_Cluster(before.end, cluster.start, [({**char, "c": " "}, index)]))
        part.append(cluster)
    yield part


def _clusters(characters: Sequence[Character], direction: tuple[float, float]) -> Iterator[_Cluster]:
    """Yield letters with the marks that are drawn over them, and ligatures with all their letters."""
    extents = [_extent(char["bbox"], direction) for char, _ in characters]
    attached: dict[int, list[int]] = {
        place: []
        for place, (char, _) in enumerate(characters)
        if extents[place][1] - extents[place][0] >= SAME_PLACE_PT and not unicodedata.combining(char["c"])
    }
    for place in range(len(characters)):
        if place not in attached:
            near = _nearest(place, characters, [*attached], extents)
            if near is None:
                attached[place] = []
            else:
                attached[near].append(place)
    for base, others in attached.items():
        before = [place for place in others if place < base]  # MuPDF reversed a ligature with its line
        order = [base, *reversed(before), *(place for place in others if place > base)]
        letters: list[Character] = []
        for char, index in (characters[place] for place in order):
            is_form = _PRESENTATION_FORMS.match(char["c"])
            texts = unicodedata.normalize("NFKC", char["c"]) if is_form else (char["c"],)
            letters += [({**char, "c": text}, index) for text in texts]
        yield _Cluster(*extents[base], letters)


def _nearest(
    place: int, characters: Sequence[Character], bases: Sequence[int], extents: Sequence[tuple[float, float]]
) -> int | None:
    """Return the letter to which a mark, or a ligature to which a further letter without width belongs.

    An alef is at the edge of its lam, and may also be at that of the next letter.
    """
    text, middle = characters[place][0]["c"], sum(extents[place]) / 2
    touching = [base for base in bases if extents[base][0] - TOUCH_PT <= middle <= extents[base][1] + TOUCH_PT]
    is_alef = text in _ALEFS
    return min(
        touching,
        key=lambda base: (is_alef and characters[base][0]["c"] != _LAM, abs(base - place), base > place),
        default=None,
    )


def _extent(box: Box, direction: tuple[float, float]) -> tuple[float, float]:
    """Return where a box begins and ends along `direction`."""
    x0, y0, x1, y1 = box
    places = [x * direction[0] + y * direction[1] for x in (x0, x1) for y in (y0, y1)]
    return min(places), max(places)


def _logical_order(levels: Sequence[int]) -> list[int]:
    """Return the places of characters in the order in which they are read (rule L2, which is its own inverse)."""
    order = [*range(len(levels))]
    for level in range(max(levels, default=0), 0, -1):
        runs = groupby(order, key=lambda place: levels[place] >= level)  # used at once
        order = [place for is_turned, run in runs for place in (reversed([*run]) if is_turned else run)]
    return order


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
        end = len("".join(text[0] for text in texts).rstrip(_ENDS + " "))
        if end < len(texts) and not texts[-1].isspace() and texts[0] not in _ENDS:
            levels[end:] = [0] * (len(texts) - end)  # a line laid out for the other direction ends at its right
        return levels
    for is_left_to_right, run in groupby(places, key=lambda place: strong[place] == "L"):
        segment = [*run]
        letters = [] if is_left_to_right else [place for place in segment if strong[place] == "R"]
        for place in range(letters[0], letters[-1] + 1) if letters else ():
            levels[place] = 2 if strong[place] == "N" else 1
    return levels


def _raise_left_to_right(
    segment: Sequence[int], texts: Sequence[str], strong: Sequence[str], levels: list[int]
) -> None:
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
