"""Evaluation view of the index page: start evaluations, show results and misses.

Further tabs: question sets, comparison of two runs, and history.
"""

import uuid
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import streamlit as st

from rag import evaluation, types
from rag.evaluation import EvaluationScope, EvaluationSubject
from rag.ui import session
from rag.ui.formatting import date_time, decimal, escape, n_questions, plural
from rag.ui.index import evaluation_runs, question_sets
from rag.ui.index.evaluation_labels import (
    MEASURE_NAMES,
    SCOPES,
    SUBJECTS,
    local_time,
    outcome,
    page_reference,
    scope_name,
    timestamp,
)
from rag.ui.language import N_, _
from rag.ui.numeric_tables import format_numbers, format_score
from rag.ui.page_frame import choose_view, empty_state, error_boundary
from rag.ui.translated_messages import translate_message

POLL_SECONDS = 1.0
MAX_FILE_MB = 20
MAX_NAME_CHARS = 100
MAX_RUNS = 20
"""Earlier evaluations offered for display."""
ENOUGH_HITS = 5
"""A right page below this rank counts as a miss."""
FORM = N_(
    "One JSON object a line: id, question, pdf (the file's name), gold_pages, and if they are known answer, evidence, "
    "and answerable: false where there is no answer."
)


def evaluations() -> None:
    """Show the evaluation tabs."""
    views = {
        N_("Run"): _run,
        N_("Questions"): question_sets.question_sets,
        N_("Compare"): evaluation_runs.comparison,
        N_("History"): evaluation_runs.history,
    }
    choose_view(views, key="evaluation-view")()


def _run() -> None:
    """Start an evaluation and show this or an earlier one."""
    _start()
    jobs = session.engine().jobs.list(kind="evaluation", limit=MAX_RUNS)
    if not jobs:
        with empty_state(
            "quiz", _("No evaluations yet"), _("Upload questions with known answers to measure how many are found.")
        ):
            return
    by_id = {job.id: job for job in jobs}
    chosen: uuid.UUID = st.selectbox(
        _("Evaluation"),
        list(by_id),
        format_func=lambda job_id: timestamp(by_id[job_id].created_at),
        key=f"evaluation-{jobs[0].id}",  # a new evaluation is selected at once
        label_visibility="collapsed",
    )
    is_ended = by_id[chosen].finished_at is not None
    st.fragment(_show, run_every=None if is_ended else POLL_SECONDS)(chosen, is_ended)


def _start() -> None:
    kept = [one.name for one in session.engine().question_sets.list()]
    with st.form("evaluation-form", clear_on_submit=True):
        chosen = st.selectbox(_("Question set"), kept, index=None, placeholder=_("None: use a file")) if kept else None
        file = st.file_uploader(
            _("Questions and their answers (JSONL)"), type=["jsonl"], max_upload_size=MAX_FILE_MB, help=_(FORM)
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            subject = st.selectbox(_("What"), list(SUBJECTS), format_func=lambda key: _(SUBJECTS[key]), width=160)
            scope = st.selectbox(_("Search in"), list(SCOPES), format_func=lambda key: _(SCOPES[key]), width=240)
            is_started = st.form_submit_button(_("Run evaluation"), type="primary", icon=":material/speed:")
    if is_started and file is None and chosen is None:
        st.info(_("Choose a file with questions."), icon=":material/upload_file:")
    elif is_started:
        with error_boundary():
            engine = session.engine()
            questions = [*engine.question_sets.get(chosen)] if chosen else []
            questions += evaluation.parse_questions(file.getvalue(), file.name) if file else []
            named = ", ".join(name for name in (chosen, file and PurePath(file.name).stem) if name)
            request = {"questions": questions, "subject": subject, "scope": scope, "name": _as_name(named)}
            engine.jobs.start_evaluation(request)


def _as_name(given: str) -> str | None:
    """Return a valid name for runs on the same questions."""
    kept = "".join(char for char in given if char.isprintable() and char not in "/\\")
    return kept[:MAX_NAME_CHARS].strip(" .") or None


def _show(job_id: uuid.UUID, was_ended: bool) -> None:
    with error_boundary():
        job = session.engine().jobs.get(job_id)
        if (job.finished_at is not None) != was_ended:
            st.rerun()  # done: stop refreshing
        if job.finished_at is None:
            _progress(job)
        elif job.status == "cancelled":
            st.info(_("Cancelled."), icon=":material/cancel:")
        elif job.error or job.result is None:
            st.error(escape(translate_message(job.error or "")), icon=":material/error:")
        elif "subject" in job.result:
            _measures(job.result)
            _misses(job.result)
        else:
            st.info(
                _("This evaluation was run by an earlier version. Run it again to see it here."),
                icon=":material/history:",
            )


def _progress(job: types.Job) -> None:
    done, total = job.progress.done, job.progress.total
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(
            done / max(total, 1),
            text=plural(total, "{done} of {count} question", "{done} of {count} questions", done=decimal(done))
            if total
            else _("Waiting …"),
        )
        if st.button(_("Cancel"), key=f"cancel-{job.id}", icon=":material/cancel:"):
            session.engine().jobs.cancel(job.id)
            st.rerun()
    if job.error:
        st.caption(escape(translate_message(job.error)))
    if job.retry_after:
        st.caption(_("Continues at {time}.").format(time=date_time(local_time(job.retry_after), "HH:mm:ss")))


def _measures(result: Mapping[str, Any]) -> None:
    """Show each mean with its interval and number of questions."""
    subject: EvaluationSubject = result["subject"]
    measures, intervals, counts = result["measures"], result["intervals"], result["counts"]
    rows = [
        {
            _("metric"): _(name),
            _("mean"): measures[measure],
            _("95 % interval"): _interval(intervals.get(measure)),
            _("questions"): counts[measure],
        }
        for measure, name in MEASURE_NAMES[subject].items()
        if measure in measures
    ]
    st.caption(_summary(result))
    st.dataframe(
        format_numbers(rows, {_("mean"): format_score}),
        hide_index=True,
        height="content",
        column_config={_("mean"): st.column_config.NumberColumn(width=80)},
        placeholder="–",
    )


def _summary(result: Mapping[str, Any]) -> str:
    scope: EvaluationScope = result["scope"]
    subject: EvaluationSubject = result["subject"]
    parts = [
        _(SUBJECTS[subject]),
        scope_name(scope),
        n_questions(result["measures"]["questions"]),
    ]
    parts += [f"{_(name)} {decimal(value, 2)} s" for name, value in result.get("secondsPerAnswer", {}).items()]
    if result.get("sentences"):
        parts.append(", ".join(f"{decimal(count)} {_(name)}" for name, count in result["sentences"].items()))
    if result["missing"]:
        parts.append(_("not in the index: {names}").format(names=", ".join(result["missing"])))
    return escape(" · ".join(parts))


def _interval(ends: tuple[float, float] | None) -> str:
    return f"{decimal(ends[0], 3)} – {decimal(ends[1], 3)}" if ends else "–"


def _misses(result: Mapping[str, Any]) -> None:
    """List the questions that went wrong, with what was found or cited first instead."""
    rows = [row for question in result["questions"] if (row := _miss(question))]
    st.subheader(plural(len(rows), "{count} miss", "{count} misses"), anchor=False)
    if rows:
        st.dataframe(rows, hide_index=True, placeholder="–")


def _miss(question: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a row for a question that went wrong; None for others and for those that cannot be judged."""
    if "mistake" in question:
        if question["mistake"] is None:
            return None
    else:
        rank = question["rank"]
        if not question["goldPages"] or (rank is not None and rank <= ENOUGH_HITS):
            return None
    found = question["found"]
    return {
        _("question"): question["question"],
        _("expected"): page_reference(question["pdf"], question["goldPages"]) if question["goldPages"] else "–",
        _("found first"): page_reference(found["pdf"], [found["page"]]) if found else "–",
        _("outcome"): outcome(question),
    }
