"""Report what of documents was not read as a person sees it."""

from collections.abc import Iterable

import streamlit as st

from rag import types
from rag.ui.formatting import decimal, escape, plural
from rag.ui.language import _
from rag.ui.translated_messages import translate_message

MAX_PLACES = 8


def is_incomplete(document: types.Document) -> bool:
    """Whether more than a negligible part of its text is known to be missing."""
    return document.completeness is not None and not document.completeness.is_complete


def warn_if_incomplete(documents: Iterable[types.Document]) -> None:
    """Report the missing text of `documents` with its places: a warning for each, or a caption if it is negligible.

    A caption also tells of text that is hidden or struck out.
    """
    for document in documents:
        kept = document.completeness
        if kept is None:
            continue
        for remark in kept.remarks:
            st.caption(_remark(remark))
        if kept.is_complete:
            if kept.missing_characters:
                st.caption(
                    plural(
                        kept.missing_characters,
                        "{count} of {total} characters is missing: {places}",
                        "{count} of {total} characters are missing: {places}",
                        total=decimal(kept.source_characters),
                        places="; ".join(map(_place, kept.missing[:MAX_PLACES])),
                    )
                )
            continue
        st.warning(
            _("**{name}** is incomplete: {loss}", name=escape(document.name), loss=missing_text(kept)),
            icon=":material/content_cut:",
        )


def _remark(remark: types.Remark) -> str:
    pages = ", ".join(map(str, remark.pages))
    if remark.kind == "hidden":
        return plural(
            remark.characters,
            "{count} character in the file is not visible on its page and proves nothing (pages: {pages}).",
            "{count} characters in the file are not visible on their pages and prove nothing (pages: {pages}).",
            pages=pages,
        )
    return plural(
        remark.characters,
        "{count} character is struck out and proves nothing (pages: {pages}).",
        "{count} characters are struck out and prove nothing (pages: {pages}).",
        pages=pages,
    )


def missing_text(kept: types.Completeness) -> str:
    """How much of a text was kept, and in a list below it what is missing, as Markdown."""
    if not kept.missing_characters:
        return ""
    heading = _("{kept} characters were extracted. Missing:", kept=escape(translate_message(kept.summary)))
    lines = [f"- {_place(missing)}" for missing in kept.missing[:MAX_PLACES]]
    if len(kept.missing) > MAX_PLACES:
        lines.append(plural(len(kept.missing) - MAX_PLACES, "- {count} more place", "- {count} more places"))
    return "\n".join((heading, "", *lines))


def _place(missing: types.Missing) -> str:
    return plural(
        missing.characters,
        "{place}: {count} character, “{text}”",
        "{place}: {count} characters, “{text}”",
        place=escape(translate_message(missing.place)),
        text=escape(missing.text),
    )
