"""A field as it is looked for in a document without a language model: its question, its words, and its claim."""

import re
from typing import NamedTuple

from rag.answering.extraction.question_intent import PRECISE, Kind, ParsedQuestion
from rag.answering.field_values import Value
from rag.answering.fields.document_units import DocumentUnits
from rag.answering.text import term_weights
from rag.types import FieldDefinition

_ASKING = re.compile(r"\s*(?:do|does|did|is|are|was|were|has|have|can|may|will)\s+(?=\w)", re.IGNORECASE)


class AskedField(NamedTuple):
    """A field, the question that its name and instruction are, the words of its name, and where it is looked for."""

    field: FieldDefinition
    question: ParsedQuestion
    name: tuple[str, ...]
    document: DocumentUnits

    @property
    def is_title(self) -> bool:
        """Whether it is the title of the document, which is told by its letters, not by what it says."""
        return self.field.type == "text" and self.question.kind is Kind.TITLE

    @property
    def is_precise(self) -> bool:
        """Whether a text field asks for one word of a certain form: an address of the net, a code."""
        example = self.field.example or ""
        is_code = len(example.split()) == 1 and any(map(str.isdigit, example))
        return self.field.type == "text" and (self.question.kind in PRECISE or is_code)


def query_of(field: FieldDefinition) -> str:
    """Return what is searched for: a field's name and its instruction."""
    return f"{field.name}: {field.instruction}" if field.instruction else field.name


def whether(field: FieldDefinition) -> str:
    """Return the question of a yes/no field."""
    asked = re.match(r"[^?]+\?", field.instruction or field.name)
    return asked[0] if asked else f"Is there {field.name}?"


def claim(field: FieldDefinition, value: Value) -> str:
    """Return the statement that a field has a value."""
    if field.type == "yes_no":
        asked = whether(field)
        verb = _ASKING.match(asked)
        said = asked[verb.end() if verb else 0 :].rstrip("? ")
        return f"{said}." if value.value else f"It is not the case that {said}."
    words = str(value.value) if field.type == "choice" else value.words
    return f"{field.name}: {words}."


def closeness_of(asked: AskedField, label: str) -> float:
    """Return how close a label is to the field's name, or to another way to say it (F1 of words by rarity)."""
    words = frozenset(term_weights.content_words(label))
    best = 0.0
    for phrase in (asked.name, asked.question.words, *asked.question.also):
        document = asked.document
        recall, precision = document.covered(phrase, words), document.covered([*words], frozenset(phrase))
        best = max(best, 2 * recall * precision / (recall + precision) if recall + precision else 0.0)
    return best
