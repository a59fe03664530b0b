"""Convert spreadsheets and delimited text (CSV, TSV) to PDF."""

from pathlib import Path

from rag.parsing import file_types
from rag.parsing.archive.file_list import listed
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion, OnPages, SourceText
from rag.parsing.office import embedded
from rag.parsing.sheets import delimited, ods, pages, xls, xlsx
from rag.parsing.sheets.sheet import Workbook

ROWS_PER_PAGE = 45


def to_pdf(
    source: Path, mime_type: str, unpacking: Unpacking | None = None, on_pages: OnPages = lambda _: None
) -> Conversion:
    """Convert the spreadsheet at `source` to PDF, each sheet on its own pages; store embedded files with `unpacking`.

    `on_pages` receives the estimated number of pages.

    Raises:
        errors.UnreadableFileError: the file is damaged, or too large.
    """
    readers = {file_types.XLSX: xlsx.read, file_types.XLS: xls.read, file_types.ODS: ods.read}
    if mime_type in readers:
        book = readers[mime_type](source)
    else:
        book = Workbook([delimited.read(source, is_tabbed=mime_type == file_types.TSV)])
    on_pages(sum(1 + len(sheet.cells) // ROWS_PER_PAGE for sheet in book.sheets))
    texts = [text for sheet in book.sheets for text in sheet.texts()]
    files: list[str] = []
    if unpacking is not None:
        embedded.store(book.files, unpacking)
        files = listed(unpacking.parts)
        texts += [SourceText("the list of files", line) for line in files]
    document = pages.draw(book.sheets, files)
    book.about.set_on(document)
    return Conversion(document, tuple(texts))
