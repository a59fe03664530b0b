"""Documents whose text was not kept completely: how much is missing, and where."""

from collections.abc import Iterable

import streamlit as st

from rag.types import Completeness, Document, Missing
from rag.ui.formatting import decimal, plain, plural
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
    """How much of a text was kept, and in lists below it where some is missing or read wrong, as Markdown."""
    parts = []
    if kept.kept_characters < kept.source_characters:
        parts.append(_missing(kept))
    if kept.has_word_errors:
        parts.append(_word_errors(kept))
    return "\n\n".join(parts)


def _missing(kept: Completeness) -> str:
    shown = [f"- {_place(missing)}" for missing in kept.missing[:MOST_PLACES]]
    if len(kept.missing) > MOST_PLACES:
        shown.append(plural(len(kept.missing) - MOST_PLACES, "- {count} more place", "- {count} more places"))
    return "\n".join(
        (_("{kept} characters were extracted. Missing:").format(kept=plain(said(kept.summary))), "", *shown)
    )


def _word_errors(kept: Completeness) -> str:
    told = _("{glued} of {words} words were glued to others, {split} were split:").format(
        glued=decimal(kept.glued_words), words=decimal(kept.words), split=decimal(kept.split_words)
    )
    shown = [
        f"- {plain(said(error.place))}: “{plain(error.read)}” → “{plain(error.expected)}”"
        for error in kept.word_errors[:MOST_PLACES]
    ]
    return "\n".join((told, "", *shown))


def _place(missing: Missing) -> str:
    return plural(
        missing.characters,
        "{place}: {count} characters, “{text}”",
        "{place}: {count} characters, “{text}”",
        place=plain(said(missing.place)),
        text=plain(missing.text),
    )
