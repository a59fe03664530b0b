"""What `docs/conformance.md` names exists: nothing stands in it that was renamed or removed since."""

import importlib
import re
from pathlib import Path

import pydantic
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`(rag\.[\w.]+)`", PAGE)))
TESTS = sorted(set(re.findall(r"`(test_\w+\.py)::(\w+)`", PAGE)))


def resolve(name: str) -> object:
    """The module, class, function, method or field of that name."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = _member(found, part)
        return found
    raise ModuleNotFoundError(name)


def _member(owner: object, name: str) -> object:
    if isinstance(owner, type) and issubclass(owner, pydantic.BaseModel) and name in owner.model_fields:
        return owner.model_fields[name]
    return getattr(owner, name)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_code_exists(name: str) -> None:
    assert resolve(name) is not None


@pytest.mark.parametrize(("file", "test"), TESTS)
def test_every_test_exists(file: str, test: str) -> None:
    (path,) = (ROOT / "tests").rglob(file)
    assert f"def {test}(" in path.read_text(encoding="utf-8")


def test_every_row_names_code_and_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("|") and not line.startswith(("| promised", "|---"))]
    assert len(rows) > 70
    for row in rows:
        _, where, tests = row.strip("|").split(" | ")
        assert "`" in where, row
        assert "::" in tests, row
