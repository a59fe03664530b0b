"""What a question of a known kind asks for, and the words of questions and labels."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag import types
from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.labelled_values import labelled_values
from rag.answering.passages.quotable_units import Unit
from rag.answering.text import term_weights

NO_WORDS = frozenset[str]()

_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_NO = re.compile(r"\bno\.|\bNr\.", re.IGNORECASE)
_PLACE_WORDS = term_weights.word_set("cover page compan regist firm listed given stated docume form report filing")
"""Stems of a question's words that say of whom or where, not what."""


class AskedKind:
    """A kind of question; this one is any question, which no unit certainly answers."""

    is_each_documents_own = False
    """Whether each document answers it for its own company, as who audits it and where it has its seat."""

    def units(self, hit: types.Hit) -> Iterable[Unit]:  # noqa: ARG002
        """Return units of a hit that are read for this kind only, such as signatures."""
        return ()

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:  # noqa: ARG002
        """Return whether a unit with the displayed `text` certainly answers."""
        return False

    def may_answer(self, text: str) -> bool:  # noqa: ARG002
        """Return whether `text` can answer at all."""
        return True


@dataclass(frozen=True)
class StatedKind(AskedKind):
    """Asks for what a sentence of the pattern `sentence` states, with all `words`, or a value labelled so states.

    A value is labelled so if its label matches `label`.
    """

    sentence: re.Pattern[str] | None = None
    words: frozenset[str] = NO_WORDS
    label: re.Pattern[str] | None = None
    is_each_documents_own: bool = False

    def units(self, hit: types.Hit) -> Iterable[Unit]:
        """Return the values with the label that is asked for."""
        return (pair.unit for pair in labelled_values(hit.passage) if self._is_label(pair.label))

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:  # noqa: ARG002
        """Return whether a unit is such a value or sentence."""
        if unit.header is not None and unit.header == unit.label:
            return True
        if self.sentence is None or unit.cells:
            return False
        return self.words <= {*term_weights.words(text)} and self.sentence.search(text) is not None

    def _is_label(self, label: str) -> bool:
        return self.label is not None and self.label.search(label) is not None


def own_words(question: ParsedQuestion) -> frozenset[str]:
    """Return the words of a question that say what it asks, not of whom or where."""
    names = {*term_weights.words(" ".join(question.names))}
    words = label_words(question.text)
    return frozenset(word for word in words if len(word) > 1 and word not in _PLACE_WORDS | names)


def label_words(text: str) -> list[str]:
    """Return the comparable words of a label, with abbreviations spelled alike."""
    text = _DOTTED.sub(lambda match: match[0].replace(".", ""), text)
    text = re.sub(r"\bID\b", "identification number", _NO.sub("number", text))
    return term_weights.content_words(text)
