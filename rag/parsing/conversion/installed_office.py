"""What LibreOffice makes of a file, completed by what it leaves out: comments, notes, and lost text."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rag.parsing import file_types
from rag.parsing.conversion import (
    contents,
    flowing,
    libreoffice,
    metadata,
    odp,
    office,
    paragraphs,
    slide_pages,
    slides,
)
from rag.parsing.conversion.packages import Package
from rag.parsing.conversion.paragraphs import bare
from rag.parsing.conversion.source import Conversion, SourceText
from rag.types import ParsingConfig

MOST_LOST = 0.02
"""If more of a document's characters are lost, the file is better read without LibreOffice."""

Below = list[tuple[str, list[str]]]


def convert(source: Path, mime_type: str, config: ParsingConfig) -> Conversion | None:
    """The file as its own program shows it; None if LibreOffice cannot do it, or loses too much.

    Raises:
        errors.UnreadableFileError: the file is damaged, which is seen before it is given to another program.
    """
    match mime_type:
        case file_types.PPTX:
            return _presentation(source, config)
        case file_types.ODP:
            return _open_presentation(source, config)
        case file_types.DOC | file_types.PPT:
            made = libreoffice.to_pdf(source, mime_type, config)
            return None if made is None else Conversion(made)
    return _document(source, mime_type, config)


def _document(source: Path, mime_type: str, config: ParsingConfig) -> Conversion | None:
    about, said = contents.read(source, mime_type)
    made = libreoffice.to_pdf(source, mime_type, config)
    if made is None:
        return None
    missing = paragraphs.left_out(said, _text(made), never=frozenset({paragraphs.COMMENT}))
    lost = sum(len(bare(one.text)) for one in missing if one.part != paragraphs.COMMENT)
    if lost > MOST_LOST * sum(len(bare(one.text)) for one in said):
        return None
    if missing:
        made.insert_pdf(flowing.lay_out(office.added(missing)))
    about.set_on(made)
    return Conversion(made, tuple(paragraphs.located(said)))


def _presentation(source: Path, config: ParsingConfig) -> Conversion | None:
    with slides.opened(source) as deck:
        texts = deck.texts()
        made = libreoffice.to_pdf(source, file_types.PPTX, config)
        if made is None or made.page_count != len(deck.slides):
            return None
        document = _with_notes(made, [slides.below(slide) for slide in deck.slides], texts)
        deck.about.set_on(document)
        return Conversion(document, texts)


def _open_presentation(source: Path, config: ParsingConfig) -> Conversion | None:
    with Package(source) as package:
        read = odp.read(package)
        about = metadata.read(package)
    made = libreoffice.to_pdf(source, file_types.ODP, config)
    if made is None or made.page_count != len(read):
        return None
    document = _with_notes(made, [[("Notes", odp.notes(slide))] for slide in read], odp.texts(read))
    about.set_on(document)
    return Conversion(document, odp.texts(read))


def _with_notes(made: Any, notes: Sequence[Below], texts: Sequence[SourceText]) -> Any:
    """The slides with their notes, and with what of their texts stands in neither."""
    below = []
    for number, parts in enumerate(notes, start=1):
        there = bare(made[number - 1].get_text()) + "".join(bare(text) for _, lines in parts for text in lines)
        lost = [one.text for one in texts if one.place == f"slide {number}" and bare(one.text) not in there]
        below.append([*parts, ("Other text", lost)])
    return slide_pages.complete(made, below)


def _text(document: Any) -> str:
    return "".join(page.get_text() for page in document)
