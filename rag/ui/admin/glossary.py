"""The glossary page: words of the user's house as a table and as a file, and what becomes of a question."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag import errors, vocabulary
from rag.ui import session
from rag.ui.formatting import listed, plain
from rag.ui.index.query_understanding import titled
from rag.ui.language import N_, _, labelled
from rag.ui.page_frame import door

FILE_NAME = "glossary.toml"
TERM, ALSO = "term", "also"
COLUMNS = {
    TERM: st.column_config.TextColumn(N_("Term"), width=190, max_chars=vocabulary.MAX_TERM_CHARACTERS),
    ALSO: st.column_config.ListColumn(N_("Synonyms"), width=380, help=N_("Press Enter after each.")),
}
OTHERS = {
    "abbreviations": N_("abbreviations"),
    "derived": N_("derived figures"),
    "places": N_("places"),
    "items": N_("items of places"),
}
"""What only the file shows, by the names of a vocabulary's fields."""
MOST_ROWS = 16
"""A longer table scrolls within the window; a shorter one ends with its last row."""

Row = Mapping[str, Any]


# --- Words ------------------------------------------------------------------------------------------


def words() -> None:
    """The synonyms, as a table to be changed."""
    toml = session.engine().glossary.get()
    known = vocabulary.load(toml or vocabulary.NEW)
    kept = [{TERM: group.terms[0], ALSO: [*group.terms[1:]]} for group in known.synonyms]
    vocabulary.widener(toml)  # raises if what it builds on has gone from the packaged vocabularies
    st.caption(_explained(known))
    actions, refusal = st.container(horizontal=True), st.container()
    with st.container(key="words-table", height="stretch"):
        rows: Sequence[Row] = st.data_editor(
            kept or [{TERM: "", ALSO: []}],
            key=f"words-{_digest(toml)}-{st.session_state.setdefault('words-turn', 0)}",
            column_config=labelled(COLUMNS),
            num_rows="dynamic",
            hide_index=True,
            height="stretch" if len(kept) > MOST_ROWS else "content",
        )
    groups = groups_of(rows)
    is_changed = groups != groups_of(kept)
    with actions:
        is_saved = st.button(_("Save"), type="primary", icon=":material/check:", disabled=not is_changed)
        st.button(_("Discard"), disabled=not is_changed, on_click=_discard)
    if is_saved:
        with refusal, door():
            _save(vocabulary.with_synonyms(toml, _whole(groups)))
            st.rerun()


def _explained(known: vocabulary.Vocabulary) -> str:
    what = _("A question that contains a term of a row is also searched with the row's other terms.")
    others = [_(name) for field, name in OTHERS.items() if getattr(known, field)]
    return f"{what} {_('The file also has {others}.').format(others=listed(others))}" if others else what


def groups_of(rows: Iterable[Row]) -> list[list[str]]:
    """The words of each row that has any, each once."""
    groups = [[row.get(TERM) or "", *(row.get(ALSO) or ())] for row in rows]
    return [words for group in groups if (words := [*dict.fromkeys(filter(None, map(str.strip, group)))])]


def _whole(groups: list[list[str]]) -> list[list[str]]:
    """`groups`, if each says which words mean the same."""
    for group in groups:
        if len(group) == 1:
            raise errors.ValidationError(_("Add a synonym for “{group}” or remove its row.").format(group=group[0]))
    return groups


def _discard() -> None:
    st.session_state["words-turn"] += 1  # a new key forgets what was typed


def _digest(toml: str) -> str:
    """A table of another glossary is another one: what was typed into the old one does not belong there."""
    return hashlib.sha256(toml.encode()).hexdigest()[:16]


def _save(toml: str) -> None:
    session.engine().glossary.set(toml)
    st.toast(_("Saved. It applies from the next question on."), icon=":material/check:")


# --- File -------------------------------------------------------------------------------------------


def file() -> None:
    """All of the glossary, as the file that it is: up, down, away."""
    toml = session.engine().glossary.get()
    st.caption(_("The whole glossary as a TOML file: synonyms, abbreviations, derived figures and places."))
    turn = st.session_state.setdefault("glossary-turn", 0)
    given = st.file_uploader(
        _("Drop a glossary here: TOML"), type=["toml"], max_upload_size=1, key=f"drop-glossary-{turn}"
    )
    if given is not None:
        with door():
            _save(_text(given.getvalue()))
            st.session_state["glossary-turn"] = turn + 1
            st.rerun()
    with st.container(horizontal=True):
        if toml:
            _download(_("Download"), toml, FILE_NAME)
            with st.popover(_("Remove"), icon=":material/delete:"):
                st.text(_("Questions will then use only the built-in vocabularies."))
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


def trial() -> None:
    """What a question is widened with and where it looks, by the glossary and the packaged vocabularies."""
    with st.container(border=True, key="trial"):
        st.subheader(_("Try a question"), anchor=False)
        question = st.text_input(
            _("Question"), placeholder=_("What is our quick ratio in FY23?"), label_visibility="collapsed"
        )
        if not question.strip():
            titles = listed([titled(trade.title) for trade in vocabulary.trades()])
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
        st.markdown(f"**{plain(found)}**", width=170)
        with st.container(gap=None, width="stretch"):
            st.text(" · ".join(added))
            if trade:
                st.caption(plain(titled(trade)))


def _landmarks(names: Sequence[str]) -> None:
    if not names:
        return
    with st.container(horizontal=True, gap="small"):
        st.markdown(_("**Looks in**"), width=170)
        with st.container(horizontal=True, gap="xsmall", width="stretch"):
            for name in names:
                st.badge(plain(name), icon=":material/bookmark:", color="blue")
