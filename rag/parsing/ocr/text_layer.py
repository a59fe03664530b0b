"""Add recognised text as an invisible layer to scanned pages, with or without a stamp in digital text.

On request, also to pictures on other pages (see `rag.parsing.ocr.pictures`).
"""

import enum
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NamedTuple

from rag import types
from rag.messages import N_
from rag.parsing.ocr import languages, packaged, pictures
from rag.parsing.ocr.processes import Processes, RecognitionError
from rag.parsing.pdf import character_cleaning
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, display_matrix, from_display, pymupdf, to_rect
from rag.parsing.pdf.text_runs import TEXT_FLAGS

RESOLUTION_DPI = 300
"""The resolution that Tesseract's documentation recommends; lines for the packaged models are made smaller."""
MAX_PIXELS = 40_000_000
MIN_PICTURE_SHARE = 0.7
"""Share of the page that pictures of a scan cover, all but a margin."""
MAX_STAMP_SHARE = 0.05
"""Share of the page that stamps cover at most: a stamp covers 1 %, a printed page more than 20 %."""
LEVEL_COSINE = 0.99
MIN_UNKNOWN_GLYPHS, MIN_UNKNOWN_SHARE = 20, 0.1
"""Unknown glyphs of a page, and their share of its characters, from which its text is recognised like a scan's."""
GRID_POINTS = 20
MAX_FAILED_PAGES = 10
"""After this many failures in a row the other pages are skipped."""
SAMPLE_PAGES = 20
"""Pages to search for digital text that tells the language."""
_INLINE_IMAGE = re.compile(rb"\bBI\b.{1,500}?\bID\b", re.DOTALL)
"""An inline image (ISO 32000-1, 8.9.7)."""
_NO_LANGUAGES = frozenset({"osd", "equ", "snum"})
"""Data for page orientation, formulas and serial numbers."""
_PAINT_IMAGE = re.compile(rb"/\w+ Do\b")


class Recognition(NamedTuple):
    """The result of text recognition.

    `pages` are the numbers of recognised scans, `failures` has reasons by page number, `picture_pages` are pages with
    pictures that are not recognised yet, `note` is a message for the user.
    """

    pages: frozenset[int] = frozenset()
    failures: Mapping[int, str] = {}
    picture_pages: tuple[int, ...] = ()
    note: str | None = None
    changed: bool = False


def recognise(
    document: Any,
    config: types.ParsingConfig,
    on_recognised: Callable[[int], None],
    *,
    with_pictures: bool = False,
    has_unknown: bool = False,
) -> Recognition:
    """Recognise the scanned pages of `document`, `with_pictures` also pictures on other pages.

    Scans have pictures and no text but a stamp, which stays; text is added outside it. If the document `has_unknown`
    glyphs, pages with many of them are scans, too. `on_recognised` is called repeatedly with the number of pages done.
    """
    if not config.ocr:
        return Recognition()
    scans = [_find_scan(document, index, has_unknown=has_unknown) for index in range(document.page_count)]
    textless = [index for index, scan in enumerate(scans) if scan is _Scan.TEXTLESS]
    stamped = [index for index, scan in enumerate(scans) if scan is _Scan.STAMPED]
    others = [index for index, scan in enumerate(scans) if scan is None]
    found = pictures.find_pictures(document, others) if config.pictures else {}
    if not (textless or stamped or found):
        return Recognition()  # finding Tesseract takes two processes
    tessdata = None if config.ocr_engine == "packaged" else find_tessdata()
    installed = find_installed(config, tessdata)
    if not installed:
        return Recognition(note=_missing_note(textless, config.ocr_language))
    reader = _Reader(document, config, tessdata, installed, on_recognised)
    reader.read_scans([*textless, *stamped])
    if with_pictures:
        reader.read_pictures(found)
    # The packaged models leave out letters of other scripts.
    is_unread = len(textless) == document.page_count and not reader.pages and not reader.failures
    return Recognition(
        pages=frozenset(reader.pages),
        failures=reader.failures,
        picture_pages=() if with_pictures else tuple(index + 1 for index in found),
        note=_missing_note(textless, config.ocr_language) if is_unread else reader.language_warning(),
        changed=reader.changed,
    )


def find_installed(config: types.ParsingConfig, tessdata: str | None) -> Set[str]:
    """Return what can recognise the language of the settings: languages with Tesseract's data, `languages.PACKAGED`."""
    wanted = frozenset() if config.ocr_language == languages.AUTO else frozenset(config.ocr_language.split("+"))
    data = tesseract_languages(tessdata) if tessdata else frozenset()
    installed = data if wanted <= data else frozenset()
    if config.ocr_engine != "tesseract" and wanted <= languages.PACKAGED_LANGUAGES:
        packaged.folder()  # a damaged model is told before pages fail
        installed |= {languages.PACKAGED}
    return installed


def _missing_note(textless: Sequence[int], language: str) -> str | None:
    if not textless:
        return None
    pages = (
        N_("{count} pages are pictures").format(count=len(textless))
        if len(textless) > 1
        else N_("Page {page} is a picture").format(page=textless[0] + 1)
    )
    template = N_(
        "{_what}, which cannot be read: install Tesseract with its data for “{language}” ({how}), and read the "
        "document again."
    )
    if language == languages.AUTO:
        template = N_("{_what}, which cannot be read: install Tesseract ({how}), and read the document again.")
    how = "Debian: apt-get install tesseract-ocr, macOS: brew install tesseract"
    return template.format(_what=pages, language=language, how=how)


class _Reader:
    """Recognises pages of one document and collects the results."""

    def __init__(
        self,
        document: Any,
        config: types.ParsingConfig,
        tessdata: str | None,
        installed: Set[str],
        on_recognised: Callable[[int], None],
    ) -> None:
        self.pages: set[int] = set()
        self.failures: dict[int, str] = {}
        self.changed = False
        self._document = document
        self._config = config
        self._tessdata = tessdata
        self._installed = installed
        self._on_recognised = on_recognised
        self._processes = Processes(config, lambda: on_recognised(self._done))
        self._done = 0
        self._failed_in_row = 0
        self._language: str | None = None
        self._texts: list[str] = []
        self._sampled: dict[tuple[int, str], bytes] = {}

    def read_scans(self, indices: Sequence[int]) -> None:
        """Add invisible text to each of the pages."""
        for index in indices:
            if self._try(index, functools.partial(self._read_scan, index, indices[0])):
                self.pages.add(index + 1)
            self._on_recognised(self._done)

    def read_pictures(self, found: Mapping[int, Sequence[types.Rect]]) -> None:
        """Add invisible text under pictures; `found` has their boxes by page index."""
        for index, boxes in found.items():
            self._try(index, functools.partial(self._read_pictures_of, index, boxes))
            self._on_recognised(self._done)

    def language_warning(self) -> str | None:
        """Return a warning if the recognised text is in another language."""
        sample = "\n".join(self._texts)
        return languages.language_warning(sample, self._language, self._installed) if self._language else None

    def _try(self, index: int, read: Callable[[], bool]) -> bool:
        self._done += 1
        if self._failed_in_row >= MAX_FAILED_PAGES:
            self.failures[index + 1] = _failure(f"the {MAX_FAILED_PAGES} pages before it could not be, either")
            return False
        try:
            succeeded = read()
        except RecognitionError as error:
            self._failed_in_row += 1
            self.failures[index + 1] = _failure(str(error))
            return False
        except MUPDF_ERRORS as error:
            self.failures[index + 1] = _failure(f"{type(error).__name__}")
            return False
        self._failed_in_row = 0
        self.changed = self.changed or succeeded
        return succeeded

    def _choose_language(self, sample: int) -> str:
        """Choose the document's language once; `sample` is the index of a page to try."""
        if self._language is None:
            setting = self._config.ocr_language
            digital = _digital_text(self._document) if setting == languages.AUTO else ""
            self._language = languages.choose_language(
                setting, self._installed, digital, lambda language: self._text_of(sample, language)
            )
        return self._language

    def _text_of(self, index: int, language: str) -> str:
        try:
            layer = self._layer(index, language)
        except (RecognitionError, *MUPDF_ERRORS):
            return ""
        with pymupdf.open(stream=layer, filetype="pdf") as opened:
            found: str = opened[0].get_text()
        return found

    def _layer(self, index: int, language: str) -> bytes:
        """Recognise a page, unless that was done to choose the language."""
        if (index, language) not in self._sampled:
            page = self._document[index]
            self._sampled[index, language] = self._recognise(_render(page, to_rect(page.rect)), language)
        return self._sampled[index, language]

    def _recognise(self, picture: Any, language: str) -> bytes:
        if language == languages.PACKAGED:
            packaged.load()  # once for all pages, as they are recognised in forks
            return self._processes.run(lambda: packaged.recognise(picture))
        assert self._tessdata is not None
        return self._processes.run(functools.partial(recognise_with_tesseract, picture, language, self._tessdata))

    def _read_scan(self, index: int, sample: int) -> bool:
        language = self._choose_language(sample)
        content = self._layer(index, language)
        del self._sampled[index, language]
        page = self._document[index]
        with pymupdf.open(stream=content, filetype="pdf") as layer:
            found = layer[0].get_text()
            if not (character_cleaning.is_readable(found) and has_letters(found)):
                return False
            self._texts.append(found[: languages.SAMPLE_CHARS])
            pictures.insert_text_layer(page, layer, to_rect(page.rect))
        return True

    def _read_pictures_of(self, index: int, boxes: Sequence[types.Rect]) -> bool:
        page = self._document[index]
        language = self._choose_language(index)
        laid = [box for box in boxes if self._read_picture(page, box, language)]
        if laid:
            pictures.save_recognised_boxes(page, laid)
        return bool(laid)

    def _read_picture(self, page: Any, box: types.Rect, language: str) -> bool:
        content = self._recognise(_render(page, box), language)
        with pymupdf.open(stream=content, filetype="pdf") as layer:
            if not pictures.drop_noise(layer):
                return False
            self._texts.append(layer[0].get_text()[: languages.SAMPLE_CHARS])
            pictures.insert_text_layer(page, layer, box)
        return True


def _failure(reason: str) -> str:
    return N_("The words in its pictures could not be recognised: {reason}").format(reason=reason)


def _digital_text(document: Any) -> str:
    found = ""
    for index in range(min(document.page_count, SAMPLE_PAGES)):
        try:
            found += document[index].get_text()
        except MUPDF_ERRORS:
            continue
        if len(found) > languages.SAMPLE_CHARS:
            break
    return found


class _Scan(enum.Enum):
    """A scanned page without digital text, or with a stamp."""

    TEXTLESS = enum.auto()
    STAMPED = enum.auto()


def _find_scan(document: Any, index: int, *, has_unknown: bool) -> _Scan | None:
    try:
        page = document[index]
        if has_unknown:
            text = "".join(page.get_text(flags=TEXT_FLAGS).split())
            unknown = text.count(character_cleaning.UNKNOWN)
            if unknown >= max(MIN_UNKNOWN_GLYPHS, MIN_UNKNOWN_SHARE * len(text)):
                return _Scan.TEXTLESS
        if not (page.get_images() or page.get_xobjects()):
            contents = page.read_contents()
            if b"BI" not in contents or not _INLINE_IMAGE.search(contents):  # the pattern alone is slow
                return None  # it draws no image, told without rendering it
        lines = _readable_lines(page)
        if lines:
            return _Scan.STAMPED if _is_stamped(page, lines) else None
        return _Scan.TEXTLESS if page.get_image_info() else None
    except MUPDF_ERRORS:
        return None


def _readable_lines(page: Any) -> list[Mapping[str, Any]]:
    lines = [line for block in page.get_text("dict", flags=TEXT_FLAGS)["blocks"] for line in block.get("lines", ())]
    return [line for line in lines if character_cleaning.is_readable("".join(span["text"] for span in line["spans"]))]


def _is_stamped(page: Any, lines: Iterable[Mapping[str, Any]]) -> bool:
    """Whether pictures fill the page and `lines` are only a stamp, such as a court's header or a watermark.

    Pages with invisible text were recognised before.
    """
    stamps = _level_boxes(lines)
    if sum(map(abs, stamps)) > MAX_STAMP_SHARE * abs(page.rect):  # the common case
        return False
    images = [pymupdf.Rect(image["bbox"]) for image in page.get_image_info()]
    if _share(images, page) < MIN_PICTURE_SHARE:
        return False
    return not any(map(pictures.is_invisible, page.get_texttrace()))


def _level_boxes(lines: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Return the boxes of `lines`, except slanted ones, which are watermarks."""
    return [pymupdf.Rect(line["bbox"]) for line in lines if max(map(abs, line["dir"])) > LEVEL_COSINE]


def _share(boxes: Sequence[Any], page: Any) -> float:
    """Return the share of a grid of points that `boxes` cover, as scans may come in strips and layers."""
    visible = from_display(to_rect(page.rect), page)
    places = [(step + 0.5) / GRID_POINTS for step in range(GRID_POINTS)]
    points = [
        pymupdf.Point(visible.x0 + x * visible.width, visible.y0 + y * visible.height) for x in places for y in places
    ]
    return sum(any(point in box for box in boxes) for point in points) / len(points)


def _render(page: Any, box: types.Rect) -> Any:
    """Render the displayed `box` of the page without its digital text, which must not be recognised again."""
    area = max(1.0, (box.x1 - box.x0) * (box.y1 - box.y0))
    zoom = min(RESOLUTION_DPI / 72, (MAX_PIXELS / area) ** 0.5)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), clip=pymupdf.Rect(box), alpha=False)
    for line in _own_boxes(page):
        picture.set_rect((pymupdf.Rect(line) * zoom).irect, (255, 255, 255))
    return picture


def _own_boxes(page: Any) -> list[types.Rect]:
    matrix = display_matrix(page)
    return [to_rect(tuple(box if matrix is None else box * matrix)) for box in _level_boxes(_readable_lines(page))]


def find_tessdata(language: str = languages.AUTO) -> str | None:
    """Return the folder with Tesseract's data for `language` ("eng", "eng+deu", "auto" for any), or None."""
    try:
        folder = pymupdf.get_tessdata()
    except RuntimeError:
        return None
    if not folder:
        return None
    present = tesseract_languages(folder)
    return str(folder) if (present if language == languages.AUTO else present >= set(language.split("+"))) else None


def tesseract_languages(tessdata: str) -> frozenset[str]:
    """Return Tesseract's codes of the languages with data in `tessdata`, such as "chi_sim"."""
    return frozenset(path.stem for path in Path(tessdata).glob("*.traineddata")) - _NO_LANGUAGES


def recognise_with_tesseract(picture: Any, language: str, tessdata: str) -> bytes:
    """Return a one-page PDF of the size of `picture` (a `pymupdf.Pixmap`) with its text, invisible."""
    recognised = picture.pdfocr_tobytes(compress=False, language=language, tessdata=tessdata)
    with pymupdf.open(stream=recognised, filetype="pdf") as layer:
        page = layer[0]
        content = page.get_contents()[0]
        layer.update_stream(content, _PAINT_IMAGE.sub(b"", page.read_contents()))  # the page has the picture already
        layer.xref_set_key(page.xref, "Resources/XObject", "null")
        pictures.drop_noise(layer, has_letters)
        text_layer: bytes = layer.tobytes(garbage=3, deflate=True)
    return text_layer


def has_letters(text: str) -> bool:
    """Whether a line has a letter or digit; Tesseract reads rules, stamps and the paper's edge as "—_~ |"."""
    return any(map(str.isalnum, text))
