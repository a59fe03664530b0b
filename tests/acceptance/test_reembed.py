"""`pagelight reembed`, also killed in the middle: the library was embedded with another model before."""

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag import providers
from rag.config import load_config
from rag.engine import RAGEngine
from tests import embeddings, pdfs, vendor_servers
from tests.acceptance.command_line import pagelight, parsed

LOCAL = "local:bge-small-en-v1.5"
BLIND = "blind:model"
VENDORS = "openai_compatible:nomic-embed-text"
FACTS = {
    "harbour.pdf": "The harbour of Lindmark handled 4,812 ships in 2019.",
    "orchard.pdf": "The orchard grows eleven kinds of pears.",
}

pytestmark = pytest.mark.usefixtures("settings")


@pytest.fixture
def registry() -> providers.Registry:
    registry = providers.Registry()
    embeddings.register(registry, "blind", 384, embeddings.blind(384))
    return registry


@pytest.fixture
def engine(settings: Path, registry: providers.Registry) -> Iterator[RAGEngine]:
    """An engine of this process, which knows a model that the commands do not; new indexes have it."""
    with RAGEngine(load_config(rag_embed_model=BLIND), registry=registry) as opened:
        yield opened


@pytest.fixture
def library(engine: RAGEngine) -> dict[str, uuid.UUID]:
    added = {name: engine.documents.add(pdfs.plain([text]), name, enqueue=False).id for name, text in FACTS.items()}
    return {name: engine.documents.process(document_id).id for name, document_id in added.items()}


def states(report: Any) -> dict[str, str]:
    return {f"{one['space']['provider']}:{one['space']['model']}": one["state"] for one in report["generations"]}


@pytest.mark.usefixtures("library")
def test_a_generation_is_built_switched_rolled_back_and_dropped(engine: RAGEngine) -> None:
    assert states(parsed("reembed")) == {BLIND: "active"}
    assert "in use" in pagelight("reembed").stdout

    built = parsed("reembed", "--model", LOCAL, "--no-switch")
    assert (states(built), built["switched"]) == ({BLIND: "active", LOCAL: "ready"}, False)

    switched = pagelight("reembed", "--model", LOCAL)
    assert "--rollback" in switched.stdout
    assert parsed("search", "kinds of pears", "--mode", "vector")["results"][0]["fileName"] == "orchard.pdf"
    assert parsed("inspect")["index"]["generation"] == 2
    assert "already" in pagelight("reembed", "--model", LOCAL).output

    unknown = parsed("reembed", "--rollback", code=9)["error"]  # this process has no such model to search with
    assert "blind" in unknown["message"]
    engine.indexes.generations().rollback()
    assert states(parsed("reembed")) == {BLIND: "active", LOCAL: "ready"}

    pagelight("reembed", "--model", "local")
    dropped = parsed("reembed", "--drop")
    assert [one["space"]["provider"] for one in dropped["dropped"]] == ["blind"]
    assert states(dropped) == {LOCAL: "active"}
    assert parsed("search", "ships", "--mode", "vector")["results"]


@pytest.mark.usefixtures("library")
def test_a_switch_can_wait_and_be_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    with vendor_servers.openai_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        pagelight("reembed", "--model", LOCAL)
        report = parsed("reembed", "--model", VENDORS, "--no-switch")
        assert (report["switched"], states(report)[VENDORS]) == (False, "ready")
        requests = len(server.requests)
        assert states(parsed("reembed", "--model", VENDORS))[VENDORS] == "active"
        assert len(server.requests) == requests  # all vectors were kept
        back = parsed("reembed", "--rollback")
        assert (back["switched"], states(back)[LOCAL]) == (True, "active")
        assert parsed("reembed", "--rollback", code=6)["error"]["code"] == "index"


@pytest.mark.usefixtures("library")
def test_the_setting_is_called_to_mind_and_its_refusal_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_EMBED_MODEL", LOCAL)
    refused = parsed("search", "pears", code=6)["error"]["message"]
    assert f"pagelight reembed --index default --model {LOCAL}" in refused
    assert "RAG_EMBED_MODEL names another" not in pagelight("reembed", "--model", LOCAL).stderr
    parsed("search", "pears")
    with vendor_servers.openai_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        assert "RAG_EMBED_MODEL names another" in pagelight("reembed", "--model", VENDORS).stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--model", LOCAL, "--drop"], 2),
        (["--rollback", "--drop"], 2),
        (["--model", "no-such:model"], 2),
        (["--model", "perplexity:sonar"], 2),
        (["--index", "absent", "--model", LOCAL], 5),
        (["--rollback"], 6),
    ],
)
@pytest.mark.usefixtures("library")
def test_wrong_arguments_of_reembed_are_refused(arguments: list[str], code: int) -> None:
    assert parsed("reembed", *arguments, code=code)["error"]["message"]
