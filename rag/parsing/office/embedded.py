"""Find the files inside office documents: embedded workbooks, documents and packages."""

import io
import posixpath
import re
import struct
import urllib.parse
import zipfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import olefile

from rag.messages import N_
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.office.package import Package

MAX_EMBEDDED_BYTES = 256 << 20
"""Most that is read of the files in one document, which are in memory at once."""
_RELATIONS = re.compile(r"(.*?)_rels/([^/]+)\.rels")
_CHARTS = re.compile(r"/(charts|chartEx|diagrams)/")
"""Parts with embedded workbooks whose data is drawn."""
_KINDS = ("/package", "/oleObject")
_OLE2 = b"\xd0\xcf\x11\xe0"
_NATIVE = "\x01Ole10Native"
_FILE_STREAMS = ("Package", "CONTENTS", "EmbeddedOdf", "package_stream")
"""Streams that are a file as a whole: Office Open XML, PDF, OpenDocument."""
_EQUATION = "Equation Native"
_OLE2_SUFFIXES = {"Workbook": ".xls", "Book": ".xls", "WordDocument": ".doc", "PowerPoint Document": ".ppt"}
_FAILURES = (OSError, ValueError, struct.error, IndexError, KeyError, AttributeError, TypeError, RecursionError)
"""Exceptions of olefile for damaged or forged files."""
_MEDIA_TYPES = re.compile(r"application/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation)")
_SUFFIXES = {"text": "odt", "spreadsheet": "ods", "presentation": "odp"}
_RTF_OBJECT = re.compile(rb"\\objdata\s*((?:[0-9a-fA-F]|\s)+)")


class EmbeddedFile(NamedTuple):
    """A file inside another one; `content` is None if it cannot be had, for a reason."""

    name: str
    content: bytes | None
    reason: str = ""


def store(files: Iterable[EmbeddedFile], unpacking: Unpacking) -> None:
    """Store embedded files as parts, and report those that cannot be had."""
    for file in files:
        if file.content is None:
            unpacking.leave_out(file.name, 0, file.reason)
        else:
            unpacking.take(file.name, io.BytesIO(file.content))


def of_office_open_xml(package: Package) -> Iterator[EmbeddedFile]:
    """Yield the files that are embedded, and the documents of which a master document only has the addresses."""
    seen, room = set[str](), MAX_EMBEDDED_BYTES
    for name in package.names:
        match = _RELATIONS.fullmatch(name)
        relations = package.relations(match[1] + match[2]) if match and not _CHARTS.search(name) else {}
        for relation in relations.values():
            if relation.target in seen:
                continue
            seen.add(relation.target)
            base = posixpath.basename(urllib.parse.unquote(relation.target).replace("\\", "/"))
            if relation.is_external and relation.kind.endswith("/subDocument"):
                yield EmbeddedFile(base, None, N_("it is not in the file: add it as well"))
            elif relation.kind.endswith((*_KINDS, "/subDocument")) and relation.target in package.names:
                room -= package.size(relation.target)
                if room < 0:
                    yield EmbeddedFile(base, None, N_("more than {limit} MB").format(limit=MAX_EMBEDDED_BYTES >> 20))
                else:
                    yield from _unwrapped(base, package.read(relation.target))


def of_open_document(package: Package) -> Iterator[EmbeddedFile]:
    """Yield the documents and sheets that are embedded as folders, and OLE objects; not charts and formulas."""
    manifest = package.xml("META-INF/manifest.xml")
    for entry in manifest.iter("{*}file-entry") if manifest is not None else ():
        values = {key.rpartition("}")[2]: value for key, value in entry.attrib.items()}
        path, kind = values.get("full-path", "").removeprefix("./"), values.get("media-type", "")
        if path.endswith("/") and path != "/" and _MEDIA_TYPES.fullmatch(kind):
            content = io.BytesIO()
            with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("mimetype", kind)
                for name in package.names:
                    if name.startswith(path) and not name.endswith("/"):
                        archive.writestr(name.removeprefix(path), package.read(name))
            yield EmbeddedFile(f"{path.rstrip('/')}.{_SUFFIXES[kind.rpartition('.')[2]]}", content.getvalue())
        elif kind in {"application/vnd.sun.star.oleobject", "application/octet-stream"} and path in package.names:
            yield from _unwrapped(path, package.read(path))


def of_rtf(content: bytes) -> Iterator[EmbeddedFile]:
    """Yield the OLE objects of an RTF file (MS-OLEDS, 2.2.5)."""
    for number, match in enumerate(_RTF_OBJECT.finditer(content), start=1):
        digits = b"".join(match[1].split())
        data = bytes.fromhex(digits[: len(digits) // 2 * 2].decode())
        try:
            position, names = 8, []
            for _ in range(3):  # the names of class, topic and item
                size = struct.unpack_from("<I", data, position)[0]
                names.append(data[position + 4 : position + 4 + size].rstrip(b"\0"))
                position += 4 + size
            size = struct.unpack_from("<I", data, position)[0]
            native = data[position + 4 : position + 4 + size]
            is_package = names[0] == b"Package"
            yield from [EmbeddedFile(*_packaged(native))] if is_package else _unwrapped(f"object {number}", native)
        except struct.error:
            yield EmbeddedFile(f"object {number}", data)


def _unwrapped(name: str, content: bytes) -> Iterator[EmbeddedFile]:
    """Yield the file that an OLE object consists of, if it is not an equation, else the object itself."""
    if not content.startswith(_OLE2):
        yield EmbeddedFile(name, content)
        return
    stem = posixpath.splitext(name)[0]
    try:
        with olefile.OleFileIO(io.BytesIO(content)) as storage:
            if storage.exists(_EQUATION):
                return
            if storage.exists(_NATIVE):
                native = storage.openstream(_NATIVE).read()
                yield EmbeddedFile(*_packaged(native[4:]))
                return
            for stream in _FILE_STREAMS:
                if storage.exists(stream):
                    yield EmbeddedFile(stem, storage.openstream(stream).read())
                    return
            suffix = next((ending for stream, ending in _OLE2_SUFFIXES.items() if storage.exists(stream)), ".bin")
        yield EmbeddedFile(stem + suffix, content)
    except _FAILURES:
        yield EmbeddedFile(name, content)


def _packaged(data: bytes) -> tuple[str, bytes]:
    """Return the name and the content of a packaged file, which stand behind flags, paths and sizes."""
    label, _, rest = data[2:].partition(b"\0")
    _, _, rest = rest.partition(b"\0")
    path_size = struct.unpack_from("<I", rest, 4)[0]
    size = struct.unpack_from("<I", rest, 8 + path_size)[0]
    return label.decode("cp1252", errors="replace"), rest[12 + path_size : 12 + path_size + size]
