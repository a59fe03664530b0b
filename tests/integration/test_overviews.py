"""Overviews: chosen when a document is read, kept with it, and written by a model whose facts are proved."""

import json
from pathlib import Path

import psycopg
import pytest

from rag import errors
from rag.answering.extraction import key_facts
from rag.engine import RAGEngine
from rag.types import DocumentStatus, GenerationOptions, Role
from tests import pdfs, vendors
from tests.library import add

LEASE = (
    "Lease agreement",
    "This agreement was made between Harbour Board of Lindmark and Nordlicht Ferries Ltd.",
    "The term of the agreement is ten years and begins on 1 March 2021.",
    "The tenant pays a rent of 4,200 euros a month, due on the third working day.",
    "Either party may terminate the agreement with six months notice in writing.",
    "The agreement is governed by the laws of Norway.",
)
WRITTEN = """\
- The term is ten years and begins on 1 March 2021 [S1] <quote id="S1">is ten years and begins on 1 March 2021</quote>.
- The rent is 4,200 euros a month [S1] <quote id="S1">a rent of 4,200 euros a month</quote>.
- The tenant pays a deposit of 9,900 euros [S1] <quote id="S1">a deposit of 9,900 euros</quote>.
"""


def judged(**verdicts: str) -> str:
    """Return what a model judges of claims, such as `c1="supported"`."""
    listed = [
        {"claim": int(claim[1:]), "words": [], "missing": "", "verdict": verdict} for claim, verdict in verdicts.items()
    ]
    return json.dumps({"verdicts": listed})


def kept(database_url: str) -> list[object]:
    with psycopg.connect(database_url) as connection:
        return [row[0] for row in connection.execute("SELECT key_facts FROM documents")]


def test_a_report_has_an_overview_when_it_is_read(ada: RAGEngine, database_url: str) -> None:
    report = add(ada, pdfs.annual_report("Acme Harbours Ltd"), "acme.pdf")
    assert kept(database_url)[0]
    overview = ada.documents.overview(report)
    assert (overview.kind, overview.page_count, overview.language) == ("annual_report", 6, "english")
    assert overview.model is None
    texts = [fact.text for fact in overview.facts]
    assert any(text.startswith("Net income – 2021:") for text in texts)
    for fact in overview.facts:
        page = ada.pages.text(report, [fact.page_number])
        assert fact.line_start in {line.number for line in page.lines}
        assert {region.page_number for region in fact.regions} == {fact.page_number}
        assert fact.quote.split(" · ")[0] in " ".join(page.text.split())
    questions = ada.questions.suggestions(report)
    assert ada.documents.overview(report).questions == questions


def test_facts_are_chosen_again_when_it_is_read_again_or_were_never_chosen(ada: RAGEngine, database_url: str) -> None:
    lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
    first = ada.documents.overview(lease)
    assert ada.documents.overview(lease) == first
    ada.documents.process(lease, again=True)
    again = ada.documents.overview(lease)
    assert again.made_at > first.made_at
    assert again.facts == first.facts
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE documents SET key_facts = NULL")
    assert ada.documents.overview(lease).facts == first.facts
    assert kept(database_url)[0]


def test_facts_of_a_former_reading_are_not_kept(ada: RAGEngine, database_url: str) -> None:
    lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
    before, facts = ada.documents.get(lease), ada.store.documents.key_facts(lease)
    ada.documents.process(lease, again=True)
    assert facts
    assert not ada.store.documents.keep_key_facts(lease, facts, before.indexed_at)


def test_the_overview_is_the_owners_and_goes_with_the_document(ada: RAGEngine, database_url: str) -> None:
    lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
    with pytest.raises(errors.NotFoundError):
        ada.installation.for_user("eve").documents.overview(lease)
    ada.documents.trash([lease])
    assert ada.documents.overview(lease).facts
    receipt = ada.documents.purge([lease])
    assert receipt.document_ids == (lease,)
    assert kept(database_url) == []
    with pytest.raises(errors.PurgedError):
        ada.documents.overview(lease)


def test_readers_of_a_share_see_it_and_only_writers_have_it_improved(ada: RAGEngine, database_url: str) -> None:
    lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
    ada.installation.accounts.set_role("ada", Role.CURATOR)
    ada.sharing.share({"grantee": "bob", "permission": "read"}, "default")
    bob = ada.installation.for_user("bob").for_document(lease)
    assert bob.documents.overview(lease).facts == ada.documents.overview(lease).facts
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE documents SET key_facts = NULL")
    chosen = bob.documents.overview(lease)
    assert chosen.facts
    assert kept(database_url) == [None]
    assert bob.documents.overview(lease).made_at == chosen.made_at  # not chosen once more
    ada.documents.process(lease, again=True)
    assert bob.documents.overview(lease).made_at > chosen.made_at
    ada.sharing.unshare({"grantee": "bob", "permission": "read"}, "default")
    with pytest.raises(errors.NotFoundError):
        bob.documents.overview(lease)


def test_a_document_is_ready_though_its_facts_cannot_be_chosen(ada: RAGEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise errors.GroundingError("no such line")

    monkeypatch.setattr(key_facts, "key_facts", fail)
    lease = ada.documents.add(pdfs.plain(LEASE), "lease.pdf", enqueue=False)
    assert ada.documents.process(lease.id).status is DocumentStatus.READY


def test_a_document_without_sentences_has_no_facts(ada: RAGEngine) -> None:
    overview = ada.documents.overview(add(ada, pdfs.plain(["Lindmark"]), "name.pdf"))
    assert (overview.facts, overview.questions) == ((), ())
    queued = ada.documents.add(pdfs.plain(LEASE), "queued.pdf", enqueue=False)
    assert ada.documents.overview(queued.id).facts == ()


def test_without_a_model_nothing_is_estimated_or_written(ada: RAGEngine) -> None:
    lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
    for call in (ada.documents.estimate_overview, ada.documents.improve_overview):
        with pytest.raises(errors.ConfigError, match="No language model"):
            call(lease, {"provider": "extractive"})


def test_a_models_facts_are_proved_by_their_quotes(database_url: str, tmp_path: Path) -> None:
    with vendors.vendor("openai") as vendor:
        settings = {"rag_data_dir": tmp_path / "data", "rag_database_url": database_url, "rag_embed_model": "local"}
        with RAGEngine(vendor.config(**settings), user_id="ada") as ada:
            lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
            before = len(vendor.server.bodies)
            estimate = ada.documents.estimate_overview(lease)
            assert len(vendor.server.bodies) == before
            assert estimate.model == vendor.llm().metadata.model_name
            assert estimate.input_tokens > 300
            assert estimate.cost_usd is not None
            vendor.server.replies += [WRITTEN, judged(c1="supported", c2="supported", c3="not_stated")]
            written = ada.documents.improve_overview(lease)
            assert len(vendor.server.bodies) == before + 2
            assert [fact.quote for fact in written.facts] == [
                "The term of the agreement is ten years and begins on 1 March 2021.",
                "a rent of 4,200 euros a month",
            ]
            assert written.facts[1].text == "The rent is 4,200 euros a month."
            assert written.facts[1].regions
            assert (written.model, written.dropped) == (estimate.model, 1)
            assert ada.documents.overview(lease) == written
            vendor.server.replies += ["- The tenant keeps 40 camels [S1].", judged(c1="not_stated")]
            with pytest.raises(errors.GroundingError, match="stays as it was"):
                ada.documents.improve_overview(lease)
            assert ada.documents.overview(lease) == written
            ada.documents.process(lease, again=True)
            assert ada.documents.overview(lease).model is None


def test_a_model_is_not_paid_for_a_document_that_was_read_again(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vendors.vendor("openai") as vendor:
        settings = {"rag_data_dir": tmp_path / "data", "rag_database_url": database_url, "rag_embed_model": "local"}
        with RAGEngine(vendor.config(**settings), user_id="ada") as ada:
            lease = add(ada, pdfs.plain(LEASE), "lease.pdf")
            before = len(vendor.server.bodies)
            monkeypatch.setattr(ada.store.documents, "keep_key_facts", lambda *_: False)
            with pytest.raises(errors.ConflictError, match="read again"):
                ada.documents.improve_overview(lease)
            assert len(vendor.server.bodies) == before


def test_only_a_ready_document_is_given_to_a_model(database_url: str, tmp_path: Path) -> None:
    with vendors.vendor("openai") as vendor:
        settings = {"rag_data_dir": tmp_path / "data", "rag_database_url": database_url, "rag_embed_model": "local"}
        with RAGEngine(vendor.config(**settings), user_id="ada") as ada:
            queued = ada.documents.add(pdfs.plain(LEASE), "lease.pdf", enqueue=False)
            assert queued.status is DocumentStatus.QUEUED
            with pytest.raises(errors.ConflictError, match="not read yet"):
                ada.documents.improve_overview(queued.id, GenerationOptions())
            lease = ada.documents.process(queued.id)
            ada.installation.accounts.set_role("ada", Role.CURATOR)
            ada.sharing.share({"grantee": "bob", "permission": "read"}, "default")
            bob = ada.installation.for_user("bob").for_document(lease.id)
            before = len(vendor.server.bodies)
            with pytest.raises(errors.ForbiddenError):
                bob.documents.improve_overview(lease.id)
            assert len(vendor.server.bodies) == before
