"""Read the text of RTF files, and rewrite what Pandoc does not understand.

Characters in code pages become Unicode, as Pandoc takes all of them for Windows-1252.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from striprtf.striprtf import rtf_to_text

from rag.parsing.office import embedded, paragraphs
from rag.parsing.office.docx_rewriting import MAX_INVISIBLE_HALF_POINTS
from rag.parsing.office.paragraphs import Changes, Contents, Paragraph

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
_CHARACTER = re.compile(
    rb"\\'(?P<hex>[0-9A-Fa-f]{2})|\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?|(?P<raw>[\x80-\xff])|[{}]|\\.?"
    rb"|[^\\{}\x80-\xff]+",
    re.DOTALL,
)
_FONT = re.compile(rb"\\f(\d{1,5})(?![\d{}])[^{};]{0,100}?\\fcharset(\d{1,3})")
_DEFAULT = re.compile(rb"\\(ansicpg(\d{1,5})|mac|pca?)\b")
_HEAD_BYTES = 1024
_CODECS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5hkscs",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
"""Code pages of fonts (RTF 1.9.1, \\fcharset); 1 is the document's, 2 is of symbols."""
_ESCAPED = (b"\\\\", b"\\{", b"\\}")
_PANDOC_READS = "cp1252"


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
    content = _LABEL.sub(_label, to_unicode(content))
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


class _State(NamedTuple):
    """What holds until a group ends: the codec of the font, and how many characters follow a Unicode character."""

    codec: str
    fallbacks: int = 1


def to_unicode(content: bytes) -> bytes:
    r"""Return RTF in which `\u` stands for the bytes of code pages. Bytes after `\u`, for old readers, stay."""
    default = _default_codec(content)
    fonts = {int(font): _CODECS.get(int(charset), default) for font, charset in _FONT.findall(content)}
    if {default, *fonts.values()} == {_PANDOC_READS}:
        return content
    return b"".join(_rewritten(content, fonts, default))


def _default_codec(content: bytes) -> str:
    mark = _DEFAULT.search(content, 0, _HEAD_BYTES)
    if mark is None:
        return _PANDOC_READS
    if mark[2] is None:
        return {b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850"}[mark[1]]
    name = {932: "cp932", 936: "gb18030", 950: "big5hkscs", 10000: "mac_roman", 65001: "utf-8"}.get(int(mark[2]))
    name = name or f"cp{int(mark[2])}"
    try:
        "".encode(name)
    except LookupError:
        return _PANDOC_READS
    return name


def _rewritten(content: bytes, fonts: dict[int, str], default: str) -> Iterator[bytes]:
    state, stack = _State(default), list[_State]()
    pending = b""  # bytes of characters, of which the last may be incomplete
    skipped = position = 0
    while position < len(content):
        token = _CHARACTER.match(content, position)
        assert token is not None  # the pattern matches any byte
        position = token.end()
        byte = bytes.fromhex(token["hex"].decode()) if token["hex"] else token["raw"]
        if byte and not skipped:
            pending += byte
            continue
        text = token[0]
        if pending and not byte:
            if text in _ESCAPED and _is_cut(pending, state.codec):
                pending += text[1:]
                continue
            taken = int(text[:1] not in b"\\{}\r\n" and _is_cut(pending, state.codec))
            yield _escaped(pending + text[:taken], state.codec)
            pending, text = b"", text[taken:]
        yield text
        if byte:
            skipped -= 1
        elif text == b"{":
            stack.append(state)
        elif text == b"}":
            state = stack.pop() if stack else state
        elif token["word"]:
            word, number = token["word"], int(token["number"] or 0)
            skipped = state.fallbacks if word == b"u" else 0
            if word == b"bin":
                yield content[position : position + number]
                position += max(0, number)
            elif word in {b"f", b"plain"}:
                state = state._replace(codec=fonts.get(number, default) if word == b"f" else default)
            elif word == b"uc":
                state = state._replace(fallbacks=max(0, number))
        else:
            skipped = max(0, skipped - len(text))
    yield _escaped(pending, state.codec)


def _is_cut(pending: bytes, codec: str) -> bool:
    """Return whether the last character needs another byte, which may be written as a letter or sign."""
    try:
        pending.decode(codec)
    except UnicodeDecodeError as error:
        return error.end == len(pending) and "incomplete" in error.reason
    return False


def _escaped(content: bytes, codec: str) -> bytes:
    """Return characters as control words in a group, in which no replacements follow them."""
    if codec == _PANDOC_READS or not content:
        return b"".join(b"\\'%02x" % byte for byte in content)
    units = content.decode(codec, errors="replace").encode("utf-16-le")
    numbers = (int.from_bytes(units[start : start + 2], "little", signed=True) for start in range(0, len(units), 2))
    return b"{\\uc0" + b"".join(b"\\u%d" % number for number in numbers) + b" }"
