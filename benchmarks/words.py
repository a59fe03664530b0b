"""Count the words of real PDFs that parsing glues together or splits, by file."""

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from benchmarks.word_boundaries import Word, WrongWord, glued_words, split_words
from rag.parsing.completeness import to_words
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.pdf.pages import parse_page
from rag.parsing.pdf.text_runs import TEXT_FLAGS

QUICK_PAGES = 12
"""Pages per file with --quick."""
GOAL_PERCENT = 0.05
EXAMPLES = 6


class Words(NamedTuple):
    """The number of words of a file, and those read wrong."""

    total: int
    glued: list[WrongWord]
    split: list[WrongWord]

    @property
    def wrong(self) -> list[WrongWord]:
        """All words read wrong."""
        return [*self.glued, *self.split]


def measure(options: Options, section: Section) -> None:
    """Report the glued and split words of each affected file with examples, and of all files."""
    if options.pdfs is None:
        section.about = "skipped: give a folder of PDFs with --pdfs"
        return
    files = sorted(options.pdfs.rglob("*.pdf"))
    found = [(file, read(file, QUICK_PAGES if options.quick else None)) for file in files]
    section.about = f"{len(files):,} files of {options.pdfs.name}"
    for file, words in found:
        if words.wrong:
            section.add(f"{file.name}: glued or split of {words.total:,}", len(words.wrong), "words")
            section.add(f"{file.name}: share", _percent([words]), "%")
            examples = "; ".join(f"{error.read} ← {error.expected}" for error in words.wrong[:EXAMPLES])
            section.notes.append(f"{file.name}: {examples}")
    section.add("all files: words", sum(words.total for _, words in found), "words")
    section.add("all files: glued", sum(len(words.glued) for _, words in found), "words")
    section.add("all files: split", sum(len(words.split) for _, words in found), "words")
    section.add("all files: glued or split", _percent([words for _, words in found]), "%", at_most(GOAL_PERCENT))


def read(file: Path, pages: int | None) -> Words:
    """Compare the words of the first `pages` pages of a PDF (None: all) with those of MuPDF."""
    words = Words(0, [], [])
    with pymupdf.open(file) as document:
        for index in range(min(document.page_count, pages or document.page_count)):
            on_page = read_page(document, index)
            words = Words(words.total + on_page.total, words.glued + on_page.glued, words.split + on_page.split)
    return words


def read_page(document: Any, index: int) -> Words:
    """Compare the words of a page; MuPDF's are extracted only if the lines have a word that no run has."""
    page = parse_page(document, index)
    lines = [line.text for block in page.blocks for line in block.lines]
    runs = " ".join(page.runs).split()
    if set(" ".join(lines).split()).issubset(runs):
        return Words(len(runs), [], [])
    expected = [
        Word(text, (x0, y0, x1, y1))
        for x0, y0, x1, y1, word, *_ in document[index].get_text("words", flags=TEXT_FLAGS)
        for text in to_words(word)
    ]
    read_lines = [to_words(line) for line in lines]
    apart = {pair for run in page.runs for pair in pairwise(to_words(run))}
    split = [word for word in split_words(expected, read_lines) if not apart.issuperset(pairwise(word.read.split()))]
    return Words(len(runs), glued_words(expected, read_lines), split)


def _percent(found: Iterable[Words]) -> float:
    counts = list(found)
    return 100 * sum(len(words.wrong) for words in counts) / max(sum(words.total for words in counts), 1)
