"""Detect claims that mix parts of different statements of their source.

"90% at Varna and 75% at Lodz" has all the words of "90% at Lodz", but does not entail it.
"""

from collections.abc import Iterable, Iterator, Sequence

from rag.answering.text import paired_values
from rag.answering.text.analyzed_text import Text
from rag.answering.verification.coordination import Conjunct, FigureKind, StatedFigure, conjuncts, key_of

FAMILY_PREFIX_CHARS = 5
"""Length of the common prefix of related words: "produced", "production"."""


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the claim's figures, or words of a claim without figures, that the source states of something else."""
    if _plain(claim.text) in _plain(own.text):
        return []
    if paired_values.is_paired(own):
        return paired_values.mismatches(claim, own)
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
