"""Small generated PDFs; each shows one feature of real files. All functions return the file's bytes."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pptx
from pptx.util import Inches

from rag.parsing.pdf.mupdf import pymupdf

WIDTH, HEIGHT = 595, 842
SENTENCES = (
    "The lighthouse keeper recorded the tide at dawn.",
    "Copper prices rose by 14 percent in the second quarter.",
    "Nobody expected the northern bridge to reopen so early.",
    "The committee approved the budget of 3.2 million euros.",
    "Seven herons nested beside the abandoned paper mill.",
    "Rainfall in April was the lowest since records began.",
)


def finish(document: Any, **options: Any) -> bytes:
    """Close the document and return its bytes."""
    content: bytes = document.tobytes(**options)
    document.close()
    return content


def write(page: Any, x: float, y: float, text: str, *, size: float = 11, bold: bool = False, rotate: int = 0) -> None:
    """Write a line of text on `page` with its baseline starting at x, y."""
    page.insert_text((x, y), text, fontsize=size, fontname="hebo" if bold else "helv", rotate=rotate)


def plain(lines: Sequence[str] = SENTENCES, *, title: str | None = None) -> bytes:
    """One page with a line for each of `lines`."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    for index, line in enumerate(lines):
        write(page, 72, 100 + 16 * index, line)
    if title:
        document.set_metadata({"title": title})
    return finish(document)


def pages(
    count: int,
    *,
    line: Callable[[int], str] = lambda n: f"Page {n} speaks of topic number {n}.",
    others: Sequence[str] = SENTENCES,
) -> bytes:
    """Pages with a few lines each; `line` gives the first line of page n, `others` are on all pages."""
    document = pymupdf.open()
    for number in range(1, count + 1):
        page = document.new_page(width=WIDTH, height=HEIGHT)
        write(page, 72, 100, line(number))
        for index, sentence in enumerate(others):
            write(page, 72, 130 + 16 * index, sentence)
    return finish(document, garbage=1, deflate=True)


def underlined_links() -> bytes:
    """Lines of text runs, some underlined, as Chrome prints links: each underline is drawn below its run.

    The spaces belong to the runs before or after them, and MuPDF splits a line of text at each underline.
    """
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    for index, runs in enumerate(LINKED_LINES):
        x, y = 72.0, 100 + 16 * index
        for number, run in enumerate(runs):
            write(page, x, y, run)
            width = pymupdf.get_text_length(run, fontname="helv", fontsize=11)
            if number % 2:
                page.draw_line((x, y + 1.5), (x + width, y + 1.5), width=0.5)
            x += width
    return finish(document)


LINKED_LINES = (
    ("It is the ", "highest", " federal ", "court", " in the country."),
    ("See ", "the list of ", "judges", "(1)", " and un", "believ", "able cases."),
)


def two_columns(*, row_by_row: bool = False) -> bytes:
    """A title over two columns of eight lines, and a full-width line below; may be drawn row by row."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    write(page, 72, 80, "A Title That Goes Across Both Of The Columns", size=18, bold=True)
    left = [(60, 120 + 14 * n, f"left line {n} with words to fill the column") for n in range(1, 9)]
    right = [(320, 120 + 14 * n, f"right line {n} with words to fill the column") for n in range(1, 9)]
    lines = [line for pair in zip(left, right, strict=True) for line in pair] if row_by_row else left + right
    for x, y, text in lines:
        write(page, x, y, text, size=10)
    footer = "A closing remark that is set across the whole width of the page, under both columns, at the end."
    write(page, 60, 300, footer, size=10)
    return finish(document)


def turned(rotation: int, *, crop: tuple[float, float, float, float] | None = None, user_unit: int = 1) -> bytes:
    """The lines of `plain` on a page with /Rotate, upright when displayed.

    `crop` is the displayed part, in coordinates of the displayed page.
    """
    source = pymupdf.open(stream=plain(), filetype="pdf")
    document = pymupdf.open()
    sideways = rotation in {90, 270}
    page = document.new_page(width=HEIGHT if sideways else WIDTH, height=WIDTH if sideways else HEIGHT)
    page.show_pdf_page(page.rect, source, 0, rotate=rotation)
    page.set_rotation(rotation)
    if crop:
        page.set_cropbox(pymupdf.Rect(crop) * page.derotation_matrix)
    if user_unit != 1:
        document.xref_set_key(page.xref, "UserUnit", str(user_unit))
    source.close()
    return finish(document)


def moved(content: bytes, x: float, y: float, *, user_unit: float = 1) -> bytes:
    """A PDF of one page whose boxes begin at `x`, `y` instead of 0, 0; it looks the same."""
    document = pymupdf.open(stream=content, filetype="pdf")
    page = document[0]
    for key in ("MediaBox", "CropBox"):
        kind, value = document.xref_get_key(page.xref, key)
        if kind == "array":
            x0, y0, x1, y1 = map(float, value.strip("[]").split())
            document.xref_set_key(page.xref, key, f"[{x0 + x} {y0 + y} {x1 + x} {y1 + y}]")
    page.wrap_contents()
    first = page.get_contents()[0]
    document.update_stream(first, b"1 0 0 1 %f %f cm " % (x, y) + document.xref_stream(first))
    document.xref_set_key(page.xref, "UserUnit", str(user_unit))
    return finish(document)


def sideways_text() -> bytes:
    """Lines that run from bottom to top on an upright page."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    for index, line in enumerate(SENTENCES):
        write(page, 100 + 16 * index, 700, line, rotate=90)
    return finish(document)


TABLE = (
    ("Region", "Units", "Revenue"),
    ("North", "120", "1,450"),
    ("South", "95", "1,020"),
    ("West", "120", "1,300"),
)


def table(*, ruled: bool, wrapped: bool = False) -> bytes:
    """A table of four rows between two paragraphs; `wrapped` gives a cell a second line."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    write(page, 72, 80, "Sales by region are given in the following table.")
    height = 30 if wrapped else 20
    for row, cells in enumerate(TABLE):
        for column, cell in enumerate(cells):
            x, y = 72 + 150 * column, 110 + height * row
            if ruled:
                page.draw_rect(pymupdf.Rect(x, y, x + 150, y + height), width=0.7)
            write(page, x + 5, y + 13, cell)
            if wrapped and column == 0 and row:
                write(page, x + 5, y + 26, "district")
    write(page, 72, 290, "All figures are in thousands of euros.")
    return finish(document)


def tables(*pages: Sequence[Sequence[str]], title: str = "") -> bytes:
    """A page for each of `pages`, whose rows stand below each other without lines."""
    document = pymupdf.open()
    for rows in pages:
        page = document.new_page(width=WIDTH, height=HEIGHT)
        if title:
            write(page, 60, 50, title, size=13)
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                write(page, 60 + 120 * column, 80 + 12 * number, cell, size=9)
    return finish(document)


def headings(*, sections: str = "Section") -> bytes:
    """A title, `sections` with body text, a bold sub-heading, and a running head on each of four pages."""
    document = pymupdf.open()
    for number in range(1, 5):
        page = document.new_page(width=WIDTH, height=HEIGHT)
        write(page, 72, 40, f"The Running Head of Page {number}", size=14)
        if number == 1:
            write(page, 72, 90, "An Outline of Everything", size=24, bold=True)
        write(page, 72, 140, f"{sections} {number}", size=16, bold=True)
        for index, sentence in enumerate(SENTENCES):
            write(page, 72, 165 + 14 * index, sentence)
        write(page, 72, 270, "A bold minor matter", bold=True)
        for index, sentence in enumerate(SENTENCES):
            write(page, 72, 290 + 14 * index, sentence)
    return finish(document)


def form(name: str = "Acme Harbours plc") -> bytes:
    """The cover of a form: the authority in the largest type, the form's number, and `name` over its label."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    write(page, 150, 120, "UNITED STATES", size=20, bold=True)
    write(page, 150, 144, "TIDES AND HARBOURS COMMISSION", size=20, bold=True)
    write(page, 150, 200, "FORM 7-T", size=20, bold=True)
    write(page, 150, 300, name)
    write(page, 150, 312, "(Exact name of the company as in its charter)", size=9)
    for index, sentence in enumerate(SENTENCES):
        write(page, 72, 400 + 14 * index, sentence)
    return finish(document)


def low_running_head() -> bytes:
    """Four pages that start with the same large line well below the margin, each with its own section."""
    document = pymupdf.open()
    for number in range(1, 5):
        page = document.new_page(width=WIDTH, height=HEIGHT)
        write(page, 72, 160, "The Harbour Gazette", size=18)
        write(page, 72, 200, f"Section {number}", size=16, bold=True)
        for index, sentence in enumerate(SENTENCES):
            write(page, 72, 225 + 14 * index, sentence)
    return finish(document)


def labelled() -> bytes:
    """Two pages numbered i and ii, then pages numbered from 1."""
    document = pymupdf.open(stream=pages(4), filetype="pdf")
    document.set_page_labels(
        [
            {"startpage": 0, "prefix": "", "style": "r", "firstpagenum": 1},
            {"startpage": 2, "prefix": "", "style": "D", "firstpagenum": 1},
        ]
    )
    return finish(document)


def restarted() -> bytes:
    """Pages labelled 1 to 3, then 1 and 2, then F-1."""
    document = pymupdf.open(stream=pages(6), filetype="pdf")
    document.set_page_labels(
        [
            {"startpage": 0, "prefix": "", "style": "D", "firstpagenum": 1},
            {"startpage": 3, "prefix": "", "style": "D", "firstpagenum": 1},
            {"startpage": 5, "prefix": "F-", "style": "D", "firstpagenum": 1},
        ]
    )
    return finish(document)


def scanned(rotation: int = 0, *, lines: Sequence[str] = SENTENCES) -> bytes:
    """A page that is a picture of `lines`, upright as displayed."""
    with pymupdf.open(stream=plain(lines), filetype="pdf") as source:
        picture = source[0].get_pixmap(dpi=200)
    document = pymupdf.open()
    sideways = rotation in {90, 270}
    page = document.new_page(width=HEIGHT if sideways else WIDTH, height=WIDTH if sideways else HEIGHT)
    page.insert_image(page.rect, pixmap=picture, rotate=rotation)
    page.set_rotation(rotation)
    return finish(document, deflate=True)


STAMP = "Case 1:20-cv-01234 Document 5 Filed 01/02/20 Page 3 of 16"


def stamped(rotation: int = 0, *, strips: int = 1, slanted: str = "") -> bytes:
    """A page that is a picture, in `strips`, of `SENTENCES` and `STAMP`, with the stamp also as text.

    `slanted` sets it across the page as a watermark.
    """
    with pymupdf.open(stream=plain(), filetype="pdf") as source:
        write(source[0], 72, 30, STAMP, size=9)
        height = HEIGHT / strips
        clips = [pymupdf.Rect(0, strip * height, WIDTH, (strip + 1) * height) for strip in range(strips)]
        pictures = [source[0].get_pixmap(dpi=200, clip=clip) for clip in clips]
    upright = pymupdf.open()
    page = upright.new_page(width=WIDTH, height=HEIGHT)
    for clip, picture in zip(clips, pictures, strict=True):
        page.insert_image(clip, pixmap=picture, keep_proportion=False)
    write(page, 72, 30, STAMP, size=9)
    if slanted:
        middle = pymupdf.Point(330, 330)
        turn = (middle, pymupdf.Matrix(45))
        page.insert_text(middle, slanted, fontsize=90, color=(0.85, 0.85, 0.85), morph=turn, overlay=True)
    return _turned_back(upright, rotation)


def _turned_back(upright: Any, rotation: int) -> bytes:
    """Set /Rotate on the page of `upright`, so that it is upright when displayed."""
    document = pymupdf.open()
    sideways = rotation in {90, 270}
    page = document.new_page(width=HEIGHT if sideways else WIDTH, height=WIDTH if sideways else HEIGHT)
    page.show_pdf_page(page.rect, upright, 0, rotate=rotation)
    page.set_rotation(rotation)
    upright.close()
    return finish(document, deflate=True)


def recognised_before() -> bytes:
    """A scan with an invisible text layer for only one of its lines."""
    document = pymupdf.open(stream=scanned(), filetype="pdf")
    document[0].insert_text((72, 100), SENTENCES[0], fontsize=11, render_mode=3)
    return finish(document)


def slide() -> bytes:
    """A slide whose background is a picture with writing, under `SENTENCES` as text."""
    with pymupdf.open(stream=plain(["A billboard in the background"]), filetype="pdf") as source:
        picture = source[0].get_pixmap(dpi=100)
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    page.insert_image(page.rect, pixmap=picture)
    for index, line in enumerate(SENTENCES):
        write(page, 72, 300 + 30 * index, line, size=18)
    return finish(document, deflate=True)


def figure() -> bytes:
    """A page with a figure that contains text, and a short caption."""
    with pymupdf.open(stream=plain(["The axis of a diagram"]), filetype="pdf") as source:
        picture = source[0].get_pixmap(dpi=100, clip=pymupdf.Rect(0, 0, WIDTH, 400))
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    page.insert_image(pymupdf.Rect(0, 100, WIDTH, 500), pixmap=picture)
    write(page, 72, 530, "Figure 1. Tides.")
    return finish(document, deflate=True)


CHART = {"Lindmark 4812": (60, 70), "Ostrand 1730": (60, 140), "Velby 960": (60, 210)}
"""The labels of the chart in `charts` and their positions."""


def chart_picture(labels: Mapping[str, tuple[int, int]] = CHART) -> Any:
    """A bar chart of 400 by 260 points as a picture."""
    drawing = pymupdf.open()
    page = drawing.new_page(width=400, height=260)
    for index, (label, (x, y)) in enumerate(labels.items()):
        write(page, x, y - 14, label, size=12)
        page.draw_rect(pymupdf.Rect(x, y - 8, 340 - 90 * index, y + 22), fill=(0.3, 0.5, 0.8))
    picture = page.get_pixmap(dpi=200)
    drawing.close()
    return picture


def charts(rotation: int = 0, *, pages: int = 1, logo: bool = False, icon: bool = False) -> bytes:
    """Pages of text, each with the same bar chart at (100, 300).

    A `logo` with words is at the top of each page, an `icon` of 30 points next to the text.
    """
    picture = chart_picture()
    words = chart_picture({"HARBOUR TRUST": (20, 60)})
    upright = pymupdf.open()
    for number in range(1, pages + 1):
        page = upright.new_page(width=WIDTH, height=HEIGHT)
        for index, sentence in enumerate((f"Page {number} shows ships by harbour.", *SENTENCES)):
            write(page, 72, 150 + 16 * index, sentence)
        if pages and not (logo or icon):
            page.insert_image(pymupdf.Rect(100, 300, 500, 560), pixmap=picture)
        if logo:
            page.insert_image(pymupdf.Rect(400, 20, 500, 85), pixmap=words)
        if icon:
            page.insert_image(pymupdf.Rect(400, 120, 430, 150), pixmap=words)
    return _turned_back(upright, rotation) if rotation else finish(upright, deflate=True)


def with_attachments(files: Mapping[str, bytes], line: str = "The files are attached.") -> bytes:
    """A page with a line, and these files attached to the document."""
    document = pymupdf.open(stream=plain([line]), filetype="pdf")
    for name, content in files.items():
        document.embfile_add(name, content)
    return finish(document)


def bullets() -> bytes:
    """A list whose bullets are far to the left of its lines."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    for index, line in enumerate(SENTENCES):
        write(page, 72, 100 + 16 * index, "-")
        write(page, 100, 100 + 16 * index, line)
    return finish(document)


def drawn_twice() -> bytes:
    """The lines of `plain`, each made bold by drawing it again slightly to the right."""
    document = pymupdf.open(stream=plain(), filetype="pdf")
    for index, line in enumerate(SENTENCES):
        write(document[0], 72.3, 100 + 16 * index, line)
    return finish(document)


def blank() -> bytes:
    """An empty page."""
    document = pymupdf.open()
    document.new_page()
    return finish(document)


def encrypted(password: str) -> bytes:
    """The file of `plain`, which opens only with `password`; an empty one restricts permissions only."""
    document = pymupdf.open(stream=plain(), filetype="pdf")
    return finish(document, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw=password, owner_pw="owner's own")


def broken_page(count: int = 3, broken: int = 2) -> bytes:
    """Pages of which one, numbered `broken`, is its own grandparent."""
    document = pymupdf.open(stream=pages(count), filetype="pdf")
    xref = document.page_xref(broken - 1)
    _, parent = document.xref_get_key(xref, "Parent")
    document.update_object(xref, f"<</Type/Pages/Kids[{parent}]/Count 1/Parent {parent}>>")
    return finish(document)


def broken_table_of_objects() -> bytes:
    """The file of `plain` with a wrong cross-reference table, as from a corrupted transfer."""
    content = plain()
    start = content.rindex(b"startxref")
    return content[:start] + b"startxref\n7\n%%EOF\n"


HEBREW = '<p dir="rtl">המגדלור נבנה לפני מאה שנה</p><p dir="rtl">הים היה שקט מאוד</p><p>The sea was calm.</p>'


def right_to_left(markup: str = HEBREW) -> bytes:
    """Two lines of Hebrew and one of English, or other text laid out by MuPDF."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    page.insert_htmlbox(pymupdf.Rect(72, 72, 500, 300), markup)
    return finish(document)


def ligatures() -> bytes:
    """A line whose font draws "ffi" and "fi" as one glyph each."""
    document = pymupdf.open()
    page = document.new_page(width=WIDTH, height=HEIGHT)
    page.insert_htmlbox(pymupdf.Rect(72, 72, 500, 200), "<p>The oﬃce was ﬁve miles away.</p>")
    return finish(document)


def presentation(*, notes: str = "Remember the harbour.") -> bytes:
    """Three slides: a title with bullets and notes, a table, and one without text."""
    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    assert first.shapes.title is not None
    first.shapes.title.text = "Harbour <Review> & Outlook"
    first.placeholders[1].text_frame.text = "Cranes were replaced\nQuays were widened"
    assert first.notes_slide.notes_text_frame is not None
    first.notes_slide.notes_text_frame.text = notes
    second = deck.slides.add_slide(deck.slide_layouts[5])
    assert second.shapes.title is not None
    second.shapes.title.text = "Traffic by year"
    grid = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(6), Inches(1)).table
    for row, cells in enumerate((("Year", "Ships"), ("2024", "1,812"))):
        for column, cell in enumerate(cells):
            grid.cell(row, column).text = cell
    deck.slides.add_slide(deck.slide_layouts[6])
    content = io.BytesIO()
    deck.save(content)
    return content.getvalue()


STYLES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles"


def word_document(paragraphs: Sequence[str] = SENTENCES, heading: str = "Minutes of the Harbour Board") -> bytes:
    """A minimal DOCX with a heading and paragraphs."""
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    kinds = "http://schemas.openxmlformats.org/package/2006/content-types"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    body = f'<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{heading}</w:t></w:r></w:p>' + "".join(
        f"<w:p><w:r><w:t>{paragraph}</w:t></w:r></w:p>" for paragraph in paragraphs
    )
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{kinds}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
            f'relationships+xml"/><Override PartName="/word/document.xml" ContentType="{main}"/></Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{office}" Target="word/document.xml"/>'
            "</Relationships>",
        )
        archive.writestr(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{STYLES}" Target="styles.xml"/>'
            "</Relationships>",
        )
        archive.writestr(
            "word/styles.xml",
            f'<w:styles xmlns:w="{word}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/>'
            "</w:style></w:styles>",
        )
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
    return content.getvalue()


Rows = Sequence[tuple[str, ...]]


def statement(
    page: Any, title: str, years: Sequence[str], rows: Rows, *, scale: str = "(in thousands of crowns)"
) -> None:
    """A financial statement: title, scale, years as column headings, and a row for each line item."""
    write(page, 72, 80, title, size=14, bold=True)
    write(page, 72, 100, scale, size=9)
    for y, cells in zip(range(130, 800, 16), [("", *years), *rows], strict=False):
        write(page, 72, y, cells[0], size=10)
        for x, cell in zip(range(360, 560, 80), cells[1:], strict=False):
            write(page, x, y, cell, size=10)


YEARS = ("2021", "2020")
SHEET: Rows = (
    ("Assets",),
    ("Cash and cash equivalents", "810", "660"),
    ("Short-term investments", "90", "40"),
    ("Accounts receivable, net", "300", "260"),
    ("Inventories", "420", "380"),
    ("Other current assets", "80", "60"),
    ("Total current assets", "1,700", "1,400"),
    ("Property and equipment, net", "2,300", "2,100"),
    ("Total assets", "4,000", "3,500"),
    ("Liabilities and equity",),
    ("Accounts payable", "350", "310"),
    ("Total current liabilities", "850", "800"),
    ("Long-term debt", "900", "950"),
    ("Total liabilities", "1,750", "1,750"),
    ("Retained earnings", "1,250", "1,150"),
    ("Total stockholders' equity", "2,250", "1,750"),
    ("Total liabilities and stockholders' equity", "4,000", "3,500"),
)
INCOME: Rows = (
    ("Net sales", "5,200", "4,800"),
    ("Cost of sales", "3,120", "3,000"),
    ("Gross profit", "2,080", "1,800"),
    ("Selling, general and administrative expenses", "1,300", "1,200"),
    ("Operating income", "780", "600"),
    ("Income before income taxes", "720", "540"),
    ("Provision for income taxes", "180", "130"),
    ("Net income", "540", "410"),
    ("Basic earnings per share", "5.40", "4.10"),
)
CHAPTERS = (
    (
        "Overview",
        "{name} runs ferries between the islands of the northern sound and carries mail, freight and passengers.",
        "The company was founded in 1921 by three captains who owned a single wooden ship.",
        "Passenger numbers on the ferries rose because two bridges were closed for repair.",
        "Freight on the ferries grew more slowly than mail, which is carried under a contract with the post office.",
    ),
    (
        "Risks",
        "A long winter with ice in the sound can stop the ferries for weeks and reduce the number of passengers.",
        "The contract with the post office ends in 2024 and may not be renewed on the same terms.",
        "Fuel for the ferries is bought at market prices, which the company does not hedge.",
    ),
    (
        "Outlook",
        "The company has ordered two electric ferries, which will replace the oldest ships on the mail route.",
        "Passenger fares will be raised by four percent in the spring, the first rise in five years.",
    ),
)


def annual_report(name: str, *, sheet: Rows = SHEET, income: Rows = INCOME, employees: str = "412") -> bytes:
    """An annual report of six pages: cover, three chapters, an income statement and a balance sheet."""
    document = pymupdf.open()
    for _ in range(3 + len(CHAPTERS)):
        document.new_page(width=WIDTH, height=HEIGHT)
    sheets = list(document)
    write(sheets[0], 72, 200, name, size=24, bold=True)
    write(sheets[0], 72, 240, "Annual report for the year ended December 31, 2021")
    for page, (heading, *sentences) in zip(sheets[1:], CHAPTERS, strict=False):
        write(page, 72, 90, heading, size=16, bold=True)
        for index, sentence in enumerate([*sentences, f"At the end of 2021 {name} had {employees} employees."][:4]):
            write(page, 72, 120 + 18 * index, sentence.format(name=name), size=9)
    statement(sheets[-2], "Consolidated Statements of Income", YEARS, income)
    statement(sheets[-1], "Consolidated Balance Sheets", YEARS, sheet)
    for number, page in enumerate(sheets, start=1):
        write(page, 72, 820, f"{name} | Annual report | {number}", size=8)
    return finish(document)


def with_affiliates(report: bytes, count: int) -> bytes:
    """A report with a page on its affiliates' earnings, which has more figures than its own statement."""
    document = pymupdf.open("pdf", report)
    for number in range(count):
        page = document.new_page(width=WIDTH, height=HEIGHT)
        statement(page, "Income statement: net income", YEARS, [("Net income", str(number), "9")])
        for place, line in enumerate(
            ("Income statement of an affiliate", "net income of the fiscal year", "net income")
        ):
            write(page, 72, 500 + 16 * place, line)
    return finish(document)


def filing() -> bytes:
    """Four pages of an annual report: cover, officers, end of the auditor's report, signatures.

    The cover has labels below their values, in columns.
    """
    document = pymupdf.open()
    for _ in range(4):
        document.new_page(width=WIDTH, height=HEIGHT)
    cover, officers, audit, signed = document
    for y, *cells in (
        (100, (220, "ACME HARBOURS INC.")),
        (112, (180, "(Exact name of registrant as specified in its charter)")),
        (150, (110, "New Jersey"), (400, "12-3456789")),
        (162, (90, "(State of incorporation)"), (350, "(I.R.S. Employer Identification No.)")),
        (200, (220, "14 Quay Street")),
        (212, (180, "Tollhaven, New Jersey 07001")),
        (224, (170, "(Address of principal executive offices)")),
        (262, (150, "Registrant's telephone number, including area code: (201) 555-0147")),
    ):
        for x, text in cells:
            write(cover, x, y, text, size=9)
    write(officers, 72, 80, "Executive Officers", bold=True)
    for row, (name, age, office) in enumerate(OFFICERS):
        for x, cell in zip((72, 230, 290), (name, age, office), strict=True):
            write(officers, x, 110 + 16 * row, cell)
    lines = (
        "Before she joined us, Ms. Holm was Chief Executive Officer of Brine Ferries from 2009 to 2016.",
        "Our fiscal year ends on the Saturday nearest the end of January.",
        "For the fiscal year ended January 28, 2023, we opened 12 piers.",
        '"Berth" means a place at a quay where one ship can be made fast.',
        "A Berth of this kind is what we let to ferry lines.",
    )
    for row, line in enumerate(lines):
        write(officers, 72, 240 + 30 * row, line)
    write(audit, 72, 80, "The audit of berths required a high degree of auditor judgment.")
    for row, line in enumerate(("/s/ Strand & Sons LLP", "", "We have served as the Company's auditor since 1999.")):
        write(audit, 72, 120 + 16 * row, line)
    for row, line in enumerate(("/s/ Pia Sandvik", "Pia Sandvik", "Treasurer")):
        write(signed, 300, 120 + 14 * row, line)
    return finish(document)


OFFICERS = (
    ("Name", "Age", "Position"),
    ("Inge Holm", "54", "Chair of the Board"),
    ("Ola Berg", "49", "President and Chief Executive Officer"),
    ("Tor Lind", "61", "Chief Executive Officer, Brine Ferries"),
)
