"""Generate true and false claims from the sentences and table rows of documents.

Each claim has the words that are given as its quote. Nothing is stored: claims are generated from the PDFs and a fixed
seed.
"""

import functools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rapidfuzz import fuzz

from rag.answering.passages.quotable_units import Unit
from rag.answering.text.analyzed_text import Text
from rag.answering.text.numbers import Number, find_numbers
from rag.answering.text.sentences import one_line
from rag.answering.verification.evidence import SCALE_NAMES
from rag.answering.verification.quote_matching import QuotablePassage
from rag.types import BlockKind, Passage, Span

SAID_TWICE = 90.0
"""Sentences with this similarity (rapidfuzz's token set ratio, 0..100) may mean the same and prove each other."""


class Made(NamedTuple):
    """A claim of a kind with its quotes; the characters `without` are removed from its passage."""

    kind: str
    is_true: bool
    claim: str
    quotes: tuple[str, ...]
    without: Span | None = None


@dataclass(frozen=True)
class Fact:
    """A sentence or a table row of a page, and its context."""

    document: str
    page: "Page"
    span: Span
    text: str
    label: str = ""
    pairs: tuple[tuple[str, str], ...] = ()
    scale: str = ""

    @property
    def is_row(self) -> bool:
        """Whether the fact is a row with year columns; `pairs` has years and figures, `scale` their scale."""
        return bool(self.pairs)

    def amount(self, cell: str) -> str:
        """Return a figure of the row with its scale, as outside of its table."""
        return f"{cell} {self.scale}" if self.scale and "%" not in cell else cell


class Page:
    """A page, parsed once."""

    def __init__(self, document: str, passage: Passage) -> None:
        self.document = document
        self.passage = passage

    @functools.cached_property
    def quotable(self) -> QuotablePassage:
        """The page's sentences and rows."""
        return QuotablePassage(self.passage, titles=[self.document])

    @property
    def text(self) -> str:
        """The page's characters."""
        return self.quotable.text

    @functools.cached_property
    def numbers(self) -> list[Number]:
        """All figures of the page."""
        return find_numbers(one_line(self.text))

    @functools.cached_property
    def names(self) -> list[str]:
        """The names in the page's sentences."""
        return sorted({name for sentence in self.sentences() for name in names(sentence)})

    def sentences(self) -> Iterator[str]:
        """The page's sentences, each on one line."""
        for unit in self.quotable.units:
            if unit.kind is BlockKind.TEXT:
                yield one_line(self.text[unit.span.start : unit.span.end])

    def facts(self) -> Iterator[Fact]:
        """The page's declarative sentences and rows with year columns."""
        labels = [one_line(self.quotable.slice(unit.label)).rstrip(":. ") for unit in self.quotable.units if unit.label]
        for unit in self.quotable.units:
            raw = self.text[unit.span.start : unit.span.end]
            if unit.kind is BlockKind.TEXT and _is_sentence(one_line(raw)):
                yield Fact(self.document, self, unit.span, one_line(raw))
            elif unit.label and unit.cells:
                label = one_line(self.quotable.slice(unit.label)).rstrip(":. ")
                pairs = _years(self.quotable, unit)
                if pairs and Text(label).content and len(label) <= 80 and labels.count(label) == 1:
                    yield Fact(self.document, self, unit.span, one_line(raw), label, pairs, _scale(self.quotable, unit))


def _is_sentence(text: str) -> bool:
    made = Text(text)
    return (
        50 <= len(text) <= 320
        and text[0].isupper()
        and text.endswith(".")
        and len(made.content) >= 6
        and bool(made.numbers)
        and _PREDICATE.search(text) is not None
        and not re.search(r"\.{3}|_{3}|�", text)
        and sum(character.isdigit() for character in text) < 0.3 * len(text)
    )


_AUXILIARY = r"(?:is|are|was|were|has|have|had|will|would|can|could|may|must|shall|should|does|did|do)"
_PREDICATE = re.compile(rf"\s{_AUXILIARY}\s")
_NAME = re.compile(r"(?<=[a-z,;] )(?:[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*)\b")
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_NO_NAMES = frozenset(f"{_MONTHS}|Note|Notes|Item|Section|Table|Figure|Part|Company|Group|Exhibit|Chapter".split("|"))


def names(text: str) -> list[str]:
    """Return the names in a sentence: capitalised words after its first."""
    return [name for name in _NAME.findall(text) if not set(name.split()) & _NO_NAMES]


def _years(page: QuotablePassage, unit: Unit) -> tuple[tuple[str, str], ...]:
    """Return the year columns of a row with their figures, if there are at least two, each once."""
    found = tuple(
        (year.group(), cell)
        for column, cell in ((cell.column, page.read(cell.span)) for cell in unit.cells)
        if (year := re.search(r"\b(?:19|20)\d\d\b(?!\s*[-–/])", column))
        and len(re.findall(r"\d{4}", column)) == 1
        and re.fullmatch(r"[$€£(\s]*[\d.,]*\d[)%\s]*", cell)
    )
    return found if len(found) >= 2 and len({year for year, _ in found}) == len(found) else ()


def _scale(page: QuotablePassage, unit: Unit) -> str:
    """Return the scale that a row's table declares, if it is unique."""
    declared = page.evidence(unit.span)[0].declared
    return SCALE_NAMES.get(next(iter(declared)), "") if declared and len(declared) == 1 else ""


# --- true ---


def true_claims(fact: Fact, others: Sequence[Fact], chance: random.Random) -> Iterator[Made]:
    """Yield the fact itself and rewritten forms of it."""
    if fact.is_row:
        yield from _row_claims(fact, chance)
        return
    text, quote = fact.text, (fact.text,)
    yield Made("verbatim", True, text, quote)
    yield Made("verbatim, quote in part", True, text, (_part(text, chance),))
    yield Made("verbatim, no quote", True, text, ())
    for kind, rewritten in (
        ("clause dropped", _dropped(text)),
        ("order changed", _reordered(text)),
        ("filler", chance.choice(FILLERS).format(text[0].lower() + text[1:] if text.startswith("The ") else text)),
        ("number format", _reformatted(text)),
        ("other small words", _reworded(text)),
    ):
        if rewritten and rewritten != text:
            yield Made(kind, True, rewritten, quote)
    if others:
        other = chance.choice(others)
        joined = f"{text.rstrip('.')}, and {other.text[0].lower() if other.text.startswith(_LOWER) else other.text[0]}"
        yield Made("two joined", True, joined + other.text[1:], (text, other.text))


_LOWER = ("The ", "In ", "We ", "Our ", "These ", "This ", "As ", "A ", "An ", "It ", "During ", "On ")
FILLERS = (
    "According to the report, {}",
    "The document states that {}",
    "Specifically, {}",
    "In summary, {}",
    "As reported in the documents, {}",
    "**Answer:** {}",
)


def _row_claims(fact: Fact, chance: random.Random) -> Iterator[Made]:
    (year, cell), (other_year, other_cell) = chance.sample(fact.pairs, 2)
    label, quote = fact.label, (fact.text.replace(" · ", " "),)
    amount, other = fact.amount(cell), fact.amount(other_cell)
    yield Made("row as a sentence", True, f"In {year}, {label} was {amount}.", quote)
    yield Made("row as a list", True, f"{label} – {year}: {cell}; {other_year}: {other_cell}", quote)
    yield Made("row, two years", True, f"{label} was {amount} in {year}, compared with {other} in {other_year}.", quote)


def _part(text: str, chance: random.Random) -> str:
    words = text.split()
    size = max(5, len(words) // 2)
    start = chance.randrange(0, max(1, len(words) - size))
    return " ".join(words[start : start + size])


def _dropped(text: str) -> str | None:
    """Remove the text in brackets, between commas, or after the last comma."""
    without = re.sub(r" \([^()]*\)", "", text)
    if without != text:
        return without
    inner = re.sub(r", (?:which|who|including|such as|as well as|together with)\b[^,]*,", "", text)
    if inner != text:
        return inner
    head, comma, _ = text.rpartition(", ")
    return head + "." if comma and len(Text(head).content) >= 6 and _PREDICATE.search(head) else None


def _reordered(text: str) -> str | None:
    """Move a leading period or place to the end, or a trailing one to the front."""
    first = re.match(r"((?:In|During|On|At|For|As of) [^,]{3,40}), (.+)\.$", text)
    if first and not re.search(r", ", first[2][-60:]):
        lead = first[1][0].lower() + first[1][1:]
        return f"{first[2][0].upper()}{first[2][1:]} {lead}."
    last = re.match(
        r"(.+?) ((?:in|during|as of|on) (?:fiscal (?:year )?)?(?:[A-Z][a-z]+ \d{1,2}, )?(?:19|20)\d\d)\.$", text
    )
    if not last:
        return None
    rest = last[1][0].lower() + last[1][1:] if last[1].startswith(_LOWER) else last[1]
    return f"{last[2][0].upper()}{last[2][1:]}, {rest}."


def _reformatted(text: str) -> str | None:
    """Rewrite the first possible figure in another notation."""
    for pattern, change in (
        (r"(\d+)\.(\d) million\b", lambda m: f"{int(m[1]):,},{m[2]}00,000" if int(m[1]) < 1000 else m[0]),
        (r"(\d+)\.(\d) billion\b", lambda m: f"{int(m[1]) * 1000 + int(m[2]) * 100:,} million"),
        (r"(\d+(?:\.\d+)?)%", r"\1 percent"),
        (r"(\d+(?:\.\d+)?) percent\b", r"\1%"),
        (r"(?<![\d,.])(\d{1,3}),(\d{3})(?![\d,.])", r"\1\2"),
        (r"\btwo\b", "2"),
        (r"\bthree\b", "3"),
    ):
        changed = re.sub(pattern, change, text, count=1)
        if changed != text:
            return changed
    return None


_REWORDED = (
    (r"\bapproximately\b", "about"), (r"\bamounted to\b", "was"), (r"\bhas been\b", "was"), (r"\butilized\b", "used"),
    (r"\b[Ww]e have\b", "The company has"), (r"\b[Ww]e are\b", "The company is"),
    (r"\b[Ww]e were\b", "The company was"), (r"\b[Ww]e had\b", "The company had"),
    (r"\bour\b", "its"), (r"\bOur\b", "Its"), (r"\bprior to\b", "before"),
    (r"\bin addition to\b", "besides"), (r"\bas well as\b", "and"), (r"\bduring\b", "in"),
    (r"\bis comprised of\b", "comprises"),
)  # fmt: skip


def _reworded(text: str) -> str:
    for pattern, other in _REWORDED:
        text = re.sub(pattern, other, text)
    return text[0].upper() + text[1:]


# --- false ---


def false_claims(fact: Fact, others: Sequence[Fact], chance: random.Random) -> Iterator[Made]:
    """Yield false variants of a fact, one per applicable kind."""
    text = fact.text
    if fact.is_row:
        yield from _false_rows(fact, chance)
        return
    ways: dict[str, Callable[[], str | None]] = {
        "other number": lambda: _other_number(fact, chance),
        "other year": lambda: _other_year(fact, chance),
        "other name": lambda: _other_name(fact, chance),
        "negated": lambda: _negated(text),
        "reversed": lambda: _reversed(text),
        "figures swapped": lambda: _swapped(text),
        "other word": lambda: _other_word(fact, chance),
    }
    for kind, way in ways.items():
        changed = way()
        if changed and changed != text:
            yield Made(kind, False, changed, (text,))
    if others:
        other = chance.choice(others)
        if not any(fuzz.token_set_ratio(text, again.text) >= SAID_TWICE for again in others):
            yield Made("quote from elsewhere", False, text, (other.text,), without=fact.span)
        if stitched := _stitched(text, other.text):
            yield Made("two facts stitched", False, stitched, (text, other.text))


def _false_rows(fact: Fact, chance: random.Random) -> Iterator[Made]:
    (year, cell), (other_year, other_cell) = chance.sample(fact.pairs, 2)
    label, quote = fact.label, (fact.text.replace(" · ", " "),)
    if find_numbers(cell)[0].values != find_numbers(other_cell)[0].values:
        yield Made("row, other year", False, f"In {year}, {label} was {fact.amount(other_cell)}.", quote)
        yield Made("row, years swapped", False, f"{label} – {year}: {other_cell}; {other_year}: {cell}", quote)
    changed = fact.amount(_digit_changed(cell, chance))
    yield Made("row, other number", False, f"In {year}, {label} was {changed}.", quote)
    if fact.scale and find_numbers(cell)[0].is_money:
        yield Made("row, scale left out", False, f"In {year}, {label} was {cell}.", quote)


def _digit_changed(figure: str, chance: random.Random) -> str:
    places = [index for index, character in enumerate(figure) if character.isdigit()]
    place = chance.choice(places)
    digit = chance.choice([d for d in "123456789" if d != figure[place]])
    return figure[:place] + digit + figure[place + 1 :]


def _amounts(text: str) -> list[Number]:
    return [number for number in find_numbers(text) if number.year is None]


def _other_number(fact: Fact, chance: random.Random) -> str | None:
    """Replace a figure by one of the same kind from the page, every second time by one with a digit changed."""
    amounts = _amounts(fact.text)
    if not amounts:
        return None
    number = chance.choice(amounts)
    there = {value for other in find_numbers(fact.text) for value in other.values}
    same_kind = [
        other.text
        for other in fact.page.numbers
        if other.year is None and other.is_share == number.is_share and not other.values & there
    ]
    core = re.match(r"[\d.,]+", number.text)
    figure = core.group() if core else number.text
    new = chance.choice(same_kind) if same_kind and chance.random() < 0.5 else _digit_changed(figure, chance)
    new_core = re.match(r"[\d.,]+", new)
    new = new_core.group().rstrip(".,") if new_core else new
    if any(value in there for other in find_numbers(new) for value in other.values):
        return None
    return fact.text[: number.start] + new + fact.text[number.start + len(figure.rstrip(".,")) :]


def _other_year(fact: Fact, chance: random.Random) -> str | None:
    years = [number for number in find_numbers(fact.text) if number.year is not None]
    if not years:
        return None
    number = chance.choice(years)
    there = {year.year for year in years}
    on_page = [other.text for other in fact.page.numbers if other.year is not None and other.year not in there]
    near = [str((number.year or 0) + step) for step in (-3, -2, -1, 1, 2, 3) if (number.year or 0) + step not in there]
    new = chance.choice(on_page) if on_page and chance.random() < 0.7 else chance.choice(near)
    return fact.text[: number.start] + new + fact.text[number.end :]


def _other_name(fact: Fact, chance: random.Random) -> str | None:
    own = names(fact.text)
    others = [name for name in fact.page.names if not set(name.split()) & set(fact.text.split())]
    if not own or not others:
        return None
    return fact.text.replace(chance.choice(own), chance.choice(others), 1)


def _negated(text: str) -> str | None:
    """Insert "not" after the first auxiliary verb, or remove it."""
    if re.search(rf"\b{_AUXILIARY} not\b", text):
        return re.sub(rf"\b({_AUXILIARY}) not\b", r"\1", text, count=1)
    return _PREDICATE.sub(lambda match: f"{match.group()}not ", text, count=1)


_REVERSED = (
    ("increased", "decreased"), ("decreased", "increased"), ("increase", "decrease"), ("decrease", "increase"),
    ("higher", "lower"), ("lower", "higher"), ("more than", "less than"), ("less than", "more than"),
    ("before", "after"), ("after", "before"), ("rose", "fell"), ("fell", "rose"), ("grew", "declined"),
    ("declined", "grew"), ("largest", "smallest"), ("highest", "lowest"), ("gain", "loss"), ("at least", "at most"),
    ("maximum", "minimum"), ("minimum", "maximum"), ("growth", "decline"), ("includes", "excludes"),
)  # fmt: skip


def _reversed(text: str) -> str | None:
    for word, opposite in _REVERSED:
        if re.search(rf"\b{word}\b", text):
            return re.sub(rf"\b{word}\b", opposite, text, count=1)
    return None


def _swapped(text: str) -> str | None:
    """Swap two figures of the same kind that years tell apart."""
    amounts = [number for number in _amounts(text) if len(number.text) > 1]
    years = {number.year for number in find_numbers(text)} - {None}
    if len(years) < 2 or len(amounts) < 2:
        return None
    one, other = amounts[0], amounts[1]
    if one.values & other.values or one.unit != other.unit or one.scale != other.scale:
        return None
    return text[: one.start] + other.text + text[one.end : other.start] + one.text + text[other.end :]


def _other_word(fact: Fact, chance: random.Random) -> str | None:
    """Replace a long word by one of the page with the same ending."""
    text = fact.text
    made = Text(text)
    words = [word for word in made.content if word.text.islower() and len(word.text) >= 6]
    if not words:
        return None
    word = chance.choice(words)
    others = sorted(
        {
            other.text
            for sentence in fact.page.sentences()
            for other in Text(sentence).content
            if other.text.islower() and other.text[-2:] == word.text[-2:] and other.key not in made.keys
            and len(other.text) >= 6
        }
    )  # fmt: skip
    return text[: word.start] + chance.choice(others) + text[word.end :] if others else None


def _stitched(text: str, other: str) -> str | None:
    """Combine the subject of one sentence with the predicate of an unrelated one."""
    own, its = _PREDICATE.search(text), _PREDICATE.search(other)
    if not own or not its:
        return None
    subject, predicate = text[: own.start()], other[its.start() :]
    subject_keys = {word.key for word in Text(subject).content}
    other_keys = {word.key for word in Text(other[: its.start()]).content}
    if not subject_keys or not other_keys or subject_keys & other_keys or len(Text(predicate).content) < 3:
        return None
    return subject + predicate
