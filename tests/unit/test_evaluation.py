import json
from pathlib import Path

import pytest

from rag import errors, evaluation
from tests import sources


def question(**fields: object) -> evaluation.Question:
    return evaluation.Question.model_validate(
        {"id": "q", "question": "?", "pdf": "dir/a.pdf", "gold_pages": [2, 5]} | fields
    )


def row(rank: int, pages: list[int], *, pdf: str = "a.pdf", text: str = "") -> evaluation.retrieval.ResultRow:
    return evaluation.retrieval.ResultRow(
        id="q", rank=rank, pdf=pdf, page=pages[0], pages=pages, text=text, bboxes=[(0, 0, 1, 1)], score=1 / rank
    )


def test_scores_by_hand() -> None:
    rows = [row(1, [1]), row(2, [2], pdf="b.pdf"), row(3, [2]), row(4, [4, 5])]
    scores = evaluation.retrieval.score([question()], rows, ks=(1, 3, 5))
    assert (scores.questions, scores.intervals) == (1, {})
    found = {name: value for name, value in scores.means.items() if not name.startswith(("characters", "page"))}
    assert found == pytest.approx(
        {
            "mrr": 1 / 3,
            "hit@1": 0,
            "hit@3": 1,
            "hit@5": 1,
            "recall@1": 0,
            "recall@3": 0.5,
            "recall@5": 1.0,
        }
    )


def test_a_hit_is_one_page_and_hands_on_what_it_runs_over_to() -> None:
    rows = [row(1, [3, 4], text="12345"), row(2, [5, 6], text="678"), row(3, [4, 2])]
    means = evaluation.retrieval.score([question()], rows, ks=(1, 2, 3, 5)).means
    assert [means[f"page_recall@{k}"] for k in (1, 2, 3)] == [0, 0.5, 0.5]
    assert [means[f"recall@{k}"] for k in (1, 2, 3)] == [0, 0.5, 1.0]
    assert [means[f"characters@{k}"] for k in (1, 2, 3)] == [5, 8, 8]


def test_an_interval_is_over_documents_not_questions() -> None:
    many = [question(id="q")] * 50 + [question(id="r", pdf="b.pdf")] * 50
    low, high = evaluation.retrieval.score(many, [row(1, [2, 5])], ks=(1,)).intervals["recall@1"]
    assert (low, high) == (0, 1)  # two documents, one all right and one all wrong: nothing is known


def test_evidence_counts_words_from_the_right_document_only() -> None:
    asked = question(evidence=["net sales of 12 million"])
    rows = [row(1, [2], text="Net Sales grew"), row(2, [5], pdf="b.pdf", text="12 million")]
    assert evaluation.retrieval.score([asked], rows, ks=(5,)).means["evidence_coverage@5"] == pytest.approx(2 / 5)


def test_questions_without_gold_pages_or_answer_are_not_scored() -> None:
    asked = [question(), question(id="r", gold_pages=[]), question(id="s", answerable=False)]
    scores = evaluation.retrieval.score(asked, [row(1, [2])], ks=(5,))
    assert scores.questions == 1
    assert scores.means["recall@5"] == 0.5


def test_a_question_without_hits_counts_zero() -> None:
    asked = [question(), question(id="r")]
    assert evaluation.retrieval.score(asked, [row(1, [2, 5])], ks=(5,)).means["recall@5"] == 0.5


def test_reading_questions_names_the_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    good = json.dumps({"id": 1, "question": "?", "pdf": "a.pdf", "gold_pages": [1], "extra": True})
    path.write_text(f'{good}\n\n{{"id": 2}}\n')
    with pytest.raises(errors.ValidationError, match=r"line 3 is not a question"):
        evaluation.load_questions(path)
    path.write_text(good)
    assert [entry.id for entry in evaluation.load_questions(path)] == ["1"]


def test_a_missing_file_is_a_source_error(tmp_path: Path) -> None:
    with pytest.raises(errors.SourceError, match="Check the path"):
        evaluation.load_questions(tmp_path / "none.jsonl")


def test_all_are_asked_and_told_of_though_a_document_is_missing() -> None:
    told: list[tuple[str, int, int]] = []
    questions = [question(id="q"), question(id="r"), question(id="s")]
    found = {"q": [sources.hit("One.", name="a.pdf"), sources.hit("Two.", name="b.pdf")], "r": None, "s": []}
    rows = evaluation.retrieval.ask(questions, lambda asked: found[asked.id], lambda *progress: told.append(progress))
    assert [(row.id, row.rank, row.pdf) for row in rows] == [("q", 1, "a.pdf"), ("q", 2, "b.pdf")]
    assert told == [("questions", 1, 3), ("questions", 2, 3), ("questions", 3, 3)]
