"""An answer in the chat: its text with a button for each citation, and the list of its sources."""

import functools
import html
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rag.answering import EXTRACTIVE_MODEL
from rag.types import LIKELY, AnswerResponse, Citation, Hit, Line, Passage, Sentence, Support, Verdict
from rag.ui.frame import ASSETS
from rag.ui.rows import row_html
from rag.ui.text import render
from rag.ui.viewer import Mark

EXPLANATIONS = {
    Verdict.VERIFIED: "These words stand in the document.",
    Verdict.CORRECTED: "Nearly these words stand in the document; its own are shown.",
    Verdict.UNVERIFIED: "No words in the passage support this sentence.",
}
VERDICTS = {
    Verdict.VERIFIED: "quote verified",
    Verdict.CORRECTED: "quote corrected",
    Verdict.UNVERIFIED: "quote unverified",
}
SUPPORT = {
    Support.SUPPORTED: "✓ supported",
    Support.PARTLY: "◐ partly supported",
    Support.UNSUPPORTED: "✗ not supported",
    Support.UNCITED: "✗ no source",
}
PROOF = {
    Support.SUPPORTED: "Supported: the quoted words hold all of it.",
    Support.PARTLY: "Partly supported: the quoted words do not hold all of it.",
    Support.UNSUPPORTED: "Not supported: the quoted words do not hold it, or say otherwise.",
    Support.UNCITED: "No source: it states something and cites nothing.",
}
"""What a sentence's verdict means."""

MARK = (
    r"\[(?P<id>S\d+)\]|(?P<struck>\ue010)|\ue011(?:(?P<labelled>\d+)\ue012)?"
    r"|\ue014(?P<row>\d+)\ue015[^\ue016]*\ue016|(?P<place>\ue017)|(?P<placed>\ue018)"
)
"""A citation; where a sentence, or a cell of one, begins and ends that is struck through, its number at its end; a
sentence that is a row of a table; and where begins and ends what names the place of the next sentence."""


def show_answer(
    response: AnswerResponse, message_id: uuid.UUID, *, lit: int | None, on_cite: Callable[[int], None]
) -> None:
    """Show `response`; `on_cite` is called with the number of a citation, or nearest passage, that was clicked."""
    key = f"answer-{message_id}"

    def cited() -> None:
        choice = st.session_state[key].get("cite")
        if choice is not None:
            on_cite(choice)

    _component()(
        key=key,
        data={
            "id": str(message_id),
            "html": answer_html(response),
            "sources": sources(response),
            "insufficient": response.status != "ok",
            "hint": response.hint or "",
            "writer": _writer(response),
            "likelihood": likelihood(response),
            "seconds": _seconds(response),
            "lit": None if lit is None else f"{message_id}:{lit}",
        },
        on_cite_change=cited,
    )


@functools.cache
def _component() -> ComponentRenderer:
    html_, css, js = ((ASSETS / f"answer.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component("pagelight.answer", html=html_, css=css, js=js)


def answer_html(response: AnswerResponse) -> str:
    """The answer as safe HTML; each mark that has citations is a button with its number for each of them."""
    text = _with_signs(response)

    def insert(match: re.Match[str]) -> str | None:
        if match["id"] is None:
            return _shape(response, match)
        numbers = _citations_at(response, match["id"], match.start() - _inserted_before(text, match.start()))
        return "".join(_chip(response, number) for number in numbers) or None

    return render(text, insert, MARK)


def _shape(response: AnswerResponse, sign: re.Match[str]) -> str:
    """What a sign stands for that is no citation."""
    match sign.lastgroup:
        case "struck":
            return '<s class="unproved">'
        case "row":
            number = response.rows[int(sign["row"])]
            row = response.citations[number].row
            return row_html(row, _chip(response, number)) if row else ""
        case "place":
            return '<span class="place">'
        case "placed":
            return "</span>"
        case _:
            return "</s>" + (_label(response.sentences[int(sign["labelled"])]) if sign["labelled"] else "")


def _chip(response: AnswerResponse, number: int) -> str:
    citation = response.citations[number]
    title = html.escape(
        f"{proof(response.sentences[citation.sentence])}\n{citation.quote or explanation(citation)}".strip()
    )
    tone = tone_of(response.sentences[citation.sentence], citation)
    return f'<button class="chip {tone}" data-citation="{number}" title="{title}">{response.labels[number]}</button>'


def _label(sentence: Sentence) -> str:
    """What is said of a sentence that is struck through, once at its end."""
    if sentence.support is None:
        return ""
    words = SUPPORT[sentence.support].removeprefix("✗ ")
    return f' <span class="unproved-label" title="{html.escape(proof(sentence))}">{words}</span>'


_CELL = re.compile(r"[^|\s](?:[^|]*[^|\s])?")
_EMPHASIS = re.compile(r"(?P<lead>[*_]*)(?P<core>.*?)(?P<tail>[*_]*)", re.DOTALL)
_INSERTED = re.compile(r"\ue010|\ue011(?:\d+\ue012)?|\ue014\d+\ue015|[\ue016-\ue018]")


def _with_signs(response: AnswerResponse) -> str:
    """The answer's text with the signs that `MARK` finds, and none that was in it before."""
    text = re.sub("[\ue010-\ue018]", " ", response.answer)
    signed, end = "", 0
    for number, sentence in enumerate(response.sentences):
        own = text[sentence.start : sentence.end]
        if number in response.struck:
            own = _struck(own, number)
        elif number in response.rows:
            own = f"\ue014{number}\ue015{own}\ue016"
        signed += _placed(text[end : sentence.start], response) + own
        end = sentence.end
    return signed + text[end:]


def _struck(own: str, number: int) -> str:
    """A sentence with signs where it begins and ends; in a table's row, cell by cell.

    They stand inside of what emphasises it, which they would else keep from being read as that.
    """
    if own.lstrip().startswith("|"):
        own = _CELL.sub("\ue010\\g<0>\ue011", own)
    elif parts := _EMPHASIS.fullmatch(own):
        own = f"{parts['lead']}\ue010{parts['core']}\ue011{parts['tail']}"
    before, _, after = own.rpartition("\ue011")
    return f"{before}\ue011{number}\ue012{after}"


def _placed(between: str, response: AnswerResponse) -> str:
    """What stands before a sentence; where documents are quoted, what is in its own paragraph names its place."""
    before, line_break, lead = between.rpartition("\n")
    if response.model != EXTRACTIVE_MODEL or not lead.strip():
        return between
    return f"{before}{line_break}\ue017{lead}\ue018"


def _inserted_before(text: str, position: int) -> int:
    return sum(len(sign.group()) for sign in _INSERTED.finditer(text, 0, position))


def tone_of(sentence: Sentence, citation: Citation) -> str:
    """By which a citation is coloured: as its sentence, but never green without a quote; "" where nothing is stated."""
    if sentence.support is Support.SUPPORTED and citation.quote is None:
        return Support.PARTLY.value
    return sentence.support.value if sentence.support else ""


def proof(sentence: Sentence) -> str:
    """Why a sentence has its verdict."""
    if sentence.support is None:
        return ""
    named = f" Not in them: {', '.join(sentence.missing)}." if sentence.missing else ""
    return PROOF[sentence.support] + named


def _citations_at(response: AnswerResponse, citation_id: str, position: int) -> list[int]:
    """Numbers of the citations a mark at `position` stands for: those of its sentence, else the first of its id."""
    sentences = [i for i, sentence in enumerate(response.sentences) if sentence.start <= position]
    same_id = [i for i, citation in enumerate(response.citations) if citation.citation_id == citation_id]
    of_sentence = [i for i in same_id if sentences and response.citations[i].sentence == sentences[-1]]
    return of_sentence or same_id[:1]


def marks(response: AnswerResponse) -> list[tuple[uuid.UUID, Mark]]:
    """Each citation, or nearest passage, as a mark in its document, numbered as `show_answer` numbers them."""
    if response.status == "ok":
        return [
            (hit.passage.document_id, Mark.of_citation(citation, hit, label))
            for label, (citation, hit) in zip(response.labels, response.cited, strict=True)
        ]
    return [(hit.passage.document_id, Mark.of_hit(hit, f"P{i + 1}")) for i, hit in enumerate(response.nearest)]


def sources(response: AnswerResponse) -> list[dict[str, Any]]:
    """The rows under an answer: its citations, or the passages nearest to a question that has no answer."""
    if response.status == "ok":
        return [
            _cited(number, label, response.sentences[cited[0].sentence], *cited)
            for number, (label, cited) in enumerate(zip(response.labels, response.cited, strict=True))
        ]
    return [_nearest(number, hit) for number, hit in enumerate(response.nearest)]


def _cited(number: int, label: str, sentence: Sentence, citation: Citation, hit: Hit) -> dict[str, Any]:
    missing = ", ".join(sentence.missing or citation.unsupported_numbers)
    proves = citation.quote is not None or sentence.support is not Support.SUPPORTED
    verdict = [SUPPORT[sentence.support]] if sentence.support and proves else []
    return {
        **_source(number, label, hit),
        "place": place(citation.lines_in(hit), citation.cells),
        "verdict": tone_of(sentence, citation),
        "verdictText": " · ".join([*verdict, VERDICTS[citation.verdict] if citation.quote else "no quote"]),
        "explanation": f"{proof(sentence)} {explanation(citation)}".strip(),
        "quote": _quoted(citation) or _snippet(hit.chunk),
        "warning": f"⚠ Not in the quoted words: {missing}" if missing else "",
    }


def _quoted(citation: Citation) -> str | None:
    """The quote; of a row of a table its cells, told apart."""
    if citation.row is None:
        return citation.quote
    return " · ".join(part for part in (citation.row.label, *citation.row.cells) if part)


def explanation(citation: Citation) -> str:
    """Why the citation has its verdict."""
    numbers = citation.unsupported_numbers
    if not numbers or citation.quote is None:
        return EXPLANATIONS[citation.verdict]
    named = ", ".join(numbers)
    return f"These words stand in the document, but {named} {'stands' if len(numbers) == 1 else 'stand'} in no quote."


def _nearest(number: int, hit: Hit) -> dict[str, Any]:
    return {**_source(number, f"P{number + 1}", hit), "place": place(hit.chunk.lines), "quote": _snippet(hit.chunk)}


def _source(number: int, label: str, hit: Hit) -> dict[str, Any]:
    return {"number": number, "label": label, "name": hit.document_name, "verdict": ""}


def place(lines: Sequence[Line], cells: str | None = None) -> str:
    """Where consecutive lines stand, as `p. 4, lines 120–131`, or cells of a sheet, as `Balance!B14, p. 2`."""
    if cells:
        return f"{cells}, p. {lines[0].page_number}"
    first, last = lines[0].number, lines[-1].end
    return f"p. {lines[0].page_number}, {f'line {first}' if first == last else f'lines {first}–{last}'}"


def _snippet(passage: Passage, length: int = 240) -> str:
    text = " ".join(passage.text.split())
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"


def _writer(response: AnswerResponse) -> str:
    """Who wrote the answer, or that its sentences are the documents' own."""
    if response.model != EXTRACTIVE_MODEL:
        return f"Written by {response.model}"
    return "Quoted from the documents" if response.status == "ok" else "Nothing was quoted"


def _seconds(response: AnswerResponse) -> str:
    return f"{response.usage.latency_ms / 1000:.1f} s" if response.usage.latency_ms else ""


def likelihood(response: AnswerResponse) -> dict[str, str] | None:
    """What a quoted answer's likelihood is called, and what it says."""
    if response.likelihood is None or response.confidence is None:
        return None
    return {
        "name": response.confidence,
        "explanation": f"Probability that this answer is right: {response.likelihood:.0%}, calibrated on questions "
        f"whose answers are known. From {LIKELY:.0%} on an answer is called likely.",
    }
