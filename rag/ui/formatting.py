"""Text of documents and models, made safe to show.

Nothing in it may load a picture, follow a link or become HTML: documents are data, and a model that has
read a hostile one may try to send what it knows to somebody else's server.
"""

import datetime as dt
import re
from collections.abc import Callable, Sequence

from rag.export import inert_markdown
from rag.ui.language import _, current, either

_MARKDOWN_SPECIALS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$])")
_DIRECTIVE_OR_ADDRESS = re.compile("[:@]|www", re.IGNORECASE)
"""Where Streamlit sees an icon or a colour, and a bare address a link; an unseen word joiner after it prevents that."""
_SLOT = re.compile("\ue000(\\d+)\ue001")
"""Stands for something to be put in after rendering; these private-use characters are taken out of the text."""
_BLOCK = "<figure"
"""With what begins that is put in between paragraphs, never into one."""


def plain(text: str) -> str:
    """`text` for a label that Streamlit reads as Markdown, shown as it is."""
    inert = _DIRECTIVE_OR_ADDRESS.sub("\\g<0>\u2060", " ".join(text.split()))
    return _MARKDOWN_SPECIALS.sub(r"\\\1", inert)


def render(text: str, insert: Callable[[re.Match[str]], str | None] = lambda _: None, pattern: str = r"(?!)") -> str:
    """Markdown as HTML without links, pictures and foreign HTML.

    Each match of `pattern` in the text is handed to `insert`; the HTML it gives, which must be safe, takes the
    match's place, a figure between paragraphs. None leaves the match as text.
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
    """A number as the present language writes it: `1,234.5`."""
    from babel.numbers import format_decimal

    return format_decimal(value, f"#,##0.{'0' * decimals}" if decimals else "#,##0", current())


def percent(part: float) -> str:
    """A part of one in percent: `95%`."""
    from babel.numbers import format_percent

    return format_percent(part, locale=current())


def moment(at: dt.datetime, pattern: str) -> str:
    """A day and a time of day as the present language writes them; `pattern` is CLDR's."""
    from babel.dates import format_datetime

    return format_datetime(at, pattern, tzinfo=at.tzinfo, locale=current())


def size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one before the point."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{decimal(value, 0 if unit == 'B' or value >= 100 else 1)} {unit}"
        value /= 1000
    return f"{decimal(value, 1)} TB"


def plural(count: int, one: str, many: str, **others: object) -> str:
    """The message for so many things: `{count} page`, `{count} pages`; `others` stand in it, too."""
    return either(count, one, many).format(count=decimal(count), **others)


def done_of(done: int, total: int) -> str:
    """How far something is: `3 of 8`."""
    return _("{done} of {total}").format(done=decimal(done), total=decimal(total))


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: `a, b and c`."""
    *others, last = names
    return _("{others} and {last}").format(others=", ".join(others), last=last) if others else last
