"""Exports of an answer keep every sentence, with its mark."""

import datetime as dt
import re
import uuid

import pytest

from rag import export
from rag.cli.questions.printed_answer import print_answer
from rag.export.labels import Labels
from rag.export.markdown import inert_markdown, to_html
from rag.mcp_server import text_output
from rag.mcp_server.results import Answer
from rag.types import AnswerResponse, Sentence, Support
from rag.ui import language
from rag.ui.translated_messages import translate_message
from tests import sources

LINES = ["| Year | Ships |", "|---|---|", *(f"| {2012 + row} | {4800 + row} [S1] |" for row in range(8))]
TABLE = "\n".join(LINES)
FALSE_ROW = "| 2015 | 4803 [S1] |"
PROSE = "Most of it was coal. The keeper ~~left~~ stayed. [S1]"
ANSWER = f"{TABLE}\n\n{PROSE}"


def sentence(text: str, support: Support | None) -> Sentence:
    start = ANSWER.index(text)
    return Sentence(text=text.replace(" [S1]", ""), start=start, end=start + len(text), support=support)


def answer(**more: object) -> AnswerResponse:
    """A table with eight rows, one of which is contradicted, and a sentence that is not stated."""
    rows = [sentence(line, Support.SUPPORTED if line != FALSE_ROW else Support.CONTRADICTED) for line in LINES[2:]]
    first, second = PROSE.split(". ", 1)
    sentences = (*rows, sentence(f"{first}.", Support.NOT_STATED), sentence(second, Support.PARTLY))
    response = AnswerResponse(status="ok", answer=ANSWER, sentences=sentences, model="gpt")
    return response.model_copy(update={"sources": {"S1": sources.hit("Ships")}, **more})


def report(response: AnswerResponse, say: export.Translate = str) -> export.Report:
    at = dt.datetime(2026, 3, 9, 8, 5, tzinfo=dt.UTC)
    turn = export.Turn(
        id=uuid.UUID(int=1),
        question="How many ships?",
        understood=None,
        answer=export.marked_answer(response, response.labels, say),
        summary=export.summary_of(response, say),
        status=response.status,
        model=response.model,
        at=at,
        claims=export.claims_of(response, say=say),
        provenance=None,
    )
    return export.Report(title="Ships", made_at=at, turns=(turn,))


SUMMARY = "7 of 10 sentences verified; 1 contradicted by the sources, 1 not stated in the sources"


@pytest.mark.parametrize("name", ["markdown", "clipping"])
def test_a_table_with_a_false_row_keeps_its_rows_in_markdown(name: export.ExportFormat) -> None:
    written = export.write(report(answer()), name).decode()
    html = inert_markdown(strikes=True).render(written)
    assert html.count("<tr>") == 9
    assert "<td><s>2015</s></td>\n<td><s>4803 [S1]</s> (✗ contradicted)</td>" in html
    assert html.count(" ✓</td>") == 7
    assert "Most of it was coal. (✗ not stated) The keeper ~~left~~ stayed. [S1] (◐ partly)" in html
    assert SUMMARY in html


def test_plain_text_has_marks_and_no_lines_through_words() -> None:
    written = export.write(report(answer()), "text").decode()
    assert "| 2015 | 4803 [S1] (✗ contradicted) |" in written
    assert written.count("~~") == 2  # the answer's own
    assert SUMMARY in written


def test_the_source_of_pdf_and_docx_has_the_rows_the_marks_and_the_line() -> None:
    html = to_html(report(answer()), Labels(str))
    assert html.count("<tr>") == 9
    assert "<s>4803 [S1]</s> (✗ contradicted)</td>" in html
    assert SUMMARY in html
    assert "<s>2015 · 4803</s></strong> ✗ contradicted — The sources say otherwise." in html


def test_what_an_answer_leaves_open_ends_with_it_in_pdf_and_docx() -> None:
    open_block = "See https://quay.example [S1]\n\n```\n4,812 ships"
    html = to_html(report(answer(answer=open_block, sentences=())), Labels(str))
    assert "<p>See https://quay.example [S1]</p>" in html
    assert html.endswith("</code></pre>\n<p><em>Written by gpt, 2026-03-09 08:05 UTC</em></p>\n</body></html>")


def test_json_says_of_each_sentence_whether_it_is_struck_and_why() -> None:
    (turn,) = report(answer()).turns
    assert [claim.struck for claim in turn.claims] == [*[False] * 3, True, *[False] * 6]
    assert (turn.claims[3].mark, turn.claims[3].reason) == ("✗ contradicted", "The sources say otherwise.")


def test_nothing_is_struck_where_citations_are_not_required() -> None:
    written = export.marked_answer(answer(require_citations=False), ())
    assert "| 2015 | 4803 [S1] (✗ contradicted) |" in written


def test_marks_are_in_the_language_of_the_page() -> None:
    with language.use_language("de"):
        written = export.write(report(answer(), translate_message), "text", translate_message).decode()
    assert "(✗ widersprochen) |" in written
    assert "7 von 10 Sätzen belegt; 1 von den Quellen widerlegt, 1 nicht in den Quellen" in written


@pytest.mark.parametrize(
    ("text", "struck"),
    [
        ("**Sales** rose by (**4.5%**).", "<s><strong>Sales</strong> rose by (<strong>4.5%</strong>).</s>"),
        ("**Sales rose.**", "<strong><s>Sales rose.</s></strong>"),
        ("**Sales:** they rose [S1]", "<s><strong>Sales:</strong> they rose [S1]</s>"),
        ("by **51%**", "<s>by <strong>51%</strong></s>"),
        ("*", "*"),
    ],
)
def test_emphasis_and_strikes_do_not_cross(text: str, struck: str) -> None:
    html = inert_markdown(strikes=True).render("So: " + export.strike(text, "~~", "~~"))
    assert html == f"<p>So: {struck}</p>\n"


def test_the_command_line_prints_every_row_its_mark_the_line_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(answer())
    printed = capsys.readouterr().out
    assert "| 2015 | 4803 [S1] (✗ contradicted) |" in printed
    assert f"\n\n{SUMMARY}" in printed
    assert "✗ contradicted 2015 · 4803\n     The sources say otherwise.\n" in printed


def test_an_assistant_reads_every_row_its_mark_the_line_and_reasons() -> None:
    given = answer()
    text = text_output.answer(Answer.of(given), export.marked_answer(given, ()))
    assert "| ~~2015~~ | ~~4803 [S1]~~ (✗ contradicted) |" in text
    assert SUMMARY in text
    assert "- contradicted: 2015 · 4803 – The sources say otherwise." in text


def test_an_escaped_bar_does_not_end_a_cell() -> None:
    assert export.strike(r"| P(a \| b) | 4 |", "<", ">") == r"| <P(a \| b)> | <4> |"
    assert export.append("| 1 | |", "✓") == "| 1 ✓ | |"


def test_a_citation_mark_becomes_the_labels_of_its_own_sentence() -> None:
    assert re.findall(r"\[(\w+)\]", export.marked_answer(answer(), ())) == ["S1"] * 9
