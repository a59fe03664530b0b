"""What an answer looks like in the chat, and what it lights on the page."""

import re

import pytest

from rag import prompts
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.types import (
    LIKELY_THRESHOLD,
    AnswerResponse,
    BlockKind,
    Citation,
    QuotedRow,
    Rect,
    Region,
    Sentence,
    Support,
    Usage,
    Verdict,
)
from rag.ui import language
from rag.ui.chat import answer
from rag.ui.viewer import pdf_viewer
from tests import sources

SOURCE = sources.hit("Sales rose.\nCosts fell.", "Nobody left.\nTwo joined.", name="report.pdf")


def citation(line: int, sentence: int, *, id_: str = "S1", verdict: Verdict = Verdict.VERIFIED) -> Citation:
    """A citation of a line of SOURCE."""
    quoted = SOURCE.passage.lines[line]
    regions = (Region(page_number=1, rects=(quoted.bbox,)),)
    return Citation(
        citation_id=id_,
        sentence=sentence,
        quote=quoted.text,
        lines=(quoted,),
        regions=regions,
        verdict=verdict,
    )


def response(*citations: Citation, support: Support | None = None, missing: tuple[str, ...] = ()) -> AnswerResponse:
    """Two sentences, each ending with a mark of S1; `support` and `missing` are the verdict about the second."""
    text = "Sales rose. [S1] Two <b>joined</b>. [S1]"
    sentences = (
        Sentence(text="Sales rose.", citation_ids=("S1",), start=0, end=16, support=Support.SUPPORTED),
        Sentence(
            text="Two <b>joined</b>.",
            citation_ids=("S1",),
            start=17,
            end=len(text),
            support=support,
            missing=missing,
        ),
    )
    return AnswerResponse(
        status="ok",
        answer=text,
        sentences=sentences,
        citations=citations,
        sources={"S1": SOURCE, "S2": SOURCE},
        model="extractive",
    )


def test_each_mark_opens_the_citation_of_its_own_sentence() -> None:
    html = answer.answer_html(response(citation(3, 1), citation(0, 0)))
    assert re.findall(r'data-citation="(\d)"', html) == ["1", "0"]
    assert "<b>" not in html


def test_a_mark_of_several_quotes_has_a_button_for_each() -> None:
    html = answer.answer_html(response(citation(0, 0), citation(2, 1), citation(3, 1)))
    assert re.findall(r'data-citation="(\d)"[^>]*>(\w+)', html) == [("0", "S1a"), ("1", "S1b"), ("2", "S1c")]


def test_quotes_of_the_same_source_have_names_of_their_own() -> None:
    assert response(citation(0, 0), citation(3, 1), citation(1, 1, id_="S2")).labels == ("S1a", "S1b", "S2")


def test_mark_without_a_citation_stays_text() -> None:
    assert answer.answer_html(response()).count("[S1]") == 2


def test_quotes_of_one_page_are_one_card() -> None:
    cited = [citation(0, 0), citation(3, 1), citation(3, 1), citation(1, 1, id_="S2")]
    (card,) = answer.source_cards(response(*cited, support=Support.PARTLY))
    assert (card["label"], card["name"], card["place"]) == ("S1, S2", "report.pdf", "p. 1")
    chips = [[chip["label"] for chip in quote["chips"]] for quote in card["quotes"]]
    assert chips == [["S1a"], ["S1b", "S1c"], ["S2"]]
    assert [quote["text"] for quote in card["quotes"]] == ["Sales rose.", "Two joined.", "Costs fell."]


def test_each_page_has_its_card_named_by_its_only_quote() -> None:
    elsewhere = sources.hit("Sales rose.", name="report.pdf", page_number=7)
    shown = response(citation(0, 0), citation(3, 1).model_copy(update={"lines": elsewhere.passage.lines}))
    assert [(card["label"], card["place"]) for card in answer.source_cards(shown)] == [("S1a", "p. 1"), ("S1b", "p. 7")]


def test_a_card_says_nothing_about_verdicts() -> None:
    nothing = citation(0, 0, verdict=Verdict.UNVERIFIED).model_copy(
        update={"quote": None, "unsupported_numbers": ("4",)}
    )
    shown = response(nothing, support=Support.PARTLY, missing=("12.4",))
    words = str(answer.source_cards(shown))
    assert not any(word in words for word in ("verified", "no quote", "12.4", "partly", "✓"))


@pytest.mark.parametrize(
    ("support", "mark"),
    [
        (Support.QUOTED, "✓"),
        (Support.SUPPORTED, "✓"),
        (Support.PARTLY, "◐ partly"),
        (Support.NOT_STATED, "✗ not stated"),
        (Support.NOT_VERIFIED, "? not verified"),
        (Support.CONTRADICTED, "✗ contradicted"),
        (Support.UNCITED, "? no source"),
    ],
)
def test_each_sentence_has_one_mark_with_its_reason(support: Support, mark: str) -> None:
    shown = written(support, missing=("12.4", "Uppsala"))
    first, second = re.findall(r'class="mark (\w+)"[^>]* title="([^"]*)">([^<]*)<', answer.answer_html(shown))
    assert first == ("supported", "✓\nThe sources say this.", "✓")
    assert (second[0], second[2]) == (support, mark)
    assert ("Not found there: 12.4, Uppsala." in second[1]) is not support.is_proved


def test_a_sentence_that_states_nothing_and_a_quotation_of_an_extract_have_no_mark() -> None:
    assert answer.answer_html(written(None)).count('class="mark') == 1
    assert answer.answer_html(response(citation(3, 1), support=Support.QUOTED)).count('class="mark') == 1


def test_a_citation_is_a_button_with_its_place_and_quote_whatever_the_verdict() -> None:
    html = answer.answer_html(written(Support.CONTRADICTED, missing=("12.4",)))
    assert 'class="chip" data-citation="1" title="report.pdf · p. 1\nTwo joined."' in html


def written(support: Support | None, *, missing: tuple[str, ...] = ()) -> AnswerResponse:
    """An answer of a model."""
    shown = response(citation(0, 0), citation(3, 1), support=support, missing=missing)
    return shown.model_copy(update={"model": "gpt"})


@pytest.mark.parametrize(
    ("supports", "line"),
    [
        ("S", "1 sentence verified"),
        ("SQ-", "All 2 sentences verified"),
        ("N", "The sentence is not verified: not stated in the sources"),
        ("CC", "None of 2 sentences verified; 2 without a source"),
        ("SSSSSN", "5 of 6 sentences verified; 1 not stated in the sources"),
        ("PSX", "1 of 3 sentences verified; 1 contradicted by the sources, 1 only partly stated in the sources"),
        ("VSS", "2 of 3 sentences verified; 1 could not be decided"),
        ("-", ""),
    ],
)
def test_one_line_counts_the_verdicts(supports: str, line: str) -> None:
    assert answer.summary(judged(supports)) == line


@pytest.mark.parametrize(
    ("supports", "line"),
    [
        ("S", "1 Satz belegt"),
        ("SQ-", "Alle 2 Sätze belegt"),
        ("N", "Der Satz ist nicht belegt: nicht in den Quellen"),
        ("CC", "Keiner von 2 Sätzen belegt; 2 ohne Quelle"),
        (
            "PSXV",
            "1 von 4 Sätzen belegt; 1 von den Quellen widerlegt, 1 nur teilweise in den Quellen, 1 nicht entschieden",
        ),
    ],
)
def test_the_line_in_german(supports: str, line: str) -> None:
    with language.use_language("de"):
        assert answer.summary(judged(supports)) == line


def judged(supports: str) -> AnswerResponse:
    """An answer of a model with a sentence for each letter: S supported, Q quoted, - states nothing, …"""
    sentences = tuple(Sentence(text="", start=0, end=0, support=SUPPORTS.get(letter)) for letter in supports)
    return AnswerResponse(status="ok", answer="", sentences=sentences, model="gpt")


SUPPORTS = {
    "Q": Support.QUOTED,
    "S": Support.SUPPORTED,
    "P": Support.PARTLY,
    "N": Support.NOT_STATED,
    "V": Support.NOT_VERIFIED,
    "X": Support.CONTRADICTED,
    "C": Support.UNCITED,
}


def test_an_extract_and_a_refusal_have_no_such_line() -> None:
    assert answer.summary(response(citation(3, 1), support=Support.QUOTED)) == ""
    assert answer.summary(written(Support.PARTLY).model_copy(update={"status": "insufficient_context"})) == ""


def test_sentences_that_are_not_verified_are_listed_with_their_reasons() -> None:
    (listed,) = answer.unproved(written(Support.CONTRADICTED, missing=("joined",)))
    assert listed == {
        "sentence": 1,
        "text": "Two <b>joined</b>.",
        "kind": "contradicted",
        "mark": "✗ contradicted",
        "reason": "The sources say otherwise. Not found there: joined.",
    }


def test_a_row_of_a_table_is_listed_by_its_cells() -> None:
    row = Sentence(text="| **2019** | 4,812 |", start=0, end=20, support=Support.NOT_VERIFIED)
    (listed,) = answer.unproved(AnswerResponse(status="ok", answer=row.text, sentences=(row,), model="m"))
    assert listed["text"] == "2019 · 4,812"


def test_provisional_verdicts_strike_nothing_and_say_that_they_are() -> None:
    shown = written(Support.CONTRADICTED)
    html = answer.answer_html(shown, is_provisional=True)
    assert "<s " not in html
    assert re.findall(r'class="mark (\w+)"[^>]*>([^<]*)<', html) == [("provisional", "✓"), ("provisional", "…")]
    assert html.count("Being checked …") == 2
    assert answer.summary(shown, is_provisional=True) == "Being checked … 1 of 2 sentences verified so far"


def test_what_is_contradicted_is_struck_through_and_marked() -> None:
    html = answer.answer_html(written(Support.CONTRADICTED))
    assert re.search(r'<s class="struck">.*Two .*S1.*</s>\u00a0<button class="mark contradicted"', html, re.DOTALL)
    assert html.count("<s ") == 1
    assert re.findall(r'data-citation="(\d)"', html) == ["0", "1"]


def test_where_citations_are_not_required_nothing_is_struck() -> None:
    shown = written(Support.CONTRADICTED).model_copy(update={"require_citations": False})
    assert "<s " not in answer.answer_html(shown)


@pytest.mark.parametrize("support", [Support.NOT_VERIFIED, Support.NOT_STATED, Support.UNCITED])
def test_only_what_is_contradicted_is_struck(support: Support) -> None:
    assert "<s " not in answer.answer_html(written(support))


def test_a_struck_row_of_a_table_stays_one_and_has_one_mark_in_its_last_cell() -> None:
    text = "| Year | Ships |\n|---|---|\n| 2019 | 4,812 [S1] |"
    row = Sentence(text="| 2019 | 4,812 |", start=text.index("| 2019"), end=len(text), support=Support.CONTRADICTED)
    html = answer.answer_html(AnswerResponse(status="ok", answer=text, sentences=(row,), model="m"))
    assert html.count("<td>") == html.count("<s ") == 2
    assert re.search(r"4,812 .*</s>\u00a0<button class=\"mark contradicted\"[^<]*</button></td>", html)


def test_a_struck_sentence_keeps_its_emphasis() -> None:
    text = "**Sales** fell by (**4.5%**)."
    struck = Sentence(text=text, start=0, end=len(text), support=Support.CONTRADICTED)
    html = answer.answer_html(AnswerResponse(status="ok", answer=text, sentences=(struck,), model="m"))
    assert "<strong>Sales</strong> fell by (<strong>4.5%</strong>)" in html


ROW = QuotedRow(
    label="Cargo & <b>mail</b>",
    columns=("2025", "2024"),
    cells=("1,204", "(88)"),
    caption="(in thousands)",
    asked=1,
)


def quoting_a_row(row: QuotedRow = ROW, **more: object) -> AnswerResponse:
    """A sentence that is a row of a table, cited, after the place where it stands."""
    lead = "report.pdf, p. 1: "
    text = f"{lead}Cargo & mail – 2025: 1,204; 2024: (88) (in thousands) [S1]"
    sentence = Sentence(text=text[len(lead) :], start=len(lead), end=len(text), support=Support.SUPPORTED)
    quoted = citation(0, 0).model_copy(update={"row": row})
    return response(quoted).model_copy(update={"answer": text, "sentences": (sentence,), **more})


def test_a_row_is_a_small_table_in_the_place_of_its_sentence() -> None:
    html = answer.answer_html(quoting_a_row())
    assert re.findall(r'<th scope="(\w+)"[^>]*>([^<]*)', html) == [
        ("col", "2025"),
        ("col", "2024"),
        ("row", "Cargo &amp; &lt;b&gt;mail&lt;/b&gt;"),
    ]
    assert "<caption>(in thousands)</caption>" in html
    assert re.findall(r"<mark>(.*?)</mark>", html) == ["(88)"]
    assert html.count("data-citation=") == 1
    assert "[S1]" not in html
    assert "–" not in html


def test_the_place_of_a_row_stands_over_its_table() -> None:
    html = answer.answer_html(quoting_a_row())
    assert html.startswith('<p><span class="place">report.pdf, p. 1: </span></p>\n<figure class="row">')
    assert html.rstrip().endswith("</figure>")


def test_a_row_without_names_of_columns_has_no_empty_head() -> None:
    html = answer.answer_html(quoting_a_row(QuotedRow(label="Berths", columns=("",), cells=("14",), asked=0)))
    assert "<thead>" not in html
    assert "<caption>" not in html
    assert "<mark>14</mark>" in html


def test_figures_stand_to_the_right_and_words_do_not() -> None:
    row = QuotedRow(label="Quay", columns=("Length", "State"), cells=("1,140", "open"))
    html = answer.answer_html(quoting_a_row(row))
    assert '<td class="figure">1,140</td><td>open</td>' in html
    assert '<th scope="col" class="figure">Length</th><th scope="col">State</th>' in html


def test_a_sentence_that_quotes_more_than_its_row_stays_prose() -> None:
    quoted = quoting_a_row()
    further = quoted.model_copy(update={"citations": (*quoted.citations, citation(1, 0))})
    assert "<figure" not in answer.answer_html(further)


def test_a_row_that_is_the_answer_is_not_repeated_below_it() -> None:
    (card,) = answer.source_cards(quoting_a_row())
    assert card["quotes"] == []


def test_the_cells_of_a_row_in_prose_are_told_apart_below_the_answer() -> None:
    quoted = quoting_a_row()
    further = quoted.model_copy(update={"citations": (*quoted.citations, citation(1, 0))})
    assert answer.source_cards(further)[0]["quotes"][0]["text"] == "Cargo & <b>mail</b> · 1,204 · (88)"


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("Sales\nrose.", "Sales rose."),
        ("Total revenue\t195,929\t166,761", "Total revenue · 195,929 · 166,761"),
        ("December 2,\tDecember 3,\n2022\t2021", "December 2, 2022 · December 3, 2021"),
        ("Year ended\tYear ended\nMay 1,\tMay 2,\n2022\t2021", "Year ended May 1, 2022 · Year ended May 2, 2021"),
        ("Net sales\t500\nCosts\t300", "Net sales · 500 · Costs · 300"),
        ("Year ended\n2022\t2021", "Year ended · 2022 · 2021"),
        ("2022\t2021\n", "2022 · 2021"),
    ],
)
def test_quoted_cells_are_told_apart_and_names_of_columns_put_together(quote: str, shown: str) -> None:
    assert citation(0, 0).model_copy(update={"quote": quote}).shown_quote == shown


def test_what_a_model_writes_before_a_sentence_is_no_place() -> None:
    assert 'class="place"' not in answer.answer_html(quoting_a_row(model="gpt"))


def test_signs_in_a_document_are_none_of_ours() -> None:
    hostile = "Sales\ue010 rose\ue0149\ue017.\ue0159\ue017\ue0169\ue017\ue011\ue012\ue013"
    sentence = Sentence(text=hostile, start=0, end=len(hostile), support=Support.CONTRADICTED)
    html = answer.answer_html(AnswerResponse(status="ok", answer=hostile, sentences=(sentence,), model="m"))
    assert html.count("<s ") == 1
    assert not re.search("[\ue010-\ue017]", html)
    assert "<figure" not in html


@pytest.mark.parametrize(("likelihood", "name"), [(0.81, "likely"), (LIKELY_THRESHOLD, "likely"), (0.35, "unsure")])
def test_how_likely_a_quoted_answer_is_right_is_named_and_explained(likelihood: float, name: str) -> None:
    shown = answer.likelihood(quoting_a_row(likelihood=likelihood))
    assert shown is not None
    assert shown["name"] == name
    assert f"{likelihood:.0%}" in shown["explanation"]


def test_an_answer_of_which_no_likelihood_is_known_has_no_such_label() -> None:
    assert answer.likelihood(quoting_a_row()) is None


def test_nearest_passages_stand_under_an_answer_that_is_none() -> None:
    none = AnswerResponse(status="insufficient_context", answer="Not found.", nearest=(SOURCE,), model="extractive")
    assert [card["label"] for card in answer.source_cards(none)] == ["P1"]
    assert answer.marks(none)[0][0] == SOURCE.passage.document_id


def test_soft_light_covers_the_lines_of_a_quote_and_no_more() -> None:
    mark = pdf_viewer.Mark.of_citation(citation(3, 1), SOURCE, "S1")
    assert mark.passage == (Region(page_number=1, rects=(SOURCE.passage.lines[3].bbox,)),)


def test_soft_light_of_a_quote_that_is_nowhere_is_the_chunk() -> None:
    nowhere = citation(0, 0).model_copy(update={"quote": None, "lines": (), "regions": ()})
    assert pdf_viewer.Mark.of_citation(nowhere, SOURCE, "S1").passage == SOURCE.chunk.regions


def test_outline_begins_anew_with_each_column() -> None:
    left = [Rect(0, 100, 200, 110), Rect(0, 112, 190, 122)]
    right = [Rect(300, 50, 500, 60)]
    assert pdf_viewer.outlines([*left, *right]) == [Rect(0, 100, 200, 122), Rect(300, 50, 500, 60)]


def test_inactive_mark_is_drawn_as_outline_and_active_one_filled() -> None:
    mark = pdf_viewer.Mark.of_citation(citation(0, 0), SOURCE, "S1")
    assert {shape["kind"] for shape in mark.drawn()["outlined"]} == {"other"}
    assert [shape["kind"] for shape in mark.drawn()["lit"]] == ["passage", "quote"]
    assert mark.drawn()["label"] == "S1"


def test_mark_of_a_hit_is_labelled_where_it_begins() -> None:
    drawn = pdf_viewer.Mark.of_hit(SOURCE, "P1").drawn()
    assert ([shape["kind"] for shape in drawn["lit"]], drawn["label"]) == (["passage"], "P1")
    assert drawn["places"][0][0] == drawn["lit"][0]["page"]


def test_a_place_is_told_by_page_and_section_not_by_lines() -> None:
    hit = sources.hit("Costs fell by 3.5%.", page_number=4)
    chunk = hit.chunk.model_copy(update={"section": "Part I > Cost of Sales"})
    within = hit.model_copy(update={"chunk": chunk, "page_labels": {4: "iv"}, "page_count": 9})
    assert answer.location_text(within.chunk.lines, hit=within) == f"{within.page_name(4)} · Cost of Sales"
    elsewhere = sources.lines("Another line.", first=90, page_number=4)
    assert answer.location_text(elsewhere, hit=within) == within.page_name(4)  # whose section is not known
    row = tuple(line.model_copy(update={"kind": BlockKind.TABLE}) for line in chunk.lines)
    assert answer.location_text(row, hit=within) == within.page_name(4)


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(), ""),
        (Usage(latency_ms=1234.0), "1.2 s"),
        (Usage(latency_ms=900.0, input_tokens=3000, output_tokens=412), "0.9 s · 3,412 tokens"),
        (Usage(input_tokens=3000, output_tokens=412, cost_usd=0.000506), "3,412 tokens · about $0.0005"),
    ],
)
def test_money_is_told_only_where_the_price_is_known(usage: Usage, words: str) -> None:
    assert answer.usage_text(usage) == words


def test_the_note_above_quotes_is_in_the_language_of_the_page() -> None:
    text = f"*{prompts.SIGNATURES_NOTE}*\n\n*Sales* rose. [S1]"
    start = text.index("*Sales")
    sentence = Sentence(text="*Sales* rose.", citation_ids=("S1",), start=start, end=len(text), support=Support.QUOTED)
    quoted = AnswerResponse(
        status="ok",
        answer=text,
        sentences=(sentence,),
        citations=(citation(0, 0),),
        sources={"S1": SOURCE},
        model=EXTRACTIVE_MODEL,
    )
    with language.use_language("de"):
        shown = answer.answer_html(quoted)
    assert "<em>Aus den Unterschriften im Dokument.</em>" in shown
    assert "<em>Sales</em>" in shown
