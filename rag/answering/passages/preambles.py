"""Find the preamble of a contract, which names its parties."""

import re

from rag import types
from rag.answering.passages.boilerplate import placed_lines, trim_line
from rag.answering.passages.quotable_units import Unit

FIRST_LINES = 80
"""Lines of a document in which its preamble begins."""

MAX_LINES = 16
"""Maximum number of lines of a preamble."""

RUNNING_CHARS = 60
"""Longer lines without an end of a sentence go on in the next one."""

_BETWEEN = re.compile(r"\b(?:by\s+and\s+)?(?:between|among)\b|\bzwischen\b", re.IGNORECASE)
_JOINS = re.compile(r"\b(?:and|und)\b|&", re.IGNORECASE)
_NAMED = re.compile(r"[(\[][^()\[\]“”„\"]{0,60}[“\"„][^()“”„\"]{1,60}[”\"“][^()\[\]]{0,40}[)\]]")
"""What a party is called from here on: (“Licensor”)."""
_ENDS = re.compile(
    r"\s*(?:W\s?HEREAS\b|W\s?ITNESS|RECITALS?\b|BACKGROUND\b|PREAMBLE\b|NOW\b|THEREFORE\b|IN\s+CONSIDERATION\b|ARTICLE\b|SECTION\b"
    r"|§|\d{1,2}[.)]\s|\(?the\s+[“\"](?:agreement|contract)|the\s+parties\s+(?:agree|hereby)|collectively\b|präambel\b|vorbemerkung)",
    re.IGNORECASE,
)


def preamble(passage: types.Passage) -> Unit | None:
    """Return the words that name the parties, "between … and …", or None outside the beginning of a contract."""
    placed = [one for one in placed_lines(passage) if one[1].text.strip()]
    for index, (_, line) in enumerate(placed):
        if line.number > FIRST_LINES or not _BETWEEN.search(line.text):
            continue
        start = index
        while start and _goes_on(placed[start - 1][1], placed[start][1]):
            start -= 1
        end = index + 1
        while end < min(len(placed), start + MAX_LINES) and not _ENDS.match(placed[end][1].text):
            end += 1
        span = types.Span(trim_line(*placed[start]).start, trim_line(*placed[end - 1]).end)
        text = passage.text[slice(*span)]
        if _JOINS.search(text, _BETWEEN.search(text).end()) and len(_NAMED.findall(text)) > 1:  # type: ignore[union-attr]
            return Unit(span, types.BlockKind.TEXT)
    return None


def _goes_on(before: types.Line, line: types.Line) -> bool:
    """Return whether a line belongs to the same sentence as the long one before it."""
    is_running = len(before.text) > RUNNING_CHARS and before.text.rstrip()[-1] not in ".:;"
    return not line.starts_block or (before.kind is line.kind is types.BlockKind.TEXT and is_running)
