"""Weights of what speaks for a value, per kind of field, and of what speaks for none.

A conditional logit over the values that a document states and the alternative that none is right (McFadden, 1974), with
weights per kind of field drawn to common ones, fitted to 24 documents of three kinds that are not part of the tests.
"""

from collections.abc import Mapping

from rag.answering.fields.value_candidates import Features
from rag.types import FieldType

_AMOUNT = Features(
    relevance=3.34,
    answers=1.31,
    proved=5.08,
    named=-1.2,
    covered=0.95,
    label=2.59,
    found=0.81,
    rank=1.71,
    unit=1.17,
    near=0.17,
    order=2.23,
    repeated=0.78,
    own=2.01,
    period=2.05,
    front=1.08,
    back=-1.08,
    size=1.94,
    cell=-0.57,
)
_DATE = Features(
    relevance=2.53,
    answers=1.22,
    proved=3.91,
    named=-1.03,
    covered=0.59,
    label=1.43,
    found=0.64,
    rank=1.05,
    unit=0.26,
    near=0.52,
    order=0.79,
    repeated=0.09,
    own=0.84,
    period=1.44,
    front=2.14,
    back=-1.16,
    length=1.61,
)
_TEXT = Features(
    relevance=1.86,
    answers=2.4,
    proved=4.49,
    named=-0.01,
    covered=0.5,
    label=1.36,
    found=1.46,
    rank=1.34,
    near=1.39,
    order=-0.22,
    repeated=-0.03,
    own=1.01,
    front=1.53,
    back=-1.32,
    characters=0.87,
    length=0.53,
    form=1.38,
    new=1.42,
    subject=1.26,
    title=1.43,
    kind=3.3,
)
_CHOICE = Features(
    relevance=1.99,
    answers=1.97,
    proved=3.9,
    named=0.16,
    covered=0.79,
    label=1.37,
    found=0.67,
    rank=0.65,
    own=0.93,
    front=0.84,
    back=-1.15,
    kind=4.49,
)
_YES_NO = Features(
    relevance=2.52,
    answers=1.55,
    proved=3.98,
    named=0.28,
    covered=0.87,
    label=1.31,
    found=1.31,
    rank=1.24,
    own=0.91,
    front=0.27,
    back=-1.15,
    negated=1.01,
    is_yes=-0.67,
    denied=-0.25,
)

WEIGHTS: Mapping[FieldType, Features] = {
    "number": _AMOUNT,
    "money": _AMOUNT,
    "percentage": _AMOUNT,
    "date": _DATE,
    "period": _DATE,
    "text": _TEXT,
    "choice": _CHOICE,
    "yes_no": _YES_NO,
}

ABSENT: Mapping[FieldType, float] = {
    "number": 8.42,
    "money": 8.42,
    "percentage": 8.42,
    "date": 4.31,
    "period": 4.31,
    "text": 4.85,
    "choice": 0.87,
    "yes_no": 1.62,
}
"""What speaks for the alternative that the field is not stated."""

REQUIRED = -0.94
"""The same of a field that every such document states."""
