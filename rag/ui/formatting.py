"""Format text, numbers and dates safely for display.

Text of documents and models is untrusted: it must not load pictures, follow links or become HTML, which could leak data
to another server.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from rag.export import inert_markdown
from rag.ui.language import _, current_language, ngettext

K = TypeVar("K")

_MARKDOWN_SPECIALS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$])")
_DIRECTIVE_OR_ADDRESS = re.compile("[:@]|www", re.IGNORECASE)
"""Characters that start Streamlit directives (icons, colours) or bare links; a word joiner after them disables both."""
_SLOT = re.compile("\ue000(\\d+)\ue001")
"""Placeholder for inserted HTML; its private-use characters are removed from the text first."""
_BLOCK = "<figure"
"""Inserted HTML that starts like this goes between paragraphs."""


def escape(text: str) -> str:
    """Escape `text` for a label that Streamlit renders as Markdown."""
    inert = _DIRECTIVE_OR_ADDRESS.sub("\\g<0>\u2060", " ".join(text.split()))
    return _MARKDOWN_SPECIALS.sub(r"\\\1", inert)


def render(text: str, insert: Callable[[re.Match[str]], str | None] = lambda _: None, pattern: str = r"(?!)") -> str:
    """Render Markdown as HTML without links, pictures or foreign HTML.

    Each match of `pattern` is passed to `insert`; the HTML it returns, which must be safe, replaces the match
    (figures go between paragraphs). None keeps the match as text.
    """
    inserts: list[str] = []

    def reserve(match: re.Match[str]) -> str:
        html = insert(match)
        if html is None:
            return match[0]
        inserts.append(html)
        slot = f"\ue000{len(inserts) - 1}\ue001"
        return f"\n\n{slot}\n\n" if html.startswith(_BLOCK) else slot

    source = re.sub(pattern, reserve, re.sub("[\ue000\ue001]", " ", text))
    rendered = inert_markdown().render(source)
    for number, html in enumerate(inserts):
        if html.startswith(_BLOCK):
            rendered = rendered.replace(f"<p>\ue000{number}\ue001</p>", html)
    return _SLOT.sub(lambda slot: inserts[int(slot[1])], rendered)


def decimal(value: float, decimals: int = 0) -> str:
    """Format a number in the current language: `1,234.5`."""
    from babel.numbers import format_decimal

    return format_decimal(value, f"#,##0.{'0' * decimals}" if decimals else "#,##0", current_language())


def percent(part: float) -> str:
    """Format a fraction as a percentage: `95%`."""
    from babel.numbers import format_percent

    return format_percent(part, locale=current_language())


def date_time(at: dt.datetime, pattern: str) -> str:
    """Format a date and time in the current language by a CLDR `pattern`."""
    from babel.dates import format_datetime

    return format_datetime(at, pattern, tzinfo=at.tzinfo, locale=current_language())


def local_time(at: dt.datetime) -> str:
    """Format a time of this machine's time zone: `4 Mar 2026, 08:05`."""
    return date_time(at.astimezone(), _("d MMM y, HH:mm"))


def file_size(count: int) -> str:
    """Format a number of bytes in the largest unit with at least one digit before the point."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{decimal(value, 0 if unit == 'B' or value >= 100 else 1)} {unit}"
        value /= 1000
    return f"{decimal(value, 1)} TB"


def plural(count: int, one: str, many: str, **others: object) -> str:
    """Return the singular or plural message for a count: `{count} page`, `{count} pages`."""
    return ngettext(count, one, many).format(count=decimal(count), **others)


def n_documents(count: int) -> str:
    """Return `1 document`, `2 documents`."""
    return plural(count, "{count} document", "{count} documents")


def n_chunks(count: int) -> str:
    """Return `1 chunk`, `2 chunks`."""
    return plural(count, "{count} chunk", "{count} chunks")


def n_files(count: int) -> str:
    """Return `1 file`, `2 files`."""
    return plural(count, "{count} file", "{count} files")


def n_pages(count: int) -> str:
    """Return `1 page`, `2 pages`."""
    return plural(count, "{count} page", "{count} pages")


def progress_text(done: int, total: int) -> str:
    """Format progress: `3 of 8`."""
    return _("{done} of {total}", done=decimal(done), total=decimal(total))


def distinct(names: Mapping[K, str]) -> dict[K, str]:
    """Number names that occur again: `Matrix`, `Matrix (2)`. A list of options tells them apart by their text only."""
    labels: dict[str, K] = {}
    for key, name in names.items():
        label, number = name, 1
        while label in labels:
            number += 1
            label = f"{name} ({number})"
        labels[label] = key
    return {key: label for label, key in labels.items()}


def join_names(names: Sequence[str]) -> str:
    """Join names for a sentence: `a, b and c`."""
    *others, last = names
    return _("{others} and {last}", others=", ".join(others), last=last) if others else last
