"""Read the drawings of XLSX sheets: text boxes, charts and diagrams (SmartArt)."""

from collections.abc import Iterator
from typing import Any

from rag.parsing.office import charts
from rag.parsing.office.package import Package, local
from rag.parsing.sheets.sheet import Note, Sheet


def add(sheet: Sheet, package: Package, part: str) -> None:
    """Add the texts and charts that are drawn on the sheet in `part`."""
    for drawing in package.related(part, "/drawing"):
        sheet.notes += [Note("text box", text) for text in _paragraphs(package.xml(drawing))]
        for diagram in package.related(drawing, "/diagramData"):
            sheet.notes += [Note("diagram", text) for text in _paragraphs(package.xml(diagram))]
        for chart in package.related(drawing, *charts.RELATIONS):
            root = package.xml(chart)
            data = charts.read(root)
            sheet.charts.append(data)
            sheet.notes += [
                Note("chart", text) for text in _paragraphs(root) if " ".join(text.split()) not in data.titles
            ]
            for shapes in package.related(chart, "/chartUserShapes"):
                sheet.notes += [Note("chart", text) for text in _paragraphs(package.xml(shapes))]


def _paragraphs(root: Any) -> Iterator[str]:
    for paragraph in root.iter("{*}p") if root is not None else ():
        if not any(local(above) == "Fallback" for above in paragraph.iterancestors()):
            text = "".join(run.text or "" for run in paragraph.iter("{*}t")).strip()
            if text:
                yield text
