"""Add files to the library and follow their progress."""

import datetime as dt
import uuid
from pathlib import PurePosixPath
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from rag import errors, types
from rag.ui import session
from rag.ui.chat import conversation_list
from rag.ui.components import accept_dropped_files, reveal
from rag.ui.formatting import date_time, escape, file_size, n_chunks, n_pages, plural
from rag.ui.language import N_, _
from rag.ui.library import document_metadata
from rag.ui.library.incomplete_documents import warn_if_incomplete
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_error, translate_message

KINDS = {
    "PDF": ["pdf"],
    "Word": ["docx", "odt", "rtf", "doc"],
    "PowerPoint": ["pptx", "odp", "ppt"],
    "EPUB": ["epub"],
    N_("Spreadsheets"): ["xlsx", "xlsm", "xls", "ods", "csv", "tsv"],
    N_("Web page"): ["html", "htm"],
    "Markdown": ["md", "markdown"],
    N_("Text"): ["txt"],
    N_("Picture"): ["png", "jpg", "jpeg", "tif", "tiff", "gif", "bmp", "webp", "heic", "heif", "avif"],
    N_("E-mail"): ["eml", "msg"],
    "ZIP": ["zip"],
}
"""File kinds that can be added, with their extensions."""
POLL_SECONDS = 0.8
QUESTIONS = '.st-key-unanswered :is([class*="st-key-refused-"], [class*="st-key-file-"])'
"""CSS selector of what the user must answer."""
PART_STEP = 0.1
"""Offset in the order of an attachment below its file, small enough to stay above the next file at any depth."""
STAGES = {
    types.DocumentStatus.QUEUED: ("schedule", N_("Waiting")),
    types.DocumentStatus.NEEDS_PASSWORD: ("lock", N_("Needs password")),
    types.DocumentStatus.PARSING: ("description", N_("Reading")),
    types.DocumentStatus.EMBEDDING: ("scatter_plot", N_("Indexing")),
    types.DocumentStatus.READY: ("check_circle", N_("Ready")),
    types.DocumentStatus.FAILED: ("error", N_("Failed")),
}


UNREADY = tuple(status for status in types.DocumentStatus if status is not types.DocumentStatus.READY)


class Refusal(NamedTuple):
    """A file that was not added, the reason, and what the user can do.

    `duplicate_of` has the same content, in the trash or as an older version; `file` may be a new version of
    `version_of`, which has the same name.
    """

    name: str
    message: str
    duplicate_of: uuid.UUID | None = None
    in_trash: bool = False
    is_older: bool = False
    version_of: uuid.UUID | None = None
    file: UploadedFile | None = None

    @property
    def is_question(self) -> bool:
        """Whether the user can choose what becomes of the file."""
        return self.file is not None or self.in_trash or self.is_older


def quota_usage() -> None:
    """Show how much of their quota the user has used, if there is one."""
    storage = session.installation().accounts.storage(session.engine().user_id)
    if storage.quota_bytes is not None:
        st.caption(
            _("{used_bytes} of {quota_bytes} used, including old versions and the trash.").format(
                used_bytes=file_size(storage.used_bytes), quota_bytes=file_size(storage.quota_bytes)
            ),
            width="content",
        )


def drop_zone() -> None:
    """Add dropped files, and reset the field for the next ones."""
    if refusal := session.read_only_reason():
        st.info(refusal, icon=":material/lock:")
        return
    for warning in session.installation().disk_warnings:
        st.warning(escape(translate_message(warning)), icon=":material/hard_drive:")
    turn = st.session_state.setdefault("upload-turn", 0)
    with st.container(horizontal=True, vertical_alignment="bottom", key="ways"):
        files = st.file_uploader(
            _("Drop or paste files anywhere on this page"),
            help=", ".join(map(_, KINDS)),
            accept_multiple_files=True,
            max_upload_size=session.engine().config.rag_parsing.max_file_mb,
            key=f"drop-{turn}",
        )
        files = [*files, *_folder(turn)]
        address = _address(turn) if session.installation().config.rag_web_addresses else None
    accept_dropped_files()
    if not files and not address:
        return
    with st.spinner(
        plural(len(files), "Adding {count} file …", "Adding {count} files …") if files else _("Downloading …")
    ):
        for file in files:
            _add(file)
        if address:
            _fetch(address)
    st.session_state["upload-turn"] = turn + 1
    st.rerun()


def _folder(turn: int) -> list[UploadedFile]:
    """Show a field for a folder and return its files."""
    with st.popover(_("Folder"), icon=":material/drive_folder_upload:"):
        files = st.file_uploader(
            _("All files in a folder and its subfolders"),
            accept_multiple_files="directory",
            max_upload_size=session.engine().config.rag_parsing.max_file_mb,
            key=f"folder-{turn}",
        )
    return [file for file in files if not PurePosixPath(file.name).name.startswith(".")]


def _address(turn: int) -> str | None:
    """Show a field for a web address and return what was entered."""
    with st.popover(_("Web address"), icon=":material/link:"), st.form(f"address-{turn}", border=False):
        address = st.text_input(_("Address of a file or web page"), placeholder="https://")
        st.caption(_("Pagelight downloads it once and keeps a copy."))
        if st.form_submit_button(_("Fetch"), type="primary", icon=":material/download:"):
            return address.strip() or None
    return None


def _fetch(address: str) -> None:
    try:
        _uploaded().append(session.engine().documents.fetch(address).id)
    except errors.DuplicateError as error:
        _refusals().append(_duplicate(address, error))
    except errors.Error as error:
        _refusals().append(Refusal(address, translate_error(error)))


def _uploaded() -> list[uuid.UUID]:
    """Return the ids that this session added, in order."""
    uploaded: list[uuid.UUID] = st.session_state.setdefault("uploaded", [])
    return uploaded


def _refusals() -> list[Refusal]:
    refused: list[Refusal] = st.session_state.setdefault("refused", [])
    return refused


def _add(file: UploadedFile) -> None:
    try:
        _uploaded().append(session.engine().documents.add(file, file.name, on_same_name="ask").id)
    except errors.SameNameError as error:
        _refusals().append(_same_name(file, error))
    except errors.DuplicateError as error:
        _refusals().append(_duplicate(file.name, error))
    except errors.Error as error:
        _refusals().append(Refusal(file.name, translate_error(error)))


def _duplicate(name: str, error: errors.DuplicateError) -> Refusal:
    twin = str(error.details.get("name") or _("another document"))
    in_trash = bool(error.details.get("in_trash"))
    version = error.details.get("version")
    message = _("Same content as “{name}”, which is already in the library.")
    if in_trash:
        message = _("Same content as “{name}” in the trash. Restore it?")
    elif version:
        message = _("Same content as version {version} of “{name}” in the library. Restore that version?")
    document_id = uuid.UUID(str(error.details["document_id"]))
    is_older = bool(version) and not in_trash
    return Refusal(name, message.format(name=twin, version=version), document_id, in_trash, is_older)


def _same_name(file: UploadedFile, error: errors.SameNameError) -> Refusal:
    uploaded = dt.datetime.fromisoformat(str(error.details["created_at"])).astimezone()
    message = _(
        "Is this a new version of “{name}” (version {version}, uploaded {time}) or a separate document?"
    ).format(
        name=error.details["name"],
        version=error.details["version"],
        time=date_time(uploaded, _("d MMM y, HH:mm")),
    )
    return Refusal(file.name, message, version_of=uuid.UUID(str(error.details["document_id"])), file=file)


def uploads() -> None:
    """Show each file of this session and each unfinished document; refresh while work is in progress."""
    busy = any(document.status in types.UNFINISHED for document in _documents())
    st.fragment(_rows, run_every=POLL_SECONDS if busy else None)(busy)


def _rows(followed: bool) -> None:
    with error_boundary():
        documents = _documents()
        busy = any(document.status in types.UNFINISHED for document in documents)
        if documents or _refusals():
            _files(documents, is_all_read=not busy)
        if busy != followed:  # last, so that no click is lost
            st.rerun()


def _files(documents: list[types.Document], *, is_all_read: bool) -> None:
    """Show what the user must answer, and below it in a scrolled list all other files."""
    refusals = [*enumerate(_refusals())]
    questions = [(number, refusal) for number, refusal in reversed(refusals) if refusal.is_question]
    locked = [document for document in documents if document.status is types.DocumentStatus.NEEDS_PASSWORD]
    if questions or locked:
        _open_questions(questions, locked)
    _actions_when_read(documents, is_all=is_all_read)
    with st.container(key=f"uploads-{st.session_state['upload-turn']}", gap="xsmall"):  # each upload scrolls it up
        for number, refusal in refusals:
            if not refusal.is_question:
                _refusal_row(number, refusal)
        for document in documents:
            if document not in locked:
                _document_row(document)


def _open_questions(questions: list[tuple[int, Refusal]], locked: list[types.Document]) -> None:
    """Show what the user must answer before a file is added or read, above everything that scrolls away."""
    with st.container(key="unanswered", gap="xsmall"):
        for number, refusal in questions:
            _refusal_row(number, refusal)
        for document in locked:
            _document_row(document)
        reveal(QUESTIONS, is_unsaved=any(refusal.file for _, refusal in questions))


def _actions_when_read(documents: list[types.Document], *, is_all: bool) -> None:
    """Show the actions on documents that have been read."""
    with st.container(horizontal=True, vertical_alignment="center", key="read"):
        can_ask = any(document.searchable for document in documents)
        if can_ask and st.button(_("Ask about these"), icon=":material/forum:"):
            these = [  # without those of former days whose password nobody gave
                document
                for document in documents
                if document.status is not types.DocumentStatus.NEEDS_PASSWORD or document.id in _uploaded()
            ]
            conversation_list.open_conversation(None, conversation_list.to_ask(these))
            st.switch_page("pages/chat.py")
        own = [document for document in documents if document.id in _uploaded()]
        if own and is_all and not session.read_only_reason() and st.button(_("Edit these"), icon=":material/edit:"):
            document_metadata.edit(own)
        if own and is_all and st.button(":material/close:", key="hide-read", type="tertiary", help=_("Hide")):
            _uploaded().clear()
            st.rerun()


def _documents() -> list[types.Document]:
    engine, uploaded = session.engine(), _uploaded()
    library = [document for status in UNREADY for document in engine.documents.list(status=status)]
    if uploaded:
        library += engine.documents.list(filters=types.Filters(document_ids=tuple(uploaded)))
        library += [part for part in engine.documents.attachments(*uploaded) if part.deleted_at is None]
    shown = {document.id: document for document in library}
    order: dict[uuid.UUID | None, float] = {document_id: number for number, document_id in enumerate(uploaded)}
    for document in sorted(shown.values(), key=lambda one: one.created_at):  # attachments go below their file
        if document.container_id in order:
            order.setdefault(document.id, order[document.container_id] - PART_STEP)
    return sorted(shown.values(), key=lambda document: order.get(document.id, -1), reverse=True)


def _document_row(document: types.Document) -> None:
    icon, stage = STAGES[document.status]
    with st.container(key=f"file-{document.status}-{document.id}", border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            version = _("version {number}").format(number=document.version)
            st.markdown(
                f":material/{icon}: **{escape(document.name)}**" + (f" ({version})" if document.version > 1 else ""),
                width="stretch",
            )
            st.caption(f"{file_size(document.size)} · {_stage(document, stage)}", width="content")
            _actions(document)
        share = document.progress.done / max(document.progress.total, 1)
        if document.status in types.UNFINISHED and share < 1:  # a full bar would say that it is ready
            st.progress(share)
        if document.container_name:
            st.caption(
                _(":material/attach_file: in {container_name}").format(container_name=escape(document.container_name))
            )
        if document.tags:
            st.caption(f":material/sell: {escape(', '.join(document.tags))}")
        if document.error:
            st.caption(escape(translate_message(document.error)))
        if told := types.parts_summary(document.parts):
            st.caption(escape(translate_message(told)))
        if document.failed_pages:
            st.caption(
                plural(
                    len(document.failed_pages),
                    "{count} page could not be read: {numbers}",
                    "{count} pages could not be read: {numbers}",
                    numbers=_numbers(document.failed_pages),
                )
            )
        warn_if_incomplete([document])
        if document.note:
            st.caption(escape(translate_message(document.note)))
        if document.status == types.DocumentStatus.NEEDS_PASSWORD:
            _password(document)


def _stage(document: types.Document, stage: str) -> str:
    if document.status == types.DocumentStatus.READY:
        pages = n_pages(document.page_count)
        chunks = n_chunks(document.chunk_count)
        return f"{pages} · {chunks}"
    reading = translate_message(types.reading_progress(document) or "")
    return reading[:1].upper() + reading[1:] or _(stage)


def _numbers(numbers: tuple[int, ...], most: int = 10) -> str:
    shown = ", ".join(str(number) for number in numbers[:most])
    return shown if len(numbers) <= most else f"{shown} …"


def _actions(document: types.Document) -> None:
    if document.status in types.UNFINISHED and st.button(
        _("Cancel"), key=f"cancel-{document.id}", icon=":material/cancel:"
    ):
        session.engine().documents.cancel([document.id])
        st.rerun()
    if document.status == types.DocumentStatus.FAILED:
        if st.button(_("Retry"), key=f"retry-{document.id}", icon=":material/refresh:"):
            session.engine().documents.retry(document.id)
            st.rerun()
        if st.button(_("Remove"), key=f"remove-{document.id}", icon=":material/delete:"):
            session.engine().documents.trash([document.id])
            st.rerun()


def _password(document: types.Document) -> None:
    form = st.form(f"unlock-{document.id}", border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        password = st.text_input(
            _("Password"), type="password", label_visibility="collapsed", placeholder=_("Password of this file")
        )
        given = st.form_submit_button(_("Unlock"), icon=":material/lock_open:")
    if given and password:
        try:
            session.engine().documents.unlock(document.id, password)
            st.rerun()
        except errors.PasswordError as error:
            st.error(escape(translate_error(error)))


def _refusal_row(number: int, refusal: Refusal) -> None:
    icon = "help" if refusal.file else "content_copy" if refusal.duplicate_of else "block"
    with st.container(key=f"refused-{number}", border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":material/{icon}: **{escape(refusal.name)}**", width="stretch")
            _resolutions(number, refusal)
            if st.button(":material/close:", key=f"dismiss-{number}", type="tertiary", help=_("Dismiss")):
                _dismiss(number)
        st.caption(escape(refusal.message))


def _resolutions(number: int, refusal: Refusal) -> None:
    """Show the possible resolutions, the most likely first."""
    engine = session.engine()
    if refusal.file:
        if st.button(_("New version"), key=f"version-{number}", icon=":material/history:", type="primary"):
            _add_resolved(number, refusal, refusal.file, replaces=refusal.version_of)
        if st.button(_("Separate document"), key=f"own-{number}", icon=":material/note_add:"):
            _add_resolved(number, refusal, refusal.file)
    if refusal.duplicate_of is None:
        return
    if refusal.in_trash and st.button(_("Restore"), key=f"restore-{number}", icon=":material/restore_from_trash:"):
        engine.documents.restore([refusal.duplicate_of])
        _dismiss(number)
    if refusal.is_older and st.button(_("Restore version"), key=f"current-{number}", icon=":material/history:"):
        engine.versions.make_current(refusal.duplicate_of)
        _dismiss(number)


def _add_resolved(number: int, refusal: Refusal, file: UploadedFile, replaces: uuid.UUID | None = None) -> None:
    """Add a file after the user has decided."""
    file.seek(0)
    try:
        _uploaded().append(session.engine().documents.add(file, file.name, replaces=replaces).id)
    except errors.Error as error:  # it changed meanwhile: show the new reason
        _refusals()[number] = Refusal(refusal.name, translate_error(error))
        st.rerun()
    _dismiss(number)


def _dismiss(number: int) -> None:
    del _refusals()[number]
    st.rerun()
