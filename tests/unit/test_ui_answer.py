"""What an answer looks like in the chat, and what it lights on the page."""

import re

import pytest

from rag import prompts
from rag.answering import EXTRACTIVE_MODEL
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


def test_sources_tell_place_and_verdict() -> None:
    first, second = answer.source_rows(response(citation(0, 0), citation(3, 1), support=Support.PARTLY))
    assert (first["name"], first["place"], first["verdict"]) == ("report.pdf", "p. 1", "supported")
    assert (second["place"], second["verdict"]) == ("p. 1", "partly")
    assert first["verdictText"] == "✓ supported · quote verified"


@pytest.mark.parametrize(
    ("judged_by", "text"),
    [("words", "✓ supported · same words · not word for word"), ("meaning", "✓ supported · same meaning, p = 0.81")],
)
def test_a_paraphrase_judged_by_meaning_is_not_called_inexact_as_well(judged_by: str, text: str) -> None:
    shown = response(citation(0, 0, verdict=Verdict.CORRECTED))
    judged = shown.sentences[0].model_copy(update={"judged_by": judged_by, "probability": 0.81})
    shown = shown.model_copy(update={"sentences": (judged, *shown.sentences[1:])})
    assert answer.source_rows(shown)[0]["verdictText"] == text


@pytest.mark.parametrize("support", [Support.QUOTED, Support.PARTLY, Support.NOT_VERIFIED, Support.CONTRADICTED, None])
def test_a_green_tick_stands_beside_supported_sentences_only(support: Support | None) -> None:
    shown = response(citation(3, 1), support=support)
    assert "✓" not in answer.source_rows(shown)[0]["verdictText"]
    assert 'class="chip supported"' not in answer.answer_html(shown)


def test_a_source_without_a_quote_is_not_green_though_another_proves_its_sentence() -> None:
    nothing = citation(0, 0, verdict=Verdict.UNVERIFIED).model_copy(update={"quote": None, "lines": (), "regions": ()})
    shown = response(nothing)
    assert "✓" not in answer.source_rows(shown)[0]["verdictText"]
    assert 'class="chip supported"' not in answer.answer_html(shown)


def test_what_is_missing_is_named() -> None:
    shown = response(citation(3, 1), support=Support.PARTLY, missing=("12.4", "Uppsala"))
    assert "12.4, Uppsala" in answer.source_rows(shown)[0]["warning"]
    assert "Not confirmed by the quotes: 12.4, Uppsala." in answer.answer_html(shown)
    assert 'class="chip partly"' in answer.answer_html(shown)


def test_what_nothing_proves_is_struck_through_and_labelled() -> None:
    html = answer.answer_html(response(citation(0, 0), citation(3, 1), support=Support.CONTRADICTED))
    assert re.search(
        r'<s class="unproved">Two .*S1.*</s> <span class="unproved-label contradicted"[^>]*>contradicted</span>',
        html,
        re.DOTALL,
    )
    assert html.count("<s ") == 1
    assert re.findall(r'data-citation="(\d)"', html) == ["0", "1"]


def test_where_citations_are_not_required_nothing_is_struck() -> None:
    shown = response(citation(3, 1), support=Support.CONTRADICTED).model_copy(update={"require_citations": False})
    assert "<s " not in answer.answer_html(shown)


@pytest.mark.parametrize(("support", "label"), [(Support.NOT_VERIFIED, "not verified"), (Support.UNCITED, "no source")])
def test_a_sentence_that_could_not_be_decided_is_labelled_and_stays_readable(support: Support, label: str) -> None:
    html = answer.answer_html(response(citation(0, 0), citation(3, 1), support=support))
    assert "<s " not in html
    assert re.search(rf'S1.*<span class="unproved-label {support}"[^>]*>{label}</span>', html, re.DOTALL)


def test_an_unverified_row_of_a_table_stays_one() -> None:
    text = "| Year | Ships |\n|---|---|\n| 2019 | 4,812 [S1] |"
    row = Sentence(text="| 2019 | 4,812 |", start=text.index("| 2019"), end=len(text), support=Support.NOT_VERIFIED)
    html = answer.answer_html(AnswerResponse(status="ok", answer=text, sentences=(row,), model="m"))
    assert (html.count("<td>"), html.count("not verified")) == (2, 1)


def test_a_struck_row_of_a_table_stays_one() -> None:
    text = "| Year | Ships |\n|---|---|\n| 2019 | 4,812 [S1] |"
    row = Sentence(text="| 2019 | 4,812 |", start=text.index("| 2019"), end=len(text), support=Support.CONTRADICTED)
    html = answer.answer_html(AnswerResponse(status="ok", answer=text, sentences=(row,), model="m"))
    assert html.count("<td>") == html.count("<s ") == 2


@pytest.mark.parametrize(
    ("numbers", "words"), [(("4.5",), "but 4.5 is not in any quote"), (("4.5", "7"), "4.5, 7 are not")]
)
def test_a_wrong_number_is_what_is_explained_not_missing_words(numbers: tuple[str, ...], words: str) -> None:
    wrong = citation(0, 0, verdict=Verdict.UNVERIFIED).model_copy(update={"unsupported_numbers": numbers})
    (row,) = answer.source_rows(response(wrong))
    assert words in row["explanation"]
    assert "No words" not in row["explanation"]


def test_a_claim_without_a_quote_has_no_words_whatever_its_numbers() -> None:
    nothing = {"quote": None, "lines": (), "regions": (), "unsupported_numbers": ("4.5",)}
    unsupported = citation(0, 0, verdict=Verdict.UNVERIFIED).model_copy(update=nothing)
    (row,) = answer.source_rows(response(unsupported))
    assert row["explanation"].endswith(answer.VERDICT_EXPLANATIONS[Verdict.UNVERIFIED])
    assert "4.5" in row["warning"]


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
    (row,) = answer.source_rows(quoting_a_row())
    assert row["quote"] == ""


def test_the_cells_of_a_row_in_prose_are_told_apart_below_the_answer() -> None:
    quoted = quoting_a_row()
    further = quoted.model_copy(update={"citations": (*quoted.citations, citation(1, 0))})
    assert answer.source_rows(further)[0]["quote"] == "Cargo & <b>mail</b> · 1,204 · (88)"


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
    hostile = "Sales\ue0109\ue011 rose\ue0139\ue012.\ue0149\ue015\ue016\ue017"
    sentence = Sentence(text=hostile, start=0, end=len(hostile), support=Support.CONTRADICTED)
    html = answer.answer_html(AnswerResponse(status="ok", answer=hostile, sentences=(sentence,), model="m"))
    assert html.count("<s ") == 1
    assert not re.search("[\ue010-\ue018]", html)
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
    assert [row["label"] for row in answer.source_rows(none)] == ["P1"]
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
