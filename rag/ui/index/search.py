"""Search view of the index page: all options and scores, and why a passage is missing."""

import functools
from collections.abc import Callable
from typing import Any

import pandas as pd
import pydantic
import streamlit as st
from pandas.io.formats.style import Styler
from streamlit.column_config import NumberColumn, ProgressColumn, TextColumn

from rag import errors, retrieval, types
from rag.ui import session
from rag.ui.formatting import decimal, escape
from rag.ui.index import chunks
from rag.ui.language import N_, _, translate_columns
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_error, translate_message
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

MAX_ROWS = 8
"""A longer table scrolls within the window."""
SCORE, RANK = NumberColumn(width=54), NumberColumn(width=50)
SCORES = (N_("meaning"), N_("words"), N_("place"), N_("fit"), N_("rerank"))
COLUMNS: dict[str, tuple[Any, Callable[[types.Hit, types.CandidateTrace | None], object]]] = {
    N_("document"): (TextColumn(width=100), lambda hit, _trace: hit.document_name),
    N_("page"): (NumberColumn(width=44), lambda hit, _trace: hit.chunk.main_page),
    N_("final"): (
        ProgressColumn(min_value=0.0, max_value=1.0, format="localized", width=92),
        lambda hit, _trace: hit.final_score,
    ),
    "meaning": (SCORE, lambda hit, _trace: hit.vector_score),
    N_("rank by meaning"): (RANK, lambda hit, _trace: hit.vector_rank),
    "words": (SCORE, lambda hit, _trace: hit.lexical_score),
    N_("rank by words"): (RANK, lambda hit, _trace: hit.lexical_rank),
    "place": (
        NumberColumn(width=66, help=N_("How likely it is at the place that the question names")),
        lambda _hit, trace: trace and trace.landmark_score,
    ),
    "fit": (
        NumberColumn(width=52, help=N_("How well the whole document matches; empty if there is only one")),
        lambda _hit, trace: trace and trace.document_score,
    ),
    "rerank": (SCORE, lambda hit, _trace: hit.rerank_score),
    N_("text"): (TextColumn(), lambda hit, _trace: hit.chunk.labelled_text(translate_message)[:200]),
}
"""Each column and what it shows of a hit and its trace."""
MODES: list[types.SearchMode] = ["hybrid", "vector", "lexical"]
FUSIONS: list[types.Fusion] = ["weighted", "rrf"]
SWITCHES = ("periods", "vocabulary", "landmarks", "routing")
"""Options of query understanding."""
REASONS = {
    "period": N_("period"),
    "synonym": N_("same meaning"),
    "derived": N_("calculated from"),
    "item": N_("found in"),
    "abbreviation": N_("abbreviation"),
}
OWN_VOCABULARIES = (N_("Contracts"), N_("Finance"), N_("General"), N_("Science"))
"""Titles of the built-in vocabularies; user-defined titles are not translated."""


def search() -> None:
    """Search with chosen options, and show the hits and the chosen one on its page."""
    left, right = chunks.columns([7, 5])
    chosen = None
    with left:
        if request := _search_form():
            st.session_state["search"] = session.engine().search(request)
            st.session_state["search-request"] = request
            st.session_state.pop("why", None)
        response: types.SearchResponse | None = st.session_state.get("search")
        if response:
            with st.container(key="found"):
                if response.trace:
                    _show_understanding(response.trace)
                chosen = _hits(response)
                _why_not(st.session_state["search-request"])
    with right:
        if response and chosen is not None:
            _hit_view(response.results, chosen)


def _search_form() -> types.SearchRequest | None:
    """Show the form; return the request when it is submitted."""
    usual = retrieval.as_configured(types.RetrievalOptions(), session.engine().config)
    with st.form("search-form", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            query = st.text_input(_("Query"), placeholder=_("What to search for"), label_visibility="collapsed")
            is_submitted = st.form_submit_button(_("Search"), type="primary", icon=":material/search:")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            mode = st.selectbox(_("Mode"), MODES, MODES.index(usual.mode), width=100)
            fusion = st.selectbox(_("Fusion"), FUSIONS, FUSIONS.index(usual.fusion), width=110)
            weight = st.slider(_("Vector weight"), 0.0, 1.0, 0.65, 0.05, width=110)
            top_k = st.number_input(_("Results"), 1, 50, 10, width=70)
            min_score = st.number_input(_("Minimum score"), 0.0, 1.0, 0.0, 0.05, width=75)
        with st.container(horizontal=True, vertical_alignment="center"):
            rerank = st.toggle(_("Rerank"), help=_help(types.RerankOptions, "enabled"))
            switches = {
                name: st.toggle(
                    _(name.capitalize()),
                    types.RetrievalOptions.model_fields[name].default,
                    help=_help(types.RetrievalOptions, name),
                )
                for name in SWITCHES
            }
    if not (is_submitted and query.strip()):
        return None
    options = types.RetrievalOptions(
        top_k=int(top_k),
        min_score=min_score,
        mode=mode,
        fusion=fusion,
        vector_weight=weight,
        lexical_weight=round(1 - weight, 2),
        rerank=types.RerankOptions(enabled=rerank),
        trace=True,
    )
    return types.SearchRequest(query=query.strip(), retrieval=options.model_copy(update=switches))


def _help(options: type[pydantic.BaseModel], field: str) -> str:
    description = options.model_fields[field].description
    return _(description) if description else ""


# --- how the question was understood ----------------------------------------------------------------


def _show_understanding(trace: types.SearchTrace) -> None:
    """Show what was found in the question, what it added to the search, and why."""
    rows = []
    places = [name for rewriting in trace.rewritings if rewriting.kind == "landmark" for name in rewriting.added]
    if places:
        rows.append((_("places named"), ", ".join(places), _("preferred")))
    words = [rewriting for rewriting in trace.rewritings if rewriting.kind != "landmark"]
    causes = [rewriting.found for rewriting in words]
    for rewriting in sorted(words, key=lambda rewriting: causes.index(rewriting.found)):  # grouped by their cause
        why, vocabulary = _(REASONS[rewriting.kind]), rewriting.trade
        if vocabulary:
            why += " · " + (_(vocabulary) if vocabulary in OWN_VOCABULARIES else vocabulary)
        rows.append((rewriting.found, ", ".join(rewriting.added), why))
    if not rows:
        st.caption(_("Searched as entered: nothing was added."))
        return
    with st.expander(_("How the question was understood"), expanded=True, type="compact", key="understood"):
        header = (_("In the question"), _("Also searched for"), _("Why"))
        st.table([dict(zip(header, map(escape, row), strict=True)) for row in rows], border="horizontal")


# --- the hits ---------------------------------------------------------------------------------------


def _hits(response: types.SearchResponse) -> int | None:
    """Show the hits as a table and return the position of the chosen one, by default the best."""
    if not response.results:
        st.info(
            _("No result scores high enough. Lower the minimum score or use other words."), icon=":material/search_off:"
        )
        return None
    st.caption(
        _(
            "{results} results in {latency_ms} ms. Select a row to see it on its page.",
            results=len(response.results),
            latency_ms=decimal(response.usage.latency_ms, 0),
        )
    )
    traces = {candidate.chunk_id: candidate for candidate in response.trace.candidates} if response.trace else {}
    rows = [
        {"#": rank} | {_(label): value(hit, traces.get(hit.chunk.id)) for label, (_column, value) in COLUMNS.items()}
        for rank, hit in enumerate(response.results, 1)
    ]
    columns = translate_columns({label: column for label, (column, _value) in COLUMNS.items()})
    state = st.container(key="hits", height="stretch").dataframe(
        _with_numbers(rows),
        key=f"hits-{hash(response.query + response.mode)}",
        column_config={"#": NumberColumn(width=30)} | {_(label): column for label, column in columns.items()},
        hide_index=True,
        height="stretch" if len(response.results) > MAX_ROWS else "content",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
    )
    return state.selection.rows[0] if state.selection.rows else 0


def _with_numbers(rows: list[dict[str, Any]]) -> Styler:
    """Format scores in the language of the page, others as integers, which pandas makes floats where some are missing.

    The cells stay numbers, so that they are sorted as such. Streamlit's own formats follow the browser's language.
    """
    table = pd.DataFrame(rows)
    formats: dict[str, Any] = dict.fromkeys(table.select_dtypes("float"), "{:.0f}")
    formats |= {_(name): functools.partial(decimal, decimals=3) for name in SCORES if _(name) in table}
    return table.style.format(formats, na_rep="–")


def _why_not(request: types.SearchRequest) -> None:
    """Ask for words of an expected passage and explain what became of it in this search."""
    with st.form("why-form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        passage = st.text_input(
            _("Missing a passage?"),
            placeholder=_("Missing a passage? Enter some of its words as in the document"),
            label_visibility="collapsed",
            key="why-passage",
        )
        is_submitted = st.form_submit_button(_("Why?"), icon=":material/route:")
    if is_submitted and passage.strip():
        try:
            st.session_state["why"] = session.engine().questions.explain(request, passage)
        except errors.Error as error:
            st.error(escape(translate_error(error)), icon=":material/error:")
            return
    explanation: types.Explanation | None = st.session_state.get("why")
    if explanation is None:
        return
    place = ""
    if explanation.document_name:
        place = _("{name}, page {number}: ", name=explanation.document_name, number=explanation.page_number)
    st.info(
        escape(place + translate_message(explanation.message)),
        icon=":material/check_circle:" if explanation.stage == "given" else ":material/help:",
    )


def _hit_view(hits: tuple[types.Hit, ...], chosen: int) -> None:
    document_id = hits[chosen].chunk.document_id
    here = [position for position, hit in enumerate(hits) if hit.chunk.document_id == document_id]
    marks = [Mark.of_hit(hits[position], str(position + 1)) for position in here]
    with error_boundary():
        show_pdf(session.engine().documents.get(document_id), marks, here.index(chosen), key="hit-viewer")
