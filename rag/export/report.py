"""Reports: the content of an export, with the verdict and evidence of each claim."""

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
    """The evidence of a claim, with the `label` used in the answer.

    `page` counts from 1, `page_label` is the printed page number if it differs; `cells` are those of a sheet. `version`
    and `sha256` are None if the document was deleted. `pictures` are PNGs of the highlighted quote, one for each page.
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
    """A sentence of an answer, its verdict and evidence.

    `basis` says what the verdict rests on; `missing` are the words that the quotes lack.
    A claim that is `left_out` was removed from the answer's text as unsupported.
    """

    text: str
    support: Support | None
    basis: str = ""
    missing: tuple[str, ...]
    left_out: bool
    evidence: tuple[Evidence, ...]


class Turn(Model):
    """A question and its answer, in Markdown with the labels of its evidence."""

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
        """The evidence of all claims, in order."""
        return tuple(one for claim in self.claims for one in claim.evidence)


class Report(Model):
    """A report of a conversation, or of one answer."""

    title: str
    made_at: dt.datetime
    turns: tuple[Turn, ...]


EvidenceOf = Callable[[str, Citation, Hit], Evidence]


def evidence(label: str, citation: Citation, hit: Hit) -> Evidence:
    """Create the evidence of a citation, without version and pictures."""
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
    """Return the claims of an answer: each sentence with a verdict or citation."""
    cited: dict[int, list[Evidence]] = {}
    for label, (citation, hit) in zip(response.labels, response.cited, strict=True):
        cited.setdefault(citation.sentence, []).append(evidence_of(label, citation, hit))
    struck = frozenset(response.struck)
    return tuple(
        Claim(
            text=sentence.text,
            support=sentence.support,
            basis=sentence.basis,
            missing=sentence.missing,
            left_out=number in struck,
            evidence=tuple(cited.get(number, ())),
        )
        for number, sentence in enumerate(response.sentences)
        if sentence.support is not None or number in cited
    )


def labelled_answer(response: AnswerResponse, say: Callable[[str], str] = str) -> str:
    """Return the answer without contradicted sentences, its citation marks replaced by evidence labels: [S1a].

    Sentences that are not verified or cite nothing are marked so; `say` translates the mark.
    """
    struck = frozenset(response.struck)
    labels = [
        label
        for label, citation in zip(response.labels, response.citations, strict=True)
        if citation.sentence not in struck
    ]
    shown = answering.drop_struck(response)
    if shown.status != "ok":
        return shown.answer
    text, starts = shown.answer, [sentence.start for sentence in shown.sentences]
    for number in reversed(shown.unverified):
        end = shown.sentences[number].end
        note = f" ({say('not verified' if shown.sentences[number].support is Support.NOT_VERIFIED else 'no source')})"
        text = text[:end] + note + text[end:]
        starts[number + 1 :] = [start + len(note) for start in starts[number + 1 :]]

    def mark(found: re.Match[str]) -> str:
        sentence = sum(start <= found.start() for start in starts) - 1
        same_id = [place for place, one in enumerate(shown.citations) if one.citation_id == found[1]]
        own = [place for place in same_id if shown.citations[place].sentence == sentence] or same_id[:1]
        return "".join(f"[{labels[place]}]" for place in own) or found[0]

    return _MARK.sub(mark, text)


def data_url(png: bytes) -> str:
    """Return a PNG as a data URL."""
    import base64

    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
