"""Compose answers from statements with cited sources."""

from collections.abc import Iterable, Sequence

from rag import types
from rag.answering.passages.statements import Label, Statement
from rag.answering.text.markup import plain_text
from rag.answering.verification.grounding import Grounder, Locate
from rag.answering.verification.quote_matching import Quote

MODEL = "extractive"
"""The model name of answers without a language model."""


def compose(parts: Sequence[Statement | Label], *, locate: Locate) -> types.AnswerResponse:
    """Compose an answer of paragraphs, every statement cited; each passage is one source.

    Raises:
        errors.GroundingError: a document cannot be read any more.
    """
    hits = _sources(parts)
    ids = {_key(hit): citation_id for citation_id, hit in hits.items()}
    grounder = Grounder(hits, locate=locate)
    text, sentences, citations = "", list[types.Sentence](), list[types.Citation]()
    for part in parts:
        text += "\n\n" if text else ""
        start = len(text)
        if isinstance(part, Label):
            text += part.text
            continue
        cited = tuple(dict.fromkeys(ids[_key(source.hit)] for source in part.sources))
        shown = plain_text(part.text)
        text += f"{shown} {''.join(f'[{citation_id}]' for citation_id in cited)}"
        if part.row:
            citations.append(grounder.cite_unit(len(sentences), cited[0], *part.row))
        else:
            for source in dict.fromkeys((_key(source.hit), source.span) for source in part.sources):
                citations.append(
                    grounder.cite(len(sentences), ids[source[0]], Quote(source[1], types.Verdict.VERIFIED))
                )
        support = types.Support.QUOTED if part.is_verbatim else types.Support.SUPPORTED
        sentences.append(types.Sentence(text=shown, citation_ids=cited, start=start, end=len(text), support=support))
    return types.AnswerResponse(
        status="ok",
        answer=text,
        sentences=tuple(sentences),
        citations=tuple(citations),
        sources=hits,
        model=MODEL,
    )


_Key = tuple[object, int, int]


def _key(hit: types.Hit) -> _Key:
    """Return the identity of a passage: its document and lines."""
    return hit.passage.document_id, hit.passage.line_start, hit.passage.line_end


def _sources(parts: Iterable[Statement | Label]) -> dict[str, types.Hit]:
    hits: dict[_Key, types.Hit] = {}
    for part in parts:
        for source in part.sources if isinstance(part, Statement) else ():
            hits.setdefault(_key(source.hit), source.hit)
    return {f"S{number}": hit for number, hit in enumerate(hits.values(), start=1)}
