"""Run Pandoc in its own sandboxed process: documents to HTML, and our HTML reports to DOCX."""

import resource
import signal
import subprocess
import tempfile
from pathlib import Path

import pypandoc

from rag import errors, types
from rag.messages import N_

HEAP_SHARE = 0.5
"""Share of the memory limit that Pandoc may use; the parsing process holds the result beside it."""
_HEAP_EXHAUSTED = 251
"""Exit code of a Haskell program that exceeds its memory limit (GHC user's guide, `-M`)."""
_OPTIONS = ("--to=html", "--standalone", "--embed-resources", "--sandbox", "--wrap=none", "--track-changes=accept")
_REPORT_OPTIONS = ("--from=html", "--to=docx", "--sandbox", "--wrap=none")
REPORT_TIMEOUT_SECONDS = 120.0
"""A conversation of a hundred answers takes two seconds."""
_TITLED = frozenset({"docx", "odt"})
"""Formats whose title is part of the text; that of a book is metadata."""
_TEMPLATE = (
    "$if(title)$<h1>$title$</h1>$endif$ $if(subtitle)$<p>$subtitle$</p>$endif$"
    " $for(author)$<p>$author$</p>$endfor$ $if(date)$<p>$date$</p>$endif$"
    " $if(abstract)$<div>$abstract$</div>$endif$ $body$"
)
"""The title block, which Pandoc separates from the body, and the body, without styles and scripts."""


class NotUnderstood(Exception):  # noqa: N818  # an answer that no user sees
    """Pandoc cannot read the file, which may still have text."""


def to_html(source: Path, format_name: str, config: types.ParsingConfig) -> str:
    """Convert a file to HTML with its pictures as data URIs; `format_name` is Pandoc's name of the format.

    Pandoc gets half of the memory, and as much CPU time as a file of unknown length. It is in the process group of the
    parsing process and ends with it (`rag.parsing.worker.fork_server`).

    Raises:
        NotUnderstood: the file is damaged, or of a variant that Pandoc does not know.
        errors.UnreadableFileError: conversion needs more time or memory.
    """
    heap = f"-M{int(config.memory_limit_mb * HEAP_SHARE)}m"
    seconds = int(config.timeout_seconds(0)) + 1
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        template = Path(folder) / "template.html"
        template.write_text(_TEMPLATE if format_name in _TITLED else "$body$", encoding="utf-8")
        output = Path(folder) / "made.html"
        command = [pypandoc.get_pandoc_path(), "+RTS", heap, "-RTS", f"--from={format_name}", *_OPTIONS]
        command += [f"--template={template}", f"--output={output}", str(source.resolve())]
        ended = subprocess.run(
            command,
            cwd=folder,
            env={"HOME": folder, "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
            check=False,
        )
        if not ended.returncode:
            return output.read_text(encoding="utf-8", errors="replace")
    if ended.returncode == _HEAP_EXHAUSTED:
        reason = N_("reading it exceeds the memory limit")
    elif ended.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
        reason = N_("reading it exceeds the time limit")
    else:
        raise NotUnderstood
    raise errors.UnreadableFileError(
        N_("The document cannot be read: {_reason}. Open it in another program and save it again, or split it."),
        _reason=reason,
        details={"exit_code": ended.returncode},
    )


def html_to_docx(html: str) -> bytes:
    """Convert HTML to a Word document without loading anything but data URLs.

    Raises:
        errors.UnreadableFileError: Pandoc fails.
    """
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        source, made = Path(folder) / "report.html", Path(folder) / "report.docx"
        source.write_text(html, encoding="utf-8", errors="replace")
        command = [pypandoc.get_pandoc_path(), *_REPORT_OPTIONS, f"--output={made}", str(source)]
        try:
            subprocess.run(
                command,
                cwd=folder,
                env={"HOME": folder, "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=REPORT_TIMEOUT_SECONDS,
                check=True,
            )
        except (subprocess.SubprocessError, OSError) as error:
            raise errors.UnreadableFileError(
                N_("The Word document could not be created. Export the answer as PDF."),
                details={"reason": type(error).__name__},
            ) from error
        return made.read_bytes()
