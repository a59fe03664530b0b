"""Documents whose text was not kept completely: how much is missing, and where."""

from collections.abc import Iterable

import streamlit as st

from rag.types import Document, Missing
from rag.ui.text import plain

MOST_PLACES = 8


def is_incomplete(document: Document) -> bool:
    """Whether some of its text is known to be missing."""
    return document.completeness is not None and not document.completeness.is_complete


def warn_of_losses(documents: Iterable[Document]) -> None:
    """A warning for each of `documents` that is not complete, with the places where text is missing."""
    for document in documents:
        if document.completeness is None or document.completeness.is_complete:
            continue
        kept = document.completeness
        shown = [f"- {_place(missing)}" for missing in kept.missing[:MOST_PLACES]]
        if len(kept.missing) > MOST_PLACES:
            shown.append(f"- {len(kept.missing) - MOST_PLACES} more places")
        heading = f"**{plain(document.name)}** is not complete: {plain(kept.summary)} characters were kept. Missing:"
        st.warning("\n".join((heading, "", *shown)), icon=":material/content_cut:")


def _place(missing: Missing) -> str:
    return f"{plain(missing.place)}: {missing.characters:,} characters, “{plain(missing.text)}”"
