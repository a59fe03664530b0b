"""Find signatures ("/s/ Ada Holm") with the name and office below them."""

import re
from collections.abc import Iterator

from rag import types
from rag.answering.passages.boilerplate import placed_lines, trim_line
from rag.answering.passages.quotable_units import Unit

MAX_OFFICE_LINES = 3
"""Maximum number of lines with name and office below a signature."""

MAX_OFFICE_WORDS = 18
"""Maximum number of words of such a line, which may tell two offices; longer ones are sentences."""

TENURE_REACH = 5
"""Lines below a firm's signature in which it may say since when it has served."""

SIGNING = re.compile(r"(?:(?:by|durch|gez)[.:]?\s*)?_?/s/\s*", re.IGNORECASE)
_SIGNED = re.compile(rf"{SIGNING.pattern}(?P<name>[^\W\d_][^\t]*)", re.IGNORECASE)
_FIRM = re.compile(r"\b(?:LLP|L\.L\.P\.|PLLC|LLC|P\.?C\.|Ltd\.?|Limited|GmbH|AG)$|Wirtschaftsprüfungsgesellschaft")
_TENURE = re.compile(r"\bserved\s+as\b.{0,60}\bauditors?\b", re.IGNORECASE)
_DATED = re.compile(r"^(?:date[d:]|datum\b)|\b(?:19|20)\d\d\s*$", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"\W*\d+\W*")


def signatures(passage: types.Passage) -> Iterator[Unit]:
    """Yield each signature with what stands below it: the name and office, or since when a firm has served.

    The `section` of a unit is the party right above it, in capitals: "ACME, INC.". Signatures side by side are one
    unit, since the lines below belong to both. In a table its whole row belongs to it.
    """
    placed = [(offset, line) for offset, line in placed_lines(passage) if line.text.strip()]
    for index, (offset, line) in enumerate(placed):
        signed = _SIGNED.search(line.text)
        if signed is None:
            continue
        below = [other for other in placed[index + 1 :] if other[1].page_number == line.page_number]
        end = trim_line(offset, line).end
        if is_firm(signed["name"]):
            end = next((trim_line(*other).end for other in below[:TENURE_REACH] if _TENURE.search(other[1].text)), end)
        else:
            is_row = "\t" in line.text[signed.start() :]
            for number, other in enumerate(below[:MAX_OFFICE_LINES]):
                if _ends_signature(other[1].text, is_row=is_row, is_name=number == 0):
                    break
                end = trim_line(*other).end
        above = placed[index - 1] if index else None
        party = trim_line(*above) if above and _is_party(above[1].text) else None
        yield Unit(types.Span(offset + signed.start(), end), types.BlockKind.TEXT, section=party)


def is_of_one(text: str) -> bool:
    """Return whether a signature is that of one person, written in one column."""
    return len(SIGNING.findall(text)) == 1 and "\t" not in text


def is_firm(name: str) -> bool:
    """Return whether a signature is that of a firm, by its legal form."""
    return _FIRM.search(name.strip()) is not None


def _is_party(line: str) -> bool:
    return line.isupper() and len(line.split()) > 1 and not _SIGNED.search(line) and "\t" not in line


def _ends_signature(line: str, *, is_row: bool, is_name: bool) -> bool:
    """Return whether a line below a signature is no part of it: the next one, a date, a table, a party's name."""
    if any(pattern.search(line) for pattern in (_SIGNED, _DATED)) or _PAGE_NUMBER.fullmatch(line):
        return True
    is_sentence = len(line.split()) > MAX_OFFICE_WORDS
    return is_sentence or ("\t" in line and not is_row) or (line.isupper() and not is_name)
