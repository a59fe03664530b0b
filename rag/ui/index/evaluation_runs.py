"""Compare two evaluation runs by question, and show all runs over time."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt
import streamlit as st

from rag import types
from rag.evaluation import ComparedQuestion
from rag.ui import charts, session
from rag.ui.formatting import decimal, plural
from rag.ui.index.evaluation_labels import MEASURE_NAMES, SUBJECTS, outcome, page_reference, scope_name, timestamp
from rag.ui.language import N_, _
from rag.ui.numeric_tables import format_difference, format_numbers, format_score
from rag.ui.page_frame import empty_state

CHART_PX = 260
UNNAMED = N_("questions without a name")
CHANGES = {"better": N_("↑ better"), "worse": N_("↓ worse"), "same": N_("same"), "unknown": "–"}


# --- two runs ---------------------------------------------------------------------------------------


def comparison() -> None:
    """Compare the measures and questions of two runs of the same kind."""
    runs = session.engine().evaluation_runs.list()
    pairs = [run for run in runs if sum(other.subject == run.subject for other in runs) > 1]
    if not pairs:
        with empty_state(
            "compare_arrows", _("Nothing to compare yet"), _("Run the same questions twice to see what changed.")
        ):
            return
    left, right = st.columns(2, gap="small")
    with right:
        after = _run(_("After"), pairs, key=f"after-{pairs[0].id}")  # a new run is selected at once
    others = [run for run in pairs if run.subject == after.subject and run.id != after.id]
    with left:
        before = _run(_("Before"), others, _previous_run(after, others), key=f"before-{after.id}")
    _measures(before, after)
    _questions(session.engine().evaluation_runs.compare(before.id, after.id))


def _run(label: str, runs: Sequence[types.EvaluationRun], first: int = 0, *, key: str) -> types.EvaluationRun:
    by_id = {str(run.id): run for run in runs}
    names = _names(runs)
    chosen = st.selectbox(label, list(by_id), first, format_func=lambda run_id: names[run_id], key=key)
    return by_id[chosen]


def _names(runs: Sequence[types.EvaluationRun]) -> dict[str, str]:
    """Return distinct names of runs by id, since Streamlit tells options apart by label."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for run in runs:
        name = _run_name(run)
        counts[name] += 1
        names[str(run.id)] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return names


def _run_name(run: types.EvaluationRun) -> str:
    return f"{timestamp(run.finished_at)} · {_series(run)} · {_(SUBJECTS[run.subject])}"


def _series(run: types.EvaluationRun) -> str:
    """Return the name of the series that comparable runs belong to."""
    parts = [run.name or _(UNNAMED), scope_name(run.scope)]
    return " · ".join(parts if run.index_name == types.DEFAULT_INDEX else [*parts, run.index_name])


def _previous_run(run: types.EvaluationRun, others: Sequence[types.EvaluationRun]) -> int:
    """Return the position of the last earlier run on the same questions, else of the last earlier run."""
    earlier = [place for place, other in enumerate(others) if other.finished_at <= run.finished_at]
    alike = [place for place in earlier if _series(others[place]) == _series(run)]
    return next(iter([*alike, *earlier]), 0)


def _measures(before: types.EvaluationRun, after: types.EvaluationRun) -> None:
    rows = [
        {
            _("metric"): _(name),
            _("before"): before.measures[measure],
            _("after"): after.measures[measure],
            _("difference"): after.measures[measure] - before.measures[measure],
        }
        for measure, name in MEASURE_NAMES[after.subject].items()
        if measure in before.measures and measure in after.measures
    ]
    shown = format_numbers(
        rows, {_("before"): format_score, _("after"): format_score, _("difference"): format_difference}
    )
    config = dict.fromkeys((_("before"), _("after"), _("difference")), st.column_config.NumberColumn(width=90))
    st.dataframe(shown, hide_index=True, height="content", column_config=config, placeholder="–")


def _questions(compared: Sequence[ComparedQuestion]) -> None:
    counts = Counter(question.change for question in compared)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(
            _("{better} better, {worse} worse, {same} the same").format(
                better=decimal(counts["better"]), worse=decimal(counts["worse"]), same=decimal(counts["same"])
            ),
            anchor=False,
            width="stretch",
        )
        only_changed = st.toggle(_("Only what changed"), True)
    if counts["unknown"]:
        st.caption(
            plural(
                counts["unknown"],
                "{count} question is in only one run or has no known page.",
                "{count} questions are in only one run or have no known page.",
            )
        )
    shown = [question for question in compared if question.change in ("better", "worse") or not only_changed]
    if shown:
        st.dataframe([_row(question) for question in shown], hide_index=True, placeholder="–")
    else:
        st.caption(_("No question came out better or worse."))


def _row(question: ComparedQuestion) -> dict[str, Any]:
    asked = question.after or question.before or {}
    found = question.after and question.after["found"]
    return {
        "": _(CHANGES[question.change]),
        _("question"): question.question,
        _("before"): outcome(question.before),
        _("after"): outcome(question.after),
        _("expected"): page_reference(asked["pdf"], asked["goldPages"]) if asked["goldPages"] else "–",
        _("found first now"): page_reference(found["pdf"], [found["page"]]) if found else "–",
    }


# --- over time --------------------------------------------------------------------------------------


def history() -> None:
    """Show a measure of all runs of a kind over time, and a table of the runs."""
    runs = session.engine().evaluation_runs.list()
    if not runs:
        with empty_state("timeline", _("No evaluations yet"), _("Each evaluation appears here as a point.")):
            return
    there = [subject for subject in SUBJECTS if any(run.subject == subject for run in runs)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        subject = st.selectbox(_("What"), there, format_func=lambda key: _(SUBJECTS[key]), width=160)
        of_kind = [run for run in runs if run.subject == subject]
        names = {
            key: name for key, name in MEASURE_NAMES[subject].items() if any(key in run.measures for run in of_kind)
        }
        measure = st.selectbox(_("Metric"), list(names), format_func=lambda key: _(names[key]), width=320)
    _chart(of_kind, measure, _(names[measure]))
    _table(of_kind, measure, _(names[measure]))


def _chart(runs: Sequence[types.EvaluationRun], measure: str, name: str) -> None:
    rows = [
        {
            "at": run.finished_at.isoformat(),
            "mean": run.measures[measure],
            **_interval(run, measure),
            "questions": _series(run),
            "asked": run.questions,
        }
        for run in runs
        if measure in run.measures
    ]
    chart = alt.Chart(alt.InlineData(values=rows), height=CHART_PX)
    at = alt.X("at:T", axis=charts.time_axis())
    colour = alt.Color("questions:N", legend=alt.Legend(title=None, orient="bottom", labelLimit=400, columns=1))
    tooltip = [
        alt.Tooltip("questions:N", title=_("questions")),
        charts.time_tooltip("at:T", _("date")),
        alt.Tooltip("mean:Q", title=name, format=".3f"),
        alt.Tooltip("asked:Q", title=_("questions asked")),
    ]
    scale = alt.Y("mean:Q", title=name, scale=alt.Scale(zero=False, nice=True))
    line = chart.mark_line(point=alt.OverlayMarkDef(size=60)).encode(x=at, y=scale, color=colour, tooltip=tooltip)
    ends = chart.mark_rule(opacity=0.45).encode(x=at, y=alt.Y("low:Q", title=name), y2="high:Q", color=colour)
    st.altair_chart(
        charts.localized(ends + line),
        alt=_("{measure} of {runs} over time, with 95 % intervals.").format(
            measure=name[:1].upper() + name[1:], runs=plural(len(rows), "{count} run", "{count} runs")
        ),
    )


def _interval(run: types.EvaluationRun, measure: str) -> dict[str, float]:
    """Return the ends of the 95 % interval; without one, the measure itself."""
    low, high = run.intervals.get(measure) or (run.measures[measure],) * 2
    return {"low": low, "high": high}


def _table(runs: Sequence[types.EvaluationRun], measure: str, name: str) -> None:
    rows = [
        {
            _("date"): timestamp(run.finished_at),
            _("questions"): run.name or _(UNNAMED),
            _("among"): scope_name(run.scope),
            _("asked"): run.questions,
            name: run.measures.get(measure),
        }
        for run in runs
    ]
    st.caption(
        _("{runs}; vertical lines are 95 % intervals (bootstrap over documents).").format(
            runs=plural(len(rows), "{count} run", "{count} runs")
        )
    )
    st.dataframe(format_numbers(rows, {name: format_score}), hide_index=True, placeholder="–")
