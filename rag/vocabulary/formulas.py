"""Figures that are worked out from others: definitions by trade, in `rag/vocabulary/definitions`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Literal, NamedTuple

from pydantic import TypeAdapter

from rag import errors
from rag.vocabulary.vocabulary import STRICT, SomeTerms, Term

Reading = Literal["", "average", "change"]
"""How an expression takes a line item: of the period, the mean of its beginning and end, or their difference."""

MAX_LABEL_WORDS = 4
"""So many words at most stand for a * in a label."""

_OTHERS = "and|non|noncontrolling|minority|preferred|participating|redeemable|continuing|discontinued"
"""Words that no * stands for: they make the label another line item's, as what belongs to other owners."""
_ANY = rf"(?!(?:{_OTHERS})\b)\S+(?: (?!(?:{_OTHERS})\b)\S+){{0,{MAX_LABEL_WORDS - 1}}}"
_TOKEN = re.compile(r"\s*(?:(?P<reading>average|change)?\[(?P<figure>[^\]]+)\]|(?P<number>\d+)|(?P<sign>[-+*/()]))")


class Operand(NamedTuple):
    """A line item in an expression."""

    figure: str
    reading: Reading = ""


Expression = tuple[str | Operand, ...]
"""Signs, numbers and line items, in their order."""


@dataclass(frozen=True)
class Figure:
    """A line item: its name, the labels under which statements print it, and the statement in which it stands.

    With `magnitude` it counts without its sign; an `expense` that is printed below zero is not computed with. What is
    given `per_share` is not in the scale of its statement.
    """

    __pydantic_config__ = STRICT
    name: Term
    labels: SomeTerms
    place: Term | None = None
    magnitude: bool = False
    expense: bool = False
    per_share: bool = False


@dataclass(frozen=True)
class Formula:
    """What questions call a figure, the expressions that give it, the best first, and what it is measured in."""

    __pydantic_config__ = STRICT
    name: Term
    terms: SomeTerms
    expressions: SomeTerms
    unit: Literal["ratio", "percent", "amount", "days"]

    @property
    def parsed(self) -> tuple[Expression, ...]:
        """The expressions, taken apart."""
        return tuple(map(parse_expression, self.expressions))


@dataclass(frozen=True)
class Definitions:
    """The formulas of a trade and the line items that they are made of."""

    __pydantic_config__ = STRICT
    title: Term
    figures: tuple[Figure, ...]
    formulas: tuple[Formula, ...]

    def figure(self, name: str) -> Figure | None:
        """The line item of that name, or with that label."""
        return self._figures.get(plain_label(name))

    @cached_property
    def _figures(self) -> Mapping[str, Figure]:
        """The line items by their plain names and labels: by the first that has it, and by a name before a label."""
        named = [(figure.name, figure) for figure in self.figures]
        labelled = [(label, figure) for figure in self.figures for label in figure.labels]
        return {plain_label(name): figure for name, figure in reversed(named + labelled)}

    def formula(self, question: str) -> tuple[Formula, str] | None:
        """The formula that `question` asks for, by its longest term, and the words that do; None if there is none."""
        found = [
            (match[0], formula)
            for formula in self.formulas
            for term in formula.terms
            if (match := _spelled(term).search(question))
        ]
        words, formula = max(found, key=lambda pair: len(pair[0]), default=("", None))
        return (formula, words) if formula else None


def find_figure(name: str) -> Figure | None:
    """The line item of that name or label, of any trade."""
    return next((found for trade in definitions() if name and (found := trade.figure(name))), None)


def parse_expression(text: str) -> Expression:
    """The parts of an expression.

    Raises:
        errors.ValidationError: it is none.
    """
    parts: list[str | Operand] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise errors.ValidationError(f"The expression “{text}” is not understood from character {position + 1} on.")
        reading: Reading = match["reading"] or ""  # type: ignore[assignment]  # the pattern has no other
        parts.append(Operand(match["figure"], reading) if match["figure"] else match["number"] or match["sign"])
        position = match.end()
    return tuple(parts)


def plain_label(label: str) -> str:
    """A label as labels are compared: lower case, without what stands in brackets, footnotes and punctuation.

    What is deducted from it, such as allowances, is no part of its name.
    """
    text = _IN_BRACKETS.sub(" ", label.lower().translate(_SAME))
    text = _NET_OF.sub("", text)
    text = _PUNCTUATION.sub(" ", text).strip()
    return _FOOTNOTE.sub("", text)


_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_PUNCTUATION = re.compile(r"[^\w&'*]+")
_FOOTNOTE = re.compile(r"\s+\d$")
_NET_OF = re.compile(r",?\s*(?:net\s+of|less)\s+(?:allowances?|reserves?|accumulated)\b.*", re.DOTALL)
_SAME = str.maketrans("‘’ʼ＇", "''''")


def is_labelled(figure: Figure, label: str) -> int | None:
    """Which of the figure's labels `label` is, counted from 0; None if it is none of them."""
    plain = plain_label(label)
    return next((place for place, pattern in enumerate(_patterns(figure.labels)) if pattern.fullmatch(plain)), None)


@cache
def _patterns(labels: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    def pattern(label: str) -> re.Pattern[str]:
        return re.compile(" ".join(_ANY if word == "*" else re.escape(word) for word in plain_label(label).split()))

    return tuple(map(pattern, labels))


@cache
def _spelled(term: str) -> re.Pattern[str]:
    """`term` in any case, its words parted by spaces or hyphens, "ratio" being left out or not."""
    words = r"[\s-]+".join(re.escape(word) for word in re.split(r"[\s-]+", term))
    return re.compile(rf"(?<![\w&-]){words}(?:\s+%)?(?:\s+ratio)?(?![\w&]|-\w)", re.IGNORECASE)


@cache
def definitions() -> tuple[Definitions, ...]:
    """The packaged definitions.

    Raises:
        errors.ValidationError: an expression names a line item that is not defined.
    """
    folder = resources.files("rag.vocabulary") / "definitions"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    adapter = TypeAdapter(Definitions)
    found = tuple(adapter.validate_python(tomllib.loads(file.read_text(encoding="utf-8"))) for file in files)
    for trade in found:
        known = {figure.name for figure in trade.figures}
        used = {
            part.figure
            for formula in trade.formulas
            for parts in formula.parsed
            for part in parts
            if isinstance(part, Operand)
        }
        if unknown := sorted(used - known):
            raise errors.ValidationError(
                f"The definitions “{trade.title}” name unknown line items: {', '.join(unknown)}."
            )
    return found
