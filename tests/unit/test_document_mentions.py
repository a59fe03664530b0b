"""Documents that a question mentions."""

import datetime as dt
import uuid

import pytest

from rag.engine.questions.document_mentions import find_mentions
from rag.types import Document, DocumentStatus

NAMES = (
    ("ACME_2020_10K.pdf", "Acme Harbours Corporation"),
    ("ACME_2021_10K.pdf", "Acme Harbours Corporation"),
    ("globex-annual-report-2021.pdf", None),
    ("FOOTBRIDGE_2021.pdf", "Foot Bridge Inc."),
    ("General Lamps 2021.pdf", "General Lamps"),
    ("3fa9c1.pdf", "The long history of the harbour and its keepers"),
)


def document(name: str, title: str | None) -> Document:
    return Document(
        id=uuid.uuid5(uuid.NAMESPACE_OID, name),
        user_id="ann",
        index_id=uuid.UUID(int=1),
        name=name,
        mime_type="application/pdf",
        sha256="",
        size=1,
        title=title,
        status=DocumentStatus.READY,
        created_at=dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
    )


DOCUMENTS = [document(*named) for named in NAMES]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Acme's revenue?", {"Acme": ["ACME_2020_10K.pdf", "ACME_2021_10K.pdf"]}),
        ("What was Acme's revenue in FY2021?", {"Acme": ["ACME_2021_10K.pdf"]}),
        (
            "compare acme and globex",
            {"acme": ["ACME_2020_10K.pdf", "ACME_2021_10K.pdf"], "globex": ["globex-annual-report-2021.pdf"]},
        ),
        ("Who runs Acme Harbours?", {"Acme Harbours": ["ACME_2020_10K.pdf", "ACME_2021_10K.pdf"]}),
        ("Does Foot Bridge own ships?", {"Foot Bridge": ["FOOTBRIDGE_2021.pdf"]}),
        ("Does footbridge own ships?", {"footbridge": ["FOOTBRIDGE_2021.pdf"]}),
        ("What does General Motors say?", {}),
        ("What are general risks?", {}),
        ("Who keeps the harbour?", {}),
        ("What is the annual report about?", {}),
    ],
)
def test_documents_are_named_by_their_files_and_titles(question: str, expected: dict[str, list[str]]) -> None:
    found = {
        question[one.span.start : one.span.end]: [named.name for named in one.documents]
        for one in find_mentions(question, DOCUMENTS)
    }
    assert found == expected
