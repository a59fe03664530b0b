"""Small generated office files and books. All functions return the file's bytes."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from rag.parsing import conversion, file_types, renditions
from rag.parsing.archive.unpacking import Unpacking
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import ParsingConfig, Unpacked

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DRAWING = (
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
    ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
)
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{kind}:1.0"'
    for name, kind in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("style", "style"),
        ("fo", "xsl-fo-compatible"),
        ("svg", "svg-compatible"),
        ("presentation", "presentation"),
        ("meta", "meta"),
    )
)
_DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'


def convert(folder: Path, content: bytes, kind: str, config: ParsingConfig) -> conversion.Conversion:
    """Convert a file without attachments."""
    (folder / "source").write_bytes(content)
    nothing = Unpacking("source", folder, Unpacked(), config)
    return renditions.convert(folder / "source", kind, config, nothing, lambda pages: None)


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP file."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return content.getvalue()


def picture() -> bytes:
    """A PNG of one colour."""
    pixels = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 30))
    pixels.clear_with(90)
    return bytes(pixels.tobytes("png"))


def p(text: str, style: str = "") -> str:
    """A paragraph of Word."""
    looks = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{looks}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def word_table(*rows: str) -> str:
    """A table of Word; `rows` are cells."""
    grid = '<w:tblGrid><w:gridCol w:w="2000"/><w:gridCol w:w="2000"/><w:gridCol w:w="2000"/></w:tblGrid>'
    return f"<w:tbl><w:tblPr/>{grid}" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"


def word_cell(text: str, span: int = 1) -> str:
    """A cell over `span` columns."""
    return f'<w:tc><w:tcPr><w:gridSpan w:val="{span}"/></w:tcPr>{p(text)}</w:tc>'


def text_box(text: str) -> str:
    """A paragraph with an anchored text box, in the current and in the older format."""
    inner = f"<w:txbxContent>{p(text)}</w:txbxContent>"
    return (
        "<w:p><w:r><w:t>Anchor of the box.</w:t></w:r><w:r><mc:AlternateContent>"
        f'<mc:Choice Requires="wps"><w:drawing><wps:wsp><wps:txbx>{inner}</wps:txbx></wps:wsp></w:drawing></mc:Choice>'
        f"<mc:Fallback><w:pict><w:textbox>{inner}</w:textbox></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>"
    )


def word_picture(relation: str = "rId9", *, linked: bool = False) -> str:
    """A paragraph with the picture of a relation."""
    blip = f'<a:blip r:{"link" if linked else "embed"}="{relation}"/>'
    size = '<a:ext cx="1270000" cy="952500"/>'
    fill = f"<pic:blipFill>{blip}<a:stretch><a:fillRect/></a:stretch></pic:blipFill>"
    inner = f'<pic:pic><pic:nvPicPr/>{fill}<pic:spPr><a:xfrm><a:off x="0" y="0"/>{size}</a:xfrm></pic:spPr></pic:pic>'
    data = f'<a:graphic><a:graphicData uri="http://x">{inner}</a:graphicData></a:graphic>'
    return (
        '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1270000" cy="952500"/>'
        f'<wp:docPr id="1" name="p" descr="Grey"/>{data}</wp:inline></w:drawing></w:r></w:p>'
    )


def relation(kind: str, target: str, identity: str, *, external: bool = False) -> str:
    """A relation of the main part of a DOCX."""
    mode = ' TargetMode="External"' if external else ""
    return f'<Relationship Id="{identity}" Type="{_OFFICE}/{kind}" Target="{target}"{mode}/>'


def run(text: str, properties: str = "") -> str:
    """A run of Word with a look."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def item(text: str, number: int, level: int = 0) -> str:
    """A paragraph of Word in the list `number`."""
    place = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return f"<w:p><w:pPr>{place}</w:pPr>{run(text)}</w:p>"


def list_level(level: int, kind: str, text: str, more: str = "") -> str:
    """A level of a list definition of Word that begins at 1."""
    start = f'<w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
    return f'<w:lvl w:ilvl="{level}">{start}{more}<w:lvlText w:val="{text}"/></w:lvl>'


def rewritten(content: bytes, replaced: Mapping[str, str], *, backslashes: bool = False) -> bytes:
    """A ZIP file with words replaced in its XML parts and in their names."""
    parts = {}
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        for name in file.namelist():
            part, new_name = file.read(name), name.replace("/", "\\") if backslashes else name
            for old, new in replaced.items():
                part = part.replace(old.encode(), new.encode()) if name.endswith((".xml", ".rels")) else part
                new_name = new_name.replace(old, new)
            parts[new_name] = part
    return archive(parts)


def strict(content: bytes) -> bytes:
    """An Office Open XML file in the strict variant of the format."""
    kinds = ("wordprocessingml", "presentationml", "drawingml", "officeDocument")
    usual = "http://schemas.openxmlformats.org"
    return rewritten(content, {f"{usual}/{kind}/2006/": f"http://purl.oclc.org/ooxml/{kind}/" for kind in kinds})


def docx(
    body: str,
    *,
    parts: Mapping[str, str | bytes] | None = None,
    relations: str = "",
    prolog: str = "",
    core: str = "",
    lists: str = "",
    styles: str = "",
) -> bytes:
    """A DOCX; `parts` are further parts by name below word/ (for XML parts, the root's content).

    `lists` and `styles` are the definitions of lists and styles.
    """
    parts = dict(parts or {})
    if lists:
        parts["numbering.xml"] = lists
        relations += relation("numbering", "numbering.xml", "rId90")
    if styles:
        parts["styles.xml"] = styles
        relations += relation("styles", "styles.xml", "rId91")
    kinds = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    types = (
        f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.'
        'openxmlformats-package.relationships+xml"/><Default Extension="png" ContentType="image/png"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{kinds}.document.main+xml"/></Types>'
    )
    main = f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    named = {"header1.xml": "hdr", "footer1.xml": "ftr", "comments.xml": "comments", "footnotes.xml": "footnotes"}
    named |= {"numbering.xml": "numbering", "styles.xml": "styles"}
    others = {
        f"word/{name}": f"<w:{named[name]} {_WORD} {_DRAWING}>{part!s}</w:{named[name]}>" if name in named else part
        for name, part in parts.items()
    }
    return archive(
        {
            "[Content_Types].xml": types,
            "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{main}</Relationships>',
            "word/_rels/document.xml.rels": (
                f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId2" Type="{_OFFICE}/footnotes"'
                f' Target="footnotes.xml"/>{relations}</Relationships>'
            ),
            "word/document.xml": f"{prolog}<w:document {_WORD} {_DRAWING}><w:body>{body}</w:body></w:document>",
            "docProps/core.xml": (
                f'<cp:coreProperties xmlns:cp="{_PACKAGE}/metadata/core-properties" {_DC}'
                f' xmlns:dcterms="http://purl.org/dc/terms/">{core}</cp:coreProperties>'
            ),
            **others,
        }
    )


def image_relation(target: str, *, external: bool = False) -> str:
    """The relation rId9, to a picture."""
    return relation("image", target, "rId9", external=external)


def _open_document(kind: str, body: str, styles: str, meta: str, others: Mapping[str, str | bytes]) -> bytes:
    mimetype = file_types.ODT if kind == "text" else file_types.ODP
    return archive(
        {
            "mimetype": mimetype,
            "META-INF/manifest.xml": '<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
            "content.xml": (
                f"<office:document-content {_ODF} {_DC}><office:automatic-styles/>"
                f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
            ),
            "styles.xml": f"<office:document-styles {_ODF}><office:styles/>{styles}</office:document-styles>",
            "meta.xml": (
                f"<office:document-meta {_ODF} {_DC}><office:meta>{meta}</office:meta></office:document-meta>"
            ),
            **others,
        }
    )


def odt(body: str, *, header: str = "", meta: str = "", automatic: str = "", common: str = "") -> bytes:
    """An ODT with a page header, `automatic` styles of the content and `common` ones."""
    page = f"<style:header><text:p>{header}</text:p></style:header>" if header else ""
    styles = (
        f"<office:master-styles><style:master-page style:name='S'>{page}</style:master-page></office:master-styles>"
    )
    content = _open_document("text", body, styles, meta, {})
    tags = {"automatic-styles": automatic, "styles": common}
    return rewritten(
        content, {f"<office:{tag}/>": f"<office:{tag}>{inner}</office:{tag}>" for tag, inner in tags.items()}
    )


def odp(*slides: str, others: Mapping[str, str | bytes] | None = None) -> bytes:
    """An ODP; `slides` has the content of each."""
    pages = "".join(f'<draw:page draw:name="p{number}">{slide}</draw:page>' for number, slide in enumerate(slides))
    layout = '<style:page-layout-properties fo:page-width="28cm" fo:page-height="21cm"/>'
    styles = f'<office:automatic-styles><style:page-layout style:name="L">{layout}</style:page-layout>'
    return _open_document("presentation", pages, f"{styles}</office:automatic-styles>", "", others or {})


def frame(inner: str, x: float = 2.0, y: float = 2.0, width: float = 20.0, height: float = 4.0) -> str:
    """A frame of a slide, positioned in centimetres."""
    place = f'svg:x="{x}cm" svg:y="{y}cm" svg:width="{width}cm" svg:height="{height}cm"'
    return f"<draw:frame {place}>{inner}</draw:frame>"


def epub(*chapters: str, metadata: str = "<dc:title>A Book</dc:title>", look: str = "") -> bytes:
    """An EPUB; `chapters` are the bodies of its XHTML files, `look` is their style sheet."""
    names = [f"c{number}.xhtml" for number in range(len(chapters))]
    items = "".join(f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    spine = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata {_DC}>{metadata}</metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
        '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    head = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><link rel="stylesheet" href="look.css"/></head><body>'
    )
    return archive(
        {
            "mimetype": file_types.EPUB,
            "META-INF/container.xml": container,
            "OPS/book.opf": package,
            "OPS/look.css": look,
            **{f"OPS/{name}": f"{head}{body}</body></html>" for name, body in zip(names, chapters, strict=True)},
        }
    )


def rtf(body: str) -> bytes:
    """An RTF file in Windows-1252."""
    return ("{\\rtf1\\ansi\\ansicpg1252 " + body + "}").encode("cp1252")
