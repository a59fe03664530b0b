"""Actions for a turn: edit, ask again, rate, switch versions, export."""

import uuid
from collections.abc import Callable, Sequence
from typing import Protocol

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat import export
from rag.ui.formatting import decimal, n_documents, n_pages, plural
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


class AskAgain(Protocol):
    """Regenerates an answer by a model (None: the default) from a number of passages (None: the default)."""

    def __call__(
        self,
        message: types.ChatMessage,
        model: str | None,
        top_k: int | None,
        *,
        reading: types.ReadingChoice = "ask",
        document_ids: Sequence[uuid.UUID] = (),
    ) -> None:
        """Ask again; `reading` says whether to read all pages, of `document_ids` or else of what is ticked."""
        ...


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
        ask(text.strip(), message.id)


def answer_actions(message: types.ChatMessage, again: AskAgain) -> None:
    """Show the actions of an answer; one that broke off can only be asked again."""
    with st.container(key=f"actions-{message.id}", horizontal=True, vertical_alignment="center", gap=None):
        _turn_versions(message)
        for rating, icon, word in RATINGS if message.response else ():
            is_current = message.rating == rating
            st.button(
                f":material/{icon}:",
                key=f"{rating}-{message.id}",
                type="secondary" if is_current else "tertiary",
                help=_(word),
                on_click=_rate,
                args=(message, None if is_current else rating),
            )
        if st.session_state.get(BAD_ANSWER) == message.id:
            del st.session_state[BAD_ANSWER]
            _feedback(message)
        _ask_again_menu(message, again)
        if message.response:
            export.offer_copy(message.response, message.id)
            export.export_menu(message.conversation_id, message.id)


def reading_choice(message: types.ChatMessage, again: AskAgain) -> None:
    """Where all pages would have to be read, show what that takes, and let the user choose.

    What is chosen is of the documents and the model of the question, whatever is ticked and set up by now.
    """
    reading = message.response.reading if message.response else None
    if reading is None or reading.is_done:
        return
    with st.container(key=f"reading-{message.id}"):
        st.caption(reading_text(reading))
        with st.container(horizontal=True):
            if st.button(
                plural(reading.pages, "Read {count} page", "Read all {count} pages"),
                key=f"read-whole-{message.id}",
                icon=":material/menu_book:",
                type="primary",
            ):
                again(message, reading.model, None, reading="whole", document_ids=reading.document_ids)
            if st.button(_("Answer from the best passages"), key=f"read-passages-{message.id}"):
                again(message, reading.model, None, reading="passages", document_ids=reading.document_ids)


def reading_text(reading: types.WholeReading) -> str:
    """Return what reading all pages takes: parts, tokens, money, and time on this machine."""
    cost = reading.cost_usd
    shown = _("no price is known") if cost is None else _("about ${cost}", cost=decimal(cost, 2 if cost >= 1 else 3))
    return " · ".join(
        [
            *([n_documents(reading.documents)] if reading.documents > 1 else []),
            n_pages(reading.pages),
            plural(reading.parts, "{count} part", "{count} parts"),
            _("about {tokens} tokens", tokens=decimal(reading.rounded_tokens)),
            shown,
            *([_("about {seconds} s on this machine", seconds=decimal(reading.seconds))] if reading.seconds else []),
        ]
    )


def _turn_versions(message: types.ChatMessage) -> None:
    """Show which version of a turn this is, and buttons to switch."""
    if len(message.versions) < 2:
        return
    current = message.versions.index(message.id)
    for name, icon, label, place in (
        ("earlier", "chevron_left", N_("Earlier version"), current - 1),
        ("later", "chevron_right", N_("Later version"), current + 1),
    ):
        is_there = 0 <= place < len(message.versions)
        if place > current:
            st.caption(f"{current + 1}/{len(message.versions)}", width="content")
        key, help_ = f"{name}-{message.id}", _(label)
        if st.button(f":material/{icon}:", key=key, type="tertiary", disabled=not is_there, help=help_):
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
        format_func=lambda option: _("With {model}", model=option) if option in models else _(option),
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
    comment = st.text_area(_("Comment"), placeholder=_("Optional"))
    if st.button(_("Save"), type="primary"):
        reason = " · ".join(filter(None, [*reasons, comment.strip()]))
        session.engine().answers.rate(message.conversation_id, message.id, "bad", reason or None)
        st.rerun()
