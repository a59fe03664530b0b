"""Resolve what the styles of a Word document say, and the numbers that it prints before paragraphs (ECMA-376, 17.9)."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rag.parsing.office.list_numbers import formatted
from rag.parsing.office.package import local

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VALUE = f"{W}val"
_OFF = frozenset({"0", "false", "off", "none"})
_MAX_CHAIN = 50
LEVELS = 9
_PLACEHOLDER = re.compile(r"%([1-9])")
_SEPARATORS = {"nothing": "", "space": " "}


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


class _Level(NamedTuple):
    """One level of a list: its first number, format and text ("%1.%2"), and what resets it."""

    start: int = 1
    kind: str = "decimal"
    text: str = ""
    padding: int = 0
    separator: str = " "
    restart: int | None = None
    is_legal: bool = False
    is_hidden: bool = False
    style: str | None = None


class _List(NamedTuple):
    """A list as paragraphs name it: its definition, whose counters it shares with others, and its own first numbers."""

    definition: str
    levels: list[_Level]
    starts: dict[int, int]


class Numbering:
    """The lists of a document; `root` is the root of the numbering part or None. Numbers paragraphs in their order."""

    def __init__(self, root: Any, styles: Styles) -> None:
        self._styles = styles
        self._lists = _lists(root) if root is not None else {}
        self._counters: dict[str, list[int | None]] = {}
        self._started: set[tuple[str, int]] = set()

    def next_label(self, paragraph: Any) -> str | None:
        """Count a paragraph and return what Word prints before it, with the space behind it.

        None if it is in no list, or has a bullet.
        """
        number, level = self._place(paragraph)
        numbered = self._lists.get(number)
        if numbered is None or not 0 <= level < len(numbered.levels):
            return None
        counters = self._counters.setdefault(numbered.definition, [None] * LEVELS)
        rule, counter = numbered.levels[level], counters[level]
        start = numbered.starts.get(level, rule.start)
        if level in numbered.starts and (number, level) not in self._started:
            counter = None
        self._started.add((number, level))
        counters[level] = start if counter is None else counter + 1
        for deeper in range(level + 1, len(numbered.levels)):
            restart = numbered.levels[deeper].restart
            if restart is None or level < restart:
                counters[deeper] = None
        if rule.kind == "bullet":
            return None
        label = _PLACEHOLDER.sub(lambda match: _part(numbered, counters, rule, int(match[1]) - 1), rule.text)
        return label + rule.separator if label.strip() and not rule.is_hidden else ""

    def _place(self, paragraph: Any) -> tuple[str, int]:
        """Return the list and the level of a paragraph, its own or those of its style."""
        numbers = paragraph.find(f"{W}pPr/{W}numPr")
        styles = list(self._styles.of_paragraph(paragraph))
        inherited = [value for style in styles if (value := style.find(f"{W}pPr/{W}numPr")) is not None]
        number = next((value for name in (numbers, *inherited) if (value := _value(name, "numId"))), "")
        level = _value(numbers, "ilvl")
        if not level:
            ids = [style.get(f"{W}styleId") for style in styles]
            numbered = self._lists.get(number)
            linked = {rule.style: depth for depth, rule in enumerate(numbered.levels)} if numbered else {}
            depth = next((linked[name] for name in ids if name in linked), None)
            level = (
                str(depth) if depth is not None else next((v for name in inherited if (v := _value(name, "ilvl"))), "0")
            )
        return number, int(level) if level.isdecimal() else 0


def _part(numbered: _List, counters: list[int | None], rule: _Level, level: int) -> str:
    if level >= len(numbered.levels):
        return ""
    part = numbered.levels[level]
    counter = counters[level]
    number = numbered.starts.get(level, part.start) if counter is None else counter
    if rule.is_legal and part.kind != "none":
        return str(number)
    return str(number).zfill(part.padding) if part.padding else formatted(number, part.kind)


def _lists(root: Any) -> dict[str, _List]:
    definitions = {item.get(f"{W}abstractNumId"): item for item in root.findall(f"{W}abstractNum")}
    by_style = {_value(item, "styleLink"): key for key, item in definitions.items() if _value(item, "styleLink")}
    lists = {}
    for number in root.findall(f"{W}num"):
        key = _value(number, "abstractNumId")
        if key in definitions:
            key = by_style.get(_value(definitions[key], "numStyleLink"), key)
        levels = _levels(definitions.get(key))
        starts = {}
        for override in number.findall(f"{W}lvlOverride"):
            depth, start = override.get(f"{W}ilvl", ""), _value(override, "startOverride")
            if not depth.isdecimal() or int(depth) >= LEVELS:
                continue
            level = override.find(f"{W}lvl")
            if level is not None:
                levels[int(depth)] = _level(level)
            if start.isdecimal():
                starts[int(depth)] = int(start)
        lists[number.get(f"{W}numId")] = _List(key, levels, starts)
    return lists


def _levels(definition: Any) -> list[_Level]:
    levels = [_Level()] * LEVELS
    for element in definition.findall(f"{W}lvl") if definition is not None else ():
        depth = element.get(f"{W}ilvl", "")
        if depth.isdecimal() and int(depth) < LEVELS:
            levels[int(depth)] = _level(element)
    return levels


def _level(element: Any) -> _Level:
    # A format of several digits ("001, 002, …") is an alternative to one that older programs know.
    kind = next(element.iter(f"{W}numFmt"), None)
    custom = kind.get(f"{W}format", "").partition(",")[0].strip() if kind is not None else ""
    start, restart = _value(element, "start"), _value(element, "lvlRestart")
    return _Level(
        start=int(start) if start.isdecimal() else 0,
        kind=kind.get(VALUE, "decimal") if kind is not None else "decimal",
        text=_value(element, "lvlText"),
        padding=len(custom) if custom.isdecimal() else 0,
        separator=_SEPARATORS.get(_value(element, "suff"), " "),
        restart=int(restart) if restart.isdecimal() else None,
        is_legal=bool(is_on(element, "isLgl")),
        is_hidden=bool(is_on(element.find(f"{W}rPr"), "vanish")),
        style=_value(element, "pStyle") or None,
    )


def _value(element: Any, name: str) -> str:
    child = element.find(f"{W}{name}") if element is not None else None
    return str(child.get(VALUE, "")) if child is not None else ""
