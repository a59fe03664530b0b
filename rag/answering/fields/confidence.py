"""How likely a field's value is right, from what is known of how it was found."""

import math
from typing import Literal, NamedTuple

from rag import types


class Evidence(NamedTuple):
    """What is known of a value, or of its absence.

    `told` is the model's own confidence, or without one the likelihood of the value or absence, in 0..1. `is_quoted` if
    its words were located, `is_typed` if they state the value in its type, `support` is the verdict on them.
    """

    type: types.FieldType
    state: Literal["found", "not_stated"]
    told: float
    is_quoted: bool = False
    is_typed: bool = False
    support: types.Support | None = None
    by_model: bool = True


class Scale(NamedTuple):
    """Intercept and slope of the logit of what is right, by that of what is told (Platt scaling)."""

    intercept: float
    slope: float


TOLD_BY_MODEL = Scale(1.6, 1.4)
"""Fitted on 332 values of 24 documents, checked on 175 of 12 others (docs/quality.md)."""
NOT_LOCATED, NOT_IN_QUOTE, DENIED = -5.0, -3.0, -3.0
"""Set, not fitted, as there were too few: what a model gives is always to be reviewed if its words are not in the
document, if none of its quotes states the figure or date, or if they deny it."""
FIGURES = frozenset({"number", "money", "percentage", "date", "period"})
QUOTED_FOUND, QUOTED_ABSENT = Scale(0.4, 0.66), Scale(0.1, 0.26)
"""Of likelihoods over 47 documents, cross-validated and with each kind of document left out; with a margin, so that at
most one value in fifty is wrong and sure, also of a kind of document that nothing was fitted to."""
MOST = 0.99
"""More cannot be told from so few values."""


def confidence(evidence: Evidence) -> float:
    """Return the probability that a value, or its absence, is right."""
    is_found = evidence.state == "found"
    if evidence.by_model:
        score = _scaled(evidence.told, TOLD_BY_MODEL)
        if is_found:
            score += 0.0 if evidence.is_quoted else NOT_LOCATED
            score += NOT_IN_QUOTE if evidence.type in FIGURES and not evidence.is_typed else 0.0
            score += DENIED if evidence.support in (types.Support.CONTRADICTED, types.Support.NOT_STATED) else 0.0
    elif evidence.type == "records":  # there is a share of lists that are right, but no likelihood of one
        return evidence.told
    else:
        score = _scaled(evidence.told, QUOTED_FOUND if is_found else QUOTED_ABSENT)
    return min(1 / (1 + math.exp(-score)), MOST)


def _scaled(told: float, scale: Scale) -> float:
    told = min(max(told, 0.01), 0.99)
    return scale.intercept + scale.slope * math.log(told / (1 - told))
