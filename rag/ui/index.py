"""The index page: what is in the index, its chunks on their pages, and why a search finds what it finds."""

from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from rag import retrieval
from rag.types import (
    MOST_LOOKUPS,
    CandidateTrace,
    Chunk,
    Document,
    DocumentStatus,
    Filters,
    Fusion,
    Hit,
    RerankOptions,
    RetrievalOptions,
    SearchMode,
    SearchRequest,
    SearchResponse,
    language_name,
)
from rag.ui import session
from rag.ui.answer import place
from rag.ui.frame import door, empty
from rag.ui.generations import embedding_models
from rag.ui.losses import warn_of_losses
from rag.ui.text import plain, size
from rag.ui.understood import understood
from rag.ui.viewer import Mark, show_pdf
from rag.ui.why import why_not

SCORE = st.column_config.NumberColumn(format="%.3f", width=54)
MOST_ROWS = 8
"""A longer table scrolls within the window."""
RANK = st.column_config.NumberColumn(width=50)
MODES: list[SearchMode] = ["hybrid", "vector", "lexical"]
FUSIONS: list[Fusion] = ["weighted", "rrf"]
SWITCHES = ("periods", "vocabulary", "landmarks", "routing")
"""Options of how a question is understood."""


# --- Overview ---------------------------------------------------------------------------------------


def overview() -> None:
    """Counts, sizes on disk, and the models."""
    stats = session.engine().inspect_index()
    figures = {
        "Documents": f"{stats.documents:,}",
        "Pages": f"{stats.pages:,}",
        "Chunks": f"{stats.chunks:,}",
        "Tokens": f"{stats.tokens:,}",
        "Files on disk": size(stats.file_bytes),
        "Database": size(stats.database_bytes),
        "Failed": f"{stats.failed_documents:,}",
        "In the trash": f"{stats.documents_in_trash:,}",
    }
    for row in (list(figures.items())[:4], list(figures.items())[4:]):
        for column, (label, value) in zip(st.columns(4, gap="small"), row, strict=True):
            column.metric(label, value, border=True)
    left, right = st.columns(2, gap="small")
    space, chunking = stats.index.space, stats.index.chunking
    with left.container(border=True):
        st.subheader("Index", anchor=False)
        _facts(
            {
                "Name": stats.index.name,
                "Vectors": f"{space.dimensions} dimensions, {space.provider}:{space.model}",
                "Chunk size": f"{chunking.chunk_size_chars} characters, {chunking.chunk_overlap_chars} of them shared",
                "Generation": str(stats.index.generation),
                "Languages": ", ".join(map(language_name, stats.languages)) or "–",
            }
        )
    with right.container(border=True):
        st.subheader("Models", anchor=False)
        _facts({role.capitalize(): model for role, model in session.engine().indexes.models().items()})
    if stats.advice:
        st.info(plain(stats.advice), icon=":material/translate:")
    warn_of_losses(session.engine().documents.list())
    embedding_models()
    _caches()


def _caches() -> None:
    """What is remembered, how often it helps, and a button to forget it."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader("Caches", anchor=False, width="stretch")
            if st.button("Clear caches", icon=":material/delete_sweep:"):
                removed = session.engine().caches.clear()
                st.toast(f"{removed:,} entries removed.")
        shown = [
            {
                "cache": cache.kind,
                "entries": cache.entries,
                "size": size(cache.bytes),
                "lookups": cache.hits + cache.misses,
                "hit rate": cache.hit_rate,
            }
            for cache in session.engine().caches.stats()
        ]
        st.dataframe(
            shown,
            hide_index=True,
            height="content",
            column_config={"hit rate": st.column_config.NumberColumn(format="percent")},
            placeholder="–",
        )


def _facts(facts: dict[str, str]) -> None:
    for name, value in facts.items():
        with st.container(horizontal=True, gap="small"):
            st.caption(name, width=130)
            st.text(value, width="stretch")


# --- Chunks -----------------------------------------------------------------------------------------


def chunk_browser() -> None:
    """The chunks of a page, outlined where they stand; the chosen one lit."""
    documents = [document for document in session.engine().documents.list() if document.status == DocumentStatus.READY]
    if not documents:
        _nothing_indexed()
        return
    left, right = _split([5, 6])
    with left:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            document = st.selectbox(
                "Document", documents, format_func=lambda document: document.name, key="chunks-document"
            )
            number = int(
                st.number_input("Page", 1, max(document.page_count, 1), width=130, key=f"chunks-page-{document.id}")
            )
        chunks = session.engine().chunks.list(document.id, page_number=number)
        chosen = _chunk_list(chunks, number)
    with right:
        _chunk_view(session.engine().documents.get(document.id), chunks, chosen, number)


def _chunk_list(chunks: list[Chunk], number: int) -> int | None:
    """The page's chunks; gives the position of the opened one."""
    if not chunks:
        st.caption("No chunk has a line on this page.")
        return None
    with st.container(key="chunk-list", height=400, border=False):
        position = st.radio(
            "Chunks",
            range(len(chunks)),
            index=next((i for i, chunk in enumerate(chunks) if chunk.page_number == number), 0),
            format_func=lambda i: f"\\#{chunks[i].ordinal + 1} · {place(chunks[i].lines)}",
            captions=[plain(chunk.text[:160]) + " …" for chunk in chunks],
            label_visibility="collapsed",
            key=f"chunk-{number}-{chunks[0].id}",
        )
        with st.expander("Text as it is embedded", expanded=False):
            st.caption(plain(chunks[position].context))
            st.text(chunks[position].text)
    return position


def _chunk_view(document: Document, chunks: list[Chunk], chosen: int | None, number: int) -> None:
    def pick(position: int) -> None:
        st.session_state[f"chunk-{number}-{chunks[0].id}"] = position

    marks = [Mark.of_chunk(chunk) for chunk in chunks]
    show_pdf(document, marks, chosen, page_number=number, key="chunk-viewer", on_pick=pick)


def _split(widths: list[int]) -> list[DeltaGenerator]:
    with st.container(key="split"):
        return st.columns(widths, gap="medium")


def _nothing_indexed() -> None:
    with empty("manage_search", "Nothing is indexed yet", "Upload documents; their chunks can be looked at here."):
        st.page_link("pages/upload.py", label="Upload documents", icon=":material/upload_file:")


# --- Search -----------------------------------------------------------------------------------------


def playground() -> None:
    """A search with every knob and every score; the chosen passage is shown on its page."""
    left, right = _split([7, 5])
    with left:
        request = _search_form()
        if request:
            st.session_state["search"] = session.engine().search(request)
            st.session_state["search-request"] = request
            st.session_state.pop("why", None)
        response: SearchResponse | None = st.session_state.get("search")
        chosen = _found(response) if response else None
    with right:
        if response and chosen is not None:
            _hit_view(response.results, chosen)


def _search_form() -> SearchRequest | None:
    usual = retrieval.as_configured(RetrievalOptions(), session.engine().config)
    with st.form("search-form", border=False):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            query = st.text_input("Query", placeholder="What to look for", label_visibility="collapsed")
            asked = st.form_submit_button("Search", type="primary", icon=":material/search:")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            mode = st.selectbox("Mode", MODES, MODES.index(usual.mode), width=100)
            fusion = st.selectbox("Fusion", FUSIONS, FUSIONS.index(usual.fusion), width=110)
            weight = st.slider("Weight of vectors", 0.0, 1.0, 0.65, 0.05, width=110)
            top_k = st.number_input("Results", 1, 50, 10, width=70)
            min_score = st.number_input("Least score", 0.0, 1.0, 0.0, 0.05, width=75)
            lookups = st.number_input(
                "Look-ups",
                *(0, MOST_LOOKUPS),
                width=70,
                help=RetrievalOptions.model_fields["lookups"].description,
                disabled=not session.engine().questions.has_language_model,
            )
        with st.container(horizontal=True, vertical_alignment="center"):
            rerank = st.toggle("Rerank", help=RerankOptions.model_fields["enabled"].description)
            switches = {name: _switch(name) for name in SWITCHES}
    if not (asked and query.strip()):
        return None
    options = RetrievalOptions(
        top_k=int(top_k),
        min_score=min_score,
        mode=mode,
        fusion=fusion,
        vector_weight=weight,
        lexical_weight=round(1 - weight, 2),
        lookups=int(lookups),
        rerank=RerankOptions(enabled=rerank),
        filters=Filters(),
        trace=True,
    )
    return SearchRequest(query=query.strip(), retrieval=options.model_copy(update=switches))


def _switch(name: str) -> bool:
    """A toggle for an option of a search, in its own words."""
    field = RetrievalOptions.model_fields[name]
    return st.toggle(name.capitalize(), field.default, help=field.description)


def _found(response: SearchResponse) -> int | None:
    """All there is to tell of a search; gives the position of the chosen hit."""
    with st.container(key="found"):
        if response.trace:
            understood(response.trace)
        chosen = _hits(response)
        why_not(st.session_state["search-request"])
    return chosen


def _hits(response: SearchResponse) -> int | None:
    """The hits as a table; gives the position of the chosen one, at first the best."""
    if not response.results:
        st.info("Nothing scores high enough. Lower the least score or use other words.", icon=":material/search_off:")
        return None
    st.caption(
        f"{len(response.results)} results in {response.usage.latency_ms:.0f} ms. Select a row to see it on its page."
    )
    table = st.container(key="hits", height="stretch")
    traced = {candidate.chunk_id: candidate for candidate in response.trace.candidates} if response.trace else {}
    state = table.dataframe(
        [_hit_row(rank, hit, traced.get(hit.chunk.id)) for rank, hit in enumerate(response.results, 1)],
        key=f"hits-{hash(response.query + response.mode)}",
        column_config={
            "#": st.column_config.NumberColumn(width=30),
            "document": st.column_config.TextColumn(width=100),
            "page": st.column_config.NumberColumn(width=44),
            "final": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.3f", width=92),
            "vector": SCORE,
            "v. rank": RANK,
            "lexical": SCORE,
            "l. rank": RANK,
            "landmark": st.column_config.NumberColumn(
                format="%.3f", width=66, help="How surely it stands at a landmark that is asked for"
            ),
            "fit": st.column_config.NumberColumn(
                format="%.3f", width=52, help="How well its whole document fits; empty where there is only one"
            ),
            "rerank": SCORE,
        },
        hide_index=True,
        height="stretch" if len(response.results) > MOST_ROWS else "content",
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
    )
    return state.selection.rows[0] if state.selection.rows else 0


def _hit_row(rank: int, hit: Hit, candidate: CandidateTrace | None) -> dict[str, Any]:
    return {
        "#": rank,
        "document": hit.document_name,
        "page": hit.chunk.main_page,
        "final": hit.final_score,
        "vector": hit.vector_score,
        "v. rank": hit.vector_rank,
        "lexical": hit.lexical_score,
        "l. rank": hit.lexical_rank,
        "landmark": candidate.landmark_score if candidate else None,
        "fit": candidate.document_score if candidate else None,
        "rerank": hit.rerank_score,
        "text": " ".join(hit.chunk.text.split())[:200],
    }


def _hit_view(hits: tuple[Hit, ...], chosen: int) -> None:
    document_id = hits[chosen].chunk.document_id
    here = [(i, Mark.of_hit(hit, str(i + 1))) for i, hit in enumerate(hits) if hit.chunk.document_id == document_id]
    active = [i for i, _ in here].index(chosen)
    with door():
        show_pdf(session.engine().documents.get(document_id), [mark for _, mark in here], active, key="hit-viewer")
