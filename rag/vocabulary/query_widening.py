"""Query expansion by vocabularies.

A question in an analyst's terms ("quick ratio", "COGS", "who bears the indemnity?") is widened with the terms that
documents use, and with the places where they stand.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal, NamedTuple

import snowballstemmer

from rag.vocabulary.vocabulary import APOSTROPHES, Abbreviation, Place, Terms, Vocabulary, trades

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*|(?<=\s)&(?=\s)")
"""A word, or an ampersand between spaces."""
ENDING = re.compile(r"(?:'?s)?(?![^\W_])")
"""An optional plural or possessive ending of an abbreviation: NDAs, CEO's."""
STEM_CACHE_SIZE = 20_000

Kind = Literal["synonym", "derived", "item", "abbreviation"]


@dataclass(frozen=True)
class Widening:
    """An expansion: the words found in the question, the words added, and the vocabulary."""

    found: str
    added: tuple[str, ...]
    trade: str
    kind: Kind


@dataclass(frozen=True)
class Widened:
    """All expansions of a question, and the places it asks for, explicitly named ones first."""

    widenings: tuple[Widening, ...] = ()
    places: tuple[Place, ...] = ()


class _Word(NamedTuple):
    """A stem and its character span; the words of an expanded abbreviation share the abbreviation's span."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class _Rule:
    """The result of a match: phrases to add, each with its stems, and places."""

    trade: str
    kind: Kind | Literal["place"]
    added: tuple[tuple[str, str], ...]
    places: tuple[str, ...]


class _Match(NamedTuple):
    words: range
    rules: Sequence[_Rule]


class _Short(NamedTuple):
    """An abbreviation found in a text."""

    abbreviation: str
    start: int
    end: int


class Widener:
    """Widens questions by several vocabularies; the first one that defines an abbreviation takes precedence."""

    def __init__(self, vocabularies: Sequence[Vocabulary]) -> None:
        self._places = _merged_places(vocabularies)
        self._short_lengths: dict[str, list[int]] = {}
        self._longs: dict[str, list[tuple[str, _Rule]]] = {}
        self._patterns: dict[tuple[str, ...], list[_Rule]] = {}
        self._lengths: dict[str, set[int]] = {}
        for vocabulary in vocabularies:
            for abbreviation in vocabulary.abbreviations:
                self._abbreviate(abbreviation, vocabulary.title)
        for lengths in self._short_lengths.values():
            lengths.sort(reverse=True)
        for vocabulary in vocabularies:
            for terms, rule in _rules(vocabulary):
                self._index(terms, rule)

    @property
    def places(self) -> tuple[Place, ...]:
        """All places that the vocabularies define."""
        return tuple(self._places.values())

    def widen(self, question: str) -> Widened:
        """Return the expansions of `question`, abbreviations first, then in the order of the question."""
        text = question.translate(APOSTROPHES)
        shorts = self._shorts_in(text)
        matches = [(short.start, short.end, rule) for short in shorts for _, rule in self._longs[short.abbreviation]]
        words = self._expanded(text, shorts)
        for match in self._matches(words):
            start, end = words[match.words[0]].start, words[match.words[-1]].end
            matches += [(start, end, rule) for rule in match.rules]
        phrases, widenings, used = _Phrases(text), [], set()
        for start, end, rule in matches:
            if rule in used:
                continue
            used.add(rule)
            added = phrases.new(rule.added)
            if added and rule.kind != "place":
                widenings.append(Widening(question[start:end], added, rule.trade, rule.kind))
        named = [name for _, _, rule in matches if rule.kind == "place" for name in rule.places]
        places = [name for _, _, rule in matches for name in rule.places]
        return Widened(tuple(widenings), tuple(self._places[name] for name in dict.fromkeys([*named, *places])))

    def _abbreviate(self, abbreviation: Abbreviation, trade: str) -> None:
        short = abbreviation.short.translate(APOSTROPHES)
        rule = _Rule(trade, "abbreviation", _with_stems([abbreviation.long]), ())
        lengths = self._short_lengths.setdefault(_first_word(short), [])
        if len(short) not in lengths:
            lengths.append(len(short))
        self._longs.setdefault(short, []).append((abbreviation.long, rule))

    def _index(self, terms: Iterable[str], rule: _Rule) -> None:
        """Index each term as written and with its abbreviations expanded."""
        for term in terms:
            text = term.translate(APOSTROPHES)
            written, expanded = _words(text), self._expanded(text, self._shorts_in(text))
            for stems in {tuple(word.stem for word in words) for words in (written, expanded)}:
                rules = self._patterns.setdefault(stems, [])
                self._lengths.setdefault(stems[0], set()).add(len(stems))
                if rule not in rules:
                    rules.append(rule)

    def _shorts_in(self, text: str) -> list[_Short]:
        """Find the abbreviations in `text`, the longest at each position, also in plural: NDAs."""
        shorts: list[_Short] = []
        for word in WORD.finditer(text):
            if shorts and word.start() < shorts[-1].end:
                continue
            first = word[0].split("'")[0]
            lengths = [self._short_lengths.get(begun, ()) for begun in (first, first.removesuffix("s"))]
            for length in itertools.chain(*lengths):
                short = text[word.start() : word.start() + length]
                ending = ENDING.match(text, word.start() + length)
                if ending and short in self._longs:
                    shorts.append(_Short(short, word.start(), ending.end()))
                    break
        return shorts

    def _expanded(self, text: str, shorts: Sequence[_Short]) -> list[_Word]:
        """Return the words of `text` with its abbreviations expanded."""
        words, at = [], 0
        for short in shorts:
            words += _words(text, at, short.start)
            long = self._longs[short.abbreviation][0][0]
            words += [_Word(word.stem, short.start, short.end) for word in _words(long.translate(APOSTROPHES))]
            at = short.end
        return words + _words(text, at)

    def _matches(self, words: Sequence[_Word]) -> list[_Match]:
        """Find non-overlapping terms in `words`, preferring long ones, in order of position."""
        candidates = sorted(self._candidates(words), key=lambda match: (-len(match.words), match.words[0]))
        free, matches = set(range(len(words))), []
        for match in candidates:
            if free.issuperset(match.words):
                free.difference_update(match.words)
                matches.append(match)
        return sorted(matches, key=lambda match: match.words[0])

    def _candidates(self, words: Sequence[_Word]) -> Iterator[_Match]:
        stems = [word.stem for word in words]
        for start, stem in enumerate(stems):
            for length in self._lengths.get(stem, ()):
                end = start + length
                rules = self._patterns.get(tuple(stems[start:end])) if end <= len(stems) else None
                if rules and _may_cut(words, start) and _may_cut(words, end):
                    yield _Match(range(start, end), rules)


@cache
def widener() -> Widener:
    """Return the widener of the packaged vocabularies, which takes a third of a second to build."""
    return Widener(trades())


class _Phrases:
    """The phrases that the question or an earlier expansion has already."""

    def __init__(self, question: str) -> None:
        self._question = f" {_stems(question)} "
        self._added: set[str] = set()

    def new(self, phrases: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Return the new ones of `phrases` and remember them."""
        new_phrases = []
        for phrase, stems in phrases:
            if stems not in self._added and f" {stems} " not in self._question:
                self._added.add(stems)
                new_phrases.append(phrase)
        return tuple(new_phrases)


def _may_cut(words: Sequence[_Word], position: int) -> bool:
    """Whether a term may begin or end before `position`, which must not be inside an expanded abbreviation."""
    return not 0 < position < len(words) or words[position - 1].start != words[position].start


def _rules(vocabulary: Vocabulary) -> Iterator[tuple[Terms, _Rule]]:
    trade = vocabulary.title
    for synonyms in vocabulary.synonyms:
        yield synonyms.terms, _Rule(trade, "synonym", _with_stems(synonyms.terms), ())
    for derived in vocabulary.derived:
        yield derived.terms, _Rule(trade, "derived", _with_stems(derived.items), derived.places)
    for items in vocabulary.items:
        yield items.terms, _Rule(trade, "item", _with_stems([items.place]), (items.place,))
    for place in vocabulary.places:
        yield place.terms, _Rule(trade, "place", (), (place.name,))


def _merged_places(vocabularies: Sequence[Vocabulary]) -> dict[str, Place]:
    """Merge the definitions of equally named places."""
    places: dict[str, Place] = {}
    for place in (place for vocabulary in vocabularies for place in vocabulary.places):
        known = places.setdefault(place.name, place)
        places[place.name] = replace(
            known,
            terms=tuple(dict.fromkeys(known.terms + place.terms)),
            titles=tuple(dict.fromkeys(known.titles + place.titles)),
            marks=tuple(dict.fromkeys(known.marks + place.marks)),
        )
    return places


def _with_stems(phrases: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((phrase, _stems(phrase.translate(APOSTROPHES))) for phrase in phrases)


def _stems(text: str) -> str:
    return " ".join(word.stem for word in _words(text))


def _words(text: str, start: int = 0, end: int | None = None) -> list[_Word]:
    matches = WORD.finditer(text, start, len(text) if end is None else end)
    return [_Word(stem(word[0].lower()), word.start(), word.end()) for word in matches]


def _first_word(text: str) -> str:
    match = WORD.match(text)
    return match[0].split("'")[0] if match else ""


@lru_cache(STEM_CACHE_SIZE)
def stem(word: str) -> str:
    """Return the stem of `word`; stemmers are stateful, so each call creates one."""
    return "and" if word == "&" else str(snowballstemmer.stemmer("english").stemWord(word))
