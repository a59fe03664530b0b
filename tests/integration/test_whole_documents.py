"""How much of the documents a language model is given, over a real database and behind its real client."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from rag import errors
from rag.engine import RAGEngine
from rag.types import Origin
from tests import pdfs, vendors
from tests.databases import Databases
from tests.vendor_servers import VendorServer

QUESTION = "How many ships did the harbour handle?"
FILLER = [f"Berth {number} was cleaned, painted and opened again in the spring of that year." for number in range(40)]


@dataclass
class Desk:
    """An engine with a language model, and the server behind that."""

    engine: RAGEngine
    server: VendorServer

    def prompt(self, question: str = QUESTION, **request: Any) -> str:
        """Ask, and return the sources that the model was given."""
        asked = len(self.server.bodies)
        self.engine.answer({"question": question, "options": {"use_cache": False}, **request})
        texts = [str(body["messages"][-1]["content"]) for body in self.server.bodies[asked:]]
        return next(text for text in texts if text.startswith("Sources:"))  # behind a plan of searches, if any


def pages(prompt: str) -> list[tuple[str, str]]:
    """The name and pages of each source."""
    return re.findall(r"(?m)^\[S\d+\] \[Source: ([^,]+), Page ([\d-]+), Lines", prompt)


@pytest.fixture(scope="module")
def opened(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    library = {
        "harbour.pdf": pdfs.pages(
            4, line=lambda n: f"Part {n}. The harbour handled {n},812 ships.", others=FILLER[:20]
        ),
        "orchard.pdf": pdfs.pages(2, line=lambda n: f"Row {n} has {n}1 kinds of pears.", others=["It is green."]),
        "long.pdf": pdfs.pages(40, line=lambda n: f"Chapter {n} of the harbour's long story.", others=FILLER),
    }
    with databases.lent() as url, vendors.vendor("openai") as vendor:
        config = vendor.config(
            rag_data_dir=folder / "data", rag_database_url=url, rag_embed_model="local", rag_gen_model="openai:gpt-4.1"
        )
        with RAGEngine(config, user_id="ann") as engine:
            for name, content in library.items():
                engine.documents.process(engine.documents.add(content, name, enqueue=False).id)
            vendor.server.pieces = ["It handled 1,812 ships [S1]."]
            yield Desk(engine, vendor.server)


@pytest.fixture
def desk(opened: Desk) -> Iterator[Desk]:
    """Nothing was chosen before."""
    opened.engine.store.caches.clear()
    yield opened
    opened.engine.installation.settings.choose_context_size(None)


def within(desk: Desk, *names: str, **more: Any) -> dict[str, Any]:
    ids = [str(document.id) for document in desk.engine.documents.list() if document.name in names]
    return {"filters": {"document_ids": ids}, **more}


def test_a_short_document_is_given_whole_in_reading_order_whatever_top_k_is(desk: Desk) -> None:
    prompt = desk.prompt(retrieval=within(desk, "harbour.pdf", top_k=1))
    assert pages(prompt) == [("harbour.pdf", str(page)) for page in (1, 2, 3, 4)]
    assert [prompt.count(f"The harbour handled {page},812 ships.") for page in (1, 2, 3, 4)] == [1, 1, 1, 1]


def test_a_document_in_a_small_scope_is_given_though_nothing_of_it_was_found(desk: Desk) -> None:
    scope = within(desk, "harbour.pdf", "orchard.pdf", min_score=0.99)
    assert sorted(pages(desk.prompt(retrieval=scope))) == [
        *(("harbour.pdf", str(page)) for page in (1, 2, 3, 4)),
        *(("orchard.pdf", str(page)) for page in (1, 2)),
    ]


def test_what_does_not_fit_is_given_as_it_was_found_beside_what_does(desk: Desk) -> None:
    given = pages(desk.prompt(options={"max_context_tokens": 8000, "use_cache": False}))
    found = desk.engine.search({"query": QUESTION}).results
    assert [page for name, page in given if name == "harbour.pdf"] == ["1", "2", "3", "4"]
    assert [page.partition("-")[0] for name, page in given if name == "long.pdf"] == [
        str(hit.passage.page_number) for hit in found if hit.document_name == "long.pdf"
    ]
    assert 0 < sum(name == "long.pdf" for name, _ in given) < 40
    assert given[-2:] == [("orchard.pdf", "1"), ("orchard.pdf", "2")]  # nothing of it was found


@pytest.mark.parametrize("kind", [{"passage": "chunk"}, {"must_include": ["2,812"]}])
def test_who_asks_for_certain_passages_gets_only_those(desk: Desk, kind: dict[str, Any]) -> None:
    prompt = desk.prompt(retrieval=within(desk, "harbour.pdf", top_k=1, min_score=0.0, **kind))
    assert len(pages(prompt)) == 1


def test_a_citation_of_a_page_that_was_not_found_lands_on_it(desk: Desk) -> None:
    desk.server.pieces = ["It handled 3,812 ships [S3]."]
    asked = {"question": QUESTION, "retrieval": within(desk, "harbour.pdf", top_k=1)}
    (citation,) = desk.engine.answer(asked).citations
    assert citation.quote is not None
    assert "3,812" in citation.quote
    assert [region.page_number for region in citation.regions] == [3]


def test_an_extract_is_made_from_what_was_found(desk: Desk) -> None:
    asked = {"question": QUESTION, "retrieval": within(desk, "harbour.pdf", top_k=1)}
    response = desk.engine.answer({**asked, "generation": {"provider": "extractive"}})
    assert response.retrieval.returned == 1
    assert len(response.contexts) <= 1


def test_an_explanation_knows_what_is_given_whole(desk: Desk) -> None:
    search = {"query": QUESTION, "retrieval": within(desk, "harbour.pdf", top_k=1)}
    page = desk.engine.search(search).results[0].passage.page_number
    other = next(number for number in (1, 2, 3, 4) if number != page)
    explanation = desk.engine.questions.explain(search, f"The harbour handled {other},812 ships.")
    assert explanation.stage == "given"
    assert explanation.message == f"Its document is short enough to be given whole: it is read as S{other}."


def test_the_most_text_for_a_question_follows_the_model_the_setting_and_the_request(desk: Desk) -> None:
    settings, cost = desk.engine.installation.settings, pytest.approx(0.06)
    assert settings.context_size().model_dump() == {"tokens": 30_000, "origin": Origin.DEFAULT, "cost_usd": cost}
    assert desk.prompt().count("[Source: long.pdf") > 3
    chosen = settings.choose_context_size(300)
    assert (chosen.tokens, chosen.origin) == (300, Origin.KEPT)
    small = desk.prompt()
    assert len(small) < 2500
    assert len(desk.prompt(options={"max_context_tokens": 3000, "use_cache": False})) > 2 * len(small)
    assert settings.choose_context_size(None).origin is Origin.DEFAULT
    with pytest.raises(errors.ValidationError, match="max_context_tokens"):
        settings.choose_context_size(10)


def test_an_answer_records_how_much_text_it_had_and_asking_for_more_passages_makes_more_room(desk: Desk) -> None:
    response = desk.engine.answer({"question": QUESTION})
    assert response.provenance is not None
    assert response.provenance.answering["max_context_tokens"] == 30_000
    chat = desk.engine.chats.start("Ships").id
    desk.engine.installation.settings.choose_context_size(5000)
    assert desk.engine.chats.request(chat, QUESTION).options.max_context_tokens is None
    assert desk.engine.chats.request(chat, QUESTION, top_k=16).options.max_context_tokens == 10_000
