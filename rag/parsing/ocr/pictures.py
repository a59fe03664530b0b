"""Find pictures on pages with text, such as charts and scanned exhibits, and put invisible text under them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rag import types
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, display_matrix, from_display, pymupdf, to_rect
from rag.parsing.pdf.text_runs import Piece, to_display

MIN_SIDE_PT = 40.0
"""Smaller pictures are icons."""
MIN_REPEATS = 3
"""A picture on this many pages is a logo or a background."""
TOUCHING_PT = 1.0
"""Pictures this close together are strips or tiles of one."""
MAX_PICTURES = 300
"""On pages with more of them, pictures are letters or dots of a drawing."""
INVISIBLE = 3
"""The text rendering mode of recognised text (ISO 32000-1, table 106)."""
BOXES_KEY = "PagelightPictures"
"""The key in a page's dictionary for the displayed boxes of recognised pictures."""


def find_pictures(document: Any, indices: Iterable[int]) -> dict[int, list[types.Rect]]:
    """Return the displayed boxes of pictures to recognise, by page index."""
    images = {index: _images(document, index) for index in indices}
    pages_with = Counter(key for found in images.values() for key in {_fingerprint(image) for image in found})
    boxes: dict[int, list[types.Rect]] = {}
    for index, found in images.items():
        rare = [image for image in found if pages_with[_fingerprint(image)] < MIN_REPEATS]
        if rare and (large := _readable(document[index], rare)):
            boxes[index] = large
    return boxes


def _images(document: Any, index: int) -> Sequence[Mapping[str, Any]]:
    try:
        page = document[index]
        images: Sequence[Mapping[str, Any]] = page.get_image_info() if page.get_images() else ()
    except MUPDF_ERRORS:
        return ()
    return images if len(images) <= MAX_PICTURES else ()


def _fingerprint(image: Mapping[str, Any]) -> tuple[object, ...]:
    """Return properties that distinguish pictures without decoding them."""
    return tuple(image[key] for key in ("width", "height", "bpc", "cs-name", "size"))


def _readable(page: Any, images: Iterable[Mapping[str, Any]]) -> list[types.Rect]:
    """Return the boxes of pictures that are large enough and have no invisible text yet."""
    try:
        matrix = display_matrix(page)
        visible = to_rect(page.rect)
        shown = [to_display(image["bbox"], matrix) for image in images]
        parts = [
            types.Rect(
                max(box.x0, visible.x0), max(box.y0, visible.y0), min(box.x1, visible.x1), min(box.y1, visible.y1)
            )
            for box in shown
        ]
        joined = join_touching(part for part in parts if part.x0 < part.x1 and part.y0 < part.y1)
        large = [box for box in joined if min(box.x1 - box.x0, box.y1 - box.y0) >= MIN_SIDE_PT]
        spans = page.get_texttrace() if large else ()
        invisible = [to_display(span["bbox"], matrix) for span in spans if is_invisible(span)]
    except MUPDF_ERRORS:
        return []
    return [box for box in large if not any(box.contains_center(line) for line in invisible)]


def is_invisible(span: Mapping[str, Any]) -> bool:
    """Whether a span of PyMuPDF's text trace is not drawn."""
    return bool(span["type"] == INVISIBLE or span["opacity"] == 0)


def join_touching(boxes: Iterable[types.Rect]) -> list[types.Rect]:
    """Join the boxes that touch."""
    joined: list[types.Rect] = []
    for box in boxes:
        whole = box
        while touching := [other for other in joined if _touch(whole, other)]:
            for other in touching:
                joined.remove(other)
                whole = whole.union(other)
        joined.append(whole)
    return joined


def _touch(one: types.Rect, other: types.Rect) -> bool:
    return (
        one.x0 <= other.x1 + TOUCHING_PT
        and other.x0 <= one.x1 + TOUCHING_PT
        and one.y0 <= other.y1 + TOUCHING_PT
        and other.y0 <= one.y1 + TOUCHING_PT
    )


def insert_text_layer(page: Any, layer: Any, box: types.Rect) -> None:
    """Draw the only page of `layer` into the displayed `box` of `page`."""
    rotation, place = page.rotation, from_display(box, page)
    page.set_rotation(0)  # PyMuPDF ignores origin and UserUnit of turned pages
    page.show_pdf_page(place, layer, 0, rotate=rotation, keep_proportion=False)
    page.set_rotation(rotation)


def save_recognised_boxes(page: Any, boxes: Sequence[types.Rect]) -> None:
    """Save in the page which pictures were recognised."""
    numbers = " ".join(f"{number:.2f}" for box in (*recognised_boxes(page), *boxes) for number in box)
    page.parent.xref_set_key(page.xref, BOXES_KEY, f"[{numbers}]")


def recognised_boxes(page: Any) -> list[types.Rect]:
    """Return the displayed boxes of recognised pictures."""
    kind, value = page.parent.xref_get_key(page.xref, BOXES_KEY)
    if kind != "array":
        return []
    try:
        numbers = [float(part) for part in value.strip("[]").split()]
    except ValueError:
        return []
    return [types.Rect(*numbers[start : start + 4]) for start in range(0, len(numbers) - 3, 4)]


def split_recognised(pieces: Iterable[Piece], boxes: Sequence[types.Rect]) -> tuple[list[Piece], list[list[Piece]]]:
    """The page's own text, and for each of `boxes` the words that were recognised in it."""
    own: list[Piece] = []
    recognised: list[list[Piece]] = [[] for _ in boxes]
    for piece in pieces:
        place = next(
            (n for n, box in enumerate(boxes) if piece.is_recognised and box.contains_center(piece.bbox)), None
        )
        (own if place is None else recognised[place]).append(piece)
    return own, recognised


def is_word_like(text: str) -> bool:
    """Whether recognised text is likely writing, unlike the noise of photographs: "a) .", "—_~ |"."""
    words = text.split()
    alphanumeric = sum(map(str.isalnum, text))
    characters = [[char for char in word if char.isalnum()] for word in words]
    # two letters or digits are a word, or one of a script without spaces
    has_word = any(len(word) >= 2 or any(ord(char) > 0x2E80 for char in word) for word in characters)
    return alphanumeric >= 2 and 2 * alphanumeric > sum(map(len, words)) and has_word


def drop_noise(layer: Any, is_writing: Callable[[str], bool] = is_word_like) -> bool:
    """Remove lines that are not writing from the only page of `layer` and return whether any text is left."""
    page = layer[0]
    left = False
    for block in page.get_text("dict")["blocks"]:
        for line in block.get("lines", ()):
            if is_writing("".join(span["text"] for span in line["spans"])):
                left = True
            else:
                page.add_redact_annot(pymupdf.Rect(line["bbox"]), fill=False)
    page.apply_redactions()
    return left
