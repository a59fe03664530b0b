"""Documents whose text was not kept completely: how much is missing, and where."""

from collections.abc import Iterable

import streamlit as st

from rag.types import Completeness, Document, Missing
from rag.ui.formatting import plain, plural
from rag.ui.language import _
from rag.ui.translated_messages import said

MOST_PLACES = 8


def is_incomplete(document: Document) -> bool:
    """Whether some of its text is known to be missing."""
    return document.completeness is not None and not document.completeness.is_complete


def warn_of_losses(documents: Iterable[Document]) -> None:
    """A warning for each of `documents` that is not complete, with the places where text is missing."""
    for document in documents:
        if document.completeness is None or document.completeness.is_complete:
            continue
        st.warning(
            _("**{name}** is incomplete: {loss}").format(name=plain(document.name), loss=loss(document.completeness)),
            icon=":material/content_cut:",
        )


def loss(kept: Completeness) -> str:
    """How much of a text was kept, and in a list below it where some is missing, as Markdown."""
    shown = [f"- {_place(missing)}" for missing in kept.missing[:MOST_PLACES]]
    if len(kept.missing) > MOST_PLACES:
        shown.append(plural(len(kept.missing) - MOST_PLACES, "- {count} more place", "- {count} more places"))
    return "\n".join(
        (_("{kept} characters were extracted. Missing:").format(kept=plain(said(kept.summary))), "", *shown)
    )


def _place(missing: Missing) -> str:
    return plural(
        missing.characters,
        "{place}: {count} characters, “{text}”",
        "{place}: {count} characters, “{text}”",
        place=plain(said(missing.place)),
        text=plain(missing.text),
    )
