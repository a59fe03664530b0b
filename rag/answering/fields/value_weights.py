"""Weights of what speaks for a value, per kind of field, and of what speaks for none.

A conditional logit over the values that a document states and the alternative that none is right (McFadden, 1974), with
weights per kind of field drawn to common ones, fitted to 47 documents of seven kinds (docs/quality.md).
"""

from collections.abc import Mapping

from rag.answering.fields.value_features import Features
from rag.types import FieldType

_AMOUNT = Features(
    relevance=2.28,
    answers=1.66,
    proved=5.39,
    named=-0.69,
    covered=0.75,
    label=2.64,
    found=0.08,
    rank=1.0,
    unit=0.16,
    near=1.12,
    order=1.56,
    repeated=0.4,
    own=1.9,
    period=2.12,
    front=1.99,
    back=0.03,
    size=1.34,
    cell=-0.15,
    defined=1.14,
    extreme=0.97,
    span=1.55,
)
_DATE = Features(
    relevance=0.96,
    answers=1.53,
    proved=4.76,
    named=-1.18,
    covered=0.63,
    label=1.06,
    found=-0.59,
    rank=0.06,
    unit=0.04,
    near=1.46,
    order=0.86,
    repeated=-0.08,
    own=0.93,
    period=1.63,
    front=1.71,
    back=-0.76,
    length=0.89,
    defined=1.43,
    span=1.39,
)
_TEXT = Features(
    relevance=0.41,
    answers=2.89,
    proved=4.62,
    named=0.28,
    covered=0.73,
    label=1.34,
    found=-0.53,
    rank=0.71,
    near=1.24,
    order=-0.54,
    repeated=0.42,
    own=0.9,
    front=1.58,
    back=-0.55,
    characters=0.38,
    length=0.66,
    form=0.71,
    new=0.71,
    subject=1.72,
    title=1.19,
    kind=3.24,
    defined=2.49,
    span=2.4,
)
_CHOICE = Features(
    relevance=0.76,
    answers=2.67,
    proved=4.47,
    named=0.96,
    covered=0.69,
    label=1.14,
    found=0.32,
    rank=1.35,
    own=0.97,
    front=0.97,
    back=-0.21,
    kind=4.02,
)
_YES_NO = Features(
    relevance=2.06,
    answers=1.95,
    proved=4.83,
    named=1.3,
    covered=1.29,
    label=1.15,
    found=1.17,
    rank=1.34,
    own=0.97,
    front=0.48,
    back=-0.36,
    negated=0.96,
    is_yes=-0.82,
    denied=-0.69,
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
    "number": 6.22,
    "money": 6.22,
    "percentage": 6.22,
    "date": 4.32,
    "period": 4.32,
    "text": 3.24,
    "choice": 2.01,
    "yes_no": 1.68,
}
"""What speaks for the alternative that the field is not stated."""

REQUIRED: Mapping[FieldType, float] = {
    "number": -2.04,
    "money": -2.04,
    "percentage": -2.04,
    "date": -1.49,
    "period": -1.49,
    "text": -1.03,
    "choice": -2.66,
    "yes_no": -1.8,
}
"""The same of a field that every such document states."""
