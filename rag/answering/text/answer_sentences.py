"""Split an answer in Markdown into sentences, and read its table rows and formulas as plain text."""

import re
from collections.abc import Iterator, Sequence

from rag import types
from rag.answering.text.markup import CITATION_MARK
from rag.answering.text.sentences import split_sentences, trimmed, without_bullet

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[^`~\n]{0,40}$")
_FORMULA = re.compile(
    r"^[ \t]*(?:\$\$|\\\[)[ \t]*\n(?P<lines>[^\n]+(?:\n[^\n]+){0,20}?)\n[ \t]*(?:\$\$|\\\])", re.MULTILINE
)
"""A formula on lines of its own."""
SOURCES_LINE = re.compile(
    r"\W*(?:(?:sources?|quellen?|fuentes?|références?|bronn?(?:en)?|font[ie]s?)\W*)?", re.IGNORECASE
)
"""A line that only names sources, which belong to what stands above."""
_LINE_START = re.compile(r"[ \t]*(?:>[ \t]?)*")
_TASK_BOX = re.compile(r"\[[ xX]\][ \t]+")
_BOLD = re.compile(r"\*\*(?=\S)(?:[^*\n]|\*(?!\*)){1,400}\*\*")
_REPLY = re.compile(r"[*_]{0,3}No\.[*_]*\s+(?=[\"'“‘(*_]{0,3}[^\W\d_a-z])")
"""A reply at the beginning of a sentence; within it, "No." is an abbreviation."""
_STOPPED = re.compile(r"[.!?…][\"'”’)*_]{0,4}\s*$")
_LETTER = re.compile(r"\s*[\"'“‘(*_]{0,4}([^\W\d_])")

MAX_LABEL_WORDS = 3
"""Maximum length of a bold label before a sentence: "**Cash.** It rose." """


def answer_sentences(text: str) -> list[types.Span]:
    """Return the sentences of an answer; a heading, a table row and a formula on lines of its own are one each."""
    blank = without_marks(text)
    formulas = [types.Span(*match.span("lines")) for match in _FORMULA.finditer(blank)]
    lines = blank.split("\n")
    found: list[types.Span] = []
    end = -1
    for number, line in enumerate(lines):
        start, end = end + 1, end + 1 + len(line)
        formula = next((span for span in formulas if span.start <= start < span.end), None)
        if formula is not None:
            found += [formula] if formula.start == start else []
        elif markdown_row(lines, number) is not None or _HEADING.match(line):
            found.append(trimmed(blank, without_bullet(blank, types.Span(start, end))))
        elif not (_FENCE.match(line) or SOURCES_LINE.fullmatch(line)):
            found += _line_sentences(text, blank, types.Span(start, end))
    return [span for span in found if any(map(str.isalnum, blank[span.start : span.end]))]


def without_marks(text: str) -> str:
    """Return `text` with spaces for its citation marks."""
    return CITATION_MARK.sub(lambda match: " " * len(match.group()), text)


def _line_sentences(text: str, blank: str, line: types.Span) -> list[types.Span]:
    """Split one line into sentences, without its bullet."""
    for opening in (_LINE_START, _TASK_BOX):
        if opened := opening.match(blank, line.start, line.end):
            line = types.Span(opened.end(), line.end)
        line = without_bullet(blank, line)
    found = [types.Span(line.start + s, line.start + e) for s, e in split_sentences(blank[line.start : line.end])]
    parts = [part for span in found for part in _cut_at_marks(text, blank, span)]
    joined: list[types.Span] = []
    bold = [types.Span(*match.span()) for match in _BOLD.finditer(blank, line.start, line.end)]
    for span in parts:
        if joined and any(_goes_on(text, blank, run, joined[-1], span) for run in bold):
            joined[-1] = types.Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined


def _cut_at_marks(text: str, blank: str, span: types.Span) -> Iterator[types.Span]:
    """Cut a sentence after a reply, and where a mark stands between a full stop and a capital: "the U.S. [S1] It"."""
    start = span.start
    if reply := _REPLY.match(blank, span.start, span.end):
        yield trimmed(blank, types.Span(start, reply.end()))
        start = reply.end()
    for mark in CITATION_MARK.finditer(text, span.start, span.end):
        letter = _LETTER.match(blank, mark.end(), span.end)
        if letter and letter[1].isupper() and _STOPPED.search(blank[max(start, mark.start() - 20) : mark.start()]):
            yield trimmed(blank, types.Span(start, mark.start()))
            start = mark.end()
    yield trimmed(blank, types.Span(start, span.end))


def _goes_on(text: str, blank: str, run: types.Span, before: types.Span, after: types.Span) -> bool:
    """Return whether two sentences are one: both in one bold run, or the first is a bold label of the second.

    The mark behind a bold run stands for all of it.
    """
    if CITATION_MARK.search(text, before.start, after.start) or CITATION_MARK.search(text, run.start, run.end):
        return False
    if run.start < after.start < run.end:
        return before.end > run.start
    label = blank[before.start : before.end]
    return before == run and label.rstrip("*").endswith(".") and len(label.split()) <= MAX_LABEL_WORDS


# --- plain text ---

_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)")
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{0,200})\}\s?\{([^{}]{0,200})\}")
_NAMED = re.compile(r"\\(?:text|mathrm|mathbf|textbf|operatorname)\s?\{([^{}]{0,200})\}")
_SIGNS = {"times": "×", "cdot": "×", "div": "÷", "approx": "≈", "pm": "±", "leq": "≤", "geq": "≥", "(": "", ")": ""}
_SIGNS |= {sign: sign for sign in "%$&#_"}
_COMMAND = re.compile(r"\\([A-Za-z]+|[^\w\s])")


def strip_markup(text: str) -> str:
    """Return `text` without emphasis, and with formulas as plain text."""
    return _MARKUP.sub("", _without_latex(text)).strip()


def _without_latex(text: str) -> str:
    """Return `text` with its LaTeX formulas in plain signs: "2,725 / 14,694 = 18.5 %"."""
    if "\\" not in text and "$$" not in text:
        return text
    plain = _FRACTION.sub(_quotient, _NAMED.sub(r"\1", text)).replace("$$", " ")
    plain = _COMMAND.sub(lambda command: _SIGNS.get(command[1], " "), plain)
    return " ".join(plain.split())


def _quotient(fraction: re.Match[str]) -> str:
    """Return a fraction on one line; brackets around a lone figure would make it negative."""
    return " / ".join(
        f"({part})" if re.search(r"\S\s*[-+−*×]|\\", part) else part.strip() for part in fraction.groups()
    )


# --- tables in Markdown -----------------------------------------------------------------------------

_ROW = re.compile(r"[^|\n]*\|")
_RULE = re.compile(r"\s*+(?:\|\s*+)?:?-{2,}+:?\s*+(?:\|\s*+:?-{2,}+:?\s*+)*(?:\|\s*)?$")
_CELL_BORDER = re.compile(r"(?<!\\)\|")


def markdown_row(lines: Sequence[str], index: int) -> str | None:
    """Return line `index` as a statement if it is a row of a Markdown table: its cells with their column names.

    Returns "" for the header row and None for a line outside a table.
    """
    if not _ROW.match(lines[index]):
        return None
    start = index
    while start > 0 and _ROW.match(lines[start - 1]):
        start -= 1
    if start + 1 >= len(lines) or "|" not in lines[start + 1] or not _RULE.match(lines[start + 1]):
        return None
    if index <= start + 1:
        return ""
    names, cells = _cells(lines[start]), _cells(lines[index])
    if len(names) != len(cells):
        return " ".join(filter(None, cells))
    named = [(name, cell) for name, cell in zip(names, cells, strict=True) if cell]
    label = named[0][1] if named else ""
    others = "; ".join(f"{name}: {cell}" if name else cell for name, cell in named[1:])
    return f"{label} – {others}" if others else label


def _cells(row: str) -> list[str]:
    row = row.strip().removeprefix("|")
    cells = _CELL_BORDER.split(row.removesuffix("|") if not row.endswith("\\|") else row)
    return [strip_markup(cell.replace("\\|", "|")) for cell in cells]
