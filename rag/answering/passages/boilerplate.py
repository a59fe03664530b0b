"""What belongs to a page and says nothing: its number, running heads and feet, lines of a table of contents."""

import re
from collections.abc import Iterator, Sequence

from rag.answering.text.sentences import trimmed
from rag.types import Line, Passage, Span

CONTENTS_ROWS = 5
"""So many lines one after the other that end with rising page numbers are a table of contents."""

MAX_FURNITURE_CHARS = 120
"""Running heads and feet are shorter."""
LEADERS = re.compile(r"(?:\.\s?){4,}\s*\d*\s*$|…{2,}\s*\d*\s*$")
_PAGE_AT_END = re.compile(r"[^\t]*[^\W\d_][^\t]*\s(\d{1,4})\s*")
_WORD = re.compile(r"[^\W\d_]{2,}")


def is_contents(text: str) -> bool:
    """Whether it is a line of a table of contents by its leaders, or has no word at all: dashes, numbers of pages."""
    return LEADERS.search(text) is not None or not (_WORD.search(text) or any(map(str.isdigit, text)))


def furniture_of(passage: Passage) -> set[int]:
    """Where the lines begin that belong to the page: its number, running heads and feet, a table of contents."""
    placed = [(trim_line(offset, line), line) for offset, line in placed_lines(passage) if line.text.strip()]
    found: set[int] = set()
    for page in passage.pages:
        lines = [(span, line) for span, line in placed if line.page_number == page]
        for edge in (
            lines[:1],
            lines[1:2] if len(lines) > 2 else [],
            lines[-1:],
            lines[-2:-1] if len(lines) > 2 else [],
        ):
            found |= {span.start for span, line in edge if _is_running(line.text) and not _flows(lines, span)}
    numbered = [(span, _PAGE_AT_END.fullmatch(line.text)) for span, line in placed]
    run: list[tuple[Span, int]] = []
    for span, match in [*numbered, (Span(0, 0), None)]:
        number = int(match[1]) if match else None
        if number is not None and (not run or run[-1][1] <= number <= run[-1][1] + 60) and not _is_period(number):
            run.append((span, number))
            continue
        if len(run) >= CONTENTS_ROWS and run[-1][1] > run[0][1]:
            found |= {contents.start for contents, _ in run}
        run = [(span, number)] if number is not None and not _is_period(number) else []
    return found


def _flows(lines: Sequence[tuple[Span, Line]], span: Span) -> bool:
    """Whether the line at `span`, or the one after it, begins with a small letter: it is amid a sentence."""
    index = next(index for index, (other, _) in enumerate(lines) if other == span)
    return any(line.text.lstrip()[0].islower() for _, line in lines[index : index + 2])


def _is_period(number: int) -> bool:
    return 1900 <= number < 2100


def _is_running(text: str) -> bool:
    """Whether the first or last line of a page is only its number, or ends or begins with it and is no sentence."""
    text = text.strip()
    if len(text) > MAX_FURNITURE_CHARS or text[-1:] in "!?:;":
        return False
    if re.fullmatch(r"\W*(?:page\s*)?[A-Z]{0,2}[-.]?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?\W*", text, re.IGNORECASE):
        return True
    return (
        "|" in text
        or re.fullmatch(r"(?:table of )?contents", text, re.IGNORECASE) is not None
        or (
            not text.endswith(".")
            and re.search(r"(?:^\d{1,3}\s+\D|\D\s\d{1,3}$)", text) is not None
            and "\t" not in text
        )
    )


Placed = tuple[int, Line]
"""Where a line begins, and the line."""


def placed_lines(passage: Passage) -> Iterator[Placed]:
    """Each line with its offset in the passage's text."""
    offset = 0
    for index, line in enumerate(passage.lines):
        offset += (2 if line.starts_block else 1) if index else 0
        yield offset, line
        offset += len(line.text)


def trim_line(offset: int, line: Line) -> Span:
    """Where a line stands without the white space around it."""
    span = trimmed(line.text, Span(0, len(line.text)))
    return Span(offset + span.start, offset + span.end)
