"""The language of the pages: their words by gettext, and what was chosen.

Messages are the English ones. A language is a catalogue in `rag/locale`, which is compiled when it is first wanted, so
that an edit of it is all there is to do; `make messages` brings new messages into it. Documents, their names, answers
and quotes are never translated.
"""

import contextvars
import functools
import gettext
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "de": "Deutsch"}
"""The languages there are, by what each calls itself."""
SPOKEN = "language"
"""Where a session keeps the language that its user has chosen."""

_asked: contextvars.ContextVar[str | None] = contextvars.ContextVar("language", default=None)
"""The language of a request that no page makes."""


def current() -> str:
    """The language of what is said now: the user's choice, else the browser's, else English."""
    if asked := _asked.get():
        return asked
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    chosen: str | None = st.session_state.get(SPOKEN)
    return chosen if chosen in LANGUAGES else of_browser()


def of_browser() -> str:
    """The language of the browser, if it is one of ours."""
    return _offered(st.context.locale)


def _offered(tag: str | None) -> str:
    """What there is for a tag such as `de-AT`."""
    language = (tag or "").split("-")[0].lower()
    return language if language in LANGUAGES else ENGLISH


def speak(chosen: str | None) -> bool:
    """Speak what the user has chosen, None: as the browser, from now on. Whether that is another than before."""
    before = current()
    st.session_state[SPOKEN] = chosen
    return current() != before


@contextmanager
def spoken(tag: str | None) -> Iterator[None]:
    """Speak the language of a tag, as browsers send it, while a request is answered."""
    token = _asked.set(_offered(tag))
    try:
        yield
    finally:
        _asked.reset(token)


def _(message: str) -> str:
    """`message` in the present language."""
    return catalogue(current()).gettext(message) if message else ""


def N_(message: str) -> str:  # noqa: N802 - as gettext's users call it
    """`message` as it is: marked to be translated, which is done where it is shown."""
    return message


def either(count: int, one: str, many: str) -> str:
    """The message for so many, in the present language."""
    return catalogue(current()).ngettext(one, many, count)


def labelled(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a table (`st.column_config`) with their labels, explanations and dates in the present language."""
    return {name: _labelled(column) for name, column in columns.items()}


def _labelled(column: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {word: _(column[word]) for word in ("label", "help") if column.get(word)}
    kind = column.get("type_config") or {}
    if kind.get("type") == "datetime":
        said["type_config"] = {**kind, "format": _(kind["format"])}
    return {**column, **said}


@functools.cache
def catalogue(language: str) -> gettext.NullTranslations:
    """The messages of a language; of English there is nothing to be translated."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    source = files("rag").joinpath("locale", language, "LC_MESSAGES", "pagelight.po").read_bytes()
    compiled = io.BytesIO()
    write_mo(compiled, read_po(io.BytesIO(source), locale=language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)
