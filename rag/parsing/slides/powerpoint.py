"""Read PPTX presentations: also shows, templates, and files with macros.

Text is hidden in shapes that are switched off or beside the slide, and where it is tiny or white on white.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from rag.messages import N_
from rag.parsing.office import charts, embedded
from rag.parsing.office.list_numbers import formatted
from rag.parsing.office.package import Package, damaged, local
from rag.parsing.pdf.visibility import MIN_SIZE_PT
from rag.parsing.slides import deck
from rag.parsing.slides.deck import Cell, Deck, Slide

_EMU_PER_POINT = 12_700
_DEFAULT_SIZE_EMU = 9_144_000, 6_858_000
_NOT_NOTES = frozenset({"sldImg", "hdr", "ftr", "dt", "sldNum"})
"""Placeholders on a notes page that are not notes."""
_TITLES = frozenset({"title", "ctrTitle"})
_BULLETED = frozenset({"obj", "body"})
"""Placeholders whose paragraphs have bullets unless they say otherwise."""
_MAX_DEPTH = 30
_TRUE = frozenset({"1", "true"})
_NUMBER_KINDS = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
}
_AROUND = {"ParenBoth": ("(", ")"), "ParenR": ("", ")"), "Period": ("", "."), "Plain": ("", ""), "Minus": ("- ", " -")}
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TRUE = frozenset({"1", "true"})
_FILLS = frozenset({"solidFill", "gradFill", "blipFill", "pattFill", "grpFill"})
_WHITE_NAMES = frozenset({"bg1", "lt1"})

Box = tuple[int, int, int, int]


def read(source: Path) -> Deck:
    """Read the presentation at `source`.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    with Package(source) as package:
        try:
            main = package.main_part("ppt/presentation.xml")
            presentation, relations = package.xml(main), package.relations(main)
            paper = presentation.find("{*}sldSz")
            size = (int(paper.get("cx")), int(paper.get("cy"))) if paper is not None else _DEFAULT_SIZE_EMU
            pictures: dict[str, bytes] = {}
            slides = [
                _SlideReader(package, relations[slide.get(f"{_RELATION}id")].target, pictures, size).read()
                for slide in presentation.iterfind("{*}sldIdLst/{*}sldId")
            ]
            files = tuple(embedded.of_office_open_xml(package))
            in_points = (size[0] / _EMU_PER_POINT, size[1] / _EMU_PER_POINT)
            return Deck(package.metadata(), in_points, slides, pictures, files)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise damaged(N_("presentation"), error) from error


class _SlideReader:
    """Reads one slide: its shapes in the order of the file, which is its reading order, with the title first."""

    def __init__(self, package: Package, part: str, pictures: dict[str, bytes], size: tuple[int, int]) -> None:
        self._package = package
        self._part = part
        self._pictures = pictures
        (layout,) = package.related(part, "/slideLayout")
        (master,) = package.related(layout, "/slideMaster")
        self._sheets = [package.xml(name) for name in (part, layout, master)]
        self._visibility = Visibility(self._sheets, [shape for sheet in self._sheets for shape in _shapes(sheet)], size)

    def read(self) -> Slide:
        slide = self._sheets[0]
        shapes = sorted(_shapes(slide), key=lambda shape: _placeholder(shape) not in _TITLES)
        unseen = [shape for shape in shapes if self._visibility.is_hidden(shape)]
        html = [part for shape in shapes if shape not in unseen for part in self._shape(shape)]
        notes = [text for root in self._related("/notesSlide") for text in _notes(root)]
        comments = [text for root in self._related("/comments") for text in _comments(root)]
        texts = [
            *charts.paragraphs(slide),
            *(text for root in self._related(*charts.RELATIONS) for text in charts.read(root).texts()),
            *(text for root in self._related("/diagramData") for text in charts.paragraphs(root)),
            *notes,
        ]
        hidden = [text for shape in unseen for text in charts.paragraphs(shape)]
        return Slide([*html, *self._fixed()], [("Notes", notes), ("Comments", comments)], texts, hidden)

    def _related(self, *kinds: str) -> Iterator[Any]:
        yield from map(self._package.xml, self._package.related(self._part, *kinds))

    def _fixed(self) -> Iterator[str]:
        for sheet, below in pairwise(self._sheets):
            if sheet.get("showMasterSp") == "0":
                return
            for shape in _shapes(below):
                if _placeholder(shape) is None:
                    yield from (deck.paragraph(deck.lines(text)) for text in charts.paragraphs(shape))

    def _shape(self, shape: Any) -> Iterator[str]:
        """Yield the tables, charts, diagrams, pictures and paragraphs of a shape."""
        for element in shape.iterfind("{*}graphic/{*}graphicData/*") if local(shape) == "graphicFrame" else ():
            match local(element):
                case "tbl":
                    yield deck.table(_row(row) for row in element.findall("{*}tr"))
                case "chart":
                    yield charts.read(self._package.xml(self._target(element, "id"))).html()
                case "relIds":
                    data = self._package.xml(self._target(element, "dm"))
                    yield from (deck.paragraph(deck.lines(text)) for text in charts.paragraphs(data))
        for blip in shape.iter("{*}blip"):
            picture = self._target(blip, "embed")
            if picture in self._package.names:
                extent, named = next(shape.iter("{*}ext"), None), next(shape.iter("{*}cNvPr"), None)
                sides = (int(extent.get(side, 0)) if extent is not None else 0 for side in ("cx", "cy"))
                width, height = (side / _EMU_PER_POINT for side in sides)
                description = named.get("descr", "") if named is not None else ""
                yield deck.picture(self._pictures, self._package.read(picture), (width, height), description)
        body = shape.find("{*}txBody")
        if body is not None:
            yield from _text(body, _placeholder(shape))

    def _target(self, element: Any, name: str) -> str:
        """Return the name of the part to which an attribute refers, "" if it refers to none."""
        relation = self._package.relations(self._part).get(element.get(f"{_RELATION}{name}", ""))
        return relation.target if relation and not relation.is_external else ""


def _shapes(element: Any, depth: int = 0) -> Iterator[Any]:
    tree = element.find("{*}cSld/{*}spTree") if depth == 0 else element
    for shape in tree if tree is not None else ():
        name = local(shape)
        if name in {"sp", "pic", "graphicFrame", "cxnSp"}:
            yield shape
        elif name == "grpSp" and depth < _MAX_DEPTH:
            yield from _shapes(shape, depth + 1)
        elif name == "AlternateContent" and depth < _MAX_DEPTH:
            chosen = _alternative(shape)
            yield from _shapes(chosen, depth + 1) if chosen is not None else ()


def _alternative(alternate: Any) -> Any:
    """Return the newer alternative if it has text or a frame, else the one for older programs."""
    choice, fallback = alternate.find("{*}Choice"), alternate.find(f"{{*}}{charts.FALLBACK}")
    if fallback is None or (choice is not None and next(choice.iter("{*}t", "{*}graphicFrame"), None) is not None):
        return choice
    return fallback


def _placeholder(shape: Any) -> str | None:
    """Return the type of the placeholder that a shape fills, None if it is none."""
    mark = next(shape.iter("{*}ph"), None)
    return mark.get("type", "obj") if mark is not None else None


def _text(body: Any, placeholder: str | None) -> Iterator[str]:
    numbers: dict[int, tuple[str, int]] = {}
    for paragraph in body.findall("{*}p"):
        html = _rich(paragraph)
        if not "".join(charts.runs(paragraph)).strip():
            continue
        properties = paragraph.find("{*}pPr")
        level = int(properties.get("lvl", "0")) if properties is not None else 0
        kinds = {local(child): child for child in properties} if properties is not None else dict[str, Any]()
        numbers = {depth: last for depth, last in numbers.items() if depth <= level}
        if placeholder in _TITLES:
            yield f"<h1>{html}</h1>"
        elif "buAutoNum" in kinds:
            kind, start = (kinds["buAutoNum"].get(name, "") for name in ("type", "startAt"))
            last_kind, last = numbers.get(level, (None, 0))
            number = last + 1 if kind == last_kind else int(start) if start.isdigit() else 1
            numbers[level] = kind, number
            yield deck.paragraph(html, mark=_number(number, kind), level=level)
        else:
            numbers.pop(level, None)
            has_bullet = kinds.keys() & {"buChar", "buBlip"} or (placeholder in _BULLETED and "buNone" not in kinds)
            yield deck.paragraph(html, mark="•" if has_bullet else "", level=level)


def _number(number: int, kind: str) -> str:
    """Return an automatic number as PowerPoint draws it (ST_TextAutonumberScheme): "romanLcParenR" is "iv)"."""
    for start, name in _NUMBER_KINDS.items():
        if kind.startswith(start):
            text = formatted(number, name)
            before, after = _AROUND.get(kind.removeprefix(start), ("", "" if name == "decimalEnclosedCircle" else "."))
            return f"{before}{text}{after}"
    return f"{number}."


def _row(row: Any) -> Iterator[Cell]:
    for cell in row.findall("{*}tc"):
        if cell.get("hMerge") not in _TRUE and cell.get("vMerge") not in _TRUE:
            html = [_rich(paragraph) for paragraph in cell.iter("{*}p")]
            yield Cell([text for text in html if text], _span(cell, "gridSpan"), _span(cell, "rowSpan"))


def _span(cell: Any, name: str) -> int:
    span = cell.get(name, "1")
    return int(span) if span.isdigit() else 1


def _rich(paragraph: Any) -> str:
    html = ""
    for run in paragraph:
        text = deck.lines_within("".join(charts.runs([run]) if local(run) == "br" else charts.runs(run)))
        properties = run.find("{*}rPr")
        if text and properties is not None:
            raised = properties.get("baseline", "0").rstrip("%")
            if properties.get("strike", "noStrike") != "noStrike":
                text = f"<s>{text}</s>"
            if raised.lstrip("-").isdigit() and int(raised):
                name = "sup" if int(raised) > 0 else "sub"
                text = f"<{name}>{text}</{name}>"
        html += text
    return html.strip()


def _notes(root: Any) -> Iterator[str]:
    for shape in root.iter("{*}sp", "{*}graphicFrame"):
        if _placeholder(shape) not in _NOT_NOTES:
            yield from charts.paragraphs(shape)


def _comments(root: Any) -> Iterator[str]:
    for comment in root.iter("{*}cm", "{*}reply") if root is not None else ():
        text = comment.find("{*}text")
        if text is not None and (text.text or "").strip():
            yield text.text
        for body in comment.findall("{*}txBody"):
            yield from charts.paragraphs(body)


class Visibility(NamedTuple):
    """The slide, its layout and master, all their shapes, and the size of the slide in EMU."""

    sheets: Sequence[Any]
    shapes: Sequence[Any]
    size: tuple[int, int]

    def is_hidden(self, shape: Any) -> bool:
        """Whether nobody sees the text of a shape of the slide."""
        groups = [*shape.iterancestors("{*}grpSp")]
        properties = (element.find("./*/{*}cNvPr") for element in (shape, *groups))
        if any(named is not None and named.get("hidden") in _TRUE for named in properties):
            return True
        box = _box(shape) if not groups else None
        if box is not None:
            left, top, right, bottom = box
            if right <= 0 or bottom <= 0 or left >= self.size[0] or top >= self.size[1]:
                return True
        runs = [run for run in shape.iter("{*}r") if "".join(run.itertext()).strip()]
        sizes = [next((properties.get("sz", "") for properties in run.iterfind("{*}rPr")), "") for run in runs]
        is_tiny = all(size.isdigit() and int(size) < 100 * MIN_SIZE_PT for size in sizes)  # in hundredths of a point
        return bool(runs) and (is_tiny or (all(map(_is_white, runs)) and self._is_on_white(shape, box)))

    def _is_on_white(self, shape: Any, box: Box | None) -> bool:
        """Whether nothing coloured is known to be behind a shape."""
        if (
            box is None
            or _is_filled(shape)
            or any(sheet.find("{*}cSld/{*}bg") is not None for sheet in self.sheets[:2])
        ):
            return False
        ground = self.sheets[2].find("{*}cSld/{*}bg")
        if ground is not None and not any(other.get("val") in _WHITE_NAMES for other in ground.iter("{*}schemeClr")):
            return False
        others = [other for other in self.shapes if other is not shape and (local(other) == "pic" or _is_filled(other))]
        middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return not any(_covers(other, middle) for other in others)


def _box(shape: Any) -> Box | None:
    """Return left, top, right and bottom of a shape in EMU; None if its layout places it."""
    place = next(shape.iter("{*}xfrm"), None)
    offset, extent = (place.find(f"{{*}}{name}") for name in ("off", "ext")) if place is not None else (None, None)
    if offset is None or extent is None:
        return None
    left, top = int(offset.get("x", 0)), int(offset.get("y", 0))
    return left, top, left + int(extent.get("cx", 0)), top + int(extent.get("cy", 0))


def _covers(shape: Any, place: tuple[float, float]) -> bool:
    box = _box(shape)
    return box is None or (box[0] <= place[0] <= box[2] and box[1] <= place[1] <= box[3])


def _is_filled(shape: Any) -> bool:
    properties = shape.find("{*}spPr")
    if properties is not None and any(local(fill) in _FILLS for fill in properties):
        return True
    has_none = properties is not None and properties.find("{*}noFill") is not None
    style = shape.find("{*}style/{*}fillRef")
    return style is not None and style.get("idx", "0") != "0" and not has_none


def _is_white(run: Any) -> bool:
    fill = run.find("{*}rPr/{*}solidFill")
    color = fill[0] if fill is not None and len(fill) else None
    if color is None or len(color):  # with changes of its brightness
        return False
    return color.get("val", "").upper() == "FFFFFF" or color.get("val") in _WHITE_NAMES
