"""Search view of the index page: all options and scores, and two settings side by side."""

import uuid
from typing import Any, NamedTuple

import pydantic
import streamlit as st

from rag import errors, retrieval, types
from rag.ui import session
from rag.ui.formatting import decimal, escape, plural
from rag.ui.index.chunk_browser import columns
from rag.ui.index.query_understanding import show_understanding
from rag.ui.language import _
from rag.ui.numeric_tables import format_numbers, format_score
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_error, translate_message
from rag.ui.viewer.pdf_viewer import Mark, show_pdf

SCORE = st.column_config.NumberColumn(width=54)
MAX_ROWS = 8
"""A longer table scrolls within the window."""
RANK = st.column_config.NumberColumn(width=50)
FINAL = st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="localized", width=92)
MODES: list[types.SearchMode] = ["hybrid", "vector", "lexical"]
FUSIONS: list[types.Fusion] = ["weighted", "rrf"]
SWITCHES = ("periods", "vocabulary", "landmarks", "routing")
"""Options of query understanding."""
COMPARE = "search-beside"
SIDES = ("A", "B")


class Side(NamedTuple):
    """One of two searches: its label and its response."""

    name: str
    response: types.SearchResponse


def playground() -> None:
    """Run one search or two side by side, and show the chosen hit on its page."""
    left, right = columns([7, 5])
    with left:
        requests = _search_form()
        st.toggle(
            _("Compare two settings"),
            key=COMPARE,
            help=_("Search with two settings and compare which places each finds, in which order."),
        )
        if requests:
            st.session_state["search"] = session.engine().search(requests[0])
            st.session_state["search-other"] = session.engine().search(requests[1]) if len(requests) > 1 else None
            st.session_state["search-request"] = requests[0]
            for name in ("why", "search-chosen"):
                st.session_state.pop(name, None)
        response: types.SearchResponse | None = st.session_state.get("search")
        other: types.SearchResponse | None = st.session_state.get("search-other") if st.session_state[COMPARE] else None
        if response and other:
            response, chosen = _side_by_side(Side("A", response), Side("B", other))
        else:
            chosen = _search_result(response) if response else None
    with right:
        if response and chosen is not None:
            _hit_view(response.results, chosen)


# --- what to search, and how ------------------------------------------------------------------------


def _search_form() -> list[types.SearchRequest] | None:
    """Show the form; return the searches to run when it is submitted."""
    sides = SIDES if st.session_state.get(COMPARE) else SIDES[:1]
    with st.form("search-form", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            query = st.text_input(_("Query"), placeholder=_("What to search for"), label_visibility="collapsed")
            asked = st.form_submit_button(_("Search"), type="primary", icon=":material/search:")
        options = []
        for side in sides:
            if len(sides) > 1:
                st.markdown(_("**Settings {side}**").format(side=side))
            options.append(_settings(side))
    if not (asked and query.strip()):
        return None
    return [types.SearchRequest(query=query.strip(), retrieval=chosen) for chosen in options]


def _settings(side: str) -> types.RetrievalOptions:
    """Show the options of one search; the second one reranks by default, so that they differ."""
    usual = retrieval.as_configured(types.RetrievalOptions(), session.engine().config)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        mode = st.selectbox(_("Mode"), MODES, MODES.index(usual.mode), width=100, key=f"mode-{side}")
        fusion = st.selectbox(_("Fusion"), FUSIONS, FUSIONS.index(usual.fusion), width=110, key=f"fusion-{side}")
        weight = st.slider(_("Vector weight"), 0.0, 1.0, 0.65, 0.05, width=110, key=f"weight-{side}")
        top_k = st.number_input(_("Results"), 1, 50, 10, width=70, key=f"results-{side}")
        min_score = st.number_input(_("Minimum score"), 0.0, 1.0, 0.0, 0.05, width=75, key=f"least-{side}")
        lookups = st.number_input(
            _("Look-ups"),
            *(0, types.MAX_LOOKUPS),
            width=70,
            help=_description(types.RetrievalOptions, "lookups"),
            disabled=not session.engine().questions.has_language_model,
            key=f"lookups-{side}",
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        described = _description(types.RerankOptions, "enabled")
        rerank = st.toggle(_("Rerank"), side != SIDES[0], help=described, key=f"rerank-{side}")
        switches = {name: _switch(name, side) for name in SWITCHES}
    options = types.RetrievalOptions(
        top_k=int(top_k),
        min_score=min_score,
        mode=mode,
        fusion=fusion,
        vector_weight=weight,
        lexical_weight=round(1 - weight, 2),
        lookups=int(lookups),
        rerank=types.RerankOptions(enabled=rerank),
        filters=types.Filters(),
        trace=True,
    )
    return options.model_copy(update=switches)


def _switch(name: str, side: str) -> bool:
    """Show a toggle for a search option, explained by its own description."""
    default = types.RetrievalOptions.model_fields[name].default
    return st.toggle(
        _(name.capitalize()), default, help=_description(types.RetrievalOptions, name), key=f"{name}-{side}"
    )


def _description(options: type[pydantic.BaseModel], name: str) -> str:
    description = options.model_fields[name].description
    return _(description) if description else ""


# --- what one search found --------------------------------------------------------------------------


def _search_result(response: types.SearchResponse) -> int | None:
    """Show the result of a search and return the position of the chosen hit."""
    with st.container(key="found"):
        if response.trace:
            show_understanding(response.trace)
        chosen = _hits(response)
        _why_not(st.session_state["search-request"])
    return chosen


def _hits(response: types.SearchResponse) -> int | None:
    """Show the hits as a table and return the position of the chosen one, by default the best."""
    if not response.results:
        _no_results()
        return None
    st.caption(
        _("{results} results in {latency_ms} ms. Select a row to see it on its page.").format(
            results=len(response.results), latency_ms=decimal(response.usage.latency_ms, 0)
        )
    )
    table = st.container(key="hits", height="stretch")
    traced = {candidate.chunk_id: candidate for candidate in response.trace.candidates} if response.trace else {}
    state = table.dataframe(
        format_numbers(
            [_hit_row(rank, hit, traced.get(hit.chunk.id)) for rank, hit in enumerate(response.results, 1)],
            dict.fromkeys((_("meaning"), _("words"), _("place"), _("fit"), _("rerank")), format_score),
        ),
        key=f"hits-{hash(response.query + response.mode)}",
        column_config={
            "#": st.column_config.NumberColumn(width=30),
            _("document"): st.column_config.TextColumn(width=100),
            _("page"): st.column_config.NumberColumn(width=44),
            _("final"): FINAL,
            _("meaning"): SCORE,
            _("rank by meaning"): RANK,
            _("words"): SCORE,
            _("rank by words"): RANK,
            _("place"): st.column_config.NumberColumn(
                width=66, help=_("How likely it is at the place that the question names")
            ),
            _("fit"): st.column_config.NumberColumn(
                width=52, help=_("How well the whole document matches; empty if there is only one")
            ),
            _("rerank"): SCORE,
        },
        hide_index=True,
        height="stretch" if len(response.results) > MAX_ROWS else "content",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
    )
    return state.selection.rows[0] if state.selection.rows else 0


def _no_results() -> None:
    st.info(
        _("No result scores high enough. Lower the minimum score or use other words."), icon=":material/search_off:"
    )


def _hit_row(rank: int, hit: types.Hit, candidate: types.CandidateTrace | None) -> dict[str, Any]:
    return {
        "#": rank,
        _("document"): hit.document_name,
        _("page"): hit.chunk.main_page,
        _("final"): hit.final_score,
        _("meaning"): hit.vector_score,
        _("rank by meaning"): hit.vector_rank,
        _("words"): hit.lexical_score,
        _("rank by words"): hit.lexical_rank,
        _("place"): candidate.landmark_score if candidate else None,
        _("fit"): candidate.document_score if candidate else None,
        _("rerank"): hit.rerank_score,
        _("text"): hit.chunk.labelled_text(translate_message)[:200],
    }


def _why_not(request: types.SearchRequest) -> None:
    """Ask for words of an expected passage and explain what became of it in this search."""
    with st.form("why-form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        passage = st.text_input(
            _("Missing a passage?"),
            placeholder=_("Missing a passage? Enter some of its words as in the document"),
            label_visibility="collapsed",
            key="why-passage",
        )
        asked = st.form_submit_button(_("Why?"), icon=":material/route:")
    if asked and passage.strip():
        try:
            st.session_state["why"] = session.engine().questions.explain(request, passage)
        except errors.Error as error:
            st.error(escape(translate_error(error)), icon=":material/error:")
            return
    explanation: types.Explanation | None = st.session_state.get("why")
    if explanation:
        _show_explanation(explanation)


def _show_explanation(explanation: types.Explanation) -> None:
    place = (
        _("{name}, page {number}: ").format(name=explanation.document_name, number=explanation.page_number)
        if explanation.document_name
        else ""
    )
    st.info(
        escape(place + translate_message(explanation.message)),
        icon=":material/check_circle:" if explanation.stage == "given" else ":material/help:",
    )


# --- what two searches found ------------------------------------------------------------------------

Place = tuple[uuid.UUID, int]
"""Document and page of a hit: two searches may find a page by different chunks."""


def _side_by_side(one: Side, other: Side) -> tuple[types.SearchResponse, int | None]:
    """Show both tables with the ranks of the other; return the search and position of the last chosen hit."""
    ranks = {side.name: _ranks(side.response) for side in (one, other)}
    st.caption(_comparison(ranks[one.name], ranks[other.name]))
    for column, side, beside in zip(st.columns(2, gap="small"), (one, other), (other, one), strict=True):
        with column:
            _ranked_table(side, ranks[beside.name], beside.name)
    name, chosen = st.session_state.get("search-chosen", (one.name, 0))
    shown = one.response if name == one.name else other.response
    return shown, chosen if chosen < len(shown.results) else None


def _ranks(response: types.SearchResponse) -> dict[Place, int]:
    return {_place(hit): rank for rank, hit in reversed([*enumerate(response.results, 1)])}


def _place(hit: types.Hit) -> Place:
    return hit.chunk.document_id, hit.chunk.main_page


def _comparison(ranks: dict[Place, int], others: dict[Place, int]) -> str:
    common = ranks.keys() & others.keys()
    same = sum(ranks[found] == others[found] for found in common)
    return (
        plural(
            len(common),
            "{count} place found by both, {same} of them at the same rank; only A: {a}, only B: {b}.",
            "{count} places found by both, {same} of them at the same rank; only A: {a}, only B: {b}.",
            same=decimal(same),
            a=decimal(len(ranks) - len(common)),
            b=decimal(len(others) - len(common)),
        )
        + " "
        + _("Select a row to see it on its page.")
    )


def _ranked_table(side: Side, others: dict[Place, int], other: str) -> None:
    found, key = side.response.results, f"ranked-{side.name}"
    st.markdown(f"**{side.name}** · {decimal(side.response.usage.latency_ms)} ms")
    if not found:
        _no_results()
        return

    inside = _("in {other}").format(other=other)

    def choose() -> None:
        for row in st.session_state[key].selection.rows:
            st.session_state["search-chosen"] = (side.name, row)

    rows = [
        {
            "#": rank,
            inside: _rank_change(rank, others.get(_place(hit))),
            _("document"): hit.document_name,
            _("page"): hit.chunk.main_page,
            _("final"): hit.final_score,
            _("text"): hit.chunk.labelled_text(translate_message)[:200],
        }
        for rank, hit in enumerate(found, 1)
    ]
    st.dataframe(
        format_numbers(rows, {_("final"): format_score}),
        key=key,
        column_config={
            "#": st.column_config.NumberColumn(width=30),
            inside: st.column_config.TextColumn(
                width=56, help=_("Its rank in {other}, and whether that is higher").format(other=other)
            ),
            _("document"): st.column_config.TextColumn(width=96),
            _("page"): st.column_config.NumberColumn(width=44),
            _("final"): SCORE,
        },
        hide_index=True,
        height="content",
        on_select=choose,
        selection_mode="single-row",
    )


def _rank_change(rank: int, other: int | None) -> str:
    """Return the rank in the other search and whether it is higher or lower."""
    if other is None:
        return "–"
    return f"{other} {'=' if other == rank else '↑' if other < rank else '↓'}"


# --- the page ---------------------------------------------------------------------------------------


def _hit_view(hits: tuple[types.Hit, ...], chosen: int) -> None:
    document_id = hits[chosen].chunk.document_id
    here = [(i, Mark.of_hit(hit, str(i + 1))) for i, hit in enumerate(hits) if hit.chunk.document_id == document_id]
    active = [i for i, _ in here].index(chosen)
    with error_boundary():
        show_pdf(session.engine().documents.get(document_id), [mark for _, mark in here], active, key="hit-viewer")
