"""Which sentences and table rows of a document are its key facts."""

import itertools
import uuid
from collections.abc import Mapping, Sequence

import pytest

from rag import vocabulary
from rag.answering.extraction.key_facts import MAX_FACTS, KeyFact, key_facts
from rag.types import BlockKind, Chunk, Line, Rect

Text = tuple[str, BlockKind]


def document(*pages: Mapping[str, Sequence[str | Text]]) -> list[Chunk]:
    """Return a chunk for each section of pages: lines of text, or of another kind."""
    chunks: list[Chunk] = []
    numbers = itertools.count(1)
    for page_number, sections in enumerate(pages, start=1):
        for section, texts in sections.items():
            lines = []
            for place, given in enumerate(texts):
                text, kind = given if isinstance(given, tuple) else (given, BlockKind.TEXT)
                number = next(numbers)
                starts = place == 0 or kind is BlockKind.TEXT
                box = Rect(0, 12 * number, 200, 12 * number + 10)
                line = Line(number=number, page_number=page_number, bbox=box, text=text, kind=kind, starts_block=starts)
                lines.append(line)
            chunk = Chunk(
                id=uuid.uuid4(), document_id=uuid.UUID(int=1), ordinal=len(chunks), lines=tuple(lines), section=section
            )
            chunks.append(chunk)
    return chunks


def told(facts: Sequence[KeyFact]) -> list[str]:
    return [fact.text for fact in facts]


FILLER = (
    "The harbour is open to ferries, barges and fishing boats on every day of the year.",
    "Ferries come to the harbour from the islands, and barges come to it from the river.",
    "Fishing boats leave the harbour early in the morning and return to it late at night.",
    "The market hall beside the church sells bread, cheese and flowers to the people.",
    "Bread and cheese are made by bakers and farmers who live outside of the town.",
    "The school teaches children from the villages, who travel to it by train or bus.",
    "Trains and buses stop at the station, which is at a walk of ten minutes from here.",
    "The library lends books to children, and has a room in which newspapers are read.",
)
FIGURE = "The harbour handled 4,812 ferries and barges in 2021, an increase of 12% over the year before."


def test_figures_tell_more_than_words_alone() -> None:
    assert told(key_facts(document({"Traffic": [*FILLER, FIGURE]}), limit=1)) == [FIGURE]


def test_phrases_of_its_kind_and_names_of_its_subject_count() -> None:
    duty = "The tenant must keep ferries, barges and fishing boats of the harbour in good repair."
    assert told(key_facts(document({"Duties": [*FILLER, duty]}), cues=vocabulary.cues_of("contract"), limit=1)) == [
        duty
    ]
    named = "Ferries of Nordlicht Lines come to the harbour from the islands, and barges from the river."
    assert told(key_facts(document({"A": [*FILLER, named]}), names=["Nordlicht Lines"], limit=1)) == [named]


@pytest.mark.parametrize(
    "text",
    [
        "This report describes the ferries and the barges of the harbour in the year 2021.",
        "Ferries and barges of the harbour may be adversely affected by 10% higher prices of fuel.",
        "We expect that 5,000 ferries and barges will come to the harbour in the next year.",
        "However, this was 12% more ferries and barges than the harbour handled in 2020.",
        "Ferries of the harbour were counted in 2019 by others (Miller et al., 2020) as 4,000.",
        "harbour, of 4,812 ferries and barges in 2021",
    ],
)
def test_what_tells_little_comes_last(text: str) -> None:
    assert text not in told(key_facts(document({"Traffic": [text, *FILLER]}), limit=3))


def test_boilerplate_is_no_fact() -> None:
    notice = "All 4,812 ferries and barges of the harbour are shown, all rights reserved, in 2021."
    footer = "The harbour counts 4,812 ferries and barges in each of its 12 months of the year 2021."
    listed = "Harbour, A., Ferries and barges of the harbour in 2021, a study of 4,812 boats."
    pages = [{f"Page {number}": [line, footer]} for number, line in enumerate((*FILLER, notice), start=1)]
    chosen = told(key_facts(document(*pages, {"References": [FIGURE], "Data": [listed]})))
    assert chosen
    assert {notice, footer, listed, FIGURE}.isdisjoint(chosen)


def test_facts_are_unlike_each_other() -> None:
    years = [f"The harbour handled {n},812 ferries and barges in 20{n}, {n}% more than before." for n in (21, 22)]
    chosen = told(key_facts(document(*({f"Year {n}": [text]} for n, text in enumerate([*years, *FILLER])))))
    assert sum(text in years for text in chosen) == 1


def test_facts_are_from_several_pages_in_reading_order() -> None:
    on_page = (f"{text[:-1]}, at {n} euros." for n, text in enumerate(FILLER, start=3))
    facts = key_facts(document({"Prices": [*on_page]}, *({f"Part {n}": [text]} for n, text in enumerate(FILLER))))
    numbers = [fact.page_number for fact in facts]
    assert numbers == sorted(numbers)
    assert numbers.count(1) == 2


HEAD = ("(in millions)\t2021\t2020", BlockKind.TABLE)
ROWS = [HEAD] + [
    (f"{label}\t{value}\t{value + 7}", BlockKind.TABLE)
    for label, value in (("Revenue", 412), ("Interest expense", 31), ("Net income", 58), ("Other", 11), ("Goodwill", 9))
]


def test_main_line_items_of_the_statements_are_facts() -> None:
    chunks = document({"Income": ROWS}, {"Text": FILLER})
    facts = key_facts(chunks, cues=vocabulary.cues_of("annual_report"), statements={"income statement": {1}})
    rows = [fact for fact in facts if fact.unit.cells]
    assert [row.text.partition(" – ")[0] for row in rows] == ["Revenue", "Net income"]
    assert "2021: 412; 2020: 419" in rows[0].text
    assert rows[0].page_number == 1


def test_rows_elsewhere_are_facts_if_the_text_speaks_of_them() -> None:
    spoken = [f"The number of ferry passengers in {month} was higher than before." for month in ("May", "June", "July")]
    table = [HEAD, ("Ferry passengers\t412\t398", BlockKind.TABLE), ("Lost umbrellas\t17\t12", BlockKind.TABLE)]
    rows = [fact for fact in key_facts(document({"Table": table, "Text": spoken})) if fact.unit.cells]
    assert [row.text.partition(" – ")[0] for row in rows] == ["Ferry passengers"]


def test_there_are_at_most_ten_and_none_of_nothing() -> None:
    texts = [
        f"The {word} of the town has {n} rooms and was built in 18{n}." for n, word in enumerate("abcdefghijklmno", 10)
    ]
    assert len(key_facts(document({"": texts}))) <= MAX_FACTS
    assert key_facts([]) == []
