"""Recognising pages: what one of them costs the others, and in which language."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag import parsing
from rag.parsing.ocr import languages, pictures, processes, text_layer
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import ParsedDocument, ParsingConfig
from tests import pdfs

GERMAN = (
    "Der Vorstand berichtet über das abgelaufene Geschäftsjahr.",
    "Die Umsätze sind gegenüber dem Vorjahr um acht Prozent gestiegen,",
    "weil größere Aufträge früher abgeschlossen wurden als geplant.",
    "Für das kommende Jahr rechnen wir mit höheren Kosten.",
)
GIBBERISH = "OTUMTHIBAeCTCA O NpOMequwIeM rose BEIPOCIM Ha BOCeMb KpyIIHbIe 3akKa3bI ObLIM IOTMMCAHBI paHbIle " * 3
GREEK = "Το διοικητικό συμβούλιο παρουσιάζει τα αποτελέσματα της χρήσης. " * 3


def scans(*pages: tuple[str, ...]) -> bytes:
    document = pymupdf.open()
    for lines in pages:
        with pymupdf.open(stream=pdfs.scanned(lines=lines), filetype="pdf") as page:
            document.insert_pdf(page)
    return pdfs.finish(document, deflate=True)


def scan_of(picture: Any, dpi: int) -> bytes:
    """Return a PDF whose only page is `picture`, a pixmap."""
    document = pymupdf.open()
    page = document.new_page(width=picture.width * 72 / dpi, height=picture.height * 72 / dpi)
    page.insert_image(page.rect, pixmap=picture)
    return pdfs.finish(document, deflate=True)


def read(folder: Path, content: bytes, **settings: object) -> ParsedDocument:
    source = folder / "source.pdf"
    source.write_bytes(content)
    config = ParsingConfig.model_validate(settings)
    return parsing.read_file(source, name="a.pdf", rendition=folder / "rendition.pdf", config=config)


def text_and_scans(*pages: tuple[str, ...]) -> bytes:
    """A page of text, and a scan of each of `pages`."""
    document = pymupdf.open(stream=pdfs.plain(), filetype="pdf")
    with pymupdf.open(stream=scans(*pages), filetype="pdf") as scanned:
        document.insert_pdf(scanned)
    return pdfs.finish(document)


@pytest.mark.parametrize(
    ("content", "is_asked"), [(pdfs.plain(), False), (text_and_scans(pdfs.SENTENCES), True)], ids=["text", "scan"]
)
def test_tesseract_is_asked_for_only_where_there_is_a_picture(
    content: bytes, is_asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program on the path stands in for Tesseract. It has no languages, so the packaged models read the scan."""
    asked = tmp_path / "asked"
    script = f"""#!/bin/sh\ntouch {asked}\necho 'List of available languages in "{tmp_path}" (0):'\n"""
    (program := tmp_path / "tesseract").write_text(script, encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("TESSDATA_PREFIX", raising=False)
    read(tmp_path, content)
    assert asked.exists() is is_asked


def test_a_page_that_takes_too_long_is_its_own_failure(tmp_path: Path) -> None:
    content = text_and_scans(pdfs.SENTENCES, pdfs.SENTENCES)
    document = read(tmp_path, content, timeout_seconds_ocr=0.01, ocr_language="eng")
    assert [bool(page.error) for page in document.pages] == [False, True, True]
    assert "more than 0.01 seconds of computing" in (document.pages[1].error or "")
    assert document.blocks[0].text.split("\n") == list(pdfs.SENTENCES)


@pytest.mark.parametrize(
    ("do", "words"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "text recognition failed"),
        (lambda: os.kill(os.getpid(), signal.SIGSTOP), "did nothing any more"),
        (lambda: 1 / 0, "text recognition failed"),
    ],
    ids=["crashes", "hangs", "fails"],
)
def test_a_picture_costs_only_itself(do: Callable[[], bytes], words: str) -> None:
    waits: list[None] = []
    recognitions = processes.Processes(ParsingConfig(idle_seconds=0.5), lambda: waits.append(None))
    with pytest.raises(processes.RecognitionError, match=words):
        recognitions.run(do)
    assert recognitions.run(lambda: b"words") == b"words"
    assert waits


@pytest.mark.needs_tesseract
def test_a_wrong_language_is_told(tmp_path: Path) -> None:
    settings = {"ocr_language": "eng", "ocr_engine": "tesseract"}
    document = read(tmp_path, scans(GERMAN), **settings)
    assert document.pages[0].ocr
    assert "recognised with English only, and read like German" in (document.note or "")
    assert read(tmp_path, scans(pdfs.SENTENCES), **settings).note is None


@pytest.mark.needs_tesseract_german
def test_the_language_is_found(tmp_path: Path) -> None:
    document = read(tmp_path, scans(GERMAN, pdfs.SENTENCES), ocr_engine="tesseract")
    assert "Umsätze sind gegenüber" in "".join(block.text for block in document.blocks)
    assert document.note is None


@pytest.mark.parametrize("turned", [0, 90, 180, 270], ids=str)
def test_scans_are_read_without_another_program(tmp_path: Path, turned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the paper lay in the scanner."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TESSDATA_PREFIX", raising=False)
    with pymupdf.open(stream=scans(GERMAN), filetype="pdf") as document:
        document[0].set_rotation(turned)
        picture = document[0].get_pixmap(dpi=150)
    document = read(tmp_path, scan_of(picture, 150))
    assert [line.text for block in document.blocks for line in block.lines] == list(GERMAN)
    assert document.note is None


def test_a_script_that_the_packaged_models_do_not_read_is_told() -> None:
    with pymupdf.open() as written:
        page = written.new_page()
        page.insert_htmlbox(pymupdf.Rect(72, 72, 520, 400), "Совет директоров представляет результаты года. " * 6)
        picture = page.get_pixmap(dpi=150)
    with pymupdf.open(stream=scan_of(picture, 150), filetype="pdf") as document:
        recognition = text_layer.recognise(document, ParsingConfig(ocr_engine="packaged"), lambda _: None)
    assert recognition.pages == frozenset()
    assert "Page 1 is a picture, which cannot be read: install Tesseract" in (recognition.note or "")


def test_cells_of_one_character_between_rules_are_read(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        for row in range(4):
            for column, text in enumerate((f"Station {row + 1}", str(row + 5), "—")):
                box = pymupdf.Rect(72 + 100 * column, 100 + 22 * row, 172 + 100 * column, 122 + 22 * row)
                page.draw_rect(box, width=0.7)
                page.insert_text((box.x0 + 6, box.y1 - 7), text, fontname="helv", fontsize=11)
        picture = page.get_pixmap(dpi=200)
    lines = [line.text.split("\t") for block in read(tmp_path, scan_of(picture, 200)).blocks for line in block.lines]
    assert [cells[:2] for cells in lines] == [[f"Station {row + 1}", str(row + 5)] for row in range(4)]


@pytest.mark.needs_tesseract
def test_rules_and_the_edge_of_the_paper_are_no_writing(tmp_path: Path) -> None:
    with pymupdf.open(stream=pdfs.plain(), filetype="pdf") as document:
        picture = document[0].get_pixmap(dpi=150)
    with pymupdf.open(
        stream=text_layer.recognise_with_tesseract(picture, "eng", text_layer.find_tessdata() or ""), filetype="pdf"
    ) as layer:
        before = layer[0].get_text()
        layer[0].insert_text((72, 700), "—_~ |", render_mode=3)
        assert "~ |" in layer[0].get_text()
        assert pictures.drop_noise(layer, text_layer.has_letters)
        assert layer[0].get_text() == before


def no_page(language: str) -> str:
    raise AssertionError(f"no page is to be recognised with {language}")


@pytest.mark.parametrize(
    ("setting", "installed", "digital", "chosen"),
    [
        ("deu+fra", {"eng", "deu", "fra"}, "", "deu+fra"),
        ("auto", {"fra"}, "", "fra"),
        ("auto", {"eng", "deu", "fra"}, " ".join(GERMAN), "deu"),
    ],
    ids=["set", "only one", "digital text"],
)
def test_a_language_that_is_known_without_trying(setting: str, installed: set[str], digital: str, chosen: str) -> None:
    assert languages.choose_language(setting, installed, digital, no_page) == chosen


@pytest.mark.parametrize(
    ("setting", "digital", "texts", "chosen"),
    [
        ("deu", "", {}, "packaged"),
        ("ell", "", {}, "ell"),
        ("auto", " ".join(GERMAN), {}, "packaged"),
        ("auto", GREEK, {}, "ell"),
        ("auto", "", {"packaged": " ".join(GERMAN)}, "packaged"),
        ("auto", "", {"packaged": GIBBERISH, "ell": GREEK}, "ell"),
        ("auto", "", {"packaged": GIBBERISH, "ell": GIBBERISH}, "packaged"),
    ],
)
def test_tesseract_reads_what_the_packaged_models_do_not(
    setting: str, digital: str, texts: dict[str, str], chosen: str
) -> None:
    installed = {"packaged", "eng", "deu", "ell"}
    assert languages.choose_language(setting, installed, digital, texts.__getitem__) == chosen


@pytest.mark.parametrize(
    ("texts", "chosen"),
    [
        ({"eng": " ".join(GERMAN)}, "deu"),
        ({"eng": " ".join(pdfs.SENTENCES)}, "eng"),
        ({"eng": "12 14 19"}, "eng"),
        (
            {
                "eng": GIBBERISH,
                "deu": GIBBERISH,
                "ell": "Το διοικητικό συμβούλιο παρουσιάζει τα αποτελέσματα της χρήσης. " * 3,
            },
            "ell",
        ),
        ({"eng": GIBBERISH, "deu": GIBBERISH, "ell": GIBBERISH}, "eng"),
    ],
    ids=["another of the script", "the first", "no words", "of another script", "of none"],
)
def test_a_page_tells_its_language(texts: dict[str, str], chosen: str) -> None:
    assert languages.choose_language("auto", {"eng", "deu", "ell"}, "", texts.__getitem__) == chosen


@pytest.mark.parametrize(
    ("text", "used", "words"),
    [
        (" ".join(GERMAN), "eng", "tesseract-ocr-deu"),
        (" ".join(GERMAN), "fra", "RAG_PARSING__OCR_LANGUAGE=eng|French only, and read like German"),
        (GIBBERISH, "eng", "of no known language"),
        (" ".join(GERMAN), "eng+deu", None),
        (" ".join(GERMAN), "packaged", None),
        (GIBBERISH, "packaged", "packaged models only, and the words are of no known language"),
        ("Umsatz 2019", "eng", None),
    ],
)
def test_what_is_said_of_a_language(text: str, used: str, words: str | None) -> None:
    said = languages.language_warning(text, used, {"eng", "fra"})
    assert (said is None) if words is None else any(word in (said or "") for word in words.split("|"))
