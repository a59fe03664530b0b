"""Pictures in pages that have text of their own: charts, scanned exhibits. Their words are laid under them, unseen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rag.parsing.pdf.mupdf import FAILURES, display_matrix, from_display, pymupdf, to_rect
from rag.parsing.pdf.text_runs import Piece, to_display
from rag.types import Rect

MIN_SIDE_PT = 40.0
"""What is smaller is an icon."""
MIN_REPEATS = 3
"""What is on so many pages is a logo, or a background."""
TOUCHING_PT = 1.0
"""Pictures this close together are one, stored in strips or tiles."""
MAX_PICTURES = 300
"""A page with more of them is drawn with pictures, as letters or dots are."""
UNSEEN = 3
"""The text rendering mode of recognised text (ISO 32000-1, table 106)."""
MARK = "PagelightPictures"
"""The entry in a page's dictionary with the boxes, as displayed, of the pictures whose words are laid under them."""


class Picture(NamedTuple):
    """A picture on a page: its box as displayed, and what tells equal ones."""

    bbox: Rect
    digests: tuple[bytes, ...]


def find(document: Any, indices: Iterable[int]) -> dict[int, list[Rect]]:
    """The boxes, as displayed, of pictures worth reading, by the index of their page, where there are any."""
    images = {index: _images(document, index) for index in indices}
    pages_with = Counter(key for found in images.values() for key in {_fingerprint(image) for image in found})
    boxes: dict[int, list[Rect]] = {}
    for index, found in images.items():
        rare = [image for image in found if pages_with[_fingerprint(image)] < MIN_REPEATS]
        if rare and (large := _readable(document[index], rare)):
            boxes[index] = large
    return boxes


def _images(document: Any, index: int) -> Sequence[Mapping[str, Any]]:
    try:
        page = document[index]
        images: Sequence[Mapping[str, Any]] = page.get_image_info() if page.get_images() else ()
    except FAILURES:
        return ()
    return images if len(images) <= MAX_PICTURES else ()


def _fingerprint(image: Mapping[str, Any]) -> tuple[object, ...]:
    """What tells pictures apart without unpacking them."""
    return tuple(image[key] for key in ("width", "height", "bpc", "cs-name", "size"))


def _readable(page: Any, images: Iterable[Mapping[str, Any]]) -> list[Rect]:
    """The boxes of pictures that are large enough, and not recognised already."""
    try:
        matrix = display_matrix(page)
        visible = to_rect(page.rect)
        shown = (_common(to_display(image["bbox"], matrix), visible) for image in images)
        large = [box for box in join_touching(box for box in shown if box) if _is_large(box)]
        unseen = [to_display(box, matrix) for box in _unseen(page)] if large else []
    except FAILURES:
        return []
    return [box for box in large if not any(contains(box, line) for line in unseen)]


def _unseen(page: Any) -> Iterator[tuple[float, float, float, float]]:
    for span in page.get_texttrace():
        if span["type"] == UNSEEN or span["opacity"] == 0:
            yield span["bbox"]


def _common(box: Rect, visible: Rect) -> Rect | None:
    """The part of `box` that is on the page."""
    x0, y0 = max(box.x0, visible.x0), max(box.y0, visible.y0)
    x1, y1 = min(box.x1, visible.x1), min(box.y1, visible.y1)
    return Rect(x0, y0, x1, y1) if x0 < x1 and y0 < y1 else None


def _is_large(box: Rect) -> bool:
    return min(box.x1 - box.x0, box.y1 - box.y0) >= MIN_SIDE_PT


def contains(box: Rect, other: Rect) -> bool:
    """Whether the middle of `other` is in `box`."""
    x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
    return box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1


def join_touching(boxes: Iterable[Rect]) -> list[Rect]:
    """`boxes`, those that touch put together."""
    joined: list[Rect] = []
    for box in boxes:
        whole = box
        while touching := [other for other in joined if _touch(whole, other)]:
            for other in touching:
                joined.remove(other)
                whole = whole.union(other)
        joined.append(whole)
    return joined


def _touch(one: Rect, other: Rect) -> bool:
    return (
        one.x0 <= other.x1 + TOUCHING_PT
        and other.x0 <= one.x1 + TOUCHING_PT
        and one.y0 <= other.y1 + TOUCHING_PT
        and other.y0 <= one.y1 + TOUCHING_PT
    )


def content_key(page: Any, box: Rect) -> tuple[object, ...]:
    """What tells whether two pictures show the same: the data of their images, and their size."""
    matrix = display_matrix(page)
    inside = [image for image in page.get_image_info(hashes=True) if contains(box, to_display(image["bbox"], matrix))]
    return (
        round(box.x1 - box.x0),
        round(box.y1 - box.y0),
        page.rotation,
        *sorted(image["digest"] for image in inside),
    )


def lay(page: Any, layer: Any, box: Rect) -> None:
    """Lays the only page of `layer`, as displayed, into `box` of `page`."""
    page.show_pdf_page(from_display(box, page), layer, 0, rotate=page.rotation, keep_proportion=False)


def mark(page: Any, boxes: Sequence[Rect]) -> None:
    """Notes in the page that the words in `boxes` were recognised."""
    numbers = " ".join(f"{number:.2f}" for box in (*marked(page), *boxes) for number in box)
    page.parent.xref_set_key(page.xref, MARK, f"[{numbers}]")


def marked(page: Any) -> list[Rect]:
    """The boxes of pictures whose words were recognised, as displayed."""
    kind, value = page.parent.xref_get_key(page.xref, MARK)
    if kind != "array":
        return []
    try:
        numbers = [float(part) for part in value.strip("[]").split()]
    except ValueError:
        return []
    return [Rect(*numbers[start : start + 4]) for start in range(0, len(numbers) - 3, 4)]


def split(pieces: Iterable[Piece], boxes: Sequence[Rect]) -> tuple[list[Piece], list[list[Piece]]]:
    """The page's own text, and for each of `boxes` the words that were recognised in it."""
    own: list[Piece] = []
    recognised: list[list[Piece]] = [[] for _ in boxes]
    for piece in pieces:
        place = next((n for n, box in enumerate(boxes) if piece.is_recognised and contains(box, piece.bbox)), None)
        (own if place is None else recognised[place]).append(piece)
    return own, recognised


def is_word_like(text: str) -> bool:
    """Whether what was recognised is likely writing, and not the edge of a photograph: "a) .", "—_~ |"."""
    dense = "".join(text.split())
    solid = sum(map(str.isalnum, dense))
    return solid >= 2 and 2 * solid > len(dense) and any(_is_solid(word) for word in text.split())


def _is_solid(word: str) -> bool:
    """Two letters or digits side by side; of scripts without spaces one is enough."""
    bare = [char for char in word if char.isalnum()]
    return len(bare) >= 2 or any(ord(char) > 0x2E80 for char in bare)


def drop_noise(layer: Any) -> bool:
    """Takes lines that are no writing out of the only page of `layer`; whether anything is left."""
    page = layer[0]
    left = False
    for block in page.get_text("dict")["blocks"]:
        for line in block.get("lines", ()):
            if is_word_like("".join(span["text"] for span in line["spans"])):
                left = True
            else:
                page.add_redact_annot(pymupdf.Rect(line["bbox"]), fill=False)
    page.apply_redactions()
    return left
