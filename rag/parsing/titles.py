"""What a document is called: its metadata's title if a person wrote it, else what its first pages say.

A title tells a document from others. What files of many owners have in common does not: the name of a program or of
the form, of a part, of the authority that asks for it. On a form's cover the owner's name stands over its label.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from rag.types import TextBlock

TITLE_PAGES = 2
MAX_TITLE_CHARS = 200
MAX_NAME_CHARS = 100
MIN_LETTERS = 4
MAX_DIGITS = 1 / 3
"""What has a larger share of digits among its letters is a stamp or a number."""

_GENERATED = re.compile(
    r"(untitled|microsoft (word|powerpoint|excel)|(document|presentation|book|scan|slide) ?\d*$|slide \d|powerpoint"
    r"|title$|.*\.(docx?|pptx?|xlsx?|pdf|indd|qxd|tex|dvi|html?|txt|ps|rtf|md)$)",
    re.IGNORECASE,
)
_NUMBER = r"\W+(\d+[A-Z]?|[IVX]+|[A-Z]|[\dA-Z]+-[\dA-Z]+)\W*"
_FORM = re.compile(rf"form{_NUMBER}", re.IGNORECASE)
_PART = re.compile(
    rf"(part|item|exhibit|schedule|annex|appendix|section|chapter|page){_NUMBER}|(table of )?contents|index"
    r"|cover( page)?|(annual |quarterly |current )?report|hearing|opinion|order|complaint",
    re.IGNORECASE,
)
_AUTHORITY = re.compile(
    r"(the )?((?!(of|to|by|for|in|on|an?|the) )[\w.&,’']+ ){0,8}(commission|courts?|department|ministry|bureau|agency"
    r"|senate|congress|parliament|committee|house of \w+)( (of|for|on) (\S+ ?){1,6})?",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"(the )?(united (states|kingdom)( of \w+)?|(state|province|republic|kingdom) of [\w ]+)", re.IGNORECASE
)
_PART_OF_MORE = re.compile(
    r"(\d+|[IVX]+|[A-Z])[.)] .*|(in|for|before|of|to|by|between) the( \S+){0,3}|.*[:,]", re.IGNORECASE
)
"""A section's number, or what goes on from the line above or on to the line below."""
_NAME_LABEL = re.compile(r"\((exact |full |legal )?name\b", re.IGNORECASE)


def find_title(metadata_title: str | None, blocks: Sequence[TextBlock]) -> str | None:
    """The title in the file's metadata, else the name on a form's cover, else the highest heading that is telling."""
    given = " ".join((metadata_title or "").split())
    if _letters(given) >= MIN_LETTERS and not _is_boilerplate(given):
        return given[:MAX_TITLE_CHARS]
    first = [block for block in blocks if block.page_number <= TITLE_PAGES]
    headings = [block for block in first if block.level is not None and not _is_sideways(block)]
    ranked = sorted(headings, key=lambda block: (block.level or 0, block.page_number))
    return next(iter([*_labelled_names(first), *filter(_is_telling, map(_words, ranked))]), None)


def is_letterhead(heading: str, page_number: int) -> bool:
    """Whether a heading of the first pages names a form or an authority: no section of the document begins there."""
    kinds = (_FORM, _AUTHORITY, _STATE)
    return page_number <= TITLE_PAGES and any(kind.fullmatch(" ".join(heading.split())) for kind in kinds)


def _is_boilerplate(text: str) -> bool:
    """Whether files of many owners have this title; such as an authority's name in capitals."""
    return bool(
        _GENERATED.match(text)
        or _FORM.fullmatch(text)
        or _PART.fullmatch(text)
        or (text.isupper() and (_AUTHORITY.fullmatch(text) or _STATE.fullmatch(text)))
    )


def _is_telling(heading: str) -> bool:
    """Whether a heading can tell a document from others, as a number, a part or an authority's name cannot."""
    letters, digits = _letters(heading), sum(map(str.isdigit, heading))
    untelling = (_FORM, _PART, _AUTHORITY, _STATE, _PART_OF_MORE)
    return digits <= MAX_DIGITS * (letters + digits) and not any(kind.fullmatch(heading) for kind in untelling)


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))


def _labelled_names(blocks: Iterable[TextBlock]) -> Iterator[str]:
    """What stands right over a label in brackets such as “(Exact name of the company)”."""
    for above, label in pairwise(line for block in blocks for line in block.lines):
        is_near = -1 < label.bbox.y0 - above.bbox.y1 < above.bbox.y1 - above.bbox.y0
        is_under = above.page_number == label.page_number and is_near
        if is_under and _NAME_LABEL.match(label.text) and len(above.text) <= MAX_NAME_CHARS:
            yield above.text


def _is_sideways(block: TextBlock) -> bool:
    """Whether it is a stamp in the margin, written from bottom to top."""
    return all(line.bbox.y1 - line.bbox.y0 > line.bbox.x1 - line.bbox.x0 for line in block.lines)


def _words(block: TextBlock) -> str:
    return " ".join(block.text.split())
