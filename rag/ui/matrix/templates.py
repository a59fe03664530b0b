"""The dialog in which the fields of a form are saved as a template or a file, or come from one."""

import json
from collections.abc import Callable, Sequence

import streamlit as st

from rag import errors, types
from rag.answering.fields.schemas import fields_of_schema, schema_of_fields
from rag.ui import session
from rag.ui.components import download_button
from rag.ui.formatting import escape
from rag.ui.language import N_, _
from rag.ui.page_frame import dialog, error_boundary

MAX_SCHEMA_MB = 1
NAME = "matrix-template-name"
"""Session key of the name of a template to save."""
SHARED = "matrix-template-shared"
"""Session key of whether it is shared with the open collection."""


@dialog("Templates")
def edit_templates(
    fields: Sequence[types.FieldDefinition], begin_with: Callable[[Sequence[types.FieldDefinition]], None]
) -> None:
    """Save the `fields` of the form, or `begin_with` those of a file; delete templates of one's own."""
    templates = session.own_engine().templates
    own = [template.name for template in templates.list() if template.is_own]

    @error_boundary()
    def save() -> None:
        title = str(st.session_state[NAME]).strip() or _("Fields")
        request: dict[str, object] = {"fields": [field.model_dump() for field in fields]}
        if st.session_state.get(SHARED):  # else one that is shared stays so
            request["index_name"] = session.collection()
        templates.save(title, request)

    with st.form("matrix-template-form", border=False):
        name = st.text_input(_("Name of the template"), placeholder=_("Loan agreements"), key=NAME)
        if session.has_team() and not session.engine().is_shared:
            st.checkbox(_("Share with the collection {name}", name=escape(session.collection())), key=SHARED)
        label, icon = _("Save these fields"), ":material/bookmark_add:"
        if st.form_submit_button(label, icon=icon, disabled=not fields, on_click=save):
            st.rerun()
    schema = json.dumps(schema_of_fields(fields, name or _("Fields")), ensure_ascii=False, indent=2) if fields else ""
    download_button(
        _("JSON Schema"), schema.encode(), "fields.schema.json", "application/schema+json", disabled=not fields
    )
    file = st.file_uploader(_("Fields of a JSON Schema"), type="json", max_upload_size=MAX_SCHEMA_MB)
    if file is not None:
        begin_with(fields_of_schema(_parsed(file.getvalue())))
        st.rerun()
    for name in own:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(escape(name), width="stretch")
            if st.button(_("Delete"), key=f"matrix-template-delete-{name}", icon=":material/delete:"):
                templates.delete(name)
                st.rerun(scope="fragment")


def _parsed(content: bytes) -> dict[str, object]:
    try:
        schema = json.loads(content)
    except ValueError as error:
        raise errors.ValidationError(N_("The file is no JSON.")) from error
    if not isinstance(schema, dict):
        raise errors.ValidationError(N_("The file is no JSON Schema of an object."))
    return schema
