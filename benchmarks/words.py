"""Count the words of real PDFs that parsing glues together or splits, by file."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from rag.parsing.completeness import CompletenessCheck
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.pages import parse_page
from rag.parsing.pdf.text_runs import TEXT_FLAGS
from rag.types import Completeness

QUICK_PAGES = 12
"""Pages per file with --quick."""
GOAL_PERCENT = 0.05
EXAMPLES = 6


def measure(options: Options, section: Section) -> None:
    """Report the glued and split words of each affected file with examples, and of all files."""
    if options.pdfs is None:
        section.about = "skipped: give a folder of PDFs with --pdfs"
        return
    files = sorted(options.pdfs.rglob("*.pdf"))
    found = [(file, read(file, QUICK_PAGES if options.quick else None)) for file in files]
    section.about = f"{len(files):,} files of {options.pdfs.name}"
    for file, words in found:
        if words.glued_words or words.split_words:
            section.add(
                f"{file.name}: glued or split of {words.words:,}", words.glued_words + words.split_words, "words"
            )
            section.add(f"{file.name}: share", _percent([words]), "%")
            examples = "; ".join(f"{error.read} ← {error.expected}" for error in words.word_errors[:EXAMPLES])
            section.notes.append(f"{file.name}: {examples}")
    section.add("all files: words", sum(words.words for _, words in found), "words")
    section.add("all files: glued", sum(words.glued_words for _, words in found), "words")
    section.add("all files: split", sum(words.split_words for _, words in found), "words")
    section.add("all files: glued or split", _percent([words for _, words in found]), "%", at_most(GOAL_PERCENT))


def read(file: Path, pages: int | None) -> Completeness:
    """Compare the words of the first `pages` pages of a PDF (None: all) with those of MuPDF."""
    tally = CompletenessCheck(None)
    with pymupdf.open(file) as document:
        for index in range(min(document.page_count, pages or document.page_count)):
            tally.add(
                parse_page(document, index),
                lambda number: document[number - 1].get_text("words", flags=TEXT_FLAGS),
            )
    return tally.result()


def _percent(found: Iterable[Completeness]) -> float:
    counts = list(found)
    wrong = sum(words.glued_words + words.split_words for words in counts)
    return 100 * wrong / max(sum(words.words for words in counts), 1)
