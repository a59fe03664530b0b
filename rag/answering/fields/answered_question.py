"""Read a text field that is a question from its answer: the passage that answers, with what proves it."""

from collections.abc import Sequence
from typing import NamedTuple

from rag import types
from rag.answering.extraction import answer_fit
from rag.answering.extraction.answer_fit import Fit
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.fields.agreement import agree, read_answer
from rag.answering.tables.figure_rows import Statements

MAX_CHARS = 600
"""Maximum length of a text value."""
MODEL_SENTENCES = 2
"""Number of sentences of a language model's answer."""
UNKNOWN_LIKELIHOOD = 0.5
"""Of an answer that a small language model wrote, and that its sources do not prove."""


def is_question(field: types.FieldDefinition) -> bool:
    """Return whether a field asks a question in words, whose answer is a sentence or a row."""
    return field.type == "text" and field.question.rstrip().endswith("?")


def read_answered(question: str, response: types.AnswerResponse, statements: Statements) -> types.FoundField:
    """Return what an answer to a question gives for a field.

    `statements` are the pages of the document's own statement with the requested line item.
    """
    pages = tuple(sorted({page for numbers in response.retrieval.pages.values() for page in numbers}))
    chosen = _best_citation(question, response, statements) if response.status == "ok" else None
    if chosen is None:
        likely = 1.0 - (response.likelihood or UNKNOWN_LIKELIHOOD)
        return types.FoundField(state="not_stated", confidence=likely, pages_read=pages, model=response.model)
    citation, support, likelihood = chosen
    row = _row(response, citation)
    text = _row_text(row) if row else _text(response, citation)
    if likelihood is None:
        likelihood = response.likelihood or UNKNOWN_LIKELIHOOD
    quote = types.CellCitation(
        quote=citation.quote or "",
        page_number=_page(response, citation),
        page_label=citation.page_label,
        regions=citation.regions,
    )
    return types.FoundField(
        state="found",
        value=text,
        words=text,
        citations=(quote,),
        verdict=support,
        confidence=likelihood,
        pages_read=pages,
        model=response.model,
    )


def _page(response: types.AnswerResponse, citation: types.Citation) -> int:
    hit = response.sources[citation.citation_id]
    return citation.regions[0].page_number if citation.regions else citation.lines_in(hit)[0].page_number


class _Choice(NamedTuple):
    """The best citation, its verdict, and else its likelihood."""

    citation: types.Citation
    support: types.Support | None
    likelihood: float | None


def _best_citation(question: str, response: types.AnswerResponse, statements: Statements) -> _Choice | None:
    """Return the citation that answers best, or None.

    Proved statements come first, then those that fit the question better. A line item outside the document's own
    statement may be an affiliate's, and is not proved. A quote whose fit cannot be checked is at most likely.
    """

    def is_proved(citation: types.Citation) -> bool:
        support = response.sentences[citation.sentence].support
        return support is not None and support.is_proved

    fitting = [
        (fit, citation)
        for citation, _ in response.cited
        if (fit := _fit(question, response, citation, statements)) is None or fit > Fit.UNNAMED
    ]
    if not fitting:
        return None
    fit, citation = max(fitting, key=lambda pair: (is_proved(pair[1]), pair[0] in (Fit.GIVES, None)))
    support = response.sentences[citation.sentence].support
    if not is_proved(citation):
        return _Choice(citation, support, None)
    if fit is None and response.confidence == "likely":
        return _Choice(citation, None, response.likelihood)
    alike = [response.sentences[other.sentence].text for kind, other in fitting if kind is not None]
    is_given = fit is Fit.GIVES and not _has_conflicting_figures(question, alike)
    is_sure = is_given or (fit is None and response.confidence is None)
    return _Choice(citation, support if is_sure else types.Support.NOT_VERIFIED, None)


def _has_conflicting_figures(question: str, statements: Sequence[str]) -> bool:
    """Whether statements that may give the figure give different ones, such as of a segment and of the whole."""
    first, *others = (read_answer(question, statement) for statement in statements)
    return not all(agree(first, other) for other in others)


def _fit(question: str, response: types.AnswerResponse, citation: types.Citation, statements: Statements) -> Fit | None:
    hit = response.sources[citation.citation_id]
    fit = answer_fit.fit(question, response.sentences[citation.sentence].text, _row(response, citation), hit)
    is_own = answer_fit.is_own_item(question, _page(response, citation), statements)
    return fit if is_own or fit is not Fit.GIVES else Fit.NEAR


def _row(response: types.AnswerResponse, citation: types.Citation) -> types.QuotedRow | None:
    return citation.row if citation.sentence in response.rows else None


def _text(response: types.AnswerResponse, first: types.Citation) -> str:
    """Return the cited statement; of a model's answer also the next one, as the first may state nothing."""
    count = 1 if response.model == EXTRACTIVE_MODEL else MODEL_SENTENCES
    sentences = response.sentences[first.sentence : first.sentence + count]
    text = " ".join(" ".join(sentence.text.split()) for sentence in sentences if not sentence.is_unproved)
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS].rpartition(' ')[0]} …"


def _row_text(row: types.QuotedRow) -> str:
    """Format a table row, such as "Net sales, 2022: 394,328 (in millions)"."""
    columns = [*row.columns, *[""] * (len(row.cells) - len(row.columns))]
    chosen = [row.asked] if row.asked is not None else [*range(len(row.cells))]
    cells = "; ".join(f"{columns[i]}: {row.cells[i]}" if columns[i] else row.cells[i] for i in chosen)
    caption = f" ({row.caption.strip('() ')})" if row.caption else ""
    text = f"{row.label}, {cells}{caption}" if row.label else f"{cells}{caption}"
    return text[:MAX_CHARS]
