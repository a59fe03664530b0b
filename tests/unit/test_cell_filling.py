"""The value of a field, chosen from several statements that an answer quotes."""

import uuid

import pytest

from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.fields import answered_question
from rag.types import (
    AnswerResponse,
    BlockKind,
    Chunk,
    Citation,
    Hit,
    Line,
    Passage,
    QuotedRow,
    Rect,
    Sentence,
    Support,
    Verdict,
)

QUESTION = "How much was spent on research and development?"
WHOLE = "Research and development expense, net – December 31, 2022: (2,852); 2021: (2,249) (Dollars in millions)"
SEGMENT = "Research and development – December 31, 2022: $1,510; 2021: $1,140 (Dollars in millions)"


@pytest.mark.parametrize(
    ("statements", "contested"),
    [
        ([WHOLE], False),
        ([WHOLE, WHOLE], False),
        ([SEGMENT, WHOLE], True),
        ([WHOLE, "Research and development expense was $2,852 million in 2022."], False),
    ],
)
def test_statements_that_give_different_figures_are_contested(statements: list[str], contested: bool) -> None:
    assert answered_question._has_conflicting_figures(QUESTION, statements) is contested


def answered(question: str, text: str, page_number: int = 4, row: QuotedRow | None = None) -> AnswerResponse:
    """The answer that quotes one line or row of a page."""
    line = Line(number=1, page_number=page_number, bbox=Rect(0, 0, 1, 1), text=text, kind=BlockKind.TEXT)
    key = uuid.UUID(int=1)
    chunk = Chunk(id=key, document_id=key, ordinal=0, lines=(line,))
    passage = Passage(document_id=key, lines=(line,))
    hit = Hit(chunk=chunk, passage=passage, document_name="acme.pdf", mime_type="application/pdf", final_score=1.0)
    return AnswerResponse(
        status="ok",
        answer=f"{text} [S1]",
        sentences=(Sentence(text=text, citation_ids=("S1",), start=0, end=len(text) + 5, support=Support.SUPPORTED),),
        citations=(
            Citation(
                citation_id="S1", sentence=0, quote=text, lines=(line,), regions=(), verdict=Verdict.VERIFIED, row=row
            ),
        ),
        sources={"S1": hit},
        likelihood=0.9,
        model=EXTRACTIVE_MODEL,
    )


@pytest.mark.parametrize(
    ("statements", "verdict"),
    [
        ({"income statement": {4}}, Support.SUPPORTED),
        ({"income statement": {40}}, Support.NOT_VERIFIED),  # this one is of an affiliate
        ({"balance sheet": {40}}, Support.SUPPORTED),
        ({}, Support.SUPPORTED),
    ],
)
@pytest.mark.parametrize("row", [None, QuotedRow(label="Net income", columns=("2021",), cells=("60",))])
def test_a_line_item_is_proved_by_the_documents_own_statement(
    statements: dict[str, set[int]], verdict: Support, row: QuotedRow | None
) -> None:
    question = "What was the net income in 2021?"
    response = answered(question, "Net income was $60 million in 2021.", row=row)
    cell = answered_question.read_answered(question, response, statements)
    assert (cell.state, cell.verdict) == ("found", verdict)
    assert cell.words == ("Net income, 2021: 60" if row else "Net income was $60 million in 2021.")
