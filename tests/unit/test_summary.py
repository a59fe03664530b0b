"""What asks for a summary, and which sentences it is made of."""

import uuid

import numpy as np
import pytest

from rag.answering.extraction.summary import (
    Extract,
    KeySentence,
    key_sentences,
    naming_lines,
    quotas,
    requested_summary,
    whole_summary,
)
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.types import BlockKind, Chunk, Line, Rect, Span


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Summarise this document", Extract()),
        ("summary", Extract()),
        ("Could you please summarize the report?", Extract()),
        ("What is this document about?", Extract()),
        ("What is it about?", Extract()),
        ("What are the key points of the report?", Extract()),
        ("key takeaways", Extract()),
        ("TL;DR", Extract()),
        ("Give me a short overview of the lease", Extract()),
        ("Fasse das Dokument zusammen", Extract()),
        ("What is this 10-K about and what are its main results?", Extract()),
        ("What is this about, and what are its main competitors?", None),
        ("What does this auditor say?", None),
        ("key figures of this in short", Extract()),
        ("Summarize section 3", Extract("section 3")),
        ("Summarise the risk factors", Extract("the risk factors")),
        ("What is the summary of significant accounting policies?", None),
        ("What are the main points of agreement between them?", None),
        ("What does the report say about tax?", None),
        ("What is goodwill about?", None),
        ("What was revenue in 2021?", None),
        ("Who wrote the executive summary?", None),
    ],
)
def test_what_asks_for_a_summary(question: str, expected: Extract | None) -> None:
    assert requested_summary(question) == expected


SENTENCES = {
    "Harbour": (
        "The harbour takes in ferries, barges and fishing boats throughout the year.",
        "Ferries and barges pay harbour dues by their length, fishing boats by the year.",
        "In the winter the harbour is kept open for ferries by a small icebreaker.",
    ),
    "Bridge": (
        "The bridge over the sound carries trains, lorries and cars in both directions.",
        "Trains cross the bridge every hour, lorries and cars wait while they do so.",
        "The bridge is closed to lorries and trains when the wind is too strong.",
    ),
}


def document(extra: str = "", *, section: str = "") -> list[Chunk]:
    chunks = []
    number = 0
    for heading, sentences in SENTENCES.items():
        for sentence in sentences:
            texts = [
                sentence,
                *([extra] if extra else []),
                f"The Northern Gazette of the Islands appears on page {number}.",
            ]
            lines = tuple(
                Line(
                    number=10 * number + place,
                    page_number=number + 1,
                    bbox=Rect(0, 0, 1, 1),
                    text=text,
                    starts_block=True,
                )
                for place, text in enumerate(texts)
            )
            chunks.append(
                Chunk(
                    id=uuid.uuid4(),
                    document_id=uuid.UUID(int=1),
                    ordinal=number,
                    lines=lines,
                    section=section or heading,
                )
            )
            number += 1
    return chunks


def chosen(chunks: list[Chunk], limit: int = 10) -> list[str]:
    vectors = {chunk.id: np.eye(8)[place % 8] for place, chunk in enumerate(chunks)}
    return [key.chunk.text[key.span.start : key.span.end] for key in key_sentences(chunks, vectors, limit=limit)]


def test_each_section_has_its_sentences_in_its_order() -> None:
    keys = chosen(document(), limit=4)
    places = [[text in sentences for sentences in SENTENCES.values()].index(True) for text in keys]
    assert places == [0, 0, 1, 1]
    order = [text for sentences in SENTENCES.values() for text in sentences]
    assert [order.index(text) for text in keys] == sorted(order.index(text) for text in keys)


def test_a_document_sums_itself_up() -> None:
    chunks = document()
    names = ["1 Abstract", "2 Harbour", "2 Harbour", "3 Bridge", "3 Bridge", "4. Conclusions"]
    chunks = [chunk.model_copy(update={"section": name}) for chunk, name in zip(chunks, names, strict=True)]
    fact = KeySentence(chunks[3], Span(0, len(chunks[3].lines[0].text)), "3 Bridge")
    keys = whole_summary(chunks, {}, [fact])
    told = [sentence for sentences in SENTENCES.values() for sentence in sentences]
    assert [key.chunk.text[slice(*key.span)] for key in keys] == [told[0], told[3], told[5]]


@pytest.mark.parametrize(
    "names",
    [
        ("1 Harbour", "3 Bridge", "3.4 Summary"),
        ("Harbour", "Harbour", "Bridge", "Bridge > Summary"),
        ("Summary", "Bridge", "Summary"),
    ],
)
def test_summaries_of_chapters_are_not_those_of_the_document(names: tuple[str, ...]) -> None:
    texts = [chunk for chunk in document() if len(chunk.text)][: len(names)]
    chunks = [
        chunk.model_copy(update={"section": name.replace(" > ", SECTION_SEPARATOR)})
        for chunk, name in zip(texts, names, strict=True)
    ]
    assert whole_summary(chunks, {}, []) == []


def test_a_summary_below_the_title_is_the_document_s() -> None:
    names = ["Title", f"Title{SECTION_SEPARATOR}Summary", f"Title{SECTION_SEPARATOR}Bridge"]
    chunks = [chunk.model_copy(update={"section": name}) for chunk, name in zip(document()[:3], names, strict=True)]
    assert [key.section for key in whole_summary(chunks, {}, [])] == ["Summary"]


def test_of_a_document_that_does_not_each_section_tells_something() -> None:
    chunks = document()
    vectors = {chunk.id: np.eye(8)[place] for place, chunk in enumerate(chunks)}
    assert {key.section for key in whole_summary(chunks, vectors, [])} == {"Harbour", "Bridge"}


def test_a_summary_is_no_longer_than_asked_and_repeats_nothing() -> None:
    for limit in (1, 3, 6, 20):
        keys = chosen(document(), limit=limit)
        assert len(keys) == len(set(keys)) <= limit


@pytest.mark.parametrize(
    "extra",
    [
        "Harbour and bridge, ferries and trains, lorries and barges, all of them here",
        "See page 4 for what the harbour and the bridge take in from ferries and trains.",
        "Copyright of the harbour, the bridge, the ferries, the trains and the barges.",
        "The harbour: 12.4, 18.3, 99.1, 12.0, 77.2, 18.1, 14.6, 11.9, 20.5, 33.8.",
        "Is the harbour open for ferries, barges and the fishing boats in the winter?",
    ],
)
def test_what_says_nothing_is_left_out(extra: str) -> None:
    assert extra not in chosen(document(extra), limit=20)


def test_running_heads_are_left_out() -> None:
    assert not any("Gazette" in text for text in chosen(document(), limit=20))


def test_references_are_left_out() -> None:
    assert chosen(document(section="References")) == []


def test_a_summary_begins_with_the_first_section() -> None:
    assert chosen(document(), limit=4)[0] == SENTENCES["Harbour"][0]


@pytest.mark.parametrize(
    ("weights", "limit", "most", "expected"),
    [
        ([8, 1, 1], 10, 3, [3, 3, 3]),
        ([8, 1, 1, 1], 10, 3, [3, 3, 2, 2]),
        ([4, 2], 6, 6, [4, 2]),
        ([1, 1, 1], 2, 1, [1, 1, 1]),
    ],
)
def test_sections_share_by_weight_and_none_has_more_than_its_most(
    weights: list[float], limit: int, most: float, expected: list[int]
) -> None:
    assert quotas(weights, limit, most) == expected


def page(*texts: str, number: int = 1, kind: BlockKind = BlockKind.TEXT, bold: bool = False) -> Chunk:
    lines = tuple(
        Line(
            number=100 * number + place,
            page_number=number,
            bbox=Rect(0, 0, 1, 1),
            text=text,
            kind=kind,
            starts_block=True,
            is_bold=bold,
        )
        for place, text in enumerate(texts)
    )
    return Chunk(id=uuid.uuid4(), document_id=uuid.UUID(int=1), ordinal=number, lines=lines, section="Everything")


def test_the_first_page_says_what_the_document_is() -> None:
    cover = page("Sea Ports Authority", "FORM 10-K", "For the fiscal year ended May 31, 2024", "Harbour Holding Ltd.")
    keys = naming_lines([cover, page("Another report", number=2)], "Harbour Holding Ltd.")
    assert [key.chunk.text[slice(*key.span)] for key in keys] == [
        "FORM 10-K",
        "For the fiscal year ended May 31, 2024",
        "Harbour Holding Ltd.",
    ]


def test_numbered_parts_are_sections_whatever_the_headings_below() -> None:
    chunks = []
    for number, (name, sentences) in enumerate([*SENTENCES.items(), *SENTENCES.items()], 1):
        told = [sentence.replace(".", f" in part {number}.") for sentence in sentences]
        heading = page(f"Item {number} - {name}", number=2 * number, bold=True)
        chunks += [heading, page(*told, number=2 * number + 1)]
    vectors = {chunk.id: np.eye(8)[0] for chunk in chunks}
    sections = [key.section for key in key_sentences(chunks, vectors, limit=8)]
    assert [*dict.fromkeys(sections)] == ["Item 1 - Harbour", "Item 2 - Bridge", "Item 3 - Harbour", "Item 4 - Bridge"]
    assert max(map(sections.count, sections)) == 2
