"""The user's conversations in the sidebar, and which one is open."""

import uuid
from collections.abc import Iterable, Sequence

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.chat.source_choice import ALL, initial_choice
from rag.ui.formatting import decimal, escape
from rag.ui.language import N_, _
from rag.ui.page_frame import dialog, is_confirmed

LAST_CHAT = "last-chat"
"""Session key of the last open conversation; other pages' addresses have none."""
SHOW_ALL = "all-chats"
MAX_SHOWN = 30
"""Conversations listed until all are requested."""


def conversation_id() -> uuid.UUID | None:
    """Return the open conversation's id, which is part of the address for reloads and bookmarks."""
    try:
        return uuid.UUID(st.query_params["chat"])
    except (KeyError, ValueError):
        return None


def restore_last_chat() -> None:
    """Reopen the conversation that was left for another page, and reset what belongs to a different one."""
    left = st.session_state.get(LAST_CHAT)
    if left and "chat" not in st.query_params:
        st.query_params["chat"] = left
    current = st.query_params.get("chat")
    if current != left:
        st.session_state.pop("viewing", None)
        if left:  # otherwise it is new and keeps its chosen scope
            st.session_state.pop("scope", None)
    st.session_state[LAST_CHAT] = current


def to_ask(documents: Iterable[types.Document]) -> tuple[uuid.UUID, ...]:
    """Return the documents for a new chat: those that can be asked, now or when they have been read."""
    return tuple(
        document.id
        for document in documents
        if document.searchable or (not document.disabled and document.status is not types.DocumentStatus.FAILED)
    )


def open_conversation(chosen: uuid.UUID | None, choice: Sequence[uuid.UUID | str] = ()) -> None:
    """Open a conversation, or a new one, with a choice of sources (none: the whole library)."""
    st.session_state.pop("viewing", None)
    st.session_state["scope"] = tuple(map(str, choice)) or (ALL,)
    st.session_state[LAST_CHAT] = chosen and str(chosen)
    st.query_params.clear()
    if chosen is not None:
        st.query_params["chat"] = str(chosen)


def conversations() -> None:
    """List the user's conversations, newest first, with search and a menu for each."""
    engine, current = session.engine(), conversation_id()
    st.button(_("New chat"), icon=":material/edit_square:", width="stretch", on_click=open_conversation, args=(None,))
    conversations = engine.chats.list()
    if not conversations:
        return
    query = st.text_input(
        _("Search chats"), key="chat-search", placeholder=_("Search chats"), label_visibility="collapsed"
    )
    if query.strip():
        hits = engine.chats.search(query)
        if not hits:
            st.caption(_("No chat contains these words."))
        with st.container(key="conversations", gap=None):
            for hit in hits:
                _conversation(hit.conversation, is_open=hit.conversation.id == current)
                if hit.message_id:
                    st.caption(escape(hit.excerpt))
        return
    most = None if st.session_state.get(SHOW_ALL) else MAX_SHOWN
    with st.container(key="conversations", gap=None):
        for conversation in conversations[:most]:
            _conversation(conversation, is_open=conversation.id == current)
    if most and len(conversations) > most:
        more = _("Show {count} older", count=decimal(len(conversations) - most))
        st.button(more, type="tertiary", on_click=st.session_state.__setitem__, args=(SHOW_ALL, True))


def _conversation(conversation: types.Conversation, *, is_open: bool) -> None:
    with st.container(key=f"conversation-{conversation.id}", horizontal=True, gap=None, wrap=False):
        st.button(
            escape(conversation.title),
            key=f"open-{conversation.id}",
            icon=":material/keep:" if conversation.pinned else None,
            type="secondary" if is_open else "tertiary",
            width="stretch",
            on_click=open_conversation,
            args=(conversation.id, initial_choice(conversation)),
        )
        pin = N_("Unpin") if conversation.pinned else N_("Pin")
        choice = st.menu_button(
            ":material/more_horiz:",
            [pin, N_("Rename"), N_("Delete")],
            key=f"menu-{conversation.id}",
            type="tertiary",
            format_func=_,
        )
    if choice == pin:
        session.engine().chats.update(conversation.id, pinned=not conversation.pinned)
        st.rerun()
    elif choice:
        {"Rename": _rename, "Delete": _delete}[choice](conversation.id, conversation.title)


@dialog("Rename chat")
def _rename(chosen: uuid.UUID, title: str) -> None:
    name = st.text_input(_("Title"), title)
    if st.button(_("Save"), type="primary", disabled=not name.strip()):
        session.engine().chats.update(chosen, title=name.strip())
        st.rerun()


@dialog("Delete chat?")
def _delete(chosen: uuid.UUID, title: str) -> None:
    st.text(_("“{title}” and its answers will be deleted. The documents stay.", title=title))
    if is_confirmed(_("Delete")):
        session.engine().store.conversations.delete(chosen)
        if chosen == conversation_id():
            open_conversation(None)
        st.rerun()
