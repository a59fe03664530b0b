"""Texts, PDFs and vectors generated deterministically."""

import functools
import json
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rag import packaged_models
from rag.parsing.pdf.mupdf import pymupdf

MOST_FREQUENT_WORD = "the"
"""Index of the first word in the model's vocabulary, which is sorted by frequency."""
SENTENCE_WORDS = 17
WORDS_PER_NUMBER = 40
TOPIC_WORDS = 40
TOPIC_SHARE = 0.15
LINE_CHARS = 85
QUESTION_WORDS = 8

PAGE_WIDTH, PAGE_HEIGHT, MARGIN, LEADING = 595.0, 842.0, 64.0, 14.5
PAGES_PER_TABLE = 5

Floats = npt.NDArray[np.float32]
Rng = np.random.Generator


@functools.cache
def words() -> npt.NDArray[np.object_]:
    """Return English words, the most frequent first: the embedded model's vocabulary."""
    content = json.loads(
        (packaged_models.find_model(packaged_models.BGE_SMALL_EN) / "tokenizer.json").read_text(encoding="utf-8")
    )
    vocabulary: dict[str, int] = content["model"]["vocab"]
    first = vocabulary[MOST_FREQUENT_WORD]
    ranked = sorted((number, word) for word, number in vocabulary.items() if number >= first)
    return np.array([word for _, word in ranked if word.isascii() and word.isalpha()], dtype=object)


@functools.cache
def _cumulative() -> npt.NDArray[np.float64]:
    """Return Zipf's law: the word of rank r has probability proportional to 1/r."""
    weights = 1.0 / np.arange(1, len(words()) + 1)
    shares: npt.NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    return shares


def topic(rng: Rng) -> npt.NDArray[np.int64]:
    """Return the ranks of words that one document uses more often."""
    return rng.integers(100, len(words()), TOPIC_WORDS)


def text(rng: Rng, characters: int, about: npt.NDArray[np.int64] | None = None) -> str:
    """Return sentences of about `characters` with numbers, and with the words of a topic if given."""
    count = characters // 4
    ranks = np.searchsorted(_cumulative(), rng.random(count))
    if about is not None:
        ranks = np.where(rng.random(count) < TOPIC_SHARE, rng.choice(about, count), ranks)
    chosen: list[str] = words()[ranks].tolist()
    for place in rng.integers(0, count, count // WORDS_PER_NUMBER).tolist():
        chosen[place] = f"{rng.integers(10, 90_000) / 10:,}"
    for start in range(0, count, SENTENCE_WORDS):
        chosen[start] = chosen[start].capitalize()
        chosen[start - 1] += "."
    whole = " ".join(chosen)
    return whole[: whole.rfind(" ", 0, characters)]


def lines(content: str, width: int = LINE_CHARS) -> list[str]:
    """Split `content` into lines of print."""
    return textwrap.wrap(content, width, break_on_hyphens=False)


def questions(texts: Sequence[str], count: int) -> list[str]:
    """Return consecutive words from the texts."""
    rng = np.random.default_rng(1)
    chosen = [texts[place].split() for place in rng.integers(0, len(texts), count)]
    starts = [int(rng.integers(0, max(len(words) - QUESTION_WORDS, 1))) for words in chosen]
    return [" ".join(words[start : start + QUESTION_WORDS]) for words, start in zip(chosen, starts, strict=True)]


def make_pdf(path: Path, pages: int, *, seed: int = 1) -> Path:
    """Make a report: each page has a heading and some 3,000 characters, every fifth also a ruled table."""
    rng = np.random.default_rng(seed)
    document: Any = pymupdf.open()
    for number in range(1, pages + 1):
        page = document.new_page(width=PAGE_WIDTH, height=PAGE_HEIGHT)
        writer = pymupdf.TextWriter(page.rect)
        top = MARGIN
        writer.append((MARGIN, top), f"{number}. {text(rng, 40)}", font=_font("hebo"), fontsize=15)
        has_table = number % PAGES_PER_TABLE == 0
        for place, line in _paragraphs(rng, top + 2 * LEADING, 30 if has_table else 42):
            top = place
            writer.append((MARGIN, top), line, font=_font("helv"), fontsize=10)
        if has_table:
            _draw_table(page, writer, rng, top + 2 * LEADING)
        writer.write_text(page)
    document.save(path, garbage=1, deflate=True)
    document.close()
    return path


@functools.cache
def _font(name: str) -> Any:
    return pymupdf.Font(name)


def _paragraphs(rng: Rng, top: float, count: int) -> Iterator[tuple[float, str]]:
    """Yield lines with their positions, about seven per paragraph."""
    for index, line in enumerate(lines(text(rng, count * LINE_CHARS))[:count]):
        yield top, line
        top += LEADING * (1.6 if index % 7 == 6 else 1.0)


def _draw_table(page: Any, writer: Any, rng: Rng, top: float) -> None:
    """Draw eight rows of four columns with rules around every cell."""
    rows, columns, width = 8, 4, 110.0
    for row in range(rows + 1):
        y = top + row * LEADING
        page.draw_line((MARGIN, y), (MARGIN + columns * width, y), width=0.5)
        for column in range(columns if row < rows else 0):
            cell = text(rng, 14) if row == 0 or column == 0 else f"{rng.integers(10, 90_000) / 10:,}"
            writer.append((MARGIN + column * width + 4, y + 10.5), cell, font=_font("helv"), fontsize=9)
    for column in range(columns + 1):
        x = MARGIN + column * width
        page.draw_line((x, top), (x, top + rows * LEADING), width=0.5)


def normalised(vectors: npt.NDArray[Any]) -> Floats:
    """Return rows of length 1."""
    scaled: Floats = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return scaled
