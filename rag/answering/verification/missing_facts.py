"""Find the facts of a claim that its evidence lacks: figures, measures, counts and names.

Whatever a model says of the meaning, a claim with another figure or name is not proved.
"""

import re
from collections.abc import Iterator, Sequence

from rag.answering.text import numbers
from rag.answering.text.analyzed_text import Text, analyze, is_abbreviated, is_name
from rag.answering.text.measurement_units import measure_behind
from rag.answering.verification.evidence import Evidence
from rag.ingestion.language_detection import detect

MIN_NAME_CHARS = 4

MIN_COMMON_PREFIX = 4
"""Letters that variants of a name share: "Germany" and "German"."""

_WORD = re.compile(r"[^\W\d_]+")


def missing_facts(claim: str, evidence: Sequence[Evidence], around: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the figures, measures, counts and names of `claim` that `evidence` lacks; `around` may hold names."""
    text = analyze(claim)
    texts = list(dict.fromkeys(part for piece in evidence for part in piece.texts))
    scales = numbers.union_scales(piece.scales for piece in evidence)
    currency = next((piece.currency for piece in evidence if piece.currency), None)
    missing = [*numbers.unsupported(claim, texts, scales=scales, currency=currency)]
    missing += _other_measures(text, texts)
    missing += _missing_counts(text, texts)
    missing += _missing_names(text, [*texts, *around])
    return tuple(dict.fromkeys(missing))


def missing_names(claim: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of `claim` that occur in none of `texts`, neither as a variant nor as initials.

    Short ones are left out: titles, letters and initials of other words ("Jr", "FY"). In German all nouns have
    capitals, and a name is not told from them.
    """
    if detect(claim) == "german":
        return ()
    found = dict.fromkeys(_missing_names(analyze(claim), texts))
    return tuple(name for name in found if len(name) >= MIN_NAME_CHARS)


def _other_measures(claim: Text, texts: Sequence[str]) -> Iterator[str]:
    """Yield figures that the texts have with another measure only: "11 metres" where they say "11 km"."""
    there = [
        (number.values, measure.name)
        for text in texts
        for number in numbers.find_numbers(text)
        if (measure := measure_behind(text, number.end))
    ]
    for number in claim.numbers:
        measure = measure_behind(claim.text, number.end)
        others = {name for values, name in there if values & number.values}
        if measure and others and measure.name not in others:
            yield claim.text[number.start : measure.end]


def _missing_counts(claim: Text, texts: Sequence[str]) -> Iterator[str]:
    """Yield spelled counts and months that no text has in any spelling."""
    there = [analyze(text) for text in texts]
    values = frozenset[float]().union(*(text.values for text in there), *(text.months for text in there))
    for word in claim.words:
        value = numbers.spelled_value(word.text)
        if value is not None and value not in values and not any(word.key in text.keys for text in there):
            yield word.text


def _missing_names(claim: Text, texts: Sequence[str]) -> Iterator[str]:
    """Yield names that occur in no text, neither as a variant nor as initials."""
    words = {word.casefold() for text in texts for word in _WORD.findall(text)}
    there = [analyze(text) for text in texts]
    keys = frozenset[str]().union(*(text.keys for text in there))
    for word in claim.words:
        if not is_name(word, claim.text) or numbers.spelled_value(word.text) is not None:
            continue
        name = re.sub(r"['’]s?$", "", word.text).casefold()
        if word.key in keys or any(is_abbreviated(word.text, claim, text) for text in there):
            continue
        is_variant = name in words or any(_is_variant(name, other) for other in words)
        if word.key.isupper() or not is_variant:  # "US" is no "us"
            yield word.text


def _is_variant(name: str, other: str) -> bool:
    """Return whether one is the other with an ending: "Italian", "Italy"; "U.S." and "US" are equal as initials."""
    shared = min(len(name), len(other))
    prefix = next((i for i in range(shared) if name[i] != other[i]), shared)
    return prefix >= MIN_COMMON_PREFIX and prefix >= shared - 2 and abs(len(name) - len(other)) <= MIN_COMMON_PREFIX
