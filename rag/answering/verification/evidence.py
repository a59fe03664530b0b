"""What is held against a claim: quoted words and what they are read with, and how much each word weighs."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rag.answering.text import numbers
from rag.answering.text.analyzed_text import Text
from rag.answering.verification.table_figures import Column


class Weights:
    """How much each word of a collection weighs; a word that is not in it weighs as much as the rarest."""

    def __init__(self, rarity: Mapping[str, float]) -> None:
        self._rarity = rarity
        self._unseen = max(rarity.values(), default=1.0)

    def of(self, key: str) -> float:
        """The weight of a word."""
        return self._rarity.get(key, self._unseen)


@dataclass(frozen=True)
class Evidence:
    """What is held against a claim: quoted words, and around them what they are read with.

    `row` is the quoted row of a table with the names of its columns, `columns` its cells one by one; `around` are
    headings, titles and, for a sentence that speaks of the one before it, that sentence. `scales` are those that its
    bare figures may have, `declared` those that the caption of its own table gives them, `currency` is theirs.
    """

    quoted: Text
    row: Text | None = None
    columns: tuple[Column, ...] = ()
    header: Text | None = None
    around: tuple[Text, ...] = ()
    scales: numbers.Scales = None
    declared: numbers.Scales = None
    currency: str | None = None
    weights: Weights | None = None

    @property
    def own(self) -> Text:
        """The quoted words as they are compared."""
        return self.row or self.quoted

    @functools.cached_property
    def own_keys(self) -> frozenset[str]:
        """The words of the quote and of its columns."""
        return self.quoted.keys | (self.header.keys if self.header else frozenset())

    @functools.cached_property
    def all_keys(self) -> frozenset[str]:
        """These and the words around them."""
        return self.own_keys.union(*(text.keys for text in self.around))

    @functools.cached_property
    def texts(self) -> list[str]:
        """What figures may stand in: the quote and its columns; years that these do not name, also around them."""
        own = [self.own.text, *([self.header.text] if self.header else [])]
        has_year = any(number.year for text in (self.own, self.header) if text for number in text.numbers)
        return (
            own
            if has_year
            else [*own, *(number.text for text in self.around for number in text.numbers if number.year)]
        )


def together(pieces: Sequence[Evidence]) -> Evidence:
    """Several pieces as one, for a figure that is computed from all of them."""
    headers = [piece.header.text for piece in pieces if piece.header]
    return Evidence(
        Text("\n".join(piece.quoted.text for piece in pieces)),
        header=Text("\n".join(headers)) if headers else None,
        around=tuple(dict.fromkeys(text for piece in pieces for text in piece.around)),
        scales=numbers.either(piece.scales for piece in pieces),
        weights=pieces[0].weights,
    )
