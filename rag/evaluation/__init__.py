"""Measuring on one's own questions: what is found for them (`retrieval`), and what is answered (`answers`)."""

from rag.evaluation import answers, retrieval
from rag.evaluation.comparison import Change, ComparedQuestion, compare
from rag.evaluation.questions import (
    EvaluationRequest,
    EvaluationScope,
    EvaluationSubject,
    Question,
    load_questions,
    options_for,
    parse_questions,
)
from rag.evaluation.runs import Remember, remember_nothing, write_rows
from rag.evaluation.statistics import Scores, interval

__all__ = [
    "Change",
    "ComparedQuestion",
    "EvaluationRequest",
    "EvaluationScope",
    "EvaluationSubject",
    "Question",
    "Remember",
    "Scores",
    "answers",
    "compare",
    "interval",
    "load_questions",
    "options_for",
    "parse_questions",
    "remember_nothing",
    "retrieval",
    "write_rows",
]
