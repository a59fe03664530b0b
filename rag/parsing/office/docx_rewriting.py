"""Rewrite parts of Word documents so that simple readers see what Word prints.

Numbers of lists and the state of form fields become text, deletions become struck out text, hidden text is taken out,
text boxes move behind their paragraph, and content controls are dissolved.
"""

import copy
import re
from typing import Any

from lxml import etree

from rag.parsing.office.docx_styles import VALUE, Numbering, Styles, W, is_on
from rag.parsing.office.package import local
from rag.parsing.office.paragraphs import Changes
from rag.parsing.pdf import glyph_names

NOTE_NUMBER = "number"
"""Attribute of a reference to a note with its number, which Word works out like Pandoc."""
_IMPORTED = "\ue000"
"""Surrounds the name of a part whose content belongs in place of a paragraph."""
_UNSEEN = frozenset({"Fallback", "sdtPr", "sdtEndPr", "customXmlPr"})
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
MAX_INVISIBLE_HALF_POINTS = 3
"""Text up to this size cannot be seen."""
MAX_COLUMNS = 63
"""Word's limit of columns in a table."""
TICKED, EMPTY = "☒", "☐"
_CODE = re.compile("[fF0]0([0-9a-fA-F]{2})")
_SYMBOL_CODES = range(0xF000, 0xF100)
"""Where Word puts the codes of symbol fonts in Unicode."""


def imported_part(text: str) -> str | None:
    """Return the name of the part that stands in place of a paragraph, None if it is an ordinary one."""
    return text[1:-1] if text.startswith(_IMPORTED) and text.endswith(_IMPORTED) else None


def placeholder(part: str) -> str:
    """Return the text of the paragraph in whose place a part stands."""
    return f"{_IMPORTED}{part}{_IMPORTED}"


class Rewriting:
    """Rewrites the XML part `root`; `targets` are the names of other parts by the ids of relations to them."""

    def __init__(self, root: Any, styles: Styles, numbering: Numbering, targets: dict[str, str]) -> None:
        self._root = root
        self._styles = styles
        self.hidden: list[str] = []
        self.changes = self._count_changes()
        self._choose_alternatives()
        self._import_parts(targets)
        self._show_form_fields()
        self._show_symbols()
        self._strike_out()
        self._take_out_hidden()
        self._raise()
        self._number(numbering)
        self._unwrap()
        self._part_nested_tables()
        self._complete_grids()

    def _all(self, *names: str) -> list[Any]:
        return list(self._root.iter(*(f"{W}{name}" for name in names)))

    def _count_changes(self) -> Changes:
        content = tuple(f"{W}{name}" for name in ("t", "delText", "drawing", "object"))
        counts = (
            sum(next(change.iter(*content), None) is not None for change in self._all(*names))
            for names in (("ins", "moveTo"), ("del", "moveFrom"))
        )
        return Changes(*counts)

    def _choose_alternatives(self) -> None:
        for fallback in list(self._root.iter("{*}Fallback")):
            choices = fallback.getparent().findall("{*}Choice")
            if choices and next(choices[0].iter("{*}txbxContent"), None) is not None:
                fallback.getparent().remove(fallback)

    def _import_parts(self, targets: dict[str, str]) -> None:
        for chunk in self._all("altChunk"):
            part = targets.get(chunk.get(_RELATION_ID, ""))
            if part:
                paragraph = etree.Element(f"{W}p")
                paragraph.append(_text_run(placeholder(part)))
                chunk.getparent().replace(chunk, paragraph)

    def _show_form_fields(self) -> None:
        """Write the state of boxes and lists, which Word draws from the properties of fields and content controls."""
        for properties in self._root.iter("{*}sdtPr"):
            box = properties.find("{*}checkbox")
            content = properties.getparent().find("{*}sdtContent")
            if box is None or content is None:
                continue
            texts = list(content.iter(f"{W}t", f"{W}sym"))
            if not texts:
                continue
            checked = box.find("{*}checked")
            is_ticked = checked is not None and next(iter(checked.attrib.values()), "1") in {"1", "true", "on"}
            texts[0].getparent().replace(texts[0], _text(TICKED if is_ticked else EMPTY))
            for other in texts[1:]:
                other.getparent().remove(other)
        for data in self._all("ffData"):
            text = _field_text(data)
            run = next(data.iterancestors(f"{W}r"), None)
            if text and run is not None:
                run.addprevious(_text_run(text))

    def _show_symbols(self) -> None:
        for symbol in self._all("sym"):
            digits = _CODE.fullmatch(symbol.get(f"{W}char", ""))
            character = _symbol(symbol.get(f"{W}font", ""), 0xF000 + int(digits[1], 16)) if digits else None
            if character:
                symbol.getparent().replace(symbol, _text(character))
        for font in self._all("rFonts"):
            for text in font.getparent().getparent().findall(f"{W}t"):
                name = font.get(f"{W}ascii", "")
                text.text = "".join(_symbol(name, ord(char)) or char for char in text.text or "")

    def _strike_out(self) -> None:
        """Strike out deleted text and what formatting strikes out; accept insertions and moves."""
        rows = [row for row in self._all("tr") if row.find(f"{W}trPr/{W}del") is not None]
        cells = [next(mark.iterancestors(f"{W}tc"), mark) for mark in self._all("cellDel")]
        deleted = {run for part in (*rows, *cells, *self._all("del", "moveFrom")) for run in part.iter(f"{W}r")}
        for run in self._all("r"):
            if run in deleted or self._styles.is_on(run, "strike") or self._styles.is_on(run, "dstrike"):
                _strike(run)
        for mark in self._root.iterfind(f".//{W}p/{W}pPr/{W}rPr/{W}del/.."):
            if not _is_valid(mark.getparent().getparent()):
                mark.find(f"{W}del").tag = f"{W}strike"  # else it would become part of the next one
        for text in self._all("delText"):
            text.tag = f"{W}t"
        for change in reversed(self._all("ins", "del", "moveTo", "moveFrom")):
            if local(change.getparent()) not in {"rPr", "trPr", "numPr"}:
                _replace_by_children(change)

    def _take_out_hidden(self) -> None:
        """Move the text of hidden runs and rows to `hidden`, one text per paragraph."""
        rows = [row for row in self._all("tr") if is_on(row.find(f"{W}trPr"), "hidden")]
        in_rows = {run for row in rows for run in row.iter(f"{W}r")}
        texts: dict[Any, str] = {}
        for run in self._all("r"):
            if run in in_rows or self._styles.is_on(run, "vanish") or self._is_invisible(run):
                paragraph = next(run.iterancestors(f"{W}p"), None)
                texts[paragraph] = texts.get(paragraph, "") + "".join(t.text or "" for t in run.iter(f"{W}t"))
                for child in run:
                    if local(child) not in {"rPr", "fldChar", "instrText"}:
                        run.remove(child)
        self.hidden = [text for text in texts.values() if text.strip()]
        for row in rows:
            row.getparent().remove(row)

    def _is_invisible(self, run: Any) -> bool:
        """Whether a run is too small to be seen, or white on the white page."""
        looks = self._styles.of_run(run)
        size, color = (
            next((value for look in looks if (value := look.find(f"{W}{name}")) is not None), None)
            for name in ("sz", "color")
        )
        half_points = size.get(VALUE, "") if size is not None else ""
        if half_points.isdecimal() and int(half_points) <= MAX_INVISIBLE_HALF_POINTS:
            return True
        if color is None or color.get(VALUE, "").upper() != "FFFFFF" or self._root.find(f"{W}background") is not None:
            return False
        # Tables and text boxes mostly have a background of their own.
        holders = (f"{W}tbl", "{*}txbxContent", "{*}txbx")
        if next(run.iterancestors(*holders), None) is not None:
            return False
        paragraph = next(run.iterancestors(f"{W}p"), None)
        shades = [look.find(f"{W}{name}") for look in looks for name in ("shd", "highlight")]
        shades += [
            look.find(f"{W}pPr/{W}shd")
            for look in (paragraph, *self._styles.of_paragraph(paragraph))
            if look is not None
        ]
        return all(shade is None for shade in shades)

    def _raise(self) -> None:
        for position in self._all("position"):
            properties = position.getparent()
            is_raised = re.fullmatch(r"[1-9]\d*", position.get(VALUE, "")) is not None
            if is_raised and properties.find(f"{W}vertAlign") is None:
                etree.SubElement(properties, f"{W}vertAlign").set(VALUE, "superscript")

    def _number(self, numbering: Numbering) -> None:
        for number, reference in enumerate(self._all("footnoteReference", "endnoteReference"), start=1):
            reference.set(NOTE_NUMBER, str(number))
        for paragraph in self._all("p"):
            properties = paragraph.find(f"{W}pPr")
            mark = properties.find(f"{W}rPr") if properties is not None else None
            is_gone = (is_on(mark, "strike") or is_on(mark, "vanish")) and not _is_valid(paragraph)
            label = "" if is_gone else numbering.next_label(paragraph)
            if label is None:
                continue
            if properties is None:
                properties = etree.Element(f"{W}pPr")
                paragraph.insert(0, properties)
            list_mark = properties.find(f"{W}numPr")
            if list_mark is not None:
                properties.remove(list_mark)
            etree.SubElement(etree.SubElement(properties, f"{W}numPr"), f"{W}numId").set(VALUE, "0")
            if label:
                properties.addnext(_text_run(label))

    def _unwrap(self) -> None:
        for box in reversed(list(self._root.iter("{*}txbxContent"))):
            _move_behind_paragraph(box)
        for element in reversed(self._all("fldSimple", "smartTag", "customXml", "sdtContent", "sdt")):
            _replace_by_children(element)

    def _part_nested_tables(self) -> None:
        """Move tables inside the cells of tables with data behind their row, where the outer table is parted in two.

        The layout keeps only the innermost tables, as outer ones mostly arrange them on the page.
        """
        tables = self._all("tbl")
        with_data = {table for table in tables if _has_data(table)}
        for table in reversed(tables):
            row: Any = next(table.iterancestors(f"{W}tr"), None)
            outer: Any = row.getparent() if row is not None else None
            if outer not in with_data:
                continue
            rest = list(row.itersiblings(f"{W}tr"))
            if rest:
                second = copy.deepcopy(outer)
                for copied in second.findall(f"{W}tr"):
                    second.remove(copied)
                second.extend(rest)
                outer.addnext(second)
            if table.getnext() is None:
                table.addnext(etree.Element(f"{W}p"))
            outer.addnext(table)

    def _complete_grids(self) -> None:
        """Give each table columns for its widest row; Word works them out where a file leaves them out."""
        for table in self._all("tbl"):
            grid = table.find(f"{W}tblGrid")
            if grid is None:
                grid = etree.Element(f"{W}tblGrid")
                table.insert(1 if table.find(f"{W}tblPr") is not None else 0, grid)
            spans = (
                [cell.find(f"{W}tcPr/{W}gridSpan") for cell in row.findall(f"{W}tc")] for row in table.findall(f"{W}tr")
            )
            widest = max((sum(_span(span) for span in row) for row in spans), default=0)
            for _ in range(len(grid), min(widest, MAX_COLUMNS)):
                etree.SubElement(grid, f"{W}gridCol", {f"{W}w": "1000"})  # Pandoc ignores columns without a width


def _span(span: Any) -> int:
    value = span.get(VALUE, "1") if span is not None else "1"
    return int(value) if value.isdecimal() and len(value) < 4 else 1


def _has_data(table: Any) -> bool:
    """Whether a table has several rows, and one of them has text in two cells, not counting tables inside them."""
    rows = [
        sum(any(text.text for child in cell.findall(f"{W}p") for text in child.iter(f"{W}t")) for cell in row)
        for row in table.findall(f"{W}tr")
    ]
    return len(rows) > 1 and max(rows) > 1


def _text(text: str) -> Any:
    element = etree.Element(f"{W}t")
    element.text = text
    element.set(_SPACE, "preserve")
    return element


def _symbol(font: str, code: int) -> str | None:
    """Return the character of a code in a symbol font; None if it is not known, or the font is another one."""
    name = glyph_names.symbol_font(font)
    return glyph_names.by_code(name, code) if name and code in _SYMBOL_CODES else None


def _text_run(text: str) -> Any:
    run = etree.Element(f"{W}r")
    run.append(_text(text))
    return run


def _field_text(data: Any) -> str:
    """Return what Word draws for a form field that has no text of its own: a box, or the chosen entry of a list."""
    box, choices = data.find(f"{W}checkBox"), data.find(f"{W}ddList")
    if box is not None:
        checked = is_on(box, "checked")
        return TICKED if (is_on(box, "default") if checked is None else checked) else EMPTY
    if choices is None:
        return ""
    entries = [entry.get(VALUE, "") for entry in choices.findall(f"{W}listEntry")]
    settings = (choices.find(f"{W}{name}") for name in ("result", "default"))
    chosen = next((choice.get(VALUE, "") for choice in settings if choice is not None), "0")
    return entries[int(chosen)] if chosen.isdecimal() and int(chosen) < len(entries) else ""


def _is_valid(paragraph: Any) -> bool:
    """Whether a paragraph has text that is neither struck out nor hidden."""
    return any(
        (text.text or "").strip() and not is_on(text.getparent().find(f"{W}rPr"), "strike")
        for text in paragraph.iter(f"{W}t")
    )


def _strike(run: Any) -> None:
    properties = run.find(f"{W}rPr")
    if properties is None:
        properties = etree.Element(f"{W}rPr")
        run.insert(0, properties)
    toggle = properties.find(f"{W}strike")
    if toggle is None:
        toggle = etree.SubElement(properties, f"{W}strike")
    toggle.set(VALUE, "1")


def _move_behind_paragraph(box: Any) -> None:
    holder = next(box.iterancestors(f"{W}p"), None)
    if holder is None:
        return
    place = holder
    for child in box:
        moved = copy.deepcopy(child)
        place.addnext(moved)
        place = moved
    box.getparent().remove(box)


def _replace_by_children(element: Any) -> None:
    parent = element.getparent()
    if parent is None:
        return
    position = parent.index(element)
    kept = [child for child in element if local(child) not in _UNSEEN and not local(child).endswith("Pr")]
    parent[position : position + 1] = kept
