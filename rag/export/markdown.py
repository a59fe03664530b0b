"""Write a report as Markdown, plain text, or HTML, the source of PDF and DOCX.

Text of documents and models is untrusted: links, pictures and HTML in it are disabled.
"""

import functools
import html
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import markdown_it
from markdown_it.rules_core import StateCore

from rag.export.labels import EVIDENCE, MADE_FROM, Labels
from rag.export.report import STRIKE, Claim, Evidence, Report, data_url, without_strikes

_SPECIALS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$&])")
_ACTIVE_MARKUP = re.compile(r"(?P<mark>(?-i:\[S\d+[a-z]?\]))|[<\[\]&]|(?<=:)//|www(?=\.)", re.IGNORECASE)
"""A citation mark, or the beginning of HTML, links, pictures, character references and bare URLs."""
_DISABLED_RULES = ["image", "link", "autolink", "html_inline", "html_block", "reference", "entity"]
"""Links, pictures, HTML, and character references, which could fake citation marks."""
PICTURE_PX = 515
"""The text width of A4."""


class Picture(NamedTuple):
    """A picture of a quote, and the place that it shows."""

    png: bytes
    place: str


def to_markdown(report: Report, words: Labels) -> str:
    """Write the whole report, with pictures as data URLs at the end."""
    names: dict[bytes, str] = {}
    parts: list[str] = []
    for block in blocks(report, words, inert):
        if isinstance(block, str):
            parts.append(block)
        else:
            name = names.setdefault(block.png, f"picture-{len(names) + 1}")
            parts.append(f"![{_plain(block.place)}][{name}]")
    parts += [f"[{name}]: {data_url(png)}" for png, name in names.items()]
    return "\n\n".join(parts) + "\n"


def to_text(report: Report, words: Labels) -> str:
    """Write question, answer and evidence as plain text."""
    parts: list[str] = []
    for turn in report.turns:
        parts += [turn.question, without_strikes(words.answer(turn)), turn.summary]
        for evidence in turn.evidence:
            quote = f": “{' '.join(evidence.quote.split())}”" if evidence.quote else ""
            parts.append(f"[{evidence.label}] {words.place(evidence)}{quote}")
    return "\n\n".join(filter(None, parts)) + "\n"


def to_clipping(report: Report, words: Labels) -> str:
    """Write question, answer and evidence as short Markdown for the clipboard."""
    parts: list[str] = []
    for turn in report.turns:
        parts += [f"**{_plain(turn.question)}**", inert(words.answer(turn)), _plain(turn.summary)]
        quotes = [(evidence, f": “{_plain(evidence.quote)}”" if evidence.quote else "") for evidence in turn.evidence]
        parts.append("\n".join(f"- {_cited(evidence, words)}{quote}" for evidence, quote in quotes))
    return "\n\n".join(filter(None, parts)) + "\n"


def blocks(report: Report, words: Labels, defuse: Callable[[str], str]) -> Iterator[str | Picture]:
    """Yield the report's headings, paragraphs and lists in Markdown, and its pictures; `defuse` rewrites answers."""
    yield f"# {_plain(report.title)}"
    yield f"*{words.exported_at(report)}*"
    for turn in report.turns:
        yield f"## {_plain(turn.question)}"
        if turn.understood:
            yield f"*{_plain(words.understood(turn))}*"
        yield defuse(words.answer(turn))
        if turn.summary:
            yield f"**{_plain(turn.summary)}**"
        yield f"*{_plain(words.writer(turn))}*"
        if turn.claims:
            yield f"### {words.say(EVIDENCE)}"
        for claim in turn.claims:
            yield from _claim(claim, words)
        if lines := [*words.made_from(turn)]:
            yield f"### {words.say(MADE_FROM)}"
            yield "\n".join(f"- {_plain(line)}" for line in lines)


def _claim(claim: Claim, words: Labels) -> Iterator[str | Picture]:
    text = f"{STRIKE}{_plain(claim.text)}{STRIKE}" if claim.struck else _plain(claim.text)
    yield f"**{text}** {_plain(words.judgement(claim))}"
    for evidence in claim.evidence:
        yield _cited(evidence, words)
        if evidence.quote:
            yield "\n".join(f"> {_plain(line)}" for line in evidence.quote.splitlines())
        yield from (Picture(png, words.place(evidence)) for png in evidence.pictures)


def _cited(evidence: Evidence, words: Labels) -> str:
    return f"**[{evidence.label}]** {_plain(words.place(evidence))}"


def _plain(text: str) -> str:
    """Escape text for Markdown."""
    return _SPECIALS.sub(r"\\\1", " ".join(text.split()))


def inert(markdown: str) -> str:
    """Escape active markup in a model's Markdown, except citation marks."""
    return _ACTIVE_MARKUP.sub(_escaped, markdown)


def _escaped(match: re.Match[str]) -> str:
    if match["mark"]:
        return match[0]
    return f"\\{match[0]}" if len(match[0]) == 1 else f"\u2060{match[0]}"


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
