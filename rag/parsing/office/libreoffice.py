"""Convert office files with LibreOffice where it is installed, and add the text that it leaves out."""

import ctypes
import logging
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rag import types
from rag.parsing import file_types
from rag.parsing.archive import file_list
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.html.layout import lay_out
from rag.parsing.office import documents, embedded, paragraphs
from rag.parsing.office.paragraphs import bare
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, pymupdf
from rag.parsing.slides import convert as slides

logger = logging.getLogger(__name__)

MAX_LOST_SHARE = 0.02
"""If LibreOffice loses a larger share of a document's characters, the built-in converter is used."""

_ADDED = frozenset({paragraphs.COMMENT, paragraphs.HIDDEN})
"""Text that LibreOffice never prints."""
_ALL_SLIDES = 'pdf:impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}'
_FILTERS = dict.fromkeys((file_types.PPTX, file_types.ODP, file_types.PPT), _ALL_SLIDES)
_NAMES = ("soffice", "libreoffice")
_MAC = "/Applications/LibreOffice.app/Contents/MacOS/soffice"
_CLOCK_SHARE = 0.5
"""Share of the time limit after which LibreOffice is stopped, so that the built-in converters can still run."""
_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000
"""CLONE_NEWUSER and CLONE_NEWNET of <linux/sched.h>: an isolated network namespace, without privileges."""
_SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop>
<prop oor:name="MacroSecurityLevel" oor:op="fuse"><value>3</value></prop>
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop>
<prop oor:name="DisableActiveContent" oor:op="fuse"><value>true</value></prop>
</item>
<item oor:path="/org.openoffice.Inet/Settings">
<prop oor:name="ooInetProxyType" oor:op="fuse"><value>2</value></prop>
<prop oor:name="ooInetHTTPProxyName" oor:op="fuse"><value>127.0.0.1</value></prop>
<prop oor:name="ooInetHTTPProxyPort" oor:op="fuse"><value>9</value></prop>
<prop oor:name="ooInetHTTPSProxyName" oor:op="fuse"><value>127.0.0.1</value></prop>
<prop oor:name="ooInetHTTPSProxyPort" oor:op="fuse"><value>9</value></prop>
<prop oor:name="ooInetNoProxy" oor:op="fuse"><value></value></prop>
</item>
<item oor:path="/org.openoffice.Office.Writer/Content/Update">
<prop oor:name="Link" oor:op="fuse"><value>0</value></prop>
</item>
</oor:items>
"""
"""Disables macros and links, and sends all other requests to a proxy port where nothing listens."""


def find() -> str | None:
    """Return the path of the program, None if it is not installed."""
    program = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return program or (_MAC if os.access(_MAC, os.X_OK) else None)


def convert(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion | None:
    """Convert a file to PDF with LibreOffice; return None if it fails or loses too much.

    Files embedded in it are stored with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged, which is checked before LibreOffice gets it.
    """
    if mime_type in {file_types.PPTX, file_types.ODP}:
        return _presentation(source, mime_type, config, unpacking)
    if mime_type in {file_types.DOC, file_types.PPT}:
        drawn = to_pdf(source, mime_type, config)
        return None if drawn is None else Conversion(drawn)
    return _document(source, mime_type, config, unpacking)


def _document(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion | None:
    contents = documents.read(source, mime_type)
    source_paragraphs = contents.paragraphs
    drawn = to_pdf(source, mime_type, config)
    if drawn is None:
        return None
    missing = paragraphs.left_out(source_paragraphs, "".join(page.get_text() for page in drawn), never=_ADDED)
    lost = sum(len(bare(paragraph.text)) for paragraph in missing if paragraph.part not in _ADDED)
    if lost > MAX_LOST_SHARE * sum(len(bare(paragraph.text)) for paragraph in source_paragraphs):
        return None
    embedded.store(contents.files, unpacking)
    files = file_list.section("Embedded files", unpacking.parts)
    if missing or files.html:
        drawn.insert_pdf(lay_out(documents.added(missing), files.html))
    contents.about.set_on(drawn)
    return Conversion(drawn, (*paragraphs.located(source_paragraphs), *files.texts), contents.note)


def _presentation(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion | None:
    deck = slides.read(source, mime_type)
    drawn = to_pdf(source, mime_type, config)
    if drawn is None or drawn.page_count != len(deck.slides):
        return None
    embedded.store(deck.files, unpacking)
    document = slides.add_notes(drawn, deck)
    deck.about.set_on(document)
    return Conversion(document, deck.source_texts())


def to_pdf(source: Path, mime_type: str, config: types.ParsingConfig) -> Any | None:
    """Convert the file to PDF (a `pymupdf.Document`); return None if LibreOffice fails or takes too long.

    LibreOffice runs with a temporary profile, separate from the user's.
    """
    program = find()
    if program is None:
        return None
    with tempfile.TemporaryDirectory(prefix="pagelight-") as name:
        folder = Path(name)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        (profile / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
        suffix = next(suffix for suffix, kind in file_types.MIME_TYPE_BY_SUFFIX.items() if kind == mime_type)
        copy = folder / f"source{suffix}"
        shutil.copyfile(source, copy)
        command = [
            program,
            f"-env:UserInstallation={(folder / 'profile').as_uri()}",
            "--headless",
            "--norestore",
            "--nologo",
            "--nolockcheck",
            "--convert-to",
            _FILTERS.get(mime_type, "pdf"),
            "--outdir",
            str(folder / "made"),
            str(copy),
        ]
        _run(command, folder, config)
        try:  # in memory, since the folder is temporary
            document = pymupdf.open(stream=(folder / "made" / "source.pdf").read_bytes(), filetype="pdf")
            return document if document.page_count else None
        except (OSError, *MUPDF_ERRORS):
            return None


def _run(command: list[str], folder: Path, config: types.ParsingConfig) -> None:
    """Run the command until it ends or times out; its child processes end with the parsing process."""
    seconds = int(config.timeout_seconds(0)) + 1
    environment = {"HOME": str(folder), "TMPDIR": str(folder), "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**environment, "PATH": os.environ.get("PATH", os.defpath)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: _confine(seconds),  # noqa: PLW1509  # a parsing process has one thread
    )
    try:
        process.wait(timeout=_CLOCK_SHARE * config.timeout_seconds(0))
    except subprocess.TimeoutExpired:
        logger.warning("LibreOffice did not end in time")
    finally:
        process.kill()
        process.wait()


def _confine(seconds: int) -> None:
    """Limit CPU time and, where possible, cut off the network; called in the new process."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if sys.platform == "linux":
        ctypes.CDLL(None).unshare(_NEW_USER_AND_NETWORK)
