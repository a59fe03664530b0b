"""Archives: a page that lists the files in them, which become documents of their own."""

import html
import lzma
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from rag.parsing import zips
from rag.parsing.conversion import flowing
from rag.parsing.conversion.source import Conversion, SourceText
from rag.parsing.conversion.unpacking import Unpacking
from rag.types import UnpackedPart

_SYSTEM_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_UNPACK_FAILURES = (*zips.FAILURES, zlib.error, lzma.LZMAError, NotImplementedError, LookupError)
"""What zipfile raises on members: damaged, overlapping another, compressed in a way that it does not know."""


def to_pdf(source: Path, unpacking: Unpacking) -> Conversion:
    """The list of the members of the zip file at `source`, which are unpacked as far as they may be.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    system_files = 0
    with zips.opened(source, unpacking.name) as archive:
        for member in archive.infolist():
            if _is_system_file(member.filename):
                system_files += 1
            elif not member.is_dir():
                _take(archive, member, unpacking)
    head = [unpacking.name, _count(len(unpacking.parts), "file")]
    if system_files:
        head.append(f"{_count(system_files, 'file')} of the operating system left out.")
    content = f"<h1>{html.escape(head[0])}</h1>" + "".join(f"<p>{html.escape(line)}</p>" for line in head[1:])
    document = flowing.lay_out(content + listing(unpacking.parts))
    document.set_metadata({"title": unpacking.name})
    return Conversion(document, (SourceText("the list of files", "\n".join([*head, *listed(unpacking.parts)])),))


def _take(archive: zipfile.ZipFile, member: zipfile.ZipInfo, unpacking: Unpacking) -> None:
    name = _name(member)
    reason = unpacking.full or _unwanted(member)
    if reason:
        unpacking.leave_out(name, member.file_size, reason)
        return
    try:
        with archive.open(member) as content:
            unpacking.take(name, content)  # type: ignore[arg-type]  # it can be read, and no more is asked
    except _UNPACK_FAILURES:
        unpacking.leave_out(name, member.file_size, "damaged, or compressed in an unknown way")


def _unwanted(member: zipfile.ZipInfo) -> str | None:
    if member.flag_bits & _ENCRYPTED_FLAG:
        return "encrypted: unpack the archive with its password and add the file itself"
    kind = stat.S_IFMT(member.external_attr >> 16)  # 0 where the archive was made on Windows
    return None if kind in {0, stat.S_IFREG} else "no file but a link or a device"


def _name(member: zipfile.ZipInfo) -> str:
    """Many programs write UTF-8 without saying so; what is no UTF-8 is taken for DOS's code page, as zipfile does."""
    if member.flag_bits & _UTF8_FLAG:
        return member.filename
    try:
        return member.filename.encode("cp437").decode()
    except UnicodeError:
        return member.filename


def _is_system_file(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[:1] == ("__MACOSX",) or path.name.lower() in _SYSTEM_FILES


def listing(parts: Sequence[UnpackedPart]) -> str:
    """The files as a table in HTML: name, size, and what became of each."""
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{html.escape(cell)}</td>" for cell in (part.name, _size(part.size), _outcome(part)))
        + "</tr>"
        for part in parts
    )
    return f"<table><tr><th>File</th><th>Size</th><th>Read as</th></tr>{rows}</table>" if parts else ""


def listed(parts: Sequence[UnpackedPart]) -> list[str]:
    """What `listing` says."""
    return [f"{part.name} {_size(part.size)} {_outcome(part)}" for part in parts]


def _outcome(part: UnpackedPart) -> str:
    return f"left out: {part.reason}" if part.reason else "a document of its own"


def _size(size: int) -> str:
    if not size:
        return "–"
    return f"{size / 1024 / 1024:,.1f} MB" if size >= 100 * 1024 else f"{max(1, size // 1024):,} KB"


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"
