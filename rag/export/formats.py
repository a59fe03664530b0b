"""The export formats of a report."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from rag import parsing
from rag.export.labels import Labels
from rag.export.markdown import to_clipping, to_html, to_markdown, to_text
from rag.export.marks import Translate
from rag.export.report import Report
from rag.export.spreadsheets import to_workbook

ExportFormat = Literal["markdown", "docx", "pdf", "json", "xlsx", "text", "clipping"]


class FileFormat(NamedTuple):
    """An export format: file suffix, MIME type, writer, and whether it includes pictures."""

    suffix: str
    mime_type: str
    write: Callable[[Report, Labels], str | bytes]
    with_pictures: bool = True


_MARKDOWN = "text/markdown; charset=utf-8"
_OFFICE = "application/vnd.openxmlformats-officedocument"
FORMATS: dict[ExportFormat, FileFormat] = {
    "markdown": FileFormat(".md", _MARKDOWN, to_markdown),
    "docx": FileFormat(
        ".docx",
        f"{_OFFICE}.wordprocessingml.document",
        lambda report, words: parsing.html_to_docx(to_html(report, words)),
    ),
    "pdf": FileFormat(
        ".pdf", "application/pdf", lambda report, words: parsing.html_to_pdf(to_html(report, words), title=report.title)
    ),
    "json": FileFormat(
        ".json", "application/json", lambda report, _: report.model_dump_json(by_alias=True, indent=2) + "\n"
    ),
    "xlsx": FileFormat(".xlsx", f"{_OFFICE}.spreadsheetml.sheet", to_workbook, with_pictures=False),
    "text": FileFormat(".txt", "text/plain; charset=utf-8", to_text, with_pictures=False),
    "clipping": FileFormat(".md", _MARKDOWN, to_clipping, with_pictures=False),
}


def write(report: Report, format_name: ExportFormat, say: Translate = str) -> bytes:
    """Write a report in a format, with labels translated by `say`; lone surrogates of broken files are replaced.

    Raises:
        errors.UnreadableFileError: the format's library fails.
    """
    content = FORMATS[format_name].write(report, Labels(say))
    return content.encode("utf-8", errors="replace") if isinstance(content, str) else content
