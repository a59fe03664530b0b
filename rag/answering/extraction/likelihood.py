"""The probability that the best quoted words answer the question, from what every layer found.

A logistic regression over `Evidence`; `python -m benchmarks.extractive` fits and measures it.
"""

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag.answering.extraction.candidates import Candidate
from rag.answering.extraction.question_intent import ParsedQuestion

RIVALS = 3
"""The best candidate is compared with the one that has so many before it."""

UNRIVALLED = 2.0
"""Lead over other pages if nothing was found on any."""


class Evidence(NamedTuple):
    """What speaks for the best candidate; each measure can only raise the likelihood.

    `relevance` is the cross-encoder's for the unit, and `stands_out` its difference to the fourth highest. `found` is
    the score of its hit. `lead` is its score, in which all measures agree, less the fourth's, and `page_lead` less that
    of the best candidate on another page. `named` is the share of the question's years and names in the unit, its
    headings and its document's name.
    """

    relevance: float
    stands_out: float
    found: float
    lead: float
    page_lead: float
    named: float


GROUPS = {
    "cross-encoder": ("relevance", "stands_out"),
    "retrieval": ("found",),
    "agreement": ("lead", "page_lead"),
    "names": ("named",),
}
"""The layers that the evidence comes from, for measuring each."""

COEFFICIENTS = Evidence(relevance=0.27, stands_out=0.43, found=2.34, lead=0.115, page_lead=0.23, named=0.24)
BASE = -2.69
"""Fitted by `python -m benchmarks.extractive QA.jsonl --public`; docs/quality.md names the questions."""


def gather(
    question: ParsedQuestion, best: Candidate, score: float, found: Sequence[tuple[Candidate, float]]
) -> Evidence:
    """Return the evidence for `best`, which has `score`, among all that was `found` with their scores."""
    relevance = best.features.relevance
    elsewhere = [rival for candidate, rival in found if _page(candidate) != _page(best)]
    return Evidence(
        relevance=relevance,
        stands_out=relevance - _rival(candidate.features.relevance for candidate, _ in found),
        found=best.features.found,
        lead=score - _rival(rival for _, rival in found),
        page_lead=min(UNRIVALLED, score - max(elsewhere)) if elsewhere else UNRIVALLED,
        named=question.share_named(f"{best.context} {best.text} {best.hit.document_name}"),
    )


def estimate(evidence: Evidence) -> float:
    """Return the probability that the best candidate is right."""
    logit = BASE + sum(weight * value for weight, value in zip(COEFFICIENTS, evidence, strict=True))
    return 1.0 / (1.0 + math.exp(-logit))


def _rival(values: Iterable[float]) -> float:
    """Return the value that `RIVALS` others exceed, or the lowest."""
    return heapq.nlargest(RIVALS + 1, values)[-1]


def _page(candidate: Candidate) -> tuple[object, int]:
    return candidate.hit.passage.document_id, candidate.page_number
