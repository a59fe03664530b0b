"""docs/architecture.md and CONTRIBUTING.md name existing places; packages and classes stay small."""

import importlib
import inspect
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pydantic
import pytest

import rag
from rag.engine import RAGEngine

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")

NAMED = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", PAGE)
IN_WORDS = re.findall(r"(?<![a-z]/)\b([a-z]+/(?:[a-z]+/)?[a-z_]+\.py)\b", PAGE)
IN_GUIDE = re.findall(r"`((?:rag|tests|pages|benchmarks|docs)/[\w./-]*\w)`", GUIDE)
PLACES = sorted({*NAMED, *IN_WORDS, *IN_GUIDE})
NOUNS = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `engine/", PAGE, re.MULTILINE)
MOST_METHODS = 12
MOST_MODULES = 20


@pytest.mark.parametrize("place", PLACES)
def test_every_place_on_the_page_is_there(place: str) -> None:
    assert any((folder / place).exists() for folder in (ROOT, ROOT / "rag")), place


def test_every_noun_is_handed_out() -> None:
    named = {noun for row in NOUNS for noun in re.findall(r"`(\w+)`", row)}
    engine = RAGEngine()
    handed_out = {name for name, part in vars(engine).items() if not name.startswith("_") and name != "user_id"}
    assert named == (handed_out - {"installation"}) | {"caches"}


def test_no_package_has_more_than_twenty_modules() -> None:
    modules = Counter(path.parent.relative_to(ROOT) for path in (ROOT / "rag").rglob("*.py") if path.stem != "__init__")
    assert {str(package): count for package, count in modules.items() if count > MOST_MODULES} == {}


def classes() -> Iterator[type]:
    """Every class of ours whose methods we chose."""
    for module_info in pkgutil.walk_packages(rag.__path__, "rag."):
        if not module_info.name.startswith(("rag.__main__", "rag.mcp_server")):
            module = importlib.import_module(module_info.name)
            for _, found in inspect.getmembers(module, inspect.isclass):
                if found.__module__ == module_info.name and not issubclass(found, pydantic.BaseModel):
                    yield found


def test_no_object_has_more_than_a_dozen_public_methods() -> None:
    large = {
        f"{found.__module__}.{found.__name__}": len(methods)
        for found in classes()
        if len(methods := [name for name, part in vars(found).items() if _is_public_method(name, part)]) > MOST_METHODS
    }
    assert large == {}


def _is_public_method(name: str, part: object) -> bool:
    return not name.startswith("_") and (inspect.isfunction(part) or isinstance(part, classmethod | staticmethod))
