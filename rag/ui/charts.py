"""What all charts have in common. The browser draws them with what Streamlit brings: nothing is fetched elsewhere."""

from typing import Any

import altair as alt
import pandas as pd  # noqa: F401 – altair asks for it only if another thread has begun to load it, and may get half of it

from rag.ui.language import N_, _, current

MOMENT = N_("%d %b %Y, %H:%M")
"""A moment where it is told in full."""
STEPS = {
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
"""How an axis of time writes what it steps by: as Vega does, with a day of 24 hours."""


def time_axis() -> alt.Axis:
    """Without a title."""
    return alt.Axis(title=None, format={step: _(pattern) for step, pattern in STEPS.items()}, labelOverlap=True)


def when(field: str, title: str) -> alt.Tooltip:
    """A moment that is told in full."""
    return alt.Tooltip(field, title=title, format=_(MOMENT))


def spoken(chart: Any) -> Any:
    """A chart with its numbers, months and days as the present language writes them (the names of d3's locales)."""
    from babel import Locale

    locale = Locale.parse(current())
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
    """Babel's week begins on Monday, d3's on Sunday."""
    return [names[(day - 1) % 7] for day in range(7)]
