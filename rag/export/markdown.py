"""Write a report as Markdown or plain text."""

import re
from collections.abc import Iterator

from rag.export.labels import EVIDENCE, MADE_FROM, Labels
from rag.export.report import STRIKE, Claim, Evidence, Report, Turn, data_url, without_strikes

_SPECIALS = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$&])")
_ACTIVE_MARKUP = re.compile(r"(?P<mark>(?-i:\[S\d+[a-z]?\]))|[<\[\]&]|(?<=:)//|www(?=\.)", re.IGNORECASE)
"""A citation mark, or the beginning of HTML, links, pictures, character references and bare URLs."""


def to_markdown(report: Report, words: Labels) -> str:
    """Write the whole report, with pictures as data URLs at the end."""
    pictures: dict[str, bytes] = {}
    lines = [f"# {_plain(report.title)}", f"*{words.exported_at(report)}*"]
    for turn in report.turns:
        lines += _turn(turn, words, pictures)
    lines += [f"[{name}]: {data_url(picture)}" for name, picture in pictures.items()]
    return "\n\n".join(lines) + "\n"


def to_text(report: Report, words: Labels) -> str:
    """Write question, answer and evidence as plain text."""
    parts: list[str] = []
    for turn in report.turns:
        parts += [turn.question, without_strikes(words.answer(turn)), turn.summary]
        parts += [_reference(one, words) for one in turn.evidence]
    return "\n\n".join(filter(None, parts)) + "\n"


def to_clipping(report: Report, words: Labels) -> str:
    """Write question, answer and evidence as short Markdown for the clipboard."""
    parts: list[str] = []
    for turn in report.turns:
        parts += [f"**{_plain(turn.question)}**", inert(words.answer(turn)), _plain(turn.summary)]
        parts.append("\n".join(f"- {_cited(one, words)}" for one in turn.evidence))
    return "\n\n".join(filter(None, parts)) + "\n"


def _turn(turn: Turn, words: Labels, pictures: dict[str, bytes]) -> Iterator[str]:
    yield f"## {_plain(turn.question)}"
    if turn.understood:
        yield f"*{_plain(words.understood(turn))}*"
    yield inert(words.answer(turn))
    if turn.summary:
        yield f"**{_plain(turn.summary)}**"
    yield f"*{_plain(words.writer(turn))}*"
    if turn.claims:
        yield f"### {words.say(EVIDENCE)}"
    for claim in turn.claims:
        yield from _claim(claim, words, pictures)
    if lines := [*words.made_from(turn)]:
        yield f"### {words.say(MADE_FROM)}"
        yield "\n".join(f"- {_plain(line)}" for line in lines)


def _claim(claim: Claim, words: Labels, pictures: dict[str, bytes]) -> Iterator[str]:
    text = f"{STRIKE}{_plain(claim.text)}{STRIKE}" if claim.struck else _plain(claim.text)
    yield f"**{text}** {_plain(words.judgement(claim))}"
    for one in claim.evidence:
        yield _cited(one, words, with_quote=False)
        if one.quote:
            yield "\n".join(f"> {_plain(line)}" for line in one.quote.splitlines())
        for picture in one.pictures:
            name = next((name for name, known in pictures.items() if known == picture), f"picture-{len(pictures) + 1}")
            pictures[name] = picture
            yield f"![{_plain(words.place(one))}][{name}]"


def _cited(one: Evidence, words: Labels, *, with_quote: bool = True) -> str:
    quote = f": “{_plain(one.quote)}”" if one.quote and with_quote else ""
    return f"**[{one.label}]** {_plain(words.place(one))}{quote}"


def _reference(one: Evidence, words: Labels) -> str:
    quote = f": “{' '.join(one.quote.split())}”" if one.quote else ""
    return f"[{one.label}] {words.place(one)}{quote}"


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
