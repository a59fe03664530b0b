"""How likely a field's value is right, from what is known of how it was found."""

import math
from typing import Literal, NamedTuple

from rag import types


class Evidence(NamedTuple):
    """What is known of a value, or of its absence.

    `told` is the model's own confidence, or without one the likelihood of the value or absence, in 0..1. `is_proved` if
    what a model says of it agrees with the document: located quotes state a value, and none is given for an absence.
    """

    type: types.FieldType
    state: Literal["found", "not_stated"]
    told: float
    is_proved: bool = True
    by_model: bool = True


class Scale(NamedTuple):
    """Intercept and slope of the logit of what is right, by that of what is told (Platt scaling)."""

    intercept: float
    slope: float


TOLD_BY_MODEL = Scale(1.6, 1.4)
"""Fitted on 332 values of 24 documents, checked on 175 of 12 others (docs/quality.md)."""
UNPROVED = 0.5
"""The most for what the document does not state as a model says, however sure it is: it is always to be reviewed. Set,
not fitted, as there were too few."""
FIGURES = frozenset({"number", "money", "percentage", "date", "period"})
QUOTED_FOUND, QUOTED_ABSENT = Scale(0.4, 0.66), Scale(0.1, 0.26)
"""Of likelihoods over 47 documents, cross-validated and with each kind of document left out; with a margin, so that at
most one value in fifty is wrong and sure, also of a kind of document that nothing was fitted to."""
MOST = 0.99
"""More cannot be told from so few values."""


def confidence(evidence: Evidence) -> float:
    """Return the probability that a value, or its absence, is right."""
    if evidence.by_model:
        right = _scaled(evidence.told, TOLD_BY_MODEL)
        return right if evidence.is_proved else min(right, UNPROVED)
    if evidence.type == "records":  # there is a share of lists that are right, but no likelihood of one
        return evidence.told
    return _scaled(evidence.told, QUOTED_FOUND if evidence.state == "found" else QUOTED_ABSENT)


def _scaled(told: float, scale: Scale) -> float:
    told = min(max(told, 0.01), 0.99)
    score = scale.intercept + scale.slope * math.log(told / (1 - told))
    return min(1 / (1 + math.exp(-score)), MOST)
