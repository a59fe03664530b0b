"""Evaluation of retrieval and answers on questions with known answers."""

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
from rag.evaluation.runs import Change, ComparedQuestion, Remember, compare, remember_nothing, write_rows
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
