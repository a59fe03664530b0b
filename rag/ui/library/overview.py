"""Overviews of documents: what one is, its key facts, each with its page, and the model that can write them."""

import uuid
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.formatting import decimal, escape, n_pages, plural
from rag.ui.language import _
from rag.ui.library.document_metadata import KINDS
from rag.ui.page_frame import dialog, error_boundary
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

IMPROVEMENT = "overview-improvement"
"""Session key of the step towards an overview by a model, "estimate" or "write", and of the document."""
ESTIMATE = "overview-estimate"
"""Session key of the last estimate, for which all text of the document is read, and of what it was made for."""
MAX_NAMES = 3
"""Maximum number of names in a line."""


def description(document: types.Document) -> str:
    """Return in a line what a document is, about whom, of which period, and its length and language."""
    subject = document.subject
    kind = _(KINDS[subject.kind]) if subject.kind in KINDS else ""
    names = ", ".join(subject.names[:MAX_NAMES])
    length = n_pages(document.page_count) if document.page_count else ""
    return " · ".join(filter(None, [kind, names, subject.period, length, _(types.language_name(document.language))]))


def fact_marks(overview: types.DocumentOverview) -> tuple[Mark, ...]:
    """Return the marks of the facts on the pages."""
    return tuple(Mark(str(number), fact.quote, fact.regions, ()) for number, fact in enumerate(overview.facts, start=1))


def show_facts(overview: types.DocumentOverview, on_click: Callable[[int], None], key: str = "fact") -> None:
    """Show the facts of a document, and who wrote them; `on_click` receives the number of a clicked one, from 0."""
    with st.container(key=f"{key}s-{overview.document_id}", gap=None):
        for number, fact in enumerate(overview.facts):
            page = fact.page_label if fact.page_label and "!" not in fact.page_label else fact.page_number
            label = f"**{escape(_('p. {page}', page=page))}** {escape(fact.text)}"
            name = f"{key}-{overview.document_id}-{number}"
            st.button(label, key=name, type="tertiary", on_click=on_click, args=(number,))
    if not overview.facts:
        st.caption(_("No sentence stands out in this document."))
    elif overview.model is None:
        st.caption(_("Sentences and table rows of the document itself. Click one to see it on the page."))
    else:
        written = _("Written by {model}; each fact is proved by its page.", model=escape(overview.model))
        dropped = plural(
            overview.dropped,
            "{count} statement that the document does not prove was left out.",
            "{count} statements that the document does not prove were left out.",
        )
        st.caption(f"{written} {dropped}" if overview.dropped else written)


@dialog("Overview", width="large")
def show_overview(document_id: uuid.UUID, ask: Callable[[str], None]) -> None:
    """Show the overview of a document beside its pages; `ask` begins a chat with a question."""
    engine = session.engine()
    if st.session_state.get(IMPROVEMENT) == ("write", document_id):
        del st.session_state[IMPROVEMENT]
        with error_boundary(), st.spinner(_("The model reads the document …")):
            engine.documents.improve_overview(document_id)
    document, overview = engine.documents.get(document_id), engine.documents.overview(document_id)
    state = f"overview-fact-{document_id}"
    facts, pages = st.columns([5, 6], gap="medium")
    with facts, st.container(key="overview"):
        st.markdown(f"**{escape(document.title or document.name)}**")
        st.caption(escape(description(document)))
        show_facts(overview, lambda number: st.session_state.update({state: number}), key="overview-fact")
        _questions(overview.questions, ask)
        with error_boundary():
            _improvement(document)
    with pages, st.container(key="preview"):
        if document.page_count:
            marks = fact_marks(overview)
            active: int | None = st.session_state.get(state)
            is_there = active is not None and active < len(marks)
            show_pdf(document, marks, active if is_there else None, key=f"overview-{document_id}")


def _questions(questions: Sequence[str], ask: Callable[[str], None]) -> None:
    if questions:
        st.caption(_("Questions that it answers"))
    for number, question in enumerate(questions):
        if st.button(escape(question), key=f"overview-question-{number}"):
            ask(question)


def _improvement(document: types.Document) -> None:
    """Offer to have a language model write the facts, and tell what that takes before it is asked."""
    engine, refusal, document_id = session.engine(), session.read_only_reason(), document.id
    if not refusal and not engine.questions.has_language_model:
        refusal = _("No language model is set up. Choose one in the settings.")

    def go_to(step: str) -> None:
        st.session_state[IMPROVEMENT] = (step, document_id)

    looks: dict[str, Any] = {"disabled": bool(refusal), "help": refusal, "on_click": go_to, "args": ("estimate",)}
    st.button(_("Improve with the model"), icon=":material/auto_awesome:", **looks)
    if st.session_state.get(IMPROVEMENT) == ("estimate", document_id):
        state = (document_id, document.indexed_at, engine.config)
        made_for, estimate = st.session_state.get(ESTIMATE, (None, None))
        if made_for != state:
            estimate = engine.documents.estimate_overview(document_id)
            st.session_state[ESTIMATE] = (state, estimate)
        st.caption(_estimate(estimate))
        st.button(_("Write the overview"), icon=":material/check:", type="primary", on_click=go_to, args=("write",))


def _estimate(estimate: types.OverviewEstimate) -> str:
    text = _(
        "{model} reads at most {read} tokens and writes at most {written}.",
        model=escape(estimate.model),
        read=decimal(estimate.input_tokens),
        written=decimal(estimate.output_tokens),
    )
    if estimate.cost_usd is not None:
        cost = decimal(estimate.cost_usd, 2 if estimate.cost_usd >= 1 else 4)
        text += " " + _("That costs at most ${cost} by the list price.", cost=cost).replace("$", "\\$")
    return text
