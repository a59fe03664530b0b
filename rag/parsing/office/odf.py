"""Read OpenDocument files (ODT, ODP), and rewrite texts so that simple readers see what an office program prints.

Numbers of lists and headings become text, deletions become struck out text, and hidden text is taken out.
"""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from lxml import etree

from rag.parsing.office import embedded, paragraphs
from rag.parsing.office.charts import Chart
from rag.parsing.office.list_numbers import formatted
from rag.parsing.office.package import Package, local
from rag.parsing.office.paragraphs import Changes, Contents, Paragraph

MAX_SPACES = 1_000
"""Maximum number of spaces that one <text:s> element may stand for."""
CONTENT = "content.xml"
STYLES = "styles.xml"
_OBJECTS = r"Object \d+/content\.xml"
_APART = {"note-body": paragraphs.NOTE, "annotation": paragraphs.COMMENT, "text-box": paragraphs.BOX}
_UNSEEN = frozenset({"tracked-changes", "sequence-decls", "forms", "automatic-styles", "font-face-decls"})
_MARGINS = {
    f"{name}{pages}": part
    for name, part in (("header", paragraphs.HEADER), ("footer", paragraphs.FOOTER))
    for pages in ("", "-left", "-first")
}
_PREFIX = "{urn:oasis:names:tc:opendocument:xmlns:"
TEXT, STYLE, OFFICE, FO = (f"{_PREFIX}{name}:1.0}}" for name in ("text", "style", "office", "xsl-fo-compatible"))
_STRUCK = "Pagelight-struck-out"
"""The name of a style that is added for deleted text."""
_FORMATS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "": "none"}
_MAX_CHAIN = 50
_POINTS = re.compile(r"(\d+(?:\.\d+)?)pt")
MIN_POINTS = 2.0
"""Smaller text cannot be seen."""
LEVELS = 10


def read(package: Package) -> Contents:
    """Read an ODT: every paragraph of its body, headers, footers and charts, and what is hidden.

    The paragraphs are numbered, hidden text is taken out, and deletions are struck out.
    """
    content, styles = package.xml(CONTENT), package.xml(STYLES)
    texts: list[Paragraph] = []
    hidden: list[str] = []
    changes, rewritten = Changes(), dict[str, bytes]()
    if content is not None:
        rewriting = Rewriting(content, styles)
        changes = rewriting.show_changes()
        hidden = rewriting.take_out_hidden()
        rewriting.number()
        texts += of_element(content)
        rewritten[CONTENT] = etree.tostring(content, encoding="UTF-8")
    for element in styles.iter() if styles is not None else ():
        if local(element) in _MARGINS:
            texts += of_element(element, _MARGINS[local(element)])
    for chart in (read_chart(package.xml(name)) for name in package.matching(_OBJECTS)):
        texts += (Paragraph(paragraphs.BOX, text) for text in chart.texts()) if chart else ()
    texts += (Paragraph(paragraphs.HIDDEN, text) for text in hidden)
    files = tuple(embedded.of_open_document(package))
    return Contents(paragraphs.once(texts), changes.note, files, package.rewritten(rewritten))


def read_chart(root: Any) -> Chart | None:
    """Read the titles and the data of a chart in the content of an embedded object, None if it is another one."""
    if next(root.iter("{*}chart"), None) is None:
        return None
    titles = [_joined(title) for title in root.iter("{*}title", "{*}subtitle")]
    rows = [tuple(map(_joined, row.findall("{*}table-cell"))) for row in root.iter("{*}table-row")]
    return Chart(tuple(filter(None, titles)), tuple(row for row in rows if any(row)))


def _joined(element: Any) -> str:
    return " ".join(" ".join(paragraph.text for paragraph in of_element(element)).split())


def of_element(element: Any, part: str = paragraphs.BODY) -> Iterator[Paragraph]:
    """Yield the paragraphs in `element` in document order."""
    name = local(element)
    if not name or name in _UNSEEN:
        return
    part = _APART.get(name, part)
    if name in {"p", "h"}:
        text = "".join(words(element))
        if text.strip():
            yield Paragraph(part, text, heading=name == "h")
    for child in element:
        yield from of_element(child, part)


def words(element: Any) -> Iterator[str]:
    """Yield the text of a paragraph without the paragraphs nested in it."""
    yield element.text or ""
    for child in element:
        name = local(child)
        yield blank(child)
        if name and name not in _APART and name not in {"p", "h", "ruby-text", "object", "object-ole"}:
            yield from words(child)
        yield child.tail or ""


def blank(element: Any) -> str:
    """Return the white space for which an element stands, "" if it is another one."""
    match local(element):
        case "s":
            return " " * min(int(element.get(f"{TEXT}c", "1")), MAX_SPACES)
        case "tab":
            return "\t"
        case "line-break":
            return "\n"
    return ""


class _Level(NamedTuple):
    """One level of a list style; a bullet has no format."""

    kind: str | None
    prefix: str
    suffix: str
    start: int
    shown_levels: int


class Rewriting:
    """Rewrites the content `root` with the styles of another part, None if there is none."""

    def __init__(self, root: Any, styles: Any) -> None:
        self._root = root
        roots = [part for part in (styles, root) if part is not None]
        self._styles = {
            (style.get(f"{STYLE}family"), style.get(f"{STYLE}name")): style
            for part in roots
            for style in part.iter(f"{STYLE}style")
        }
        self._lists = {
            style.get(f"{STYLE}name"): _levels(style) for part in roots for style in part.iter(f"{TEXT}list-style")
        }
        self._outline = next((_levels(style) for part in roots for style in part.iter(f"{TEXT}outline-style")), {})
        self._counters_by_style: dict[str, list[int]] = {}
        self._counters = [0] * LEVELS
        self._list_ids: dict[str, str] = {}

    def number(self) -> None:
        """Write the numbers of headings and lists."""
        self._number_headings()
        for outer in list(self._root.iter(f"{TEXT}list")):
            if not any(local(above) == "list" for above in outer.iterancestors()):
                self._number_list(outer, outer.get(f"{TEXT}style-name"), 0)

    def _property(self, family: str, name: str | None, key: str) -> str | None:
        """Return what a style, or one that it is based on, says about text."""
        for style in self._chain(family, name):
            for properties in style.findall(f"{STYLE}text-properties"):
                value = properties.get(key)
                if value is not None:
                    return str(value)
        return None

    def _chain(self, family: str, name: str | None) -> Iterator[Any]:
        for _ in range(_MAX_CHAIN):
            style = self._styles.get((family, name))
            if style is None:
                return
            yield style
            name = style.get(f"{STYLE}parent-style-name")

    def show_changes(self) -> Changes:
        """Put deleted text back where it was, struck out, and count the changes."""
        deleted: dict[str, str] = {}
        insertions = 0
        for region in self._root.iter(f"{TEXT}changed-region"):
            deletion = region.find(f"{TEXT}deletion")
            insertions += region.find(f"{TEXT}insertion") is not None
            if deletion is not None:
                paragraphs = deletion.iter(f"{TEXT}p", f"{TEXT}h")
                text = " ".join("".join(paragraph.itertext()) for paragraph in paragraphs)
                deleted[region.get(f"{TEXT}id") or region.get("{http://www.w3.org/XML/1998/namespace}id")] = text
        for change in list(self._root.iter(f"{TEXT}change")):
            span = etree.Element(f"{TEXT}span", {f"{TEXT}style-name": _STRUCK})
            span.text, span.tail = deleted.get(change.get(f"{TEXT}change-id"), ""), change.tail
            if local(change.getparent()) in {"p", "h", "span", "a"}:
                change.getparent().replace(change, span)
            else:
                paragraph = etree.Element(f"{TEXT}p")
                span.tail = None
                paragraph.append(span)
                change.getparent().replace(change, paragraph)
        automatic = self._root.find(f"{OFFICE}automatic-styles")
        if deleted and automatic is None:
            automatic = etree.Element(f"{OFFICE}automatic-styles")
            self._root.insert(0, automatic)
        if deleted:
            style = etree.SubElement(automatic, f"{STYLE}style", {f"{STYLE}name": _STRUCK, f"{STYLE}family": "text"})
            line = {f"{STYLE}text-line-through-style": "solid", f"{STYLE}text-line-through-type": "single"}
            etree.SubElement(style, f"{STYLE}text-properties", line)
        return Changes(insertions, len(deleted))

    def take_out_hidden(self) -> list[str]:
        """Remove hidden text, and return it."""
        hidden = []
        names = (f"{TEXT}{name}" for name in ("span", "p", "h", "section", "hidden-text"))
        for element in list(self._root.iter(*names)):
            if self._is_hidden(element):
                text = " ".join("".join(element.itertext()).split())
                if text:
                    hidden.append(text)
                _remove(element)
        return hidden

    def _is_hidden(self, element: Any) -> bool:
        match local(element):
            case "section":
                return bool(element.get(f"{TEXT}display") == "none")
            case "hidden-text":
                return bool(element.get(f"{TEXT}is-hidden") != "false")
        if any(mark.get(f"{TEXT}is-hidden") == "true" for mark in element.findall(f"{TEXT}hidden-paragraph")):
            return True
        family = "text" if local(element) == "span" else "paragraph"
        style = element.get(f"{TEXT}style-name")
        return self._property(family, style, f"{TEXT}display") == "none" or self._is_invisible(element, family, style)

    def _is_invisible(self, element: Any, family: str, style: str | None) -> bool:
        """Whether the text of a style is too small to be seen, or white on the white page."""
        if family == "paragraph" and element.find(f"{TEXT}span") is not None:
            return False  # spans may look different
        size = _POINTS.fullmatch(self._property(family, style, f"{FO}font-size") or "")
        if size and float(size[1]) < MIN_POINTS:
            return True
        if (self._property(family, style, f"{FO}color") or "").lower() != "#ffffff":
            return False
        # Tables and frames mostly have a background of their own.
        above = [element, *element.iterancestors()]
        looks = [
            properties
            for holder in above
            for kind in ("text", "paragraph")
            for parent in self._chain(kind, holder.get(f"{TEXT}style-name"))
            for properties in parent
        ]
        is_backed = any(look.get(f"{FO}background-color", "transparent") != "transparent" for look in looks)
        return not is_backed and not any(local(holder) in {"table-cell", "frame", "custom-shape"} for holder in above)

    def _number_headings(self) -> None:
        """Write the numbers of headings that are numbered as chapters, outside of lists."""
        counters = [0] * LEVELS
        for heading in self._root.iter(f"{TEXT}h"):
            in_list = any(local(above) == "list" for above in heading.iterancestors())
            level = _integer(heading.get(f"{TEXT}outline-level"), 1) - 1
            rule = self._outline.get(level)
            if in_list or rule is None or rule.kind is None or heading.get(f"{TEXT}is-list-header") == "true":
                continue
            _count(counters, level, self._outline, _integer(heading.get(f"{TEXT}start-value"), None))
            _write_label(heading, _label(counters, level, self._outline))

    def _number_list(self, element: Any, style: str | None, level: int) -> None:
        """Write the numbers of a list and those in it, and replace it by its items; lists with bullets stay."""
        if level >= LEVELS:
            return
        style = element.get(f"{TEXT}style-name") or style or self._style_of_first_paragraph(element)
        levels = self._lists.get(style or "", {})
        if level == 0:
            self._begin_list(element, style or "")
        counters, rule = self._counters, levels.get(level)
        is_numbered = rule is not None and rule.kind is not None
        for item in list(element):
            if local(item) == "list-item":
                _count(counters, level, levels, _integer(item.get(f"{TEXT}start-value"), None))
                first = next((child for child in item if local(child) in {"p", "h"}), None)
                if first is not None and is_numbered:
                    _write_label(first, _label(counters, level, levels))
            for child in item.findall(f"{TEXT}list"):
                self._number_list(child, style, level + 1)
        if is_numbered:
            parent = element.getparent()
            position = parent.index(element)
            parent[position : position + 1] = [child for item in element for child in item if local(child) != "number"]

    def _begin_list(self, element: Any, style: str) -> None:
        """Find the counters of a list: those of another one that it continues, or new ones."""
        key = self._list_ids.get(element.get(f"{TEXT}continue-list", ""), style)
        is_continued = f"{TEXT}continue-list" in element.attrib or element.get(f"{TEXT}continue-numbering") == "true"
        if not is_continued or key not in self._counters_by_style:
            self._counters_by_style[key] = [0] * LEVELS
        self._counters = self._counters_by_style[key]
        identity = element.get("{http://www.w3.org/XML/1998/namespace}id")
        if identity:
            self._list_ids[identity] = key

    def _style_of_first_paragraph(self, element: Any) -> str | None:
        """Return the list style that a list without one has from its first paragraph."""
        paragraph = next(element.iter(f"{TEXT}p", f"{TEXT}h"), None)
        if paragraph is None:
            return None
        chain = self._chain("paragraph", paragraph.get(f"{TEXT}style-name"))
        return next((name for style in chain if (name := style.get(f"{STYLE}list-style-name"))), None)


def _levels(style: Any) -> dict[int, _Level]:
    levels = {}
    for element in style:
        kind = element.get(f"{STYLE}num-format")
        levels[_integer(element.get(f"{TEXT}level"), 1) - 1] = _Level(
            kind=_FORMATS.get(kind or "", "decimal")
            if "number" in local(element) or "outline" in local(element)
            else None,
            prefix=element.get(f"{STYLE}num-prefix", ""),
            suffix=element.get(f"{STYLE}num-suffix", ""),
            start=_integer(element.get(f"{TEXT}start-value"), 1),
            shown_levels=_integer(element.get(f"{TEXT}display-levels"), 1),
        )
    return levels


def _count(counters: list[int], level: int, levels: dict[int, _Level], start: int | None) -> None:
    """Count an item; its own number may be given."""
    if not 0 <= level < len(counters):
        return
    first = levels[level].start if level in levels else 1
    counters[level] = start if start is not None else counters[level] + 1 if counters[level] else first
    counters[level + 1 :] = [0] * (len(counters) - level - 1)


def _label(counters: list[int], level: int, levels: dict[int, _Level]) -> str:
    rule = levels[level]
    if rule.kind in {None, "none"}:
        return f"{rule.prefix}{rule.suffix}".strip()
    depths = range(max(0, level - rule.shown_levels + 1), level + 1)
    kinds = ((depth, levels[depth].kind) for depth in depths if depth in levels)
    numbers = [
        formatted(counters[depth] or levels[depth].start, kind) for depth, kind in kinds if kind not in {None, "none"}
    ]
    return f"{rule.prefix}{'.'.join(numbers)}{rule.suffix}"


def _write_label(paragraph: Any, label: str) -> None:
    if label.strip():
        paragraph.text = f"{label} {paragraph.text or ''}"


def _remove(element: Any) -> None:
    """Remove an element, but not the text behind it."""
    parent, previous = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and previous is not None:
        previous.tail = (previous.tail or "") + element.tail
    elif element.tail:
        parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _integer(text: str | None, default: Any) -> Any:
    return int(text) if text and text.isdecimal() else default
