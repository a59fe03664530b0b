"""Find signatures ("/s/ Ada Holm", or "Name: Ada Holm" over "Title: …") with the name and office beside them."""

import re
from collections.abc import Iterator, Sequence

from rag import types
from rag.answering.passages.boilerplate import Placed, placed_lines, trim_line
from rag.answering.passages.quotable_units import Unit

MAX_OFFICE_LINES = 3
"""Maximum number of lines with name and office below a signature."""

MAX_OFFICE_WORDS = 18
"""Maximum number of words of such a line, which may tell two offices; longer ones are sentences."""

TENURE_REACH = 5
"""Lines below a firm's signature in which it may say since when it has served."""

SIGNING = re.compile(r"(?:(?:by|durch|gez)[.:]?\s*)?_?/s/\s*", re.IGNORECASE)
_SIGNED = re.compile(rf"{SIGNING.pattern}(?P<name>[^\W\d_][^\t]*)", re.IGNORECASE)
_PRINTED = re.compile(r"\s*(?:printed\s+)?name:\s*(?P<name>[^\W\d_][^\t]*)", re.IGNORECASE)
_TITLE = re.compile(r"\s*(?:title|position|its|titel|funktion):\s*\w", re.IGNORECASE)
_BY = re.compile(r"\s*(?:by|per|durch)\s*:[\s_]*", re.IGNORECASE)
"""The line to sign on."""
_FIRM = re.compile(r"\b(?:LLP|L\.L\.P\.|PLLC|LLC|P\.?C\.|Ltd\.?|Limited|GmbH|AG)$|Wirtschaftsprüfungsgesellschaft")
_TENURE = re.compile(r"\bserved\s+as\b.{0,60}\bauditors?\b", re.IGNORECASE)
_DATED = re.compile(r"^(?:date[d:]|datum\b)|\b(?:19|20)\d\d\s*$", re.IGNORECASE)
_PAGE_NUMBER = re.compile(r"\W*\d+\W*")


def signatures(passage: types.Passage) -> Iterator[Unit]:
    """Yield each signature with what stands below it: the name and office, or since when a firm has served.

    The `section` of a unit is the party right above it, in capitals: "ACME, INC.", or all of them in columns.

    Signatures side by side are one unit, since the lines below belong to both. In a table its whole row belongs to it.
    """
    placed = [one for one in placed_lines(passage) if one[1].text.strip()]
    end = 0
    for index, (offset, line) in enumerate(placed):
        signed = _SIGNED.search(line.text) or _printed_name(placed[index : index + 2])
        if signed is None or offset < end:  # the printed name belongs to the signature above
            continue
        below = [one for one in placed[index + 1 :] if one[1].page_number == line.page_number]
        end, is_labelled = trim_line(offset, line).end, False
        if is_firm(signed["name"]):
            end = next((trim_line(*one).end for one in below[:TENURE_REACH] if _TENURE.search(one[1].text)), end)
        else:
            is_row = "\t" in line.text[signed.start() :]
            for number, one in enumerate(below[:MAX_OFFICE_LINES]):
                if _ends_signature(one[1].text, is_row=is_row, is_name=number == 0):
                    break
                end = trim_line(*one).end
                if _TITLE.match(one[1].text):
                    is_labelled = True
                    break
        above = [one for one in placed[:index] if not _BY.fullmatch(one[1].text)][-1:]
        party = next((trim_line(*one) for one in above if _is_party(one[1].text, line.text)), None)
        yield Unit(types.Span(offset + signed.start(), end), types.BlockKind.TEXT, section=party, has_lines=is_labelled)


def is_of_one(text: str) -> bool:
    """Return whether a signature is that of one person, written in one column."""
    return len(SIGNING.findall(text)) == 1 and "\t" not in text


def is_firm(name: str) -> bool:
    """Return whether a signature is that of a firm, by its legal form."""
    return _FIRM.search(name.strip()) is not None


def _printed_name(lines: Sequence[Placed]) -> re.Match[str] | None:
    """Return the name below the line for a signature by hand, over the office that its bearer signs in."""
    is_signature = len(lines) == 2 and _TITLE.match(lines[1][1].text)
    return _PRINTED.match(lines[0][1].text) if is_signature else None


def _is_party(line: str, signed: str) -> bool:
    """Return whether a line names who is signed for: in capitals, in columns if there are several signatures."""
    is_name = line.isupper() and len(line.split()) > 1 and not _SIGNED.search(line)
    return is_name and ("\t" in line) is (len(SIGNING.findall(signed)) > 1)


def _ends_signature(line: str, *, is_row: bool, is_name: bool) -> bool:
    """Return whether a line below a signature is no part of it: the next one, a date, a table, a party's name."""
    if any(pattern.search(line) for pattern in (_SIGNED, _DATED)) or _PAGE_NUMBER.fullmatch(line):
        return True
    if _BY.fullmatch(line) or (_PRINTED.match(line) and not is_name):
        return True
    is_sentence = len(line.split()) > MAX_OFFICE_WORDS
    return is_sentence or ("\t" in line and not is_row) or (line.isupper() and not is_name)
