"""Offer embedding models for download on the settings page."""

from collections.abc import Callable

import streamlit as st

from rag import types
from rag.config import MEGABYTE
from rag.providers import ModelDownloads
from rag.ui import session
from rag.ui.formatting import escape, file_size
from rag.ui.language import _
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_error

POLL_SECONDS = 1.0


def _downloads() -> ModelDownloads:
    return session.engine().installation.settings.downloads


def model_downloads(choice: types.ModelChoice, choose: Callable[[str | None], types.ModelChoice]) -> None:
    """Show the offered models; what is here can be used by `choose`, `choice` is what is used now."""
    downloads = _downloads()
    names = [model.name for model in downloads.offered()]
    is_running = any(map(downloads.is_running, names))
    has_failed = any(map(downloads.failure, names))
    with st.expander(_("Other languages than English"), icon=":material/download:", expanded=is_running or has_failed):
        st.caption(
            _(
                "The included model reads English only. These run on this machine after their download; nothing but "
                "the download leaves it: no text, no question and no key."
            )
        )
        st.fragment(_offers, run_every=POLL_SECONDS if is_running else None)(choice, choose, was_running=is_running)


def _offers(choice: types.ModelChoice, choose: Callable[[str | None], types.ModelChoice], *, was_running: bool) -> None:
    downloads = _downloads()
    for model in downloads.offered():
        _offer(model, choice, choose)
    if was_running and not any(downloads.is_running(model.name) for model in downloads.offered()):
        st.rerun()  # done: stop refreshing; last, so that no click is lost


def _offer(
    model: types.DownloadableModel, choice: types.ModelChoice, choose: Callable[[str | None], types.ModelChoice]
) -> None:
    downloads = _downloads()
    languages = ", ".join(model.languages) or _("about 100 languages")
    size = file_size(model.megabytes * MEGABYTE)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"download-{model.name}"):
        st.markdown(f"{escape(model.name)} :gray[:small[{languages} · {size} · {model.licence}]]", width="stretch")
        if model.choice == choice.model:
            st.markdown(_(":material/check_circle: In use"), width="content")
        elif downloads.is_here(model.name):
            if st.button(_("Use"), key=f"use-{model.choice}", disabled=choice.origin is types.Origin.ENVIRONMENT):
                with error_boundary(), st.spinner(_("Loading …")):
                    choose(model.choice)
                    st.rerun(scope="app")
        elif downloads.is_running(model.name):
            done = downloads.done_bytes(model.name) / (model.megabytes * MEGABYTE)
            st.progress(min(done, 1.0), text=_("Downloading …"), width=160)
            if st.button(_("Stop"), key=f"stop-{model.name}", type="tertiary"):
                downloads.stop(model.name)
                st.rerun(scope="app")
        elif st.button(_("Download"), key=f"fetch-{model.name}", type="tertiary"):
            with error_boundary():
                downloads.start(model.name)
                st.rerun(scope="app")
    if failure := downloads.failure(model.name):
        st.error(escape(translate_error(failure)), icon=":material/error:")
