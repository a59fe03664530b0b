"""Generated Outlook mails: minimal compound files (MS-CFB) of properties (MS-OXMSG)."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

Tree = Mapping[str, Any]
"""Streams (bytes) and storages (trees) by name."""

_SECTOR, _MINI, _CUTOFF = 512, 64, 4096
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STRING, _STRING8, _BINARY, _TIME, _NUMBER = 0x001F, 0x001E, 0x0102, 0x0040, 0x0003
PROPERTIES = "__properties_version1.0"


def mail(
    *,
    strings: Mapping[int, str],
    binaries: Mapping[int, bytes] | None = None,
    code_page: int = 0,
    numbers: Mapping[int, int] | None = None,
    times: Mapping[int, int] | None = None,
    names: Sequence[int] = (),
    sent: int | None = None,
    recipients: Sequence[tuple[int, str, str]] = (),
    attachments: Sequence[Tree] = (),
    inner: bool = False,
) -> dict[str, Any]:
    """A mail as a tree; `sent` in 100 ns since 1601, recipients by kind, name and address.

    With a `code_page`, texts are in it. `names` are the named properties of appointments, which have the numbers 0x8000
    and so on.
    """
    header = struct.pack("<8x4I", 0, 0, len(recipients), len(attachments)) if inner else bytes(32)
    numbers = dict(numbers or {}) | ({0x3FFD: code_page} if code_page else {})
    times = dict(times or {}) | ({0x0039: sent} if sent else {})
    tree = _object(header, strings, binaries or {}, times=times, numbers=numbers, code_page=code_page)
    for number, (kind, name, address) in enumerate(recipients):
        strings = {0x3001: name, 0x39FE: address}
        properties = _object(bytes(8), strings, {}, numbers={0x0C15: kind}, code_page=code_page)
        tree[f"__recip_version1.0_#{number:08X}"] = properties
    if names:
        entries = (struct.pack("<IHH", name, 3 << 1, position) for position, name in enumerate(names))
        guid = bytes.fromhex("0220060000000000c000000000000046")
        tree["__nameid_version1.0"] = {"__substg1.0_00020102": guid, "__substg1.0_00030102": b"".join(entries)}
    return tree | {f"__attach_version1.0_#{number:08X}": one for number, one in enumerate(attachments)}


def attachment(name: str, content: bytes, *, cid: str = "", mime_type: str = "") -> dict[str, Any]:
    """A file in a mail."""
    strings = {0x3707: name} | ({0x3712: cid} if cid else {}) | ({0x370E: mime_type} if mime_type else {})
    return _object(bytes(8), strings, {0x3701: content}, numbers={0x3705: 1})


def attached_mail(tree: Tree) -> dict[str, Any]:
    """A mail in a mail, made with `inner`."""
    made = _object(bytes(8), {0x3001: "a mail"}, {}, numbers={0x3705: 5})
    return made | {"__substg1.0_3701000D": tree}


def _object(
    header: bytes,
    strings: Mapping[int, str],
    binaries: Mapping[int, bytes],
    *,
    times: Mapping[int, int] | None = None,
    numbers: Mapping[int, int] | None = None,
    code_page: int = 0,
) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    rows = [_row(number, _TIME, struct.pack("<Q", value)) for number, value in (times or {}).items()]
    rows += [_row(number, _NUMBER, struct.pack("<I4x", value)) for number, value in (numbers or {}).items()]
    kind, codec, end = (_STRING8, f"cp{code_page}", 1) if code_page else (_STRING, "utf-16-le", 2)
    values = [(number, kind, text.encode(codec), end) for number, text in strings.items()]
    values += [(number, _BINARY, content, 0) for number, content in binaries.items()]
    for number, kind, content, end in values:
        tree[f"__substg1.0_{number:04X}{kind:04X}"] = content
        rows.append(_row(number, kind, struct.pack("<I4x", len(content) + end)))
    return tree | {PROPERTIES: header + b"".join(rows)}


def _row(number: int, kind: int, value: bytes) -> bytes:
    return struct.pack("<HHI", kind, number, 6) + value


class _File:
    """Sectors, small sectors and directory entries in order."""

    def __init__(self) -> None:
        self.sectors: list[bytes] = []
        self.fat: list[int] = []
        self.small = b""
        self.small_fat: list[int] = []
        self.entries: list[bytes] = []

    def chain(self, content: bytes) -> int:
        """Store content in sectors and return the first."""
        first = len(self.sectors)
        count = -(-len(content) // _SECTOR)
        self.sectors += [content[n * _SECTOR : (n + 1) * _SECTOR].ljust(_SECTOR, b"\0") for n in range(count)]
        self.fat += [*range(first + 1, first + count), _END][:count]
        return first if count else _END

    def stream(self, content: bytes) -> int:
        """Store content according to its size and return its first sector."""
        if len(content) >= _CUTOFF or not content:
            return self.chain(content)
        first, count = len(self.small_fat), -(-len(content) // _MINI)
        self.small += content.ljust(count * _MINI, b"\0")
        self.small_fat += [*range(first + 1, first + count), _END]
        return first

    def enter(self, tree: Tree) -> int:
        """Store the members of a storage as a sibling chain and return the first."""
        numbers = range(len(self.entries), len(self.entries) + len(tree))
        self.entries += [b""] * len(tree)
        for number, (name, member) in zip(numbers, tree.items(), strict=True):
            brother = number + 1 if number + 1 in numbers else _FREE
            if isinstance(member, bytes):
                self.entries[number] = _entry(name, 2, brother, _FREE, (self.stream(member), len(member)))
            else:
                self.entries[number] = _entry(name, 1, brother, self.enter(member), (0, 0))
        return numbers[0] if tree else _FREE


def _entry(name: str, kind: int, brother: int, child: int, place: tuple[int, int]) -> bytes:
    encoded = name.encode("utf-16-le") + b"\0\0"
    head = encoded.ljust(64, b"\0") + struct.pack("<HBB3I", len(encoded), kind, 1, _FREE, brother, child)
    return head + bytes(16 + 4 + 16) + struct.pack("<IQ", *place)


def pack(tree: Tree) -> bytes:
    """Return the compound file of a tree; up to 6 MB."""
    file = _File()
    file.entries.append(b"")
    child = file.enter(tree)
    small = file.chain(file.small)
    file.entries[0] = _entry("Root Entry", 5, _FREE, child, (small, len(file.small)))
    small_fat = file.chain(struct.pack(f"<{len(file.small_fat)}I", *file.small_fat))
    directory = file.chain(b"".join(file.entries))
    fat_sectors = next(n for n in range(1, 110) if n * 128 >= len(file.fat) + n)
    first = len(file.fat)
    table = [*file.fat, *[_FAT] * fat_sectors]
    table += [_FREE] * (fat_sectors * 128 - len(table))
    places = [*range(first, first + fat_sectors)]
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack(
        "<9I", 0, fat_sectors, directory, 0, _CUTOFF, small_fat, -(-len(file.small_fat) // 128), _END, 0
    )
    header += struct.pack("<109I", *places, *[_FREE] * (109 - fat_sectors))
    return header + b"".join(file.sectors) + struct.pack(f"<{len(table)}I", *table)
