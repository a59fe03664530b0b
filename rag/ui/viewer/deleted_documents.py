"""What is shown of a cited document that was deleted."""

import streamlit as st

from rag import errors, types
from rag.ui import session
from rag.ui.formatting import escape, local_time
from rag.ui.language import _
from rag.ui.page_frame import empty_state


def show_trash_note(document: types.Document) -> None:
    """Say that a document is in the trash, if it is, and offer to restore it."""
    if document.deleted_at is None:
        return
    with st.container(key=f"in-trash-{document.id}", horizontal=True, vertical_alignment="center"):
        st.caption(
            _(
                ":material/delete: {name} is in the trash since {time}. It is not searched.",
                name=escape(document.name),
                time=local_time(document.deleted_at),
            )
        )
        refusal = session.read_only_reason()
        if st.button(_("Restore"), icon=":material/restore_from_trash:", disabled=bool(refusal), help=refusal):
            session.engine().documents.restore([document.id])
            st.rerun()


def show_purged(name: str, error: errors.NotFoundError) -> None:
    """Say in place of a document that it was deleted; `name` is how the answer that cites it calls it."""
    title = _("“{name}” was deleted", name=name) if name else _("This document was deleted")
    text = _("It was permanently deleted, or it is not shared with you any more.")
    if isinstance(error, errors.PurgedError):  # this user may know when
        text = _(
            "It was permanently deleted on {time}. Its pages are gone; answers keep the words that they quote.",
            time=local_time(error.purged_at),
        )
    empty_state("delete_forever", title, text, key="empty-document")
