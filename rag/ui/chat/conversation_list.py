"""The user's conversations in the sidebar, and which of them is open."""

import uuid
from collections.abc import Sequence

import streamlit as st

from rag.types import Conversation, FoundConversation
from rag.ui import session
from rag.ui.formatting import decimal, plain
from rag.ui.language import N_, _
from rag.ui.page_frame import dialog, door

LEFT = "last-chat"
"""Where the session keeps which conversation was open last: another page's address has none."""
ASKED_ELSEWHERE = "asked-elsewhere"
"""Where another page puts the question that a new conversation begins with."""
ALL = "all-chats"
MOST_SHOWN = 30
"""Conversations that are listed until all are asked for."""


def conversation_id() -> uuid.UUID | None:
    """The open conversation. It is part of the address, so that a reload and a bookmark come back to it."""
    try:
        return uuid.UUID(st.query_params["chat"])
    except (KeyError, ValueError):
        return None


def come_back() -> None:
    """Take up the conversation that was left for another page. What is lit stays lit only if it is the same one's."""
    left = st.session_state.get(LEFT)
    if left and "chat" not in st.query_params:
        st.query_params["chat"] = left
    current = st.query_params.get("chat")
    if current != left:
        st.session_state.pop("viewing", None)
        if left:  # else it has just begun, with what was chosen for it
            for name in ("scope", "kept-scope"):
                st.session_state.pop(name, None)
    st.session_state[LEFT] = current


def open_conversation(chosen: uuid.UUID | None, document_ids: tuple[uuid.UUID, ...] = ()) -> None:
    """Go to a conversation, or to a new one about `document_ids` (none: the whole library)."""
    st.session_state.pop("viewing", None)
    st.session_state["scope"] = st.session_state["kept-scope"] = [str(document_id) for document_id in document_ids]
    st.session_state[LEFT] = chosen and str(chosen)
    st.query_params.clear()
    if chosen is not None:
        st.query_params["chat"] = str(chosen)


def conversations() -> None:
    """The user's conversations, newest first: open, search, rename, pin, delete, begin a new one."""
    engine, current = session.engine(), conversation_id()
    st.button(_("New chat"), icon=":material/edit_square:", width="stretch", on_click=open_conversation, args=(None,))
    listed = engine.chats.list()
    if not listed:
        return
    wanted = st.text_input(
        _("Search chats"), key="chat-search", placeholder=_("Search chats"), label_visibility="collapsed"
    )
    if wanted.strip():
        _found(engine.chats.search(wanted), current)
        return
    shown = listed if st.session_state.get(ALL) else listed[:MOST_SHOWN]
    with st.container(key="conversations", gap=None):
        for conversation in shown:
            _conversation(conversation, current=conversation.id == current)
    if len(shown) < len(listed):
        more = _("Show {count} older").format(count=decimal(len(listed) - len(shown)))
        st.button(more, type="tertiary", on_click=st.session_state.__setitem__, args=(ALL, True))


def _found(hits: Sequence[FoundConversation], current: uuid.UUID | None) -> None:
    """The conversations that were searched for, each with the words around what was found."""
    if not hits:
        st.caption(_("No chat contains these words."))
    with st.container(key="conversations", gap=None):
        for hit in hits:
            _conversation(hit.conversation, current=hit.conversation.id == current)
            if hit.message_id:
                st.caption(plain(hit.excerpt))


def _conversation(conversation: Conversation, *, current: bool) -> None:
    with st.container(key=f"conversation-{conversation.id}", horizontal=True, gap=None, wrap=False):
        st.button(
            plain(conversation.title),
            key=f"open-{conversation.id}",
            icon=":material/keep:" if conversation.pinned else None,
            type="secondary" if current else "tertiary",
            width="stretch",
            on_click=open_conversation,
            args=(conversation.id, conversation.document_ids),
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
        session.engine().chats.pin(conversation.id, pinned=not conversation.pinned)
        st.rerun()
    elif choice:
        {"Rename": _rename, "Delete": _delete}[choice](conversation.id, conversation.title)


@dialog("Rename chat")
def _rename(chosen: uuid.UUID, title: str) -> None:
    name = st.text_input(_("Title"), title, max_chars=200)
    if st.button(_("Save"), type="primary", disabled=not name.strip()):
        with door():
            session.engine().chats.rename(chosen, name.strip())
            st.rerun()


@dialog("Delete chat?")
def _delete(chosen: uuid.UUID, title: str) -> None:
    st.text(_("“{title}” and its answers will be deleted. The documents stay.").format(title=title))
    if st.button(_("Delete"), type="primary"):
        with door():
            session.engine().chats.delete(chosen)
            if chosen == conversation_id():
                open_conversation(None)
            st.rerun()
