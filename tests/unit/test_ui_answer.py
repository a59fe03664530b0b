"""What an answer looks like in the chat, and what it lights on the page."""

import re

import pytest

from rag.types import AnswerResponse, Citation, Rect, Region, Sentence, Verdict
from rag.ui import answer, viewer
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


def response(*citations: Citation) -> AnswerResponse:
    """Two sentences, each ending with a mark of S1."""
    text = "Sales rose. [S1] Two <b>joined</b>. [S1]"
    sentences = (
        Sentence(text="Sales rose.", citation_ids=("S1",), start=0, end=16),
        Sentence(text="Two <b>joined</b>.", citation_ids=("S1",), start=17, end=len(text)),
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


def test_quotes_of_the_same_source_have_names_of_their_own() -> None:
    assert response(citation(0, 0), citation(3, 1), citation(1, 1, id_="S2")).labels == ("S1a", "S1b", "S2")


def test_mark_without_a_citation_stays_text() -> None:
    assert answer.answer_html(response()).count("[S1]") == 2


def test_sources_tell_place_and_verdict() -> None:
    first, second = answer.sources(response(citation(0, 0), citation(3, 1, verdict=Verdict.UNVERIFIED)))
    assert (first["name"], first["place"], first["verdict"]) == ("report.pdf", "p. 1, line 1", "verified")
    assert (second["place"], second["verdict"]) == ("p. 1, line 4", "unverified")


def test_numbers_that_are_not_quoted_are_warned_of() -> None:
    doubtful = citation(0, 0).model_copy(update={"unsupported_numbers": ("12.4",)})
    assert "12.4" in answer.sources(response(doubtful))[0]["warning"]
    assert 'class="chip doubtful"' in answer.answer_html(response(doubtful))


@pytest.mark.parametrize(
    ("numbers", "words"), [(("4.5",), "but 4.5 stands in no quote"), (("4.5", "7"), "4.5, 7 stand")]
)
def test_a_wrong_number_is_what_is_explained_not_missing_words(numbers: tuple[str, ...], words: str) -> None:
    wrong = citation(0, 0, verdict=Verdict.UNVERIFIED).model_copy(update={"unsupported_numbers": numbers})
    (row,) = answer.sources(response(wrong))
    assert words in row["explanation"]
    assert "No words" not in row["explanation"]


def test_a_claim_without_a_quote_has_no_words_whatever_its_numbers() -> None:
    nothing = {"quote": None, "lines": (), "regions": (), "unsupported_numbers": ("4.5",)}
    unsupported = citation(0, 0, verdict=Verdict.UNVERIFIED).model_copy(update=nothing)
    (row,) = answer.sources(response(unsupported))
    assert row["explanation"] == answer.EXPLANATIONS[Verdict.UNVERIFIED]
    assert "4.5" in row["warning"]


def test_nearest_passages_stand_under_an_answer_that_is_none() -> None:
    none = AnswerResponse(status="insufficient_context", answer="Not found.", nearest=(SOURCE,), model="extractive")
    assert [row["label"] for row in answer.sources(none)] == ["P1"]
    assert answer.marks(none)[0][0] == SOURCE.passage.document_id


def test_soft_light_covers_the_chunk_of_a_quote_or_else_its_paragraph() -> None:
    assert viewer.surroundings(citation(3, 1), SOURCE) == SOURCE.chunk.lines
    elsewhere = SOURCE.model_copy(update={"chunk": SOURCE.chunk.model_copy(update={"lines": SOURCE.passage.lines[:1]})})
    assert viewer.surroundings(citation(3, 1), elsewhere) == SOURCE.passage.lines[2:]


def test_soft_light_of_a_quote_that_is_nowhere_is_the_chunk() -> None:
    nowhere = citation(0, 0).model_copy(update={"quote": None, "lines": (), "regions": ()})
    assert viewer.surroundings(nowhere, SOURCE) == SOURCE.chunk.lines


def test_outline_begins_anew_with_each_column() -> None:
    left = [Rect(0, 100, 200, 110), Rect(0, 112, 190, 122)]
    right = [Rect(300, 50, 500, 60)]
    assert viewer.outlines([*left, *right]) == [Rect(0, 100, 200, 122), Rect(300, 50, 500, 60)]


def test_inactive_mark_is_drawn_as_outline_and_active_one_filled() -> None:
    mark = viewer.Mark.of_citation(citation(0, 0), SOURCE, "S1")
    assert {shape["kind"] for shape in mark.shapes(0, active=False)} == {"other"}
    assert [shape["kind"] for shape in mark.shapes(0, active=True)] == ["passage", "quote"]
    assert [shape["label"] for shape in mark.shapes(0, active=True)] == ["", "S1"]


def test_mark_of_a_hit_is_labelled_where_it_begins() -> None:
    (shape,) = viewer.Mark.of_hit(SOURCE, "P1").shapes(0, active=True)
    assert (shape["kind"], shape["label"]) == ("passage", "P1")
