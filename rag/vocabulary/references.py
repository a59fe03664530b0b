"""Find references to numbered places: "page 12", "Table 4", "Item 7A", "the last page".

Neither vector nor lexical search can find them: page 12 does not contain the words "page 12".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

Kind = Literal[
    "page",
    "table",
    "figure",
    "note",
    "section",
    "appendix",
    "chapter",
    "slide",
    "item",
    "exhibit",
    "part",
    "footnote",
]

MAX_LABELS = 10
"""Maximum number of places in a list or range; "pages 1 to 200" means the whole document."""


@dataclass(frozen=True)
class Reference:
    """A numbered place; the label "#1" is the first page of the file, however it is labelled, "-1" the last."""

    kind: Kind
    label: str

    @property
    def name(self) -> str:
        """The name of the landmark; a slide is named as a page."""
        return f"{'page' if self.kind == 'slide' else self.kind} {self.label}".lower()


_NUMERAL = r"\d{1,4}(?:\.\d{1,3})*"
_ROMAN = r"(?-i:[IVXLC]+|[ivxlc]{2,})"
_ANY = rf"{_NUMERAL}[a-z]?|(?-i:[A-Z])\.?{_NUMERAL}|{_ROMAN}|(?-i:[A-Z])"

_LABELS: dict[Kind, str] = {
    "page": r"\d{1,4}|(?-i:[ivxlc]+)|[A-Z]{1,4}-\d{1,3}|(?-i:[A-Z])\.?\d{1,3}|(?-i:[A-Z]-[ivxlc]+)",
    "slide": r"\d{1,4}",
    "footnote": r"\d{1,3}",
    "note": rf"{_NUMERAL}[a-z]?",
    "item": rf"{_NUMERAL}[a-z]?",
    "table": _ANY,
    "figure": _ANY,
    "exhibit": _ANY,
    "section": rf"(?:{_ANY})(?:\([a-z\d]{{1,4}}\))*",
    "appendix": _ANY,
    "chapter": _ANY,
    "part": _ANY,
}
_WORDS: dict[Kind, tuple[str, str]] = {
    "page": (r"page|p\.|pg\.?|seite", r"pages|pp\.?|pgs\.?|seiten"),
    "slide": (r"slide", r"slides"),
    "footnote": (r"foot-?note", r"foot-?notes"),
    "note": (r"note", r"notes"),
    "item": (r"item", r"items"),
    "table": (r"table|tab\.", r"tables|tabs\."),
    "figure": (r"figure|fig\.?", r"figures|figs\.?"),
    "exhibit": (r"exhibit|ex\.", r"exhibits"),
    "section": (r"section|sec\.|§", r"sections|secs\.|§§"),
    "appendix": (r"appendix|app\.", r"appendices|appendixes"),
    "chapter": (r"chapter|ch\.", r"chapters"),
    "part": (r"part", r"parts"),
}
"""Patterns of singular and plural."""

_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_COUNTED_KINDS: tuple[Kind, ...] = ("page", "slide", "chapter", "part", "section")
_HYPHENED_KINDS: tuple[Kind, ...] = ("table", "figure", "exhibit")
"""Kinds whose labels have hyphens: Table 3-2 is one table, but tables 2-4 are three tables."""

_LABEL_END = r"(?![\w%]|[.,]\d|-\w|\s+percent\b)"
_TO = r"(?:(?<!\s)\s+)?(?:[-–—]|\bto\b|\bthrough\b|\buntil\b|\bbis\b)\s*"
_AND = r"(?:(?<!\s)\s+)?(?:,\s*+(?:and\s++|or\s++)?|&|\band\b|\bor\b|\bund\b|\boder\b)\s*"
_LIST_END = r"(?=\s*(?:[^\w\s]|$|(?:of|in|on|from|is|are|do|does|show|say|compare)\b))"
"""The text after a list; so that the 3 of "table 2 and 3 companies" does not belong to it."""


def _named(kind: Kind) -> re.Pattern[str]:
    one, many = _WORDS[kind]
    label = rf"(?:{'|'.join((*_COUNTED, _LABELS[kind]) if kind in _COUNTED_KINDS else [_LABELS[kind]])})"
    alone = rf"(?:{_NUMERAL}-\d{{1,3}}(?![\d-])|{label})" if kind in _HYPHENED_KINDS else label
    second = rf"(?:[-–]{label}{_LABEL_END}|\s*(?:and|&|or|to)\s*{label}{_LABEL_END}{_LIST_END})?"
    others = rf"(?:(?:{_TO}|{_AND}){label}{_LABEL_END})*"
    return re.compile(
        rf"(?<![\w.-])(?:(?P<one>{one})|(?:{many}))\s*(?:no\.\s*|numbers?\s+|\#\s*)?"
        rf"(?P<labels>(?(one){alone}{second}|{label}{others}){_LABEL_END})",
        re.IGNORECASE,
    )


_NAMED: dict[Kind, re.Pattern[str]] = {kind: _named(kind) for kind in _LABELS}
_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)")
_RANGE = re.compile(rf"(\d{{1,4}}){_TO}(\d{{1,4}})(?!\w|\.\d)", re.IGNORECASE)
_PREFIX = re.compile(r"\b([A-Za-z]{1,4})-(?=[\divxlc])")
"""The prefix of a single page such as F-3, which is no range."""
_SEPARATOR = re.compile(rf"{_TO}|{_AND}", re.IGNORECASE)
_ORDINAL = re.compile(
    rf"\b(?P<nth>{'|'.join(_ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th)|last|final|second[- ]to[- ]last|penultimate"
    rf"|cover|title|front)\s+(?:(?P<count>\d|{'|'.join(_COUNTED)})\s+)?(?P<kind>page|slide)(?P<many>s?)\b",
    re.IGNORECASE,
)


def references(question: str) -> tuple[Reference, ...]:
    """Return the distinct places that `question` names, in order."""
    found: list[tuple[int, Reference]] = []
    for kind, pattern in _NAMED.items():
        for match in pattern.finditer(question):
            labels = list(_labels(kind, match))[:MAX_LABELS]
            found.extend((match.start(), Reference(kind, label)) for label in labels)
    for match in _ORDINAL.finditer(question):
        kind = cast(Kind, match["kind"].lower())
        found.extend((match.start(), Reference(kind, _counted(place))) for place in _ordinals(match))
    return tuple(dict.fromkeys(reference for _, reference in sorted(found, key=lambda entry: entry[0])))


def _labels(kind: Kind, match: re.Match[str]) -> Iterator[str]:
    text = match["labels"]
    if kind not in ("page", "slide") and _YEAR.match(text):
        return  # figures 2020 and 2021
    if text == "I" and (match["one"] or "").islower():
        return  # the figure I saw
    whole = match["one"] and "-" in text and kind in _HYPHENED_KINDS
    joined = _PREFIX.sub("\\1\u2011", text) if kind == "page" else text
    for part in [text] if whole else _SEPARATOR.split(_RANGE.sub(_spelled_range, joined)):
        yield _standard(kind, part.replace("\u2011", "-"))


def _spelled_range(match: re.Match[str]) -> str:
    first, last = int(match[1]), int(match[2])
    if last < first:
        return f"{first},{last}"
    return ",".join(str(number) for number in range(first, min(last, first + MAX_LABELS - 1) + 1))


def _standard(kind: Kind, label: str) -> str:
    """Normalize a label: Item 7A but Figure 2a, appendix B, chapter IV but page iv, and numerals for words."""
    if label.lower() in _COUNTED:
        return str(_COUNTED.index(label.lower()) + 1)
    if kind == "page" or (kind != "item" and re.match(r"\d|.*\(", label)):
        return label.lower()
    return label.upper()


def _counted(place: int) -> str:
    """Return the label of a page that is counted in the file, from its end if negative."""
    return f"#{place}" if place > 0 else str(place)


def _ordinals(match: re.Match[str]) -> list[int]:
    """Return the page numbers; negative ones count from the end."""
    nth, count = match["nth"].lower(), (match["count"] or "1").lower()
    pages = _COUNTED.index(count) + 1 if count in _COUNTED else int(count)
    if bool(match["many"]) != bool(match["count"]):
        return []  # cover pages; first three page
    if nth in ("last", "final"):
        return list(range(-pages, 0))
    if nth[0].isdigit() or (nth in _ORDINALS and nth != "first"):
        number = int(nth[:-2]) if nth[0].isdigit() else _ORDINALS.index(nth) + 1
        return [number] if number and not match["count"] else []
    if nth in ("first", "cover", "title", "front"):
        return list(range(1, pages + 1))
    return [-2]


_CAPTION_WORDS: dict[Kind, str] = {
    "table": r"table",
    "figure": r"figure|fig\.?",
    "note": r"notes?",
    "section": r"section|§",
    "appendix": r"appendix|annex",
    "chapter": r"chapter",
    "item": r"item",
    "exhibit": r"exhibit|ex(?=-)-?",
    "part": r"part",
}
_CAPTION_END = r"\s*(?:$|[.:|–—)-](?![a-z\d])|(?<=\s)(?=[A-Z\"“(]))"
"""The text after a caption's label: a sign, a capital or nothing; a sentence ("Table 4 shows") has lower case."""
_LABEL_OVER = r"(?![\w]|[.-]\d)"
"""The end of a label, so that 4.1 is not read as 4."""
_CAPTIONS: dict[Kind, re.Pattern[str]] = {
    kind: re.compile(rf"^\s*(?i:{words})\s*(?i:no\.\s*)?(?P<label>(?i:{_LABELS[kind]})){_LABEL_OVER}{_CAPTION_END}")
    for kind, words in _CAPTION_WORDS.items()
}
_NUMBERED_HEADING = re.compile(rf"^\s*(?P<label>{_NUMERAL})[.:)]?\s+[A-Z]")
_CONTENTS = re.compile(r"(?:\.\s?){4}|\s\d{1,3}\s*$")
"""Matches an entry of a table of contents: dots, or a page number at its end."""
_MAY_BE_CAPTION = re.compile(r"\s*(?:[tfnsacieopx§]|\d)", re.IGNORECASE)


def caption(line: str, *, is_heading: bool) -> Reference | None:
    """Return the place whose caption or heading `line` is: "Table 4: Revenue", "Note 7 –", "3.2 Method".

    A bare number counts as a section only if parsing found a heading. Entries of a table of contents are ignored.
    """
    if not _MAY_BE_CAPTION.match(line):
        return None
    patterns = [*_CAPTIONS.items(), *([("section", _NUMBERED_HEADING)] if is_heading else [])]
    for kind, pattern in patterns:
        match = pattern.match(line)
        if match and not _CONTENTS.search(line, match.end("label")):
            return Reference(cast(Kind, kind), _standard(cast(Kind, kind), match["label"]))
    return None
