"""Decompress RTF in Outlook mails (MS-OXRTFCP)."""

import struct

_HEADER = struct.Struct("<4I")
_PACKED, _PLAIN = 0x75465A4C, 0x414C454D  # LZFu, MELA
_WINDOW_BYTES = 4096
_START = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""Initial content of the window (MS-OXRTFCP, 2.1.3.1.2)."""
_SHORTEST = 2


def decompress(content: bytes) -> bytes:
    """Return the decompressed RTF, b"" if the compression is unknown."""
    if len(content) < _HEADER.size:
        return b""
    _, size, kind, _ = _HEADER.unpack_from(content)
    if kind == _PLAIN:
        return content[_HEADER.size : _HEADER.size + size]
    return _unpacked(content[_HEADER.size :])[:size] if kind == _PACKED else b""


def _unpacked(packed: bytes) -> bytes:
    """Decompress LZFu: each bit of a control byte tells whether an item is a literal or a reference into the window.

    An item has at most 17 bytes, so the output is at most eight times as long as the input.
    """
    window = bytearray(_START.ljust(_WINDOW_BYTES, b"\0"))
    end = len(_START)
    out = bytearray()

    def put(byte: int) -> None:
        nonlocal end
        out.append(byte)
        window[end] = byte
        end = (end + 1) % _WINDOW_BYTES

    items = iter(packed)
    try:
        while True:
            control = next(items)
            for bit in range(8):
                if not control >> bit & 1:
                    put(next(items))
                    continue
                reference = next(items) << 8 | next(items)
                start = reference >> 4
                if start == end:
                    return bytes(out)
                for step in range((reference & 0xF) + _SHORTEST):
                    put(window[(start + step) % _WINDOW_BYTES])
    except StopIteration:
        return bytes(out)
