"""Write the characters of RTF that are in code pages as Unicode, as Pandoc takes all of them for Windows-1252."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
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
        token = _TOKEN.match(content, position)
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
