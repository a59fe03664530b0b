"""Find title, author and creation date of a document in its metadata, and the title else on its first pages.

Converted files have a date only if the converter found it in the file. The date of the last change is not used, since
programs that copy a file set it. Names of programs, forms, parts and authorities are no titles, as many documents share
them. On a form's cover the name is above its label.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from rag import types

MAX_AUTHOR_CHARS = 300
FIRST_YEAR = 1990
"""PDF is of 1993; earlier years come from unset clocks."""

_DATE = re.compile(r"\s*(?:D:)?(\d{4})(\d\d)(\d\d)")
"""ISO 32000-1, 7.9.4; dates without a day are ignored."""
_NOBODY = re.compile(
    r"\W*(unknown|anonymous|nobody|(default |microsoft office |windows )?user|owner|(the )?author|admin(istrator)?|root"
    r"|n/?a|none|null|untitled|scanner|python-docx|.*@localhost)?\W*",
    re.IGNORECASE,
)
"""Placeholder names that programs write."""
TITLE_PAGES = 2
MAX_TITLE_CHARS = 200
MAX_NAME_CHARS = 100
MIN_LETTERS = 4
MAX_DIGITS = 1 / 3
"""Headings with a larger share of digits are stamps or numbers."""

_GENERATED = re.compile(
    r"(untitled|microsoft (word|powerpoint|excel)|(document|presentation|book|scan|slide) ?\d*$|slide \d|powerpoint"
    r"|title$|.*\.(docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|html?|txt|ps|rtf|md)$)",
    re.IGNORECASE,
)
_NUMBER = r"\W+(\d+(?:\.\w+)*[A-Z]?|[IVX]+|[A-Z]|[\dA-Z]+-[\dA-Z]+)\W*"
_FORM = re.compile(rf"form{_NUMBER}", re.IGNORECASE)
_PART = re.compile(
    rf"(part|item|exhibit|schedule|annex|appendix|section|chapter|page){_NUMBER}|(table of )?contents|index"
    r"|cover( page)?|(execution|conformed|final) (copy|version)|(strictly )?confidential|draft"
    r"|(annual |quarterly |current )?report|hearing|opinion|order|complaint|abstract|introduction|summary"
    r"|(user|owner['’]?s?|operating|service|instruction)s?['’]? (manual|guide|instructions)",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(
    r"^(the )?((?!(of|to|by|for|in|on|an?|the) )[\w.&,’']+ ){0,8}(commission|courts?|department|ministry|bureau|agency"
    r"|senate|congress|parliament|committee|house of \w+)( (of|for|on) \S+( \S+){0,5} ?)?",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"(the )?(united (states|kingdom)( of \w+)?|(state|province|republic|kingdom) of [\w ]+)", re.IGNORECASE
)
_PART_OF_MORE = re.compile(
    r"^(?:(\d+|[IVX]+|[A-Z])[.)] .*|(in|for|before|of|to|by|between) the( \S+){0,3}|.*[:,])", re.IGNORECASE
)
"""A numbered section, or a part of a sentence that spans lines."""
_GOES_ON = re.compile(
    r"\s(?:of|for|and|the|in|to|with|on|an?|by|from|at|or|via|using|&|von|für|und|der|die|des)$", re.IGNORECASE
)
"""The end of a line that no title ends with."""
_NAME_LABEL = re.compile(r"\((exact |full |legal )?name\b", re.IGNORECASE)


class Metadata(NamedTuple):
    """A file's title, author and creation date; None where unknown."""

    title: str | None = None
    author: str | None = None
    dated: dt.date | None = None


def read_metadata(document: Any) -> Metadata:
    """Read the metadata of a `pymupdf.Document`."""
    entries = document.metadata or {}
    title = entries.get("title")
    return Metadata(
        title=title if isinstance(title, str) and title else None,
        author=parse_author(entries.get("author")),
        dated=parse_date(entries.get("creationDate")),
    )


def parse_author(text: object) -> str | None:
    """Return the author; None for placeholders."""
    words = types.without_direction_controls(str(text or "")).replace("\x00", " ").split()
    name = " ".join(words)[:MAX_AUTHOR_CHARS].strip()
    return None if _NOBODY.fullmatch(name) else name


def parse_date(text: object) -> dt.date | None:
    """Return the day of a PDF date; None if it is invalid."""
    found = _DATE.match(str(text or ""))
    if not found:
        return None
    try:
        dated = dt.date(*map(int, found.groups()))
    except ValueError:
        return None
    return dated if dated.year >= FIRST_YEAR else None


def find_title(metadata_title: str | None, blocks: Sequence[types.TextBlock]) -> str | None:
    """Return the title in the metadata, else the name on a form's cover, else the highest specific heading."""
    given = " ".join((metadata_title or "").split())
    if _letters(given) >= MIN_LETTERS and not _is_boilerplate(given):
        return given[:MAX_TITLE_CHARS]
    first = [block for block in blocks if block.page_number <= TITLE_PAGES and block.kind in types.PAGE_TEXT]
    headings = [
        block
        for block in first
        if block.level is not None
        # a stamp in the margin runs up or down
        and any(line.bbox.y1 - line.bbox.y0 <= line.bbox.x1 - line.bbox.x0 for line in block.lines)
    ]
    ranked = sorted(headings, key=lambda block: (block.level or 0, block.page_number))
    names = [" ".join(block.text.split()) for block in ranked]
    for place, (block, following) in reversed([*enumerate(pairwise(ranked))]):
        # a title of two lines that ends its first with "of" or "for"
        if _GOES_ON.search(names[place]) and (block.level, block.page_number) == (
            following.level,
            following.page_number,
        ):
            names[place] = f"{names[place]} {names[place + 1]}"
    return next(iter([*_labelled_names(first), *filter(_is_specific, names)]), None)


def is_letterhead(heading: str, page_number: int) -> bool:
    """Whether a heading of the first pages names a form or an authority, so that no section begins there."""
    kinds = (_FORM, _AUTHORITY, _STATE)
    return page_number <= TITLE_PAGES and any(kind.fullmatch(" ".join(heading.split())) for kind in kinds)


def _is_boilerplate(text: str) -> bool:
    """Whether many documents share this title, such as an authority's name in capitals."""
    return bool(
        _GENERATED.match(text)
        or _FORM.fullmatch(text)
        or _PART.fullmatch(text)
        or (text.isupper() and (_AUTHORITY.fullmatch(text) or _STATE.fullmatch(text)))
    )


def _is_specific(heading: str) -> bool:
    """Whether a heading is more than a number or the name of a part, a form or an authority."""
    letters, digits = _letters(heading), sum(map(str.isdigit, heading))
    generic = (_FORM, _PART, _AUTHORITY, _STATE, _PART_OF_MORE)
    return digits <= MAX_DIGITS * (letters + digits) and not any(kind.fullmatch(heading) for kind in generic)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _labelled_names(blocks: Iterable[types.TextBlock]) -> Iterator[str]:
    """Yield the lines right above a label such as “(Exact name of the company)”."""
    for above, label in pairwise(line for block in blocks for line in block.lines):
        is_near = -1 < label.bbox.y0 - above.bbox.y1 < above.bbox.y1 - above.bbox.y0
        is_under = above.page_number == label.page_number and is_near
        if is_under and _NAME_LABEL.match(label.text) and len(above.text) <= MAX_NAME_CHARS:
            yield above.text
