"""The language of the pages: gettext translations and the user's choice.

Message ids are the English texts. A language is a catalogue in `rag/locale` that is compiled on first use; `make
messages` adds new messages to it. Documents, their names, answers and quotes are never translated.
"""

import contextvars
import functools
import gettext
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from rag.messages import N_ as N_  # noqa: PLC0414  # the pages import it with `_`

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "de": "Deutsch"}
"""Supported languages by their own names."""
ENGINE = "engine"
"""Comment in the catalogues on messages that are made below the pages."""
LANGUAGE_KEY = "language"
"""Session key of the language that the user has chosen."""

_request_language: contextvars.ContextVar[str | None] = contextvars.ContextVar("language", default=None)
"""Language of a request that is made outside a page."""


def current_language() -> str:
    """Return the user's language, else the browser's, else English."""
    if asked := _request_language.get():
        return asked
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    chosen: str | None = st.session_state.get(LANGUAGE_KEY)
    return chosen if chosen in LANGUAGES else browser_language()


def browser_language() -> str:
    """Return the browser's language if it is supported, else English."""
    return _supported(st.context.locale)


def _supported(tag: str | None) -> str:
    """Return the supported language of a tag such as `de-AT`, else English."""
    language = (tag or "").split("-")[0].lower()
    return language if language in LANGUAGES else ENGLISH


def set_language(chosen: str | None) -> bool:
    """Set the user's language (None: the browser's) and return whether the language changed."""
    before = current_language()
    st.session_state[LANGUAGE_KEY] = chosen
    return current_language() != before


@contextmanager
def use_language(tag: str | None) -> Iterator[None]:
    """Use the language of a tag, as sent by browsers, while answering a request."""
    token = _request_language.set(_supported(tag))
    try:
        yield
    finally:
        _request_language.reset(token)


def _(message: str, /, **fields: object) -> str:
    """Translate a message into the current language and fill its `{fields}`."""
    translation = catalog(current_language()).gettext(message) if message else ""
    return translation.format(**fields) if fields else translation


def ngettext(count: int, one: str, many: str) -> str:
    """Return the message for a count in the current language."""
    return catalog(current_language()).ngettext(one, many, count)


def translate_columns(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Translate the labels, help texts and date formats of `st.column_config` columns."""
    translated = {}
    for name, column in columns.items():
        texts: dict[str, Any] = {field: _(column[field]) for field in ("label", "help") if column.get(field)}
        kind = column.get("type_config") or {}
        if kind.get("type") == "datetime":
            texts["type_config"] = {**kind, "format": _(kind["format"])}
        translated[name] = {**column, **texts}
    return translated


@functools.cache
def catalog(language: str) -> gettext.NullTranslations:
    """Return the messages of a language; English needs none."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo

    compiled = io.BytesIO()
    write_mo(compiled, _read_catalog(language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def engine_messages(language: str) -> list[str]:
    """Return the English messages made below the pages, which a language translates."""
    return [str(message.id) for message in _read_catalog(language) if ENGINE in message.auto_comments]


@functools.cache
def _read_catalog(language: str) -> "Catalog":
    from babel.messages.pofile import read_po

    source = files("rag").joinpath("locale", language, "LC_MESSAGES", "pagelight.po").read_bytes()
    return read_po(io.BytesIO(source), locale=language)
