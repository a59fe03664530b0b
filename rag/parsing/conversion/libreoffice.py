"""LibreOffice as a converter, where it is installed: what it shows is what the file's own program shows."""

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

from rag.parsing import file_types
from rag.parsing.pdf.mupdf import FAILURES, pymupdf
from rag.types import ParsingConfig

logger = logging.getLogger(__name__)

_SUFFIXES = {
    file_types.DOCX: ".docx",
    file_types.ODT: ".odt",
    file_types.RTF: ".rtf",
    file_types.DOC: ".doc",
    file_types.PPTX: ".pptx",
    file_types.ODP: ".odp",
    file_types.PPT: ".ppt",
}
_ALL_SLIDES = 'pdf:impress_pdf_Export:{"ExportHiddenSlides":{"type":"boolean","value":"true"}}'
_FILTERS = dict.fromkeys((file_types.PPTX, file_types.ODP, file_types.PPT), _ALL_SLIDES)
_NAMES = ("soffice", "libreoffice")
_MAC = "/Applications/LibreOffice.app/Contents/MacOS/soffice"
_CLOCK_SHARE = 0.5
"""Of the time for a file of no known pages: it may also wait for ever, and then we still have to read the file."""
_NEW_USER_AND_NETWORK = 0x10000000 | 0x40000000
"""CLONE_NEWUSER and CLONE_NEWNET of <linux/sched.h>: a network that leads nowhere, which needs no privilege so."""
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
"""No macro runs, no link is followed; what would go out all the same goes to a port where nobody listens."""


def find() -> str | None:
    """The program, None if it is not installed."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    return found or (_MAC if os.access(_MAC, os.X_OK) else None)


def to_pdf(source: Path, mime_type: str, config: ParsingConfig) -> Any | None:
    """The file as a PDF (a `pymupdf.Document`); None if the program fails, or takes too long.

    It gets a profile of its own that lasts as long as it does, so that it knows nothing of the user's.
    """
    program = find()
    if program is None:
        return None
    with tempfile.TemporaryDirectory(prefix="pagelight-") as name:
        folder = Path(name)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        (profile / "registrymodifications.xcu").write_text(_SETTINGS, encoding="utf-8")
        given = folder / f"source{_SUFFIXES[mime_type]}"
        shutil.copyfile(source, given)
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
            str(given),
        ]
        _run(command, folder, config)
        return _opened(folder / "made" / "source.pdf")


def _run(command: list[str], folder: Path, config: ParsingConfig) -> None:
    """Runs it until it ends or its time is over; what it has started itself ends with the parsing process at last."""
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
    """Called in the new process: no more than so many seconds of work and, where the system allows it, no network."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if sys.platform == "linux":
        ctypes.CDLL(None).unshare(_NEW_USER_AND_NETWORK)


def _opened(made: Path) -> Any | None:
    """What was made, in memory, since its folder goes; None if it is no PDF with pages."""
    try:
        document = pymupdf.open(stream=made.read_bytes(), filetype="pdf")
        return document if document.page_count else None
    except (OSError, *FAILURES):
        return None
