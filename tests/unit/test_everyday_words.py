"""Questions in other words than the documents', about those no document is about, and rows of merged heads."""

import pytest

from rag.answering.extraction import question_intent
from rag.answering.extraction.answer_fit import named_strangers
from rag.answering.extraction.extractive_answer import choose
from rag.answering.passages.statements import are_told_apart
from rag.types import BlockKind, Rewriting
from rag.vocabulary import widener
from tests import sources

REPORT = sources.hit(
    "Globex grew in every port. Competitors are Initech and others.",
    (BlockKind.TABLE, "(in millions)\n\t2022\t2021\nNet sales\t520\t480\nFerries\t300\t290\nDividends paid\t12\t11"),
    name="globex.pdf",
    score=0.9,
)


def widened(question: str) -> list[Rewriting]:
    widenings = widener().widen(question).widenings
    return [Rewriting(kind=one.kind, found=one.found, added=one.added, trade=one.trade) for one in widenings]


@pytest.mark.parametrize(
    ("question", "text", "reworded"),
    [
        ("What is the match of the 401k?", "Our 401(k) plan matches 3 %.", "What is the match of the 401k?"),
        ("How many shops are there?", "We run 40 stores.", "How many stores are there?"),
        ("How many shops are there?", "We run 40 shops and stores.", "How many shops are there?"),
        ("How many shops are there?", "We run 40 ferries.", "How many shops are there?"),
        ("What was the gross margin?", "Gross profit was 40.", "What was the gross margin?"),  # a share, not an amount
    ],
)
def test_a_question_is_put_in_the_words_of_what_was_found(question: str, text: str, reworded: str) -> None:
    assert question_intent.in_words_of([text], question, widened(question)) == reworded


def test_the_sentence_in_the_documents_words_answers() -> None:
    hit = sources.hit("We run 40 stores. The shelves are made of wood.", "The 401(k) plan matches 3 % of the pay.")
    for question, said in (("How many shops?", "We run 40 stores."), ("401k match?", "The 401(k) plan matches 3 % of")):
        choice = choose(question, [hit], rewritings=widened(question))
        assert choice.extracts[0].candidate.text.startswith(said)


SPOKEN = sources.hit(
    "Annual net sales of ferries grew, and diluted earnings and total assets as well. Initech sued us in 2022.",
    "We measure the Harbours segment by its profit.",
    (BlockKind.HEADING, "Baltic Region"),
    (BlockKind.HEADING, "Acquisition of Initech"),
    (BlockKind.TABLE, "\tEMEA\tAmericas\nNet sales\t520\t480\nTotal Norway\t300\t290\nInitech merger agreement\t10.1"),
    "Sweden 70 60",
    "Net sales of Initech were 70 million in 2022",
)


@pytest.mark.parametrize(
    ("question", "strangers"),
    [
        ("initech net sales 2022?", ("initech",)),
        ("Initech R&D spending fiscal 2022", ("Initech",)),
        ("What did Initech pay in dividends in 2022?", ("Initech",)),
        ("Who audits Initech?", ("Initech",)),
        ("What were net sales in 2022?", ()),
        ("Annual net sales 2022", ()),
        ("Ferries revenue 2022", ()),
        ("Diluted EPS 2022", ()),
        ("How strong were net sales in 2022?", ()),
        ("How do I clean the Milk System?", ()),  # not asked of each document
        ("What was revenue in Germany in 2022?", ()),
        ("What was revenue in North America and the Far East in 2022?", ()),
        ("In Germany, what was revenue in 2022?", ()),
        ("Net sales from Germany 2022", ()),
        ("Net sales for the Far East region 2022", ()),
        ("What was revenue in Initech's fiscal 2022?", ("Initech",)),
        ("What was the net income in the Initech annual report?", ("Initech",)),
        ("What was Initech's revenue in the United States and Canada?", ("Initech",)),
        ("What was revenue in Germany, Denmark and Poland?", ()),
        ("In Germany, Initech revenue 2022", ("Initech",)),
        ("In Q4, Initech revenue", ("Initech",)),
        ("What did Initech earn in Germany as net income?", ("Initech",)),
        ("EMEA net sales 2022", ()),
        ("emea net sales 2022", ()),
        ("What were net sales of Norway?", ()),
        ("Sweden net sales 2022", ()),
        ("Baltic net sales 2022", ()),
        ("Harbours net sales 2022", ()),
        ("Far East Region net sales 2022", ()),
        ("Denmark net sales 2022", ("Denmark",)),
    ],
)
def test_whom_no_document_is_about_is_a_stranger(question: str, strangers: tuple[str, ...]) -> None:
    assert named_strangers(question, [SPOKEN]) == strangers


def test_a_segment_in_the_caption_of_a_table_is_answered_from_its_rows() -> None:
    hit = sources.hit(
        (BlockKind.HEADING, "Germany"),
        (BlockKind.TABLE, "(in millions)\t2022\t2021\nNet sales\t520\t480\nDividends paid\t12\t11"),
        name="globex.pdf",
        score=0.9,
    )
    for question in ("What were net sales in Germany in 2022?", "Germany net sales 2022"):
        choice = choose(question, [hit], strangers=named_strangers(question, [hit]))
        assert choice.extracts[0].candidate.text.startswith("Net sales – 2022: 520"), choice.hint


def test_only_what_names_a_stranger_answers() -> None:
    refused = choose("Initech net sales 2022?", [REPORT], strangers=["Initech"])
    assert refused.extracts == ()
    assert refused.hint is not None
    assert "“Initech”" in refused.hint
    told = sources.hit("Net sales of Initech were 70 million in 2022.", name="globex.pdf")
    answered = choose("Initech net sales 2022?", [REPORT, told], strangers=["Initech"])
    assert [one.candidate.text for one in answered.extracts] == ["Net sales of Initech were 70 million in 2022."]
    part = choose("Ferries sales 2022?", [REPORT], strangers=["Ferries"])
    assert part.extracts[0].candidate.text.startswith("Ferries – 2022: 300")


def test_a_row_that_only_has_the_companys_name_is_no_line_item() -> None:
    index = sources.hit(
        (BlockKind.TABLE, "Comparison of returns\n\t2018\t2019\nGlobex Co.\t$ 100.00\t$ 84.25"), name="globex.pdf"
    )
    assert choose("What was the revenue of Globex in fiscal 2018?", [index], subjects="Globex").extracts == ()


def test_a_sentence_without_an_amount_is_no_line_item() -> None:
    outlook = sources.hit("Globex may have less revenue in fiscal 2024, as the sea is rough.", name="globex.pdf")
    assert choose("What was the revenue of Globex in fiscal 2024?", [outlook]).extracts == ()


@pytest.mark.parametrize(
    ("heads", "cells", "is_trusted"),
    [
        (("2022", "2021"), ("5", "4"), True),
        (("2022 vs. 2021", "2021 to 2020"), ("5 %", "4 %"), True),
        (("Year ended May 31, 2022", "Year ended May 31, 2022"), ("5", "40 %"), True),  # an amount and its share
        (("2022", "Change 2022 vs. 2021", "Change 2022 vs. 2021"), ("5", "4", "40 %"), True),
        (("Change", "Change"), ("5", "40 %"), True),
        (("", ""), ("5", "4"), True),
        (("Fiscal 2022 Fiscal 2021",), ("5",), True),
        (("FISCAL 2022 FISCAL 2021", "% change"), ("5", "4"), False),
        (("SQuAD GPT-2 OPT", "Average GPT-2 OPT", "Average GPT-2 OPT"), ("5", "4", "3"), False),
        (("Changes fiscal 2021", "Changes fiscal 2021"), ("17 %", "$ 5,343"), False),
    ],
)
def test_heads_of_several_columns_read_as_one_are_not_trusted(
    heads: tuple[str, ...], cells: tuple[str, ...], is_trusted: bool
) -> None:
    assert are_told_apart(heads, cells) is is_trusted


@pytest.mark.parametrize(
    ("name", "text", "is_missing"),
    [
        ("MPT-4", "The score of MPT-3 is 0.8.", True),
        ("MPT-3", "The score of MPT 3 is 0.8.", False),
        ("401k", "Our 401(k) plan", False),
        ("Globbex", "GLOBEX and others", False),
        ("GlobEx", "Globexx and others", False),
    ],
)
def test_a_code_with_other_figures_is_another_name(name: str, text: str, is_missing: bool) -> None:
    asked = question_intent.parse_question(f"What is the score of {name}?")
    assert bool(asked.missing(text)) is is_missing
