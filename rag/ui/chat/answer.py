"""Show an answer: its text with a button for each citation, and its sources."""

import html
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from rag.answering import EXTRACTIVE_MODEL
from rag.contract import NOTHING_LATER
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.types import (
    LIKELY_THRESHOLD,
    SAME_WORDS,
    AnswerResponse,
    BlockKind,
    Citation,
    Hit,
    LaterPlace,
    Line,
    Passage,
    Sentence,
    Support,
    Usage,
    Verdict,
    any_recognized,
)
from rag.ui.chat.quoted_row import row_html
from rag.ui.components import component
from rag.ui.formatting import decimal, percent, plural, render
from rag.ui.language import N_, _, ngettext
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.pdf_viewer import Mark

VERDICT_EXPLANATIONS = {
    Verdict.VERIFIED: N_("These words are in the document."),
    Verdict.CORRECTED: N_("Nearly these words are in the document; its own wording is shown."),
    Verdict.UNVERIFIED: N_("No words in the passage support this sentence."),
}
VERDICTS = {
    Verdict.VERIFIED: N_("quote verified"),
    Verdict.CORRECTED: N_("not word for word"),
    Verdict.UNVERIFIED: N_("quote unverified"),
}
SUPPORT = {
    Support.QUOTED: N_("quoted word for word"),
    Support.SUPPORTED: N_("✓ supported"),
    Support.PARTLY: N_("◐ partly supported"),
    Support.NOT_STATED: N_("✗ not stated"),
    Support.NOT_VERIFIED: N_("? not verified"),
    Support.CONTRADICTED: N_("✗ contradicted"),
    Support.UNCITED: N_("? no source"),
}
SUPPORT_EXPLANATIONS = {
    Support.QUOTED: N_("Quoted: these are the document's own words."),
    Support.SUPPORTED: N_("Supported: the quotes say all of it."),
    Support.PARTLY: N_("Partly supported: the quotes say only part of it."),
    Support.NOT_STATED: N_("Not stated: the sources do not say this."),
    Support.NOT_VERIFIED: N_("Not verified: it is unclear whether the document says this. Read the page."),
    Support.CONTRADICTED: N_("Contradicted: the document says otherwise."),
    Support.UNCITED: N_("No source: it makes a claim without a citation."),
}
"""What a sentence's verdict means."""

MARK = (
    r"\[(?P<id>S\d+)\]|(?P<struck>\ue010)|\ue011(?:(?P<labelled>\d+)\ue012)?|\ue013(?P<unverified>\d+)\ue012"
    r"|\ue014(?P<row>\d+)\ue015[^\ue016]*\ue016|(?P<place>\ue017)|(?P<placed>\ue018)"
)
"""Pattern of a citation and of the signs that `_with_signs` inserts: start and end of a struck sentence or cell (with
its number at the end), end of an unverified sentence, a sentence that is a table row, and start and end of a location.
"""


def show_answer(
    response: AnswerResponse,
    message_id: uuid.UUID,
    *,
    lit: int | None,
    on_cite: Callable[[int, int], None],
    later: Mapping[int, LaterPlace] = NOTHING_LATER,
    on_later: Callable[[LaterPlace], None] | None = None,
) -> None:
    """Show `response`.

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
            "html": answer_html(response),
            "sources": source_rows(response, later),
            "insufficient": response.status != "ok",
            "hint": translate_message(response.hint or ""),
            "writer": " · ".join([_("Stopped")] * response.stopped + [_writer(response)]),
            "likelihood": likelihood(response),
            "seconds": usage_text(response.usage),
            "marks": marks_for_browser(response, message_id),
            "found": found_pages(response),
            "lit": None if lit is None else f"{message_id}:{lit}",
        },
        on_cite_change=cited,
        on_later_change=followed,
    )


def answer_html(response: AnswerResponse) -> str:
    """Return the answer as safe HTML; each citation mark becomes buttons with its citation numbers."""
    text = _with_signs(response)

    def insert(match: re.Match[str]) -> str | None:
        if match["id"] is None:
            return _html_of_sign(response, match)
        numbers = _citations_at(response, match["id"], match.start() - _inserted_before(text, match.start()))
        return "".join(_chip(response, number) for number in numbers) or None

    return render(text, insert, MARK)


def _html_of_sign(response: AnswerResponse, sign: re.Match[str]) -> str:
    """Return the HTML for a sign that is not a citation."""
    match sign.lastgroup:
        case "struck":
            return '<s class="unproved">'
        case "row":
            number = response.rows[int(sign["row"])]
            row = response.citations[number].row
            return row_html(row, _chip(response, number)) if row else ""
        case "unverified":
            return _label(response.sentences[int(sign["unverified"])])
        case "place":
            return '<span class="place">'
        case "placed":
            return "</span>"
        case _:
            return "</s>" + (_label(response.sentences[int(sign["labelled"])]) if sign["labelled"] else "")


def _chip(response: AnswerResponse, number: int) -> str:
    citation = response.citations[number]
    sentence = response.sentences[citation.sentence]
    title = html.escape(
        f"{support_explanation(sentence)}\n{citation.shown_quote or verdict_explanation(citation)}".strip()
    )
    tone = tone_of(sentence, citation)
    return f'<button class="chip {tone}" data-citation="{number}" title="{title}">{response.labels[number]}</button>'


def _label(sentence: Sentence) -> str:
    """Return the label at the end of a sentence that is contradicted, not verified or without a source."""
    if sentence.support is None:
        return ""
    words = _(SUPPORT[sentence.support]).lstrip("✗? ")
    title = html.escape(support_explanation(sentence))
    return f' <span class="unproved-label {sentence.support.value}" title="{title}">{words}</span>'


_CELL = re.compile(r"[^|\s](?:[^|]*[^|\s])?")
_EMPHASIS = "*_"
_NOTE = re.compile(r"^\*([^*\n]+)\*$", re.MULTILINE)
_INSERTED = re.compile(r"\ue010|\ue011(?:\d+\ue012)?|\ue013\d+\ue012|\ue014\d+\ue015|[\ue016-\ue018]")


def _with_signs(response: AnswerResponse) -> str:
    """Return the answer's text with the signs that `MARK` matches, and no other private-use characters."""
    said_ = response.answer if response.status == "ok" else translate_message(response.answer)
    text = re.sub("[\ue010-\ue018]", " ", said_)
    signed, end = "", 0
    for number, sentence in enumerate(response.sentences):
        own = text[sentence.start : sentence.end]
        if number in response.struck:
            own = _mark_struck(own, number)
        elif number in response.unverified:
            own = _mark_unverified(own, number)
        elif number in response.rows:
            own = f"\ue014{number}\ue015{own}\ue016"
        signed += _mark_location(text[end : sentence.start], response) + own
        end = sentence.end
    return signed + text[end:]


def _mark_struck(own: str, number: int) -> str:
    """Add signs around a struck sentence, cell by cell in a table row.

    They stand inside emphasis marks, which would otherwise not be recognised.
    """
    if own.lstrip().startswith("|"):
        own = _CELL.sub("\ue010\\g<0>\ue011", own)
    else:
        start = len(own) - len(own.lstrip(_EMPHASIS))
        end = max(len(own.rstrip(_EMPHASIS)), start)
        own = f"{own[:start]}\ue010{own[start:end]}\ue011{own[end:]}"
    before, _, after = own.rpartition("\ue011")
    return f"{before}\ue011{number}\ue012{after}"


def _mark_unverified(own: str, number: int) -> str:
    """Add a sign at the end of a sentence that gets a label."""
    return re.sub("\ue010|\ue011(?!\\d+\ue012)", "", _mark_struck(own, number)).replace("\ue011", "\ue013")


def _mark_location(between: str, response: AnswerResponse) -> str:
    """Translate a note, and add signs around the location that precedes a quoted sentence in its own paragraph."""
    if response.model == EXTRACTIVE_MODEL:
        between = _NOTE.sub(lambda note: f"*{translate_message(note[1])}*", between)
    before, line_break, lead = between.rpartition("\n")
    if response.model != EXTRACTIVE_MODEL or not lead.strip():
        return between
    return f"{before}{line_break}\ue017{lead}\ue018"


def _inserted_before(text: str, position: int) -> int:
    return sum(len(sign.group()) for sign in _INSERTED.finditer(text, 0, position))


def tone_of(sentence: Sentence, citation: Citation) -> str:
    """Return the colour class of a citation: its sentence's verdict, but never supported without a quote."""
    if sentence.support is Support.SUPPORTED and citation.quote is None:
        return Support.PARTLY.value
    return sentence.support.value if sentence.support else ""


def support_explanation(sentence: Sentence) -> str:
    """Explain the verdict of a sentence."""
    if sentence.support is None:
        return ""
    proved = _(SUPPORT_EXPLANATIONS[sentence.support])
    if sentence.support is Support.SUPPORTED and sentence.judged_by != SAME_WORDS:
        proved = _("Supported: the document says the same in other words.")
    if not sentence.missing:
        return proved
    named = _("Not confirmed by the quotes: {missing}.").format(missing=", ".join(sentence.missing))
    return f"{proved} {named}"


def _citations_at(response: AnswerResponse, citation_id: str, position: int) -> list[int]:
    """Return the citations of a mark at `position`: those of its sentence, else the first with its id."""
    sentences = [i for i, sentence in enumerate(response.sentences) if sentence.start <= position]
    same_id = [i for i, citation in enumerate(response.citations) if citation.citation_id == citation_id]
    of_sentence = [i for i in same_id if sentences and response.citations[i].sentence == sentences[-1]]
    return of_sentence or same_id[:1]


def marks(response: AnswerResponse) -> list[tuple[uuid.UUID, Mark]]:
    """Return each citation or nearest passage as a mark in its document, numbered as in `show_answer`."""
    if response.status == "ok":
        return [
            (hit.passage.document_id, Mark.of_citation(citation, hit, label))
            for label, (citation, hit) in zip(response.labels, response.cited, strict=True)
        ]
    return [(hit.passage.document_id, Mark.of_hit(hit, f"P{i + 1}")) for i, hit in enumerate(response.nearest)]


def keyed_marks(response: AnswerResponse, message_id: uuid.UUID) -> list[tuple[uuid.UUID, Mark]]:
    """Return `marks`, each with the key that links answer and viewer."""
    return [
        (document_id, mark._replace(key=f"{message_id}:{number}"))
        for number, (document_id, mark) in enumerate(marks(response))
    ]


def marks_for_browser(response: AnswerResponse, message_id: uuid.UUID) -> list[dict[str, Any]]:
    """Return `keyed_marks` for the browser, which highlights them itself."""
    return [{"document": str(document_id), **mark.drawn()} for document_id, mark in keyed_marks(response, message_id)]


def found_pages(response: AnswerResponse) -> dict[str, list[int]]:
    """Return the pages of each document on which the search found something."""
    found = {str(document_id): set(pages) for document_id, pages in response.retrieval.pages.items()}
    for hit in (*response.contexts, *response.nearest):
        found.setdefault(str(hit.chunk.document_id), set()).update(hit.chunk.pages)
    return {document: sorted(pages) for document, pages in found.items()}


def source_rows(response: AnswerResponse, later: Mapping[int, LaterPlace] = NOTHING_LATER) -> list[dict[str, Any]]:
    """Return the rows below an answer: its citations, or the nearest passages if there is no answer."""
    if response.status == "ok":
        in_answer = _rows_shown(response)
        return [
            _cited_row(number, label, response.sentences[cited[0].sentence], *cited)
            | ({"quote": ""} if number in in_answer else {})
            | _later(later.get(number))
            for number, (label, cited) in enumerate(zip(response.labels, response.cited, strict=True))
        ]
    return [_nearest_row(number, hit) for number, hit in enumerate(response.nearest)]


def _cited_row(number: int, label: str, sentence: Sentence, citation: Citation, hit: Hit) -> dict[str, Any]:
    missing = ", ".join(sentence.missing or citation.unsupported_numbers)
    proves = citation.quote is not None or sentence.support is not Support.SUPPORTED
    verdict = [_(SUPPORT[sentence.support])] if sentence.support and proves else []
    verdict += [basis] if proves and (basis := translate_message(sentence.basis)) else []
    verdict += [about] if (about := _about_quote(sentence, citation)) else []
    return {
        **_source_row(number, label, hit),
        "place": location_text(citation.lines_in(hit), citation.cells, hit),
        "verdict": tone_of(sentence, citation),
        "verdictText": " · ".join(verdict),
        "explanation": f"{support_explanation(sentence)} {verdict_explanation(citation)}".strip(),
        "quote": _quoted(citation) or _snippet(hit.chunk),
        "warning": _("⚠ Not confirmed by the quotes: {missing}").format(missing=missing) if missing else "",
    }


def _about_quote(sentence: Sentence, citation: Citation) -> str | None:
    """Return how the quote relates to the sentence, or None if the sentence's verdict says it."""
    is_told = (sentence.support is Support.QUOTED and citation.verdict is Verdict.VERIFIED) or (
        sentence.judged_by not in (None, SAME_WORDS) and citation.verdict is Verdict.CORRECTED
    )
    return None if is_told else _(VERDICTS[citation.verdict]) if citation.quote else _("no quote")


def _later(place: LaterPlace | None) -> dict[str, Any]:
    """Return the fields that describe a quote's place in the current version."""
    if place is None:
        return {}
    return {"later": translate_message(place.label), "change": place.change.value, "leads": bool(place.regions)}


def _quoted(citation: Citation) -> str | None:
    """Return the quote; of a table row, its cells separated by dots."""
    if citation.row is None:
        return citation.shown_quote
    return " · ".join(part for part in (citation.row.label, *citation.row.cells) if part)


def _rows_shown(response: AnswerResponse) -> set[int]:
    """Return the citations whose table row is the answer itself, so that their quote need not be repeated."""
    marked = {*response.struck, *response.unverified}
    return {citation for sentence, citation in response.rows.items() if sentence not in marked}


def verdict_explanation(citation: Citation) -> str:
    """Explain the verdict of a citation."""
    numbers = citation.unsupported_numbers
    if not numbers or citation.quote is None:
        return _(VERDICT_EXPLANATIONS[citation.verdict])
    named = ", ".join(numbers)
    return ngettext(
        len(numbers),
        "These words are in the document, but {named} is not in any quote.",
        "These words are in the document, but {named} are not in any quote.",
    ).format(named=named)


def _nearest_row(number: int, hit: Hit) -> dict[str, Any]:
    return {
        **_source_row(number, f"P{number + 1}", hit),
        "place": location_text(hit.chunk.lines, hit=hit),
        "quote": _snippet(hit.chunk),
    }


def _source_row(number: int, label: str, hit: Hit) -> dict[str, Any]:
    return {"number": number, "label": label, "name": hit.document_name, "verdict": ""}


def location_text(lines: Sequence[Line], cells: str | None = None, hit: Hit | None = None) -> str:
    """Return where lines stand, as `p. 4, lines 120–131`, or cells, as `Balance!B14, p. 2`.

    For a hit, use the printed page number, and the section instead of lines. Mention text recognised in a picture.
    """
    first, last, page_number = lines[0].number, lines[-1].end, lines[0].page_number
    page = (
        translate_message(hit.page_name(page_number))
        if hit and page_number in hit.page_labels
        else _("p. {page}").format(page=page_number)
    )
    if cells:
        return f"{cells}, {page}"
    where = _section(lines, hit) if hit else f", {_line_numbers(first, last)}"
    seen = f" ({_('recognised in a picture')})" if any_recognized(lines) else ""
    return f"{page}{where}{seen}"


def _line_numbers(first: int, last: int) -> str:
    if first == last:
        return _("line {number}").format(number=first)
    return _("lines {first}–{last}").format(first=first, last=last)


def _section(lines: Sequence[Line], hit: Hit) -> str:
    """Return the heading above the lines if it is known; a table may be far below the last heading."""
    if any(line.kind is BlockKind.TABLE for line in lines):
        return ""
    heading = (hit.chunk.section or "").rpartition(SECTION_SEPARATOR)[2].strip()
    known = {line.number for line in hit.chunk.lines}
    return f" · {heading}" if heading and known.issuperset(line.number for line in lines) else ""


def _snippet(passage: Passage, length: int = 240) -> str:
    text = " ".join(passage.text.split())
    return text if len(text) <= length else text[:length].rsplit(" ", 1)[0] + " …"


def _writer(response: AnswerResponse) -> str:
    """Return who wrote the answer, or that it consists of quotes."""
    if response.model != EXTRACTIVE_MODEL:
        return _("Written by {model}").format(model=response.model)
    return _("Quoted from the documents") if response.status == "ok" else _("Nothing was quoted")


def usage_text(usage: Usage) -> str:
    """Return what an answer used: seconds, tokens and, if the price is known, money."""
    tokens = usage.input_tokens + usage.output_tokens
    parts = [
        f"{decimal(usage.latency_ms / 1000, 1)} s" if usage.latency_ms else "",
        plural(tokens, "{count} token", "{count} tokens") if tokens else "",
        _("about ${cost}").format(cost=decimal(usage.cost_usd, 2 if usage.cost_usd >= 1 else 4))
        if usage.cost_usd is not None
        else "",
    ]
    return " · ".join(filter(None, parts))


def likelihood(response: AnswerResponse) -> dict[str, str] | None:
    """Return the label of a quoted answer's probability and its explanation."""
    if response.likelihood is None or response.confidence is None:
        return None
    return {
        "name": _(response.confidence),
        "kind": response.confidence,
        "explanation": _(
            "Chance that this answer is right: {likelihood}, measured on questions with known answers. "
            "From {likely} on it is called likely."
        ).format(likelihood=percent(response.likelihood), likely=percent(LIKELY_THRESHOLD)),
    }
