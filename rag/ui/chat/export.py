"""Export, copy, re-run and share answers and conversations."""

import uuid
from collections.abc import Callable, Sequence

import streamlit as st

from rag import types
from rag.engine import RAGEngine
from rag.export import ExportFormat
from rag.ui import people_picker, session
from rag.ui.formatting import escape
from rag.ui.language import N_, _
from rag.ui.page_frame import dialog, error_boundary
from rag.ui.translated_messages import translate_message

FILES: dict[ExportFormat, str] = {
    "pdf": "PDF",
    "docx": "Word",
    "markdown": "Markdown",
    "xlsx": N_("Evidence table (Excel)"),
    "json": "JSON",
}
DESCRIPTIONS: dict[ExportFormat, str] = {
    "pdf": N_("With verdicts, quotes and pictures."),
    "docx": N_("With verdicts, quotes and pictures; can be edited."),
    "markdown": N_("With verdicts, quotes and pictures; one file."),
    "xlsx": N_("One row for each quote."),
    "json": N_("Everything, for programs."),
}
COPIES: dict[ExportFormat, str] = {"text": N_("Plain text"), "clipping": "Markdown"}
STATES = {
    "same": N_(":material/check: same"),
    "changed": N_(":material/edit: changed"),
    "gone": N_(":material/remove: gone"),
    "new": N_(":material/add: new"),
}
RERUN = "asked-again"
SHARED_PAGE = "shared"

Action = Callable[[uuid.UUID, uuid.UUID | None], None]


def answer_menu(message: types.ChatMessage) -> None:
    """Show the menu of an answer."""
    actions: dict[str, Action] = {N_("Copy"): _copy, N_("Save as …"): _save, N_("Ask again"): _ask_again}
    _menu(actions, message.conversation_id, message.id)


def conversation_menu(conversation_id: uuid.UUID | None, messages: Sequence[types.ChatMessage]) -> None:
    """Show the menu of a conversation that has an answer."""
    if conversation_id and any(message.response for message in messages):
        _menu({N_("Copy"): _copy, N_("Save as …"): _save}, conversation_id, None)


def _menu(actions: dict[str, Action], conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
    if session.requires_login():
        actions = {**actions, N_("Share"): _share}
    choice = st.menu_button(
        _("Export") if message_id else _("Export chat"),
        list(actions),
        format_func=_,
        icon=":material/ios_share:",
        key=f"take-{message_id or conversation_id}",
        type="tertiary",
    )
    if choice:
        st.session_state.pop(RERUN, None)
        actions[choice](conversation_id, message_id)


def _engine(conversation_id: uuid.UUID) -> RAGEngine:
    return session.own_engine().for_chat(conversation_id)


@dialog("Copy", width="medium")
def _copy(conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
    with error_boundary():

        def names(key: ExportFormat) -> str:
            return _(COPIES[key])

        chosen = (
            st.radio(_("As"), list(COPIES), format_func=names, horizontal=True, label_visibility="collapsed") or "text"
        )
        file = _engine(conversation_id).answers.export(conversation_id, chosen, message_id, say=translate_message)
        st.code(file.content.decode("utf-8"), language=None, wrap_lines=True, height=360)


@dialog("Save as")
def _save(conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
    with error_boundary():
        chosen = (
            st.radio(_("Format"), list(FILES), format_func=lambda key: _(FILES[key]), label_visibility="collapsed")
            or "pdf"
        )
        st.caption(_(DESCRIPTIONS[chosen]))
        engine = _engine(conversation_id)
        with st.spinner(_("Creating the file …")):
            file = engine.answers.export(conversation_id, chosen, message_id, say=translate_message)
        st.download_button(
            _("Download"),
            file.content,
            file.name,
            file.mime_type,
            icon=":material/download:",
            type="primary",
            on_click="ignore",
        )


@dialog("Ask again", width="medium")
def _ask_again(conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
    with error_boundary():
        engine = _engine(conversation_id)
        if RERUN not in st.session_state and message_id:
            with st.spinner(_("Asking again with the same settings …")):
                st.session_state[RERUN] = engine.answers.rerun(conversation_id, message_id)
        again: types.Rerun = st.session_state[RERUN]
        with st.container(key="asked-again"):
            st.markdown(f"**{escape(translate_message(again.summary))}**")
            for claim in again.claims:
                st.markdown(_(STATES[claim.state]))
                st.text(claim.after or claim.before or "")
                if claim.state == "changed" and claim.before != claim.after:
                    st.caption(_("Was: {before}").format(before=escape(claim.before or "")))
        if not again.same and st.button(_("Save the new answer to the chat"), type="primary"):
            question = again.response.provenance.question if again.response.provenance else ""
            engine.chats.append(conversation_id, "user", question)
            engine.chats.append(conversation_id, "assistant", again.response.answer, again.response)
            st.rerun()


@dialog("Share")
def _share(conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
    with error_boundary():
        engine, known = session.own_engine(), _people(conversation_id)
        st.caption(
            _("They can read this answer as long as they can read its collection.")
            if message_id
            else _("They can read this conversation as long as they can read its collection.")
        )
        for link in engine.store.answer_links.list(conversation_id):
            if link.message_id == message_id:
                _link_row(link, people_picker.display_name(known, link.grantee_kind, link.grantee))
        with st.form("show-others", clear_on_submit=True, border=False):
            grantee = people_picker.choose_person(_("Share with"), known.values())
            if st.form_submit_button(_("Share"), type="primary") and grantee:
                asked = {"grantee": grantee.id, "grantee_kind": grantee.kind, "message_id": message_id}
                engine.answers.share(conversation_id, asked)
                st.rerun(scope="fragment")


def _people(conversation_id: uuid.UUID) -> people_picker.People:
    """Return the people to share with, readers of the collection first."""
    engine = session.own_engine()
    conversation = engine.chats.get(conversation_id)
    shares = [] if conversation.index_owner else engine.sharing.list(str(conversation.index_id))
    readers = [(one.grantee_kind, one.grantee) for one in shares]
    if conversation.index_owner:
        readers.append(("user", conversation.index_owner))
    own = [types.Grantee(kind="group", id=group) for group in session.account().groups]
    colleagues = people_picker.merge_people(engine.sharing.colleagues())
    first = [colleagues.get(one) or types.Grantee(kind=one[0], id=one[1]) for one in readers]
    return people_picker.merge_people(first, colleagues.values(), own)


def _link_row(link: types.AnswerLink, called: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(escape(called))
        st.button(_("Stop sharing"), key=f"withdraw-{link.id}", on_click=_withdraw, args=[link.id])
    st.code(share_url(link.id), language=None)


def _withdraw(link_id: uuid.UUID) -> None:
    session.own_engine().answers.unshare(link_id)


def share_url(link_id: uuid.UUID) -> str:
    """Return the address of a shared link in this installation."""
    base = (st.context.url or "").partition("?")[0].rstrip("/")
    pages = {"chat", "library", "upload", "index", SHARED_PAGE}
    root = base.rpartition("/")[0] if base.rpartition("/")[2] in pages else base
    return f"{root}/{SHARED_PAGE}?link={link_id}"
