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
from rag.evaluation.runs import Change, Checkpoint, ComparedQuestion, compare, no_checkpoint, write_rows
from rag.evaluation.statistics import Scores, interval

__all__ = [
    "Change",
    "Checkpoint",
    "ComparedQuestion",
    "EvaluationRequest",
    "EvaluationScope",
    "EvaluationSubject",
    "Question",
    "Scores",
    "answers",
    "compare",
    "interval",
    "load_questions",
    "no_checkpoint",
    "options_for",
    "parse_questions",
    "retrieval",
    "write_rows",
]
