"""Tell from the styles of HTML which text nobody sees, which is struck out, and which is raised or lowered.

Style sheets in the file, style attributes and the attributes of old HTML count, external style sheets are unknown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import cssselect2
import tinycss2
from tinycss2.color3 import RGBA, parse_color

MIN_SIZE_PX = 2.0
"""Smaller type is a dot to the eye."""
MIN_CONTRAST = 24 / 255
"""Least difference in red, green or blue between text and its background."""
MIN_OPACITY = 0.08
FAR_PX = 900.0
"""Text moved further than this to the left or up is off the screen."""
MAX_RAISED_SIZE = 0.9
"""Largest type, relative to the text around it, of a mark that is raised by its alignment at the top."""
MAX_RULES = 20_000
"""Further rules of style sheets are ignored."""

_PX = {"px": 1.0, "pt": 4 / 3, "pc": 16.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "rem": 16.0}
_SIZES_PX = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0}
_LENGTH = re.compile(r"(-?(?:\d{1,9}(?:\.\d{0,9})?|\.\d{1,9}))(px|pt|pc|in|cm|mm|rem|em|ex|%|)")
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")
_MEDIA = re.compile(r"(?:only )?(?:all|screen)?", re.IGNORECASE)
"""Matches the media for which the rules always count on a screen."""
_READ = frozenset((
    "-webkit-background-clip", "background", "background-clip", "background-color", "background-image", "bottom",
    "clip", "clip-path", "color", "content-visibility", "display", "font", "font-size", "height", "left",
    "margin-left", "max-height", "max-width", "mso-hide", "opacity", "overflow", "overflow-x", "overflow-y",
    "position", "right", "text-decoration", "text-decoration-line", "text-indent", "top", "transform",
    "vertical-align", "visibility", "width",
))  # fmt: skip
"""The properties that matter here."""
_STRUCK_TAGS = frozenset(("s", "strike", "del"))
_STYLING_ATTRIBUTES = frozenset(("style", "hidden", "bgcolor", "background", "color", "text"))

_Values = dict[str, str]
"""Values by property, in lower case."""


class Style(NamedTuple):
    """What counts for the text of an element.

    `color` and `background` are None if unknown, `size` is in pixels. `is_gone` hides all content, the other reasons
    only text for which nothing else is said. `shift` is 1 for raised text, -1 for lowered text.
    """

    is_gone: bool = False
    is_invisible: bool = False
    is_struck: bool = False
    size: float = 16.0
    color: RGBA | None = RGBA(0, 0, 0, 1)
    background: RGBA | None = RGBA(1, 1, 1, 1)
    shift: int = 0

    @property
    def is_hidden(self) -> bool:
        """Whether nobody sees the text."""
        return self.is_gone or self.is_invisible or self.size < MIN_SIZE_PX or self._is_same_color()

    def _is_same_color(self) -> bool:
        if self.color is None:
            return False
        if self.color.alpha < MIN_OPACITY:
            return True
        pairs = zip(self.color[:3], self.background[:3], strict=True) if self.background else ()
        return self.background is not None and all(abs(text - paper) < MIN_CONTRAST for text, paper in pairs)


class Styles:
    """The styles of one HTML tree."""

    def __init__(self, root: Any) -> None:
        self._rules: dict[Any, list[_Values]] = {}
        self._important: dict[Any, list[_Values]] = {}
        self._parsed: dict[str, tuple[_Values, _Values]] = {}
        sheets = ["".join(sheet.itertext()) for sheet in root.iter("style")]
        self._match(root, sheets)
        has_others = any("stylesheet" in link.get("rel", "").lower() for link in root.iter("link"))
        has_others = has_others or any("@import" in sheet.lower() for sheet in sheets)
        self.initial = Style(background=None) if has_others else Style()

    def of(self, element: Any, name: str, parent: Style) -> Style:
        """Return the style of an element in an element with the style `parent`."""
        values = self._values(element)
        if not values and name not in _STRUCK_TAGS and name != "dialog":
            return parent._replace(shift=0) if parent.shift else parent
        size = _font_size(values, parent.size)
        decoration = values.get("text-decoration-line", values.get("text-decoration", ""))
        is_struck = "line-through" in decoration or (name in _STRUCK_TAGS and "none" not in decoration)
        visibility = values.get("visibility")
        return Style(
            is_gone=parent.is_gone or _is_gone(element, name, values, size),
            is_invisible=visibility in {"hidden", "collapse"} if visibility else parent.is_invisible,
            is_struck=parent.is_struck or is_struck,
            size=size,
            color=_color(values, parent),
            background=_background(values, parent),
            shift=_shift(values, size, parent.size),
        )

    def _match(self, root: Any, sheets: Iterable[str]) -> None:
        """Find the elements for each rule of the style sheets, in the order of increasing priority."""
        matcher = cssselect2.Matcher()
        count = 0
        for sheet in sheets:
            for selectors, values, important in _rules(sheet):
                for selector in selectors:
                    if selector.pseudo_element is None and count < MAX_RULES:
                        matcher.add_selector(selector, (values, important))
                        count += 1
        if not count:
            return
        for element in cssselect2.ElementWrapper.from_html_root(root).iter_subtree():
            rules = [payload for *_, payload in matcher.match(element)]
            if rules:
                self._rules[element.etree_element] = [values for values, _ in rules]
                self._important[element.etree_element] = [values for _, values in rules]

    def _values(self, element: Any) -> _Values:
        """Return the values that apply to an element by the cascade."""
        attributes = element.attrib
        if element not in self._rules and not any(name in _STYLING_ATTRIBUTES for name in attributes):
            return {}
        style = attributes.get("style", "")
        if style not in self._parsed:
            self._parsed[style] = _declarations(tinycss2.parse_blocks_contents(style, True, True))
        values, important = self._parsed[style]
        applied = _of_attributes(attributes)
        for rule in (*self._rules.get(element, ()), values, *self._important.get(element, ()), important):
            applied.update(rule)
        return applied


def _rules(sheet: str) -> Iterator[tuple[list[Any], _Values, _Values]]:
    for rule in tinycss2.parse_stylesheet(sheet.replace("<!--", "").replace("-->", ""), True, True):
        if rule.type == "at-rule" and rule.lower_at_keyword == "media" and rule.content is not None:
            if _MEDIA.fullmatch(" ".join(tinycss2.serialize(rule.prelude).split())):
                yield from _rules(tinycss2.serialize(rule.content))
        elif rule.type == "qualified-rule":
            values, important = _declarations(tinycss2.parse_blocks_contents(rule.content, True, True))
            if not values and not important:
                continue
            try:
                yield cssselect2.compile_selector_list(rule.prelude), values, important
            except cssselect2.SelectorError:
                continue


def _declarations(nodes: Iterable[Any]) -> tuple[_Values, _Values]:
    """Return the values that matter here, and those of them that are important."""
    values: _Values = {}
    important: _Values = {}
    for node in nodes:
        if node.type == "declaration" and node.lower_name in _READ:
            (important if node.important else values)[node.lower_name] = tinycss2.serialize(node.value).strip().lower()
    return values, important


def _of_attributes(attributes: Mapping[str, str]) -> _Values:
    """Return the values that attributes of HTML stand for."""
    values: _Values = {}
    if "hidden" in attributes:
        values["display"] = "none"
    if attributes.get("background"):
        values["background-image"] = "url()"
    for name, key in (("bgcolor", "background-color"), ("color", "color"), ("text", "color")):
        if value := attributes.get(name, "").strip().lower():
            values[key] = f"#{value}" if re.fullmatch("[0-9a-f]{6}", value) else value
    return values


def _is_gone(element: Any, name: str, values: _Values, size: float) -> bool:
    display = values.get("display", "none" if name == "dialog" and "open" not in element.attrib else "")
    return (
        display == "none"
        or values.get("content-visibility") == "hidden"
        or "all" in values.get("mso-hide", "")
        or _number(values.get("opacity", "1")) < MIN_OPACITY
        or values.get("transform", "").replace(" ", "").startswith(("scale(0)", "scale(0,"))
        or _is_off_screen(values, size)
        or _is_clipped(values, size)
    )


def _is_off_screen(values: _Values, size: float) -> bool:
    sides = ["text-indent", "margin-left"]
    if values.get("position") in {"absolute", "fixed"}:
        sides += ["left", "top", "right", "bottom"]
    return any((_length(values.get(side, ""), size) or 0) < -FAR_PX for side in sides)


def _is_clipped(values: _Values, size: float) -> bool:
    """Whether the box of the element shows nothing, or a pixel for the sake of screen readers."""
    if inset := re.match(r"inset\((\d+)%", values.get("clip-path", "")):
        return int(inset[1]) >= 50
    clip = values.get("clip", "")
    if clip.startswith("rect(") and values.get("position") in {"absolute", "fixed"}:
        return all(float(side) <= 1 for side in _NUMBER.findall(clip))
    if not any(values.get(name, "") in {"hidden", "clip"} for name in ("overflow", "overflow-x", "overflow-y")):
        return False
    sides = (_length(values.get(side, ""), size) for side in ("height", "max-height", "width", "max-width"))
    return any(side is not None and side <= 1 for side in sides)


def _color(values: _Values, parent: Style) -> RGBA | None:
    if "text" in {values.get("background-clip"), values.get("-webkit-background-clip")}:
        return None
    color = parse_color(values["color"]) if "color" in values else None
    return color if isinstance(color, RGBA) else parent.color


def _background(values: _Values, parent: Style) -> RGBA | None:
    """Return the colour behind the text, None if it is a picture, a gradient or another element."""
    background = None if values.get("position") in {"absolute", "fixed"} else parent.background
    for name in ("background", "background-image", "background-color"):
        value = values.get(name, "")
        if "(" in value and not value.startswith(("rgb", "hsl")):
            return None
        for word in re.findall(r"[\w#-]+(?:\([^)]*\))?", value):
            color = parse_color(word)
            if isinstance(color, RGBA) and color.alpha:
                background = color if color.alpha > 0.5 else None
    return background


def _shift(values: _Values, size: float, around: float) -> int:
    """Return 1 if the text of an inline element stands above the line, -1 if below, else 0."""
    align = values.get("vertical-align", "")
    if align == "super" or (align in {"top", "text-top"} and size <= MAX_RAISED_SIZE * around):
        return 1
    shift = -1.0 if align == "sub" else _length(align, size) or 0
    if not shift and values.get("position") == "relative" and size <= MAX_RAISED_SIZE * around:
        shift = (_length(values.get("bottom", ""), size) or 0) - (_length(values.get("top", ""), size) or 0)
    return (shift > 0) - (shift < 0)


def _font_size(values: _Values, around: float) -> float:
    value = values.get("font-size", "")
    if not value:  # in the shorthand, the size stands before the name of the font and may have a line height
        value = next((word.partition("/")[0] for word in values.get("font", "").split() if _LENGTH.match(word)), "")
    if value in {"smaller", "larger"}:
        return around / 1.2 if value == "smaller" else around * 1.2
    length = _length(value, around)
    return _SIZES_PX.get(value, around) if length is None else length


def _length(value: str, size: float) -> float | None:
    """Return a length in pixels, shares and ems of the font's `size`; None if `value` is none."""
    match = _LENGTH.fullmatch(value)
    if match is None:
        return None
    factor = size / 100 if match[2] == "%" else size / 2 if match[2] == "ex" else size if match[2] == "em" else None
    return float(match[1]) * (_PX.get(match[2], 1.0) if factor is None else factor)


def _number(value: str) -> float:
    """Return the first number in `value`, with percent as a share if it ends with it; 1 if there is none."""
    match = _NUMBER.search(value)
    return (float(match[0]) / (100 if value.endswith("%") else 1)) if match else 1.0
