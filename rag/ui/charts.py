"""Shared parts of the charts."""

from typing import Any

import altair as alt
import pandas as pd  # noqa: F401 – altair could otherwise see a half-loaded pandas of another thread

from rag.ui.language import N_, _, current_language

TIMESTAMP_FORMAT = N_("%d %b %Y, %H:%M")
AXIS_FORMATS = {
    "year": "%Y",
    "quarter": "%B",
    "month": "%B",
    "week": N_("%b %d"),
    "date": N_("%b %d"),
    "day": N_("%a %d"),
    "hours": "%H:%M",
    "minutes": "%H:%M",
    "seconds": "%H:%M:%S",
    "milliseconds": "%H:%M:%S",
}
"""Label formats of a time axis for each step, as in Vega but with a 24-hour clock."""


def time_axis() -> alt.Axis:
    """Return a time axis without a title."""
    return alt.Axis(title=None, format={step: _(pattern) for step, pattern in AXIS_FORMATS.items()}, labelOverlap=True)


def time_tooltip(field: str, title: str) -> alt.Tooltip:
    """Return a tooltip that shows a full timestamp."""
    return alt.Tooltip(field, title=title, format=_(TIMESTAMP_FORMAT))


def localized(chart: Any) -> Any:
    """Return a chart whose numbers and dates follow the current language (d3 locales)."""
    from babel import Locale

    locale = Locale.parse(current_language())
    signs = locale.number_symbols["latn"]
    months, days = locale.months["format"], locale.days["format"]
    number = alt.NumberLocale(decimal=signs["decimal"], thousands=signs["group"], grouping=[3], currency=["", ""])
    time = alt.TimeLocale(
        dateTime="%x, %X",
        date="%d.%m.%Y",
        time="%H:%M:%S",
        periods=["AM", "PM"],
        days=_from_sunday(days["wide"]),
        shortDays=_from_sunday(days["abbreviated"]),
        months=[*months["wide"].values()],
        shortMonths=[*months["abbreviated"].values()],
    )
    return chart.configure(locale=alt.Locale(number=number, time=time))


def _from_sunday(names: Any) -> list[str]:
    """Reorder Babel's weekdays, which begin on Monday, for d3, whose week begins on Sunday."""
    return [names[(day - 1) % 7] for day in range(7)]
