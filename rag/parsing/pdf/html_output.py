"""Convert our HTML reports to PDF with MuPDF, which has fonts for all scripts, and to DOCX with Pandoc."""

import subprocess
import tempfile
from pathlib import Path

import pypandoc

from rag import errors
from rag.messages import N_
from rag.parsing.html.layout import lay_out
from rag.parsing.pdf.mupdf import LOCK, map_mupdf_errors

PANDOC_TIMEOUT_SECONDS = 120.0
"""A conversation of a hundred answers takes two seconds."""
_OPTIONS = ("--from=html", "--to=docx", "--sandbox", "--wrap=none")


def html_to_pdf(html: str, *, title: str) -> bytes:
    """Convert HTML to an A4 PDF with searchable text and the pictures embedded as data URLs.

    Raises:
        errors.UnreadableFileError: the layout fails.
    """
    with LOCK, map_mupdf_errors(title), lay_out(html, title=title) as document:
        content: bytes = document.tobytes(garbage=3, deflate=True)
    return content


def html_to_docx(html: str) -> bytes:
    """Convert HTML to a Word document without loading anything but data URLs.

    Raises:
        errors.UnreadableFileError: Pandoc fails.
    """
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        source, made = Path(folder) / "report.html", Path(folder) / "report.docx"
        source.write_text(html, encoding="utf-8", errors="replace")
        command = [pypandoc.get_pandoc_path(), *_OPTIONS, f"--output={made}", str(source)]
        try:
            subprocess.run(
                command,
                cwd=folder,
                env={"HOME": folder, "LANG": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=PANDOC_TIMEOUT_SECONDS,
                check=True,
            )
        except (subprocess.SubprocessError, OSError) as error:
            raise errors.UnreadableFileError(
                N_("The Word document could not be created. Export the answer as PDF."),
                details={"reason": type(error).__name__},
            ) from error
        return made.read_bytes()
