"""Decompress RTF in Outlook mails (MS-OXRTFCP)."""

import contextlib
import struct

_HEADER = struct.Struct("<4I")
_PACKED, _PLAIN = 0x75465A4C, 0x414C454D  # LZFu, MELA
_WINDOW_BYTES = 4096
_START = bytes(_WINDOW_BYTES) + (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
"""What stands before the text: an empty window, and its initial content (MS-OXRTFCP, 2.1.3.1.2)."""
_SHORTEST = 2


def decompress(content: bytes) -> bytes:
    """Return the decompressed RTF, b"" if the compression is unknown.

    Each bit of a control byte tells whether an item is a literal or a reference into the window of the last 4096 bytes.
    An item has at most 17 bytes, so the output is at most eight times as long as the input.
    """
    if len(content) < _HEADER.size:
        return b""
    _, size, kind, _ = _HEADER.unpack_from(content)
    if kind == _PLAIN:
        return content[_HEADER.size : _HEADER.size + size]
    if kind != _PACKED:
        return b""
    items = iter(content[_HEADER.size :])
    text = bytearray(_START)
    with contextlib.suppress(StopIteration):  # of a text that is cut off
        while True:
            control = next(items)
            for bit in range(8):
                if not control >> bit & 1:
                    text.append(next(items))
                    continue
                reference = next(items) << 8 | next(items)
                distance = (len(text) - (reference >> 4)) % _WINDOW_BYTES
                if not distance:  # the end
                    return bytes(text[len(_START) :][:size])
                for _ in range((reference & 0xF) + _SHORTEST):
                    text.append(text[-distance])
    return bytes(text[len(_START) :][:size])
