"""Words found in the text of pages, as readers type them."""

import re
from collections.abc import Iterator

from rag.types import Span

MAX_WORDS_CHARS = 2000
ALIKE = ("'’‘ʼ`", '"“”„«»', "-‐‑‒–—−")
"""What is typed for each other."""
BROKEN = r"(?:[-\u00ad]\s*\n\s*|\u00ad)?"
"""Between two letters a word may be broken at the end of a line."""


def spans(words: str, text: str) -> Iterator[Span]:
    """Where `words` stand in `text`, in upper or lower case, over the ends of lines too; nothing if there are none."""
    pattern = _pattern(words)
    if pattern:
        for match in pattern.finditer(text):
            yield Span(match.start(), match.end())


def _pattern(words: str) -> re.Pattern[str] | None:
    parts = [BROKEN.join(map(_letter, word)) for word in words[:MAX_WORDS_CHARS].split()]
    return re.compile(r"\s+".join(parts), re.IGNORECASE) if parts else None


def _letter(letter: str) -> str:
    alike = next((group for group in ALIKE if letter in group), None)
    return f"[{re.escape(alike)}]" if alike else re.escape(letter)
