"""Write a report as HTML, the source of PDF and DOCX.

Text of documents and models is untrusted: links, pictures and HTML in it are disabled.
"""

import functools
import html
from collections.abc import Iterator

import markdown_it
from markdown_it.rules_core import StateCore

from rag.export.labels import EVIDENCE, MADE_FROM, Labels
from rag.export.report import Claim, Evidence, Report, Turn, data_url

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
    body = "".join(part for turn in report.turns for part in _turn(turn, words))
    return (
        f'<!doctype html><html><head><meta charset="utf-8"></head><body>'
        f"<h1>{_text(report.title)}</h1><p><em>{_text(words.exported_at(report))}</em></p>"
        f"{body}</body></html>"
    )


def _text(text: str) -> str:
    return html.escape(text, quote=True)


def _turn(turn: Turn, words: Labels) -> Iterator[str]:
    yield f"<h2>{_text(turn.question)}</h2>"
    if turn.understood:
        yield f"<p><em>{_text(words.understood(turn))}</em></p>"
    yield inert_markdown(strikes=True).render(words.answer(turn))
    if turn.summary:
        yield f"<p><strong>{_text(turn.summary)}</strong></p>"
    yield f"<p><em>{_text(words.writer(turn))}</em></p>"
    if turn.claims:
        yield f"<h3>{_text(words.say(EVIDENCE))}</h3>"
    for claim in turn.claims:
        yield from _claim(claim, words)
    if lines := [*words.made_from(turn)]:
        listed = "".join(f"<li>{_text(line)}</li>" for line in lines)
        yield f"<h3>{_text(words.say(MADE_FROM))}</h3><ul>{listed}</ul>"


def _claim(claim: Claim, words: Labels) -> Iterator[str]:
    text = f"<s>{_text(claim.text)}</s>" if claim.struck else _text(claim.text)
    yield f"<p><strong>{text}</strong> {_text(words.judgement(claim))}</p>"
    for one in claim.evidence:
        yield from _evidence(one, words)


def _evidence(one: Evidence, words: Labels) -> Iterator[str]:
    yield f"<p><strong>[{_text(one.label)}]</strong> {_text(words.place(one))}</p>"
    if one.quote:
        yield f"<blockquote><p>{_text(one.quote)}</p></blockquote>"
    for picture in one.pictures:
        yield f'<p><img src="{data_url(picture)}" width="{PICTURE_PX}" alt="{_text(words.place(one))}"></p>'
