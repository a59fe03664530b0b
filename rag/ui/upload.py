"""The upload page: files in, and what becomes of each."""

import datetime as dt
import uuid
from typing import NamedTuple

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from rag import errors
from rag.types import UNFINISHED, Document, DocumentStatus, reading_of, told_parts
from rag.ui import session
from rag.ui.frame import door, empty
from rag.ui.losses import warn_of_losses
from rag.ui.text import plain, plural, size

KINDS = {
    "PDF": ["pdf"],
    "Word": ["docx", "odt", "rtf", "doc"],
    "PowerPoint": ["pptx", "odp", "ppt"],
    "Book": ["epub"],
    "Spreadsheets": ["xlsx", "xlsm", "xls", "ods", "csv", "tsv"],
    "Web page": ["html", "htm"],
    "Markdown": ["md", "markdown"],
    "Text": ["txt"],
    "Picture": ["png", "jpg", "jpeg", "tif", "tiff", "gif", "bmp", "webp", "heic", "heif", "avif"],
    "Mail": ["eml", "msg"],
    "ZIP": ["zip"],
}
"""What can be taken in, and the endings of its names."""
POLL_SECONDS = 0.8
PART_STEP = 0.1
"""From the place of a file to that of what was in it: well below the next file, however deep that is."""
STAGES = {
    DocumentStatus.QUEUED: ("schedule", "Waiting"),
    DocumentStatus.NEEDS_PASSWORD: ("lock", "Needs its password"),
    DocumentStatus.PARSING: ("description", "Reading"),
    DocumentStatus.EMBEDDING: ("scatter_plot", "Reading"),
    DocumentStatus.READY: ("check_circle", "Ready"),
    DocumentStatus.FAILED: ("error", "Failed"),
}


class Refusal(NamedTuple):
    """A file that was not taken in, and why: nothing can be done, or it is asked what to do.

    `duplicate_of` has its content already, in the trash or as an older version; `file` may be a new version of
    `version_of`, whose name it has.
    """

    name: str
    message: str
    duplicate_of: uuid.UUID | None = None
    in_trash: bool = False
    is_older: bool = False
    version_of: uuid.UUID | None = None
    file: UploadedFile | None = None


def room() -> None:
    """How much of their quota the user has taken up, where there is one."""
    storage = session.shared().accounts.storage(session.engine().user_id)
    if storage.quota_bytes is not None:
        st.caption(
            f"{size(storage.used_bytes)} of {size(storage.quota_bytes)} used. The trash and old versions count, too.",
            width="content",
        )


def drop_zone() -> None:
    """Take in files as they are dropped, and clear the field for the next ones."""
    for warning in session.shared().disk_warnings:
        st.warning(plain(warning), icon=":material/hard_drive:")
    turn = st.session_state.setdefault("upload-turn", 0)
    files = st.file_uploader(
        f"Drop files here: {', '.join(KINDS)}",
        accept_multiple_files=True,
        max_upload_size=session.engine().config.rag_parsing.max_file_mb,
        key=f"drop-{turn}",
    )
    if not files:
        return
    with st.spinner(f"Taking in {plural(len(files), 'file')} …"):
        for file in files:
            _take_in(file)
    st.session_state["upload-turn"] = turn + 1
    st.rerun()


def _uploaded() -> list[uuid.UUID]:
    """What this session brought in, in order."""
    uploaded: list[uuid.UUID] = st.session_state.setdefault("uploaded", [])
    return uploaded


def _refused() -> list[Refusal]:
    refused: list[Refusal] = st.session_state.setdefault("refused", [])
    return refused


def _take_in(file: UploadedFile) -> None:
    try:
        _uploaded().append(session.engine().documents.add(file, file.name, on_same_name="ask").id)
    except errors.SameNameError as error:
        _refused().append(_same_name(file, error))
    except errors.DuplicateError as error:
        _refused().append(_duplicate(file.name, error))
    except errors.Error as error:
        _refused().append(Refusal(file.name, error.message))


def _duplicate(name: str, error: errors.DuplicateError) -> Refusal:
    twin, in_trash = str(error.details.get("name", "another document")), bool(error.details.get("in_trash"))
    version = error.details.get("version")
    place = "in the trash already. Restore it?" if in_trash else "in the library already."
    if version and not in_trash:
        place = f"in the library already, as version {version}. Go back to that version?"
    document_id = uuid.UUID(str(error.details["document_id"]))
    is_older = bool(version) and not in_trash
    return Refusal(name, f"Same content as “{twin}”, which is {place}", document_id, in_trash, is_older)


def _same_name(file: UploadedFile, error: errors.SameNameError) -> Refusal:
    uploaded = dt.datetime.fromisoformat(str(error.details["created_at"])).astimezone()
    message = (
        f"New version of “{error.details['name']}” (version {error.details['version']}, uploaded "
        f"{uploaded:%-d %b %Y, %H:%M}), or a document of its own?"
    )
    return Refusal(file.name, message, version_of=uuid.UUID(str(error.details["document_id"])), file=file)


def progress() -> None:
    """Each file of this session and each unfinished one of the library; followed while there is work to be done."""
    busy = any(document.status in UNFINISHED for document in _documents())
    st.fragment(_rows, run_every=POLL_SECONDS if busy else None)(busy)


def _rows(followed: bool) -> None:
    with door():
        documents = _documents()
        busy = any(document.status in UNFINISHED for document in documents)
        if busy != followed:
            st.rerun()
        if not documents and not _refused():
            with empty(
                "draft",
                "Nothing uploaded yet",
                "Files you add appear here with their progress. You can leave this page meanwhile.",
            ):
                return
        for number, refusal in enumerate(_refused()):
            _refusal_row(number, refusal)
        for document in documents:
            _document_row(document)
        if any(document.searchable for document in documents):
            st.page_link("pages/chat.py", label="Ask about them", icon=":material/forum:")


def _documents() -> list[Document]:
    library = session.engine().documents.list()
    order: dict[uuid.UUID | None, float] = {document_id: number for number, document_id in enumerate(_uploaded())}
    for document in reversed(library):  # what was in an uploaded file stands below it
        if document.container_id in order:
            order.setdefault(document.id, order[document.container_id] - PART_STEP)
    shown = [document for document in library if document.id in order or document.status != DocumentStatus.READY]
    return sorted(shown, key=lambda document: order.get(document.id, -1), reverse=True)


def _document_row(document: Document) -> None:
    icon, stage = STAGES[document.status]
    with st.container(key=f"file-{document.status}-{document.id}", border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            version = f" (version {document.version})" if document.version > 1 else ""
            st.markdown(f":material/{icon}: **{plain(document.name)}**{version}", width="stretch")
            st.caption(f"{size(document.size)} · {_stage(document, stage)}", width="content")
            _actions(document)
        if document.status in UNFINISHED:
            st.progress(min(document.progress.done / max(document.progress.total, 1), 1.0))
        if document.container_name:
            st.caption(f":material/attach_file: in {plain(document.container_name)}")
        if document.error:
            st.caption(plain(document.error))
        if told := told_parts(document.parts):
            st.caption(plain(told))
        if document.failed_pages:
            st.caption(
                f"{plural(len(document.failed_pages), 'page')} could not be read: {_numbers(document.failed_pages)}"
            )
        warn_of_losses([document])
        if document.note:
            st.caption(plain(document.note))
        if document.status == DocumentStatus.NEEDS_PASSWORD:
            _password(document)


def _stage(document: Document, stage: str) -> str:
    if document.status == DocumentStatus.READY:
        return f"{plural(document.page_count, 'page')} · {plural(document.chunk_count, 'chunk')}"
    reading = reading_of(document)
    waits_in_line = document.status == DocumentStatus.QUEUED and not document.retry_after
    return f"{stage}: {reading}" if reading and not waits_in_line else stage


def _numbers(numbers: tuple[int, ...], most: int = 10) -> str:
    shown = ", ".join(str(number) for number in numbers[:most])
    return shown if len(numbers) <= most else f"{shown} …"


def _actions(document: Document) -> None:
    if document.status in UNFINISHED and st.button("Cancel", key=f"cancel-{document.id}", icon=":material/cancel:"):
        session.engine().documents.cancel([document.id])
        st.rerun(scope="fragment")
    if document.status == DocumentStatus.FAILED:
        if st.button("Retry", key=f"retry-{document.id}", icon=":material/refresh:"):
            session.engine().documents.retry(document.id)
            st.rerun(scope="fragment")
        if st.button("Remove", key=f"remove-{document.id}", icon=":material/delete:"):
            session.engine().documents.trash([document.id])
            st.rerun(scope="fragment")


def _password(document: Document) -> None:
    form = st.form(f"unlock-{document.id}", border=False)
    with form, st.container(horizontal=True, vertical_alignment="bottom"):
        password = st.text_input(
            "Password", type="password", label_visibility="collapsed", placeholder="Password of this file"
        )
        given = st.form_submit_button("Unlock", icon=":material/lock_open:")
    if given and password:
        try:
            session.engine().documents.unlock(document.id, password)
            st.rerun(scope="fragment")
        except errors.PasswordError as error:
            st.error(plain(error.message))


def _refusal_row(number: int, refusal: Refusal) -> None:
    icon = "help" if refusal.file else "content_copy" if refusal.duplicate_of else "block"
    with st.container(key=f"refused-{number}", border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f":material/{icon}: **{plain(refusal.name)}**", width="stretch")
            _offers(number, refusal)
            if st.button(":material/close:", key=f"dismiss-{number}", type="tertiary", help="Dismiss"):
                _dismiss(number)
        st.caption(plain(refusal.message))


def _offers(number: int, refusal: Refusal) -> None:
    """The ways out, of which the first is the likely one."""
    engine = session.engine()
    if refusal.file:
        if st.button("New version", key=f"version-{number}", icon=":material/history:", type="primary"):
            _answer(number, refusal, refusal.file, replaces=refusal.version_of)
        if st.button("Document of its own", key=f"own-{number}", icon=":material/note_add:"):
            _answer(number, refusal, refusal.file)
    if refusal.duplicate_of is None:
        return
    if refusal.in_trash and st.button("Restore", key=f"restore-{number}", icon=":material/restore_from_trash:"):
        engine.documents.restore([refusal.duplicate_of])
        _dismiss(number)
    if refusal.is_older and st.button("Go back", key=f"current-{number}", icon=":material/history:"):
        engine.versions.make_current(refusal.duplicate_of)
        _dismiss(number)


def _answer(number: int, refusal: Refusal, file: UploadedFile, replaces: uuid.UUID | None = None) -> None:
    """Take in a file that was asked about."""
    file.seek(0)
    try:
        _uploaded().append(session.engine().documents.add(file, file.name, replaces=replaces).id)
    except errors.Error as error:  # it changed meanwhile: say what is so now
        _refused()[number] = Refusal(refusal.name, error.message)
        st.rerun(scope="fragment")
    _dismiss(number)


def _dismiss(number: int) -> None:
    del _refused()[number]
    st.rerun(scope="fragment")
