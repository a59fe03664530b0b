"""Split text into sentences, as spans; in an answer, read its Markdown, table rows and formulas as plain text."""

import re
from collections.abc import Iterator, Sequence

from rag import types
from rag.answering.text.markup import CITATION_MARK
from rag.answering.text.term_weights import word_set

CELL_SEPARATOR = " · "

MAX_SENTENCE_CHARS = 600
"""Text without full stops, such as contents pages or labels of drawings, is cut at this length."""


CHECK_BOX = "[☐☑☒□■✓✔✗✘]"
"""The pattern of a box of a form that is checked or not."""
_WORD_BOX = rf"(?:yes|no|ja|nein)\s*{CHECK_BOX}"
_BOX_WORD = rf"{CHECK_BOX}\s*(?:yes|no|ja|nein)\b"
_CHECKED = rf"(?i:\b{_WORD_BOX}(?:\s*{_WORD_BOX})*|{_BOX_WORD}(?:\s*{_BOX_WORD})*|{CHECK_BOX}[ \t]*(?=\n|$))"
"""The boxes that answer the sentence before them; a box with other words after it begins an item."""
_CLOSERS = r"(?:[^\S\n]?[»›]|[\"'”’»›)\]}）」』】〉》*_⁰¹²³⁴⁵⁶⁷⁸⁹†‡])*+(?:\[\d{1,3}\]){0,5}"
_FOOTNOTE = r"(?<=[^\W\d_]{2}\.)\d{1,2}(?=\s+[^\W\d_])"
_END = re.compile(rf"(?<![.!?…؟۔])[.!?…؟۔]++(?:{_CLOSERS}(?=\s)|{_FOOTNOTE})|[。！？｡．।॥]+{_CLOSERS}|{_CHECKED}")
_ANSWERED = re.compile(_CHECKED)
_NUMBERED_NEXT = re.compile(r"\s+(?:No|Nos|Nr|Art|Sec)\.\s?\d")
"""What may go on behind initials: "C.A. No. 11"."""

_ANSWERED_NEXT = re.compile(rf"\s*{_CHECKED}")
_BULLET = re.compile(r"[ \t]*(?:(?:[•‣◦▪▸●○■□–—*+\-·]|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|#{1,6})(?=\s)[ \t]*)+")
_ENUMERATOR = re.compile(r"\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\.$")
_NEXT_WORD = re.compile(r"[\s\"'“‘«(\[*_]*([^\W\d_]+|\S)")

_NEVER_LAST = word_set(
    "mr mrs ms mx dr drs prof messrs gen col sgt capt lt maj rev hon sen rep gov pres supt vs viz e.g i.e eg ie cf "
    "approx ca dept incl excl resp rs "
    "bzw z.b d.h u.a u.u v.a i.d.r i.h.v i.v.m o.g z.t evtl ggf vgl ggü inkl exkl zzgl abzgl einschl bspw sog gem rd "
    "mme mmes mlle env sr sra sres srta dra ud uds sig sigg dott avv ej p.ej es.g dhr mevr mw bijv o.a t.o.v m.b.t "
    "bl.a f.eks t.ex dvs т.е см"
)
"""Abbreviations that do not end sentences."""

_SOMETIMES_LAST = word_set(
    "fig figs eq eqs sec sect ch chap no nos nr núm num vol vols pp p art arts artt para paras abs ziff tab app ed eds "
    "pág págs pag pagg blz kap lit anh rn st mt ft "
    "inc ltd co corp cos plc llc bros cie cia cía ltda jr sr mio mrd mill mia tsd aprox exec vice "
    "etc al usw ecc enz est cir jan feb mar apr jun jul aug sep sept oct nov dec janv févr juil déc ph.d рис стр им ул"
)
"""Abbreviations that end a sentence only before a common first word."""

_BEFORE_NUMBERS = word_set(
    "max min avg ex exh exhs ref refs tbl cl par anm tz bd tel ext apt ste pt pos cap all ss ff rev ver nº note"
)
"""Abbreviations that end a sentence, but not before a number."""

_UNIT = re.compile(
    r"\d[\s-]?(?:in|ft|yd|mi|lbs?|oz|gal|qt|sq|cu|hrs?|mins?|secs?|mm|cm|km|kg|mg|ml|wks?|yrs?|mos?|bbl|std|sek|cv)$",
    re.IGNORECASE,
)
"""A unit behind its figure, which ends a sentence, but not before a further figure."""

_FIRST_WORDS = word_set(
    "the a an this that these those it its he she they we i you his her their our in on at as if when while although "
    "however but and or for from with after before since there here such all some many most no not our both during "
    "der die das ein eine es er sie wir im in le la les un une il elle nous el los las una en por"
)
_MONTHS = word_set("januar februar märz april mai juni juli august september oktober november dezember")
_BEFORE_ORDINAL = word_set("im am der die das des dem den zum zur vom beim ab bis seit jedes")
"""Words after which a number with a full stop is an ordinal number, as German writes it."""

_NEVER_FIRST = "×=≈≠≤≥<>±÷/&%,;:)]}·"
"""Signs that do not begin sentences."""

MAX_BRACKET_CHARS = 300
"""Maximum length of a remark in brackets within a sentence."""


def split_sentences(text: str) -> list[types.Span]:
    """Split running text into sentences without surrounding white space; a line break counts as a space."""
    spans: list[types.Span] = []
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, start, match):
            spans.append(types.Span(start, match.end()))
            start = match.end()
    spans.append(types.Span(start, len(text)))
    return [span for span in (trimmed(text, span) for span in spans) if span.start < span.end]


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group()[0]
    if mark not in ".!?…":
        return True
    if _ANSWERED_NEXT.match(text, match.end()):
        return False
    following = _NEXT_WORD.match(text, match.end())
    if following is None:
        return True
    word = "Number" if _NUMBERED_NEXT.match(text, match.end()) else following.group(1)  # no "No" of an answer
    if word[0].islower() or word in _NEVER_FIRST or _is_in_brackets(text, start, match.end()):
        return False
    return mark != "." or not _is_abbreviation(text[start : match.start()], word)


def _is_in_brackets(text: str, start: int, position: int) -> bool:
    """Return whether `position` is within a remark in brackets, after which the sentence at `start` goes on."""
    sentence = text[max(start, position - MAX_BRACKET_CHARS) : position].lstrip()
    is_open = sentence[1:].count("(") > sentence[1:].count(")")
    return is_open and text.find(")", position, position + MAX_BRACKET_CHARS) >= 0


def _is_abbreviation(before: str, following: str) -> bool:
    if not before or before[-1].isspace():
        return False
    *earlier, word = before.rsplit(maxsplit=1)
    last = re.split("['’]", word.lstrip("\"'“‘«([*_"))[-1].casefold()
    if _ENUMERATOR.fullmatch(last + ".") and (not earlier or earlier[0].endswith((":", ";"))):
        return True
    if last in _NEVER_LAST:
        return True
    is_before_number = following[0].isdigit() or not following[0].isalnum()
    if is_before_number and (last in _BEFORE_NUMBERS or _UNIT.search(before[-20:])):
        return True
    if last.isdigit():
        is_ordinal = bool(earlier) and earlier[0].rsplit(maxsplit=1)[-1].casefold() in _BEFORE_ORDINAL
        return len(last) <= 2 and (following.casefold() in _MONTHS or (is_ordinal and not is_before_number))
    is_initial = len(last) == 1 and last.isalpha()
    is_acronym = re.fullmatch(r"(?:[^\W\d_]{1,2}\.)+-?[^\W\d_]{1,4}", last) is not None
    return (is_initial or is_acronym or last in _SOMETIMES_LAST) and following.casefold() not in _FIRST_WORDS


def trimmed(text: str, span: types.Span) -> types.Span:
    """Return `span` without white space at its ends."""
    start, end = span
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return types.Span(start, end)


def split_long(text: str, span: types.Span) -> Iterator[types.Span]:
    """Yield `span` in parts of at most `MAX_SENTENCE_CHARS`, cut at line or word ends."""
    start = span.start
    while span.end - start > MAX_SENTENCE_CHARS:
        limit = start + MAX_SENTENCE_CHARS
        cut = max(text.rfind(mark, start + MAX_SENTENCE_CHARS // 2, limit) for mark in ("\n", " "))
        cut = cut + 1 if cut > start else limit
        yield trimmed(text, types.Span(start, cut))
        start = cut
    last = trimmed(text, types.Span(start, span.end))
    if last.start < last.end:
        yield last


def is_answered_by_box(text: str) -> bool:
    """Return whether a check box answers `text`, rather than begins it as a bullet does."""
    return _ANSWERED.search(text) is not None


def has_bullet(text: str) -> bool:
    """Return whether a line begins with a bullet, a number or heading marks."""
    return _BULLET.match(text) is not None


def without_bullet(text: str, span: types.Span) -> types.Span:
    """Return `span` without a leading bullet, number or heading marks, unless nothing else is there."""
    bullet = _BULLET.match(text, span.start, span.end)
    if bullet is None or bullet.end() >= span.end:
        return span
    return types.Span(bullet.end(), span.end)


_NUMBER_BREAK = re.compile(r"(?<=\d-)\n(?=\d)")
"""The end of a line within a number with hyphens."""
_HYPHEN_BREAK = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\s*\n(?=[^\W\d_A-Z])")


def one_line(text: str) -> str:
    """Return `text` on one line: hyphenated words and numbers joined, table cells separated by a dot, unlike labels."""
    joined = _NUMBER_BREAK.sub("", _HYPHEN_BREAK.sub("", text))
    cells = [" ".join(cell.split()) for cell in joined.split("\t")]
    return CELL_SEPARATOR.join(cell for cell in cells if cell).replace(f":{CELL_SEPARATOR}", ": ")


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
    spans: list[types.Span] = []
    end = -1
    for number, line in enumerate(lines):
        start, end = end + 1, end + 1 + len(line)
        formula = next((span for span in formulas if span.start <= start < span.end), None)
        if formula is not None:
            spans += [formula] if formula.start == start else []
        elif markdown_row(lines, number) is not None or _HEADING.match(line):
            spans.append(trimmed(blank, without_bullet(blank, types.Span(start, end))))
        elif not (_FENCE.match(line) or SOURCES_LINE.fullmatch(line)):
            spans += _line_sentences(text, blank, types.Span(start, end))
    return [span for span in spans if any(map(str.isalnum, blank[span.start : span.end]))]


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
    if "\\" in text or "$$" in text:  # LaTeX formulas become plain signs: "2,725 / 14,694 = 18.5 %"
        text = _FRACTION.sub(_quotient, _NAMED.sub(r"\1", text)).replace("$$", " ")
        text = " ".join(_COMMAND.sub(lambda command: _SIGNS.get(command[1], " "), text).split())
    return _MARKUP.sub("", text).strip()


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
