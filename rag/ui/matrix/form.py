"""The form of a matrix: its name, documents and fields."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.formatting import distinct, escape, plural
from rag.ui.language import _
from rag.ui.matrix.field_table import edit_fields, fields_of_rows, row_of
from rag.ui.matrix.selection import MATRIX, engine_of
from rag.ui.matrix.templates import edit_templates
from rag.ui.translated_messages import translate_error

OPEN = "matrix-form"
"""Session key of the open form: `NEW`, or the id of the matrix being edited."""
NEW = "new"
INITIAL_DOCUMENTS = "matrix-given"
"""Session key of documents chosen on another page for a new matrix."""
INITIAL_FIELDS = "matrix-fields"
"""Session key of the `Initial` fields of the open form."""
BEFORE = "matrix-before"
"""Session key of the `FilledMatrix` being edited, as it was when the form was opened."""
SEEN = "matrix-seen-at"
"""Session key of when the matrix being edited was edited last, as far as the user was told."""
TEMPLATE = "matrix-template-taken"
"""Session key of the template whose fields were added last."""


class Initial(NamedTuple):
    """The fields with which the table of the form begins; another `turn` replaces what was typed."""

    turn: int = 0
    fields: tuple[types.FieldDefinition, ...] = ()


def is_open() -> bool:
    """Return whether a form replaces the table."""
    return st.session_state.get(OPEN) is not None


def open_form(to: str | uuid.UUID | None) -> None:
    """Open the form for a new matrix (`NEW`) or an existing one; None closes it."""
    st.session_state[OPEN] = to
    for key in (INITIAL_DOCUMENTS, BEFORE, SEEN, TEMPLATE):
        st.session_state.pop(key, None)
    begin_with(())


def start_with(document_ids: Sequence[uuid.UUID]) -> None:
    """Open the form of a new matrix about these documents."""
    open_form(NEW)
    st.session_state[INITIAL_DOCUMENTS] = list(document_ids)


def begin_with(fields: Sequence[types.FieldDefinition]) -> None:
    """Replace what the table of fields has."""
    before: Initial = st.session_state.get(INITIAL_FIELDS) or Initial()
    st.session_state[INITIAL_FIELDS] = Initial(before.turn + 1, tuple(fields))


def form_button() -> None:
    """Show the button that opens a new form or closes the open one."""
    label, icon, to = (_("Close"), "close", None) if is_open() else (_("New matrix"), "add", NEW)
    st.button(label, icon=f":material/{icon}:", on_click=open_form, args=(to,))


def show_form() -> None:
    """Show the form of a new matrix, or of the one being edited; of a colleague's only its fields."""
    opened = st.session_state[OPEN]
    engine = session.own_engine() if opened == NEW else engine_of(opened)
    if opened != NEW and BEFORE not in st.session_state:
        st.session_state[BEFORE] = engine.matrices.progress(opened)
    filled: types.FilledMatrix | None = st.session_state.get(BEFORE)
    if filled and filled.permission:
        request, chosen = dict[str, Any](), [document.id for document in filled.documents]
    elif request := _about(filled):
        chosen = request["document_ids"]
    else:
        st.info(_("No documents yet. Upload some of your own first."), icon=":material/upload_file:")
        return
    template = None if filled else _template_choice()
    rows = _fields(filled)
    pressed = _buttons(filled, can_suggest=bool(chosen))
    try:
        fields = fields_of_rows(rows)
    except errors.ValidationError as error:
        st.warning(escape(translate_error(error)), icon=":material/help:")
        return
    last: types.FieldTemplate | None = st.session_state.get(TEMPLATE)
    st.session_state[TEMPLATE] = template
    if template and template != last:
        kept = [field for field in fields if last is None or field not in last.fields]
        begin_with([*kept, *_missing(template.fields, kept)])
        st.rerun()
    elif pressed == "suggest":
        with st.spinner(_("Reading …")):
            added = _missing(engine.matrices.suggest_fields(chosen[0]).fields, fields)
        begin_with([*fields, *added])
        st.toast(plural(len(added), "{count} field was added.", "{count} fields were added."))
        st.rerun()
    elif pressed == "templates":
        edit_templates(fields, begin_with)
    elif pressed == "save":
        _save(filled, request, fields, has_documents=bool(chosen or (filled and not filled.documents)))


def _buttons(filled: types.FilledMatrix | None, *, can_suggest: bool) -> Literal["save", "suggest", "templates"] | None:
    """Show the buttons below the fields and return the one that was pressed."""
    label, icon = (_("Save"), "check") if filled else (_("Fill"), "play_arrow")
    if filled:
        text = _("New and changed fields are filled. Values of removed fields are deleted; corrections stay.")
        theirs = _("New and changed fields are filled; corrections stay. Only its owner removes fields.")
        st.caption(theirs if filled.permission else text)
    with st.container(horizontal=True):
        is_saved = st.button(label, type="primary", icon=f":material/{icon}:")
        is_suggested = st.button(
            _("Suggest from a document"),
            icon=":material/auto_awesome:",
            disabled=not can_suggest,
            help=_("Adds fields that the first document states."),
        )
        is_template = st.button(_("Templates"), icon=":material/bookmarks:")
    return "save" if is_saved else "suggest" if is_suggested else "templates" if is_template else None


def _about(filled: types.FilledMatrix | None) -> dict[str, Any]:
    """Show the name, documents and sharing of the user's own matrix, and return them; nothing without documents."""
    collection = types.DEFAULT_INDEX if session.engine().is_shared else session.collection()
    documents = _documents(filled, collection)
    if not documents and not filled:
        return {}
    labels = distinct({document.id: document.name for document in documents.values()})
    request: dict[str, Any] = {"name": _name(filled)}
    present = [document.id for document in filled.documents] if filled else st.session_state.get(INITIAL_DOCUMENTS)
    chosen = st.multiselect(
        _("Documents"),
        list(documents),
        default=[one for one in ([*documents][:1] if present is None else present) if one in documents],
        format_func=labels.__getitem__,
        key=f"matrix-documents-{st.session_state[OPEN]}",
    )
    follows, shared_with = _followed(filled, collection), _shared_with(filled, collection)
    request |= {"document_ids": chosen, "follows": follows, "index_name": shared_with}
    if filled is None and len(chosen) > types.PILOT_DOCUMENTS:
        text = _("Pilot on the first three documents")
        help_ = _("See what it finds and costs, improve the fields, then fill all.")
        request["pilot"] = types.PILOT_DOCUMENTS if st.checkbox(text, value=True, help=help_) else None
    return request


def _documents(filled: types.FilledMatrix | None, collection: str) -> dict[uuid.UUID, types.Document]:
    """Return the documents of the matrix, then those that can be filled now or when they have been read."""
    never = (types.DocumentStatus.FAILED, types.DocumentStatus.NEEDS_PASSWORD)
    others = [one for one in session.own_engine().documents.list(collection) if one.status not in never]
    return {document.id: document for document in [*(filled.documents if filled else ()), *others]}


def _name(filled: types.FilledMatrix | None) -> str:
    if filled:
        return st.text_input(_("Name"), filled.matrix.name, key=f"matrix-name-{filled.matrix.id}")
    return st.text_input(_("Name"), placeholder=_("Annual reports 2022"))


def _followed(filled: types.FilledMatrix | None, collection: str) -> dict[str, Any] | None:
    """Show whether new documents join by themselves, and return the collection and tags of those."""
    before = filled.matrix.follows if filled else None
    engine = session.own_engine()
    opened = st.session_state[OPEN]
    with st.container(horizontal=True, vertical_alignment="center"):
        text = _("New documents join by themselves")
        if not st.checkbox(text, value=before is not None, key=f"matrix-follows-{opened}"):
            return None
        index_name = str(before.index_id) if before else collection
        tags = [one.name for one in engine.documents.tags(index_name)]
        kept = before.tags if before else ()
        chosen = st.multiselect(
            _("with all of these tags"),
            [*dict.fromkeys([*kept, *tags])],
            default=kept,
            placeholder=_("All documents of this collection"),
            key=f"matrix-tags-{opened}",
            label_visibility="collapsed",
        )
    return {"index_name": index_name, "tags": chosen}


def _shared_with(filled: types.FilledMatrix | None, collection: str) -> str | None:
    """Show whether the matrix is shared with the collection of its documents, and return that."""
    before = filled.matrix.index_id if filled else None
    if before is None and (not session.has_team() or (filled is None and session.engine().is_shared)):
        return None
    present = before or (filled.documents[0].index_id if filled and filled.documents else None)
    names = {index.id: index.name for index in session.own_engine().indexes.list()}
    name = names.get(present, "") if present else collection
    help_ = _("Who may read the collection sees the matrix; who may write fills and reviews it and edits its fields.")
    key = f"matrix-shared-{st.session_state[OPEN]}"
    label = _("Share with the collection {name}", name=escape(name))
    is_shared = st.checkbox(label, before is not None, key=key, help=help_)
    return str(present or collection) if is_shared else None


def _template_choice() -> types.FieldTemplate | None:
    """Show the templates and return the one that is chosen."""
    templates = session.own_engine().templates.list()
    if session.engine().is_shared:
        templates += [one for one in session.engine().templates.list() if one.index_id]
    titles = [one.title if one.is_own or one.index_id else _(one.title) for one in templates]
    number = st.pills(
        _("Templates"),
        range(len(templates)),
        format_func=lambda number: escape(titles[number]),
        key="matrix-template",
    )
    return None if number is None else templates[number]


def _missing(
    fields: Sequence[types.FieldDefinition], present: Sequence[types.FieldDefinition]
) -> list[types.FieldDefinition]:
    """Return the fields of which none of the same name is present."""
    names = {field.name.casefold() for field in present}
    return [field for field in fields if field.name.casefold() not in names]


def _fields(filled: types.FilledMatrix | None) -> list[dict[str, Any]]:
    initial: Initial = st.session_state.get(INITIAL_FIELDS) or Initial()
    fields = initial.fields or (filled.matrix.fields if filled else ())
    return edit_fields(fields, f"matrix-fields-{st.session_state[OPEN]}-{initial.turn}")


def _save(
    filled: types.FilledMatrix | None,
    request: dict[str, Any],
    fields: Sequence[types.FieldDefinition],
    *,
    has_documents: bool,
) -> None:
    if not has_documents and not request.get("follows"):
        st.warning(_("Choose at least one document."), icon=":material/description:")
    elif not fields:
        st.warning(_("Write at least one field."), icon=":material/help:")
    else:
        if filled is None:
            named = {**request, "name": request["name"] or _("Matrix")}
            made = session.own_engine().matrices.create({**named, "fields": [one.model_dump() for one in fields]})
            st.session_state[MATRIX] = made.id
        elif not _save_changes(filled, request, fields):
            return
        open_form(None)
        st.rerun()


def _save_changes(
    before: types.FilledMatrix, request: Mapping[str, Any], fields: Sequence[types.FieldDefinition]
) -> bool:
    """Save what the user changed; if somebody else edited the matrix meanwhile, say what, and save it the next time."""
    matrices = engine_of(before.matrix.id).matrices
    now = matrices.progress(before.matrix.id)
    changes = _changes(before, now, request, fields)
    try:
        matrices.edit(before.matrix.id, {**changes, "seen_at": st.session_state.get(SEEN, before.matrix.edited_at)})
    except (errors.ConflictError, errors.ForbiddenError) as error:
        st.session_state[SEEN] = now.matrix.edited_at
        old, new = ({field.id: field for field in one.matrix.fields} for one in (before, now))
        edited = dict.fromkeys(one.name for one in (*new.values(), *old.values()) if old.get(one.id) != new.get(one.id))
        text = translate_error(error)
        if edited:
            names = ", ".join(edited)
            text += " " + _(
                "Edited there: {names}. A field that both of you edited will be as you wrote it.", names=names
            )
        st.warning(escape(text), icon=":material/group:")
        return False
    return True


def _changes(
    before: types.FilledMatrix,
    now: types.FilledMatrix,
    request: Mapping[str, Any],
    fields: Sequence[types.FieldDefinition],
) -> dict[str, Any]:
    """Return what the user changed, for the matrix as it is now: others may have edited it, and documents joined."""
    follows, ids = before.matrix.follows, [document.id for document in before.documents]
    old = {
        "name": before.matrix.name,
        "document_ids": ids,
        "follows": follows and {"index_name": str(follows.index_id), "tags": [*follows.tags]},
        "index_name": before.matrix.index_id and str(before.matrix.index_id),
    }
    changes = {key: value for key, value in request.items() if key not in old or value != old[key]}
    if "document_ids" in changes:
        chosen = changes["document_ids"]
        removed = {one.lineage_id for one in before.documents if one.id not in chosen}
        kept = [one.id for one in now.documents if one.lineage_id not in removed]
        changes["document_ids"] = [*kept, *(one for one in chosen if one not in ids)]
    shown = fields_of_rows(map(row_of, before.matrix.fields))
    if shown != [*fields]:
        theirs, known = {field.id: field for field in now.matrix.fields}, {field.id for field in shown}
        merged = [theirs.get(field.id) if field in shown else field for field in fields]  # None: deleted by others
        added = [field for field in now.matrix.fields if field.id not in known]
        changes["fields"] = [field.model_dump() for field in (*merged, *added) if field]
    return changes
