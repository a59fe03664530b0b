"""Measure text recognition on scans of made pages in several languages, sizes and resolutions, and on photographs.

The ground truth are the words and boxes of the page that is scanned. Characters are compared line by line, whatever the
order of the lines; words that belong to no line count as wrong characters.
"""

import io
import json
import random
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter
from rapidfuzz.distance import Levenshtein

from benchmarks.report import Section, at_least, at_most
from benchmarks.settings import Options
from rag.parsing.ocr import text_layer
from rag.parsing.pdf.mupdf import pymupdf
from rag.types import ParsingConfig

WIDTH_PT, HEIGHT_PT = 595.0, 842.0
FAMILIES = ("serif", "sans-serif", "monospace")
KINDS = (  # size in points, resolution, layout, damage
    (8, 300, "text", "clean"),
    (10, 200, "columns", "scan"),
    (11, 150, "table", "scan"),
    (9, 300, "table", "scan"),
    (12, 150, "text", "fax"),
    (10, 300, "text", "photo"),
    (8, 200, "columns", "scan"),
)
UNSPACED = frozenset({"chi_sim", "jpn"})
"""Languages without spaces between words, of which boxes are not compared."""
NOISE = {"scan": 12.0, "fax": 22.0, "photo": 8.0}
"""Standard deviation of brightness, of 255."""
GOAL_ERRORS, GOAL_BOXES = 0.01, 0.7

Box = tuple[float, float, float, float]


class Word(NamedTuple):
    """A word, its box in pixels, and the number of its line."""

    bbox: Box
    text: str
    line: tuple[int, int] = (0, 0)


class Case(NamedTuple):
    """A page to print and scan."""

    language: str
    size: int
    dpi: int
    layout: str
    damage: str


@dataclass
class Score:
    """Sums over pages."""

    errors: int = 0
    characters: int = 0
    shared: list[float] = field(default_factory=list)
    seconds: float = 0.0
    pages: int = 0


def measure(options: Options, section: Section) -> None:
    """Measure each engine that is installed, by language and by kind of damage."""
    texts = json.loads((Path(__file__).parent / "data" / "scanned_texts.json").read_text(encoding="utf-8"))
    cases = [Case(language, *kind) for language in texts for kind in KINDS]
    cases = cases[1 :: len(KINDS)][:2] if options.quick else cases
    tessdata = text_layer.find_tessdata()
    installed = text_layer.tesseract_languages(tessdata) if tessdata else frozenset()
    pages = [_scan(texts[case.language], number, case) for number, case in enumerate(cases)]
    section.about = f"{len(pages)} pages, {sum(len(words) for _, words in pages):,} words"
    for engine in ("packaged", "tesseract"):
        scores: dict[str, Score] = {}
        for case, (image, words) in zip(cases, pages, strict=True):
            if engine == "tesseract" and case.language not in installed:
                continue
            config = ParsingConfig.model_validate({"ocr_engine": engine, "ocr_language": case.language})
            found, seconds = _recognise(image, case.dpi, config)
            for name in ("all", case.language, case.damage):
                _add(scores.setdefault(name, Score()), words, found, seconds, spaced=case.language not in UNSPACED)
        for name, score in scores.items():
            _report(section, f"{engine}, {name}", score)


def _report(section: Section, name: str, score: Score) -> None:
    section.add(f"{name}: wrong characters", score.errors / max(1, score.characters), "", at_most(GOAL_ERRORS))
    if score.shared:
        section.add(f"{name}: boxes, intersection over union", float(np.mean(score.shared)), "", at_least(GOAL_BOXES))
    section.add(f"{name}: CPU time", score.seconds / score.pages, "s/page")


def _recognise(image: Image.Image, dpi: int, config: ParsingConfig) -> tuple[list[Word], float]:
    """Return the words that the product finds in a scan, and the CPU time."""
    content = io.BytesIO()
    image.save(content, "PNG")
    with pymupdf.open() as document:
        page = document.new_page(width=image.width * 72 / dpi, height=image.height * 72 / dpi)
        page.insert_image(page.rect, stream=content.getvalue())
        started = _children_seconds() + time.process_time()
        text_layer.recognise(document, config, lambda _: None)
        seconds = _children_seconds() + time.process_time() - started
        words = [
            Word((x0 * dpi / 72, y0 * dpi / 72, x1 * dpi / 72, y1 * dpi / 72), text)
            for x0, y0, x1, y1, text, *_ in document[0].get_text("words")
        ]
    return words, seconds


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _scan(sentences: Sequence[str], number: int, case: Case) -> tuple[Image.Image, list[Word]]:
    """Print a page and scan it: return its picture and its words in the picture."""
    chance = random.Random(number)
    columns = [(60, 535)] if case.layout != "columns" else [(50, 285), (310, 545)]
    css = f"* {{font-family: {FAMILIES[number % 3]}; font-size: {case.size}pt}} td {{border: 0.6pt solid}}"
    with tempfile.TemporaryDirectory(prefix="pagelight-") as folder:
        path = Path(folder, "page.pdf")
        writer = pymupdf.DocumentWriter(path)
        device = writer.begin_page(pymupdf.Rect(0, 0, WIDTH_PT, HEIGHT_PT))
        for left, right in columns:
            story = pymupdf.Story(_html(sentences, chance, case), user_css=css)
            story.place(pymupdf.Rect(left, 60, right, 780))
            story.draw(device)
        writer.end_page()
        writer.close()
        with pymupdf.open(path) as document:
            picture = document[0].get_pixmap(dpi=case.dpi, colorspace="gray")
            words = _characters(document[0]) if case.language in UNSPACED else _words(document[0])
    image = Image.frombytes("L", (picture.width, picture.height), picture.samples)
    return _damage(image, words, case, np.random.default_rng(number))


def _words(page: Any) -> list[Word]:
    return [
        Word((x0, y0, x1, y1), text, (block, line)) for x0, y0, x1, y1, text, block, line, _ in page.get_text("words")
    ]


def _characters(page: Any) -> list[Word]:
    """Return characters as words: a line without spaces is too long to follow its slant."""
    return [
        Word(char["bbox"], char["c"], (block["number"], number))
        for block in page.get_text("rawdict")["blocks"]
        for number, line in enumerate(block["lines"])
        for span in line["spans"]
        for char in span["chars"]
        if not char["c"].isspace()
    ]


def _html(sentences: Sequence[str], chance: random.Random, case: Case) -> str:
    space = "" if case.language in UNSPACED else " "
    paragraphs = [f"<p>{space.join(chance.sample(list(sentences), 4))}</p>" for _ in range(7)]
    if case.layout != "table":
        return "".join(paragraphs)
    rows = "".join(
        f"<tr><td>{chance.choice(sentences)[:12]}</td>"
        + "".join(f"<td>{chance.randint(100, 99_999) / 10:,}</td>" for _ in range(4))
        + "</tr>"
        for _ in range(16)
    )
    return "".join(paragraphs[:3]) + f"<table>{rows}</table>"


def _damage(
    image: Image.Image, words: Sequence[Word], case: Case, rng: np.random.Generator
) -> tuple[Image.Image, list[Word]]:
    """Turn or distort the picture, blur it, add noise and compress it; return also the words where they are then."""
    moved = np.eye(3) if case.damage == "clean" else _distortion(image.size, case.damage, rng)
    placed = [word._replace(bbox=_move(word.bbox, moved, case.dpi / 72)) for word in words]
    if case.damage == "clean":
        return image, placed
    inverse = np.linalg.inv(moved)
    image = image.transform(
        image.size,
        Image.Transform.PERSPECTIVE,
        (inverse / inverse[2, 2]).ravel()[:8].tolist(),
        Image.Resampling.BICUBIC,
        fillcolor=255,
    ).filter(ImageFilter.GaussianBlur(case.dpi / 300))
    grey = np.asarray(image, np.float64)
    if case.damage == "photo":
        grey = grey * np.linspace(1, 0.55, grey.shape[1])  # one side is darker
    grey = grey * 0.85 + 20 + rng.normal(0, NOISE[case.damage], grey.shape)
    if case.damage == "fax":
        return Image.fromarray(np.where(grey > 150, 255, 0).astype(np.uint8)), placed
    compressed = io.BytesIO()
    Image.fromarray(grey.clip(0, 255).astype(np.uint8)).save(compressed, "JPEG", quality=45)
    return Image.open(compressed).convert("L"), placed


def _distortion(size: tuple[int, int], damage: str, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return the matrix of a page that lies askew, in a photograph also tilted."""
    width, height = size
    corners = np.array([(0, 0), (width, 0), (width, height), (0, height)], float)
    if damage == "photo":
        targets = corners + rng.uniform(-0.035, 0.035, (4, 2)) * width
    else:
        angle = np.radians(rng.choice((-1, 1)) * rng.uniform(0.4, 1.2))
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        middle = np.array([width / 2, height / 2])
        targets = (corners - middle) @ turn.T + middle
    rows: list[list[float]] = []
    for (x, y), (u, v) in zip(corners, targets, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
    solution = np.linalg.solve(np.array(rows), targets.ravel())
    matrix: npt.NDArray[np.float64] = np.append(solution, 1.0).reshape(3, 3)
    return matrix


def _move(box: Box, matrix: npt.NDArray[np.float64], scale: float) -> Box:
    x0, y0, x1, y1 = (side * scale for side in box)
    points = np.array([(x0, y0, 1), (x1, y0, 1), (x1, y1, 1), (x0, y1, 1)]) @ matrix.T
    flat = points[:, :2] / points[:, 2:]
    return (*flat.min(axis=0).tolist(), *flat.max(axis=0).tolist())


def _add(score: Score, words: Sequence[Word], found: Sequence[Word], seconds: float, *, spaced: bool) -> None:
    lines: dict[tuple[int, int], list[Word]] = {}
    for word in words:
        lines.setdefault(word.line, []).append(word)
    free = [*found]
    for line in lines.values():
        members = [word for word in free if _is_on(word, line)]
        free = [word for word in free if word not in members]
        space = " " if spaced else ""
        true = space.join(word.text for word in sorted(line))
        read = space.join(word.text for word in sorted(members))
        score.errors += Levenshtein.distance(true, read)
        score.characters += len(true)
    score.errors += sum(len(word.text) for word in free)
    if spaced:
        score.shared += [max((_shared(word.bbox, other.bbox) for other in found), default=0.0) for word in words]
    score.seconds += seconds
    score.pages += 1


def _is_on(word: Word, line: Sequence[Word]) -> bool:
    """Whether the middle of `word` is on the line, which may be slanted."""
    x, y = (word.bbox[0] + word.bbox[2]) / 2, (word.bbox[1] + word.bbox[3]) / 2
    nearest = min(line, key=lambda other: abs((other.bbox[0] + other.bbox[2]) / 2 - x)).bbox
    width = (nearest[2] - nearest[0]) / 2
    return nearest[0] - width <= x <= nearest[2] + width and nearest[1] <= y <= nearest[3]


def _shared(one: Box, other: Box) -> float:
    """Return the intersection over the union of two boxes."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return width * height / (areas - width * height)
