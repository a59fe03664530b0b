"""Files that are written, of our own HTML: PDF by MuPDF, which brings fonts of all scripts, DOCX by Pandoc."""

import subprocess
import tempfile
from pathlib import Path

import pypandoc

from rag import errors
from rag.parsing.html.layout import lay_out
from rag.parsing.pdf.mupdf import LOCK, readable

DOCX_SECONDS = 120.0
"""So long Pandoc may take by the clock; a conversation of a hundred answers takes two."""
_OPTIONS = ("--from=html", "--to=docx", "--sandbox", "--wrap=none")


def pdf_of(html: str, *, title: str) -> bytes:
    """`html` as a PDF on A4, its text to be searched and copied. Pictures are shown that stand in it as data.

    Raises:
        errors.UnreadableFileError: it cannot be laid out.
    """
    with LOCK, readable(title), lay_out(html, title=title) as document:
        content: bytes = document.tobytes(garbage=3, deflate=True)
    return content


def docx_of(html: str) -> bytes:
    """`html` as a document of Word. Nothing is read or loaded but what stands in it as data.

    Raises:
        errors.UnreadableFileError: Pandoc cannot make it.
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
                timeout=DOCX_SECONDS,
                check=True,
            )
        except (subprocess.SubprocessError, OSError) as error:
            raise errors.UnreadableFileError(
                "The Word document could not be created. Export the answer as PDF.",
                details={"reason": type(error).__name__},
            ) from error
        return made.read_bytes()
