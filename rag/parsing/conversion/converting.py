"""Which converter reads which kind of file."""

from pathlib import Path

from rag.parsing import filetype
from rag.parsing.conversion import flowing
from rag.parsing.conversion.source import Conversion


def convert(source: Path, mime_type: str) -> Conversion:
    """The file at `source` as a PDF.

    Raises:
        errors.UnreadableFileError: it is damaged.
    """
    if mime_type == filetype.PPTX:
        from rag.parsing.conversion import slides  # python-pptx costs each parsing process a quarter of a second

        return slides.to_pdf(source)
    if mime_type in filetype.IMAGES:
        from rag.parsing.conversion import images  # Pillow and its plugins take a tenth of a second

        return images.to_pdf(source)
    return flowing.to_pdf(source, mime_type)
