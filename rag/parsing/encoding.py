"""Decode text whose character set is declared, wrongly declared or unknown."""

import codecs
import re
from collections.abc import Iterator

import chardet
import webencodings

_CHARSET = re.compile(
    rb"""<(?:meta\b[^>]*?\bcharset|\?xml\b[^>]*?\bencoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE
)
_CHARSET_BYTES = 4096
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""UTF-32 comes first, as its mark begins with that of UTF-16."""
_WIDER = {"gbk": "gb18030", "gb2312": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "euc_jp": "euc_jis_2004"}
"""Python's codecs that also read what programs write under the name of a smaller character set."""
_SAYS_NOTHING = frozenset(("ascii", "utf-8", "utf-16-le", "utf-16-be"))
"""Character sets that would have been recognised by their bytes."""
_SEVEN_BIT = ("iso2022", "hz", "utf-7")
"""Beginnings of the names of character sets whose bytes are valid ASCII."""
_ASIAN = frozenset(("big5hkscs", "cp932", "cp949", "cp950", "euc_jis_2004", "gb18030"))
_FIRST_ASIAN = "\u0800"
"""Characters from here on have three bytes in UTF-8."""
_JAPANESE_ESCAPE = re.compile(rb"(\x1b(?:\$[@AB]|\$\([CD]|\([BJI]|\.[AF]))")
_INVALID_UTF8 = "pagelight.invalid_utf8"
_MULTIBYTE = re.compile("[\x80-\U0010ffff]")

_LATIN = ("cp1252", "cp1250", "cp1254", "cp1257", "iso8859-2", "mac-roman")
_OTHERS = ("cp1251", "koi8-r", "koi8-u", "cp866", "cp1253", "cp1255", "cp1256", "cp874", *sorted(_ASIAN))
_NOT_LATIN = re.compile(rb"(?:([\x80-\xff])(?!\1)[@-~]?){4}|(?:[\x81-\x9f\xe0-\xfc][@-~]){3}")
"""Four bytes beyond ASCII together: accented letters hardly do that, and lines and dots repeat one byte.

Shift JIS and Big5 have letters of ASCII as second bytes, the commonest katakana all of them.
"""
_MIN_HIGH_BYTES = 6
"""With fewer, Windows-1252 is likelier than any guess."""
_MIN_ADVANTAGE = 1.4
"""How much likelier than Windows-1252 another character set must be."""
_SHARP_S_OF_DOS = 0xE1
"""The only letter of Western Europe that DOS has where Windows has letters, too."""
_GUESS_BYTES = 100_000


def decode(content: bytes, declared: str | None = None, *, is_html: bool = False) -> str:
    """Decode by a byte order mark, else as UTF-8, else by the `declared` character set, else by a guess.

    Bytes that are not valid do not change how the others are read. HTML may declare its character set itself. Names
    mean what they mean to browsers (WHATWG Encoding Standard): "gb2312" is GB 18030, "iso-8859-1" is Windows-1252.
    """
    for mark, name in _BOMS.items():
        if content.startswith(mark):
            return content.decode(name, errors="replace")
    codec = codec_of(declared) if declared else None
    if codec is None and is_html and (found := _CHARSET.search(content, 0, _CHARSET_BYTES)):
        codec = codec_of(found[1].decode("ascii", errors="replace"))
    if codec and codec.startswith(_SEVEN_BIT):
        is_japanese = codec.startswith("iso2022_jp")
        return "".join(_decode_japanese(content)) if is_japanese else content.decode(codec, "replace")
    text = _decode_utf8(content, is_likely=codec == "utf-8")
    if codec is None or codec in _SAYS_NOTHING:
        return text if text is not None else content.decode(_guess(content), errors="replace")
    if text is None or (codec in _ASIAN and max(text, default="") < _FIRST_ASIAN):
        return content.decode(codec, errors="replace")
    return text


def codec_of(label: str) -> str | None:
    """Return the name of Python's codec for a declared character set, None if it is unknown."""
    encoding = webencodings.lookup(label)
    name = label if encoding is None or encoding.name == "replacement" else encoding.codec_info.name
    try:
        "".encode(name)  # refuses codecs that are no character sets
        name = codecs.lookup(name).name
    except (LookupError, UnicodeError):
        return None
    return _WIDER.get(name, name)


def _decode_utf8(content: bytes, *, is_likely: bool) -> str | None:
    """Decode UTF-8 if there are more valid characters beyond ASCII than invalid bytes; return None if not.

    Where it `is_likely`, any valid character is enough.
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        valid = len(_MULTIBYTE.findall(content.decode(errors="ignore")))
        invalid = content.decode(errors="replace").count("\ufffd")
    return content.decode(errors=_INVALID_UTF8) if valid > (0 if is_likely else invalid) else None


def _read_invalid(error: UnicodeError) -> tuple[str, int]:
    """Read an invalid byte beside a letter as the letter that it is in Windows-1252, else as unknown.

    Files joined from several have such letters. The bytes C2 and C3 begin most letters of UTF-8 and are parts of those.
    """
    if not isinstance(error, UnicodeDecodeError):
        raise error
    content, start = error.object, error.start
    letter = content[start : start + 1].decode("cp1252", errors="replace")
    neighbours = content[max(0, start - 1) : start] + content[start + 1 : start + 2]
    is_letter = letter.isalpha() and letter > "\xc3" and any(bytes((byte,)).isalpha() for byte in neighbours)
    return (letter, start + 1) if is_letter else ("\ufffd", error.end)


codecs.register_error(_INVALID_UTF8, _read_invalid)


def _decode_japanese(content: bytes) -> Iterator[str]:
    """Decode ISO-2022-JP with what Windows adds to it: "①", half-width katakana.

    EUC-JP has the same characters, their bytes with the highest bit set.
    """
    start, *rest = _JAPANESE_ESCAPE.split(content)
    yield start.decode("ascii", errors="replace")
    for escape, text in zip(rest[::2], rest[1::2], strict=True):
        if escape == b"\x1b(I":
            kana = (bytes((0x8E, byte | 0x80)) if byte > 0x20 else bytes((byte,)) for byte in text)
            yield b"".join(kana).decode("euc_jis_2004", errors="replace")
        elif escape in {b"\x1b$@", b"\x1b$B"}:
            yield bytes(byte | 0x80 if byte > 0x20 else byte for byte in text).decode("euc_jis_2004", errors="replace")
        else:
            yield (escape + text).decode("iso2022_jp_2", errors="replace")


def guess_dos(names: bytes) -> str:
    """Return the likeliest codec of file names in a ZIP file, which are in the code page of MS-DOS or of Windows."""
    if _NOT_LATIN.search(names) and (codec := _guess(names)) in _OTHERS:
        return codec
    is_windows = all(byte < 0x80 or (byte >= 0xC0 and byte != _SHARP_S_OF_DOS) for byte in names)
    return "cp1252" if is_windows else "cp437"


def _guess(content: bytes) -> str:
    """Return the likeliest codec for text that is not UTF-8, from those of browsers."""
    lines = b"\n".join(line for line in content.splitlines() if not line.isascii())[:_GUESS_BYTES]
    candidates = (*_LATIN, *_OTHERS) if _NOT_LATIN.search(lines) else _LATIN
    if candidates is _LATIN and sum(byte > 0x7F for byte in lines) < _MIN_HIGH_BYTES:
        return "cp1252"
    guesses = chardet.detect_all(lines, include_encodings=candidates, compat_names=False)
    confidence = {str(guess["encoding"]): guess["confidence"] for guess in guesses}
    best = str(guesses[0]["encoding"])
    is_clear = confidence[best] >= _MIN_ADVANTAGE * confidence.get("cp1252", 0)
    return best if is_clear and best in candidates else "cp1252"
