"""Version diffs, and quotes of one version found in another."""

import uuid

import pytest

from rag.engine.library.versions import Paragraph, QuoteFinder, diff_paragraphs, paragraphs_of
from rag.types import BlockKind, Change, Line, Passage, Rect


def paragraph(text: str, page: int = 1, number: int = 1, kind: BlockKind = BlockKind.TEXT) -> Paragraph:
    """Its lines are those of `text`."""
    return Paragraph(
        tuple(
            Line(
                number=number + place,
                page_number=page,
                bbox=Rect(72.0, 100.0 + place, 500.0, 111.0 + place),
                text=line,
                kind=kind,
                starts_block=place == 0,
            )
            for place, line in enumerate(text.split("\n"))
        )
    )


def document(*texts: str, page: int = 1) -> list[Paragraph]:
    """A paragraph for each text, on pages from `page` on."""
    return [paragraph(text, page=page + place, number=10 * place + 1) for place, text in enumerate(texts)]


def kinds(old: list[Paragraph], new: list[Paragraph]) -> list[tuple[str, str | None, str | None]]:
    return [
        (change.kind, change.old.text if change.old else None, change.new.text if change.new else None)
        for change in diff_paragraphs(old, new)[0]
    ]


A, B, C = "Ships came in great numbers.", "The pilots work in three shifts.", "A ferry leaves at noon every day."


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((A, B, C), (A, B, C), []),
        ((A, C), (A, B, C), [("added", None, B)]),
        ((A, B, C), (A, C), [("removed", B, None)]),
        ((A, B), (A, B.replace("three", "four")), [("changed", B, B.replace("three", "four"))]),
        ((A,), (B, A.replace("great", "small")), [("added", None, B), ("changed", A, A.replace("great", "small"))]),
        ((), (A,), [("added", None, A)]),
        ((A,), (), [("removed", A, None)]),
    ],
)
def test_paragraphs_are_added_removed_or_changed(
    old: tuple[str, ...], new: tuple[str, ...], expected: list[tuple[str, str | None, str | None]]
) -> None:
    assert kinds(document(*old), document(*new)) == expected


@pytest.mark.parametrize(
    "broken", ["Ships came in great\nnumbers.", "Ships came in great num-\nbers.", "Ships  came in\u00a0great numbers."]
)
def test_how_lines_are_broken_does_not_matter(broken: str) -> None:
    assert diff_paragraphs(document(A), document(broken)) == ([], 1)
    assert QuoteFinder(document(B, broken)).find(A, 1).change is Change.UNCHANGED


def test_a_minus_is_no_hyphen() -> None:
    assert kinds(document("The change was -5 in all."), document("The change was 5 in all.")) != []


def test_what_heads_pages_is_left_out() -> None:
    texts = [f"{letter * 20} is on page {page}." for page, letter in enumerate("abcde", start=1)]

    def pages(shift: int) -> list[Paragraph]:
        both = [
            (paragraph(f"Report | {page + shift}", page), paragraph(text, page)) for page, text in enumerate(texts, 1)
        ]
        return [one for page in both for one in page]

    assert diff_paragraphs(pages(0), pages(1)) == ([], 5)


def test_rows_of_a_table_are_told_apart_and_lines_of_overlapping_chunks_are_taken_once() -> None:
    row = (
        paragraph("Net sales\t1", number=5, kind=BlockKind.TABLE).lines
        + paragraph("Cost\t2", number=6, kind=BlockKind.TABLE).lines
    )
    lines = (*paragraph("Before.\nIt goes on.", number=1).lines, *row)
    document_id = uuid.uuid4()
    chunks = [Passage(document_id=document_id, lines=lines[:3]), Passage(document_id=document_id, lines=lines[1:])]
    assert [one.text for one in paragraphs_of(chunks)] == ["Before. It goes on.", "Net sales\t1", "Cost\t2"]


@pytest.mark.parametrize(
    ("quote", "change", "page"),
    [
        ("The pilots work", Change.UNCHANGED, 2),
        ("The pilots work in two shifts.", Change.CHANGED, 2),
        ("Nothing of this kind was ever said about anyone.", Change.REMOVED, None),
        ("12,345", Change.REMOVED, None),
        ("", Change.REMOVED, None),
    ],
)
def test_a_quote_is_unchanged_changed_or_removed(quote: str, change: Change, page: int | None) -> None:
    found = QuoteFinder(document(A, B, C)).find(quote, 1)
    assert (found.change, found.lines[0].page_number if found.lines else None) == (change, page)


def test_of_the_same_words_those_nearest_to_the_page_are_meant() -> None:
    text = QuoteFinder(document(A, B, C, A))
    assert [text.find(A, page).lines[0].page_number for page in (1, 2, 3, 9)] == [1, 1, 4, 4]


def test_only_the_lines_of_the_quote_are_lit() -> None:
    text = QuoteFinder([paragraph("First line here.\nSecond line is it.\nThird.", number=7)])
    assert [line.number for line in text.find("line is", 1).lines] == [8]
    assert [line.number for line in text.find("here.\nSecond", 1).lines] == [7, 8]
