"""How a presentation wants its text and its shapes to look: theme, master, layout and the shape itself."""

import colorsys
from collections.abc import Iterator, Sequence
from typing import Any

from lxml import etree

from rag.parsing.conversion.packages import local

Colour = tuple[float, float, float]
"""Red, green and blue in 0..1."""
BLACK: Colour = (0.0, 0.0, 0.0)
WHITE: Colour = (1.0, 1.0, 1.0)
_PRESETS: dict[str, Colour] = {
    "black": BLACK,
    "white": WHITE,
    "red": (1.0, 0.0, 0.0),
    "green": (0.0, 0.5, 0.0),
    "blue": (0.0, 0.0, 1.0),
    "yellow": (1.0, 1.0, 0.0),
}
_PER_MILLE = 100_000
"""DrawingML counts shares in thousandths of a percent."""
_STYLE_OF_PLACEHOLDER = {
    "title": "titleStyle",
    "ctrTitle": "titleStyle",
    "body": "bodyStyle",
    "subTitle": "bodyStyle",
    "obj": "bodyStyle",
}


class Theme:
    """The colours of a slide's master, by the names that shapes call them."""

    def __init__(self, master: Any, theme: Any) -> None:
        mapping = master.find("{*}clrMap")
        self._names = dict(mapping.attrib) if mapping is not None else {}
        scheme = theme.find(".//{*}clrScheme") if theme is not None else None
        self._colours = {local(entry): entry for entry in scheme} if scheme is not None else {}

    def named(self, name: str) -> Colour:
        """The colour `tx1`, `accent2` and so on; black if there is none."""
        entry = self._colours.get(self._names.get(name, name))
        return self.colour(entry) or BLACK

    def colour(self, fill: Any) -> Colour | None:
        """The colour that stands in `fill` (such as `a:solidFill`), a gradient's mean; None if none does."""
        if fill is None:
            return None
        if local(fill) == "gradFill":
            stops = [colour for stop in fill.iter("{*}gs") if (colour := self.colour(stop))]
            return _mean(stops) if stops else None
        if local(fill) == "pattFill":
            return self.colour(fill.find("{*}bgClr"))
        for element in fill:
            base = self._base(element)
            if base is not None:
                return _changed(base, element)
        return None

    def _base(self, element: Any) -> Colour | None:
        value = element.get("val", "")
        match local(element):
            case "srgbClr":
                return _hexadecimal(value)
            case "sysClr":
                return _hexadecimal(element.get("lastClr", "000000"))
            case "schemeClr":
                return self.named(value)
            case "prstClr":
                return _PRESETS.get(value, (0.5, 0.5, 0.5))
        return None


def _hexadecimal(value: str) -> Colour | None:
    try:
        red, green, blue = bytes.fromhex(value)
    except ValueError:
        return None
    return red / 255, green / 255, blue / 255


def _mean(colours: Sequence[Colour]) -> Colour:
    red, green, blue = (sum(part) / len(colours) for part in zip(*colours, strict=True))
    return red, green, blue


def mixed(colour: Colour, other: Colour, share: float) -> Colour:
    """`share` of `colour`, the rest of `other`."""
    red, green, blue = (share * one + (1 - share) * two for one, two in zip(colour, other, strict=True))
    return red, green, blue


def _changed(colour: Colour, element: Any) -> Colour:
    """The colour made lighter or darker; what shines through it is taken for white."""
    for change in element:
        try:
            share = min(max(int(change.get("val", "")) / _PER_MILLE, 0.0), 10.0)
        except ValueError:
            continue
        match local(change):
            case "lumMod" | "lumOff":
                hue, light, saturation = colorsys.rgb_to_hls(*colour)
                light = light * share if local(change) == "lumMod" else light + share
                colour = colorsys.hls_to_rgb(hue, min(light, 1.0), saturation)
            case "tint" | "alpha":
                colour = mixed(colour, WHITE, min(share, 1.0))
            case "shade":
                colour = mixed(colour, BLACK, min(share, 1.0))
    return colour


def css(colour: Colour) -> str:
    """The colour as CSS has it."""
    return "#" + "".join(f"{round(255 * min(max(part, 0.0), 1.0)):02x}" for part in colour)


class TextStyle:
    """What a text frame's paragraphs inherit: from the nearest to the farthest of those that lay down styles."""

    def __init__(self, layers: Sequence[Any], theme: Theme) -> None:
        self._layers = [layer for layer in layers if layer is not None]
        self.theme = theme

    def level(self, paragraph: Any) -> list[Any]:
        """The paragraph's own properties and those of its level, the nearest first."""
        own = paragraph.find("{*}pPr")
        depth = int(own.get("lvl", "0")) if own is not None else 0
        names = (f"{{*}}lvl{depth + 1}pPr", "{*}defPPr")
        inherited = [found for layer in self._layers for name in names if (found := layer.find(name)) is not None]
        return ([own] if own is not None else []) + inherited

    def characters(self, run: Any, levels: Sequence[Any]) -> list[Any]:
        """The run's own properties and those of its paragraph's level, the nearest first."""
        own = run.find("{*}rPr")
        inherited = [found for level in levels if (found := level.find("{*}defRPr")) is not None]
        return ([own] if own is not None else []) + inherited


def first_attribute(elements: Sequence[Any], name: str) -> str | None:
    """The attribute of the first of `elements` that has it."""
    return next((element.get(name) for element in elements if element.get(name) is not None), None)


def first_child(elements: Sequence[Any], *names: str) -> Any:
    """The first child with one of `names` of the first of `elements` that has one."""
    return next((child for element in elements for child in element if local(child) in names), None)


def inherited(shape: Any, layout: Any, master: Any) -> list[Any]:
    """The shape, and the placeholders of its layout and master that it follows."""
    own = placeholder(shape)
    if own is None:
        return [shape]
    return [shape, *_followed(own, layout, by_number=True), *_followed(own, master, by_number=False)]


def placeholder(shape: Any) -> Any:
    """The element that makes the shape a placeholder, if it is one."""
    return shape.find("*/{*}nvPr/{*}ph")


def _followed(own: Any, page: Any, *, by_number: bool) -> Iterator[Any]:
    kind = own.get("type", "obj")
    same = {"ctrTitle": "title", "subTitle": "body", "obj": "body"}
    for shape in page.iter("{*}sp", "{*}pic"):
        other = placeholder(shape)
        if other is None:
            continue
        other_kind = other.get("type", "obj")
        if by_number and own.get("idx") and own.get("idx") == other.get("idx"):
            yield shape
            return
        if (not by_number or not own.get("idx")) and same.get(other_kind, other_kind) == same.get(kind, kind):
            yield shape
            return


def text_style(chain: Sequence[Any], master: Any, defaults: Any, theme: Theme) -> TextStyle:
    """The styles of a shape's text; `chain` is what `inherited` gives, `defaults` the presentation's own."""
    own = placeholder(chain[0])
    kind = "otherStyle" if own is None else _STYLE_OF_PLACEHOLDER.get(own.get("type", "obj"), "otherStyle")
    layers = [shape.find("{*}txBody/{*}lstStyle") for shape in chain]
    return TextStyle([*layers, master.find(f"{{*}}txStyles/{{*}}{kind}"), defaults], theme)


def parsed(blob: bytes) -> Any:
    """The root of an XML part; None if it is none."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(blob, parser)
    except etree.XMLSyntaxError:
        return None
