"""Read the texts of drawings in office files, and their charts as tables of the data."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from rag.parsing.html.markup import escaped, table
from rag.parsing.office.package import local

FALLBACK = "Fallback"
"""An element with another form of the same content, for older programs."""
RELATIONS = ("/chart", "/chartEx")
"""Ends of the kinds of relations to parts with charts."""
_VALUES = ("val", "yVal", "size", "colorVal")
"""Names of the values of a series, in older charts and in newer ones (treemap, waterfall)."""


class Chart(NamedTuple):
    """The titles of a chart and its data as rows; the first row has the names of the series."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def texts(self) -> Iterator[str]:
        """Yield the titles, and the data row by row."""
        yield from self.titles
        yield from (" ".join(filter(None, row)) for row in self.rows)

    def html(self) -> str:
        """Return the chart as a table below its titles."""
        titles = "".join(f"<p><b>{escaped(title)}</b></p>" for title in self.titles)
        return titles + table(self.rows)


def read(root: Any) -> Chart:
    """Read a chart part (DrawingML) with the values that were last drawn; linked workbooks are not opened."""
    if root is None:
        return Chart((), ())
    titles = tuple(filter(None, (_words(title) for title in root.iter("{*}title"))))
    series = list(root.iter("{*}ser", "{*}series"))
    names = [_words(column.find("{*}tx")) or f"Series {position}" for position, column in enumerate(series, start=1)]
    labels: dict[int, str] = {}
    for column in series:
        for kind in ("cat", "xVal"):
            labels = {**_points(_data(root, column, kind)), **labels}
    values = [next(filter(None, (_points(_data(root, column, kind)) for kind in _VALUES)), {}) for column in series]
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
    dimensions = (
        dimension for data in root.iter("{*}data") if data.get("id") == reference.get("val") for dimension in data
    )
    return next((dimension for dimension in dimensions if dimension.get("type") == kind), None)


def paragraphs(root: Any) -> Iterator[str]:
    """Yield the text of a drawing, diagram or chart (DrawingML), paragraph by paragraph; `root` may be None."""
    for paragraph in root.iter("{*}p") if root is not None else ():
        if not any(local(above) == FALLBACK for above in paragraph.iterancestors()):
            text = "".join(runs(paragraph))
            if text.strip():
                yield text


def runs(element: Any) -> Iterator[str]:
    """Yield the texts of the runs in a paragraph, and its line breaks."""
    for child in element:
        if local(child) == "t":
            yield child.text or ""
        elif local(child) == "br":
            yield "\n"
        elif local(child) != FALLBACK:
            yield from runs(child)


def _words(element: Any) -> str:
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
