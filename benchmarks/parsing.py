"""Compare the throughput of our parser with MuPDF's bare extraction."""

import tempfile
from pathlib import Path

from benchmarks import material
from benchmarks.report import Section
from benchmarks.settings import Options
from benchmarks.timing import best_of
from rag import parsing
from rag.parsing.pdf.mupdf import pymupdf

PAGES, QUICK_PAGES = 300, 2
ROUNDS = 3


def measure(options: Options, section: Section) -> None:
    """Measure `page.get_text("dict")` alone, our parser in this process, and parsing in a child process."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "report.pdf"
        path = options.pdf or material.make_pdf(made, QUICK_PAGES if options.quick else PAGES)
        with pymupdf.open(path) as document:
            pages = document.page_count
        section.about = f"{pages:,} pages"
        bare, core, whole = best_of(
            1 if options.quick else ROUNDS,
            lambda: extract(path),
            lambda: parsing.parse_rendition(path),
            lambda: parsing.read_file(path, name=path.name, rendition=Path(folder) / "rendition.pdf"),
        )
    section.add('bare get_text("dict")', pages / bare, "pages/s")
    section.add("parse_rendition, in this process", pages / core, "pages/s")
    section.add("read_file, in a child process", pages / whole, "pages/s")
    section.add("parse_rendition / bare time", core / bare, "×")
    section.add("read_file / bare time", whole / bare, "×")


def extract(path: Path) -> None:
    """Run MuPDF's extraction, the lower bound for every parser based on it."""
    with pymupdf.open(path) as document:
        for page in document:
            page.get_text("dict")
