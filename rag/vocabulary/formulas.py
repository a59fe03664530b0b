"""Formulas of computed figures, defined by trade in `rag/vocabulary/definitions`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from rag.vocabulary.vocabulary import APOSTROPHES, STRICT, SomeTerms, Terms, packaged_files

Reading = Literal["", "average", "change"]
"""The value of a line item to use: at period end, mean of its begin and end, or their difference."""

MAX_LABEL_WORDS = 4
"""Maximum number of words that a `*` in a label matches."""

_OTHERS = "and|non|noncontrolling|minority|preferred|participating|redeemable|continuing|discontinued"
"""Words that `*` does not match, since they make the label that of another line item."""
_ANY = rf"(?!(?:{_OTHERS})\b)\S+(?: (?!(?:{_OTHERS})\b)\S+){{0,{MAX_LABEL_WORDS - 1}}}"
_TOKEN = re.compile(r"\s*(?:(?P<reading>average|change)?\[(?P<figure>[^\]]+)\]|(?P<number>\d+)|(?P<sign>[-+*/()]))")


class Operand(NamedTuple):
    """A line item in an expression."""

    figure: str
    reading: Reading = ""


Expression = tuple[str | Operand, ...]
"""Signs, numbers and line items, in order."""


@dataclass(frozen=True)
class Figure:
    """A line item: its name, the labels that statements print, and the statement (`place`) it belongs to.

    `terms` are what questions call it and no statement prints: "the top line".
    `magnitude` ignores the sign; a negative `expense` is not used in computations; `per_share` figures do not have the
    scale of their statement.
    """

    __pydantic_config__ = STRICT
    name: str
    labels: SomeTerms
    terms: Terms = ()
    place: str | None = None
    magnitude: bool = False
    expense: bool = False
    per_share: bool = False


@dataclass(frozen=True)
class Formula:
    """A computed figure: its terms in questions, its expressions, best first, and its unit."""

    __pydantic_config__ = STRICT
    name: str
    terms: SomeTerms
    expressions: SomeTerms
    unit: Literal["ratio", "percent", "amount", "days"]

    @property
    def parsed(self) -> tuple[Expression, ...]:
        """The parsed expressions."""
        return tuple(map(parse_expression, self.expressions))


@dataclass(frozen=True)
class Definitions:
    """The formulas of a trade and their line items."""

    __pydantic_config__ = STRICT
    title: str
    figures: tuple[Figure, ...]
    formulas: tuple[Formula, ...]

    def figure(self, name: str) -> Figure | None:
        """Return the line item with this name, label or term."""
        return self._figures.get(plain_label(name))

    @cached_property
    def _figures(self) -> Mapping[str, Figure]:
        """Line items by normalized name or label; names take precedence, then the first definition."""
        named = [(figure.name, figure) for figure in self.figures]
        labelled = [(label, figure) for figure in self.figures for label in (*figure.labels, *figure.terms)]
        return {plain_label(name): figure for name, figure in reversed(named + labelled)}

    def formula(self, question: str) -> tuple[Formula, str] | None:
        """Return the formula whose longest term is in `question`, and the matched words."""
        found = [
            (match[0], formula)
            for formula in self.formulas
            for term in formula.terms
            if (match := _spelled(term).search(question))
        ]
        words, formula = max(found, key=lambda pair: len(pair[0]), default=("", None))
        return (formula, words) if formula else None


def find_figure(name: str) -> Figure | None:
    """Return the line item with this name, label or term in any trade."""
    return next((found for trade in definitions() if name and (found := trade.figure(name))), None)


def in_printed_terms(question: str) -> str:
    """Return `question` with line items called as statements print them: "revenue" for "top line"."""
    figures = (figure for trade in definitions() for figure in trade.figures)
    for figure in figures:
        for term in figure.terms:
            question = _spelled(term).sub(figure.name, question)
    return question


def parse_expression(text: str) -> Expression:
    """Parse an expression.

    Raises:
        ValueError: the syntax is invalid.
    """
    parts: list[str | Operand] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"The expression “{text}” is not understood from character {position + 1} on.")
        reading: Reading = match["reading"] or ""  # type: ignore[assignment]  # the pattern has no other
        parts.append(Operand(match["figure"], reading) if match["figure"] else match["number"] or match["sign"])
        position = match.end()
    return tuple(parts)


def plain_label(label: str) -> str:
    """Normalize a label for comparison: lower case, without brackets, footnotes, punctuation and deductions."""
    text = _IN_BRACKETS.sub(" ", label.lower().translate(APOSTROPHES))
    text = _NET_OF.sub("", text)
    text = _PUNCTUATION.sub(" ", text).strip()
    return _FOOTNOTE.sub("", text)


_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PUNCTUATION = re.compile(r"(?:'(?!\w)|[^\w&'*])+")
"""An apostrophe behind a word is left out, so that "stockholders equity" is a label, too."""
_FOOTNOTE = re.compile(r"(?<!\s)\s+\d$")
_NET_OF = re.compile(r"(?:,|(?<!\s))\s*(?:net\s+of|less)\s+(?:allowances?|reserves?|accumulated)\b.*", re.DOTALL)


def is_labelled(figure: Figure, label: str) -> int | None:
    """Return the index of the figure's label that `label` matches, None if it matches none."""
    plain = plain_label(label)
    return next((place for place, pattern in enumerate(_patterns(figure.labels)) if pattern.fullmatch(plain)), None)


@cache
def _patterns(labels: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    def pattern(label: str) -> re.Pattern[str]:
        return re.compile(" ".join(_ANY if word == "*" else re.escape(word) for word in plain_label(label).split()))

    return tuple(map(pattern, labels))


@cache
def _spelled(term: str) -> re.Pattern[str]:
    """Return a pattern of `term` in any case, with spaces or hyphens, and an optional "%" and "ratio"."""
    words = r"[\s-]+(?:%\s+)?".join(re.escape(word) for word in re.split(r"[\s-]+", term))
    return re.compile(rf"(?<![\w&-]){words}(?:\s+%)?(?:\s+ratio)?(?![\w&]|-\w)", re.IGNORECASE)


@cache
def definitions() -> tuple[Definitions, ...]:
    """Return the packaged definitions."""
    adapter = TypeAdapter(Definitions)
    return tuple(adapter.validate_python(tomllib.loads(text)) for text in packaged_files("definitions").values())
