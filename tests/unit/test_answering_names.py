"""Whether words name a person or an organisation."""

import uuid

import pytest

from rag.answering.text.names import has_new_name, is_heading
from rag.types import BlockKind, Chunk, Hit, Line, Passage, Rect

AUDITOR = "Who is the independent auditor?"
CHIEF = "Who is the chief executive officer?"


def quoted(*texts: str, name: str = "northmoor-2021.pdf") -> Hit:
    key = uuid.UUID(int=1)
    lines = tuple(
        Line(number=place, page_number=1, bbox=Rect(0, 0, 1, 1), text=text, kind=BlockKind.TEXT)
        for place, text in enumerate(texts)
    )
    chunk = Chunk(id=key, document_id=key, ordinal=0, lines=lines)
    passage = Passage(document_id=key, lines=lines)
    return Hit(chunk=chunk, passage=passage, document_name=name, mime_type="application/pdf", final_score=1.0)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (AUDITOR, "/s/ Strand & Sons LLP"),
        (AUDITOR, "/S/ STRAND"),
        (AUDITOR, "The accounts were audited by Strand, as stated in the report."),
        (AUDITOR, "Strand & Sons has served as auditor since 2002."),
        (AUDITOR, "KPQR audited the accounts."),
        (AUDITOR, "Strand Brothers, Independent Registered Public Accounting Firm"),
        (CHIEF, "Ada T. Lund – President and Chief Executive Officer"),
        (CHIEF, "Ada Lund, Managing Director and Chief Executive Officer"),
        (CHIEF, "Mr. Lund has been our Chief Executive Officer since 2012."),
        (CHIEF, "We depend on our chief executive officer, Ada Lund."),
        ("Who audits Acme?", "Acme is audited by Strand."),
        ("Who bought the ferry?", "It was sold to Harbour Holdings plc in 2019."),
    ],
)
def test_names_of_persons_are_recognised(question: str, text: str) -> None:
    assert has_new_name(text, question)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (AUDITOR, "Independent Auditor Fees"),
        (AUDITOR, "INDEPENDENT AUDITOR FEES AND SERVICES RENDERED"),
        (AUDITOR, "Report of Independent Registered Public Accounting Firm"),
        (AUDITOR, "Consent of the Independent Auditor to Incorporation by Reference"),
        (AUDITOR, "The independent registered public accounting firm is responsible for the audit."),
        (AUDITOR, "We are registered with the PCAOB and independent under U.S. law and the rules of the SEC."),
        (AUDITOR, "The Company’s Audit Committee appoints the auditor each May."),
        (AUDITOR, "See “Fees of Strand” in the Proxy Statement for the Annual Meeting."),
        (AUDITOR, "It is told in our Definitive Proxy Statement and the Harbour Framework."),
        (CHIEF, "Certification of Chief Executive Officer under Section 302 of the Sarbanes-Oxley Act"),
        (CHIEF, "Based on it, our Chief Executive Officer and Chief Financial Officer concluded so."),
        ("Who audits Acme?", "Acme has an auditor, and Acme’s board appoints it."),
        (AUDITOR, ""),
    ],
)
def test_other_words_are_no_names_of_persons(question: str, text: str) -> None:
    assert not has_new_name(text, question)


def test_what_is_written_small_elsewhere_or_whose_document_it_is_names_nobody() -> None:
    text = "It is checked by the Harbour Office of Northmoor."
    assert has_new_name(text, AUDITOR)
    assert has_new_name(text, AUDITOR, quoted("the harbour and its office", name="a.pdf"))
    assert not has_new_name(text, AUDITOR, quoted("the harbour and its office"))


def test_a_heading_has_capitals_throughout() -> None:
    assert is_heading("Report of the Auditor")
    assert not is_heading("Report of the auditor")
