"""Draws the shapes of a slide, its layout and its master."""

import html
from collections.abc import Iterator
from typing import Any

from rag.parsing.conversion import charts, slide_shapes, slide_styles, slide_tables, slide_text
from rag.parsing.conversion.packages import local
from rag.parsing.conversion.slide_canvas import Canvas, Words
from rag.parsing.conversion.slide_shapes import EMU_PER_POINT, Placed
from rag.parsing.conversion.slide_styles import BLACK, WHITE, Colour, TextStyle, Theme, first_attribute
from rag.parsing.pdf.mupdf import pymupdf

_INSETS = {"lIns": 7.2, "tIns": 3.6, "rIns": 7.2, "bIns": 3.6}
"""Points between a shape and its text, unless it says otherwise (ECMA-376, 21.1.2.1.1)."""
_ANCHORS = {"ctr": 0.5, "b": 1.0}
_ROUND = frozenset({"ellipse", "oval", "circle"})
_UNFILLED = frozenset({"line", "straightConnector1", "bentConnector3", "curvedConnector3", "arc"})
_PLAIN_CELL = 'style="font-family:sans-serif;font-size:10pt"'


class Painter:
    """Draws on one canvas the shapes of a part: the slide itself, or what its layout and master put behind it."""

    def __init__(self, canvas: Canvas, slide: Any) -> None:
        self._canvas = canvas
        self._slide = slide
        layout = slide.slide_layout
        self._layout, self._master = layout.element, layout.slide_master.element
        theme = _related(layout.slide_master.part, "/theme")
        self._theme = Theme(self._master, slide_styles.parsed(theme.blob) if theme is not None else None)
        presentation = slide.part.package.presentation_part.presentation.element
        self._defaults = presentation.find("{*}defaultTextStyle")

    def draw(self) -> None:
        """Everything that the slide shows."""
        layout = self._slide.slide_layout
        self._background(self._slide.part, layout.part, layout.slide_master.part)
        layers = [layout.slide_master.part, layout.part]
        if self._slide.element.get("showMasterSp") == "0":
            layers = []
        elif self._layout.get("showMasterSp") == "0":
            layers = [layout.part]
        for part in layers:
            self._shapes(part, behind=True)
        self._shapes(self._slide.part, behind=False)

    def _background(self, *parts: Any) -> None:
        for part in parts:
            background = part._element.find("{*}cSld/{*}bg")
            if background is None:
                continue
            for fill in background.iter("{*}bgRef", "{*}solidFill", "{*}gradFill", "{*}pattFill"):
                self._canvas.rectangle(self._canvas.box, self._theme.colour(fill) or WHITE, None)
                break
            for blip in background.iter("{*}blip"):
                self._image(part, blip, Placed(background, self._canvas.box))
            return

    def _shapes(self, part: Any, *, behind: bool) -> None:
        for shape, transform in slide_shapes.place(part._element.find("{*}cSld/{*}spTree")):
            if behind and slide_styles.placeholder(shape) is not None:
                continue
            chain = slide_styles.inherited(shape, self._layout, self._master)
            placed = slide_shapes.placed(shape, transform, chain)
            match local(shape):
                case "pic":
                    self._picture(part, placed)
                case "graphicFrame":
                    self._frame(part, placed)
                case "cxnSp":
                    self._connector(placed)
                case _:
                    self._shape(part, placed, chain)

    def _shape(self, part: Any, placed: Placed, chain: list[Any]) -> None:
        shape = placed.shape
        properties = [found for one in chain if (found := one.find("{*}spPr")) is not None]
        geometry = next((one.find("{*}prstGeom") for one in properties if one.find("{*}prstGeom") is not None), None)
        kind = geometry.get("prst", "") if geometry is not None else ""
        if kind == "line":
            self._connector(placed)
        else:
            fill = None if kind in _UNFILLED else self._fill(shape, properties)
            line, width = self._line(shape, properties)
            turned = _upright(placed)
            self._canvas.rectangle(turned, fill, line, width, "ellipse" if kind in _ROUND else "")
            blip = properties[0].find("{*}blipFill/{*}blip") if properties else None
            if blip is not None:
                self._image(part, blip, placed)
        body = shape.find("{*}txBody")
        if slide_text.has_text(body):
            style = slide_styles.text_style(chain, self._master, self._defaults, self._theme)
            self._text(body, placed, style, chain, self._colour(shape, "fontRef"))

    def _fill(self, shape: Any, properties: list[Any]) -> Colour | None:
        for one in properties:
            for fill in one:
                if local(fill) in {"solidFill", "gradFill", "pattFill"}:
                    return self._theme.colour(fill)
                if local(fill) in {"noFill", "blipFill"}:
                    return None
        return self._colour(shape, "fillRef")

    def _line(self, shape: Any, properties: list[Any]) -> tuple[Colour | None, float]:
        lines = [found for one in properties if (found := one.find("{*}ln")) is not None]
        width = int(first_attribute(lines, "w") or EMU_PER_POINT) / EMU_PER_POINT
        for one in lines:
            if one.find("{*}noFill") is not None:
                return None, width
            fill = next((child for child in one if local(child) in {"solidFill", "gradFill"}), None)
            if fill is not None:
                return self._theme.colour(fill), width
        return self._colour(shape, "lnRef"), width

    def _colour(self, shape: Any, name: str) -> Colour | None:
        """What the shape takes from the theme by number: nothing by number 0."""
        reference = shape.find(f"{{*}}style/{{*}}{name}")
        if reference is None or reference.get("idx") == "0":
            return None
        return self._theme.colour(reference)

    def _text(self, body: Any, placed: Placed, style: TextStyle, chain: list[Any], colour: Colour | None) -> None:
        properties = [found for one in chain if (found := one.find("{*}txBody/{*}bodyPr")) is not None]
        left, top, right, bottom = (
            float(value) / EMU_PER_POINT if (value := first_attribute(properties, name)) else usual
            for name, usual in _INSETS.items()
        )
        box, turn = placed.box, placed.turn
        direction = first_attribute(properties, "vert") or "horz"
        if direction in {"vert", "eaVert", "vert270"}:
            box, turn = _turned(box), turn + (270 if direction == "vert270" else 90)
        inner = pymupdf.Rect(box.x0 + left, box.y0 + top, box.x1 - right, box.y1 - bottom)
        anchor = _ANCHORS.get(first_attribute(properties, "anchor") or "", 0.0)
        content = slide_text.to_html(body, style, colour)
        if first_attribute(properties, "wrap") == "none":
            inner = self._widened(inner, slide_text.share_before(body, style))
        self._canvas.words(Words(content, inner if inner.is_valid else box, anchor, turn % 360))

    def _widened(self, box: Any, share: float) -> Any:
        """The box as wide as the slide lets it be, for lines that are not to be wrapped; `share` of it on the left."""
        before, behind = max(box.x0 - self._canvas.box.x0, 0.0), max(self._canvas.box.x1 - box.x1, 0.0)
        if share == 0.5:
            before = behind = min(before, behind)
        left, right = before if share else 0.0, behind if share < 1 else 0.0
        return pymupdf.Rect(box.x0 - left, box.y0, box.x1 + right, box.y1)

    def _connector(self, placed: Placed) -> None:
        shape, box = placed.shape, placed.box
        lines, width = self._line(shape, [found for found in [shape.find("{*}spPr")] if found is not None])
        start, end = (box.bl, box.tr) if placed.mirrored[0] != placed.mirrored[1] else (box.tl, box.br)
        self._canvas.line(start, end, lines or BLACK, width)

    def _picture(self, part: Any, placed: Placed) -> None:
        blip = placed.shape.find("{*}blipFill/{*}blip")
        if blip is not None:
            self._image(part, blip, placed)

    def _image(self, part: Any, blip: Any, placed: Placed) -> None:
        """A picture of this file; one that stands elsewhere is not fetched."""
        description = next((one.get("descr", "") for one in placed.shape.iter("{*}cNvPr")), "")
        image = _by_id(part, next((value for key, value in blip.attrib.items() if key.endswith("}embed")), ""))
        self._canvas.picture(_upright(placed), image.blob if image is not None else b"", description, placed.turn)

    def _frame(self, part: Any, placed: Placed) -> None:
        shape = placed.shape
        table = next(shape.iter("{*}tbl"), None)
        if table is not None:
            self._table(table, placed)
            return
        for element in shape.iter("{*}chart", "{*}relIds", "{*}pic"):
            match local(element):
                case "chart":
                    self._chart(_by_id(part, _relation(element, "id")), placed)
                case "relIds":
                    self._diagram(_by_id(part, _relation(element, "dm")), placed)
                case "pic":
                    self._picture(part, Placed(element, placed.box))

    def _chart(self, chart: Any, placed: Placed) -> None:
        root = slide_styles.parsed(chart.blob) if chart is not None else None
        if root is not None:
            self._canvas.rectangle(placed.box, None, (0.8, 0.8, 0.8), 0.5)
            self._canvas.words(Words(f"<div {_PLAIN_CELL}>{charts.to_html(root)}</div>", placed.box))

    def _diagram(self, data: Any, placed: Placed) -> None:
        root = slide_styles.parsed(data.blob) if data is not None else None
        paragraphs = root.iter("{*}p") if root is not None else ()
        texts = ("".join(text.text or "" for text in paragraph.iter("{*}t")) for paragraph in paragraphs)
        items = "".join(f"<li>{html.escape(text)}</li>" for text in texts if text.strip())
        if items:
            self._canvas.words(Words(f'<ul style="font-family:sans-serif;font-size:14pt">{items}</ul>', placed.box))

    def _table(self, table: Any, placed: Placed) -> None:
        style = TextStyle([self._defaults], self._theme)
        for cell in slide_tables.cells(table, placed.box, self._canvas.box.y1, style):
            self._canvas.rectangle(cell.box, cell.fill, slide_tables.LINE, 0.5)
            if cell.html:
                self._canvas.words(Words(cell.html, slide_tables.inner(cell.box), cell.anchor))


def _upright(placed: Placed) -> Any:
    """The box that is seen: of a shape turned by a quarter, height and width change places."""
    return _turned(placed.box) if round(placed.turn / 90) % 2 else placed.box


def _turned(box: Any) -> Any:
    middle = (box.tl + box.br) * 0.5
    return pymupdf.Rect(
        middle.x - box.height / 2, middle.y - box.width / 2, middle.x + box.height / 2, middle.y + box.width / 2
    )


def _relation(element: Any, name: str) -> str:
    return str(next((value for key, value in element.attrib.items() if key.endswith("}" + name)), ""))


def _by_id(part: Any, relation: str) -> Any:
    """The part of this file to which a relation leads; None if there is none, or it leads elsewhere."""
    found = part.rels.get(relation)
    return None if found is None or found.is_external else found.target_part


def _related(part: Any, kind: str) -> Any:
    """The first part to which a relation of a kind leads."""
    return next(related(part, kind), None)


def related(part: Any, kind: str) -> Iterator[Any]:
    """The parts of this file to which relations whose type ends in `kind` lead."""
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(kind):
            yield relation.target_part
