"""Collect the evidence for a claim that words did not prove: the best sentences of the passages it cites.

Whatever a model says of the meaning, a claim with another figure, measure, count or name is not proved.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag import prompts, types
from rag.answering.text import numbers
from rag.answering.text.analyzed_text import Text, analyze, is_abbreviated, is_name, refers_back
from rag.answering.text.measurement_units import measure_behind
from rag.answering.text.names import is_term
from rag.answering.verification.evidence import Evidence
from rag.answering.verification.figure_places import NO_FIGURES, FigureCheck
from rag.answering.verification.quote_matching import QuotablePassage, Quote
from rag.answering.verification.word_comparison import GENERIC_NAMES, UNRELATED, Judgement
from rag.ingestion.language_detection import detect

MIN_MISSING_NAME_CHARS = 4

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
    there = [analyze(part) for part in texts]
    values = frozenset[float]().union(*(part.values for part in there), *(part.months for part in there))
    for word in text.words:  # spelled counts and months that no text has in any spelling
        value = numbers.spelled_value(word.text)
        if value is not None and value not in values and not any(word.key in part.keys for part in there):
            missing.append(word.text)
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
    return tuple(name for name in found if len(name) >= MIN_MISSING_NAME_CHARS)


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


MAX_EVIDENCE_CHARS = 1400
"""Limit of the evidence, about 300 tokens: the entailment model's time grows with it."""

THE_COMPANY = "the company"
_ITSELF = re.compile(r"\b(?:we|our|us|the (?:company|group|registrant))\b", re.IGNORECASE)
"""How a document speaks of the company that wrote it."""

_CAPITAL = r"[^\W\d_a-zß-öø-ÿ][\w&-]*(?:\.(?=,|\s+[a-zß-öø-ÿ]))?"
"""A capitalised word, with its full stop in the middle of a sentence: "Inc."."""

_NAMES = re.compile(rf"\b(?:the\s+)?{_CAPITAL}(?:\s+{_CAPITAL})*")
_LEGAL_FORMS = GENERIC_NAMES | {"inc", "corp", "plc", "ltd", "limited", "co"}

MIN_DOCUMENT_NAME_CHARS = 3
"""Shorter first words of a document's name, like the "M" of "3M", are no name to look for."""


class SourceSentence(NamedTuple):
    """A sentence of a source."""

    citation_id: str
    span: types.Span
    text: str


@dataclass(frozen=True)
class OpenClaim:
    """A claim that a judge is asked about.

    `wording` is what the answer says; in `text` the name of the company that wrote the document is replaced by "the
    company" where the evidence says "we". `sentences` are the sentences of its sources that may prove it, in reading
    order; `before` is the sentence of the answer before it, if that is proved and the claim refers back to it. `vetoes`
    are facts that speak against it. `replaced` are its words that stand where the evidence has others,
    `has_other_words` is whether the evidence lacks words of it, `is_contradicted` whether its words contradict the
    evidence, `is_decided` whether words and facts decide about it. `absent` are its figures that are in no source of
    the answer and follow from none, `denied_figures` those that one has for something else. `citation_ids` are the
    sources that it cites.
    """

    text: str
    sentences: tuple[SourceSentence, ...]
    before: str = ""
    vetoes: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    has_other_words: bool = True
    is_contradicted: bool = False
    is_decided: bool = False
    wording: str = ""
    absent: tuple[str, ...] = ()
    denied_figures: tuple[str, ...] = ()
    citation_ids: tuple[str, ...] = ()

    @property
    def rests_on_rows(self) -> bool:
        """Whether it has figures, and rows of tables are among the evidence."""
        return bool(analyze(self.text).numbers) and any(" | " in sentence.text for sentence in self.sentences)

    @property
    def evidence(self) -> str:
        """The sentences as one text."""
        lines = dict.fromkeys(line for sentence in self.sentences for line in sentence.text.split("\n"))
        return "\n".join(filter(None, [self.before, *lines]))


def open_claim(
    claim: str,
    passages: Mapping[str, QuotablePassage],
    quotes: Mapping[str, Sequence[Quote]],
    *,
    judgement: Judgement = UNRELATED,
    before: str = "",
    names: Sequence[str] = (),
    figures: FigureCheck = NO_FIGURES,
    citation_ids: Sequence[str] = (),
) -> OpenClaim:
    """Return `claim` with its evidence from the cited `passages`, the sentences of the `quotes` first.

    `judgement` is that of the comparison of words, `before` the proved sentence before it, `names` are the name and
    title of the document if only one is cited, `figures` are what was found of the claim's figures.
    """
    chosen = {
        citation_id: _closest_spans(
            claim, passage, quotes.get(citation_id, ()), MAX_EVIDENCE_CHARS // max(len(passages), 1)
        )
        for citation_id, passage in passages.items()
    }
    sentences = tuple(
        SourceSentence(citation_id, span, _shown(passages[citation_id], span))
        for citation_id, spans in chosen.items()
        for span in spans
    )
    evidence = [piece for sentence in sentences for piece in passages[sentence.citation_id].evidence(sentence.span)]
    before = before if refers_back(claim) else ""
    around = [before, *(text for passage in passages.values() for text in (passage.text, *passage.titles))]
    texts = [before, *(sentence.text for sentence in sentences)]
    text = _without_own_name(claim, " ".join(texts), names)
    own_name = {word.text for word in analyze(claim).words} - {word.text for word in analyze(text).words}
    vetoes = [*(veto for veto in judgement.vetoes if veto not in own_name), *missing_facts(text, evidence, around)]
    known = frozenset[str]().union(*(analyze(one).keys for one in texts))
    is_contradicted = judgement.support is types.Support.CONTRADICTED
    denied = [
        *figures.misplaced,
        *(veto for veto in judgement.vetoes if is_contradicted and any(map(str.isdigit, veto))),
    ]
    return OpenClaim(
        text,
        sentences,
        before,
        tuple(dict.fromkeys(veto for veto in vetoes if veto not in figures.confirmed)),
        judgement.replaced,
        has_other_words=not analyze(text).content_keys <= known,
        is_contradicted=is_contradicted,
        is_decided=judgement.is_decided,
        wording=claim,
        absent=figures.absent,
        denied_figures=tuple(figure for figure in dict.fromkeys(denied) if figure not in figures.computable),
        citation_ids=tuple(citation_ids),
    )


def _without_own_name(claim: str, evidence: str, names: Sequence[str]) -> str:
    """Write "the company" for the first words of a document's name where the evidence says "we" or "the company".

    Models write "Costco expects", filings "we expect": nothing tells the entailment model that these are the same.
    """
    if not _ITSELF.search(evidence):
        return claim
    words = [[letters for word in re.split(r"[\W\d_]+", name) if (letters := word.casefold())] for name in names]
    own = {"".join(name[:count]) for name in words for count in range(1, len(name) + 1)}
    there = {_letters(word) for word in evidence.split()}

    def rename(match: re.Match[str]) -> str:
        run = match[0].split()
        for start, end in sorted(itertools.combinations(range(len(run) + 1), 2), key=lambda part: part[0] - part[1]):
            first, name = _letters(run[start]), "".join(map(_letters, run[start:end]))
            if name not in own or first in there or len(first) < MIN_DOCUMENT_NAME_CHARS or is_term(first):
                continue
            before = [word for word in run[:start] if word.casefold() != "the"]
            rest = [] if _letters(run[-1]) in _LEGAL_FORMS else run[end:]
            is_first = match.start() == 0 and not before
            return " ".join([*before, THE_COMPANY.capitalize() if is_first else THE_COMPANY, *rest])
        return match[0]

    return _NAMES.sub(rename, claim)


def _letters(word: str) -> str:
    return re.sub(r"[\W\d_]+", "", word.casefold())


def _closest_spans(claim: str, passage: QuotablePassage, quotes: Sequence[Quote], most: int) -> list[types.Span]:
    """Return the sentences and rows nearest to the claim, in order, with the sentence before one that refers back.

    For a claim with figures only rows that have a word or figure of it.
    """
    has_figures = bool(analyze(claim).numbers)
    units = [unit.span for unit in passage.units]
    others = [unit.span for unit in passage.units if not (has_figures and unit.kind is types.BlockKind.TABLE)]
    quoted = [span for quote in quotes for span in passage.units_at(quote.span)]
    chosen: set[types.Span] = set()
    size = 0
    for span in dict.fromkeys([*quoted, *passage.likely_spans(claim), *others]):
        if span not in units or size + len(_shown(passage, span)) > most:
            continue
        chosen.add(span)
        size += len(_shown(passage, span))
        index = units.index(span)
        if index and refers_back(passage.read(span)) and units[index - 1] not in chosen:
            chosen.add(units[index - 1])
            size += len(passage.read(units[index - 1]))
    return sorted(chosen)


def _shown(passage: QuotablePassage, span: types.Span) -> str:
    """Return a sentence on one line, or a table row below its caption, section and head, with "|" between cells."""
    unit = next((unit for unit in passage.units if unit.span == span), None)
    if unit is not None and unit.kind in types.NO_EVIDENCE:
        return f"{prompts.CONTEXT_KINDS[unit.kind].strip('[]')}: {passage.read(span)}"
    if unit is None or unit.kind is not types.BlockKind.TABLE:
        return passage.read(span)
    parts = [part for part in (unit.caption, unit.section, unit.header, span) if part]
    rows = [line.split("\t") for part in parts for line in passage.slice(part).split("\n")]
    return "\n".join(dict.fromkeys(" | ".join(filter(None, map(str.strip, row))) for row in rows))
