"""What evaluations are told in: names of measures, outcomes of questions, and moments."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rag import evaluation
from rag.evaluation import EvaluationScope, EvaluationSubject
from rag.ui.formatting import moment
from rag.ui.language import ENGLISH, N_, _, current

SUBJECTS: dict[EvaluationSubject, str] = {"answers": N_("Answers"), "retrieval": N_("Search")}
SCOPES: dict[EvaluationScope, str] = {"corpus": N_("All documents"), "document": N_("Each question's own document")}
SEARCH_MEASURES = {
    "mrr": N_("mean reciprocal rank"),
    "hit@1": N_("a right page among the first 1"),
    "hit@5": N_("a right page among the first 5"),
    "page_recall@5": N_("right pages among the first 5"),
    "page_recall@10": N_("right pages among the first 10"),
    "evidence_coverage@5": N_("evidence within the first 5"),
}
"""What a score of a search is called: the first k are places for “a right page”, distinct pages for “right pages”."""
NAMES: dict[str, Mapping[str, str]] = {"answers": evaluation.answers.MEASURES, "retrieval": SEARCH_MEASURES}
MISTAKES = {"refused": N_("refused"), "answered": N_("has no answer"), "other page": N_("other page")}


def outcome(question: Mapping[str, Any] | None) -> str:
    """What came out of a question, as a run's result has it: its rank, or its mistake."""
    if question is None:
        return _("not asked")
    if "mistake" in question:
        if question["status"] is None:
            return _("no document")
        return _(MISTAKES[question["mistake"]]) if question["mistake"] else _("correct")
    return _("rank {rank}").format(rank=question["rank"]) if question["rank"] else _("not found")


def scope_name(scope: EvaluationScope) -> str:
    """A scope within a sentence: English writes it small."""
    return SCOPES[scope].lower() if current() == ENGLISH else _(SCOPES[scope])


def place(name: str, pages: Sequence[int]) -> str:
    """A document and its pages."""
    return _("{name}, p. {pages}").format(name=name, pages=", ".join(map(str, pages)))


def when(at: dt.datetime) -> str:
    """To the second: a list whose entries read alike would open the first of them."""
    return moment(local(at), _("dd MMM y, HH:mm:ss"))


def local(at: dt.datetime) -> dt.datetime:
    """A moment by the reader's own clock."""
    offset = st.context.timezone_offset  # minutes, west of Greenwich positive
    return at.astimezone(dt.UTC if offset is None else dt.timezone(-dt.timedelta(minutes=offset)))
