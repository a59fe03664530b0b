"""Find the authors of a paper: the lines of names between its title and its abstract."""

import itertools
import re

from rag import types
from rag.answering.passages.boilerplate import placed_lines, trim_line
from rag.answering.passages.quotable_units import Unit
from rag.answering.text.named_entities import is_term
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
    if not any(_ABSTRACT.match(field) for _, line in placed for field in line.text.split("\t")):
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


def _names_persons(line: types.Line) -> bool:
    """Return whether a line has nothing but names, at least one of two words."""
    return len(_CAPITALISED.findall(line.text)) > 1 and _continues(line)


def _continues(line: types.Line) -> bool:
    text = line.text.strip()
    words = [word.strip(".'’-").casefold() for word in _CAPITALISED.findall(text)]
    is_named = not text.isupper() and not any(is_term(word) or word in _INSTITUTION for word in words)
    return is_named and bool(words) and not _ABSTRACT.match(text) and _NAMES.fullmatch(text) is not None
