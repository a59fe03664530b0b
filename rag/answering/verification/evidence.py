"""Evidence for a claim: quoted text, its context, and word weights."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.answering.text import numbers
from rag.answering.text.analyzed_text import Text
from rag.answering.verification.table_figures import Column


class WordWeights:
    """Word weights of a collection; unknown words weigh as much as the rarest one."""

    def __init__(self, rarity: Mapping[str, float]) -> None:
        self._rarity = rarity
        self._unseen = max(rarity.values(), default=1.0)

    def of(self, key: str) -> float:
        """Return the weight of a word."""
        return self._rarity.get(key, self._unseen)


@dataclass(frozen=True)
class Evidence:
    """A quote and its context, as compared with a claim.

    `row` is the quoted table row with its column names, `columns` its cells. `around` are headings, titles and, for a
    sentence that refers back, the sentence before. `scales` are the possible scales of bare figures, `declared` those
    from the caption of its own table, `currency` their currency.
    """

    quoted: Text
    row: Text | None = None
    columns: tuple[Column, ...] = ()
    header: Text | None = None
    around: tuple[Text, ...] = ()
    scales: numbers.Scales = None
    declared: numbers.Scales = None
    currency: str | None = None
    weights: WordWeights | None = None

    @property
    def own(self) -> Text:
        """The quoted words as they are compared."""
        return self.row or self.quoted

    @functools.cached_property
    def own_keys(self) -> frozenset[str]:
        """The word keys of the quote and its column names."""
        return self.quoted.keys | (self.header.keys if self.header else frozenset())

    @functools.cached_property
    def all_keys(self) -> frozenset[str]:
        """The word keys of the quote, its column names and its context."""
        return self.own_keys.union(*(text.keys for text in self.around))

    @functools.cached_property
    def texts(self) -> list[str]:
        """The texts that may hold figures: quote and column names; years also from the context if these have none."""
        own = [self.own.text, *([self.header.text] if self.header else [])]
        has_year = any(number.year for text in (self.own, self.header) if text for number in text.numbers)
        return (
            own
            if has_year
            else [*own, *(number.text for text in self.around for number in text.numbers if number.year)]
        )


def combine(pieces: Sequence[Evidence]) -> Evidence:
    """Several pieces as one, for a figure that is computed from all of them."""
    headers = [piece.header.text for piece in pieces if piece.header]
    return Evidence(
        Text("\n".join(piece.quoted.text for piece in pieces)),
        header=Text("\n".join(headers)) if headers else None,
        around=tuple(dict.fromkeys(text for piece in pieces for text in piece.around)),
        scales=numbers.union_scales(piece.scales for piece in pieces),
        weights=pieces[0].weights,
    )
