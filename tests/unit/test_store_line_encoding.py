"""Encoded lines decode to the same lines."""

from rag.store.search import line_encoding
from rag.types import BlockKind, Line, Rect, lines_text


def make(number: int, text: str, *, kind: BlockKind = BlockKind.TEXT, starts_block: bool = False) -> Line:
    return Line(
        number=number,
        page_number=number // 2 + 1,
        bbox=Rect(0.1 + number, 2.0, 1 / 3, -0.0),
        text=text,
        kind=kind,
        starts_block=starts_block,
    )


def test_round_trip() -> None:
    lines = (
        make(1, "A heading", kind=BlockKind.HEADING, starts_block=True),
        make(2, "a\tb\tc", kind=BlockKind.TABLE, starts_block=True),
        make(3, ""),
        make(3, "same number, with\na line break\n\nand an empty line"),
        make(4, "𝒳 数据 é", starts_block=True),
        make(5, "what stands in three lines").model_copy(update={"last_number": 7}),
        make(8, "in bold").model_copy(update={"is_bold": True}),
        make(9, "three in bold").model_copy(update={"last_number": 11, "is_bold": True}),
    )
    assert line_encoding.unpack(lines_text(lines), line_encoding.pack(lines)) == lines


def test_the_text_is_not_kept_twice() -> None:
    assert "secret" not in repr(line_encoding.pack((make(1, "secret"),)))
