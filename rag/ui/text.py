"""Text of documents and models, made safe to show.

Nothing in it may load a picture, follow a link or become HTML: documents are data, and a model that has
read a hostile one may try to send what it knows to somebody else's server.
"""

import functools
import re
from collections.abc import Callable

import markdown_it

_MARKDOWN_SPECIALS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$])")
_DIRECTIVE_OR_ADDRESS = re.compile("[:@]|www", re.IGNORECASE)
"""Where Streamlit sees an icon or a colour, and a bare address a link; an unseen word joiner after it prevents that."""
_DISABLED_RULES = ["image", "link", "autolink", "html_inline", "html_block", "reference", "entity"]
"""What leads elsewhere, and character references: written with them, a citation of nothing would look like one."""
_SLOT = re.compile("\ue000(\\d+)\ue001")
"""Stands for something to be put in after rendering; these private-use characters are taken out of the text."""
_BLOCK = "<figure"
"""With what begins that is put in between paragraphs, never into one."""


def plain(text: str) -> str:
    """`text` for a label that Streamlit reads as Markdown, shown as it is."""
    inert = _DIRECTIVE_OR_ADDRESS.sub("\\g<0>\u2060", " ".join(text.split()))
    return _MARKDOWN_SPECIALS.sub(r"\\\1", inert)


@functools.cache
def _markdown() -> markdown_it.MarkdownIt:
    return markdown_it.MarkdownIt("commonmark", {"html": False}).enable("table").disable(_DISABLED_RULES)


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
    rendered = _markdown().render(source)
    for number, html in enumerate(inserts):
        if html.startswith(_BLOCK):
            rendered = rendered.replace(f"<p>\ue000{number}\ue001</p>", html)
    return _SLOT.sub(lambda slot: inserts[int(slot[1])], rendered)


def size(count: int) -> str:
    """Bytes in the largest unit that leaves at least one before the point."""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def plural(count: int, noun: str) -> str:
    """A count and its noun: `1 page`, `2 pages`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
