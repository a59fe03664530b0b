"""Convert ZIP archives to PDF: a list of their files, which become documents of their own."""

import lzma
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from rag.parsing import zips
from rag.parsing.archive import file_list
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.encoding import guess_dos

_SYSTEM_FILES = frozenset({".ds_store", "thumbs.db", "desktop.ini"})
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_UNPACK_FAILURES = (*zips.FAILURES, zlib.error, lzma.LZMAError, NotImplementedError, LookupError)
"""Exceptions of zipfile for members that are damaged, overlap, or use an unknown compression."""


def to_pdf(source: Path, unpacking: Unpacking) -> Conversion:
    """List the files of the ZIP file at `source` on pages, and store them with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    system_files = 0
    with zips.opened(source, unpacking.name) as archive:
        names = [member.filename for member in archive.infolist() if not member.flag_bits & _UTF8_FLAG]
        codec = guess_dos(b"\n".join(name.encode("cp437") for name in names if not name.isascii()))
        for member in archive.infolist():
            path = PurePosixPath(member.filename)
            if path.parts[:1] == ("__MACOSX",) or path.name.lower() in _SYSTEM_FILES:
                system_files += 1
            elif not member.is_dir():
                _take(archive, member, _name(member, codec), unpacking)
    note = f"{file_list.count(system_files, 'file')} of the operating system left out." if system_files else ""
    return file_list.to_pdf(unpacking.name, "file", unpacking.parts, note=note)


def _take(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, unpacking: Unpacking) -> None:
    reason = unpacking.full
    if member.flag_bits & _ENCRYPTED_FLAG:
        reason = reason or "encrypted: unpack the archive with its password and add the file itself"
    if stat.S_IFMT(member.external_attr >> 16) not in {0, stat.S_IFREG}:  # 0 in archives made on Windows
        reason = reason or "no file but a link or a device"
    if reason:
        unpacking.leave_out(name, member.file_size, reason)
        return
    try:
        with archive.open(member) as content:
            unpacking.take(name, content)  # type: ignore[arg-type]  # it only has to be readable
    except _UNPACK_FAILURES:
        unpacking.leave_out(name, member.file_size, "damaged, or compressed in an unknown way")


def _name(member: zipfile.ZipInfo, codec: str) -> str:
    """Decode a member's name, which zipfile reads as code page 437: many programs write UTF-8 without the flag."""
    if member.flag_bits & _UTF8_FLAG:
        return member.filename
    content = member.filename.encode("cp437")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode(codec, errors="replace")
