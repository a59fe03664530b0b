"""The OpenAPI document and the API agree: schemathesis asks what the document allows, and what it does not.

A longer run against a server of one's own:

    schemathesis --config-file tests/acceptance/schemathesis.toml run http://localhost:3001/openapi.json \
        --checks all -n 50 -H "x-api-key: ..."
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.api import create_app
from rag.engine import RAGEngine
from tests.acceptance import api

CONFIG = Path(__file__).with_name("schemathesis.toml")
EXAMPLES = 2


@pytest.fixture(scope="module")
def engine(shared_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGEngine]:
    folder = tmp_path_factory.mktemp("data")
    with api.open_engine(shared_database_url, folder, rag_rate_limit_per_minute=0) as opened:
        yield opened


@pytest.mark.long
def test_every_response_is_as_documented(engine: RAGEngine, tmp_path: Path) -> None:
    api.take_in(engine, ("harbour.pdf",))
    with api.serving(engine) as url:
        done = subprocess.run(
            [
                *(Path(sys.executable).with_name("schemathesis"), "--no-color", "--config-file", CONFIG),
                *("run", f"{url}/openapi.json", "--checks", "all", "--phases", "fuzzing", "-n", str(EXAMPLES)),
                *("--generation-database", "none", "--seed", "1", "-H", f"x-api-key: {api.SHARED_KEY}"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout


def test_every_route_describes_its_errors_and_needs_a_key(engine: RAGEngine) -> None:
    document = create_app(engine.installation).openapi()
    for path, verbs in document["paths"].items():
        for method, operation in verbs.items():
            assert {"401", "403", "404", "413", "422", "429", "503"} <= operation["responses"].keys(), path
            assert bool(operation.get("security")) == (path != "/health"), (method, path)
            assert operation["description"], (method, path)
