"""Labels of evaluations: measures, outcomes and timestamps."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rag import evaluation
from rag.evaluation import EvaluationScope, EvaluationSubject
from rag.ui.formatting import date_time
from rag.ui.language import ENGLISH, N_, _, current_language

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
"""Search measures; k counts places for “a right page” and distinct pages for “right pages”."""
MEASURE_NAMES: dict[str, Mapping[str, str]] = {"answers": evaluation.answers.MEASURES, "retrieval": SEARCH_MEASURES}
MISTAKES = {"refused": N_("refused"), "answered": N_("has no answer"), "other page": N_("other page")}


def outcome(question: Mapping[str, Any] | None) -> str:
    """Return the outcome of a question in a run: its rank or its mistake."""
    if question is None:
        return _("not asked")
    if "mistake" in question:
        if question["status"] is None:
            return _("no document")
        mistake = question["mistake"]
        return _(MISTAKES[mistake]) if mistake else _("correct")
    return _("rank {rank}").format(rank=question["rank"]) if question["rank"] else _("not found")


def scope_name(scope: EvaluationScope) -> str:
    """Return a scope's name for use within a sentence (lower case in English)."""
    return SCOPES[scope].lower() if current_language() == ENGLISH else _(SCOPES[scope])


def page_reference(name: str, pages: Sequence[int]) -> str:
    """Return a document's name and pages."""
    return _("{name}, p. {pages}").format(name=name, pages=", ".join(map(str, pages)))


def timestamp(at: dt.datetime) -> str:
    """Format a time to the second, so that list entries stay distinct."""
    return date_time(local_time(at), _("dd MMM y, HH:mm:ss"))


def local_time(at: dt.datetime) -> dt.datetime:
    """Convert a time to the reader's time zone."""
    offset = st.context.timezone_offset  # minutes, west of Greenwich positive
    return at.astimezone(dt.UTC if offset is None else dt.timezone(-dt.timedelta(minutes=offset)))
