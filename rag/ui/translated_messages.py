"""Translate the engine's messages for the pages.

The engine speaks English, to programs too, and the database keeps its sentences. They are recognised by the message ids
of the language's catalogue; unknown ones are shown unchanged.
"""

import datetime as dt
import functools
import re
import string
from collections.abc import Mapping

from rag import errors
from rag.ui.formatting import date_time, decimal
from rag.ui.language import ENGLISH, N_, _, current_language, engine_messages

TERMS = (
    *(N_("Member"), N_("Curator"), N_("Admin")),
    *(N_("Valid"), N_("Expired"), N_("Revoked")),
    *(N_("Reindex"), N_("Sync"), N_("Matrix")),
    *(N_("reindex"), N_("sync"), N_("matrix")),
    *(N_("Queued"), N_("Running"), N_("Done"), N_("Failed"), N_("Cancelled")),
    *(N_("likely"), N_("unsure")),
    *(N_("Embedding"), N_("Answers"), N_("Reranking")),
    *(N_("embedding"), N_("renewing"), N_("pictures"), N_("jobs")),
    *(N_("user"), N_("group")),
    *(N_("quoted"), N_("supported"), N_("partly"), N_("not_stated"), N_("not_verified"), N_("contradicted")),
    N_("uncited"),
    *(N_("Periods"), N_("Vocabulary"), N_("Landmarks"), N_("Routing")),
)
"""Values of the engine's enumerations, which pages translate where they show them."""

_FIELD = re.compile(r"\{\w+\}")
_NUMERIC_FIELDS = {
    *("done", "total", "kept", "taken", "count", "limit", "size", "page", "rank", "score", "least", "seconds"),
    *("used", "quota", "left", "needed", "dimensions", "tokens"),
}
"""Fields that hold quantities; others, such as labels, names and years, stay unchanged."""
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")


def translate_error(error: errors.Error) -> str:
    """Translate the message of an error."""
    return _fill(error.template, error.fields) if error.fields else translate_message(error.message)


def translate_message(sentence: str) -> str:
    """Translate an engine message if it is known; otherwise return it unchanged."""
    language = current_language()
    if language == ENGLISH or not sentence:
        return sentence
    if (translation := _(sentence)) != sentence:
        return translation
    if _TIMESTAMP.fullmatch(sentence):
        return date_time(dt.datetime.fromisoformat(sentence.replace(" UTC", "+00:00")), _("d MMM y, HH:mm")) + " UTC"
    for message, pattern in _patterns(language):
        if match := pattern.fullmatch(sentence):
            return _fill(message, match.groupdict())
    return "\n".join(map(translate_message, sentence.split("\n"))) if "\n" in sentence else sentence


def _fill(message: str, fields: Mapping[str, object]) -> str:
    """Translate a message, its number fields, and the fields that are messages themselves."""
    texts = {}
    for name, value in fields.items():
        text = str(value)
        if name[0] == "_":
            text = translate_message(text)
        elif name in _NUMERIC_FIELDS and (number := _NUMBER.fullmatch(text)):
            text = decimal(float(text.replace(",", "")), len(number[2] or ""))
        texts[name] = text
    return _(message).format(**texts)


@functools.cache
def _patterns(language: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the messages with fields and what they match, those with the most words of their own first."""
    messages = [message for message in engine_messages(language) if _FIELD.search(message)]
    messages.sort(key=lambda message: (-len(_FIELD.sub("", message)), message))
    return [(message, _pattern(message)) for message in messages]


def _pattern(message: str) -> re.Pattern[str]:
    """Return what a message with fields matches; a field that comes again matches the same."""
    fields: set[str] = set()
    pattern = ""
    for literal, field, _spec, _conversion in string.Formatter().parse(message):
        pattern += re.escape(literal)
        if field:
            value = r"\S+?" if field in _NUMERIC_FIELDS - {"page"} else ".+?"  # pages may have labels
            pattern += f"(?P={field})" if field in fields else f"(?P<{field}>{value})"
            fields.add(field)
    return re.compile(pattern, re.DOTALL)
