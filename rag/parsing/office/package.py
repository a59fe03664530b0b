"""Read ZIP packages of XML parts (DOCX, PPTX, ODT, ODP, EPUB) from untrusted sources."""

import datetime as dt
import io
import posixpath
import re
import urllib.parse
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from rag import errors
from rag.messages import N_
from rag.parsing.zips import MAX_UNPACKED_BYTES

MAX_PART_BYTES = 256 << 20
"""Maximum size of one XML part, enough for some hundred thousand paragraphs."""
MAX_PARTS = 50_000
_CONTAINER = "META-INF/container.xml"
"""The part of an EPUB that names the list of the others."""
_XML_SUFFIXES = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm")
_ENTITY = re.compile(rb"<!DOCTYPE[^>\[]*\[[^\]]*<!ENTITY", re.I)
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
"""Namespaces of the strict variant of Office Open XML (ISO/IEC 29500-1, annex A), which few programs understand."""
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/"
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, KeyError, ValueError)
"""Exceptions of `zipfile` for damaged and encrypted members."""
_AUTHORS = ("creator", "initial-creator")
_DATES = ("created", "creation-date", "date", "modified")


class Relation(NamedTuple):
    """A relation from one part to another, whose name is `target`; that of an external one is an address."""

    kind: str
    target: str
    is_external: bool


class Metadata(NamedTuple):
    """Title, author and creation time of a file; "" and None if missing."""

    title: str = ""
    author: str = ""
    created: dt.datetime | None = None

    def set_on(self, document: Any) -> None:
        """Set the metadata of the PDF `document`."""
        stamp = f"D:{self.created:%Y%m%d%H%M%S}Z" if self.created else ""
        made_by = {name: (document.metadata or {}).get(name) or "" for name in ("producer", "creator")}
        document.set_metadata({**made_by, "title": self.title, "author": self.author, "creationDate": stamp})


class Package:
    """The parts of the ZIP file at `source`. All XML parts are checked when it is opened.

    Backslashes in the names of parts, which some programs write, are read as slashes, and the strict variant of Office
    Open XML as the usual one.

    Raises:
        errors.UnreadableFileError: the file is damaged, defines XML entities, or unpacks to too much.
    """

    def __init__(self, source: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(source)
        except _DAMAGES as error:
            raise damaged(N_("file"), error) from error
        self._members = {info.filename.replace("\\", "/").lstrip("/"): info for info in self._archive.infolist()}
        self.names = list(self._members)
        self._relations: dict[str, dict[str, Relation]] = {}
        self._check()

    def __enter__(self) -> "Package":
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def _check(self) -> None:
        infos = self._archive.infolist()
        largest = max((info.file_size for info in infos if info.filename.lower().endswith(_XML_SUFFIXES)), default=0)
        if len(infos) > MAX_PARTS or sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
            raise errors.UnreadableFileError(N_("The file unpacks to far more than a document needs. Save it again."))
        if largest > MAX_PART_BYTES:
            raise errors.UnreadableFileError(
                N_("The file's text unpacks to more than can be read. Split it into parts.")
            )
        for name in self.names:
            content = self.read(name) if name.lower().endswith(_XML_SUFFIXES) else b""
            if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:4]:  # UTF-16
                content = content.replace(b"\0", b"")
            if _ENTITY.search(content):
                raise errors.UnreadableFileError(
                    N_(
                        "The file defines XML entities, which no office program writes. Open it in one and save it "
                        "again."
                    )
                )

    def read(self, name: str) -> bytes:
        """Return the content of a part.

        Raises:
            errors.UnreadableFileError: the part is damaged, encrypted, or missing.
        """
        try:
            content = self._archive.read(self._members[name])
        except _DAMAGES as error:
            raise damaged(N_("file"), error) from error
        if not name.lower().endswith(_XML_SUFFIXES):
            return content
        return _STRICT.sub(_TRANSITIONAL, content)

    def size(self, name: str) -> int:
        """Return the unpacked size of a part in bytes."""
        return self._members[name].file_size

    def xml(self, name: str) -> Any:
        """Return the root element of an XML part, None if there is no such part.

        Raises:
            errors.UnreadableFileError: the part is not XML.
        """
        if name not in self._members:
            return None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        try:
            return etree.fromstring(self.read(name), parser)
        except etree.XMLSyntaxError as error:
            raise damaged(N_("file"), error) from error

    def matching(self, pattern: str) -> Iterator[str]:
        """Yield the names of the parts that match a regular expression, ordered by the numbers in them."""
        names = [name for name in self.names if re.fullmatch(pattern, name)]
        yield from sorted(dict.fromkeys(names), key=lambda name: [int(n) for n in re.findall(r"\d+", name)])

    def relations(self, name: str) -> dict[str, Relation]:
        """Return the relations of a part, or of the whole package (""), by their ids."""
        if name in self._relations:
            return self._relations[name]
        folder, base = posixpath.split(name)
        root = self.xml(posixpath.join(folder, "_rels", f"{base}.rels"))
        relations = self._relations[name] = {}
        for element in root.iter("{*}Relationship") if root is not None else ():
            target, is_external = element.get("Target", ""), element.get("TargetMode") == "External"
            if not is_external:
                path = urllib.parse.unquote(target).replace("\\", "/")
                target = posixpath.normpath(posixpath.join("/", folder, path)).lstrip("/")
            relations[element.get("Id", "")] = Relation(element.get("Type", ""), target, is_external)
        return relations

    def related(self, name: str, *kinds: str) -> list[str]:
        """Return the names of the parts in the package to which a part has relations of some kinds, each once."""
        internal = (relation for relation in self.relations(name).values() if not relation.is_external)
        targets = (relation.target for relation in internal if relation.kind.endswith(kinds))
        return [target for target in dict.fromkeys(targets) if target in self._members]

    def main_part(self, default: str) -> str:
        """Return the name of the part with the body of an Office Open XML file, `default` if no relation names it."""
        return next(iter(self.related("", "/officeDocument")), default)

    def metadata(self) -> Metadata:
        """Return title, author and creation time, of Office Open XML, OpenDocument or EPUB; none if damaged."""
        try:
            parts: list[str] = [name for name in ("docProps/core.xml", "meta.xml") if name in self.names]
            if not parts and _CONTAINER in self.names:
                parts = [epub_part(self)]
            root = self.xml(parts[0]) if parts else None
        except errors.UnreadableFileError:
            return Metadata()
        texts: dict[str, list[str]] = {}
        for element in root.iter() if root is not None else ():
            text = " ".join((element.text or "").split())
            if text:
                texts.setdefault(local(element), []).append(text)
        authors = next((texts[name] for name in _AUTHORS if name in texts), [])
        dates = [_time(text) for name in _DATES for text in texts.get(name, ())]
        return Metadata(texts.get("title", [""])[0], ", ".join(authors), next(filter(None, dates), None))

    def rewritten(self, changed: dict[str, bytes]) -> bytes:
        """Return the package with the content of some parts changed."""
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name in self.names:
                if not name.endswith("/"):
                    archive.writestr(name, changed[name] if name in changed else self.read(name))
        return content.getvalue()


def epub_part(package: Package) -> str:
    """Return the name of the part of an EPUB that lists the others.

    Raises:
        errors.UnreadableFileError: there is none.
    """
    container = package.xml(_CONTAINER)
    for element in container.iter("{*}rootfile") if container is not None else ():
        if element.get("full-path") in package.names:
            return str(element.get("full-path"))
    raise errors.UnreadableFileError(
        N_("The book is damaged: its list of contents is missing. Get another copy of it.")
    )


def damaged(kind: str, error: Exception) -> errors.UnreadableFileError:
    """Return the error for a damaged file."""
    return errors.UnreadableFileError(
        N_("The {_kind} is damaged ({error}). Open it in another program and save it again."),
        _kind=kind,
        error=type(error).__name__,
    )


def local(element: Any) -> str:
    """Return an element's name without its namespace, "" for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _time(text: str) -> dt.datetime | None:
    if not re.match(r"\d{4}-\d\d-\d\d", text):
        return None
    try:
        time = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo is None else time.astimezone(dt.UTC)
