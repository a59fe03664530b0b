"""A page that is drawn operator by operator: text, rules and tints, and letters beside them that are no text.

Those are drawn as shapes, so that they are seen and never read: annotations would be read with the page.
"""

import html
from collections.abc import Iterator
from typing import Any

from rag.parsing.conversion.type_setting import UNITS_PER_EM, Faces, Line
from rag.parsing.pdf.mupdf import pymupdf
from rag.parsing.sheet_grid import CONTINUED_PT

RULE_GREY, RULE_PT = 0.78, 0.5
TOUCH_PT = 0.05


class Canvas:
    """A new page of `document`; places are points from its top left. Nothing is on it before `finish`."""

    def __init__(self, document: Any, faces: Faces, size: tuple[float, float]) -> None:
        self.document = document
        self.size = size
        self.page = document.new_page(width=size[0], height=size[1])
        self._faces = faces
        self._used: dict[str, Any] = {}
        self._fills: list[bytes] = []
        self._rules: dict[tuple[bool, float], list[list[float]]] = {}
        self._texts: list[bytes] = []
        self._html: list[tuple[float, float, float, str, bool]] = []

    def text(self, x: float, y: float, text: str, size: float, *, bold: bool, grey: float = 0.0) -> None:
        """A line of text whose baseline begins at `x`, `y`."""
        face = self._faces.of(text, bold=bold)
        if face is None:
            self._html.append((x, y, size, text, bold))
            return
        self._used[face.name] = face
        place = f"BT {grey:.2f} g /{face.name} {size:g} Tf {x:.2f} {self.size[1] - y:.2f} Td ".encode()
        self._texts.append(place + face.operand(text) + b" Tj ET")

    def cell_line(
        self, left: float, y: float, line: Line, size: float, width: float, *, bold: bool, right: bool
    ) -> None:
        """A line of a cell that begins at `left`, flush right in `width` if wanted."""
        if right:
            left += max(0.0, width - self._faces.width(line.text, size, bold=bold))
        self.text(left + (CONTINUED_PT if line.continues else 0.0), y, line.text, size, bold=bold)

    def rule(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """A thin line, upright or level; one that goes on where another ends is the same."""
        is_level = y0 == y1
        at, start, end = (y0, x0, x1) if is_level else (x0, y0, y1)
        lines = self._rules.setdefault((is_level, round(at, 2)), [])
        if lines and abs(lines[-1][1] - start) < TOUCH_PT:
            lines[-1][1] = end
        else:
            lines.append([start, end])

    def _drawn_rules(self) -> Iterator[bytes]:
        if self._rules:
            yield f"{RULE_GREY:g} G {RULE_PT:g} w".encode()
        for (is_level, at), lines in self._rules.items():
            for start, end in lines:
                x0, y0, x1, y1 = (start, at, end, at) if is_level else (at, start, at, end)
                yield f"{x0:.2f} {self.size[1] - y0:.2f} m {x1:.2f} {self.size[1] - y1:.2f} l S".encode()

    def fill(self, x: float, y: float, width: float, height: float, grey: float) -> None:
        """A tint below the text."""
        self._fills.append(self._box(x, y, width, height, grey))

    def beside(self, x: float, y: float, text: str, size: float, *, align: float, grey: float) -> None:
        """Words drawn as shapes; `align` is the share of their width that stands left of `x`."""
        x -= align * self._faces.width(text, size, bold=False)
        face = self._faces.of(text, bold=False) or self._faces.plain
        for character in text:
            scale = size / UNITS_PER_EM
            place = f"q {grey:.2f} g {scale:g} 0 0 {scale:g} {x:.2f} {self.size[1] - y:.2f} cm "
            self._fills.append(place.encode() + face.outline(character) + b" Q")
            x += face.width(character, size)

    def _box(self, x: float, y: float, width: float, height: float, grey: float) -> bytes:
        return f"{grey:.2f} g {x:.2f} {self.size[1] - y - height:.2f} {width:.2f} {height:.2f} re f".encode()

    def finish(self) -> None:
        """Puts everything on the page."""
        for face in self._used.values():
            face.insert(self.page)
        content = self._stream("<<>>", b"\n".join([*self._fills, *self._drawn_rules(), *self._texts]))
        for x, y, size, text, bold in self._html:
            self._set_html(x, y, size, text, bold)
        # After what runs from right to left: MuPDF would take the words that stand before it on the line for its own.
        contents = " ".join(f"{xref} 0 R" for xref in [*self.page.get_contents(), content])
        self.document.xref_set_key(self.page.xref, "Contents", f"[{contents}]")

    def _stream(self, head: str, content: bytes) -> int:
        xref: int = self.document.get_new_xref()
        self.document.update_object(xref, head)
        self.document.update_stream(xref, content)
        return xref

    def _set_html(self, x: float, y: float, size: float, text: str, bold: bool) -> None:
        """Text that must be shaped, or of a script that only MuPDF's fallback fonts have."""
        text = " ".join(text.split())  # as HTML has it, or what is drawn would differ from what it is said to be
        width = 4 * size + self._faces.width(text, size, bold=bold)
        box = pymupdf.Rect(x, y - 1.1 * size, min(x + width, self.size[0]), y + 0.5 * size)
        weight = "bold" if bold else "normal"
        css = f"* {{font-family: sans-serif; font-size: {size}px; font-weight: {weight}; white-space: nowrap}}"
        before = {*self.page.get_contents()}
        self.page.insert_htmlbox(box, html.escape(text), css=css)
        for xref in {*self.page.get_contents()} - before:
            self._name_text(xref, text)

    def _name_text(self, xref: int, text: str) -> None:
        """Says which text is drawn: of shaped letters and ligatures not all can be told by their glyphs."""
        content = self.document.xref_stream(xref)
        if b" Do" in content:
            actual = f"\ufeff{text}".encode("utf-16-be").hex()
            marked = f"/Span <</ActualText <{actual}>>> BDC\n".encode() + content + b"\nEMC"
            self.document.update_stream(xref, marked)
