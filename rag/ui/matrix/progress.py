"""How far a matrix is filled and reviewed, what its pilot found and cost, and the buttons to go on."""

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Literal

import streamlit as st

from rag import types
from rag.ui.formatting import decimal, escape, n_documents, plural
from rag.ui.language import _
from rag.ui.matrix.selection import engine_of
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message

POLL_SECONDS = 1.0
CENT = 0.01
"""In dollars."""


def show_progress(filled: types.FilledMatrix) -> None:
    """Show the progress of the job, what the pilot gave, or what is left to fill."""
    job = filled.job
    if job is not None and job.finished_at is None:
        st.fragment(_job, run_every=POLL_SECONDS)(filled.matrix.id, job.progress.done)
        return
    pilot = filled.pilot_rows
    reading = [document.lineage for document, _row in pilot if document.status in types.UNFINISHED]
    if reading:
        st.fragment(_reading, run_every=POLL_SECONDS)(filled.matrix.id, reading)
    if job is not None and job.status == "failed":
        st.error(escape(translate_message(job.error or "")), icon=":material/error:")
    is_pilot = len(pilot) < len(filled.documents)
    if filled.to_fill:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.text(
                plural(
                    filled.to_fill,
                    "{count} value is missing or out of date.",
                    "{count} values are missing or out of date.",
                )
            )
            kind: Literal["primary", "secondary"] = "secondary" if is_pilot else "primary"
            if filled.may_write and st.button(_("Fill now"), icon=":material/refresh:", type=kind):
                engine_of(filled.matrix.id).matrices.fill(filled.matrix.id)
                st.rerun()
    if filled.need_model:
        st.caption(
            plural(
                filled.need_model,
                "{count} value needs a language model: connect one in the settings.",
                "{count} values need a language model: connect one in the settings.",
            )
        )
    if is_pilot:
        _pilot(filled, [row for _document, row in pilot])


def review_progress(filled: types.FilledMatrix) -> str:
    """Say how many documents are reviewed: `37 of 40 documents reviewed · 5 values to review`."""
    reviewed = _(
        "{done} of {documents} reviewed",
        done=decimal(filled.reviewed_documents),
        documents=n_documents(len(filled.documents)),
    )
    count = filled.to_review
    left = plural(count, "{count} value to review", "{count} values to review")
    return f"{reviewed} · {left}" if count else reviewed


def _job(matrix_id: uuid.UUID, shown: int) -> None:
    """Show the job's progress; rerun the page for new values."""
    with error_boundary():
        engine = engine_of(matrix_id)
        matrices = engine.matrices
        job = matrices.job(matrix_id)
        if job is None or job.finished_at is not None:
            st.rerun()
        done, total = job.progress.done, job.progress.total
        values = plural(total, "{count} value", "{count} values")
        text = _("{done} of {values}", done=decimal(done), values=values) if total else _("Waiting …")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.progress(done / max(total, 1), text=text)
            if engine.may_write and st.button(_("Cancel"), key=f"cancel-{job.id}", icon=":material/cancel:"):
                matrices.cancel(matrix_id)
                st.rerun()
        if job.error:
            st.caption(escape(translate_message(job.error)))
        if done > shown:  # last, so that no click is lost
            st.rerun()


def _reading(matrix_id: uuid.UUID, lineage_ids: Sequence[uuid.UUID]) -> None:
    """Wait for documents, whose rows are filled when they have been read."""
    with error_boundary():
        engine = engine_of(matrix_id)
        job = engine.matrices.job(matrix_id)
        if job and job.finished_at is None:
            st.rerun()
        reading = [one for one in engine.store.matrices.documents(lineage_ids) if one.status in types.UNFINISHED]
        if len(reading) < len(lineage_ids):
            st.rerun()
        st.caption(
            plural(
                len(reading),
                "{count} document is being read and will be filled next.",
                "{count} documents are being read and will be filled next.",
            )
        )


# --- the pilot --------------------------------------------------------------------------------------


def _pilot(filled: types.FilledMatrix, rows: Sequence[types.RowProgress]) -> None:
    """Show what the pilot found and cost, what all documents will take, and the button that fills them."""
    found = _(
        "{found} of {values} found, {open} to review.",
        found=decimal(sum(row.found for row in rows)),
        values=plural(sum(row.filled for row in rows), "{count} value", "{count} values"),
        open=decimal(sum(len(row.to_review) for row in rows)),
    )
    pilot_of = _(
        "Pilot: {pilot} of {documents}.", pilot=decimal(len(rows)), documents=n_documents(len(filled.documents))
    )
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="matrix-pilot"):
        st.text(f"{pilot_of} {found} {_cost(filled)}".strip(), width="stretch")
        if filled.may_write and st.button(_("Fill all documents"), icon=":material/play_arrow:", type="primary"):
            engine_of(filled.matrix.id).matrices.fill(filled.matrix.id, {"pilot": None})
            st.rerun()


def _cost(filled: types.FilledMatrix) -> str:
    """Say what the last run took, and what the cells that are left will take at that rate.

    Empty without figures, or if that run only filled in what was missing: its few cells tell no rate.
    """
    job = filled.job
    result = (job and job.result) or {}
    count = int(result.get("filled", 0))
    is_small = 2 * count < sum(row.filled for row in filled.rows)
    if job is None or not count or is_small or job.started_at is None or job.finished_at is None:
        return ""
    usage = types.Usage.model_validate(result["usage"])
    spent = _amount(usage.input_tokens + usage.output_tokens, usage.cost_usd, job.finished_at - job.started_at)
    share = sum(len(filled.matrix.fields) - row.filled for row in filled.rows) / count
    cost = None if usage.cost_usd is None else usage.cost_usd * share
    tokens = round((usage.input_tokens + usage.output_tokens) * share)
    needed = _amount(tokens, cost, (job.finished_at - job.started_at) * share)
    return _("The last run took {spent}; the other documents take about {needed}.", spent=spent, needed=needed)


def _amount(tokens: int, cost_usd: float | None, time: dt.timedelta) -> str:
    """Return tokens, dollars and time, as far as there are any: `12,300 tokens, $0.10, 40 s`."""
    seconds = time.total_seconds()
    parts = [plural(tokens, "{count} token", "{count} tokens")] if tokens else []
    if cost_usd:
        parts.append(f"${decimal(cost_usd, 2)}" if cost_usd >= CENT else _("less than $0.01"))
    parts.append(
        _("{count} min", count=decimal(seconds / 60))
        if seconds >= 90
        else _("{count} s", count=decimal(max(seconds, 1)))
    )
    return ", ".join(parts)
