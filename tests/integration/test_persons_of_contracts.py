"""Who signed a contract is answered by its signatures, wherever they stand."""

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


def test_the_signatures_tell_who_signed(engine: RAGEngine) -> None:
    response = engine.answer("Who signed the agreement?")
    assert prompts.SIGNATURES_NOTE in response.answer
    assert ["/s/ Ola Berg Ola Berg Treasurer" in sentence.text for sentence in response.sentences] == [True]
    assert [citation.regions[0].page_number for citation in response.citations] == [1]
