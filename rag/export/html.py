"""Write a report as HTML, the source of PDF and DOCX.

Text of documents and models is untrusted: links, pictures and HTML in it are disabled.
"""

import functools
import html

import markdown_it
from markdown_it.rules_core import StateCore

from rag.export.labels import Labels
from rag.export.markdown import Picture, blocks
from rag.export.report import Report, data_url

_DISABLED_RULES = ["image", "link", "autolink", "html_inline", "html_block", "reference", "entity"]
"""Links, pictures, HTML, and character references, which could fake citation marks."""
PICTURE_PX = 515
"""The text width of A4."""


@functools.cache
def inert_markdown(*, strikes: bool = False) -> markdown_it.MarkdownIt:
    """Return a Markdown parser without links, pictures and HTML, which keeps the numbers of list items as written.

    With `strikes`, it reads what stands between ~~ as struck through.
    """
    rules = ["table", "strikethrough"] if strikes else ["table"]
    parser = markdown_it.MarkdownIt("commonmark", {"html": False}).enable(rules).disable(_DISABLED_RULES)
    parser.core.ruler.push("written_numbers", _keep_numbers)
    return parser


def _keep_numbers(state: StateCore) -> None:
    """Number list items as written: of a quoted list, items 2 and 6 may be shown."""
    for token in state.tokens:
        if token.type == "list_item_open" and token.info:
            token.attrSet("value", token.info)


def to_html(report: Report, words: Labels) -> str:
    """Write the report as an HTML page with embedded pictures."""
    parser = inert_markdown(strikes=True)
    # Each block is parsed by itself, so that an answer with an open code block swallows nothing that follows.
    body = "".join(
        _picture(block) if isinstance(block, Picture) else parser.render(block) for block in blocks(report, words, str)
    )
    return f'<!doctype html><html><head><meta charset="utf-8"></head><body>{body}</body></html>'


def _picture(picture: Picture) -> str:
    alt = html.escape(picture.place, quote=True)
    return f'<p><img src="{data_url(picture.png)}" width="{PICTURE_PX}" alt="{alt}"></p>'
