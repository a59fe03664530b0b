"""Show an answer: its text with a button for each citation, and its sources."""

import html
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag import types
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.contract import NOTHING_LATER
from rag.export import append, cite, mark_of, plain_words, reason_of, rewrite, strike, summary_of
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.ui.components import component
from rag.ui.formatting import decimal, percent, plural, render
from rag.ui.language import _
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.pdf_viewer import Mark

TAGS = {"\ue010": '<s class="struck">', "\ue011": "</s>", "\ue012": '<span class="place">', "\ue013": "</span>"}
"""HTML for the signs at the start and end of a struck sentence or cell, and of a location."""
SIGN = rf"[{''.join(TAGS)}]|(?P<kind>[\ue014-\ue016])(?P<number>\d+)\ue017"
MARK, ROW, CHIP, END = "\ue014", "\ue015", "\ue016", "\ue017"
"""Signs for the mark of a sentence, a sentence that is a table row, and a citation, each before its number."""
NO_BREAK = "\N{NO-BREAK SPACE}"
STRIKE = ("\ue010\u200a", "\u200a\ue011")
"""Hair spaces, so that emphasis next to the signs is recognised."""


def show_answer(
    response: types.AnswerResponse,
    message_id: uuid.UUID,
    *,
    lit: int | None,
    on_cite: Callable[[int, int], None],
    later: Mapping[int, types.LaterPlace] = NOTHING_LATER,
    on_later: Callable[[types.LaterPlace], None] | None = None,
    is_provisional: bool = False,
) -> None:
    """Show `response`, whose verdicts may be provisional.

    `on_cite` receives the number of the clicked citation or nearest passage, and the number of the click. `later` maps
    citations to their place in later versions; `on_later` receives the place that was clicked.
    """
    key = f"answer-{message_id}"

    def cited() -> None:
        choice = st.session_state[key].get("cite")
        if choice is not None:
            on_cite(choice["number"], choice["click"])

    def followed() -> None:
        choice = st.session_state[key].get("later")
        if choice is not None and on_later:
            on_later(later[choice])

    component("answer")(
        key=key,
        data={
            "id": str(message_id),
            "html": answer_html(response, is_provisional=is_provisional),
            "summary": summary(response, is_provisional=is_provisional),
            "unproved": [] if is_provisional else unproved(response),
            "sources": source_cards(response, later),
            "insufficient": response.status != "ok",
            "hint": translate_message(response.hint or ""),
            "writer": _writer(response),
            "likelihood": likelihood(response),
            "seconds": usage_text(response.usage),
            "marks": [
                {"document": str(document_id), **mark.drawn()}
                for document_id, mark in keyed_marks(response, message_id)
            ],
            "found": found_pages(response),
            "lit": None if lit is None else f"{message_id}:{lit}",
        },
        on_cite_change=cited,
        on_later_change=followed,
    )


def answer_html(response: types.AnswerResponse, *, is_provisional: bool = False) -> str:
    """Return the answer as safe HTML: citations are buttons, and each sentence ends with the mark of its verdict.

    Of provisional verdicts, nothing is struck, and what is not proved yet is being checked.
    """

    def html_of(sign: re.Match[str]) -> str:
        if sign[0] in TAGS:
            return TAGS[sign[0]]
        number = int(sign["number"])
        if sign["kind"] == CHIP:
            return _chip(response, number)
        mark = _mark(response, number, is_provisional=is_provisional)
        cited = response.rows[number] if sign["kind"] == ROW else None
        row = response.citations[cited].row if cited is not None else None
        return _row_html(row, _chip(response, cited) + mark) if row and cited is not None else mark

    return render(_with_signs(response, is_provisional=is_provisional), html_of, SIGN)


def _chip(response: types.AnswerResponse, number: int) -> str:
    citation, hit = response.cited[number]
    location = location_text(citation.lines_in(hit), citation.cells, hit)
    title = html.escape(f"{hit.document_name} · {location}\n{citation.shown_quote or _snippet(hit.chunk)}")
    return f'<button class="chip" data-citation="{number}" title="{title}">{response.labels[number]}</button>'


def _mark(response: types.AnswerResponse, number: int, *, is_provisional: bool) -> str:
    sentence = response.sentences[number]
    mark, reason = mark_of(response, number, translate_message), reason_of(sentence, translate_message)
    if not mark:
        return ""
    kind = sentence.support.value if sentence.support else ""
    if is_provisional:
        mark, reason = mark if sentence.is_proved else "…", _("Being checked …")
        kind = "provisional"
    title = html.escape(f"{mark}\n{reason}")
    if sentence.is_proved or is_provisional:
        return f'<span class="mark {kind}" title="{title}">{mark}</span>'
    return f'<button class="mark {kind}" data-unproved="{number}" title="{title}">{mark}</button>'


_NOTE = re.compile(r"^\*([^*\n]+)\*$", re.MULTILINE)


def _with_signs(response: types.AnswerResponse, *, is_provisional: bool) -> str:
    """Return the answer's text with the signs that `SIGN` matches, and no other private-use characters."""
    answer = response.answer if response.status == "ok" else translate_message(response.answer)
    rows = _rows_shown(response)

    def chip(number: int) -> str:
        return f"{CHIP}{number}{END}"

    def sentence(number: int, text: str) -> str:
        if number in rows:
            return f"{ROW}{number}{END}"
        text = cite(response, text, number, chip)
        if number in response.struck and not is_provisional:
            text = strike(text, *STRIKE)
        return append(text, f"{MARK}{number}{END}", NO_BREAK) if mark_of(response, number) else text

    def between(text: str) -> str:
        text = cite(response, text, None, chip)
        if response.model != EXTRACTIVE_MODEL:
            return text
        text = _NOTE.sub(lambda note: f"*{translate_message(note[1])}*", text)
        before, line_break, location = text.rpartition("\n")  # of the quote that follows
        return f"{before}{line_break}\ue012{location}\ue013" if location.strip() else text

    return rewrite(response, re.sub("[\ue010-\ue017]", " ", answer), sentence, between)


def summary(response: types.AnswerResponse, *, is_provisional: bool = False) -> str:
    """Return the line about the verdicts; of provisional ones, how many sentences are verified so far."""
    if not is_provisional:
        return summary_of(response, translate_message)
    checked = [sentence for sentence in response.sentences if sentence.support]
    proved = sum(sentence.is_proved for sentence in checked)
    return plural(
        len(checked),
        "Being checked … {proved} of {count} sentence verified so far",
        "Being checked … {proved} of {count} sentences verified so far",
        proved=decimal(proved),
    )


def unproved(response: types.AnswerResponse) -> list[dict[str, Any]]:
    """Return the sentences that are not verified, each with its mark and the reason."""
    return [
        {
            "sentence": number,
            "text": plain_words(sentence),
            "kind": sentence.support.value,
            "mark": mark_of(response, number, translate_message),
            "reason": reason_of(sentence, translate_message),
        }
        for number, sentence in enumerate(response.sentences)
        if sentence.support and not sentence.is_proved
    ]


def marks(response: types.AnswerResponse) -> list[tuple[uuid.UUID, Mark]]:
    """Return each citation or nearest passage as a mark in its document, numbered as in `show_answer`."""
    if response.status == "ok":
        return [
            (hit.passage.document_id, Mark.of_citation(citation, hit, label))
            for label, (citation, hit) in zip(response.labels, response.cited, strict=True)
        ]
    return [(hit.passage.document_id, Mark.of_hit(hit, f"P{i + 1}")) for i, hit in enumerate(response.nearest)]


def keyed_marks(response: types.AnswerResponse, message_id: uuid.UUID) -> list[tuple[uuid.UUID, Mark]]:
    """Return `marks`, each with the key that links answer and viewer."""
    return [
        (document_id, mark._replace(key=f"{message_id}:{number}"))
        for number, (document_id, mark) in enumerate(marks(response))
    ]


def found_pages(response: types.AnswerResponse) -> dict[str, list[int]]:
    """Return the pages of each document on which the search found something."""
    numbers = {str(document_id): set(pages) for document_id, pages in response.retrieval.pages.items()}
    for hit in (*response.contexts, *response.nearest):
        numbers.setdefault(str(hit.chunk.document_id), set()).update(hit.chunk.pages)
    return {document: sorted(pages) for document, pages in numbers.items()}


def source_cards(
    response: types.AnswerResponse, later: Mapping[int, types.LaterPlace] = NOTHING_LATER
) -> list[dict[str, Any]]:
    """Return the cards below an answer: a card for each page that is cited, or for each of the nearest passages."""
    if response.status != "ok":
        return [
            _card(
                number,
                f"P{number + 1}",
                hit,
                location_text(hit.chunk.lines, hit=hit),
                [{"text": _snippet(hit.chunk), "chips": [{"number": number, "label": f"P{number + 1}"}]}],
            )
            for number, hit in enumerate(response.nearest)
        ]
    pages: dict[tuple[uuid.UUID, int], list[int]] = {}
    for number, (citation, hit) in enumerate(response.cited):
        page_number = citation.lines_in(hit)[0].page_number
        pages.setdefault((hit.passage.document_id, page_number), []).append(number)
    return [_page_card(response, numbers, later) for numbers in pages.values()]


def _page_card(
    response: types.AnswerResponse, numbers: Sequence[int], later: Mapping[int, types.LaterPlace]
) -> dict[str, Any]:
    """Return the card of a page with the quotes of some citations; equal ones are shown once."""
    in_answer = {response.rows[sentence] for sentence in _rows_shown(response)}
    quotes: dict[str, list[int]] = {}
    for number in numbers:
        citation, hit = response.cited[number]
        quote, row = citation.shown_quote, citation.row
        if row is not None:
            quote = " · ".join(filter(None, (row.label, *row.cells)))
        quotes.setdefault("" if number in in_answer else quote or _snippet(hit.chunk), []).append(number)
    citation, hit = response.cited[numbers[0]]
    ids = dict.fromkeys(response.citations[number].citation_id for number in numbers)
    places = {
        place.label: {
            "number": number,
            "text": translate_message(place.label),
            "change": place.change.value,
            "leads": bool(place.regions),
        }
        for number in numbers
        if (place := later.get(number))
    }
    return _card(
        numbers[0],
        response.labels[numbers[0]] if len(numbers) == 1 else ", ".join(ids),
        hit,
        location_text(citation.lines_in(hit), citation.cells, hit),
        [
            {"text": text, "chips": [{"number": number, "label": response.labels[number]} for number in same]}
            for text, same in quotes.items()
            if text
        ],
    ) | {"later": [*places.values()]}


def _card(number: int, label: str, hit: types.Hit, place: str, quotes: list[dict[str, Any]]) -> dict[str, Any]:
    name = hit.document_name
    return {"number": number, "label": label, "name": name, "place": place, "quotes": quotes, "later": []}


def _rows_shown(response: types.AnswerResponse) -> set[int]:
    """Return the sentences that are shown as the table row that they quote."""
    return {*response.rows}.difference(response.struck, response.unverified)


def location_text(lines: Sequence[types.Line], cells: str | None = None, hit: types.Hit | None = None) -> str:
    """Return where lines stand, as `p. 4, lines 120–131`, or cells, as `Balance!B14, p. 2`.

    For a hit, use the printed page number, and the section instead of lines. Mention text that is set apart.
    """
    first, last, page_number = lines[0].number, lines[-1].end, lines[0].page_number
    page = (
        translate_message(hit.page_name(page_number))
        if hit and page_number in hit.page_labels
        else _("p. {page}", page=page_number)
    )
    if cells:
        return f"{cells}, {page}"
    if hit is None:
        numbers = _("line {number}", number=first) if first == last else None
        page += ", " + (numbers or _("lines {first}–{last}", first=first, last=last))
    elif not any(line.kind is types.BlockKind.TABLE for line in lines):  # it may be far below the last heading
        heading = (hit.chunk.section or "").rpartition(SECTION_SEPARATOR)[2].strip()
        chunk_lines = {line.number for line in hit.chunk.lines}
        if heading and chunk_lines.issuperset(line.number for line in lines):
            page += f" · {heading}"
    labels = ", ".join(map(translate_message, types.set_apart_labels(lines)))
    return f"{page} ({labels})" if labels else page


def _snippet(passage: types.Passage, length: int = 240) -> str:
    text = " ".join(passage.text.split())
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"


def _writer(response: types.AnswerResponse) -> str:
    """Return who wrote the answer, or that it consists of quotes, the pages read whole, and whether it was stopped."""
    writer = _("Quoted from the documents") if response.status == "ok" else _("Nothing was quoted")
    if response.model != EXTRACTIVE_MODEL:
        writer = _("Written by {model}", model=response.model)
    if response.reading and response.reading.is_done:
        writer += " · " + plural(response.reading.pages, "{count} page read", "{count} pages read")
    return _("Stopped") + f" · {writer}" if response.stopped else writer


def usage_text(usage: types.Usage) -> str:
    """Return what an answer used: seconds, tokens and, if the price is known, money."""
    tokens = usage.input_tokens + usage.output_tokens
    parts = [
        f"{decimal(usage.latency_ms / 1000, 1)} s" if usage.latency_ms else "",
        plural(tokens, "{count} token", "{count} tokens") if tokens else "",
        _("about ${cost}", cost=decimal(usage.cost_usd, 2 if usage.cost_usd >= 1 else 4))
        if usage.cost_usd is not None
        else "",
    ]
    return " · ".join(filter(None, parts))


def likelihood(response: types.AnswerResponse) -> dict[str, str] | None:
    """Return the label of a quoted answer's probability and its explanation."""
    if response.likelihood is None or response.confidence is None:
        return None
    return {
        "name": _(response.confidence),
        "kind": response.confidence,
        "explanation": _(
            "Chance that this answer is right: {likelihood}, measured on questions with known answers. "
            "From {likely} on it is called likely.",
            likelihood=percent(response.likelihood),
            likely=percent(types.LIKELY_THRESHOLD),
        ),
    }


def _row_html(row: types.QuotedRow, chip: str) -> str:
    """Return a quoted table row with its column names and caption as safe HTML, beside `chip`, which must be safe.

    The requested cell is marked.
    """
    caption = f"<caption>{html.escape(row.caption)}</caption>" if row.caption else ""
    label = _header("row", row.label) if row.label else ""
    cells = "".join(
        f"<td{_kind(cell)}>{f'<mark>{html.escape(cell)}</mark>' if i == row.asked else html.escape(cell)}</td>"
        for i, cell in enumerate(row.cells)
    )
    head = ""
    if any(row.columns):
        columns = zip(row.columns, row.cells, strict=True)
        names = "".join(_header("col", name, _kind(cell)) for name, cell in columns)
        head = f"<thead><tr>{'<td></td>' if row.label else ''}{names}</tr></thead>"
    table = f"<table>{caption}{head}<tbody><tr>{label}{cells}</tr></tbody></table>"
    name = html.escape(row.label or row.caption or _("Row of a table"))
    return (
        f'<figure class="row"><div class="scroll" role="region" aria-label="{name}" tabindex="0">{table}</div>{chip}'
        "</figure>"
    )


def _header(scope: str, text: str, kind: str = "") -> str:
    return f'<th scope="{scope}"{kind}>{html.escape(text)}</th>'


def _kind(cell: str) -> str:
    """Align numbers, and the headers above them, to the right."""
    return "" if any(map(str.isalpha, cell)) else ' class="figure"'
