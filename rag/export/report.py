"""What is taken along: turns of a conversation, and for each claim its verdict and the places that it rests on."""

import datetime as dt
import re
import uuid
from collections.abc import Callable

import pydantic

from rag import answering
from rag.types import (
    AnswerResponse,
    AnswerStatus,
    Citation,
    Hit,
    Line,
    Model,
    Provenance,
    Region,
    Support,
    Verdict,
    any_recognized,
)

_MARK = re.compile(r"\[(S\d+)\]")


class Evidence(Model):
    """A place that a claim rests on, named by the `label` that stands in the answer.

    `page` counts from 1, `page_label` is the number printed on the page, None where that is the page's own; `cells` are
    those of a sheet. `version` and `sha256` are the document's that was read, None where it is gone. `pictures` are
    PNGs of the place with the quoted words lit, one for each page that the quote stands on.
    """

    label: str
    document_id: uuid.UUID
    document: str
    version: int | None
    sha256: str | None
    page: int
    page_name: str
    page_label: str | None
    cells: str | None
    line_start: int
    line_end: int
    in_picture: bool
    quote: str | None
    verdict: Verdict
    regions: tuple[Region, ...]
    pictures: tuple[bytes, ...] = ()

    @pydantic.field_serializer("pictures", when_used="json")
    def _as_data(self, pictures: tuple[bytes, ...]) -> list[str]:
        return [data_url(picture) for picture in pictures]


class Claim(Model):
    """A sentence of an answer, whether its quotes prove it, and `missing`, what they do not hold.

    One that is `left_out` is not in the answer's text: nothing proves it.
    """

    text: str
    support: Support | None
    missing: tuple[str, ...]
    left_out: bool
    evidence: tuple[Evidence, ...]


class Turn(Model):
    """A question and its answer, as Markdown with the labels of its evidence. `provenance` is what it was made from."""

    id: uuid.UUID
    question: str
    understood: str | None
    answer: str
    status: AnswerStatus
    model: str
    at: dt.datetime
    claims: tuple[Claim, ...]
    provenance: Provenance | None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Of all claims, in the order of the answer."""
        return tuple(one for claim in self.claims for one in claim.evidence)


class Report(Model):
    """A conversation, or one answer of it."""

    title: str
    made_at: dt.datetime
    turns: tuple[Turn, ...]


EvidenceOf = Callable[[str, Citation, Hit], Evidence]


def evidence(label: str, citation: Citation, hit: Hit) -> Evidence:
    """What a citation itself tells of its place."""
    lines: tuple[Line, ...] = citation.lines_in(hit)
    number = lines[0].page_number
    return Evidence(
        label=label,
        document_id=hit.passage.document_id,
        document=hit.document_name,
        version=None,
        sha256=None,
        page=number,
        page_name=hit.page_name(number),
        page_label=citation.page_label or hit.page_labels.get(number),
        cells=citation.cells,
        line_start=lines[0].number,
        line_end=lines[-1].end,
        in_picture=any_recognized(lines),
        quote=citation.quote,
        verdict=citation.verdict,
        regions=citation.regions,
    )


def claims_of(response: AnswerResponse, evidence_of: EvidenceOf = evidence) -> tuple[Claim, ...]:
    """The claims of an answer: each sentence that states something or cites, proved or not."""
    cited: dict[int, list[Evidence]] = {}
    for label, (citation, hit) in zip(response.labels, response.cited, strict=True):
        cited.setdefault(citation.sentence, []).append(evidence_of(label, citation, hit))
    struck = frozenset(response.struck)
    return tuple(
        Claim(
            text=sentence.text,
            support=sentence.support,
            missing=sentence.missing,
            left_out=number in struck,
            evidence=tuple(cited.get(number, ())),
        )
        for number, sentence in enumerate(response.sentences)
        if sentence.support is not None or number in cited
    )


def marked_text(response: AnswerResponse) -> str:
    """The answer without what nothing proves, its marks being the labels of the evidence: [S1a]."""
    struck = frozenset(response.struck)
    labels = [
        label
        for label, citation in zip(response.labels, response.citations, strict=True)
        if citation.sentence not in struck
    ]
    shown = answering.proved(response)
    if shown.status != "ok":
        return shown.answer
    starts = [sentence.start for sentence in shown.sentences]

    def mark(found: re.Match[str]) -> str:
        sentence = sum(start <= found.start() for start in starts) - 1
        same_id = [place for place, one in enumerate(shown.citations) if one.citation_id == found[1]]
        own = [place for place in same_id if shown.citations[place].sentence == sentence] or same_id[:1]
        return "".join(f"[{labels[place]}]" for place in own) or found[0]

    return _MARK.sub(mark, shown.answer)


def data_url(png: bytes) -> str:
    """A PNG in the place of an address."""
    import base64

    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
