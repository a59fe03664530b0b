"""Tell which shapes of a slide nobody sees: switched off, beside the slide, or with tiny or white text on white."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rag.parsing.office.package import local
from rag.parsing.pdf.visibility import MIN_SIZE_PT

_TRUE = frozenset({"1", "true"})
_FILLS = frozenset({"solidFill", "gradFill", "blipFill", "pattFill", "grpFill"})
_WHITE_NAMES = frozenset({"bg1", "lt1"})

Box = tuple[int, int, int, int]


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
