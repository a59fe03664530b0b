"""Judge by meaning what the comparison of words leaves open.

A judge gets the sentences of an answer that words did not prove, each with the best sentences of its cited passages.
The entailment model runs on this machine; a language model is asked once for all of them. Facts stay a veto: a claim
whose figures, counts or names its evidence lacks is not accepted, whatever a judge says.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pydantic

from rag import errors, prompts
from rag.answering.verification.open_claims import OpenClaim, Place
from rag.retrieval import Completions
from rag.types import SAME_MEANING, Support

if TYPE_CHECKING:
    from rag.providers import EntailmentModel

MAX_LOCATED = 4
"""Most sentences that are tried alone as the quote of an accepted claim."""

MIN_REPLACED = 0.8
"""Least probability of a claim with a word in place of another one.

Of 623 claims with a random word in its place (`benchmarks claims`, "other word") the model accepts 11, 19 at 0.75.
"""

MIN_DOUBT = 0.5
"""Probability from which a claim that words contradict is not struck out, but left unverified; figures decide alone."""

MIN_SECOND = 0.05
"""Least probability of the entailment model for what a language model calls supported."""


class MeaningVerdict(NamedTuple):
    """How far the evidence entails a claim, by whom it was judged, and the sentences that prove it."""

    support: Support
    judged_by: str
    probability: float | None = None
    missing: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()


class MeaningJudge(Protocol):
    """Judges claims by meaning."""

    def judge(self, claims: Sequence[OpenClaim]) -> list[MeaningVerdict | None]:
        """Return a verdict for each claim, None for one that it cannot decide."""
        ...


class EntailmentJudge:
    """Judges by the entailment model: a claim is supported if its probability reaches the model's threshold.

    A claim without words of its own is left as it is: words that all stand in the evidence and do not prove the claim
    say something else there, which the model overlooks more often than not (two facts combined, names exchanged).
    """

    def __init__(self, model: "EntailmentModel") -> None:
        self._model = model

    def judge(self, claims: Sequence[OpenClaim]) -> list[MeaningVerdict | None]:
        """Return "supported", "not verified" where words contradict what the model takes for entailed, or None."""
        return [verdict for _, verdict in self.judge_with_probabilities(claims)]

    def judge_with_probabilities(self, claims: Sequence[OpenClaim]) -> list[tuple[float, MeaningVerdict | None]]:
        """Return the same with the probability of each claim."""
        values = self._model.probabilities([(claim.evidence, claim.text) for claim in claims])
        return [(value, self._verdict(claim, value)) for claim, value in zip(claims, values, strict=True)]

    def _verdict(self, claim: OpenClaim, value: float) -> MeaningVerdict | None:
        if claim.is_contradicted:
            is_doubted = value >= MIN_DOUBT
            return MeaningVerdict(Support.NOT_VERIFIED, SAME_MEANING, value, claim.vetoes) if is_doubted else None
        least = max(self._model.threshold, MIN_REPLACED) if claim.replaced else self._model.threshold
        if value < least or claim.vetoes or not claim.has_other_words:
            return None
        return MeaningVerdict(Support.SUPPORTED, SAME_MEANING, value, places=self.locate(claim))

    def locate(self, claim: OpenClaim) -> tuple[Place, ...]:
        """Return the sentence that entails the claim alone, else the two that come nearest."""
        if len(claim.places) < 2:
            return claim.places
        tried = claim.places[:MAX_LOCATED] if len(claim.places) <= MAX_LOCATED else _with_most_words(claim)
        values = self._model.probabilities([(f"{claim.before} {place.text}".strip(), claim.text) for place in tried])
        ranked = sorted(zip(values, tried, strict=True), key=lambda pair: -pair[0])
        if ranked[0][0] >= self._model.threshold:
            return (ranked[0][1],)
        nearest = {place for _, place in ranked[:2]}
        return tuple(place for place in claim.places if place in nearest)


def _with_most_words(claim: OpenClaim) -> tuple[Place, ...]:
    words = set(claim.text.casefold().split())
    ranked = sorted(claim.places, key=lambda place: -len(words & set(place.text.casefold().split())))
    return tuple(ranked[:MAX_LOCATED])


class _Reply(pydantic.BaseModel):
    """A language model's verdict on one claim."""

    claim: int
    verdict: str
    sentences: list[int] = []
    missing: str = ""


_REPLIES = pydantic.TypeAdapter(list[_Reply])
_VERDICT_FIELDS = {
    "claim": {"type": "integer"},
    "sentences": {"type": "array", "items": {"type": "integer"}},
    "missing": {"type": "string"},
    "verdict": {"type": "string", "enum": ["supported", "partly", "not"]},
}
_VERDICT = {
    "type": "object",
    "properties": _VERDICT_FIELDS,
    "required": [*_VERDICT_FIELDS],
    "additionalProperties": False,
}
VERDICTS_SCHEMA = {
    "type": "object",
    "properties": {"verdicts": {"type": "array", "items": _VERDICT}},
    "required": ["verdicts"],
    "additionalProperties": False,
}
"""The reply to `prompts.JUDGE`, where a server takes a schema; the verdict comes last, after its reasons."""


class LanguageModelJudge:
    """Judges all claims of an answer by one cached request to the language model that wrote it.

    What it cannot read or accept goes to `second`, the entailment model's judge. That also has to find an accepted
    claim possible, because small models call nearly everything supported.
    """

    def __init__(self, completions: Completions, name: str, second: EntailmentJudge | None = None) -> None:
        self._completions = completions
        self._name = name
        self._second = second

    def judge(self, claims: Sequence[OpenClaim]) -> list[MeaningVerdict | None]:
        """Return the model's verdict for each claim, else the second judge's."""
        seconds: list[tuple[float, MeaningVerdict | None]] = [(1.0, None)] * len(claims)
        if self._second is not None:
            seconds = self._second.judge_with_probabilities(claims)
        replies = {} if all(claim.is_contradicted for claim in claims) else self._replies(claims)
        return [
            self._verdict(claim, replies.get(number), second)
            for number, (claim, second) in enumerate(zip(claims, seconds, strict=True), start=1)
        ]

    def _verdict(
        self, claim: OpenClaim, reply: _Reply | None, second: tuple[float, MeaningVerdict | None]
    ) -> MeaningVerdict | None:
        probability, other = second
        if reply is None or claim.is_contradicted:
            return other
        chosen = [claim.places[number - 1] for number in reply.sentences if 0 < number <= len(claim.places)]
        places = tuple(chosen) or (other.places if other else ()) or claim.places[:1]
        if reply.verdict == "supported" and not claim.vetoes and probability >= MIN_SECOND:
            return MeaningVerdict(Support.SUPPORTED, self._name, places=places)
        if reply.verdict in ("supported", "partly"):
            missing = claim.vetoes or ((reply.missing,) if reply.missing else ())
            return MeaningVerdict(Support.PARTLY, self._name, missing=missing, places=places) if missing else other
        return None

    def _replies(self, claims: Sequence[OpenClaim]) -> dict[int, _Reply]:
        """Return the model's verdicts by the number of their claim; none if it fails or replies with something else."""

        def prompt(chars: int) -> str:
            items = "\n".join(_item(number, claim, chars) for number, claim in enumerate(claims, start=1))
            return prompts.JUDGE.format(items=items)

        try:
            asked = self._completions.longest(prompt, MAX_EVIDENCE_CHARS)
            text = self._completions.complete("verdicts", asked, VERDICTS_SCHEMA)
            start, end = text.index("["), text.rindex("]") + 1
            replies = _REPLIES.validate_python(json.loads(text[start:end]))
        except (errors.ProviderError, ValueError):  # the answer stands without it; pydantic's errors are ValueErrors
            return {}
        return {reply.claim: reply for reply in replies}


MAX_EVIDENCE_CHARS = 600
"""Most characters of a sentence of evidence in the prompt; longer ones are rare."""


def _item(number: int, claim: OpenClaim, chars: int) -> str:
    sentences = "\n".join(
        prompts.JUDGE_SENTENCE.format(number=index, text=" ".join(place.text[:chars].split()))
        for index, place in enumerate(claim.places, start=1)
    )
    before = prompts.JUDGE_BEFORE.format(text=claim.before) if claim.before else ""
    return prompts.JUDGE_ITEM.format(number=number, claim=claim.text, before=before, sentences=sentences)
