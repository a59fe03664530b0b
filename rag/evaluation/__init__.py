"""Measuring on one's own questions: what is found for them (`retrieval`), and what is answered (`answers`)."""

from rag.evaluation import answers, retrieval
from rag.evaluation.questions import (
    EvaluationRequest,
    EvaluationScope,
    EvaluationSubject,
    Question,
    load_questions,
    options_for,
    parse_questions,
)
from rag.evaluation.runs import write_rows
from rag.evaluation.scores import Scores, interval

__all__ = [
    "EvaluationRequest",
    "EvaluationScope",
    "EvaluationSubject",
    "Question",
    "Scores",
    "answers",
    "interval",
    "load_questions",
    "options_for",
    "parse_questions",
    "retrieval",
    "write_rows",
]
