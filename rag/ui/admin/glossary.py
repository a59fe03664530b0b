"""The glossary page: the user's vocabulary as a table and as a file, and a test field."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag import errors, vocabulary
from rag.ui import session
from rag.ui.formatting import escape, join_names
from rag.ui.index.query_understanding import vocabulary_title
from rag.ui.language import N_, _, translate_columns
from rag.ui.page_frame import error_boundary

FILE_NAME = "glossary.toml"
TERM, ALSO = "term", "also"
COLUMNS = {
    TERM: st.column_config.TextColumn(N_("Term"), width=190),
    ALSO: st.column_config.ListColumn(N_("Synonyms"), width=380, help=N_("Press Enter after each.")),
}
OTHERS = {
    "abbreviations": N_("abbreviations"),
    "derived": N_("derived figures"),
    "places": N_("places"),
    "items": N_("items of places"),
}
"""Fields of a vocabulary that only the file shows."""
MAX_ROWS = 16
"""A longer table scrolls within the window."""

Row = Mapping[str, Any]


# --- Words ------------------------------------------------------------------------------------------


def synonyms() -> None:
    """Show the synonyms as an editable table."""
    toml = session.engine().glossary.get()
    known = vocabulary.load(toml or vocabulary.NEW)
    kept = [{TERM: group.terms[0], ALSO: [*group.terms[1:]]} for group in known.synonyms]
    vocabulary.widener(toml)  # raises if a built-in vocabulary it extends is missing
    st.caption(_explanation(known))
    actions, refusal = st.container(horizontal=True), st.container()
    with st.container(key="words-table", height="stretch"):
        rows: Sequence[Row] = st.data_editor(
            kept or [{TERM: "", ALSO: []}],
            key=f"words-{_digest(toml)}-{st.session_state.setdefault('words-turn', 0)}",
            column_config=translate_columns(COLUMNS),
            num_rows="dynamic",
            hide_index=True,
            height="stretch" if len(kept) > MAX_ROWS else "content",
        )
    groups = groups_of(rows)
    is_changed = groups != groups_of(kept)
    with actions:
        is_saved = st.button(_("Save"), type="primary", icon=":material/check:", disabled=not is_changed)
        st.button(_("Discard"), disabled=not is_changed, on_click=_discard)
    if is_saved:
        with refusal, error_boundary():
            _save(vocabulary.with_synonyms(toml, _complete_groups(groups)))
            st.rerun()


def _explanation(known: vocabulary.Vocabulary) -> str:
    what = _("Terms in one row mean the same: a question with one also finds the others.")
    others = [_(name) for field, name in OTHERS.items() if getattr(known, field)]
    return what + " " + _("The file also has {others}.").format(others=join_names(others)) if others else what


def groups_of(rows: Iterable[Row]) -> list[list[str]]:
    """Return the distinct terms of each non-empty row."""
    groups = [[row.get(TERM) or "", *(row.get(ALSO) or ())] for row in rows]
    return [words for group in groups if (words := [*dict.fromkeys(filter(None, map(str.strip, group)))])]


def _complete_groups(groups: list[list[str]]) -> list[list[str]]:
    """Return `groups`, or raise a `ValidationError` if one has no synonym."""
    for group in groups:
        if len(group) == 1:
            raise errors.ValidationError(_("Add a synonym for “{group}” or remove its row.").format(group=group[0]))
    return groups


def _discard() -> None:
    st.session_state["words-turn"] += 1  # a new key forgets what was typed


def _digest(toml: str) -> str:
    """Return a key for the table of this glossary, so that edits of another one are not applied to it."""
    return hashlib.sha256(toml.encode()).hexdigest()[:16]


def _save(toml: str) -> None:
    session.engine().glossary.set(toml)
    st.toast(_("Saved. It applies from the next question on."), icon=":material/check:")


# --- File -------------------------------------------------------------------------------------------


def file() -> None:
    """Show the glossary file, with upload, download and removal."""
    toml = session.engine().glossary.get()
    st.caption(_("The whole glossary as a TOML file: synonyms, abbreviations, derived figures and places."))
    turn = st.session_state.setdefault("glossary-turn", 0)
    given = st.file_uploader(
        _("Drop a glossary here: TOML"), type=["toml"], max_upload_size=1, key=f"drop-glossary-{turn}"
    )
    if given is not None:
        with error_boundary():
            _save(_text(given.getvalue()))
            st.session_state["glossary-turn"] = turn + 1
            st.rerun()
    with st.container(horizontal=True):
        if toml:
            _download(_("Download"), toml, FILE_NAME)
            with st.popover(_("Remove"), icon=":material/delete:"):
                st.text(_("Only the built-in words are used then."))
                if st.button(_("Remove the glossary"), type="primary"):
                    session.engine().glossary.clear()
                    st.rerun()
        _download(_("Example"), vocabulary.example(), "example.toml")
    if toml:
        st.caption(_("Its places apply to documents read from now on. `pagelight reindex` reads all documents again."))
        with st.container(key="glossary-file", height=400, border=False):
            st.code(toml, language="toml", wrap_lines=True)


def _download(label: str, toml: str, name: str) -> None:
    st.download_button(label, toml, name, "application/toml", icon=":material/download:", on_click="ignore")


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise errors.ValidationError(_("The file is not UTF-8 text. Save it as UTF-8 and try again.")) from None


# --- A question -------------------------------------------------------------------------------------


def try_question() -> None:
    """Show the terms and places that vocabularies add to a question."""
    with st.container(border=True, key="trial"):
        st.subheader(_("Try a question"), anchor=False)
        question = st.text_input(
            _("Question"), placeholder=_("What is our quick ratio in FY23?"), label_visibility="collapsed"
        )
        if not question.strip():
            titles = join_names([vocabulary_title(trade.title) for trade in vocabulary.trades()])
            st.caption(
                _("See which terms your glossary and the built-in vocabularies add: {titles}.").format(titles=titles)
            )
            return
        found = session.engine().glossary.explain(question.strip())
        if not found:
            st.caption(_("No term matches: the question is searched unchanged."))
        for rewriting in found:
            if rewriting.kind != "landmark":
                _line(_("“{words}”").format(words=rewriting.found), rewriting.added, rewriting.trade)
        _landmarks([name for rewriting in found if rewriting.kind == "landmark" for name in rewriting.added])


def _line(found: str, added: Sequence[str], trade: str | None) -> None:
    with st.container(horizontal=True, vertical_alignment="top", gap="small"):
        st.markdown(f"**{escape(found)}**", width=170)
        with st.container(gap=None, width="stretch"):
            st.text(" · ".join(added))
            if trade:
                st.caption(escape(vocabulary_title(trade)))


def _landmarks(names: Sequence[str]) -> None:
    if not names:
        return
    with st.container(horizontal=True, gap="small"):
        st.markdown(_("**Looks in**"), width=170)
        with st.container(horizontal=True, gap="xsmall", width="stretch"):
            for name in names:
                st.badge(escape(name), icon=":material/bookmark:", color="blue")
