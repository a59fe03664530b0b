"""Text whose encoding nobody tells."""


def decode(content: bytes) -> str:
    """Text of unknown encoding: UTF-16 with a byte order mark, else UTF-8, else Windows-1252."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")
