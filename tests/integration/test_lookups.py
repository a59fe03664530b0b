"""Questions over two documents, taken apart by a language model behind its real client, over a real database."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from rag import errors
from rag.engine import RAGEngine
from rag.types import SearchResponse
from tests import pdfs, vendors
from tests.databases import Databases
from tests.vendor_servers import VendorServer

OWNERS = {
    "Lindmark": "Skagen", "Ostrava": "Pellworm", "Tarifa": "Umbra", "Quellin": "Vardo", "Mirepoix": "Fenwick",
    "Zell": "Corvara",
}  # fmt: skip
LEADERS = {
    "Skagen": "Berta Ohm", "Pellworm": "Ivo Lang", "Umbra": "Ada Kern", "Vardo": "Nils Braun", "Fenwick": "Ruth Sand",
    "Corvara": "Olaf Wiek",
}  # fmt: skip
OTHERS = (
    "Aalen", "Bixby", "Cuxhaven", "Dorset", "Elba", "Faro", "Gander", "Husum", "Imola", "Jever", "Kiel", "Lecce",
)  # fmt: skip
TOP = 5


def library() -> dict[str, tuple[str, ...]]:
    """A page for each purchase and each company's board, and many that speak of the same of other companies."""
    bought = {
        f"{port} purchase.pdf": (f"{owner} bought the {port} ship yard in 2019.", "The price was not disclosed.")
        for port, owner in OWNERS.items()
    }
    boards = {
        f"{owner} board.pdf": (f"{leader} has led {owner} since 2021.", "The board of directors has nine members.")
        for owner, leader in LEADERS.items()
    }
    alike = {
        f"{name} ship yard.pdf": (
            f"The company that owns the {name} ship yard was founded in 1920.",
            f"The chief executive who leads the {name} ship yard company is well known.",
        )
        for name in OTHERS
    }
    return {**bought, **boards, **alike}


def question(port: str) -> str:
    return f"Who leads the company that bought the {port} ship yard?"


def both(port: str) -> set[str]:
    return {f"{port} purchase.pdf", f"{OWNERS[port]} board.pdf"}


def steps(port: str) -> list[str]:
    """What the model says to each request."""
    return [f"LOOKUP: buyer of the {port} ship yard", f"LOOKUP: who has led {OWNERS[port]}", "ENOUGH"]


@dataclass
class Desk:
    """An engine with a language model, and the server behind that."""

    engine: RAGEngine
    server: VendorServer

    def search(self, query: str, **retrieval: Any) -> SearchResponse:
        options = {"min_score": 0.0, "top_k": TOP, "trace": True, **retrieval}
        return self.engine.search({"query": query, "retrieval": options})

    def prompts(self) -> list[str]:
        return [body["messages"][0]["content"] for body in self.server.bodies]


@pytest.fixture(scope="module")
def opened(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    with databases.lent() as url, vendors.vendor("openai") as vendor:
        config = vendor.config(rag_data_dir=folder / "data", rag_database_url=url, rag_embed_model="local")
        with RAGEngine(config, user_id="ann") as engine:
            for name, lines in library().items():
                engine.documents.process(engine.documents.add(pdfs.plain(lines), name, enqueue=False).id)
            yield Desk(engine, vendor.server)


@pytest.fixture
def desk(opened: Desk) -> Desk:
    """Nothing was asked before."""
    opened.engine.store.caches.clear()
    opened.server.requests.clear()
    opened.server.replies.clear()
    return opened


def names(response: SearchResponse) -> list[str]:
    return [hit.document_name for hit in response.results]


@pytest.mark.parametrize("port", OWNERS)
def test_both_pages_of_a_question_in_two_steps_are_found_only_by_look_ups(desk: Desk, port: str) -> None:
    alone = desk.search(question(port))
    assert f"{OWNERS[port]} board.pdf" not in names(alone)
    desk.server.replies += steps(port)
    assert set(names(desk.search(question(port), lookups=4))[:3]) >= both(port)


@pytest.mark.parametrize("mode", ["vector", "lexical", "hybrid"])
def test_two_look_ups_have_both_their_pages_among_the_first(desk: Desk, mode: str) -> None:
    asked = ["who has led Umbra", "who has led Vardo"]
    desk.server.replies.append("\n".join(f"LOOKUP: {one}" for one in asked))
    response = desk.search("Whose ship yard company is led by whom, and since when?", lookups=2, mode=mode)
    assert {"Umbra board.pdf", "Vardo board.pdf"} <= {*names(response)[:3]}
    assert len(desk.server.requests) == 1  # the budget was spent


def test_the_trace_tells_every_step(desk: Desk) -> None:
    desk.server.replies += steps("Lindmark")
    response = desk.search(question("Lindmark"), lookups=4)
    assert response.trace is not None
    assert [(variant.kind, variant.step, variant.text) for variant in response.trace.variants] == [
        ("question", 0, question("Lindmark")),
        ("lookup", 1, "buyer of the Lindmark ship yard"),
        ("lookup", 2, "who has led Skagen"),
    ]
    first, second, third = desk.prompts()
    assert "4 at most" in first
    assert "3 at most" in second
    assert "[Lindmark purchase.pdf, page 1] Skagen bought the Lindmark ship yard in 2019." in second
    assert "Berta Ohm has led Skagen since 2021." in third
    found = {candidate.outcome for candidate in response.trace.candidates if candidate.hit in (1, 2)}
    assert found == {"returned"}
    assert response.usage.embedding_tokens > desk.search(question("Lindmark")).usage.embedding_tokens


def test_a_look_up_is_understood_as_a_question_is(desk: Desk) -> None:
    desk.server.replies.append("LOOKUP: FY19")
    found = names(desk.search("Which board has nine members?", lookups=1, mode="lexical"))
    assert found[0].endswith("board.pdf")
    assert found[1].endswith("purchase.pdf")  # of 2019


def test_an_answer_is_made_from_what_look_ups_found(desk: Desk) -> None:
    desk.server.replies += [*steps("Quellin"), "Nils Braun leads it [S1][S2]."]
    retrieval = {"min_score": 0.0, "top_k": 3, "lookups": 4}
    desk.engine.answer({"question": question("Quellin"), "retrieval": retrieval})
    asked = str(desk.server.bodies[-1]["messages"])
    assert "Vardo bought the Quellin ship yard" in asked
    assert "Nils Braun has led Vardo" in asked


def test_look_ups_need_a_language_model(desk: Desk) -> None:
    config = desk.engine.config.model_copy(update={"openai_api_key": None})
    with RAGEngine(config, user_id="ann") as engine, pytest.raises(errors.ConfigError, match=r"look-ups .* key"):
        engine.search({"query": "Who?", "retrieval": {"lookups": 1}})
