"""Detect page numbers, running headers and footers, and tables of contents."""

import re
from collections.abc import Iterator, Sequence

from rag import types
from rag.answering.text.sentences import trimmed

CONTENTS_ROWS = 5
"""Minimum number of successive lines ending with rising page numbers in a table of contents."""

MAX_RUNNING_CHARS = 120
"""Maximum length of running headers and footers."""
LEADERS = re.compile(r"(?:(?<!\.)(?<!\.\s)(?:\.\s?){4,}|(?<!…)…{2,})\s*+(?:\d+\s*)?$")
_CONTENTS = re.compile(r"\s*(?:table of )?contents\s*", re.IGNORECASE)
"""A link that filings repeat on each page."""
_PAGE_AT_END = re.compile(r"(?=[^\t]*?[^\W\d_])[^\t]*\s(\d{1,4})\s*")
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_contents_line(text: str) -> bool:
    """Return whether a line has the leaders of a table of contents, or no word at all."""
    return LEADERS.search(text) is not None or not (_WORD.search(text) or any(map(str.isdigit, text)))


def boilerplate_lines(passage: types.Passage) -> set[int]:
    """Return the offsets of boilerplate lines: page numbers, running headers and footers, tables of contents."""
    placed = [(trim_line(offset, line), line) for offset, line in placed_lines(passage) if line.text.strip()]
    offsets: set[int] = set()
    for page in passage.pages:
        lines = [(span, line) for span, line in placed if line.page_number == page and line.kind in types.PAGE_TEXT]
        for edge in (
            lines[:1],
            lines[1:2] if len(lines) > 2 else [],
            lines[-1:],
            lines[-2:-1] if len(lines) > 2 else [],
        ):
            offsets |= {
                span.start
                for span, line in edge
                if _CONTENTS.fullmatch(line.text) or (_is_running(line.text) and not _flows(lines, span))
            }
    numbered = [(span, _PAGE_AT_END.fullmatch(line.text)) for span, line in placed]
    run: list[tuple[types.Span, int]] = []
    for span, match in [*numbered, (types.Span(0, 0), None)]:
        number = int(match[1]) if match else None
        if number is not None and (not run or run[-1][1] <= number <= run[-1][1] + 60) and not _is_period(number):
            run.append((span, number))
            continue
        if len(run) >= CONTENTS_ROWS and run[-1][1] > run[0][1]:
            offsets |= {contents.start for contents, _ in run}
        run = [(span, number)] if number is not None and not _is_period(number) else []
    return offsets


def _flows(lines: Sequence[tuple[types.Span, types.Line]], span: types.Span) -> bool:
    """Return whether the line or the next begins in lower case, that is within a sentence."""
    index = next(index for index, (other, _) in enumerate(lines) if other == span)
    return any(line.text.lstrip()[0].islower() for _, line in lines[index : index + 2])


def _is_period(number: int) -> bool:
    return 1900 <= number < 2100


def _is_running(text: str) -> bool:
    """Return whether the first or last line of a page is a page number, or a header or footer with one."""
    text = text.strip()
    if len(text) > MAX_RUNNING_CHARS or text[-1:] in "!?:;":
        return False
    if re.fullmatch(r"\W*(?:page\s*)?[A-Z]{0,2}[-.]?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?\W*", text, re.IGNORECASE):
        return True
    return "|" in text or (
        not text.endswith(".") and re.search(r"(?:^\d{1,3}\s+\D|\D\s\d{1,3}$)", text) is not None and "\t" not in text
    )


Placed = tuple[int, types.Line]
"""The offset of a line in its passage, and the line."""


def placed_lines(passage: types.Passage) -> Iterator[Placed]:
    """Yield each line with its offset in the passage's text."""
    offset = 0
    for index, line in enumerate(passage.lines):
        offset += (2 if line.starts_block else 1) if index else 0
        yield offset, line
        offset += len(line.text)


def trim_line(offset: int, line: types.Line) -> types.Span:
    """Return the span of a line without surrounding white space."""
    span = trimmed(line.text, types.Span(0, len(line.text)))
    return types.Span(offset + span.start, offset + span.end)
