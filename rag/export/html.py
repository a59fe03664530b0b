"""A report as HTML, of which PDF and DOCX are made.

Text of documents and models is data: nothing in it leads elsewhere.
"""

import functools
import html
from collections.abc import Iterator

import markdown_it

from rag.export.report import Claim, Evidence, Report, Turn, data_url
from rag.export.wording import made_from, when

_DISABLED_RULES = ["image", "link", "autolink", "html_inline", "html_block", "reference", "entity"]
"""What leads elsewhere, and character references: written with them, a citation of nothing would look like one."""
PICTURE_PX = 515
"""As wide as the text on A4 between its margins."""


@functools.cache
def inert_markdown() -> markdown_it.MarkdownIt:
    """Markdown without links, pictures and foreign HTML."""
    return markdown_it.MarkdownIt("commonmark", {"html": False}).enable("table").disable(_DISABLED_RULES)


def to_html(report: Report) -> str:
    """The whole report as a page; pictures stand in it as data."""
    body = "".join(part for turn in report.turns for part in _turn(turn))
    return (
        f'<!doctype html><html><head><meta charset="utf-8"></head><body>'
        f"<h1>{_text(report.title)}</h1><p><em>Taken along from Pagelight on {when(report.made_at)}</em></p>"
        f"{body}</body></html>"
    )


def _text(text: str) -> str:
    return html.escape(text, quote=True)


def _turn(turn: Turn) -> Iterator[str]:
    yield f"<h2>{_text(turn.question)}</h2>"
    if turn.understood:
        yield f"<p><em>Understood as: {_text(turn.understood)}</em></p>"
    yield inert_markdown().render(turn.answer)
    yield f"<p><em>{_text(turn.writer)}, {when(turn.at)}</em></p>"
    if turn.claims:
        yield "<h3>Evidence</h3>"
    for claim in turn.claims:
        yield from _claim(claim)
    if lines := [*made_from(turn)]:
        yield f"<h3>Made from</h3><ul>{''.join(f'<li>{_text(line)}</li>' for line in lines)}</ul>"


def _claim(claim: Claim) -> Iterator[str]:
    left_out = " (left out of the answer)" if claim.left_out else ""
    verdict = f" — {claim.verdict}{left_out}" if claim.verdict else ""
    yield f"<p><strong>{_text(claim.text)}</strong>{_text(verdict)}</p>"
    if claim.missing:
        yield f"<p>Not in the quoted words: {_text(', '.join(claim.missing))}</p>"
    for one in claim.evidence:
        yield from _evidence(one)


def _evidence(one: Evidence) -> Iterator[str]:
    yield f"<p><strong>[{_text(one.label)}]</strong> {_text(one.place)} — {one.judged}</p>"
    if one.quote:
        yield f"<blockquote><p>{_text(one.quote)}</p></blockquote>"
    for picture in one.pictures:
        yield f'<p><img src="{data_url(picture)}" width="{PICTURE_PX}" alt="{_text(one.place)}"></p>'
