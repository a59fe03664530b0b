"""Export, copy, re-run and share answers and conversations, and marked copies of the documents that they quote."""

import functools
import uuid
from collections.abc import Callable, Mapping
from pathlib import PurePath
from typing import Any

import streamlit as st

from rag import types
from rag.engine import RAGEngine
from rag.engine.library.pages import MarkedCopy
from rag.export import ExportFormat
from rag.ui import session
from rag.ui.components import download_button
from rag.ui.formatting import escape, join_names
from rag.ui.language import N_, _, ngettext
from rag.ui.library import sharing
from rag.ui.page_frame import dialog
from rag.ui.translated_messages import translate_message

FILES: dict[ExportFormat, tuple[str, str]] = {
    "pdf": ("PDF", N_("With verdicts, quotes and pictures.")),
    "docx": ("Word", N_("With verdicts, quotes and pictures; can be edited.")),
    "markdown": ("Markdown", N_("With verdicts, quotes and pictures; one file.")),
    "xlsx": (N_("Evidence table (Excel)"), N_("One row for each quote.")),
    "json": ("JSON", N_("Everything, for programs.")),
}
"""Name and content of each file format."""
COPIES: dict[ExportFormat, str] = {"text": N_("Plain text"), "clipping": "Markdown"}
STATES = {
    "same": N_(":material/check: same"),
    "changed": N_(":material/edit: changed"),
    "gone": N_(":material/remove: gone"),
    "new": N_(":material/add: new"),
}
COPY_HELP = N_("The quoted pages as a PDF, with the quotes highlighted.")
RERUN = "asked-again"
SHARED_PAGE = "shared"


def export_menu(conversation_id: uuid.UUID, message_id: uuid.UUID | None = None) -> None:
    """Show the menu of a conversation or of one of its answers."""
    actions: dict[str, Callable[[uuid.UUID, uuid.UUID | None], None]] = {N_("Copy"): _copy, N_("Save as …"): _save}
    if message_id:
        actions[N_("Ask again")] = _ask_again
    if session.requires_login():
        actions[N_("Share")] = _share
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
    formats = {_(label): key for key, label in COPIES.items()}
    chosen = formats[st.radio(_("As"), [*formats], horizontal=True, label_visibility="collapsed")]
    file = _engine(conversation_id).answers.export(conversation_id, chosen, message_id, say=translate_message)
    st.code(file.content.decode("utf-8"), language=None, wrap_lines=True, height=360)


@dialog("Save as")
def _save(conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
    formats = {_(label): (key, description) for key, (label, description) in FILES.items()}
    chosen, description = formats[st.radio(_("Format"), [*formats], label_visibility="collapsed")]
    st.caption(_(description))
    with st.spinner(_("Creating the file …")):
        file = _engine(conversation_id).answers.export(conversation_id, chosen, message_id, say=translate_message)
    download_button(_("Download"), file.content, file.name, file.mime_type, type="primary")


@dialog("Ask again", width="medium")
def _ask_again(conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
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
                st.caption(_("Was: {before}", before=escape(claim.before or "")))
    if not again.same and st.button(_("Save the new answer to the chat"), type="primary"):
        question = again.response.provenance.question if again.response.provenance else ""
        engine.store.conversations.append(conversation_id, "user", question)
        engine.store.conversations.append(conversation_id, "assistant", again.response.answer, again.response)
        st.rerun()


@dialog("Share")
def _share(conversation_id: uuid.UUID, message_id: uuid.UUID | None) -> None:
    engine, people = session.own_engine(), _people(conversation_id)
    st.caption(
        _("They can read this answer as long as they can read its collection.")
        if message_id
        else _("They can read this conversation as long as they can read its collection.")
    )
    for link in engine.store.answer_links.list(conversation_id):
        if link.message_id == message_id:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(escape(sharing.display_name(people, link.grantee_kind, link.grantee)))
                st.button(_("Stop sharing"), key=f"withdraw-{link.id}", on_click=_withdraw, args=[link.id])
            st.code(share_url(link.id), language=None)
    with st.form("show-others", clear_on_submit=True, border=False):
        grantee = sharing.choose_person(_("Share with"), people.values())
        if st.form_submit_button(_("Share"), type="primary") and grantee:
            request = {"grantee": grantee.id, "grantee_kind": grantee.kind, "message_id": message_id}
            engine.answers.share(conversation_id, request)
            st.rerun(scope="fragment")


def _people(conversation_id: uuid.UUID) -> sharing.People:
    """Return the people to share with, readers of the collection first."""
    engine = session.own_engine()
    conversation = engine.chats.get(conversation_id)
    shares = [] if conversation.index_owner else engine.sharing.list(str(conversation.index_id))
    readers = [(share.grantee_kind, share.grantee) for share in shares]
    if conversation.index_owner:
        readers.append(("user", conversation.index_owner))
    groups = [types.Grantee(kind="group", id=group) for group in session.account().groups]
    colleagues = sharing.merge_people(engine.sharing.colleagues())
    first = [colleagues.get((kind, name)) or types.Grantee(kind=kind, id=name) for kind, name in readers]
    return sharing.merge_people(first, colleagues.values(), groups)


def _withdraw(link_id: uuid.UUID) -> None:
    session.own_engine().answers.unshare(link_id)  # checks again who is logged in


def share_url(link_id: uuid.UUID) -> str:
    """Return the address of a shared link in this installation."""
    base = (st.context.url or "").partition("?")[0].rstrip("/")
    pages = {"chat", "library", "upload", "index", SHARED_PAGE}
    root = base.rpartition("/")[0] if base.rpartition("/")[2] in pages else base
    return f"{root}/{SHARED_PAGE}?link={link_id}"


# --- marked copies ----------------------------------------------------------------------------------


def offer_copy(response: types.AnswerResponse, message_id: uuid.UUID) -> None:
    """Show a button for the marked copies, unless `response` quotes nothing."""
    names = {hit.passage.document_id: hit.document_name for citation, hit in response.cited if citation.regions}
    icon = ":material/ink_highlighter:"
    if names and st.button(_("Marked copy"), icon=icon, key=f"marked-{message_id}", type="tertiary", help=_(COPY_HELP)):
        _preview(response, names, message_id)


@dialog("Marked copy", width="medium")
def _preview(response: types.AnswerResponse, names: Mapping[uuid.UUID, str], message_id: uuid.UUID) -> None:
    from streamlit_pdf_viewer import pdf_viewer  # importing declares its component, for which the app must run

    document_id = next(iter(names))
    if len(names) > 1:
        document_id = st.selectbox(
            _("Document"), list(names), format_func=names.__getitem__, label_visibility="collapsed"
        )
    pages = session.engine().pages
    copy = file = pages.marked(response, document_id, say=translate_message)
    with st.container(key="copy", height=400):
        pdf_viewer(
            copy.content,
            key=f"copy-{message_id}-{document_id}",  # the same key would keep showing another copy
            render_text=True,
            annotations=[_scroll_target(copy)],
            scroll_to_annotation=1,
            scroll_behavior="instant",
        )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        pages_text = ngettext(len(copy.page_numbers), "page {pages}", "pages {pages}")
        numbers = join_names([*map(str, copy.page_numbers)])
        st.text(f"{names[document_id]} · {pages_text.format(pages=numbers)}")
        if st.toggle(_("All pages"), help=_("The whole document, not only the quoted pages.")):
            file = pages.marked(response, document_id, whole=True, say=translate_message)
        download_button(
            _("Download"),
            functools.partial(pages.download, document_id, file),
            f"{PurePath(names[document_id]).stem} – " + _("marked") + ".pdf",
            "application/pdf",
            type="primary",
        )


def _scroll_target(copy: MarkedCopy) -> dict[str, Any]:
    """Return an invisible box at the first quote: the preview cannot scroll to real PDF annotations."""
    page = copy.page_numbers[0]
    regions = [highlight.region for highlight in copy.highlights if highlight.region.page_number == page]
    x0, y0, x1, y1 = min((rect for region in regions for rect in region.rects), key=lambda rect: rect.y0)
    return {"page": 1, "x": x0, "y": y0, "width": x1 - x0, "height": y1 - y0, "color": "transparent"}
