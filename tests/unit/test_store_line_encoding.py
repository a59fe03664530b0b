"""Encoded lines decode to the same lines."""

import json

from rag.store.search import line_encoding
from rag.types import BlockKind, Line, Rect, TableCell, TableRow, lines_text


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


def test_rows_of_tables() -> None:
    head = TableRow(cells=(TableCell(1, 2),), is_head=True, caption="in thousands")
    row = TableRow(cells=(TableCell(0, 0), TableCell(1, 1, "H1 · North")), section="Assets", caption="in thousands")
    lines = (
        make(1, "H1", kind=BlockKind.TABLE, starts_block=True).model_copy(update={"row": head}),
        make(2, "Cash\t12", kind=BlockKind.TABLE).model_copy(update={"row": row}),
        make(3, "Debt\t7", kind=BlockKind.TABLE).model_copy(update={"row": row, "last_number": 4}),
    )
    packed = json.loads(json.dumps(line_encoding.pack(lines)))
    assert line_encoding.unpack(lines_text(lines), packed) == lines


def test_lines_stored_before_rows_were_known() -> None:
    packed = [[1, 1, 0, 0, 9, 9, 4, "table", True], [2, 1, 0, 0, 9, 9, 4, "text", True, None, True]]
    first, second = line_encoding.unpack("a\tbc\n\nbold", packed)
    assert (first.row, first.is_bold, second.row, second.is_bold) == (None, False, None, True)


def test_the_text_is_not_kept_twice() -> None:
    assert "secret" not in repr(line_encoding.pack((make(1, "secret"),)))
