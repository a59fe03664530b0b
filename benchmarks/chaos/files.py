"""Generate unique files for uploads."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import material
from rag.parsing.pdf.mupdf import pymupdf

PASSWORD = "open sesame"
PAGE_CHARS = 1500
LINES = 40


@dataclass(frozen=True)
class File:
    """A generated file; `marker` is a word that occurs in no other file."""

    name: str
    content: bytes
    marker: str
    password: str | None = None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def make(number: int, pages: int, *, kind: str = "pdf") -> File:
    """Return file `number`: a PDF, an encrypted PDF (`locked`), or plain `text` that needs conversion."""
    rng = np.random.default_rng(number)
    marker = f"zq{''.join(chr(ord('a') + int(digit)) for digit in str(number))}x{int(rng.integers(100, 999))}"
    texts = [f"The {marker} of part {page}. {material.text(rng, PAGE_CHARS)}" for page in range(1, pages + 1)]
    if kind == "text":
        return File(f"note-{number}.txt", "\n\n".join(texts).encode(), marker)
    document: Any = pymupdf.open()
    for content in texts:
        page = document.new_page()
        page.insert_text((60, 60), material.lines(content)[:LINES], fontsize=9)
    if kind != "locked":
        return File(f"report-{number}.pdf", document.tobytes(no_new_id=True), marker)
    content = document.tobytes(encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=PASSWORD, owner_pw=PASSWORD)
    return File(f"secret-{number}.pdf", content, marker, PASSWORD)
