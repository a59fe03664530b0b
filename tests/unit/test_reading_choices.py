"""What is said of reading whole documents before and after it is done, and which documents and model it is for."""

import uuid

import pytest
from streamlit.testing.v1 import AppTest

from rag.export import reading_text
from rag.types import WholeReading

READING = WholeReading(pages=40, parts=3, input_tokens=20_000, output_tokens=2_000)


@pytest.mark.parametrize(
    ("pages", "parts", "done", "offered"),
    [
        (1, 1, "Read: 1 page in 1 part.", "To read 1 page in 1 part takes"),
        (2400, 2, "Read: 2,400 pages in 2 parts.", "To read all 2,400 pages in 2 parts takes"),
    ],
)
def test_one_page_and_one_part_are_singular(pages: int, parts: int, done: str, offered: str) -> None:
    reading = READING.model_copy(update={"pages": pages, "parts": parts})
    assert reading_text(reading.model_copy(update={"is_done": True}), "say so") == done
    assert offered in reading_text(reading, "say so")


def choice_page(document_id: str) -> None:
    """The choice below an answer about a document by a model; what is asked again is kept in the session."""
    import datetime as dt
    import uuid

    import streamlit as st

    from rag.types import AnswerResponse, ChatMessage, WholeReading
    from rag.ui.chat.turn_actions import reading_choice

    reading = WholeReading(
        pages=40, parts=3, input_tokens=9, output_tokens=9, document_ids=(uuid.UUID(document_id),), model="some:model"
    )
    response = AnswerResponse(status="insufficient_context", answer="Read all?", model="extractive", reading=reading)
    message = ChatMessage(
        id=uuid.UUID(int=1),
        conversation_id=uuid.UUID(int=2),
        role="assistant",
        content="Read all?",
        response=response,
        created_at=dt.datetime.now(dt.UTC),
    )

    def again(*values: object, **named: object) -> None:
        st.session_state["asked"] = (*values[1:], named)

    reading_choice(message, again)


@pytest.mark.parametrize("reading", ["whole", "passages"])
def test_the_choice_is_for_the_documents_and_the_model_of_the_question(reading: str) -> None:
    document_id = uuid.uuid4()
    app = AppTest.from_function(choice_page, args=(str(document_id),)).run()
    assert not app.exception
    app.button(key=f"read-{reading}-{uuid.UUID(int=1)}").click().run()
    assert app.session_state["asked"] == ("some:model", None, {"reading": reading, "document_ids": (document_id,)})
