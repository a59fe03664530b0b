"""What questions and documents are read with: the packaged trades, and before them a user's glossary."""

from functools import lru_cache
from importlib import resources

from rag.vocabulary.landmarks import Landmarks
from rag.vocabulary.query_widening import Widener
from rag.vocabulary.vocabulary import load, trades

GLOSSARIES = 16
"""Kept ready: making one takes a third of a second, most users of an installation have none."""


def widener(glossary: str = "") -> Widener:
    """For a user with this glossary, a vocabulary as TOML. Raises `errors.ValidationError` if it is none."""
    return _widener(glossary)


def landmarks(glossary: str = "") -> Landmarks:
    """For the documents of a user with this glossary. Raises as `widener`."""
    return _landmarks(glossary)


def example() -> str:
    """A glossary to begin with, that explains itself."""
    return (resources.files("rag.vocabulary") / "example.toml").read_text(encoding="utf-8")


@lru_cache(GLOSSARIES)
def _widener(glossary: str) -> Widener:
    return Widener([load(glossary), *trades()] if glossary else trades())


@lru_cache(GLOSSARIES)
def _landmarks(glossary: str) -> Landmarks:
    return Landmarks(_widener(glossary).places)
