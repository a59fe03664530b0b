"""Read the comments on a page: notes, typed comments, replies, and the notes of highlights, insertions and stamps.

Each becomes lines at its place on the page, which say what kind of comment it is, whose, and on which words.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rag import types
from rag.parsing.pdf import annotations, character_cleaning
from rag.parsing.pdf.mupdf import MUPDF_ERRORS, display_matrix, pymupdf, to_rect
from rag.parsing.pdf.text_lines import RawBlock, RawLine, bounds
from rag.parsing.pdf.text_runs import read_page, to_display

mupdf = pymupdf.mupdf

MAX_COMMENTS = 1000
"""Further comments of a page are not read."""
MAX_COMMENT_CHARS = 20_000
MAX_DEPTH = 100
"""Replies to replies that are followed."""
SIZE_PT = 10.0
_KINDS = {
    getattr(pymupdf, f"PDF_ANNOT_{name}"): kind
    for kind, names in {
        "Comment": "TEXT FREE_TEXT LINE SQUARE CIRCLE POLYGON POLY_LINE INK REDACT",
        "Highlight": "HIGHLIGHT",
        "Underline": "UNDERLINE SQUIGGLY",
        "Strikeout": "STRIKE_OUT",
        "Insertion": "CARET",
        "Stamp": "STAMP",
        "Attached file": "FILE_ATTACHMENT",
    }.items()
    for name in names.split()
}


class _Comment(NamedTuple):
    number: int
    """The number of its object."""
    parent: int
    """The number of the comment that it replies to; 0 if it is no reply."""
    is_hidden: bool
    head: str
    content: str
    box: types.Rect


def read_comments(page: Any) -> list[RawBlock]:
    """Return a block for each comment on the page, from top to bottom, each followed by the replies to it."""
    found: dict[int, _Comment] = {}
    read_lines = functools.cache(lambda: _read_lines(page))  # only if a comment marks words
    for annotation in annotations.comments(page):
        try:
            comment = _read(annotation, read_lines)
        except MUPDF_ERRORS:
            continue  # a damaged comment costs no page
        if comment and len(found) < MAX_COMMENTS:
            found[comment.number or -len(found)] = comment
    page_box = to_rect(page.rect)
    order = {number: place for place, number in enumerate(found)}
    threads = [(_first(comment, found), comment) for comment in found.values()]
    threads.sort(key=lambda thread: (thread[0].box.y0, thread[0].box.x0, order.get(thread[0].number, 0)))
    return [_block(comment, first.box, page_box) for first, comment in threads if not first.is_hidden]


def _read(annotation: Any, read_lines: Callable[[], Sequence[Sequence[tuple[types.Rect, str]]]]) -> _Comment | None:
    kind = mupdf.pdf_annot_type(annotation)
    content = annotations.content(annotation)
    if kind not in _KINDS or not content:
        return None
    dictionary = mupdf.pdf_annot_obj(annotation)
    is_group = annotations.name(annotation, "RT") == "Group"
    parent = 0 if is_group else int(mupdf.pdf_to_num(mupdf.pdf_dict_gets(dictionary, "IRT")))
    author = " ".join(annotations.text(annotation, "T").split())
    quads = _quads(annotation)
    words = _words_in(read_lines(), quads) if quads and not parent else ""
    head = "Reply" if parent else _KINDS[kind]
    head += f" ({author})" if author else ""
    head += f" on “{words}”" if words else ""
    return _Comment(
        number=mupdf.pdf_to_num(dictionary),
        parent=parent,
        is_hidden=annotations.is_hidden(annotation),
        head=head,
        content=content[:MAX_COMMENT_CHARS],
        box=bounds(quads) if quads else annotations.box(annotation),
    )


def _quads(annotation: Any) -> list[types.Rect]:
    if not mupdf.pdf_annot_has_quad_points(annotation):
        return []
    count = mupdf.pdf_annot_quad_point_count(annotation)
    return [to_rect(pymupdf.Quad(mupdf.pdf_annot_quad_point(annotation, index)).rect) for index in range(count)]


def _read_lines(page: Any) -> list[list[tuple[types.Rect, str]]]:
    """Return each line's characters and their displayed boxes."""
    matrix = display_matrix(page)
    return [
        [(to_display(char["bbox"], matrix), char["c"]) for span in line.spans for char in span["chars"]]
        for line in read_page(page, with_characters=True).lines
    ]


def _words_in(lines: Sequence[Sequence[tuple[types.Rect, str]]], quads: Sequence[types.Rect]) -> str:
    """Return the words, or parts of words, in the displayed boxes."""
    marked = ("".join(char for box, char in line if any(quad.contains_center(box) for quad in quads)) for line in lines)
    return character_cleaning.clean(" ".join(marked))


def _first(comment: _Comment, found: dict[int, _Comment]) -> _Comment:
    """Return the comment that a thread of replies began with."""
    for _ in range(MAX_DEPTH):
        parent = found.get(comment.parent)
        if parent is None:
            break
        comment = parent
    return comment


def _block(comment: _Comment, place: types.Rect, page_box: types.Rect) -> RawBlock:
    """Make a block with a line for each line of a comment, at `place`, but on the page."""
    box = types.Rect(
        min(max(place.x0, page_box.x0), page_box.x1 - 1),
        min(max(place.y0, page_box.y0), page_box.y1 - 1),
        min(max(place.x1, page_box.x0 + 1), page_box.x1),
        min(max(place.y1, page_box.y0 + 1), page_box.y1),
    )
    first, *others = [" ".join(line.split()) for line in comment.content.splitlines() if line.strip()]
    lines = [RawLine(box, text) for text in (f"{comment.head}: {first}", *others)]
    return RawBlock(types.BlockKind.NOTE, lines, SIZE_PT, bold=False)
