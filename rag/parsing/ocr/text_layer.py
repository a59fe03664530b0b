"""Recognised text as an invisible layer on pages that are pictures, with or without a stamp in digital text.

The words in pictures of other pages are recognised, too, if asked for (see `rag.parsing.ocr.pictures`).
"""

import enum
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from rag.parsing import languages
from rag.parsing.ocr import pictures, tesseract
from rag.parsing.ocr.tesseract import RecognitionError, find_tessdata
from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.mupdf import FAILURES, display_matrix, from_display, pymupdf, to_rect
from rag.parsing.pdf.text_runs import TEXT_FLAGS
from rag.types import ParsingConfig, Rect

__all__ = ["Recognition", "find_tessdata", "recognise"]

RESOLUTION_DPI = 300
"""What Tesseract's documentation asks for."""
MAX_PIXELS = 40_000_000
MIN_PICTURE_SHARE = 0.7
"""Where pictures cover less of the page, it is set in type and has figures; scans leave no more than a margin."""
MAX_STAMP_SHARE = 0.05
"""Lines that cover more of the page are its own text: a stamp covers 1 %, a printed page more than 20 %."""
LEVEL_COSINE = 0.99
GRID_POINTS = 20
MAX_LATE_PAGES = 10
"""When so many pages in a row could not be recognised, the others are not tried."""
SAMPLE_PAGES = 20
"""So many pages are looked at for digital text that tells the language."""


_INLINE_IMAGE = re.compile(rb"\bBI\b.{1,500}?\bID\b", re.DOTALL)
"""An image within the content of a page (ISO 32000-1, 8.9.7)."""


class Recognition(NamedTuple):
    """What came of recognising text.

    `pages` are the numbers of pages that were pictures and got text, `failures` says why others got none.
    `picture_pages` are the numbers of pages with pictures that are still to be read; `note` is for the owner.
    """

    pages: frozenset[int] = frozenset()
    failures: Mapping[int, str] = {}
    picture_pages: tuple[int, ...] = ()
    note: str | None = None
    changed: bool = False


def recognise(
    document: Any, config: ParsingConfig, on_recognised: Callable[[int], None], *, with_pictures: bool = False
) -> Recognition:
    """Recognises each page of `document` whose text is in its pictures; with `with_pictures` also pictures elsewhere.

    Pages that are pictures have pictures but no text, or no more than a stamp: their digital text stays, and words are
    added where it does not stand. `on_recognised` is told how many pages are done, from time to time.
    """
    if not config.ocr:
        return Recognition()
    scans = [_find_scan(document, index) for index in range(document.page_count)]
    silent = [index for index, scan in enumerate(scans) if scan is _Scan.SILENT]
    stamped = [index for index, scan in enumerate(scans) if scan is _Scan.STAMPED]
    others = [index for index, scan in enumerate(scans) if scan is None]
    found = pictures.find(document, others) if config.pictures else {}
    if not (silent or stamped or found):
        return Recognition()  # nobody need ask where Tesseract is, which takes two processes
    tessdata = find_tessdata(config.ocr_language)
    if tessdata is None:
        return Recognition(note=_missing_note(silent, config.ocr_language))
    reader = _Reader(document, config, tessdata, on_recognised)
    reader.read_scans([*silent, *stamped])
    if with_pictures:
        reader.read_pictures(found)
    return Recognition(
        pages=frozenset(reader.pages),
        failures=reader.failures,
        picture_pages=() if with_pictures else tuple(index + 1 for index in found),
        note=reader.complaint(),
        changed=reader.changed,
    )


def _missing_note(silent: Sequence[int], language: str) -> str | None:
    if not silent:
        return None
    pages = f"{len(silent)} pages are pictures" if len(silent) > 1 else f"Page {silent[0] + 1} is a picture"
    data = "" if language == tesseract.AUTO else f" with its data for “{language}”"
    how = "Debian: apt-get install tesseract-ocr, macOS: brew install tesseract"
    return f"{pages}, which cannot be read: install Tesseract{data} ({how}), and read the document again."


class _Reader:
    """Recognises pages of one document, and remembers what came of it."""

    def __init__(
        self, document: Any, config: ParsingConfig, tessdata: str, on_recognised: Callable[[int], None]
    ) -> None:
        self.pages: set[int] = set()
        self.failures: dict[int, str] = {}
        self.changed = False
        self._document = document
        self._config = config
        self._installed = tesseract.languages(tessdata)
        self._on_recognised = on_recognised
        self._tesseract = tesseract.Tesseract(tessdata, config, lambda: on_recognised(self._done))
        self._done = 0
        self._late = 0
        self._language: str | None = None
        self._texts: list[str] = []
        self._sampled: dict[tuple[int, str], bytes] = {}
        self._known: dict[tuple[object, ...], bytes] = {}

    def read_scans(self, indices: Sequence[int]) -> None:
        """Lays what is read on each of the pages under it, unseen."""
        for index in indices:
            if self._try(index, functools.partial(self._read_scan, index, indices[0])):
                self.pages.add(index + 1)
            self._on_recognised(self._done)

    def read_pictures(self, found: Mapping[int, Sequence[Rect]]) -> None:
        """Lays the words of pictures under these; `found` has their boxes by the index of their page."""
        for index, boxes in found.items():
            self._try(index, functools.partial(self._read_pictures_of, index, boxes))
            self._on_recognised(self._done)

    def complaint(self) -> str | None:
        """What the owner should know of the language."""
        sample = "\n".join(self._texts)
        return languages.complaint(sample, self._language, self._installed) if self._language else None

    def _try(self, index: int, read: Callable[[], bool]) -> bool:
        self._done += 1
        if self._late >= MAX_LATE_PAGES:
            self.failures[index + 1] = _failure(f"the {MAX_LATE_PAGES} pages before it could not be, either")
            return False
        try:
            succeeded = read()
        except RecognitionError as error:
            self._late += 1
            self.failures[index + 1] = _failure(str(error))
            return False
        except FAILURES as error:
            self.failures[index + 1] = _failure(f"{type(error).__name__}")
            return False
        self._late = 0
        self.changed = self.changed or succeeded
        return succeeded

    def _chosen(self, sample: int) -> str:
        """The language to recognise the document with; `sample` is the index of a page to try."""
        if self._language is None:
            setting = self._config.ocr_language
            digital = _digital_text(self._document) if setting == tesseract.AUTO else ""
            self._language = languages.choose(
                setting, self._installed, digital, lambda language: self._text_of(sample, language)
            )
        return self._language

    def _text_of(self, index: int, language: str) -> str:
        try:
            layer = self._layer(index, language)
        except (RecognitionError, *FAILURES):
            return ""
        with pymupdf.open(stream=layer, filetype="pdf") as opened:
            found: str = opened[0].get_text()
        return found

    def _layer(self, index: int, language: str) -> bytes:
        """What is recognised on a page; of one that was tried before it is known."""
        known = self._sampled.pop((index, language), None)
        if known is None:
            page = self._document[index]
            known = self._tesseract.read(_picture_of(page, to_rect(page.rect)), language)
        self._sampled[index, language] = known
        return known

    def _read_scan(self, index: int, sample: int) -> bool:
        language = self._chosen(sample)
        content = self._layer(index, language)
        del self._sampled[index, language]
        page = self._document[index]
        with pymupdf.open(stream=content, filetype="pdf") as layer:
            found = layer[0].get_text()
            if not character_cleaning.is_readable(found):
                return False
            self._texts.append(found[: languages.SAMPLE_CHARS])
            pictures.lay(page, layer, to_rect(page.rect))
        return True

    def _read_pictures_of(self, index: int, boxes: Sequence[Rect]) -> bool:
        page = self._document[index]
        language = self._chosen(index)
        laid = [box for box in boxes if self._read_picture(page, box, language)]
        if laid:
            pictures.mark(page, laid)
        return bool(laid)

    def _read_picture(self, page: Any, box: Rect, language: str) -> bool:
        content = self._picture_layer(page, box, language)
        with pymupdf.open(stream=content, filetype="pdf") as layer:
            if not pictures.drop_noise(layer):
                return False
            self._texts.append(layer[0].get_text()[: languages.SAMPLE_CHARS])
            pictures.lay(page, layer, box)
        return True

    def _picture_layer(self, page: Any, box: Rect, language: str) -> bytes:
        """What is recognised in the picture at `box`. Equal ones are recognised once, unless there is text on them."""
        covering = [line for line in _own_boxes(page) if pictures.contains(box, line)]
        key = (*pictures.content_key(page, box), *covering)
        if key not in self._known:
            self._known[key] = self._tesseract.read(_picture_of(page, box), language)
        return self._known[key]


def _failure(reason: str) -> str:
    return f"The words in its pictures could not be recognised: {reason}"


def _digital_text(document: Any) -> str:
    """Some text of the document that needs no recognition."""
    found = ""
    for index in range(min(document.page_count, SAMPLE_PAGES)):
        try:
            found += document[index].get_text()
        except FAILURES:
            continue
        if len(found) > languages.SAMPLE_CHARS:
            break
    return found


class _Scan(enum.Enum):
    """A page whose text is in its pictures: all of it, or all but a stamp."""

    SILENT = enum.auto()
    STAMPED = enum.auto()


def _find_scan(document: Any, index: int) -> _Scan | None:
    """What kind of scan a page is, if it is one."""
    try:
        page = document[index]
        if not _may_have_pictures(page):
            return None
        lines = _readable_lines(page)
        if lines:
            return _Scan.STAMPED if _is_stamped(page, lines) else None
        return _Scan.SILENT if page.get_image_info() else None
    except FAILURES:
        return None


def _may_have_pictures(page: Any) -> bool:
    """Whether the page has an image, or something that may draw one: told without drawing it, which takes long."""
    return bool(page.get_images() or page.get_xobjects() or _INLINE_IMAGE.search(page.read_contents()))


def _readable_lines(page: Any) -> list[Mapping[str, Any]]:
    """The page's lines of text, as PyMuPDF gives them."""
    lines = [line for block in page.get_text("dict", flags=TEXT_FLAGS)["blocks"] for line in block.get("lines", ())]
    return [line for line in lines if character_cleaning.is_readable("".join(span["text"] for span in line["spans"]))]


def _is_stamped(page: Any, lines: Iterable[Mapping[str, Any]]) -> bool:
    """Whether pictures fill the page, and `lines` on them are no more than a court's header, a number, a watermark.

    A page with unseen text has been recognised before.
    """
    stamps = _level_boxes(lines)
    if sum(map(abs, stamps)) > MAX_STAMP_SHARE * abs(page.rect):  # so it is on most pages
        return False
    images = [pymupdf.Rect(image["bbox"]) for image in page.get_image_info()]
    if _share(images, page) < MIN_PICTURE_SHARE:
        return False
    return not any(span["type"] == pictures.UNSEEN or span["opacity"] == 0 for span in page.get_texttrace())


def _level_boxes(lines: Iterable[Mapping[str, Any]]) -> list[Any]:
    """The boxes of `lines`, except those set at a slant, which are marks over other content."""
    return [pymupdf.Rect(line["bbox"]) for line in lines if max(map(abs, line["dir"])) > LEVEL_COSINE]


def _share(boxes: Sequence[Any], page: Any) -> float:
    """The share of the page that `boxes` cover together, by a grid of points: scans may come in strips and layers."""
    visible = from_display(to_rect(page.rect), page)
    places = [(step + 0.5) / GRID_POINTS for step in range(GRID_POINTS)]
    points = [
        pymupdf.Point(visible.x0 + x * visible.width, visible.y0 + y * visible.height) for x in places for y in places
    ]
    return sum(any(point in box for box in boxes) for point in points) / len(points)


def _picture_of(page: Any, box: Rect) -> Any:
    """The part of the displayed page in `box` as a picture, without the page's own text: it is not read again."""
    area = max(1.0, (box.x1 - box.x0) * (box.y1 - box.y0))
    zoom = min(RESOLUTION_DPI / 72, (MAX_PIXELS / area) ** 0.5)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=pymupdf.Rect(box), alpha=False)
    for line in _own_boxes(page):
        picture.set_rect((pymupdf.Rect(line) * zoom).irect, (255, 255, 255))
    return picture


def _own_boxes(page: Any) -> list[Rect]:
    """The boxes of the page's own lines of text, as displayed."""
    matrix = display_matrix(page)
    return [to_rect(tuple(box if matrix is None else box * matrix)) for box in _level_boxes(_readable_lines(page))]
