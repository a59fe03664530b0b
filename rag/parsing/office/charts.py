"""Read charts of office files as tables of their data."""

import html
from collections.abc import Iterator
from typing import Any, NamedTuple

RELATIONS = ("/chart", "/chartEx")
"""Ends of the kinds of relations to parts with charts."""
_VALUES = ("val", "yVal", "size", "colorVal")
"""Names of the values of a series, in older charts and in newer ones (treemap, waterfall)."""


class Chart(NamedTuple):
    """The titles of a chart and its data as rows; the first row has the names of the series."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def read(root: Any) -> Chart:
    """Read a chart part (DrawingML) with the values that were last drawn; linked workbooks are not opened."""
    if root is None:
        return Chart((), ())
    titles = tuple(filter(None, (_words(title) for title in root.iter("{*}title"))))
    series = list(root.iter("{*}ser", "{*}series"))
    names = [_words(one.find("{*}tx")) or f"Series {position}" for position, one in enumerate(series, start=1)]
    labels: dict[int, str] = {}
    for one in series:
        for kind in ("cat", "xVal"):
            labels = {**_points(_data(root, one, kind)), **labels}
    values = [next(filter(None, (_points(_data(root, one, kind)) for kind in _VALUES)), {}) for one in series]
    positions = sorted(set(labels).union(*values))
    rows = [
        (labels.get(position, str(position + 1)), *(column.get(position, "") for column in values))
        for position in positions
    ]
    return Chart(titles, (("", *names), *rows) if rows else ())


def _data(root: Any, series: Any, kind: str) -> Any:
    """Return the data of a kind of a series: in it, or in newer charts (chartex) in a part that it names."""
    reference = series.find("{*}dataId")
    if reference is None:
        return series.find(f"{{*}}{kind}")
    dimensions = (one for data in root.iter("{*}data") if data.get("id") == reference.get("val") for one in data)
    return next((one for one in dimensions if one.get("type") == kind), None)


def texts(root: Any) -> Iterator[str]:
    """Yield the text of a chart: its titles, and its data row by row."""
    chart = read(root)
    yield from chart.titles
    yield from (" ".join(filter(None, row)) for row in chart.rows)


def to_html(root: Any) -> str:
    """Return the chart as an HTML table below its titles."""
    chart = read(root)
    titles = "".join(f"<p><b>{html.escape(title)}</b></p>" for title in chart.titles)
    rows = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in chart.rows]
    table = "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>" if rows else ""
    return titles + table


def _words(element: Any) -> str:
    """Return the text in `element`, whether typed or taken from a sheet."""
    if element is None:
        return ""
    return " ".join("".join(part.text or "" for part in element.iter("{*}t", "{*}v")).split())


def _points(element: Any) -> dict[int, str]:
    """Return texts and numbers by position; nested labels are joined, the outermost first."""
    points: dict[int, str] = {}
    for point in element.iter("{*}pt") if element is not None else ():
        if not point.get("idx", "").isdigit():
            continue
        position = int(point.get("idx"))
        text = " ".join(_number(part.text or "") for part in point.findall("{*}v") or [point])
        points[position] = f"{text} {points[position]}" if position in points else text
    return points


def _number(text: str) -> str:
    """Remove the noise of binary fractions (0.30000000000000004) from a number; return other text unchanged."""
    try:
        value = float(text)
    except ValueError:
        return text
    return text if len(text) <= 12 else f"{value:.12g}"
