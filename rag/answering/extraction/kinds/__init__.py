"""Kinds of questions whose answers can be recognised with certainty.

Each kind has a few patterns in English and German. What is not recognised is answered by the best candidate.
"""

from rag.answering.extraction.kinds.base import AskedKind
from rag.answering.extraction.kinds.companies import of_company
from rag.answering.extraction.kinds.labels import labelled, meaning, recurring_date
from rag.answering.extraction.kinds.people import of_person
from rag.answering.extraction.question_intent import ParsedQuestion

__all__ = ["AskedKind", "asked_kind"]


def asked_kind(question: ParsedQuestion) -> AskedKind:
    """Return what `question` asks for."""
    found = (recognise(question) for recognise in (of_person, of_company, meaning, recurring_date))
    return next((kind for kind in found if kind), labelled(question))
