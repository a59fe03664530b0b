"""A presentation as it was read from a file, and HTML for what stands on its slides."""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lxml import html as parser

from rag.messages import N_
from rag.parsing.conversion import SourceText
from rag.parsing.html.markup import HIDDEN_CLASS, HIDDEN_HEADING, escaped
from rag.parsing.office.embedded import EmbeddedFile
from rag.parsing.office.package import Metadata
from rag.parsing.office.paragraphs import bare
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, pymupdf

MAX_PICTURE_PT = (640.0, 360.0)
INDENT_PT, HANGING_PT = 18, 12
MAX_LEVEL, MAX_SPAN = 8, 100


@dataclasses.dataclass
class Slide:
    """A slide: its content as HTML in reading order, sections such as notes below it, all its texts, and those hidden.

    `texts` are read independently of the HTML, so that nothing gets lost.
    """

    html: list[str] = dataclasses.field(default_factory=list)
    below: list[tuple[str, list[str]]] = dataclasses.field(default_factory=list)
    texts: list[str] = dataclasses.field(default_factory=list)
    hidden: list[str] = dataclasses.field(default_factory=list)

    def complete_html(self) -> str:
        """Return the whole slide as HTML, with all texts that the content lacks at its end."""
        body = "".join(self.html)
        return body + self.html_below(str(parser.fromstring(f"<div>{body}</div>").text_content()))

    def html_below(self, shown: str) -> str:
        """Return the sections, what is hidden, and all texts that neither they nor the text `shown` have, as HTML."""
        texts = [*self.hidden, *(text for _, paragraphs in self.below for text in paragraphs)]
        there = bare(shown) + "".join(map(bare, texts))
        missing = [text for text in self.texts if bare(text) not in there]
        sections = [*self.below, ("Other text", missing), (HIDDEN_HEADING, self.hidden)]
        return "".join(
            f'<div class="below"><div class="{HIDDEN_CLASS if paragraphs is self.hidden else ""}"><p><b>{title}</b></p>'
            f"{''.join(paragraph(lines(text)) for text in paragraphs)}</div></div>"
            for title, paragraphs in sections
            if paragraphs
        )


class Deck(NamedTuple):
    """A presentation; `size` is that of its slides in points.

    `pictures` are those that the HTML refers to, `files` are embedded.
    """

    about: Metadata
    size: tuple[float, float]
    slides: list[Slide]
    pictures: dict[str, bytes]
    files: tuple[EmbeddedFile, ...] = ()

    def source_texts(self) -> tuple[SourceText, ...]:
        """Return every text with its slide's number."""
        return tuple(
            SourceText(N_("slide {number}").format(number=number), text)
            for number, slide in enumerate(self.slides, 1)
            for text in slide.texts
        )


class Cell(NamedTuple):
    """A table cell: the paragraphs in it as HTML, and how many columns and rows it spans."""

    paragraphs: Sequence[str]
    span: int = 1
    rows: int = 1


def paragraph(html: str, *, mark: str = "", level: int = 0) -> str:
    """Return a paragraph as HTML, behind a bullet or number `mark` and indented by its level in a list."""
    indent = INDENT_PT * min(level, MAX_LEVEL)
    if not mark:
        return f'<p style="margin-left:{indent}pt">{html}</p>'
    style = f"margin-left:{indent + HANGING_PT}pt;text-indent:-{HANGING_PT}pt"
    return f'<p style="{style}">{mark}&ensp;{html}</p>'


def table(rows: Iterable[Iterable[Cell]]) -> str:
    """Return a table as HTML."""
    html = "<table>"
    for row in rows:
        html += "<tr>"
        for cell in row:
            across = f' colspan="{min(cell.span, MAX_SPAN)}"' if cell.span > 1 else ""
            down = f' rowspan="{min(cell.rows, MAX_SPAN)}"' if cell.rows > 1 else ""
            html += f"<td{across}{down}>{'<br>'.join(cell.paragraphs)}</td>"
        html += "</tr>"
    return html + "</table>"


def picture(pictures: dict[str, bytes], content: bytes, size: tuple[float, float], description: str = "") -> str:
    """Return a picture of a size in points as HTML; of a kind that cannot be shown, its description.

    The content is added to `pictures`.
    """
    try:
        image = pymupdf.mupdf.fz_new_image_from_buffer(pymupdf.mupdf.fz_new_buffer_from_copied_data(content))
    except MUPDF_ERRORS:
        return paragraph(lines(f"[Picture: {description}]")) if description else ""
    name = next((name for name, picture in pictures.items() if picture == content), f"picture-{len(pictures) + 1}")
    pictures[name] = content
    width, height = size if min(size) > 0 else (image.w(), image.h())
    scale = min(1.0, MAX_PICTURE_PT[0] / width, MAX_PICTURE_PT[1] / height)
    return f'<p><img src="{name}" width="{scale * width:.0f}" height="{scale * height:.0f}"></p>'


def lines(text: str) -> str:
    """Return text as HTML that keeps its line breaks."""
    return lines_within(text.strip())


def lines_within(text: str) -> str:
    """Return a part of a text as HTML that keeps its line breaks."""
    return escaped(text).replace("\v", "\n").replace("\n", "<br>")
