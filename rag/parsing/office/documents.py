"""Convert DOCX, ODT and RTF to PDF: Pandoc makes HTML, and text that it leaves out is added. EPUB is HTML itself."""

import html
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path, PurePosixPath

from lxml import etree

from rag import errors, types
from rag.parsing import file_types
from rag.parsing.archive import file_list
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.conversion import Conversion
from rag.parsing.encoding import decode
from rag.parsing.html import markup, text_files
from rag.parsing.html.layout import lay_out
from rag.parsing.mail import eml
from rag.parsing.office import docx, embedded, epub, odf, pandoc, paragraphs, rtf
from rag.parsing.office.docx_rewriting import imported_part, placeholder
from rag.parsing.office.embedded import EmbeddedFile
from rag.parsing.office.package import Package
from rag.parsing.office.paragraphs import Contents, Paragraph

MAX_IMPORT_DEPTH = 3
"""Documents imported into imported documents deeper than this are left out."""
_FORMATS = {file_types.DOCX: "docx", file_types.ODT: "odt", file_types.RTF: "rtf"}
_TITLES = {
    paragraphs.HEADER: "Headers",
    paragraphs.BODY: "Other text",
    paragraphs.BOX: "Text boxes",
    paragraphs.NOTE: "Notes",
    paragraphs.COMMENT: "Comments",
    paragraphs.FOOTER: "Footers",
    paragraphs.HIDDEN: markup.HIDDEN_HEADING,
}
"""Headings above text that is added after a document."""


def to_pdf(source: Path, mime_type: str, config: types.ParsingConfig, unpacking: Unpacking) -> Conversion:
    """Convert the document at `source` to PDF; store the files embedded in it with `unpacking`.

    Raises:
        errors.UnreadableFileError: the file is damaged, or exceeds the limits of time or memory.
    """
    contents = read(source, mime_type)
    if mime_type == file_types.EPUB:
        with Package(source) as package:
            chapters, pictures = epub.html(package)
        document = lay_out(*chapters, images=pictures)
        contents.about.set_on(document)
        return Conversion(document, tuple(paragraphs.located(contents.paragraphs)))
    before, body, after = completed(_body(contents, mime_type, config), contents.paragraphs)
    embedded.store(contents.files, unpacking)
    files = file_list.section("Embedded files", unpacking.parts)
    document = lay_out(before, body, after, files.html)
    contents.about.set_on(document)
    return Conversion(document, (*paragraphs.located(contents.paragraphs), *files.texts), contents.note)


def read(source: Path, mime_type: str, *, depth: int = 0) -> Contents:
    """Read the metadata, every paragraph and embedded files without Pandoc.

    `depth` is that of a document imported into another one.

    Raises:
        errors.UnreadableFileError: the file is damaged.
    """
    if mime_type == file_types.RTF:
        return rtf.read(source.read_bytes())
    with Package(source) as package:
        about = package.metadata()
        if mime_type == file_types.DOCX:
            return _with_imports(docx.read(package), depth)._replace(about=about)
        if mime_type == file_types.ODT:
            return odf.read(package)._replace(about=about)
        return Contents(list(epub.read(package)), about=about)


def _with_imports(contents: Contents, depth: int) -> Contents:
    """Replace the names of imported documents by their paragraphs; those that cannot be read are files."""
    imports = dict(contents.imports)
    result: list[Paragraph] = []
    unread: list[EmbeddedFile] = []
    for paragraph in contents.paragraphs:
        name = imported_part(paragraph.text)
        if name is None:
            result.append(paragraph)
        elif name in imports:
            with _imported(name, imports[name]) as (path, kind):
                if kind in _FORMATS and depth < MAX_IMPORT_DEPTH:
                    document = read(path, kind, depth=depth + 1)
                    result += document.paragraphs
                    unread += document.files
                elif (page := _markup(path, kind)) is not None:
                    parts = text_files.read_html(page)
                    result += (Paragraph(paragraph.part, part.text, part.is_heading) for part in parts)
                else:
                    unread.append(EmbeddedFile(PurePosixPath(name).name, imports[name]))
    return contents._replace(paragraphs=paragraphs.once(result), files=(*unread, *contents.files))


@contextmanager
def _imported(name: str, content: bytes) -> Iterator[tuple[Path, str]]:
    """Write an imported document to a temporary file and detect its type, "" if it is none that can be read."""
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        path = Path(folder) / "imported"
        path.write_bytes(content)
        try:
            kind = file_types.detect_mime_type(path, name)
        except (errors.UnreadableFileError, errors.UnsupportedFileError):
            kind = ""
        yield path, kind


def _markup(path: Path, kind: str) -> str | None:
    """Return an imported web page or text as HTML, None if it is neither."""
    if kind == file_types.HTML:
        return decode(path.read_bytes(), is_html=True)
    if kind not in {file_types.EML, file_types.TEXT, file_types.MARKDOWN}:
        return None
    bodies = eml.read(path).bodies if kind == file_types.EML else (eml.Body(decode(path.read_bytes())),)
    return "".join(
        body.text if body.is_html else f"<pre>\n{html.escape(body.text, quote=False)}</pre>" for body in bodies
    )


def _body(contents: Contents, mime_type: str, config: types.ParsingConfig, depth: int = 0) -> str:
    """Return the document as HTML, "" if Pandoc does not understand it."""
    try:
        with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
            prepared = Path(folder) / "prepared"
            prepared.write_bytes(contents.prepared)
            body = pandoc.to_html(prepared, _FORMATS[mime_type], config)
    except pandoc.NotUnderstood:
        return ""
    for name, content in contents.imports:
        place, page = html.escape(placeholder(name), quote=False), _import_as_html(name, content, config, depth)
        body = body.replace(f"<p>{place}</p>", page).replace(place, page)  # cells have no paragraphs, notes a link back
    return body + "".join(chart.html() for chart in contents.charts)


def _import_as_html(name: str, content: bytes, config: types.ParsingConfig, depth: int) -> str:
    with _imported(name, content) as (path, kind):
        if kind in _FORMATS and depth < MAX_IMPORT_DEPTH:
            return _body(read(path, kind, depth=depth + 1), kind, config, depth + 1)
        page = _markup(path, kind)
        body = markup.read(page).find("body") if page is not None else None
        if body is None:
            return ""
        body.tag = "div"  # parsed and written again, so that unclosed tags end here
        return str(etree.tostring(body, method="html", encoding="unicode"))


def completed(body: str, source: Iterable[Paragraph]) -> tuple[str, str, str]:
    """Return headers, `body`, and all other paragraphs of `source` that `body` lacks, as HTML."""
    source = list(source)
    if not body:
        hidden = [paragraph for paragraph in source if paragraph.part == paragraphs.HIDDEN]
        return "", "".join(_lines(text for text in source if text.part != paragraphs.HIDDEN)), added(hidden)
    page = markup.read(body)
    converted = str(page.text_content())
    for struck in list(page.iter("del")):
        struck.drop_tree()
    missing = paragraphs.left_out(source, converted + str(page.text_content()))
    headers = [paragraph for paragraph in missing if paragraph.part == paragraphs.HEADER]
    return "".join(_lines(headers)), body, added(text for text in missing if text.part != paragraphs.HEADER)


def added(missing: Iterable[Paragraph]) -> str:
    """Return paragraphs that a converter left out as HTML, grouped under headings."""
    order = list(_TITLES)
    sections = []
    for part, group in groupby(sorted(missing, key=lambda one: order.index(one.part)), key=lambda one: one.part):
        attributes = f' class="{markup.HIDDEN_CLASS}"' if part == paragraphs.HIDDEN else ""
        sections.append(f"<div{attributes}><h2>{_TITLES[part]}</h2>{''.join(_lines(group))}</div>")
    return "".join(sections)


def _lines(added: Iterable[Paragraph]) -> Iterator[str]:
    for paragraph in added:
        yield "<p>" + html.escape(paragraph.text.strip()).replace("\n", "<br>") + "</p>"
