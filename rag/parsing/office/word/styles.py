"""Resolve what the styles of a Word document say about its paragraphs and runs."""

from collections.abc import Iterator
from typing import Any

from rag.parsing.office.package import local

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VALUE = f"{W}val"
_OFF = frozenset({"0", "false", "off", "none"})
_MAX_CHAIN = 50


def is_on(properties: Any, name: str) -> bool | None:
    """Whether a toggle such as `strike` is on in `properties`; None if they do not say."""
    toggle = properties.find(f"{W}{name}") if properties is not None else None
    return None if toggle is None else toggle.get(VALUE, "1") not in _OFF


class Styles:
    """The styles of a document, by their ids; `root` is the root of the styles' part or None."""

    def __init__(self, root: Any) -> None:
        styles = root.findall(f"{W}style") if root is not None else []
        self._by_id = {style.get(f"{W}styleId"): style for style in styles}
        self._toggles = {local(toggle) for style in styles for toggle in style.iterfind(f"{W}rPr/*")}
        self._default = {style.get(f"{W}type"): style for style in styles if style.get(f"{W}default") in {"1", "true"}}

    def of_paragraph(self, paragraph: Any) -> Iterator[Any]:
        """Yield a paragraph's style and the styles that it is based on."""
        return self.chain(paragraph.find(f"{W}pPr/{W}pStyle") if paragraph is not None else None, "paragraph")

    def chain(self, reference: Any, kind: str) -> Iterator[Any]:
        """Yield the style that an element refers to, or the default of the kind, and those that it is based on."""
        style = self._by_id.get(reference.get(VALUE)) if reference is not None else self._default.get(kind)
        for _ in range(_MAX_CHAIN):
            if style is None:
                return
            yield style
            base = style.find(f"{W}basedOn")
            style = self._by_id.get(base.get(VALUE)) if base is not None else None

    def of_run(self, run: Any) -> list[Any]:
        """Return what a run, its own style and that of its paragraph say about its looks, the nearest first."""
        properties = run.find(f"{W}rPr")
        reference = properties.find(f"{W}rStyle") if properties is not None else None
        of_run = self.chain(reference, "character") if reference is not None else ()
        styles = (*of_run, *self.of_paragraph(next(run.iterancestors(f"{W}p"), None)))
        sources = (properties, *(style.find(f"{W}rPr") for style in styles))
        return [source for source in sources if source is not None]

    def is_on(self, run: Any, name: str) -> bool:
        """Whether a toggle is on for a run: set there, or by either its own style or that of its paragraph."""
        properties = run.find(f"{W}rPr")
        is_set = is_on(properties, name)
        if is_set is not None or name not in self._toggles:
            return is_set or False
        reference = properties.find(f"{W}rStyle") if properties is not None else None
        of_run = _first(self.chain(reference, "character"), name) if reference is not None else False
        return of_run != _first(self.of_paragraph(next(run.iterancestors(f"{W}p"), None)), name)


def _first(styles: Iterator[Any], name: str) -> bool:
    """Whether the first style that says anything about a toggle sets it; toggles of two kinds of style cancel out."""
    settings = (is_on(style.find(f"{W}rPr"), name) for style in styles)
    return next((is_set for is_set in settings if is_set is not None), False)
