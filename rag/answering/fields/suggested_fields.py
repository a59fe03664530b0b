"""Suggest fields from a sample document: its labelled values and rows, or what a language model names in it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import pydantic

from rag import prompts, types, vocabulary
from rag.answering.extraction.key_facts import KeyFact
from rag.answering.field_values.values import values_in
from rag.answering.fields.checked_values import Quotes
from rag.answering.passages.labelled_values import labelled_values
from rag.answering.passages.statements import words_at
from rag.answering.passages.table_text import declared_scales
from rag.answering.text.json_replies import TEXT, closed_object, list_of, read_list
from rag.ingestion.subjects import FRONT_PAGES

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import ChatMessage

MAX_SUGGESTED = 20
MAX_LABELLED = 12
"""Labelled values that are suggested beside the fields of a template."""
MAX_LABEL_WORDS = 6
MAX_TEXT_WORDS = 8
"""Words of a value that is text; more are a sentence."""
SHORT_PAGES = 5
"""Pages of a document all of which are read for labels of text, such as an invoice."""
MAX_REPEATS = 2
"""How often a label stands in a document; one that stands more often is a mark, such as "Note:", or of an item."""

_IDENTIFIES = re.compile(
    r"\b(?:no|nr|number|nummer|id|code|plz|zip|iban|bic|phone|telephone|fax|telefon)\b\.?(?!\s+of\b)", re.IGNORECASE
)
"""A label of figures that are no numbers to calculate with."""
_YES_NO = frozenset({"yes", "no", "ja", "nein"})
_TYPES: Sequence[types.ColumnType] = ("percentage", "money", "date", "period", "number")


class _Found(NamedTuple):
    """A label and its value."""

    name: str
    words: str
    type: types.ColumnType
    page_number: int


def labelled_fields(pages: Sequence[types.Hit], facts: Iterable[KeyFact]) -> list[types.SuggestedField]:
    """Return a field for each label of a document that has a value beside or above it, and for its telling rows.

    Labels of text count on the first pages and in short documents only: elsewhere many begin a paragraph.
    """
    found = [*_labelled(pages), *_rows(facts)]
    counts = Counter(one.name.casefold() for one in found)
    suggested: dict[str, types.SuggestedField] = {}
    for one in found:
        is_inside = one.page_number > FRONT_PAGES and len(pages) > SHORT_PAGES
        if one.type == "text" and (is_inside or not _is_short(one.words)):
            continue
        if counts[one.name.casefold()] > MAX_REPEATS or len(one.name.split()) > MAX_LABEL_WORDS:
            continue
        if vocabulary.references(one.name):  # "Table 1: …"
            continue
        try:
            field = types.FieldDefinition.model_validate({"name": one.name, "type": one.type})
        except pydantic.ValidationError:
            continue
        suggestion = types.SuggestedField(field=field, words=one.words, page_number=one.page_number)
        suggested.setdefault(one.name.casefold(), suggestion)
    return [*suggested.values()][:MAX_LABELLED]


def _is_short(words: str) -> bool:
    plain = types.without_raised_marks(words)
    return 0 < len(plain.split()) <= MAX_TEXT_WORDS and ":" not in plain and any(map(str.isalnum, plain))


def _labelled(pages: Iterable[types.Hit]) -> Iterator[_Found]:
    for hit in pages:
        if plain := hit.of_kinds(types.PAGE_TEXT):
            passage = plain.passage
            for labelled in labelled_values(passage):
                words = " ".join(passage.text[slice(*labelled.unit.span)].split())
                name = " ".join(labelled.label.split()).rstrip(" :.")
                page = passage.lines_of(*labelled.unit.span)[0].page_number
                yield _Found(name, words, guessed_type(name, words), page)


def _rows(facts: Iterable[KeyFact]) -> Iterator[_Found]:
    """Yield rows of figures; those of a statement whose caption says in what it is are amounts of money."""
    for fact in facts:
        if fact.unit.cells:
            text = fact.chunk.text
            words, name = words_at(text, fact.unit.cells[0].span), words_at(text, fact.unit.label).rstrip(" :.")
            kind = guessed_type(name, words)
            is_money = kind == "number" and declared_scales(words_at(text, fact.unit.caption))
            yield _Found(name, words, "money" if is_money else kind, fact.page_number)


def guessed_type(label: str, words: str) -> types.ColumnType:
    """Return the type of a value: that which all of its words are one value of, else text."""
    text = words.strip(" .;")
    if text.casefold() in _YES_NO:
        return "yes_no"
    for kind in _TYPES:
        if kind == "number" and _IDENTIFIES.search(label):
            continue
        stated = values_in(text, kind)
        is_whole = len(stated) == 1 and not f"{text[: stated[0].start]}{text[stated[0].end :]}".strip(" .,()")
        if is_whole and (stated[0].unit or kind not in ("percentage", "money")):
            return kind
    return "text"


# --- with a language model ---

_KINDS = get_args(types.ColumnType)
_COLUMN = {"name": TEXT, "type": {**TEXT, "enum": [*_KINDS]}, "unit": TEXT, "choices": list_of(TEXT)}
_FIELD = closed_object(
    {
        **_COLUMN,
        "type": {**TEXT, "enum": [*_KINDS, "records"]},
        "instruction": TEXT,
        "columns": list_of(closed_object(_COLUMN)),
        "source": TEXT,
        "words": TEXT,
    }
)
REPLY_SCHEMA = closed_object({"fields": list_of(_FIELD)})
"""The reply to `prompts.SUGGEST_FIELDS_SYSTEM`, where a server takes a schema."""


def suggestion_messages(sources: str, usual: types.FieldTemplate | None) -> "list[ChatMessage]":
    """Return the instructions, and the `sources`, which are from one document, with the fields that are `usual`."""
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    names = "; ".join(field.name for field in usual.fields) if usual else "-"
    user = prompts.SUGGEST_FIELDS_USER.format(context=sources, usual=names, count=MAX_SUGGESTED)
    return [
        ChatMessage(role=MessageRole.SYSTEM, content=prompts.SUGGEST_FIELDS_SYSTEM),
        ChatMessage(role=MessageRole.USER, content=user),
    ]


def read_suggestions(reply: str, sources: Mapping[str, types.Hit]) -> list[types.SuggestedField]:
    """Return the fields of a reply whose words stand in their source; what is wrong with one leaves the others."""
    suggested: dict[str, types.SuggestedField] = {}
    for row in read_list(reply, "fields"):
        try:
            one = _Suggestion.model_validate(row)
            field = one.definition()
        except pydantic.ValidationError:
            continue
        hit = sources.get(one.source.strip("[] "))
        if hit is None or not one.words.strip() or not Quotes([(hit.passage.text, "")]).have(one.words):
            continue
        suggested.setdefault(
            field.name.casefold(),
            types.SuggestedField(field=field, words=" ".join(one.words.split()), page_number=_page(hit, one.words)),
        )
    return [*suggested.values()][:MAX_SUGGESTED]


class _SuggestedColumn(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="ignore", frozen=True)

    name: str
    type: str = "text"
    unit: str | None = None
    choices: tuple[str, ...] = ()

    def values(self) -> dict[str, Any]:
        """Return the values of a column; a choice of nothing is text."""
        choices = tuple(dict.fromkeys(filter(None, map(str.strip, self.choices))))
        kind = "text" if self.type == "choice" and len(choices) < 2 else self.type
        return {
            "name": self.name,
            "type": kind,
            "unit": (self.unit or "").strip() or None,
            "choices": choices if kind == "choice" else (),
        }


class _Suggestion(_SuggestedColumn):
    instruction: str = ""
    columns: tuple[_SuggestedColumn, ...] = ()
    source: str
    words: str

    def definition(self) -> types.FieldDefinition:
        """Return it as a field. Raises pydantic's ValidationError."""
        columns = [column.values() for column in self.columns] if self.type == "records" else []
        return types.FieldDefinition.model_validate(
            {**self.values(), "instruction": self.instruction, "columns": tuple(columns)}
        )


def _page(hit: types.Hit, words: str) -> int:
    """Return the page of the source's line that has the words, else its first."""
    lines = hit.passage.lines
    return next((line.page_number for line in lines if Quotes([(line.text, "")]).have(words)), lines[0].page_number)
