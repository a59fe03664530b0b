"""Read the text of RTF files, and rewrite what other readers do not understand."""

import re

from striprtf.striprtf import rtf_to_text

from rag.parsing.office import embedded, paragraphs, rtf_code_pages
from rag.parsing.office.contents import Contents
from rag.parsing.office.paragraphs import Changes, Paragraph
from rag.parsing.office.word.rewriting import MAX_INVISIBLE_HALF_POINTS

_TOKEN = re.compile(rb"\\([a-zA-Z]+)(-?\d{1,10})? ?|\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]|[{}]|[^\\{}]+", re.S)
_LABEL = re.compile(rb"\{\\(?:listtext|pntext)\b([^{}]*)\}")
_CONTROL = re.compile(rb"\\(?:'[0-9a-fA-F]{2}|[a-z]+-?\d* ?|[^a-z])")
_HEAD = re.compile(rb"\\(?:ansi|mac|pc|pca|ansicpg\d+|uc\d+)(?![a-z0-9])")
_COLORS = re.compile(rb"\{\\colortbl\b([^{}]*)\}")
_WHITE = re.compile(rb"\\red255\s*\\green255\s*\\blue255")
_BACKGROUND = re.compile(
    rb"\\(?:highlight|cb|chcbpat|cbpat|clcbpat|shading|clshdng|background)[1-9]|\\(?:background|shp)\b"
)
"""White text may stand on these."""
_APART = frozenset((b"stylesheet", b"listtable", b"fonttbl", b"colortbl", b"info", b"xe", b"tc", b"pict", b"revtbl"))
"""Groups whose content is not text of the document."""
_INSERTED = frozenset((b"revised", b"mvt"))
_DELETED = frozenset((b"deleted", b"mvf"))
_CHANGES = _INSERTED | _DELETED
_STRUCK = _DELETED | {b"striked"}
_ENDS = frozenset((b"par", b"cell", b"row", b"line"))
_PARAGRAPH = b"\\par "
_OF_LISTS = frozenset((b"ls", b"ilvl"))
_WORD_BULLET = b"o"
"""A bullet in Word's lists, drawn by a font of typewriters."""


def read(content: bytes) -> Contents:
    """Read every paragraph, and what is hidden; numbers of lists become text, deleted text is struck out."""
    rewritten, unseen, changes = _rewrite(content)
    head = b"".join(_HEAD.findall(content[:1000]))
    texts = [Paragraph(paragraphs.BODY, text) for text in _texts(rewritten)]
    texts += [Paragraph(paragraphs.HIDDEN, text) for text in _texts(b"{\\rtf1" + head + b" " + unseen + b"}")]
    return Contents(texts, changes.note, tuple(embedded.of_rtf(content)), rewritten)


def _texts(content: bytes) -> list[str]:
    try:
        text = rtf_to_text(content.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    except (LookupError, ValueError):
        return []  # Pandoc may still understand the file
    cells = (cell for line in text.splitlines() for cell in line.split("|"))  # striprtf separates table cells by bars
    return [cell for cell in cells if cell.strip()]


def _rewrite(content: bytes) -> tuple[bytes, bytes, Changes]:
    """Return the file as it is to be read, what is hidden in it, and the changes."""
    content = _LABEL.sub(_label, rtf_code_pages.to_unicode(content))
    colors = _COLORS.search(content) if not _BACKGROUND.search(content) else None
    entries = colors[1].split(b";") if colors else []
    whites = {number for number, entry in enumerate(entries) if _WHITE.fullmatch(entry.strip())}
    kept: list[bytes] = []
    hidden: list[bytes] = []
    insertions = deletions = 0
    # What of hiding, small type and white colour holds here, and whether the group is text of the document.
    hiding, is_apart = frozenset[bytes](), False
    stack: list[tuple[frozenset[bytes], bool]] = []
    position = 0
    while match := _TOKEN.match(content, position):
        token, word, number = match[0], match[1], match[2]
        position = match.end()
        is_off = number == b"0"
        if word == b"bin":  # raw bytes follow
            position = min(len(content), position + max(0, int(number or 0)))
            token = content[match.start() : position]
        elif token == b"{":
            stack.append((hiding, is_apart))
            following = _TOKEN.match(content, position)
            is_apart = is_apart or (following is not None and (following[0] == b"\\*" or following[1] in _APART))
        elif token == b"}":
            hiding, is_apart = stack.pop() if stack else (hiding, is_apart)
        elif word == b"plain":
            hiding = frozenset()
        elif word in {b"v", b"fs", b"cf"}:
            hides = {
                b"v": not is_off,
                b"fs": int(number or 24) <= MAX_INVISIBLE_HALF_POINTS,
                b"cf": int(number or 0) in whites,
            }
            hiding = hiding | {word} if hides[word] else hiding - {word}
        elif word in _CHANGES and not is_apart:
            insertions += word in _INSERTED and not is_off
            deletions += word in _DELETED and not is_off
        is_text = token not in {b"{", b"}"} and word in {None, b"u"}
        if hiding and not is_apart and is_text:
            hidden.append(token)
        else:
            if word in _STRUCK:
                token = b"\\strike0 " if is_off else b"\\strike "
            if word not in _OF_LISTS or is_apart:
                kept.append(token)
            gap = _PARAGRAPH if word in _ENDS else b" "
            if hidden and hidden[-1] not in {gap, _PARAGRAPH}:
                hidden.append(gap)
    return b"".join(kept), b"".join(hidden), Changes(insertions, deletions)


def _label(match: re.Match[bytes]) -> bytes:
    """Return the label of a paragraph as ordinary text: its number, or a bullet."""
    text = _CONTROL.sub(lambda control: control[0] if control[0][1:2] == b"'" else b"", match[1]).strip()
    is_number = re.search(rb"[^\W_]", re.sub(rb"\\'..", b"", text)) is not None and text != _WORD_BULLET
    return b"{" + (text if is_number else b"\\u8226?") + b"\\tab }"
