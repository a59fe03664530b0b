"""Find the documents that a question names: by what they are about, by file name or title, by kind and period.

Names choose the documents and then count for nothing: the report of a company says "we", so the company's name would
lead the search to the few pages that spell it. Pure functions.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

from rapidfuzz import fuzz

from rag import types
from rag.answering.text.term_weights import content_words
from rag.ingestion.language_detection import detect
from rag.ingestion.subjects import ARCHIVE_NUMBER, GENERIC, word_forms
from rag.vocabulary import document_kinds, find_periods, spell_out_periods, years

MAX_NAME_WORDS = 8
"""Maximum length of a name in a question, in words."""

MAX_ALIAS_WORDS = 3
"""The first word of a longer title is no name: "Annual results of the harbour board" is not "Annual"."""

MIN_BEGINNING_CHARS = 4
"""Minimum length of a first word that stands for the whole name."""

MIN_KEY_CHARS = 3
"""Minimum length of a name."""

MIN_MISSPELT_CHARS = 5
MISSPELT = 86.0
"""Minimum length of a name that is recognised misspelt, and its minimum similarity in per cent, by
`rapidfuzz.fuzz.ratio`: one wrong, missing or exchanged letter of seven."""

_WORD = re.compile(r"[^\W_]+(?:&[^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?(?!\w)")
_INDEFINITE = re.compile(r"\b(?:an?|any|each|every|some|no)\s+$", re.IGNORECASE)
_CITED = re.compile(r"\s+et\s+al\b\.?", re.IGNORECASE)
_LATEST = re.compile(r"\b(?:latest|newer|newest|most\s+recent|neueste[nrs]?|aktuelle[nrs]?)\b", re.IGNORECASE)
_EARLIEST = re.compile(r"\b(?:older|oldest|earlier|earliest|älteste[nrs]?|ältere[nrs]?)\b", re.IGNORECASE)
_QUARTER = re.compile(r"\b(first|second|third|fourth)\s+(quarter|half)\b", re.IGNORECASE)
_ASKING = re.compile(
    r"\b(?:what|who|which|how|when|where|why|is|are|was|were|do|does|did|tell|give|me|about|summari[sz]e|summary|overview"
    r"|it|the|company|agreement|device|method|act|wer|wie|ist|sind)\b",
    re.IGNORECASE,
)
_VERB_BEFORE = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|may|must|should)\s+(?:the\s+)?$", re.IGNORECASE
)
_ARTICLE = re.compile(r"\bthe\s+$", re.IGNORECASE)
_SUBJECTS = {
    "annual_report": "the company",
    "contract": "the agreement",
    "manual": "the device",
    "paper": "the method",
    "statute": "the act",
}
"""What documents of a kind call what they are about."""
_BEFORE_NAME = re.compile(
    r"(?:\b(?:by|of|in|from|for|at|to|the|von|bei|der|die|das|im|in)\s{1,9}){0,4}$", re.IGNORECASE
)


class Mention(NamedTuple):
    """A name in a question, and the documents it may refer to.

    It is not certain that an ordinary word means the document whose file is called so ("the harbour" and harbour.pdf),
    nor that "the report" means the only report that was recognised as one.
    """

    span: types.Span
    documents: tuple[types.DocumentNames, ...]
    is_certain: bool = True


def find_mentions(question: str, documents: Iterable[types.DocumentNames]) -> list[Mention]:
    """Return the mentions of `documents` in `question`, in order.

    If documents share a name, their kinds and periods decide where the question says which.
    """
    documents = [*documents]
    by_span = {**_exact(question, documents), **_by_file_name(question, documents)}
    by_span = by_span or _misspelt(question, documents)
    longest: list[types.Span] = []
    for span in sorted(by_span, key=lambda span: (span.start - span.end, span.start)):
        if not any(span.start < other.end and other.start < span.end for other in longest):
            longest.append(span)
    mentions = [Mention(_with_kind(question, span), tuple(by_span[span])) for span in sorted(longest)]
    mentions = mentions or _by_kind(question, documents)
    are_several = len(mentions) > 1
    return [
        Mention(
            span,
            _of_period(
                _near(question, span, mentions) if are_several else question,
                _of_kind(question[slice(*span)], named),
            ),
            is_certain=is_certain and _is_certain(question, span, named),
        )
        for span, named, is_certain in mentions
    ]


def _is_certain(question: str, span: types.Span, documents: Iterable[types.DocumentNames]) -> bool:
    """Return whether the words at `span` can only be a name: several, capitalised, or what a document is about."""
    written = question[slice(*span)]
    is_capitalised = span.start > 0 and written[0].isupper() and detect(question) != "german"  # all nouns are
    key = _key(word_forms(written))
    learned = {_key(word_forms(name)) for document in documents for name in document.subject.names}
    return len(written.split()) > 1 or is_capitalised or "." in written or key in learned


def without_names(question: str, mentions: Iterable[Mention]) -> str:
    """Return `question` without the names of documents, for the search in these; unchanged if it asks nothing else.

    Where the grammar needs a word, it is what such a document calls its subject: "How many employees does the company
    have?"
    """
    text = question
    for mention in sorted(mentions, key=lambda mention: mention.span, reverse=True):
        start, end = mention.span
        owner = _POSSESSIVE.match(text, end) or _POSSESSIVE.search(text, start, end)
        before, after = text[:start], text[owner.end() if owner and owner.start() == end else end :]
        if owner or _VERB_BEFORE.search(before):
            kinds = {document.subject.kind for document in mention.documents}
            subject = _SUBJECTS.get(kinds.pop() or "") if len(kinds) == 1 else None
            noun = (f"{subject}’s" if subject else "its") if owner else subject or "it"
            text = f"{_ARTICLE.sub('', before)}{noun} {after.lstrip()}"
        else:
            text = f"{_BEFORE_NAME.sub('', before).rstrip()} {after.lstrip(' :')}"
    text = re.sub(r"(?<!\s)\s++([?.,;:!])", r"\1", " ".join(text.split())).strip(" ,;:")
    asks_something = any(len(word) > 2 for word in content_words(_ASKING.sub(" ", text)))
    return text[0].upper() + text[1:] if asks_something else question


def aliases(document: types.DocumentNames) -> set[tuple[str, ...]]:
    """Return the names of a document in lower case: those of its subject, of its file and its title."""
    texts = (*document.subject.names, _letters(PurePath(document.name).stem), document.title or "")
    return {words for text in texts if (words := word_forms(text))}


def _letters(stem: str) -> str:
    return " ".join(word for word in re.findall(r"[^\W\d_]+(?:&[^\W\d_]+)*", stem) if len(word) > 1)


def _by_file_name(
    question: str, documents: Iterable[types.DocumentNames]
) -> dict[types.Span, list[types.DocumentNames]]:
    """Find names of files, with their endings."""
    by_span: dict[types.Span, list[types.DocumentNames]] = {}
    for document in documents:
        pattern = rf"(?<![\w.-]){re.escape(document.name)}(?![\w-])"
        if "." in document.name and (match := re.search(pattern, question, re.IGNORECASE)):
            by_span.setdefault(types.Span(*match.span()), []).append(document)
    return by_span


def _exact(question: str, documents: Iterable[types.DocumentNames]) -> dict[types.Span, list[types.DocumentNames]]:
    """Find whole names, ignoring spaces, and capitalised first words of short ones."""
    words = [*_WORD.finditer(question)]
    grams: dict[str, types.Span] = {}
    for window in _windows(words, MAX_NAME_WORDS):
        key = "".join(word[0].lower() for word in window if word[0].lower() not in GENERIC)
        edges = {window[0][0].lower(), window[-1][0].lower()}
        if len(key) >= MIN_KEY_CHARS and not edges & GENERIC:
            grams.setdefault(key, types.Span(window[0].start(), window[-1].end()))
    beginnings = {word[0].lower(): types.Span(*word.span()) for word in _beginnings(question, words)}
    by_span: dict[types.Span, list[types.DocumentNames]] = {}
    for document in documents:
        spans = set()
        for alias in aliases(document):
            place = grams.get(_key(alias))
            if place is None and 1 < len(alias) <= MAX_ALIAS_WORDS:
                place = beginnings.get(alias[0])
            if place and not (len(alias) == 1 and _is_ordinary_noun(question, place)):
                spans.add(place)
        for span in spans:
            by_span.setdefault(span, []).append(document)
    return by_span


def _windows(words: Sequence[re.Match[str]], most: int) -> Iterator[Sequence[re.Match[str]]]:
    """Yield each run of one to `most` words."""
    for first in range(len(words)):
        for last in range(first + 1, min(first + most, len(words)) + 1):
            yield words[first:last]


def _key(alias: Iterable[str]) -> str:
    """Return a name as it is compared: its words joined, without hyphens and apostrophes."""
    return re.sub(r"[\W_]", "", "".join(alias))


def _is_ordinary_noun(question: str, span: types.Span) -> bool:
    """Return whether the word at `span` is one of a kind rather than a name: "a target"."""
    return question[span.start].islower() and _INDEFINITE.search(question, 0, span.start) is not None


def _beginnings(question: str, words: Sequence[re.Match[str]]) -> Iterator[re.Match[str]]:
    """Yield capitalised words that no other capitalised word follows."""
    for word, following in itertools.zip_longest(words, words[1:]):
        goes_on = (
            following is not None and following[0][0].isupper() and not question[word.end() : following.start()].strip()
        )
        if len(word[0]) >= MIN_BEGINNING_CHARS and word[0][0].isupper() and not goes_on:
            yield word


def _misspelt(question: str, documents: Iterable[types.DocumentNames]) -> dict[types.Span, list[types.DocumentNames]]:
    """Find the one name that a capitalised word, or an owner, is most similar to."""
    by_key: dict[str, list[types.DocumentNames]] = {}
    for document in documents:
        for alias in aliases(document):
            key = _key(alias)
            if len(key) >= MIN_MISSPELT_CHARS and len(alias) <= MAX_ALIAS_WORDS:
                by_key.setdefault(key, []).append(document)
    words = [*_WORD.finditer(question)]
    best: tuple[float, types.Span, list[types.DocumentNames]] | None = None
    for window in _windows(words, MAX_ALIAS_WORDS):
        span = types.Span(window[0].start(), window[-1].end())
        is_owner = _POSSESSIVE.match(question, span.end) and not _is_ordinary_noun(question, span)
        written = "".join(word[0].lower() for word in window)
        if len(written) < MIN_MISSPELT_CHARS - 1 or not (window[0][0][0].isupper() or is_owner):
            continue
        for key, named in by_key.items():
            if key[0] == written[0] and (likeness := fuzz.ratio(written, key)) >= max(MISSPELT, best[0] if best else 0):
                best = likeness, span, named
    return {best[1]: best[2]} if best else {}


# --- kinds ------------------------------------------------------------------------------------------

_KIND_OF = {noun: name for name, kind in document_kinds().items() for noun in kind.nouns}
"""The kind of documents that each noun names: "paper", "10-k", "lease"."""
_NOUN = "|".join(re.escape(noun).replace(r"\ ", r"\s{1,9}") for noun in sorted(_KIND_OF, key=len, reverse=True))
_PERIOD_WORD = r"(?:19|20)\d\d|FY\s?'?\d{2,4}|Q[1-4]|annual|latest|most\s{1,9}recent"
_KIND_AFTER_NAME = re.compile(
    rf"(?:['’]s?)?(?:\s{{1,9}}(?:{_PERIOD_WORD})){{0,3}}\s{{1,9}}(?:{_NOUN})s?(?![\w-])", re.IGNORECASE
)
_KIND_AT_END = re.compile(rf"(?:{_NOUN})(?=s?$)", re.IGNORECASE)
_THE_KIND = re.compile(
    r"\b(?:the|this|that|our|my|das|der|die|dem|den)\s{1,9}"
    rf"(?P<words>(?:[\w&-]{{1,40}}\s{{1,9}}){{0,4}}?)(?P<noun>{_NOUN})(?![\w-])",
    re.IGNORECASE,
)


def documents_of_kind(noun: str, documents: Sequence[types.DocumentNames]) -> list[types.DocumentNames]:
    """Return the documents that a plural names: "papers", "companies" (the latest report of each); empty if unknown."""
    if noun in ("company", "companies"):
        latest: dict[tuple[str, ...], types.DocumentNames] = {}
        reports = [one for one in documents if one.subject.kind == "annual_report" and one.subject.names]
        for document in sorted(reports, key=lambda one: max(map(_Period.order, _periods_of(one)), default=(0, 0))):
            latest[word_forms(document.subject.names[0]) or (str(document.id),)] = document
        return [one for one in documents if one in latest.values()]
    singular = {**{f"{one}s": one for one in _KIND_OF}, "policies": "policy", "studies": "study"}.get(noun, noun)
    kind = _KIND_OF.get(singular)
    return [document for document in documents if kind and document.subject.kind == kind]


def _with_kind(question: str, span: types.Span) -> types.Span:
    """Extend a name by the kind of document: "RAPTOR paper", "Lewis et al."."""
    cited = _CITED.match(question, span.end)
    end = cited.end() if cited else span.end
    after = _KIND_AFTER_NAME.match(question, end)
    return types.Span(span.start, after.end() if after else end)


def _of_kind(mention: str, documents: Sequence[types.DocumentNames]) -> Sequence[types.DocumentNames]:
    """Return the documents of the kind that a mention names, or all if it names none, or one that none is of."""
    noun = _KIND_AT_END.search(mention)
    if noun is None:
        return documents
    asked = _plain_noun(noun[0])
    same_form = [one for one in documents if _has_form(one, asked)]
    return same_form or [one for one in documents if one.subject.kind == _KIND_OF.get(asked)] or documents


def _plain_noun(written: str) -> str:
    """Return a noun as the vocabulary has it; "ſ" and "ı" are matched like s and i."""
    return " ".join(written.casefold().replace("ı", "i").split())


def _has_form(document: types.DocumentNames, noun: str) -> bool:
    """Return whether the file's name or title has the very noun, such as "10-K"."""
    plain = re.sub(r"\W|_", "", noun)
    return any(plain in re.sub(r"\W|_", "", text.lower()) for text in (document.name, document.title or ""))


def _by_kind(question: str, documents: Sequence[types.DocumentNames]) -> list[Mention]:
    """Find documents by kind and words of their names ("the fridge manual"), or the only one or latest of its kind."""
    for match in _THE_KIND.finditer(question):
        kind = _KIND_OF.get(_plain_noun(match["noun"]))
        of_kind = [*_of_kind(match["noun"], [one for one in documents if kind and one.subject.kind == kind])]
        words, periods = match["words"], find_periods(match["words"])
        asked = {*content_words(words)} - {word for span in periods for word in content_words(words[slice(*span)])}
        named = [one for one in of_kind if asked and asked <= {*content_words(" ".join(map(" ".join, aliases(one))))}]
        is_clear = len(of_kind) == 1 or _LATEST.search(match[0]) is not None
        if chosen := named or (of_kind if is_clear else []):
            # "The report" may also be one of a kind that was not recognised
            is_certain = bool(named) or _LATEST.search(match[0]) is not None
            return [Mention(types.Span(*match.span()), tuple(chosen), is_certain)]
    return []


# --- periods ----------------------------------------------------------------------------------------


class _Period(NamedTuple):
    """A year and the part of it, such as "third quarter"; empty for the whole year."""

    year: int
    part: str

    def order(self) -> tuple[int, int]:
        """Return the sort key: a whole year ends with its last quarter."""
        parts = ("first", "second", "third", "fourth")
        return self.year, next((rank for rank, part in enumerate(parts) if self.part.startswith(part)), len(parts))


def _periods(text: str) -> set[_Period]:
    spelled = spell_out_periods(text)
    spans = [spelled[slice(*span)] for span in find_periods(spelled)] or [spelled]
    return {
        _Period(year, part[0].lower() if (part := _QUARTER.search(span)) else "")
        for span in spans
        for year in years(span)
    }


def _periods_of(document: types.DocumentNames) -> set[_Period]:
    return _periods(document.subject.period or "") | _periods(ARCHIVE_NUMBER.sub("", document.name).replace("_", " "))


def _near(question: str, span: types.Span, mentions: Sequence[Mention]) -> str:
    """Return the part of a question from a mention to the next, where its period stands: "Acme 2023 and Globex"."""
    following = min((other.span.start for other in mentions if other.span.start > span.start), default=len(question))
    own = question[span.start : following]
    return own if years(own) else question


def _of_period(question: str, documents: Sequence[types.DocumentNames]) -> tuple[types.DocumentNames, ...]:
    """Return the documents for the period of `question`, else of the next year, which have the year before, too."""
    if len(documents) < 2:
        return (*documents,)
    periods = {document.id: _periods_of(document) for document in documents}
    asked = _periods(question)
    if not asked:
        dated = sorted({*itertools.chain(*periods.values())}, key=_Period.order)
        for words, chosen in ((_LATEST, dated[-1:]), (_EARLIEST, dated[:1])):
            if words.search(question):
                return tuple(one for one in documents if not chosen or chosen[0] in periods[one.id])
        return (*documents,)
    # results of the fourth quarter are published with those of the year
    told = asked | {_Period(period.year, "fourth quarter") for period in asked if not period.part}
    same = [one for one in documents if told & periods[one.id]]
    if not same:
        in_years = {period.year for period in asked}
        same = [one for one in documents if in_years & {period.year for period in periods[one.id]}]
    if not same:
        last_year = max(period.year for period in asked)
        later = [period.year for of_document in periods.values() for period in of_document if period.year > last_year]
        nearest = min(later, default=0)
        same = [one for one in documents if nearest in {period.year for period in periods[one.id]}]
    return (*(same or documents),)
