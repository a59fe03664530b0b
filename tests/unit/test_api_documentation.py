"""`docs/api.md` has every route, every type of error and every setting of the REST API, and no other."""

import re
from pathlib import Path

import pytest

from rag import errors
from rag.api import create_app
from rag.api.error_responses import COLLECTION_TYPES, DOCUMENTED
from rag.config import Config, load_config
from rag.engine import Installation

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
ROUTES = set(re.findall(r"^\| `([A-Z]+ /\S*)` \|", PAGE, re.MULTILINE))
NOT_OVER_HTTP = {"error"}


def _types(error: type[errors.Error]) -> set[str]:
    return {error.code}.union(*map(_types, error.__subclasses__()))


def test_every_route_is_described_and_no_other() -> None:
    paths = create_app(Installation(load_config())).openapi()["paths"]
    served = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert {*served, "GET /openapi.json"} == ROUTES


@pytest.mark.parametrize("code", sorted(_types(errors.Error) - NOT_OVER_HTTP | set(COLLECTION_TYPES.values())))
def test_every_type_of_error_is_named(code: str) -> None:
    assert f"`{code}`" in PAGE.partition("## Errors")[2]


@pytest.mark.parametrize("status", sorted(map(int, DOCUMENTED)))
def test_every_status_of_an_error_is_named(status: int) -> None:
    assert f"\n| {status} |" in PAGE


def test_the_settings_exist_with_the_defaults_that_are_told() -> None:
    told = dict(re.findall(r"^\| `([A-Z_]+)` \| [^|]*?: (\w+)[^|]*\|$", PAGE, re.MULTILINE))
    assert len(told) == 10
    config = load_config()
    for name, default in told.items():
        field, _, nested = name.lower().partition("__")
        assert field in Config.model_fields, name
        value = getattr(getattr(config, field), nested) if nested else getattr(config, field)
        shown = f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value).lower()
        assert shown == default, name
