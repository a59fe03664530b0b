"""Who made a contract and who signed it is answered by its preamble and its signatures, wherever they stand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import prompts
from rag.config import Config
from rag.engine import RAGEngine
from tests import pdfs
from tests.databases import Databases

BETWEEN = 'This Agreement is made by and between Acme Harbours, Inc. ("Acme") and Brine Ferries Ltd. ("Brine").'
CONTRACT = (BETWEEN, "1. Term", "It runs for ten years.", "BRINE FERRIES LTD.", "/s/ Ola Berg", "Ola Berg", "Treasurer")


@pytest.fixture(scope="module")
def engine(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RAGEngine]:
    with databases.lent() as url:
        folder: Path = tmp_path_factory.mktemp("contract")
        config = Config(rag_data_dir=folder, rag_database_url=url, rag_embed_model="local", rag_gen_model="extractive")
        with RAGEngine(config) as engine:
            engine.documents.process(engine.documents.add(pdfs.plain(CONTRACT), "ferry.pdf", enqueue=False).id)
            yield engine


@pytest.mark.parametrize(
    ("question", "note", "said"),
    [
        (
            "Who are the parties?",
            prompts.PREAMBLE_NOTE,
            'Acme Harbours, Inc. ("Acme") and Brine Ferries Ltd. ("Brine")',
        ),
        ("Who signed the agreement?", prompts.SIGNATURES_NOTE, "/s/ Ola Berg Ola Berg Treasurer"),
    ],
)
def test_the_contract_itself_names_them(engine: RAGEngine, question: str, note: str, said: str) -> None:
    response = engine.answer(question)
    assert note in response.answer
    assert [said in sentence.text for sentence in response.sentences] == [True]
    assert [citation.regions[0].page_number for citation in response.citations] == [1]
