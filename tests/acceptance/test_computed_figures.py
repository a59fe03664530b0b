"""Figures that are computed from cells are not left to a small model."""

from pathlib import Path

import pytest

from rag import providers
from rag.engine import RAGEngine
from rag.types import Support
from tests import pdfs, vendors
from tests.databases import Databases

WRITTEN = "The current ratio was 9.9 [S1]."


@pytest.mark.parametrize(("vendor_name", "is_small"), [("openai_compatible", True), ("openai", False)])
def test_a_small_model_is_not_asked_for_a_ratio(
    vendor_name: str, is_small: bool, databases: Databases, tmp_path: Path
) -> None:
    settings = {"rag_data_dir": tmp_path / "data", "rag_embed_model": "local"}
    with databases.lent() as url, vendors.vendor(vendor_name, tmp_path) as vendor:
        assert providers.is_small(vendor.llm()) is is_small
        with RAGEngine(vendor.config(**settings, rag_database_url=url)) as engine:
            engine.documents.process(engine.documents.add(pdfs.annual_report("Acme"), "acme.pdf", enqueue=False).id)
            vendor.server.pieces = [WRITTEN]
            computed = engine.questions.answer("What is the current ratio?")
            asked = len(vendor.server.bodies)
            engine.questions.answer("What is the interest coverage?")  # no figure of the report gives it
    assert ("Current ratio 2" in computed.answer) is is_small
    assert (Support.SUPPORTED in [sentence.support for sentence in computed.sentences]) is is_small
    assert (asked == 0) is is_small
    assert len(vendor.server.bodies) > asked
