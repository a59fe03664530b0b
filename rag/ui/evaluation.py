"""The view of the index page that measures: questions in, figures and misses out; a worker does what lies between."""

import datetime as dt
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from rag import evaluation
from rag.evaluation import EvaluationScope, EvaluationSubject
from rag.types import Job
from rag.ui import session
from rag.ui.frame import door, empty
from rag.ui.text import plain, plural

POLL_SECONDS = 1.0
MAX_FILE_MB = 20
MOST_RUNS = 20
"""Earlier evaluations that can be looked at."""
ENOUGH_HITS = 5
"""A right page that comes later than this among the hits is a miss."""
SUBJECTS: dict[EvaluationSubject, str] = {"answers": "Answers", "retrieval": "Search"}
SCOPES: dict[EvaluationScope, str] = {"corpus": "All documents", "document": "Each question's own document"}
FORM = (
    "One JSON object a line: id, question, pdf (the file's name), gold_pages, and if they are known answer, evidence, "
    "and answerable: false where there is no answer."
)
SEARCH_MEASURES = {
    "mrr": "mean reciprocal rank",
    **{f"hit@{k}": f"a right page among the first {k}" for k in (1, 5)},
    **{f"page_recall@{k}": f"right pages among the first {k}" for k in (5, 10)},
    "evidence_coverage@5": "evidence within the first 5",
}
"""What a score of a search is called: the first k are places for “a right page”, distinct pages for “right pages”."""
NAMES = {"answers": evaluation.answers.MEASURES, "retrieval": SEARCH_MEASURES}
MISTAKES = {"refused": "refused", "answered": "has no answer", "other page": "other page"}


def evaluations() -> None:
    """Begin an evaluation, and look at this one or an earlier one."""
    _start()
    jobs = session.engine().jobs.list(kind="evaluation", limit=MOST_RUNS)
    if not jobs:
        with empty("quiz", "Nothing measured yet", "Bring questions whose answers you know: how many are found?"):
            return
    by_id = {job.id: job for job in jobs}
    chosen: uuid.UUID = st.selectbox(
        "Evaluation",
        list(by_id),
        format_func=lambda job_id: _label(by_id[job_id]),
        key=f"evaluation-{jobs[0].id}",  # a new one is the one to look at
        label_visibility="collapsed",
    )
    is_ended = by_id[chosen].finished_at is not None
    st.fragment(_show, run_every=None if is_ended else POLL_SECONDS)(chosen, is_ended)


def _start() -> None:
    with st.form("evaluation-form", clear_on_submit=True):
        file = st.file_uploader(
            "Questions and their answers (JSONL)", type=["jsonl"], max_upload_size=MAX_FILE_MB, help=FORM
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            subject = st.selectbox("What", list(SUBJECTS), format_func=SUBJECTS.__getitem__, width=160)
            scope = st.selectbox("Among", list(SCOPES), format_func=SCOPES.__getitem__, width=240)
            is_started = st.form_submit_button("Measure", type="primary", icon=":material/speed:")
    if is_started and file is None:
        st.info("Choose a file with questions.", icon=":material/upload_file:")
    elif is_started and file is not None:
        with door():
            questions = evaluation.parse_questions(file.getvalue(), file.name)
            session.engine().jobs.start_evaluation({"questions": questions, "subject": subject, "scope": scope})


def _label(job: Job) -> str:
    """To the second: a list whose entries read alike would open the first of them."""
    return f"{job.created_at.astimezone(_time_zone()):%d %b %Y, %H:%M:%S}"


def _time_zone() -> dt.tzinfo:
    """The reader's own."""
    offset = st.context.timezone_offset  # minutes, west of Greenwich positive
    return dt.UTC if offset is None else dt.timezone(-dt.timedelta(minutes=offset))


def _show(job_id: uuid.UUID, was_ended: bool) -> None:
    with door():
        job = session.engine().jobs.get(job_id)
        if (job.finished_at is not None) != was_ended:
            st.rerun()  # nothing is left to follow
        if job.finished_at is None:
            _going_on(job)
        elif job.status == "cancelled":
            st.info("Cancelled.", icon=":material/cancel:")
        elif job.error or job.result is None:
            st.error(plain(job.error or ""), icon=":material/error:")
        elif "subject" in job.result:
            _figures(job.result)
            _misses(job.result)
        else:
            st.info("An earlier version measured this. Measure again to see it here.", icon=":material/history:")


def _going_on(job: Job) -> None:
    done, total = job.progress.done, job.progress.total
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(done / max(total, 1), text=f"{done:,} of {plural(total, 'question')}" if total else "Waiting …")
        if st.button("Cancel", key=f"cancel-{job.id}", icon=":material/cancel:"):
            session.engine().jobs.cancel(job.id)
            st.rerun()
    if job.error:
        st.caption(plain(job.error))
    if job.retry_after:
        st.caption(f"Goes on at {job.retry_after.astimezone(_time_zone()):%H:%M:%S}.")


def _figures(result: Mapping[str, Any]) -> None:
    """Each mean with its interval, and how many questions it is of."""
    subject: EvaluationSubject = result["subject"]
    measures, intervals, counts = result["measures"], result["intervals"], result["counts"]
    rows = [
        {
            "measure": name,
            "mean": measures[measure],
            "95 % interval": _interval(intervals.get(measure)),
            "questions": counts[measure],
        }
        for measure, name in NAMES[subject].items()
        if measure in measures
    ]
    st.caption(_summary(result))
    st.dataframe(
        rows,
        hide_index=True,
        height="content",
        column_config={"mean": st.column_config.NumberColumn(format="%.3f", width=80)},
        placeholder="–",
    )


def _summary(result: Mapping[str, Any]) -> str:
    scope: EvaluationScope = result["scope"]
    subject: EvaluationSubject = result["subject"]
    parts = [SUBJECTS[subject], SCOPES[scope].lower(), plural(result["measures"]["questions"], "question")]
    parts += [f"{name} {value:.2f} s" for name, value in result.get("secondsPerAnswer", {}).items()]
    if result.get("sentences"):
        parts.append(", ".join(f"{count:,} {name}" for name, count in result["sentences"].items()))
    if result["missing"]:
        parts.append(f"not in the index: {', '.join(result['missing'])}")
    return plain(" · ".join(parts))


def _interval(ends: tuple[float, float] | None) -> str:
    return f"{ends[0]:.3f} – {ends[1]:.3f}" if ends else "–"


def _misses(result: Mapping[str, Any]) -> None:
    """The questions that went wrong: where their answer stands, and what was found or cited first instead."""
    rows = [row for question in result["questions"] if (row := _miss(question))]
    st.subheader(f"{len(rows):,} {'miss' if len(rows) == 1 else 'misses'}", anchor=False)
    if rows:
        st.dataframe(rows, hide_index=True, placeholder="–")


def _miss(question: Mapping[str, Any]) -> dict[str, Any] | None:
    """A row for a question that went wrong; None for the others, and for those that cannot be judged."""
    if "mistake" in question:
        if question["mistake"] is None:
            return None
        what = MISTAKES[question["mistake"]]
    else:
        rank = question["rank"]
        if not question["goldPages"] or (rank is not None and rank <= ENOUGH_HITS):
            return None
        what = f"rank {rank}" if rank else "not found"
    found = question["found"]
    return {
        "question": question["question"],
        "right": _place(question["pdf"], question["goldPages"]) if question["goldPages"] else "–",
        "first": _place(found["pdf"], [found["page"]]) if found else "–",
        "what": what,
    }


def _place(name: str, pages: Sequence[int]) -> str:
    return f"{name}, p. {', '.join(map(str, pages))}"
