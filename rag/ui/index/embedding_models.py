"""Embedding models of the index: the current one, and switching to another."""

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.formatting import decimal, escape
from rag.ui.language import N_, _
from rag.ui.page_frame import error_boundary

POLL_SECONDS = 2.0
STATES = {
    types.GenerationState.ACTIVE: N_(":material/check_circle: In use"),
    types.GenerationState.READY: N_(":material/pending: Ready"),
    types.GenerationState.BUILDING: N_(":material/hourglass: Incomplete"),
    types.GenerationState.RETIRED: N_(":material/history: Previous"),
}


def embedding_models() -> None:
    """Show the models if there are several; refresh while `pagelight reembed` builds one."""
    generations = session.engine().indexes.generations().list()
    if len(generations) == 1:
        return
    building = any(one.state is types.GenerationState.BUILDING for one in generations)
    st.fragment(_models, run_every=POLL_SECONDS if building else None)(building)


def _models(was_building: bool) -> None:
    generations = session.engine().indexes.generations().list()
    if was_building and not any(one.state is types.GenerationState.BUILDING for one in generations):
        st.rerun()  # done: stop refreshing
    with error_boundary(), st.container(border=True):
        st.subheader(_("Embedding models"), anchor=False)
        for generation in generations:
            _model(generation)


def _model(generation: types.EmbeddingGeneration) -> None:
    space, number = generation.space, generation.generation
    with st.container(horizontal=True, vertical_alignment="center", key=f"generation-{number}"):
        st.markdown(
            _("{name} · {dimensions} dimensions").format(name=escape(space.name), dimensions=space.dimensions),
            width="stretch",
        )
        if generation.state is types.GenerationState.BUILDING:
            _progress(generation)
        else:
            st.markdown(_(STATES[generation.state]), width="content")
        if generation.state is types.GenerationState.READY and st.button(
            _("Switch"), key=f"switch-{number}", type="primary"
        ):
            with st.spinner(_("Switching …")):
                session.engine().indexes.generations().switch(generation=number)
            st.rerun()
        if generation.state is types.GenerationState.RETIRED and st.button(_("Roll back"), key=f"rollback-{number}"):
            with st.spinner(_("Rolling back …")):
                session.engine().indexes.generations().rollback()
            st.rerun()
        if generation.state is not types.GenerationState.ACTIVE:
            _drop(generation)


def _progress(generation: types.EmbeddingGeneration) -> None:
    done, total = generation.progress.done, generation.progress.total
    st.progress(
        done / max(total, 1),
        text=_("{done} of {total} chunks").format(done=decimal(done), total=decimal(total)),
        width=220,
    )
    st.markdown(
        _(STATES[generation.state]),
        width="content",
        help=_("`pagelight reembed --model {name}` builds the rest, if it is not running.").format(
            name=generation.space.name
        ),
    )


def _drop(generation: types.EmbeddingGeneration) -> None:
    with st.popover(_("Delete"), key=f"drop-{generation.generation}"):
        st.text(_("The vectors of {name} will be deleted. A running build stops.").format(name=generation.space.name))
        if st.button(_("Delete vectors"), key=f"drop-now-{generation.generation}", type="primary"):
            session.engine().indexes.generations().drop(generation=generation.generation)
            st.rerun()
