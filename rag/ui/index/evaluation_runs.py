"""Evaluations that are done: two of them beside each other, question by question, and all of them over time."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import altair as alt
import streamlit as st

from rag.evaluation import ComparedQuestion
from rag.types import DEFAULT_INDEX, EvaluationRun
from rag.ui import charts, session
from rag.ui.formatting import decimal, plural
from rag.ui.index.evaluation_labels import NAMES, SUBJECTS, outcome, place, scope_name, when
from rag.ui.language import N_, _
from rag.ui.numeric_tables import difference, score, written
from rag.ui.page_frame import empty

CHART_PX = 260
UNNAMED = N_("questions without a name")
CHANGES = {"better": N_("↑ better"), "worse": N_("↓ worse"), "same": N_("same"), "unknown": "–"}


# --- two runs ---------------------------------------------------------------------------------------


def comparison() -> None:
    """Two runs of the same kind: their measures, and what became of each question."""
    runs = session.engine().evaluation_runs.list()
    pairs = [run for run in runs if sum(other.subject == run.subject for other in runs) > 1]
    if not pairs:
        with empty(
            "compare_arrows", _("Nothing to compare yet"), _("Run the same questions twice to see what changed.")
        ):
            return
    left, right = st.columns(2, gap="small")
    with right:
        after = _run(_("After"), pairs, key=f"after-{pairs[0].id}")  # a new one is the one to look at
    others = [run for run in pairs if run.subject == after.subject and run.id != after.id]
    with left:
        before = _run(_("Before"), others, _forerunner(after, others), key=f"before-{after.id}")
    _measures(before, after)
    _questions(session.engine().evaluation_runs.compare(before.id, after.id))


def _run(label: str, runs: Sequence[EvaluationRun], first: int = 0, *, key: str) -> EvaluationRun:
    by_id = {str(run.id): run for run in runs}
    names = _names(runs)
    chosen = st.selectbox(label, list(by_id), first, format_func=lambda run_id: names[run_id], key=key)
    return by_id[chosen]


def _names(runs: Sequence[EvaluationRun]) -> dict[str, str]:
    """What runs are called, by their ids: each otherwise, as Streamlit tells options by their labels."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for run in runs:
        name = _called(run)
        counts[name] += 1
        names[str(run.id)] = name if counts[name] == 1 else f"{name} ({counts[name]})"
    return names


def _called(run: EvaluationRun) -> str:
    return f"{when(run.finished_at)} · {_series(run)} · {_(SUBJECTS[run.subject])}"


def _series(run: EvaluationRun) -> str:
    """What runs have in common that can be told as one history."""
    parts = [run.name or _(UNNAMED), scope_name(run.scope)]
    return " · ".join(parts if run.index_name == DEFAULT_INDEX else [*parts, run.index_name])


def _forerunner(run: EvaluationRun, others: Sequence[EvaluationRun]) -> int:
    """The position of the last run before on the same questions, or of the last one."""
    earlier = [place for place, other in enumerate(others) if other.finished_at <= run.finished_at]
    alike = [place for place in earlier if _series(others[place]) == _series(run)]
    return next(iter([*alike, *earlier]), 0)


def _measures(before: EvaluationRun, after: EvaluationRun) -> None:
    rows = [
        {
            _("metric"): _(name),
            _("before"): before.measures[measure],
            _("after"): after.measures[measure],
            _("difference"): after.measures[measure] - before.measures[measure],
        }
        for measure, name in NAMES[after.subject].items()
        if measure in before.measures and measure in after.measures
    ]
    shown = written(rows, {_("before"): score, _("after"): score, _("difference"): difference})
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
        _("expected"): place(asked["pdf"], asked["goldPages"]) if asked["goldPages"] else "–",
        _("found first now"): place(found["pdf"], [found["page"]]) if found else "–",
    }


# --- over time --------------------------------------------------------------------------------------


def history() -> None:
    """A measure of all runs of a kind over time, and the runs in a table."""
    runs = session.engine().evaluation_runs.list()
    if not runs:
        with empty("timeline", _("No evaluations yet"), _("Each evaluation appears here as a point.")):
            return
    there = [subject for subject in SUBJECTS if any(run.subject == subject for run in runs)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        subject = st.selectbox(_("What"), there, format_func=lambda key: _(SUBJECTS[key]), width=160)
        of_kind = [run for run in runs if run.subject == subject]
        names = {key: name for key, name in NAMES[subject].items() if any(key in run.measures for run in of_kind)}
        measure = st.selectbox(_("Metric"), list(names), format_func=lambda key: _(names[key]), width=320)
    _over_time(of_kind, measure, _(names[measure]))
    _table(of_kind, measure, _(names[measure]))


def _over_time(runs: Sequence[EvaluationRun], measure: str, name: str) -> None:
    rows = [
        {
            "at": run.finished_at.isoformat(),
            "mean": run.measures[measure],
            **_ends(run, measure),
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
        charts.when("at:T", _("date")),
        alt.Tooltip("mean:Q", title=name, format=".3f"),
        alt.Tooltip("asked:Q", title=_("questions asked")),
    ]
    scale = alt.Y("mean:Q", title=name, scale=alt.Scale(zero=False, nice=True))
    line = chart.mark_line(point=alt.OverlayMarkDef(size=60)).encode(x=at, y=scale, color=colour, tooltip=tooltip)
    ends = chart.mark_rule(opacity=0.45).encode(x=at, y=alt.Y("low:Q", title=name), y2="high:Q", color=colour)
    st.altair_chart(
        charts.spoken(ends + line),
        alt=_("{measure} of {runs} over time, with 95 % intervals.").format(
            measure=name[:1].upper() + name[1:], runs=plural(len(rows), "{count} run", "{count} runs")
        ),
    )


def _ends(run: EvaluationRun, measure: str) -> dict[str, float]:
    """Of the 95 % interval; where there is none it has no length."""
    low, high = run.intervals.get(measure) or (run.measures[measure],) * 2
    return {"low": low, "high": high}


def _table(runs: Sequence[EvaluationRun], measure: str, name: str) -> None:
    rows = [
        {
            _("date"): when(run.finished_at),
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
    st.dataframe(written(rows, {name: score}), hide_index=True, placeholder="–")
