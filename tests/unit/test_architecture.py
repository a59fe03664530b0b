"""docs/architecture.md and CONTRIBUTING.md name existing places."""

import re
from pathlib import Path

import pytest

from rag.engine import RAGEngine

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

NAMED = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", PAGE)
IN_WORDS = re.findall(r"(?<![a-z]/)\b([a-z]+/(?:[a-z]+/)?[a-z_]+\.py)\b", PAGE)
IN_GUIDE = re.findall(r"`((?:rag|tests|pages|benchmarks|docs)/[\w./-]*\w)`", GUIDE)
PLACES = sorted({*NAMED, *IN_WORDS, *IN_GUIDE})
NOUNS = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `engine/", PAGE, re.MULTILINE)


@pytest.mark.parametrize("place", PLACES)
def test_every_place_on_the_page_is_there(place: str) -> None:
    assert any((folder / place).exists() for folder in (ROOT, ROOT / "rag")), place


def test_every_noun_is_handed_out() -> None:
    named = {noun for row in NOUNS for noun in re.findall(r"`(\w+)`", row)}
    engine = RAGEngine()
    handed_out = {name for name, part in vars(engine).items() if not name.startswith("_") and name != "user_id"}
    assert named == handed_out - {"installation"}
