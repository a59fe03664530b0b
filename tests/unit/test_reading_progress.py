"""How far the reading of a document is, and how long it will take."""

import datetime as dt
import uuid
from typing import Any

import pytest

from rag.types import Document, DocumentStatus, Progress, reading_progress, seconds_left


@pytest.mark.parametrize(
    ("done", "total", "since", "elapsed", "expected"),
    [
        (10, 40, 0, 5.0, 15.0),
        (30, 40, 20, 5.0, 5.0),  # taken up again: what was done before tells nothing of the speed
        (40, 40, 0, 5.0, 0.0),
        (0, 40, 0, 5.0, None),
        (20, 40, 20, 5.0, None),
        (10, 40, 0, 0.5, None),
        (10, 0, 0, 5.0, None),
    ],
)
def test_the_time_left_follows_from_the_speed_so_far(
    done: int, total: int, since: int, elapsed: float, expected: float | None
) -> None:
    assert seconds_left(done, total, since=since, elapsed=elapsed) == expected


def document(status: DocumentStatus, **fields: Any) -> Document:
    return Document(
        id=uuid.uuid4(),
        user_id="ann",
        index_id=uuid.uuid4(),
        name="a.pdf",
        mime_type="application/pdf",
        sha256="0" * 64,
        size=1,
        status=status,
        created_at=dt.datetime(2024, 1, 1, tzinfo=dt.UTC),
        **fields,
    )


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (document(DocumentStatus.QUEUED), "waiting"),
        (document(DocumentStatus.PARSING), "reading"),
        (document(DocumentStatus.PARSING, progress=Progress(done=120, total=1300)), "page 120 of 1,300"),
        (
            document(DocumentStatus.PARSING, progress=Progress(done=1, total=3, seconds_left=0.2)),
            "page 1 of 3, 1 s left",
        ),
        (document(DocumentStatus.PARSING, progress=Progress(done=3, total=3, seconds_left=0.0)), "indexing"),
        (
            document(DocumentStatus.EMBEDDING, chunk_count=5, vector_count=2, progress=Progress(seconds_left=150.0)),
            "searchable by words, 40 % by meaning, 2 min left",
        ),
        (
            document(  # read again: what is found is the whole of what it was
                DocumentStatus.EMBEDDING,
                chunk_count=5,
                vector_count=5,
                progress=Progress(done=32, total=900, seconds_left=5400.0),
            ),
            "chunk 32 of 900, 1.5 h left",
        ),
        (document(DocumentStatus.READY), None),
        (document(DocumentStatus.FAILED), None),
    ],
)
def test_people_are_told_how_far_it_is(shown: Document, expected: str | None) -> None:
    assert reading_progress(shown) == expected
