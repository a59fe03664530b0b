"""An answer in the chat: its text with a button for each citation, and the list of its sources."""

import functools
import html
import re
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from rag.types import AnswerResponse, Citation, Hit, Line, Passage, Verdict
from rag.ui.frame import ASSETS
from rag.ui.text import render
from rag.ui.viewer import Mark

EXPLANATIONS = {
    Verdict.VERIFIED: "These words stand in the document.",
    Verdict.CORRECTED: "Nearly these words stand in the document; its own are shown.",
    Verdict.UNVERIFIED: "No words in the passage support this sentence.",
}
MARK = r"\[(S\d+)\]"
VERDICTS = {
    Verdict.VERIFIED: "✓ verified",
    Verdict.CORRECTED: "✓ corrected",
    Verdict.UNVERIFIED: "✗ unverified",
}


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
            "footer": _footer(response),
            "lit": None if lit is None else f"{message_id}:{lit}",
        },
        on_cite_change=cited,
    )


@functools.cache
def _component() -> ComponentRenderer:
    html_, css, js = ((ASSETS / f"answer.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component("pagelight.answer", html=html_, css=css, js=js)


def answer_html(response: AnswerResponse) -> str:
    """The answer as safe HTML; each mark that has a citation is a button with the citation's number."""

    def button(match: re.Match[str]) -> str | None:
        number = _citation_at(response, match[1], match.start())
        if number is None:
            return None
        citation = response.citations[number]
        tone = "doubtful" if citation.unsupported_numbers else citation.verdict.value
        title = html.escape(citation.quote or explanation(citation))
        return (
            f'<button class="chip {tone}" data-citation="{number}" title="{title}">{response.labels[number]}</button>'
        )

    return render(response.answer, button, MARK)


def _citation_at(response: AnswerResponse, citation_id: str, position: int) -> int | None:
    """Number of the citation a mark at `position` stands for: the one of its sentence, else the first of its id."""
    sentences = [i for i, sentence in enumerate(response.sentences) if sentence.start <= position]
    same_id = [i for i, citation in enumerate(response.citations) if citation.citation_id == citation_id]
    of_sentence = [i for i in same_id if sentences and response.citations[i].sentence == sentences[-1]]
    return next(iter(of_sentence or same_id), None)


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
            _cited(number, label, *cited)
            for number, (label, cited) in enumerate(zip(response.labels, response.cited, strict=True))
        ]
    return [_nearest(number, hit) for number, hit in enumerate(response.nearest)]


def _cited(number: int, label: str, citation: Citation, hit: Hit) -> dict[str, Any]:
    numbers = ", ".join(citation.unsupported_numbers)
    return {
        **_source(number, label, hit),
        "place": place(citation.lines_in(hit)),
        "verdict": citation.verdict.value,
        "verdictText": VERDICTS[citation.verdict],
        "explanation": explanation(citation),
        "quote": citation.quote or _snippet(hit.chunk),
        "warning": f"⚠ Not in the quoted words: {numbers}" if numbers else "",
    }


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


def place(lines: Sequence[Line]) -> str:
    """Where consecutive lines stand, as `p. 4, lines 120–131`."""
    first, last = lines[0].number, lines[-1].end
    return f"p. {lines[0].page_number}, {f'line {first}' if first == last else f'lines {first}–{last}'}"


def _snippet(passage: Passage, length: int = 240) -> str:
    text = " ".join(passage.text.split())
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"


def _footer(response: AnswerResponse) -> str:
    writer = "Quoted from the documents" if response.model == "extractive" else f"Written by {response.model}"
    return f"{writer} · {response.usage.latency_ms / 1000:.1f} s" if response.usage.latency_ms else writer
