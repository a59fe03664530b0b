"""What a user does, in the words of the app."""

import base64
import re
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import FilePayload, Locator, Page, expect

from rag.parsing.pdf.mupdf import pymupdf
from rag.types import Rect
from tests.e2e.papers import Paper

READING_MS = 180_000
"""How long to wait until documents are read, which is computed and loads models first."""


def upload(page: Page, *papers: Paper) -> None:
    """Bring papers in and wait until each is ready."""
    page.goto("/library")
    drop(page, *map(pdf_file, papers))
    for paper in papers:
        page.locator('[class*="st-key-file-ready"]').filter(has_text=paper.name).wait_for(timeout=READING_MS)


def pdf_file(paper: Paper) -> FilePayload:
    """A paper as a file to drop."""
    return FilePayload(name=paper.name, mimeType="application/pdf", buffer=paper.content)


def drop(page: Page, *files: FilePayload) -> None:
    """Put files into the one field that the library shows."""
    page.locator('[data-testid="stFileUploaderDropzone"]:visible input[type=file]').set_input_files(files)


def ask(page: Page, question: str) -> Locator:
    """Ask in a new chat; gives the answer when it is complete."""
    page.goto("/")
    field = page.get_by_placeholder("Ask about your documents")
    field.fill(question)
    field.press("Enter")
    answer = page.locator(".answer")
    answer.locator(".source").first.wait_for()
    return answer


def rest(page: Page) -> None:
    """Wait until what was done has been answered."""
    page.wait_for_timeout(500)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


@contextmanager
def written_by_ollama(page: Page) -> Iterator[None]:
    """Have answers written by the model of the server that the app has found, and afterwards by none again."""
    page.goto("/settings")
    field = page.locator(".st-key-writer").get_by_role("combobox", name="Answer model")
    field.click()
    page.get_by_role("option", name="ollama:llama").click()
    expect(page.locator(".st-key-writer")).to_contain_text("is sent to Ollama")
    try:
        yield
    finally:
        page.goto("/settings")
        field.click()
        page.get_by_role("option", name="Automatic").click()
        expect(page.locator(".st-key-writer")).to_contain_text("Answers are sentences of your documents")


def open_page(page: Page, number: int) -> None:
    """Go to a page of the document that is shown."""
    field = page.get_by_label("Page", exact=True)
    field.fill(str(number))
    field.press("Enter")
    page.locator(f'.page[data-page="{number}"] img').wait_for()


def cite(answer: Locator, paper: Paper) -> None:
    """Click the citation of the paper's sentence."""
    first_words = " ".join(paper.sentence.split()[:3])
    answer.locator(f'.text .chip[data-tip*="{first_words}"]').first.click()


def lit(page: Page, number: int) -> list[Rect]:
    """The boxes of the lit quote on a page, in points, as the browser lays them out, from top to bottom."""
    sheet = page.locator(f'.page[data-page="{number}"]')
    sheet.locator(".mark.quote").first.wait_for()
    sheet.locator("img").wait_for()
    boxes = sheet.evaluate(
        """sheet => {
            const own = sheet.getBoundingClientRect();
            const scale = own.width / Number(sheet.style.getPropertyValue("--w"));
            return [...sheet.querySelectorAll(".mark.quote")].map(mark => {
                const box = mark.getBoundingClientRect();
                return [box.left - own.left, box.top - own.top, box.right - own.left, box.bottom - own.top]
                    .map(pixels => pixels / scale);
            });
        }"""
    )
    return sorted((Rect(*box) for box in boxes), key=lambda box: (box.y0, box.x0))


def ink(page: Page, number: int) -> Rect:
    """The box around everything blue on the picture of a page that the browser shows, in points."""
    sheet = page.locator(f'.page[data-page="{number}"]')
    source, width, fills = sheet.evaluate(
        """async sheet => {
            const [own, image] = [sheet, sheet.querySelector("img")].map(node => node.getBoundingClientRect());
            const fills = ["left", "top", "right", "bottom"].every(side => Math.abs(own[side] - image[side]) < 0.5);
            const picture = await createImageBitmap(sheet.querySelector("img"));
            const canvas = new OffscreenCanvas(picture.width, picture.height);
            canvas.getContext("2d").drawImage(picture, 0, 0);
            const url = new FileReader();
            const read = new Promise(done => url.onload = () => done(url.result));
            url.readAsDataURL(await canvas.convertToBlob({type: "image/png"}));
            return [await read, Number(sheet.style.getPropertyValue("--w")), fills];
        }"""
    )
    assert fills
    picture = pymupdf.Pixmap(base64.b64decode(re.sub("^data:[^,]*,", "", source)))
    scale = picture.width / width
    blue = [
        (x, y)
        for y in range(picture.height)
        for x in range(picture.width)
        if (pixel := picture.pixel(x, y))[2] > 150 and pixel[0] < 120 and pixel[1] < 120
    ]
    columns, rows = [x for x, _ in blue], [y for _, y in blue]
    return Rect(min(columns) / scale, min(rows) / scale, (max(columns) + 1) / scale, (max(rows) + 1) / scale)
