"""Whether the words of a source prove a claim: its content, figures, years, units, names and polarity."""

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rag.answering.text import negation, numbers
from rag.answering.text.analyzed_text import (
    MAX_REPLACED,
    NEGATION,
    Item,
    Text,
    alike,
    differences,
    exchanged,
    is_figure,
    read,
)
from rag.answering.text.clauses import postponed, splits
from rag.answering.text.negation import Word
from rag.answering.text.numbers import Number
from rag.answering.text.term_weights import word_set
from rag.answering.verification import contradiction, table_figures
from rag.answering.verification.entailment_checks import doubts
from rag.answering.verification.evidence import Evidence, Weights, together
from rag.types import Support


class Thresholds(NamedTuple):
    """Shares of a claim's words, weighted by rarity.

    `held` must stand in its evidence to prove it, `own` of these in the quoted words themselves and not in the headings
    and titles around them; with less than `partly` the evidence has nothing to do with the claim.
    """

    held: float = 0.8
    own: float = 0.5
    partly: float = 0.35


THRESHOLDS = Thresholds()

MIN_COMPUTED = 0.3
"""Where the claim shows how its figure is computed, its words name the result, and the sources need not."""

MAX_MISSING = 6
"""So many words are named as missing, at most."""


class Judgement(NamedTuple):
    """What evidence is to a claim, and what of the claim it does not hold, as the claim has it.

    `held` is the share of the claim's weight that it holds; `contradicted`, whether it says otherwise. `clauses` are
    the parts of the claim that were judged each by itself.
    """

    support: Support
    missing: tuple[str, ...] = ()
    held: float = 0.0
    contradicted: bool = False
    clauses: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, float, bool]:
        """Of several that with the greatest counts: what proves, or proves a clause, else what speaks most of it."""
        if self.support is Support.SUPPORTED:
            return 3, self.held, False
        if self.support is Support.PARTLY and len(self.clauses) > 1:
            return 2, self.held, False
        return int(self.support is Support.PARTLY or self.contradicted), self.held, self.contradicted


GENERIC = word_set("company group firm corporation bank fund issuer registrant agency organization partnership")
"""What a document calls itself: an answer may give its name instead."""

_THE = re.compile(r"\bthe\s+$", re.IGNORECASE)
"""Before such a word it is the one that the document is of: "we", "Acme", "the company"."""

MAX_CLAUSES = 4

NOTHING = Judgement(Support.UNSUPPORTED)


_EQUAL = Weights({})


def judge(claim: str, evidence: Sequence[Evidence], thresholds: Thresholds = THRESHOLDS) -> Judgement:
    """How far `evidence` proves `claim`: one piece all of it, or each of its clauses by a piece of its own."""
    return judge_parts(claim, lambda part: judge_whole(part, evidence, thresholds))


def judge_parts(claim: str, judged: Callable[[str], Judgement], most: int = MAX_CLAUSES) -> Judgement:
    """What `judged` says of the claim or, if that is better, of the clauses that it can be parted into."""
    whole = judged(claim)._replace(clauses=(claim,))
    if whole.support is Support.SUPPORTED or most < 2:
        return whole
    best = whole
    for left, right in splits(claim):
        first = judged(left)
        if first.support is Support.SUPPORTED:
            both = _together([first._replace(clauses=(left,)), judge_parts(right, judged, most - 1)])
            best = max(best, both, key=_rank)
            if both.support is Support.SUPPORTED:
                break
    return best


def judge_whole(claim: str, evidence: Sequence[Evidence], thresholds: Thresholds = THRESHOLDS) -> Judgement:
    """How far one piece of `evidence` proves all of `claim`; for a figure that is computed, all pieces together."""
    text = read(claim)
    if numbers.shows_computation(claim) and len(evidence) > 1:
        evidence = [*evidence, together(evidence)]
    return max((_Comparison(text, piece).judgement(thresholds) for piece in evidence), key=_rank, default=NOTHING)


def _together(judged: Sequence[Judgement]) -> Judgement:
    """What is true of a claim whose clauses are judged so."""
    held = sum(judgement.held for judgement in judged) / len(judged)
    clauses = tuple(clause for judgement in judged for clause in judgement.clauses)
    if all(judgement.support is Support.SUPPORTED for judgement in judged):
        return Judgement(Support.SUPPORTED, (), held, clauses=clauses)
    missing = tuple(dict.fromkeys(word for judgement in judged for word in judgement.missing))
    return Judgement(Support.PARTLY, missing, held, clauses=clauses)


def _rank(judgement: Judgement) -> tuple[int, float, bool]:
    return judgement.rank


def judge_loosely(claim: str, evidence: Evidence) -> Judgement:
    """What evidence that is known to speak of the claim, in other words, is to it: never more than a part of it."""
    return _Comparison(read(claim), evidence).loose_judgement()


class _Comparison:
    """A claim beside one piece of evidence."""

    def __init__(self, claim: Text, evidence: Evidence) -> None:
        self.claim = claim
        self.evidence = evidence
        self.weights = evidence.weights or _EQUAL
        self.lacking = numbers.unsupported(
            claim.text, evidence.texts, scales=evidence.scales, currency=evidence.currency
        )
        self.is_computed = not self.lacking and numbers.is_computed(claim.text, evidence.texts, scales=evidence.scales)
        self.open = [word for word in claim.content if not self._is_held(word, evidence.all_keys)]

    @functools.cached_property
    def _shown(self) -> int:
        """Whether the claim's own figures, all of which are there, show growth (1) or a decline (-1)."""
        return 0 if self.lacking else contradiction.stated_trend(self.claim)

    def judgement(self, thresholds: Thresholds) -> Judgement:
        """What the evidence is to the claim."""
        if not self.claim.content and not self.claim.numbers:
            return NOTHING
        held, own = self._share(self.evidence.all_keys), self._share(self.evidence.own_keys)
        opposed = self._contradictions()
        least = MIN_COMPUTED if self.is_computed else thresholds.held
        required = [word.text for word in self.open if self._must_stand(word)]
        missing = [*opposed, *self.lacking, *self._other_units(), *required, *self._replaced()]
        if held < least or missing:
            missing += [word.text for word in self.open]
        named = tuple(dict.fromkeys(missing))[:MAX_MISSING]
        has_no_figure = bool(self.claim.numbers) and len(set(self.lacking)) == len({n.text for n in self.claim.numbers})
        if opposed or has_no_figure or held < min(thresholds.partly, least):
            return Judgement(Support.UNSUPPORTED, named, held, bool(opposed) and held >= least)
        if missing or own < min(thresholds.own, least):
            return Judgement(Support.PARTLY, named, held)
        doubted = tuple(dict.fromkeys(self._doubts()))[:MAX_MISSING]
        return Judgement(Support.PARTLY if doubted else Support.SUPPORTED, doubted, held)

    def loose_judgement(self) -> Judgement:
        """What it is if its words cannot be compared: figures must hold, and nothing may speak against it."""
        held = self._share(self.evidence.all_keys)
        if self.lacking or self._contradictions():
            return Judgement(Support.UNSUPPORTED, self.lacking, held)
        return Judgement(Support.PARTLY, tuple(dict.fromkeys(word.text for word in self.open))[:MAX_MISSING], held)

    def _doubts(self) -> list[str]:
        """Why it is not proved although its words and figures stand in the evidence."""
        if self.is_computed:
            return []
        evidence = self.evidence
        found = doubts(self.claim, evidence.own, evidence.scales, is_row=bool(evidence.row))
        found += table_figures.not_shown(self.claim, evidence.own, evidence.scales)
        if row := evidence.row:
            label, _, _ = row.text.partition(" –")
            found += table_figures.left_out(
                self.claim, row, [column.cell for column in evidence.columns], evidence.declared
            )
            found += table_figures.other_columns(self.claim, label, evidence.columns, self._is_same)
            found += table_figures.parts_of_year(self.claim, evidence.columns, self._is_same)
        return found

    def _other_units(self) -> list[str]:
        """The units of the claim's figures that stand in the evidence in others."""
        lacking = [number for number in self.claim.numbers if number.unit and number.text in self.lacking]
        bare = [(number.unit, number._replace(unit=None)) for number in lacking]
        return [
            unit for unit, number in bare if unit and any(self._is_same(number, n) for n in self.evidence.own.numbers)
        ]

    def _contradictions(self) -> list[str]:
        return [*self._turned(), *self._opposed(), *self._misbound(), *self._contested()]

    @functools.cached_property
    def _differences(self) -> list[tuple[Sequence[Item], Sequence[Item]]]:
        """Where the claim, in the same words, has something else than the evidence; a row has its columns instead."""
        if self.is_computed or self.evidence.row:
            return []
        orders = itertools.product(_orders(self.claim), _orders(self.evidence.own))
        ours, theirs = max(((one.sequence, other.sequence) for one, other in orders), key=lambda pair: alike(*pair))
        found = list(differences(ours, theirs))
        return found if self._is_passive else [*found, *exchanged(ours, theirs)]

    @property
    def _is_passive(self) -> bool:
        """Whether either may name who acts behind what is done: there an exchange says the same."""
        return "by" in self.claim.folded | self.evidence.own.folded

    def _turned(self) -> list[str]:
        """Negations that only one of both has, between the same words."""
        return [
            "not"
            for ours, theirs in self._differences
            if any(item.key == NEGATION for item in (*ours, *theirs))
            and sum(map(_is_negative, ours)) != sum(map(_is_negative, theirs))
        ]

    def _replaced(self) -> list[str]:
        """What stands in the claim in the place of something else."""
        return [
            item.text
            for ours, theirs in self._differences
            for item in ours
            if item.key != NEGATION
            and not (self._shown and negation.direction(item.text) == self._shown)
            and not self._means_one_of(item, theirs)
            and not self._names(ours, theirs)
            and any(is_figure(other) == is_figure(item) for other in theirs)
            and (len(theirs) <= MAX_REPLACED or item.key not in self.evidence.own_keys)
        ]

    @staticmethod
    def _means_one_of(item: Item, others: Sequence[Item]) -> bool:
        """Whether one of `others` says the same, maybe in another word for growth, decline or denial."""
        way = negation.direction(item.text)
        if _is_negative(item) and any(other.key == NEGATION for other in others):
            return True
        return any(item.key == other.key or (way and way == negation.direction(other.text)) for other in others)

    def _names(self, ours: Sequence[Item], theirs: Sequence[Item]) -> bool:
        """Whether a name that stands around the evidence takes the place of what the document calls itself."""
        are_names = len(ours) <= MAX_REPLACED and all(item.text[0].isupper() for item in ours)
        return (
            are_names
            and all(item.text.casefold() in GENERIC for item in theirs)
            and all(any(item.key in text.keys for text in self.evidence.around) for item in ours)
        )

    def _share(self, keys: frozenset[str]) -> float:
        """The share of the claim's words that are among `keys`, by weight; of figures alone, whether they hold."""
        weights = [self.weights.of(word.key) for word in self.claim.content]
        if not weights:
            return 0.0 if self.lacking else 1.0
        held = [self._is_held(word, keys) for word in self.claim.content]
        return sum(weight for weight, is_held in zip(weights, held, strict=True) if is_held) / sum(weights)

    def _is_held(self, word: Word, keys: frozenset[str]) -> bool:
        if word.text.casefold() in GENERIC and _THE.search(self.claim.text[: word.start]):
            return True
        way = negation.direction(word.text)
        if word.key in keys or (way and any(negation.direction(other) == way for other in self.evidence.own.folded)):
            return True
        if way and way == self._shown:
            return True
        if self._is_not(word) or self._names_period(word):
            return True
        folded = word.text.casefold()
        value = numbers.spelled(folded)
        if value is None:
            return False
        return value in self.evidence.own.months if numbers.is_month(folded) else self._has_value(value)

    def _is_not(self, word: Word) -> bool:
        """Whether a word that denies something stands for a negation of it: "lacks", "does not have"."""
        governed = self.claim.denied.get(word.start, ())
        return any(not set(negated).isdisjoint(governed) for negated in self.evidence.own.negated)

    def _names_period(self, word: Word) -> bool:
        """Whether it is a word for a quarter or half that the evidence names in whatever spelling: "Q1"."""
        evidence = self.evidence
        there = {period.code for text in (evidence.own, evidence.header) if text for period in text.periods}
        return any(period.start <= word.start < period.end and period.code in there for period in self.claim.periods)

    def _has_value(self, value: float) -> bool:
        own = self.evidence.own
        spelled = {numbers.spelled(word) for word in own.folded}
        return value in spelled or any(value in number.values and number.scale is None for number in own.numbers)

    def _must_stand(self, word: Word) -> bool:
        """Whether a word may not be told in others: a name, a spelled number, the way that something went."""
        if self.is_computed:
            return False
        is_count = numbers.spelled(word.text.casefold()) is not None
        way = negation.direction(word.text)
        return is_count or bool(way and way != self._shown) or self._is_name(word)

    def _is_name(self, word: Word) -> bool:
        if len(word.text) > 1 and word.text.isupper():
            return True
        return word.text[0].isupper() and not re.search(r"(?:^|[.:;!?–—\"“(|•])\s*$", self.claim.text[: word.start])

    # --- what speaks against it ---

    def _opposed(self) -> list[str]:
        """Words of the claim that the evidence turns into their opposite."""
        if self.is_computed:
            return []
        evidence = self.evidence
        return [
            *contradiction.negated(self.claim, evidence.quoted, evidence.own_keys),
            *contradiction.turned_round(self.claim, evidence.own),
        ]

    def _misbound(self) -> list[str]:
        """Years and columns of the claim that its figures have not in the evidence."""
        own = self.evidence.own
        found = []
        for number in self.claim.numbers:
            year = self.claim.years.get(number.start)
            if year is None or number.text in self.lacking:
                continue
            there = {own.years.get(other.start) for other in own.numbers if self._is_same(number, other)}
            if there and None not in there and year not in there:
                found.append(str(year))
        return found

    def _is_same(self, number: Number, other: Number) -> bool:
        return numbers.is_same(number, other, self.evidence.scales, self.evidence.currency)

    def _contested(self) -> list[str]:
        """Figures that are not there, where others of their kind are, and none of the claim's."""
        found = []
        for kind in (_is_year, _is_share, _is_amount):
            claimed = [number for number in self.claim.numbers if kind(number)]
            absent = [number for number in claimed if number.text in self.lacking]
            if claimed and len(absent) == len(claimed) and any(map(kind, self.evidence.own.numbers)):
                found += [number.text for number in absent]
        return found


def _orders(text: Text) -> list[Text]:
    """It, and if a period or a place leads to what it says, that with it at the end."""
    later = postponed(text.text)
    return [text] if later == text.text else [text, read(later)]


def _is_negative(item: Item) -> bool:
    return item.key == NEGATION or item.text.casefold() in negation.DENIALS


def _is_year(number: Number) -> bool:
    return number.year is not None


def _is_share(number: Number) -> bool:
    return number.is_share


def _is_amount(number: Number) -> bool:
    return not _is_year(number) and not _is_share(number)
