"""Actions for a turn: edit, ask again, rate, switch versions, export."""

import uuid
from collections.abc import Callable
from typing import Literal

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat import export
from rag.ui.chat.marked_copy import offer_copy
from rag.ui.language import N_, _
from rag.ui.page_frame import dialog, error_boundary

MORE_SOURCES = 20
"""Passages to read when more sources are requested; the default is eight."""
REASONS = (
    N_("Wrong"),
    N_("Incomplete"),
    N_("Wrong place in the document"),
    N_("The answer is in the documents"),
    N_("Hard to understand"),
)
MODELS_TTL_SECONDS = 10
"""How long the list of models is cached."""
BAD_ANSWER = "asked-why"
"""Session key of the answer that was just rated bad."""
RATINGS: tuple[tuple[types.Rating, str, str], ...] = (
    ("good", "thumb_up", N_("Good answer")),
    ("bad", "thumb_down", N_("Bad answer")),
)
SAME_QUESTION, WITH_MORE_SOURCES = N_("Same question"), N_("With more sources")

AskAgain = Callable[[types.ChatMessage, str | None, int | None], None]
"""Regenerates an answer by a model (None: the default) from a number of passages (None: the default)."""


def question_actions(message: types.ChatMessage, ask: Callable[[str, uuid.UUID], None]) -> None:
    """Show the actions of a question; `ask` asks an edited question in its place."""
    with st.container(key=f"actions-{message.id}", horizontal=True, horizontal_alignment="right", gap=None):
        _turn_versions(message)
        if st.button(":material/edit:", key=f"edit-{message.id}", type="tertiary", help=_("Edit the question")):
            _edit(message, ask)


@dialog("Edit the question", width="medium")
def _edit(message: types.ChatMessage, ask: Callable[[str, uuid.UUID], None]) -> None:
    text = st.text_area(_("Question"), message.content, label_visibility="collapsed")
    st.caption(_("Earlier versions stay available: use the arrows below the question."))
    if st.button(_("Ask"), type="primary", disabled=not text.strip()):
        with error_boundary():
            ask(text.strip(), message.id)


def answer_actions(message: types.ChatMessage, again: AskAgain) -> None:
    """Show the actions of an answer."""
    with st.container(key=f"actions-{message.id}", horizontal=True, vertical_alignment="center", gap=None):
        _turn_versions(message)
        for rating, icon, word in RATINGS:
            given = message.rating == rating
            kind: Literal["secondary", "tertiary"] = "secondary" if given else "tertiary"
            wanted: types.Rating | None = None if given else rating
            st.button(
                f":material/{icon}:",
                key=f"{rating}-{message.id}",
                type=kind,
                help=_(word),
                on_click=_rate,
                args=(message, wanted),
            )
        if st.session_state.get(BAD_ANSWER) == message.id:
            del st.session_state[BAD_ANSWER]
            _feedback(message)
        _ask_again_menu(message, again)
        if message.response:
            offer_copy(message.response, message.id)
            export.answer_menu(message)


def unfinished_actions(message: types.ChatMessage, again: AskAgain) -> None:
    """Show the actions of an answer that broke off."""
    with st.container(key=f"actions-{message.id}", horizontal=True, vertical_alignment="center", gap=None):
        _turn_versions(message)
        _ask_again_menu(message, again)


def _turn_versions(message: types.ChatMessage) -> None:
    """Show which version of a turn this is, and buttons to switch."""
    if len(message.versions) < 2:
        return
    own = message.versions.index(message.id)
    for sign, word, place in (
        ("chevron_left", N_("Earlier version"), own - 1),
        ("chevron_right", N_("Later version"), own + 1),
    ):
        is_there = 0 <= place < len(message.versions)
        if place > own:
            st.caption(f"{own + 1}/{len(message.versions)}", width="content")
        help_ = _(word)
        key = f"{word.partition(' ')[0].lower()}-{message.id}"
        if st.button(f":material/{sign}:", key=key, type="tertiary", disabled=not is_there, help=help_):
            session.engine().store.conversations.choose(message.conversation_id, message.versions[place])
            st.session_state.pop("viewing", None)
            st.rerun()


def _ask_again_menu(message: types.ChatMessage, again: AskAgain) -> None:
    models = _other_models()
    choice = st.menu_button(
        ":material/refresh:",
        [SAME_QUESTION, WITH_MORE_SOURCES, *models],
        key=f"again-{message.id}",
        type="tertiary",
        help=_("Ask again"),
        format_func=lambda option: _("With {model}").format(model=option) if option in models else _(option),
    )
    if choice:
        again(message, choice if choice in models else None, MORE_SOURCES if choice == WITH_MORE_SOURCES else None)


@st.cache_data(ttl=MODELS_TTL_SECONDS, show_spinner=False)
def _other_models() -> list[str]:
    """Return the other models that can write answers."""
    settings = session.engine().installation.settings
    usual = settings.writer().model
    return [model for model in settings.default_writers() if model != usual]


# --- Judging ----------------------------------------------------------------------------------------


def _rate(message: types.ChatMessage, rating: types.Rating | None) -> None:
    """Save a rating at once; after a bad one, ask for the reason."""
    with error_boundary():
        session.engine().answers.rate(message.conversation_id, message.id, rating)
        if rating == "bad":
            st.session_state[BAD_ANSWER] = message.id


@dialog("What is wrong?")
def _feedback(message: types.ChatMessage) -> None:
    reasons = st.pills(
        _("What is wrong?"), REASONS, format_func=_, selection_mode="multi", label_visibility="collapsed"
    )
    words = st.text_area(_("Comment"), placeholder=_("Optional"))
    if st.button(_("Save"), type="primary"):
        with error_boundary():
            reason = " · ".join([*reasons, *filter(None, [words.strip()])])
            session.engine().answers.rate(message.conversation_id, message.id, "bad", reason or None)
            st.rerun()
