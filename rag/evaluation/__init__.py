"""Evaluation of retrieval and answers on questions with known answers."""

from rag.evaluation import answers, retrieval
from rag.evaluation.questions import EvaluationScope, Question, load_questions, options_for, write_rows
from rag.evaluation.statistics import Scores

__all__ = [
    "EvaluationScope",
    "Question",
    "Scores",
    "answers",
    "load_questions",
    "options_for",
    "retrieval",
    "write_rows",
]
