"""Compare the words of a claim with its evidence: words, figures, years, units, names and polarity.

`judge` returns the verdict for a claim against pieces of evidence. It compares the claim with each piece as a whole
and, if none proves it, clause by clause. Facts that the words alone do not settle are vetoed by `wording_checks`.
"""

import functools
import itertools
import operator
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.text import negation, numbers
from rag.answering.text.analyzed_text import (
    MAX_REPLACED,
    NEGATION,
    Item,
    Text,
    analyze,
    clause_splits,
    count_matching,
    differences,
    exchanges,
    is_abbreviated,
    is_figure,
    is_name,
    move_lead_in_to_end,
)
from rag.answering.text.negation import Word
from rag.answering.text.numbers import Number
from rag.answering.text.term_weights import word_set
from rag.answering.verification import qualifications, quantities, wording_checks
from rag.answering.verification.evidence import (
    Evidence,
    WordWeights,
    combine,
    omitted_scale,
    partial_periods,
    undeclared_scales,
    unplaced_years,
    wrong_columns,
)
from rag.answering.verification.figure_places import FigureCheck

MIN_HELD = 0.8
"""Share of a claim's words, weighted by rarity, from which the evidence speaks of the same; all prove it."""

MIN_OWN = 0.5
"""Share of them that must stand in the quoted words themselves, not in headings and titles around them."""

MIN_PARTLY = 0.35
"""Share below which the evidence is unrelated."""

MIN_COMPUTED = 0.3
"""Share in place of `MIN_HELD` for a computed figure: the claim names the result, which sources need not."""

MIN_ALIKE = 0.7
"""Minimum share of the evidence's words in a claim that it contradicts; the rest may speak of something else."""

MAX_MISSING = 6
"""Maximum number of missing words to report."""


class Judgement(NamedTuple):
    """The verdict of evidence on a claim, with the claim's words that it does not support.

    `held` is the share of the claim's weight that the evidence has. `clauses` are the parts of the claim that were
    judged separately. `vetoes` are the facts that speak against the claim whatever it means: figures, names, negations;
    `replaced` are its other words that stand where the evidence has others, which may mean the same.
    """

    support: types.Support
    missing: tuple[str, ...] = ()
    held: float = 0.0
    clauses: tuple[str, ...] = ()
    vetoes: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()

    @property
    def is_decided(self) -> bool:
        """Whether no judge of meaning may change it: it is proved, or contradicted by a figure."""
        decided = self.support in (types.Support.SUPPORTED, types.Support.NOT_STATED)
        return decided or (self.support is types.Support.CONTRADICTED and any(map(_has_digit, self.vetoes)))

    @property
    def rank(self) -> tuple[int, float, bool]:
        """Sort key: proved first, then proved in a clause, then the largest share held."""
        if self.support is types.Support.SUPPORTED:
            return 3, self.held, False
        if self.support is types.Support.PARTLY and len(self.clauses) > 1:
            return 2, self.held, False
        return (
            int(self.support is not types.Support.NOT_VERIFIED),
            self.held,
            self.support is types.Support.CONTRADICTED,
        )


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def judge_figures(judgement: Judgement, figures: FigureCheck) -> Judgement:
    """Return a judgement with what the places of a claim's figures tell.

    Figures that the sources do not have, or have for something else, are not stated; only such figures contradict.
    """
    if figures.failed:
        if judgement.support is types.Support.CONTRADICTED:
            missing = tuple(dict.fromkeys([*figures.failed, *judgement.missing]))
            return judgement._replace(missing=missing, vetoes=figures.failed)
        return judgement._replace(support=types.Support.NOT_STATED, missing=figures.failed, vetoes=figures.failed)
    wrong = {veto for veto in judgement.vetoes if _has_digit(veto)}
    if judgement.support is types.Support.CONTRADICTED and wrong and wrong.isdisjoint(figures.counts):
        return judgement._replace(support=types.Support.NOT_VERIFIED, vetoes=())
    return judgement


GENERIC_NAMES = word_set("company group firm corporation bank fund issuer registrant agency organization partnership")
"""Words a document calls its subject by; a claim may use them in place of its name."""

_THE = re.compile(r"\bthe\s+$", re.IGNORECASE)
"""Before a generic word, "the" makes it the document's own subject."""

MAX_CLAUSES = 4

_CLAUSE_END = re.compile(r"[,;:]\s")

UNRELATED = Judgement(types.Support.NOT_VERIFIED)

_RANK = operator.attrgetter("rank")
_EQUAL_WEIGHTS = WordWeights({})


def judge(claim: str, evidence: Sequence[Evidence]) -> Judgement:
    """Judge how far `evidence` proves `claim`: as a whole by one piece, or each clause by a piece of its own."""
    return judge_by_clause(claim, lambda part: judge_whole(part, evidence))


def judge_by_clause(claim: str, judged: Callable[[str], Judgement], most: int = MAX_CLAUSES) -> Judgement:
    """Judge a claim as a whole or, if that gives a better verdict, by the clauses it can be split into.

    What contradicts the whole claim keeps its clauses from proving it: a "not" may be in none of them.
    """
    whole = judged(claim)._replace(clauses=(claim,))
    if whole.support is types.Support.SUPPORTED or most < 2:
        return whole
    best = whole
    for left, right in clause_splits(claim):
        first = judged(left)
        if first.support is types.Support.SUPPORTED:
            both = _combined([first._replace(clauses=(left,)), judge_by_clause(right, judged, most - 1)])
            if both.support is types.Support.SUPPORTED and whole.support is types.Support.CONTRADICTED:
                both = both._replace(support=types.Support.PARTLY, missing=whole.missing, vetoes=whole.vetoes)
            best = max(best, both, key=_RANK)
            if both.support is types.Support.SUPPORTED:
                break
    return best


def judge_whole(claim: str, evidence: Sequence[Evidence]) -> Judgement:
    """Judge how far one piece of `evidence` proves the whole claim; for computed figures, all pieces together."""
    text = analyze(claim)
    if numbers.shows_computation(claim) and len(evidence) > 1:
        evidence = [*evidence, combine(evidence)]
    return max((_Comparison(text, piece).judgement() for piece in evidence), key=_RANK, default=UNRELATED)


def _combined(judged: Sequence[Judgement]) -> Judgement:
    held = sum(judgement.held for judgement in judged) / len(judged)
    clauses = tuple(clause for judgement in judged for clause in judgement.clauses)
    if all(judgement.support is types.Support.SUPPORTED for judgement in judged):
        return Judgement(types.Support.SUPPORTED, (), held, clauses=clauses)
    missing, vetoes, replaced = (
        tuple(dict.fromkeys(word for words in every for word in words))
        for every in zip(*((one.missing, one.vetoes, one.replaced) for one in judged), strict=True)
    )
    return Judgement(types.Support.PARTLY, missing, held, clauses, vetoes, replaced)


class _Comparison:
    def __init__(self, claim: Text, evidence: Evidence) -> None:
        self.claim = claim
        self.evidence = evidence
        self.weights = evidence.weights or _EQUAL_WEIGHTS
        self.missing_figures = numbers.unsupported(
            claim.text, evidence.texts, scales=evidence.scales, currency=evidence.currency
        )
        self.is_computed = not self.missing_figures and numbers.is_computed(
            claim.text, evidence.texts, scales=evidence.scales
        )
        self.missing_words = [word for word in claim.content if not self._is_held(word, evidence.all_keys)]

    @functools.cached_property
    def _hedged(self) -> Sequence[tuple[int, int]]:
        return qualifications.hedged_spans(self.claim)

    @functools.cached_property
    def _trend(self) -> int:
        """The trend of the claim's own figures if the evidence has all of them: 1, -1 or 0."""
        return 0 if self.missing_figures else wording_checks.stated_trend(self.claim)

    def judgement(self) -> Judgement:
        """Return the verdict of the evidence on the claim."""
        if not self.claim.content and not self.claim.numbers:
            return UNRELATED
        held, own = self._share(self.evidence.all_keys), self._share(self.evidence.own_keys)
        least = MIN_COMPUTED if self.is_computed else MIN_HELD
        contradictions = self._contradictions()
        required = [word.text for word in self.missing_words if self._must_match(word)]
        substituted = self._substitutions()
        names = [word for word in substituted if not word[0].islower()]
        vetoes = [*contradictions, *self.missing_figures, *self._other_units(), *required, *names]
        replaced = [word for word in substituted if word not in names]
        unheld = [] if self.is_computed and held >= least else [word.text for word in self.missing_words]
        has_no_figure = bool(self.claim.numbers) and len(set(self.missing_figures)) == len(
            {n.text for n in self.claim.numbers}
        )
        if contradictions or has_no_figure or held < min(MIN_PARTLY, least):
            support = types.Support.CONTRADICTED if held >= least and self._is_false() else types.Support.NOT_VERIFIED
        else:
            if held >= least and not vetoes:
                vetoes = self._failed_checks()
            is_proved = not vetoes and not replaced and not unheld and own >= min(MIN_OWN, least)
            support = types.Support.SUPPORTED if is_proved else types.Support.PARTLY
        missing = _first([*vetoes, *replaced, *unheld])
        if held < least:  # the evidence may speak of something else: what it lacks is then no fact against the claim
            return Judgement(support, missing, held)
        return Judgement(support, missing, held, vetoes=_first(vetoes), replaced=_first(replaced))

    def _is_false(self) -> bool:
        """Return whether the claim cannot be true beside this evidence, which else only fails to prove it."""
        is_negated = bool(self._negations()) and not self.missing_figures
        ours = _count_negations(self.claim)
        if is_negated and any(_count_negations(own) % 2 != ours % 2 for own in self._same_statements):
            return True
        if not self._is_same_statement:
            return False
        is_bounded = any(
            quantities.bound(text.text, figure) not in quantities.EXACT_BOUNDS
            for text in (self.claim, self.evidence.own)
            for figure in text.numbers
        )
        own = self.evidence.own
        antonyms = [word for word in self._antonyms() if word.casefold() not in negation.NEGATIONS]
        is_opposite = bool(antonyms) and not wording_checks.compare_otherwise(self.claim, own)
        replaced = [n for n in self._replaced_figures() if not wording_checks.is_derived(n, self.claim, own)]
        return bool(is_opposite or self._wrong_years() or (replaced and not is_bounded))

    @property
    def _is_same_statement(self) -> bool:
        return bool(self.evidence.row) or self._is_alike(self.evidence.own)

    @property
    def _same_statements(self) -> list[Text]:
        """The evidence, else those of its clauses, that have the claim's words and few others.

        Of a sentence with a condition or with hedging no clause is taken: "if costs do not fall" denies nothing.
        """
        own = self.evidence.own
        if self._is_same_statement:
            return [own]
        if qualifications.is_conditional(own):
            return []
        clauses = map(analyze, _CLAUSE_END.split(own.text))
        return [
            clause
            for clause in clauses
            if self.claim.content_keys <= clause.content_keys
            and self._is_alike(clause)
            and not qualifications.changed_hedges(self.claim, clause)
        ]

    def _is_alike(self, own: Text) -> bool:
        return len(own.content_keys & self.claim.content_keys) >= MIN_ALIKE * len(own.content_keys)

    def _failed_checks(self) -> list[str]:
        """Return why the claim is not proved although its words and figures occur in the evidence."""
        if self.is_computed:
            return []
        evidence = self.evidence
        found = wording_checks.failed_checks(self.claim, evidence.own, evidence.scales, is_row=bool(evidence.row))
        found += undeclared_scales(self.claim, evidence.own, evidence.scales)
        if row := evidence.row:
            label, _, _ = row.text.partition(" –")
            found += omitted_scale(self.claim, row, [column.cell for column in evidence.columns], evidence.declared)
            found += wrong_columns(self.claim, label, evidence.columns, self._is_same)
            found += unplaced_years(self.claim, evidence.columns, evidence.header, self._is_same)
            found += partial_periods(self.claim, evidence.columns, self._is_same)
        return found

    def _other_units(self) -> list[str]:
        """Return the units of claimed figures that the evidence gives in other units."""
        lacking = [number for number in self.claim.numbers if number.unit and number.text in self.missing_figures]
        bare = [(number.unit, number._replace(unit=None)) for number in lacking]
        return [
            unit for unit, number in bare if unit and any(self._is_same(number, n) for n in self.evidence.own.numbers)
        ]

    def _contradictions(self) -> list[str]:
        return [*self._negations(), *self._antonyms(), *self._wrong_years(), *self._replaced_figures()]

    @functools.cached_property
    def _differences(self) -> list[tuple[Sequence[Item], Sequence[Item]]]:
        """Where claim and evidence differ between the same words; empty for rows, which are checked by column."""
        if self.is_computed or self.evidence.row:
            return []
        orders = itertools.product(_word_orders(self.claim), _word_orders(self.evidence.own))
        ours, theirs = max(
            ((one.sequence, other.sequence) for one, other in orders), key=lambda pair: count_matching(*pair)
        )
        may_be_passive = "by" in self.claim.folded | self.evidence.own.folded  # then exchanged names mean the same
        return [*differences(ours, theirs), *([] if may_be_passive else exchanges(ours, theirs))]

    def _substitutions(self) -> list[str]:
        """Return the claim's words that stand in place of others in the evidence."""
        return [
            item.text
            for ours, theirs in self._differences
            for item in ours
            if item.key != NEGATION
            and not (self._trend and negation.trend(item.text) == self._trend)
            and not _means_one_of(item, theirs)
            and not is_abbreviated(item.text, self.claim, self.evidence.own)
            and not self._replaces_generic_name(ours, theirs)
            and any(is_figure(other) == is_figure(item) for other in theirs)
            and (len(theirs) <= MAX_REPLACED or item.key not in self.evidence.own_keys)
        ]

    def _replaces_generic_name(self, ours: Sequence[Item], theirs: Sequence[Item]) -> bool:
        """Return whether a name from the evidence's context replaces a generic word such as "company"."""
        are_names = len(ours) <= MAX_REPLACED and all(item.text[0].isupper() for item in ours)
        return (
            are_names
            and all(item.text.casefold() in GENERIC_NAMES for item in theirs)
            and all(any(item.key in text.keys for text in self.evidence.around) for item in ours)
        )

    def _share(self, keys: frozenset[str]) -> float:
        """Return the weighted share of the claim's words among `keys`; 1 for a claim of figures only, if they match."""
        weights = [self.weights.of(word.key) for word in self.claim.content]
        if not weights:
            return 0.0 if self.missing_figures else 1.0
        held = [self._is_held(word, keys) for word in self.claim.content]
        return sum(weight for weight, is_held in zip(weights, held, strict=True) if is_held) / sum(weights)

    def _is_held(self, word: Word, keys: frozenset[str]) -> bool:
        claim, own = self.claim, self.evidence.own
        is_generic = word.text.casefold() in GENERIC_NAMES and _THE.search(claim.text[: word.start])
        if word.key in keys or is_generic or is_abbreviated(word.text, claim, own):
            return True
        way = negation.trend(word.text)
        if way and (way == self._trend or any(negation.trend(other) == way for other in own.folded)):
            return True
        # Whether the evidence hedges the same is for `qualifications.changed_hedges` to say.
        if any(start <= word.start < end for start, end in self._hedged):
            return True
        denied = claim.denied.get(word.start, ())  # "lacks" corresponds to "does not have"
        if any(not set(negated).isdisjoint(denied) for negated in own.negated):
            return True
        # A quarter or half year may be spelled differently: "Q1".
        codes = {period.code for text in (own, self.evidence.header) if text for period in text.periods}
        if any(period.start <= word.start < period.end and period.code in codes for period in claim.periods):
            return True
        value = numbers.spelled_value(word.text)
        if value is None or numbers.is_month(word.text):
            return value in own.months
        spelled = {numbers.spelled_value(other.text) for other in own.words}
        return value in spelled or any(value in number.values and number.scale is None for number in own.numbers)

    def _must_match(self, word: Word) -> bool:
        """Return whether a word must occur literally: a name, a spelled number, a word of growth or decline."""
        if self.is_computed:
            return False
        is_count = numbers.spelled_value(word.text) is not None
        way = negation.trend(word.text)
        return is_count or bool(way and way != self._trend) or is_name(word, self.claim.text)

    # --- what speaks against it ---

    def _negations(self) -> list[str]:
        """Return a "not", or the claim's word, for each negation that only one of both texts has."""
        if self.is_computed:
            return []
        between = [
            "not"
            for ours, theirs in self._differences
            if any(item.key == NEGATION for item in (*ours, *theirs))
            and sum(map(_is_negative, ours)) != sum(map(_is_negative, theirs))
        ]
        return [
            *between,
            *wording_checks.negation_conflicts(self.claim, self.evidence.quoted, self.evidence.own_keys),
        ]

    def _antonyms(self) -> list[str]:
        return [] if self.is_computed else wording_checks.antonyms(self.claim, self.evidence.own)

    def _wrong_years(self) -> list[str]:
        """Return the years that the evidence assigns to other figures than the claim does."""
        own = self.evidence.own
        words = []
        for number in self.claim.numbers:
            year = self.claim.years.get(number.start)
            if year is None or number.text in self.missing_figures:
                continue
            there = {own.years.get(other.start) for other in own.numbers if self._is_same(number, other)}
            if there and None not in there and year not in there:
                words.append(str(year))
        return words

    def _is_same(self, number: Number, other: Number) -> bool:
        return numbers.is_same(number, other, self.evidence.scales, self.evidence.currency)

    def _replaced_figures(self) -> list[str]:
        """Return absent figures where the evidence has figures of their kind, but none of the claim's."""
        words = []
        for kind in ("year", "share", "amount"):
            claimed = [number.text for number in self.claim.numbers if _kind(number) == kind]
            is_there = any(_kind(number) == kind for number in self.evidence.own.numbers)
            if is_there and set(claimed) <= set(self.missing_figures):
                words += claimed
        return words


def _first(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))[:MAX_MISSING]


def _word_orders(text: Text) -> list[Text]:
    """Return the text, and with a leading period or place moved to its end if it has one."""
    later = move_lead_in_to_end(text.text)
    return [text] if later == text.text else [text, analyze(later)]


def _count_negations(text: Text) -> int:
    return len(text.negated) + len(text.denied)


def _is_negative(item: Item) -> bool:
    return item.key == NEGATION or item.text.casefold() in negation.DENIALS


def _means_one_of(item: Item, others: Sequence[Item]) -> bool:
    """Return whether one of `others` means the same as `item`: same stem, trend or negation."""
    way = negation.trend(item.text)
    if _is_negative(item) and any(other.key == NEGATION for other in others):
        return True
    return any(item.key == other.key or (way and way == negation.trend(other.text)) for other in others)


def _kind(number: Number) -> str:
    return "year" if number.year is not None else "share" if number.is_share else "amount"
