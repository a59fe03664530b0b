"""Recognise words with the models in the wheel of rapidocr: PP-OCRv6 of PaddleOCR (Apache-2.0), run by onnxruntime.

The library itself is not imported: it needs 90 MB of other packages, and downloads models that it misses. Its models
read Chinese, Japanese and languages with Latin letters. Lines of text are found in the map of probabilities of the
first model as in "Real-time Scene Text Detection with Differentiable Binarization" (https://arxiv.org/abs/1911.08947,
section 3.4): regions of probable pixels, a box around each, and its growth, as the model predicts shrunken lines.
"""

import functools
import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from rag import packaged_models
from rag.parsing.ocr.invisible_text import Line, Word, write_layer

DETECTION_SIDE_PX = 1440
"""The longer side of the picture in which lines are found: 8 pt letters on A4 are 14 pixels high."""
SIDE_MULTIPLE_PX = 32
"""The detection model halves its input five times."""
LINE_HEIGHT_PX = 48
MIN_LINE_WIDTH_PX = 320
"""Input sizes of the recognition model; shorter lines are padded, as in its training."""
MAX_LINE_WIDTH_PX = 4800
SAMPLE_LINES = 5
"""Lines to read upside down, too, to tell whether the page is."""
MIN_CONFIDENCE = 0.5
"""Lines with a lower mean confidence of their characters are not writing, as in rapidocr."""
BLANK = 0

Floats = npt.NDArray[np.float32]
MIN_PROBABILITY = 0.3
"""Least probability of a pixel."""
MIN_MEAN = 0.5
"""Least mean probability of a line's pixels."""
MIN_SIDE_PX = 3.0
GROWTH = 1.6
"""How much a box grows, as a share of area / perimeter."""
SLANT_LENGTH = 4.0
"""Boxes this many times as long as they are high tell their slant; others have that of the longest."""
MAX_LINES = 3000


class LineBox(NamedTuple):
    """A line's box: its middle, the unit vector along it, its length and its height, in pixels."""

    x: float
    y: float
    direction: tuple[float, float]
    length: float
    height: float

    def scaled(self, factor: float) -> "LineBox":
        """Return the box in a picture of `factor` times the size."""
        return LineBox(self.x * factor, self.y * factor, self.direction, self.length * factor, self.height * factor)


def find_lines(probabilities: Floats) -> list[LineBox]:
    """Return the boxes of lines, from top to bottom."""
    regions = [
        region for region in _regions(probabilities > MIN_PROBABILITY) if probabilities[region].mean() >= MIN_MEAN
    ]
    boxes = [_box_along(_slant(*region), *region) for region in regions]
    long = [box for box in boxes if box.length >= SLANT_LENGTH * box.height]
    common = max(long, key=lambda box: box.length).direction if long else (1.0, 0.0)
    boxes = [
        box if box.length >= SLANT_LENGTH * box.height else _box_along(common, *region)
        for box, region in zip(boxes, regions, strict=True)
    ]
    grown: list[LineBox] = []
    for box in boxes:
        if min(box.length, box.height) >= MIN_SIDE_PX:
            margin = box.length * box.height * GROWTH / (box.length + box.height)
            grown.append(box._replace(length=box.length + margin, height=box.height + margin))
    return sorted(grown, key=lambda box: (box.y, box.x))[:MAX_LINES]


def _regions(mask: npt.NDArray[np.bool_]) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield the rows and columns of the pixels of each connected region."""
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    run_rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1]
    first_runs = np.searchsorted(run_rows, np.arange(mask.shape[0] + 1)).tolist()
    parents = list(range(len(run_rows)))
    lefts, rights = starts.tolist(), ends.tolist()

    def root(run: int) -> int:
        while parents[run] != run:
            parents[run] = parents[parents[run]]
            run = parents[run]
        return run

    for row in range(1, mask.shape[0]):
        above, end_above = first_runs[row - 1], first_runs[row]
        for run in range(first_runs[row], first_runs[row + 1]):
            while above < end_above and rights[above] < lefts[run]:
                above += 1
            touching = above
            while touching < end_above and lefts[touching] <= rights[run]:
                parents[root(touching)] = root(run)
                touching += 1
    roots = np.array([root(run) for run in range(len(parents))], dtype=np.intp)
    lengths = ends - starts
    for region in np.unique(roots):
        runs = np.nonzero(roots == region)[0]
        rows = np.repeat(run_rows[runs], lengths[runs])
        columns = np.concatenate([np.arange(starts[run], ends[run]) for run in runs])
        yield rows, columns


def _box_along(direction: tuple[float, float], rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> LineBox:
    dx, dy = direction
    along, across = columns * dx + rows * dy, rows * dx - columns * dy
    middle_along, middle_across = (along.min() + along.max()) / 2, (across.min() + across.max()) / 2
    return LineBox(
        float(middle_along * dx - middle_across * dy) + 0.5,
        float(middle_along * dy + middle_across * dx) + 0.5,
        direction,
        float(np.ptp(along)) + 1,
        float(np.ptp(across)) + 1,
    )


def _slant(rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> tuple[float, float]:
    """Return the unit vector of the longest axis of pixels, to the right or downwards."""
    x, y = columns - columns.mean(), rows - rows.mean()
    angle = 0.5 * math.atan2(2 * float(x @ y), float(x @ x - y @ y))
    dx, dy = math.cos(angle), math.sin(angle)
    return (dx, dy) if dx > abs(dy) or dy > 0 else (-dx, -dy)


class Character(NamedTuple):
    """A recognised character, its middle in a line's picture in pixels, and its confidence from 0 to 1."""

    text: str
    middle: float
    confidence: float


def recognise(picture: Any) -> bytes:
    """Return a one-page PDF of the size of `picture` (a `pymupdf.Pixmap`) with its text, invisible."""
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.samples)
    to_points = 72 / (picture.xres or 72)
    lines = [
        Line(
            line.x * to_points,
            line.y * to_points,
            line.direction,
            line.height * to_points,
            [Word(word.text, word.start * to_points, word.end * to_points) for word in line.words],
        )
        for line in read_lines(image)
    ]
    return write_layer(picture.width * to_points, picture.height * to_points, lines)


def read_lines(image: Image.Image) -> list[Line]:
    """Return the lines of text in `image` in pixels, from top to bottom."""
    boxes = _detect(image)
    upside_down = _is_upside_down(image, boxes)
    if upside_down:
        boxes = [box._replace(direction=(-box.direction[0], -box.direction[1])) for box in reversed(boxes)]
    lines = (_read_line(image, box) for box in boxes)
    return [line for line in lines if line is not None]


def _detect(image: Image.Image) -> list[LineBox]:
    scale = min(1.0, DETECTION_SIDE_PX / max(image.size))
    width, height = (max(SIDE_MULTIPLE_PX, round(side * scale)) for side in image.size)
    resized = image.resize((width, height), Image.Resampling.BILINEAR)
    padded = [math.ceil(side / SIDE_MULTIPLE_PX) * SIDE_MULTIPLE_PX for side in (width, height)]
    canvas = Image.new("RGB", (padded[0], padded[1]), (255, 255, 255))
    canvas.paste(resized)
    probabilities = _run("det", canvas)[0, 0, :height, :width]
    return [box.scaled(image.width / width) for box in find_lines(probabilities)]


def _is_upside_down(image: Image.Image, boxes: Sequence[LineBox]) -> bool:
    gain = 0.0
    for box in sorted(boxes, key=lambda box: box.length / box.height, reverse=True)[:SAMPLE_LINES]:
        strip = _crop(image, box)
        gain += _confidence(_read(strip.rotate(180))) - _confidence(_read(strip))
    return gain > 0


def _confidence(characters: Sequence[Character]) -> float:
    return sum(character.confidence for character in characters) / max(1, len(characters))


def _read_line(image: Image.Image, box: LineBox) -> Line | None:
    strip = _crop(image, box)
    characters = _read(strip)
    if not characters or _confidence(characters) < MIN_CONFIDENCE:
        return None
    scale = box.height / strip.height
    words = [Word(word.text, word.start * scale, word.end * scale) for word in _words(characters, strip)]
    dx, dy = box.direction
    x = box.x - dx * box.length / 2 - dy * box.height / 2
    y = box.y - dy * box.length / 2 + dx * box.height / 2
    return Line(x, y, box.direction, box.height, words)


def _crop(image: Image.Image, box: LineBox) -> Image.Image:
    """Return the line's picture, upright, of the height that the recognition model wants."""
    width, height = max(1, round(box.length)), max(1, round(box.height))
    dx, dy = box.direction
    left = box.x - dx * box.length / 2 + dy * box.height / 2
    top = box.y - dy * box.length / 2 - dx * box.height / 2
    upright = image.transform(
        (width, height), Image.Transform.AFFINE, (dx, -dy, left, dy, dx, top), Image.Resampling.BILINEAR
    )
    resized = min(MAX_LINE_WIDTH_PX, math.ceil(LINE_HEIGHT_PX * width / height))
    return upright.resize((resized, LINE_HEIGHT_PX), Image.Resampling.BILINEAR)


def _read(strip: Image.Image) -> list[Character]:
    """Read a line's picture: the most probable character of each step, without blanks and repetitions."""
    probabilities = _run("rec", strip, MIN_LINE_WIDTH_PX)[0]
    step = max(MIN_LINE_WIDTH_PX, strip.width) / len(probabilities)
    best = probabilities.argmax(axis=1)
    changes = np.diff(best, prepend=BLANK) != 0
    known = _characters()
    return [
        Character(known[best[place]], (place + 0.5) * step, float(probabilities[place, best[place]]))
        for place in np.nonzero(changes & (best != BLANK))[0].tolist()
    ]


def _words(characters: Sequence[Character], strip: Image.Image) -> Iterator[Word]:
    """Yield words; Chinese and Japanese characters are one each, as no spaces separate them."""
    groups: list[list[Character]] = []
    spaced: list[bool] = []
    for before, character in pairwise((None, *characters)):
        if character is None or character.text.isspace():
            continue
        after_space = before is None or before.text.isspace()
        if before is None or after_space or _is_wide(before.text) or _is_wide(character.text):
            groups.append([])
            spaced.append(after_space)
        groups[-1].append(character)
    if not groups:
        return
    ink = _ink(strip)
    first, last = characters[0].middle, characters[-1].middle
    pitch = (last - first) / (len(characters) - 1) if len(characters) > 1 else LINE_HEIGHT_PX / 2
    edges = [_outer_edge(ink, groups[0][0].middle, -pitch)]
    for (one, other), has_space in zip(pairwise(groups), spaced[1:], strict=True):
        left, right = one[-1].middle, other[0].middle
        edges += _gap(ink, left, right) if has_space else [(left + right) / 2] * 2
    edges.append(_outer_edge(ink, groups[-1][-1].middle, pitch))
    for group, start, end in zip(groups, edges[::2], edges[1::2], strict=True):
        yield Word("".join(character.text for character in group), start, max(end, start + 1.0))


def _is_wide(text: str) -> bool:
    return text >= "\u2e80"


def _ink(strip: Image.Image) -> npt.NDArray[np.bool_]:
    grey = np.asarray(strip.convert("L"), np.float32)
    dark, light = np.percentile(grey, (2, 98))
    middle = (dark + light) / 2
    marks = grey < middle if np.median(grey) > middle else grey > middle
    inked: npt.NDArray[np.bool_] = marks.sum(axis=0) >= 2
    return inked


def _outer_edge(ink: npt.NDArray[np.bool_], middle: float, reach: float) -> float:
    """Return where a character ends: at a column without ink, at most `reach` from its middle, as rules may be near."""
    end = min(max(0, round(middle + reach)), len(ink))
    side = ink[end : int(middle)][::-1] if reach < 0 else ink[int(middle) + 1 : end]
    inked = side.argmax() if side.any() else 0
    empty = np.nonzero(~side[inked:])[0]
    distance = float(inked + empty[0]) if len(empty) else float(len(side))
    return middle - distance - 0.5 if reach < 0 else middle + distance + 0.5


def _gap(ink: npt.NDArray[np.bool_], left: float, right: float) -> tuple[float, float]:
    """Return the widest gap without ink between two characters' middles, else the middle between them."""
    start, stop = int(left), max(int(left) + 1, math.ceil(right))
    empty = np.concatenate(([False], ~ink[start:stop], [False]))
    turns = np.nonzero(np.diff(empty.astype(np.int8)))[0].reshape(-1, 2)
    if not len(turns):
        return (left + right) / 2 - 0.5, (left + right) / 2 + 0.5
    widest = turns[np.argmax(turns[:, 1] - turns[:, 0])]
    return float(start + widest[0]), float(start + widest[1])


def _run(name: str, image: Image.Image, least_width: int = 0) -> Floats:
    """Run a model on `image` (blue first), padded with the model's mean on the right."""
    pixels = np.asarray(image, np.float32)[:, :, ::-1].transpose(2, 0, 1) / 127.5 - 1
    padding = max(0, least_width - image.width)
    batch = np.pad(pixels, ((0, 0), (0, 0), (0, padding)))[np.newaxis]
    session = _session(name)
    output: Floats = session.run(None, {session.get_inputs()[0].name: batch})[0]
    return output


@functools.cache
def folder() -> Path:
    """Return the folder with the models, hashes checked.

    Raises:
        errors.ConfigError: a model is missing or has another hash.
    """
    return packaged_models.find_model(packaged_models.OCR)


@functools.cache
def load() -> Any:
    """Import onnxruntime, which forks inherit; sessions have threads, which forks lose."""
    return packaged_models.load_onnxruntime()


@functools.cache
def _session(name: str) -> Any:
    """Open a model with one thread: as many parsing processes run as there are cores."""
    options = load().SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False  # each line has another width
    path = folder() / f"PP-OCRv6_{name}_small.onnx"
    return load().InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


@functools.cache
def _characters() -> Sequence[str]:
    """Return the model's characters by output: a blank, those that the model names, and a space."""
    named = _session("rec").get_modelmeta().custom_metadata_map["character"].split("\n")
    return ["", *named, " "]
