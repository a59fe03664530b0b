"""Detect claims that mix parts of different statements of their source.

"90% at Varna and 75% at Lodz" has all the words of "90% at Lodz", but does not entail it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from rag.answering.text.analyzed_text import Text
from rag.answering.verification.coordination import Figure, Kind, Member, key_of, members

_PAIRED = re.compile(r"\brespectively\b", re.IGNORECASE)
"""With "respectively" the order pairs values with subjects, so statements cannot be separated."""

MIN_SAME_CHARS = 5
"""Length of the common prefix of related words: "produced", "production"."""


def crossed(claim: Text, own: Text) -> list[str]:
    """Return the claim's figures, or words of a claim without figures, that the source states of something else."""
    stated = members(own.text)
    if len(stated) < 2 or _PAIRED.search(own.text) or _plain(claim.text) in _plain(own.text):
        return []
    found: list[str] = []
    for said in members(claim.text):
        found += [figure.text for figure in said.own_figures if _is_crossed(figure, said, stated)]
        if not said.figures:
            found += _crossed_words(said, [member for member in stated if member.has_verb])
    return found


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(" .")


def _is_crossed(figure: Figure, said: Member, stated: Sequence[Member]) -> bool:
    """Return whether, wherever the figure occurs, the claim has parts of another statement instead."""
    holders = [member for member in stated if figure.stands_in(member.own_figures)]
    return bool(holders) and all(
        any(
            _has_other_figure(said, holder, rival) or (_other_keys(said, holder, rival) and not _shares(said, rival))
            for rival in _rivals(figure, holder, stated)
        )
        for holder in holders
    )


def _rivals(figure: Figure, holder: Member, stated: Iterable[Member]) -> Iterator[Member]:
    """Yield the statements with figures of the same kind as the holder's."""
    for member in stated:
        if member is holder or figure.stands_in(member.figures):
            continue
        is_alike = any(other.kind is figure.kind for other in member.own_figures)
        if is_alike or (figure.kind in {Kind.AMOUNT, Kind.SHARE} and member.has_verb and holder.is_clause):
            yield member


def _has_other_figure(said: Member, holder: Member, rival: Member) -> bool:
    """Return whether the claim has a figure of a rival in place of one of the holder's."""
    return any(
        other.kind is figure.kind and not other.stands_in(said.figures) and not other.stands_in(rival.figures)
        for figure in said.figures
        if figure.stands_in(rival.own_figures) and not figure.stands_in(holder.figures)
        for other in holder.own_figures
    )


def _shares(said: Member, rival: Member) -> bool:
    """Return whether the claim also has a figure of the rival, which may explain the rival's words."""
    return any(figure.kind is not Kind.YEAR and figure.stands_in(rival.own_figures) for figure in said.figures)


def _other_keys(said: Member, holder: Member, rival: Member) -> list[str]:
    """Return the rival's words that the claim has in place of some of the holder's."""
    other = _without_family(said.keys & rival.keys - holder.all_keys, holder.keys)
    own = holder.own_keys if holder.is_clause else holder.keys
    left_out = _without_family(own - rival.own_keys - said.all_keys, said.keys)
    return other if left_out else []


def _without_family(keys: Iterable[str], others: Iterable[str]) -> list[str]:
    """Return the keys that are related to none of `others`."""
    beginnings = {other[:MIN_SAME_CHARS] for other in others}
    return [key for key in keys if key[:MIN_SAME_CHARS] not in beginnings]


def _crossed_words(said: Member, stated: Sequence[Member]) -> list[str]:
    """Return the words of a claim without figures that belong to another statement than its other words."""
    found: list[str] = []
    for holder in stated:
        if said.keys.isdisjoint(holder.own_keys):
            continue
        others = [key for rival in stated if rival is not holder for key in _other_keys(said, holder, rival)]
        if not others:
            return []
        found += others
    return [word.text for word in said.text.words if key_of(word) in found]
