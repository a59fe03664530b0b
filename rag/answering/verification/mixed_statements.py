"""Detect claims that mix parts of different statements of their source, or of a list with "respectively".

"90% at Varna and 75% at Lodz" has all the words of "90% at Lodz", but does not entail it.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from rag.answering.text.analyzed_text import Text, analyze
from rag.answering.text.numbers import Number, is_day, is_same
from rag.answering.verification.coordination import Conjunct, FigureKind, StatedFigure, conjuncts, key_of

FAMILY_PREFIX_CHARS = 5
"""Length of the common prefix of related words: "produced", "production"."""

_RESPECTIVELY = re.compile(r"\b(?:respectively|beziehungsweise|bzw|respectivement|respectivamente)\b", re.IGNORECASE)
_BETWEEN_LABELS = re.compile(r",\s*(?:and\s+)?|(?<!\s)\s+and\s+", re.IGNORECASE)


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the claim's figures, or words of a claim without figures, that the source states of something else."""
    if _plain(claim.text) in _plain(own.text):
        return []
    if _RESPECTIVELY.search(own.text):
        return _mispaired(claim, own)
    stated = conjuncts(own.text)
    if len(stated) < 2:
        return []
    found: list[str] = []
    for said in conjuncts(claim.text):
        found += [figure.text for figure in said.own_figures if _is_mixed_up(figure, said, stated)]
        if not said.figures:
            found += _mixed_up_words(said, [member for member in stated if member.has_verb])
    return found


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .")


def _is_mixed_up(figure: StatedFigure, said: Conjunct, stated: Sequence[Conjunct]) -> bool:
    """Return whether, wherever the figure occurs, the claim has parts of another statement instead."""
    holders = [member for member in stated if figure.stands_in(member.own_figures)]
    return bool(holders) and all(
        any(
            _has_other_figure(said, holder, rival)
            or (_rival_keys(said, holder, rival) and not _shares_figure(said, rival))
            for rival in _rival_conjuncts(figure, holder, stated)
        )
        for holder in holders
    )


def _rival_conjuncts(figure: StatedFigure, holder: Conjunct, stated: Iterable[Conjunct]) -> Iterator[Conjunct]:
    """Yield the statements with figures of the same kind as the holder's."""
    for member in stated:
        if member is holder or figure.stands_in(member.figures):
            continue
        is_alike = any(other.kind is figure.kind for other in member.own_figures)
        if is_alike or (figure.kind in {FigureKind.AMOUNT, FigureKind.SHARE} and member.has_verb and holder.is_clause):
            yield member


def _has_other_figure(said: Conjunct, holder: Conjunct, rival: Conjunct) -> bool:
    """Return whether the claim has a figure of a rival in place of one of the holder's."""
    return any(
        other.kind is figure.kind and not other.stands_in(said.figures) and not other.stands_in(rival.figures)
        for figure in said.figures
        if figure.stands_in(rival.own_figures) and not figure.stands_in(holder.figures)
        for other in holder.own_figures
    )


def _shares_figure(said: Conjunct, rival: Conjunct) -> bool:
    """Return whether the claim also has a figure of the rival, which may explain the rival's words."""
    return any(figure.kind is not FigureKind.YEAR and figure.stands_in(rival.own_figures) for figure in said.figures)


def _rival_keys(said: Conjunct, holder: Conjunct, rival: Conjunct) -> list[str]:
    """Return the rival's words that the claim has in place of some of the holder's."""
    other = _unrelated(said.keys & rival.keys - holder.all_keys, holder.keys)
    own = holder.own_keys if holder.is_clause else holder.keys
    left_out = _unrelated(own - rival.own_keys - said.all_keys, said.keys)
    return other if left_out else []


def _unrelated(keys: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the keys that are related to none of `others`."""
    beginnings = {other[:FAMILY_PREFIX_CHARS] for other in others}
    return [key for key in keys if key[:FAMILY_PREFIX_CHARS] not in beginnings]


def _mixed_up_words(said: Conjunct, stated: Sequence[Conjunct]) -> list[str]:
    """Return the words of a claim without figures that belong to another statement than its other words."""
    found: list[str] = []
    for holder in stated:
        if said.keys.isdisjoint(holder.own_keys):
            continue
        others = [key for rival in stated if rival is not holder for key in _rival_keys(said, holder, rival)]
        if not others:
            return []
        found += others
    return [word.text for word in said.text.words if key_of(word) in found]


# --- values paired by their order: "815, 795 and 782 warehouses in 2021, 2020 and 2019, respectively" ---


def _mispaired(claim: Text, own: Text) -> list[str]:
    """Return the years and subjects of the claim whose value in such a list it leaves out or exchanges."""
    values, claimed = _values(own), _values(claim)
    if len(values) < 2 or not any(_has(value, claimed) for value in values):
        return []
    return [label for label, value in _pairs(own, values, claim) if not _has(value, claimed)]


def _pairs(own: Text, values: Sequence[Number], claim: Text) -> Iterator[tuple[str, Number]]:
    """Yield the labels that the claim names with their values."""
    years = [number for number in own.figures if number.year is not None]
    if len(years) == len(values):
        named = {number.year for number in claim.figures}
        yield from ((year.text, value) for year, value in zip(years, values, strict=True) if year.year in named)
        return
    labels = _labels(own, values)
    for index, (label, value) in enumerate(zip(labels, values, strict=False)):
        others = frozenset().union(*(other.content_keys for other in labels[:index] + labels[index + 1 :]))
        distinct = label.content_keys - others
        if distinct and distinct <= claim.content_keys:
            yield label.text.strip(), value


def _labels(own: Text, values: Sequence[Number]) -> list[Text]:
    """Return the subjects before a list of values, one for each; [] if they cannot be told apart."""
    gaps = [own.text[one.end : other.start] for one, other in itertools.pairwise(values)]
    if any(analyze(gap).content for gap in gaps):
        return []
    labels = [analyze(part) for part in _BETWEEN_LABELS.split(own.text[: values[0].start])]
    return labels[-len(values) :] if len(labels) >= len(values) else []


def _values(text: Text) -> list[Number]:
    """Return the figures that are neither years nor days of a month."""
    return [number for number in text.figures if number.year is None and not is_day(number, text.text)]


def _has(value: Number, claimed: Sequence[Number]) -> bool:
    return any(is_same(value, other, frozenset()) for other in claimed)
