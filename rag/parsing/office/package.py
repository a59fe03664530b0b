"""Read ZIP packages of XML parts (DOCX, PPTX, ODT, ODP, EPUB) from untrusted sources."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from rag import errors
from rag.parsing.zips import MAX_UNPACKED_BYTES

MAX_PART_BYTES = 256 << 20
"""Maximum size of one XML part, enough for some hundred thousand paragraphs."""
MAX_PARTS = 50_000
_XML_SUFFIXES = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm")
_ENTITY = re.compile(rb"<!DOCTYPE[^>\[]*\[[^\]]*<!ENTITY", re.I)
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, KeyError, ValueError)
"""Exceptions of `zipfile` for damaged and encrypted members."""


class Package:
    """The parts of the ZIP file at `source`. All XML parts are checked when it is opened.

    Raises:
        errors.UnreadableFileError: the file is damaged, defines XML entities, or unpacks to too much.
    """

    def __init__(self, source: Path) -> None:
        try:
            self._archive = zipfile.ZipFile(source)
        except _DAMAGES as error:
            raise damaged("file", error) from error
        self.names = self._archive.namelist()
        self._check()

    def __enter__(self) -> "Package":
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def _check(self) -> None:
        infos = self._archive.infolist()
        largest = max((info.file_size for info in infos if info.filename.lower().endswith(_XML_SUFFIXES)), default=0)
        if len(infos) > MAX_PARTS or sum(info.file_size for info in infos) > MAX_UNPACKED_BYTES:
            raise errors.UnreadableFileError("The file unpacks to far more than a document needs. Save it again.")
        if largest > MAX_PART_BYTES:
            raise errors.UnreadableFileError("The file's text unpacks to more than can be read. Split it into parts.")
        for info in infos:
            if info.filename.lower().endswith(_XML_SUFFIXES) and _ENTITY.search(_plain(self.read(info.filename))):
                raise errors.UnreadableFileError(
                    "The file defines XML entities, which no office program writes. Open it in one and save it again."
                )

    def read(self, name: str) -> bytes:
        """Return the content of a part.

        Raises:
            errors.UnreadableFileError: the part is damaged, encrypted, or missing.
        """
        try:
            return self._archive.read(name)
        except _DAMAGES as error:
            raise damaged("file", error) from error

    def xml(self, name: str) -> Any:
        """Return the root element of an XML part, None if there is no such part.

        Raises:
            errors.UnreadableFileError: the part is not XML.
        """
        if name not in self.names:
            return None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        try:
            return etree.fromstring(self.read(name), parser)
        except etree.XMLSyntaxError as error:
            raise damaged("file", error) from error

    def matching(self, pattern: str) -> Iterator[str]:
        """Yield the names of the parts that match a regular expression, ordered by the numbers in them."""
        found = [name for name in self.names if re.fullmatch(pattern, name)]
        yield from sorted(dict.fromkeys(found), key=lambda name: [int(n) for n in re.findall(r"\d+", name)])

    def rewritten(self, target: Path, changed: dict[str, bytes]) -> None:
        """Write the package to `target` with the content of some parts changed."""
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name in dict.fromkeys(self.names):
                archive.writestr(name, changed[name] if name in changed else self.read(name))


def damaged(kind: str, error: Exception) -> errors.UnreadableFileError:
    """Return the error for a damaged file."""
    return errors.UnreadableFileError(
        f"The {kind} is damaged ({type(error).__name__}). Open it in another program and save it again."
    )


def local(element: Any) -> str:
    """Return an element's name without its namespace, "" for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _plain(content: bytes) -> bytes:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content[:4]:
        return content.replace(b"\0", b"")
    return content
