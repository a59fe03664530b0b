"""Reports: the content of an export, with the verdict and evidence of each claim."""

import datetime as dt
import uuid
from collections.abc import Callable, Sequence

import pydantic
from pydantic import Field

from rag import types
from rag.contract import CitationBody, copy_fields
from rag.export.marks import Translate, append, cite, mark_of, plain_words, reason_of, rewrite, strike, written_mark

STRIKE = "~~"
"""Begins and ends what is struck through in the Markdown of an answer; the answer's own tildes are escaped."""


class Evidence(CitationBody):
    """The evidence of a claim: a citation with the label that the exported answer uses, such as S1a.

    `version` and `sha256` are None if the document was deleted. `pictures` are PNGs of the highlighted quote, one for
    each page.
    """

    label: str
    version: int | None = None
    sha256: str | None = None
    pictures: tuple[bytes, ...] = ()

    @pydantic.field_serializer("pictures", when_used="json")
    def _as_data(self, pictures: tuple[bytes, ...]) -> list[str]:
        return [data_url(picture) for picture in pictures]


class Claim(types.Model):
    """A sentence of an answer, its verdict and evidence."""

    text: str
    support: types.Support | None = Field(description="Null: it states nothing. Rely on quoted and supported only.")
    mark: str = Field(description="The verdict as the answer marks it.")
    reason: str = Field(description="Why it has this verdict, in words; empty if it states nothing.")
    missing: tuple[str, ...] = Field(description="Words and figures of the sentence that its quotes do not hold.")
    judged_by: str | None = Field(
        default=None,
        description="words: compared word by word. meaning: by the entailment model, with `probability`. Else the "
        "language model that judged.",
    )
    probability: float | None = Field(
        default=None, description="The entailment model's probability that the quotes say it."
    )
    struck: bool = Field(description="Whether it is struck through, as the sources contradict it.")
    evidence: tuple[Evidence, ...]


class Turn(types.Model):
    """A question and its answer, in Markdown with the labels of its evidence and the marks of its sentences.

    `summary` counts the verdicts in one line.
    """

    id: uuid.UUID
    question: str
    understood: str | None
    answer: str
    summary: str
    status: types.AnswerStatus
    model: str
    at: dt.datetime
    claims: tuple[Claim, ...]
    provenance: types.Provenance | None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence of all claims, in order."""
        return tuple(evidence for claim in self.claims for evidence in claim.evidence)


class Report(types.Model):
    """A report of a conversation, or of one answer."""

    title: str
    made_at: dt.datetime
    turns: tuple[Turn, ...]


EvidenceOf = Callable[[str, types.Citation, types.Hit], Evidence]


def evidence(label: str, citation: types.Citation, hit: types.Hit) -> Evidence:
    """Create the evidence of a citation, without version and pictures."""
    return Evidence(**dict(CitationBody.of(citation, hit)), label=label)


def claims_of(
    response: types.AnswerResponse, evidence_of: EvidenceOf = evidence, say: Translate = str
) -> tuple[Claim, ...]:
    """Return the claims of an answer: each sentence with a verdict or citation."""
    cited: dict[int, list[Evidence]] = {}
    for label, (citation, hit) in zip(response.labels, response.cited, strict=True):
        cited.setdefault(citation.sentence, []).append(evidence_of(label, citation, hit))
    return tuple(
        copy_fields(
            Claim,
            sentence,
            text=plain_words(sentence),
            mark=mark_of(response, number, say),
            reason=reason_of(sentence, say),
            struck=number in response.struck,
            evidence=tuple(cited.get(number, ())),
        )
        for number, sentence in enumerate(response.sentences)
        if sentence.support is not None or number in cited
    )


def marked_answer(response: types.AnswerResponse, labels: Sequence[str], say: Translate = str) -> str:
    """Return the answer in Markdown, each sentence with its mark, contradicted ones struck through.

    Citation marks are replaced by the label of each citation: [S1a]. A refusal is returned unchanged.
    """
    if response.status != "ok":
        return response.answer

    def label(number: int) -> str:
        return f"[{labels[number]}]"

    def sentence(number: int, own: str) -> str:
        own = _escaped(cite(response, own, number, label))
        own = strike(own, STRIKE, STRIKE) if number in response.struck else own
        mark = written_mark(response, number, say)
        return append(own, mark) if mark else own

    return rewrite(response, response.answer, sentence, lambda text: _escaped(cite(response, text, None, label)))


def _escaped(markdown: str) -> str:
    return markdown.replace(STRIKE, r"\~\~")


def without_strikes(marked: str) -> str:
    """Return a marked answer without lines through its sentences, for formats that have none."""
    return marked.replace(STRIKE, "").replace(r"\~\~", STRIKE)


def data_url(png: bytes) -> str:
    """Return a PNG as a data URL."""
    import base64

    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
