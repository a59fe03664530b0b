"""Convert presentations to PDF: one page per slide, so that page numbers are slide numbers."""

from pathlib import Path
from typing import Any

from rag.parsing import file_types
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.html.layout import PageWriter, Paper
from rag.parsing.html.markup import HIDDEN_CLASS
from rag.parsing.office import embedded
from rag.parsing.pdf.mupdf import HIDDEN_COLOR, pymupdf
from rag.parsing.slides import opendocument, powerpoint
from rag.parsing.slides.deck import Deck

_STYLE = f"""
body {{ margin: 0; font-family: sans-serif; font-size: 14pt; line-height: 1.25 }}
h1 {{ font-size: 24pt; margin: 0 0 10pt 0 }}
p {{ margin: 5pt 0 0 0 }}
table {{ border-collapse: collapse; margin: 8pt 0 }}
td {{ border: 0.5pt solid #888; padding: 3pt 6pt; font-size: 12pt }}
.below {{ border-top: 0.5pt solid #888; margin-top: 18pt; padding-top: 3pt; font-size: 11pt; color: #333 }}
.{HIDDEN_CLASS} {{ color: #{HIDDEN_COLOR:06x} }}
"""
_WIDTH_PT = 720.0
_BELOW_GAP_PT = 9.0
_MIN_ASPECT, _MAX_ASPECT = 0.5, 1.5


def to_pdf(source: Path, mime_type: str, unpacking: Unpacking) -> Conversion:
    """Convert the presentation at `source` to PDF without LibreOffice, hidden slides included.

    Files embedded in it are stored with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    deck = read(source, mime_type)
    embedded.store(deck.files, unpacking)
    aspect = min(max(deck.size[1] / deck.size[0], _MIN_ASPECT), _MAX_ASPECT)
    with PageWriter(deck.pictures) as writer:
        for slide in deck.slides:  # as high as its content needs
            writer.add_page(slide.complete_html(), _STYLE, Paper(_WIDTH_PT, aspect * _WIDTH_PT))
    document = writer.document()
    deck.about.set_on(document)
    return Conversion(document, deck.source_texts())


def read(source: Path, mime_type: str) -> Deck:
    """Read a presentation.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    return powerpoint.read(source) if mime_type == file_types.PPTX else opendocument.read(source)


def add_notes(drawn: Any, deck: Deck) -> Any:
    """Add notes, comments and missing texts below the slides of a PDF that another program made."""
    with PageWriter() as writer:
        for page, slide in zip(drawn, deck.slides, strict=True):
            html, (width, height) = slide.html_below(page.get_text()), page.rect.br
            writer.add_page(html, _STYLE, Paper(width, height), top=height + _BELOW_GAP_PT)
    document = writer.document()
    for number, page in enumerate(document):
        box = drawn[number].rect
        page.show_pdf_page(pymupdf.Rect(0, 0, box.width, box.height), drawn, number, overlay=False)
    return document
