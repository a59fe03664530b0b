"""Find persons: the authors of a paper above its abstract, and signatures ("/s/ Ada Holm") with name and office."""

import itertools
import re
from collections.abc import Iterator

from rag import types
from rag.answering.passages.quotable_units import Unit, placed_lines, trim_line
from rag.answering.text.names import is_term
from rag.answering.text.term_weights import word_set

FIRST_LINES = 12
"""Lines of a document in which its title ends."""

REACH = 4
"""Lines below the title in which the names begin, after a subtitle or a date."""

MAX_LINES = 8
"""Maximum number of lines of names."""

_NAME = r"[^\W\d_a-zß-öø-ÿ][\w.'’-]*+"
_BETWEEN = r"[\s,;&∗*†‡§¶#()\d]++|\b(?:and|und|et|van|von|der|den|de|la|le|di|del|bin|al)\b"
_NAMES = re.compile(rf"(?:(?:by|By|von|Von)\s+)?{_NAME}(?:{_BETWEEN}|{_NAME})++")
_ABSTRACT = re.compile(
    r"\s*(?:\d\.?\s+)?(?:abstract|summary|introduction|zusammenfassung|kurzfassung|einleitung)\b", re.IGNORECASE
)
_CAPITALISED = re.compile(_NAME)
_INSTITUTION = word_set(
    "university universität universidad université institute institut institution college school hochschule "
    "department faculty laboratory laboratories lab labs center centre hospital clinic academy inc llc ltd gmbh "
    "journal press proceedings conference keywords draft preprint version"
)


def byline(passage: types.Passage) -> Unit | None:
    """Return the names below the title on the first page; None without names, or if the page has no abstract."""
    placed = [one for one in placed_lines(passage) if one[1].text.strip()]
    if not placed or placed[0][1].page_number != 1 or placed[0][1].number > REACH:
        return None
    if not any(begins_abstract(field) for _, line in placed for field in line.text.split("\t")):
        return None
    title = next(
        (at for at, (_, line) in enumerate(placed[:FIRST_LINES]) if line.kind is types.BlockKind.HEADING), None
    )
    if title is None:
        return None
    below = [*itertools.dropwhile(lambda one: not one[1].starts_block, placed[title + 1 :])]
    begins = next((at for at, (_, line) in enumerate(below[:REACH]) if _names_persons(line)), None)
    if begins is None:
        return None
    kind = below[begins][1].kind
    names = [
        *itertools.takewhile(lambda one: one[1].kind is kind and _continues(one[1]), below[begins : begins + MAX_LINES])
    ]
    return Unit(types.Span(trim_line(*names[0]).start, trim_line(*names[-1]).end), types.BlockKind.TEXT)


def begins_abstract(line: str) -> bool:
    """Return whether the text of a paper begins with this line."""
    return _ABSTRACT.match(line) is not None


def is_institution(name: str) -> bool:
    """Return whether capitalised words name an institution, or nobody."""
    words = [word.strip(".'’-").casefold() for word in _CAPITALISED.findall(name)]
    return any(is_term(word) or word in _INSTITUTION for word in words)


def _names_persons(line: types.Line) -> bool:
    """Return whether a line has nothing but names, at least one of two words."""
    return len(_CAPITALISED.findall(line.text)) > 1 and _continues(line)


def _continues(line: types.Line) -> bool:
    text = line.text.strip()
    is_named = not text.isupper() and _CAPITALISED.search(text) is not None and not is_institution(text)
    return is_named and not begins_abstract(text) and _NAMES.fullmatch(text) is not None


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
