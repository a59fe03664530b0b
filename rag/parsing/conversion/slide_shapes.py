"""The shapes of a slide with their places on it, in the order in which they are drawn."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from rag.parsing.conversion.packages import local
from rag.parsing.pdf.mupdf import pymupdf

EMU_PER_POINT = 12_700
_ANGLE_UNITS = 60_000
"""DrawingML counts angles in sixty-thousandths of a degree."""
_DRAWN = frozenset({"sp", "pic", "graphicFrame", "cxnSp"})
MAX_DEPTH = 30


class Placed(NamedTuple):
    """A shape, its box in points, its turn in degrees clockwise, and whether it is mirrored."""

    shape: Any
    box: Any
    turn: float = 0.0
    mirrored: tuple[bool, bool] = (False, False)


def place(tree: Any) -> Iterator[tuple[Any, "Transform"]]:
    """The shapes below `tree` (a spTree), those in groups too, each with the way from its coordinates to points."""
    yield from _walk(tree, Transform(1 / EMU_PER_POINT, 1 / EMU_PER_POINT, 0.0, 0.0), 0)


class Transform(NamedTuple):
    """From a group's coordinates to points on the slide."""

    scale_x: float
    scale_y: float
    move_x: float
    move_y: float

    def box(self, frame: Any) -> Any | None:
        """The box of an `xfrm`, None if it has none."""
        corner, size = (frame.find("{*}off"), frame.find("{*}ext")) if frame is not None else (None, None)
        if corner is None or size is None:
            return None
        x, y, width, height = (
            _whole(one, name) for one, name in zip((corner, corner, size, size), ("x", "y", "cx", "cy"), strict=True)
        )
        left, top = x * self.scale_x + self.move_x, y * self.scale_y + self.move_y
        return pymupdf.Rect(left, top, left + width * self.scale_x, top + height * self.scale_y)

    def within(self, group: Any) -> "Transform":
        """That of what a group has in it; `group` is its `xfrm`."""
        box = self.box(group)
        corner, size = (group.find("{*}chOff"), group.find("{*}chExt")) if group is not None else (None, None)
        if box is None or corner is None or size is None or not _whole(size, "cx") or not _whole(size, "cy"):
            return self
        scale_x, scale_y = box.width / _whole(size, "cx"), box.height / _whole(size, "cy")
        return Transform(
            scale_x, scale_y, box.x0 - _whole(corner, "x") * scale_x, box.y0 - _whole(corner, "y") * scale_y
        )


def _whole(element: Any, name: str) -> int:
    try:
        return int(float(element.get(name, "0")))
    except ValueError:
        return 0


def _walk(tree: Any, transform: Transform, depth: int) -> Iterator[tuple[Any, Transform]]:
    for shape in tree:
        name = local(shape)
        if name in _DRAWN:
            yield shape, transform
        elif name == "grpSp" and depth < MAX_DEPTH:
            yield from _walk(shape, transform.within(shape.find("{*}grpSpPr/{*}xfrm")), depth + 1)
        elif name == "AlternateContent" and depth < MAX_DEPTH:
            choice = _chosen(shape)
            yield from _walk(choice, transform, depth + 1) if choice is not None else ()


def _chosen(alternate: Any) -> Any:
    """What can be drawn: the newer way if it has text or a frame, else what is there for older programs."""
    choice, fallback = alternate.find("{*}Choice"), alternate.find("{*}Fallback")
    if fallback is None or (choice is not None and next(choice.iter("{*}t", "{*}graphicFrame"), None) is not None):
        return choice
    return fallback


def frame(shape: Any) -> Any:
    """The element that says where a shape stands; None if it leaves that to its placeholder."""
    for path in ("{*}spPr/{*}xfrm", "{*}xfrm"):
        found = shape.find(path)
        if found is not None:
            return found
    return None


def placed(shape: Any, transform: Transform, chain: list[Any]) -> Placed:
    """The shape where it, or else the placeholder that it follows, says; without a place, an empty box."""
    for number, one in enumerate(chain):
        own = frame(one)
        box = (transform if number == 0 else Transform(1 / EMU_PER_POINT, 1 / EMU_PER_POINT, 0, 0)).box(own)
        if box is not None:
            turn = (_whole(own, "rot") / _ANGLE_UNITS) % 360
            return Placed(shape, box, turn, (own.get("flipH") in {"1", "true"}, own.get("flipV") in {"1", "true"}))
    return Placed(shape, pymupdf.Rect(0, 0, 0, 0))
