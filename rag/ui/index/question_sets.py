"""Question sets of the evaluation view: view, import, thin out and download."""

from typing import Any

import streamlit as st

from rag import evaluation
from rag.evaluation import Question
from rag.ui import session
from rag.ui.formatting import escape, n_questions, plural
from rag.ui.index.evaluation_labels import page_reference
from rag.ui.language import _
from rag.ui.page_frame import empty_state, error_boundary

MAX_FILE_MB = 20
CHOSEN = "question-set"
TABLE = "question-set-questions"


def question_sets() -> None:
    """Show the questions of a set, with import, download and removal."""
    sets = {one.name: one.count for one in session.engine().question_sets.list()}
    _add(list(sets))
    if not sets:
        text = _("Add a file, or rate an answer in the chat and save it as a question.")
        with empty_state("quiz", _("No question sets yet"), text):
            return
    if st.session_state.get(CHOSEN) not in sets:
        st.session_state.pop(CHOSEN, None)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen: str = st.selectbox(
            _("Set"),
            list(sets),
            format_func=lambda name: f"{name} ({n_questions(sets[name])})",
            key=CHOSEN,
        )
        questions = session.engine().question_sets.get(chosen)
        lines = "".join(question.model_dump_json(by_alias=True, exclude_defaults=True) + "\n" for question in questions)
        st.download_button(
            _("Download"), lines, f"{chosen}.jsonl", "application/jsonl", icon=":material/download:", on_click="ignore"
        )
        ids = [question.id for question in questions]
        st.button(_("Remove selected"), icon=":material/delete:", on_click=_remove, args=(chosen, ids))
    st.dataframe(
        [_row(question) for question in questions],
        key=TABLE,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        placeholder="–",
    )


def _row(question: Question) -> dict[str, Any]:
    return {
        _("question"): question.question,
        _("answer"): question.answer if question.answerable else _("has none"),
        _("expected"): page_reference(question.file_name, question.gold_pages)
        if question.gold_pages
        else question.file_name or None,
    }


def _remove(name: str, ids: list[str]) -> None:
    """Remove the selected questions from the set."""
    with error_boundary():
        for row in st.session_state[TABLE].selection.rows:
            session.engine().question_sets.remove(name, ids[row])


def _add(there: list[str]) -> None:
    with st.expander(_("Add questions from a file"), icon=":material/upload_file:", expanded=not there):
        with st.form("question-set-form", clear_on_submit=True, border=False):
            name = st.text_input(_("Name of the set"), placeholder=_("10-K basics"))
            file = st.file_uploader(
                _("Questions and their answers (JSONL)"), type=["jsonl"], max_upload_size=MAX_FILE_MB
            )
            is_added = st.form_submit_button(_("Add"), type="primary", icon=":material/add:")
        if is_added and not (name.strip() and file):
            st.info(_("Give a name and a file with questions."), icon=":material/upload_file:")
        elif is_added and file:
            with error_boundary():
                questions = evaluation.parse_questions(file.getvalue(), file.name)
                for question in questions:
                    session.engine().question_sets.add(name, question)
                st.session_state[CHOSEN] = name.strip()
                st.toast(
                    plural(
                        len(questions),
                        "{count} question added to {name}.",
                        "{count} questions added to {name}.",
                        name=escape(name),
                    )
                )
                st.rerun()
