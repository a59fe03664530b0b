"""The questions about public documents are complete, and answers to them are judged by what they say and cite."""

import collections
from pathlib import Path

import pytest

from benchmarks import questions
from benchmarks.questions import Judged, PublicQuestion
from rag.evaluation.answers import AnswerRow, CitedPage
from rag.types import AnswerStatus, Verdict


def asked(*, answerable: bool = True) -> PublicQuestion:
    return PublicQuestion(
        id="1",
        question="Who owns the brewery, and since when?",
        pdf="brewery.pdf",
        gold_pages=(2,) if answerable else (),
        answerable=answerable,
        kind="who",
        split="open",
        required=(("Ada Quill", "A. Quill"), ("1911",)) if answerable else (),
    )


def answered(text: str, page: int = 2, *, status: AnswerStatus = "ok", likelihood: float = 0.5) -> AnswerRow:
    cited = CitedPage(pdf="brewery.pdf", page=page, quote=text, verdict=Verdict.VERIFIED)
    return AnswerRow(
        id="1", status=status, answer=text, citations=[cited], sentences=[], likelihood=likelihood, seconds=0.1
    )


@pytest.mark.parametrize(
    ("row", "judgement"),
    [
        (answered("Ada Quill owns it since 1911."), "right"),
        (answered("It is owned by A. Quill (1911)."), "right"),
        (answered("Ada Quill owns it since 1911.", page=3), "half right"),
        (answered("Ada Quill owns it."), "half right"),
        (answered("The brewery is old."), "wrong"),
        (answered("", status="insufficient_context"), "refused"),
    ],
)
def test_an_answer_is_right_if_it_says_everything_and_cites_a_gold_page(row: AnswerRow, judgement: str) -> None:
    assert questions.judge(asked(), row) == judgement


def test_what_is_not_in_the_document_must_be_refused() -> None:
    nowhere = asked(answerable=False)
    assert questions.judge(nowhere, answered("", status="insufficient_context")) == "right"
    assert questions.judge(nowhere, answered("Ada Quill owns it since 1911.")) == "wrong"


@pytest.mark.parametrize(
    ("text", "likelihood", "is_called_likely"),
    [("The brewery is old.", 0.6, True), ("The brewery is old.", 0.59, False), ("Ada Quill owns it.", 0.9, False)],
)
def test_only_wrong_answers_are_counted_as_wrongly_called_likely(
    text: str, likelihood: float, is_called_likely: bool
) -> None:
    assert Judged(asked(), answered(text, likelihood=likelihood)).is_called_likely is is_called_likely


def test_every_question_has_a_document_and_what_its_answer_must_say() -> None:
    documents = {document.name: document for document in questions.load_documents()}
    every = questions.load_questions()
    assert len({question.id for question in every}) == len(every) == 150
    assert {question.file_name for question in every} == documents.keys()
    assert collections.Counter(document.split for document in documents.values()) == {"open": 15, "final": 15}
    for question in every:
        document = documents[question.file_name]
        assert question.split == document.split
        assert bool(question.required) is bool(question.gold_pages) is question.answerable
        assert all(1 <= page <= document.pages for page in question.gold_pages)


def test_a_missing_or_changed_document_is_named_with_its_address(tmp_path: Path) -> None:
    first, second = questions.load_documents()[:2]
    (tmp_path / first.name).write_bytes(b"another file")
    with pytest.raises(SystemExit) as ended:
        questions.checked_files([first, second], tmp_path)
    for document in (first, second):
        assert f"{document.name}: {document.address}" in str(ended.value)
