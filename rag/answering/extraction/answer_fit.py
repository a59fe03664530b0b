"""Check whether quoted words answer the question: the right figure, kind and period.

A quote proves itself; that it answers the question must be checked. Pure functions.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum

from rag import types
from rag.answering.extraction.answer_kinds import asked_kind
from rag.answering.extraction.question_intent import Kind, parse_question
from rag.answering.tables.figure_rows import PART_OF_YEAR, Statements
from rag.answering.tables.requested_figures import FILLER, line_item, named_formula
from rag.answering.text.names import has_new_name, is_heading, is_term
from rag.answering.text.negation import DOWN, UP
from rag.answering.text.numbers import find_numbers
from rag.answering.text.question_parts import asks_whether, find_measure, find_slots
from rag.answering.text.question_parts import is_term as is_vocabulary_term
from rag.answering.text.term_weights import is_stop_word
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.vocabulary import Figure, find_figure, is_labelled, plain_label, years


class Fit(IntEnum):
    """How well a quote answers, in ascending order.

    `OTHER`: a figure of another kind or period, such as a per-share figure, a rate or a change; `UNNAMED`: the
    requested item is not named; `NEAR`: it is named, with more or less than was asked, or as a possibility; `GIVES`: it
    is given.
    """

    OTHER = 0
    UNNAMED = 1
    NEAR = 2
    GIVES = 3


MAX_ITEM_WORDS = 5
"""Maximum length of a line item's name in a question."""

MAX_LEADING_WORDS = 3
"""Maximum length of a name in lower case."""

_PARTS = r"(?:segments?|regions?|divisions?|territor(?:y|ies)|geograph(?:y|ies)|countr(?:y|ies)|bereichs?|sparten?)"
"""Words for a part of a company."""
_CAPITALS = r"(?-i:[A-Z])(?:[^\W\d]|[.&-])*+(?:\s++(?-i:[A-Z])(?:[^\W\d]|[.&-])*+){0,3}"
_BEFORE_PART = re.compile(
    rf"""\b(?:(?:in|from|within|across|throughout|outside|im|aus)\s++(?:(?:the|its|our|their)\s++)?
    (?:{_CAPITALS}(?:,\s++|,?\s++(?:and|or|und|oder)\s++)(?:the\s++)?){{0,5}}
    |{_PARTS}\s++)$""",
    re.IGNORECASE | re.VERBOSE,
)
_AFTER_PART = re.compile(rf"(?<!\s)\s++{_PARTS}\b", re.IGNORECASE)
"""Words around the place or segment that a question asks about: "in Norway and Sweden", "of the Ferries segment"."""
_LISTED = re.compile(r"(?:,|,?\s+(?:and|or|und|oder)\b)", re.IGNORECASE)
_BARE_ROW = re.compile(r"[^\d$€£(]{2,60}+[\d.,$€£()%—–\s-]++")
_OWNS = re.compile(
    r"['’]s?(?!\w)|\s+(?:(?:annual|quarterly|financial|fiscal)\b|FY|10-?[KQ]\b|(?:reports?|filings?|statements?)\b)",
    re.IGNORECASE,
)
"""What follows the name of a company after "in": "in Initech's 10-K"."""

_WORD = re.compile(r"[^\W_]+(?:(?!['’]s?(?!\w))[&'’-][^\W_]+)*")
_PER_SHARE = re.compile(r"\bper\s+(?:\w+\s+){0,3}shares?\b|\bEPS\b", re.IGNORECASE)
_OF_SHARE = re.compile(r"[\W_]*\d{1,3}\.\d\d\W*")
"""The format of per-share figures, whose heading a row does not repeat."""
_SHARES = re.compile(r"\bshares\s+(?:outstanding|issued|repurchased)\b|\bweighted[- ]average\b", re.IGNORECASE)
_RATE = re.compile(r"%|\bper\s?cent(?:age)?\b|\bmargin\b|\brate\b|\bratio\b|\bgrowth\b|\bchange\b", re.IGNORECASE)
_RATE_GIVEN = re.compile(r"\d\s*(?:%|per\s?cent\b)", re.IGNORECASE)
_OTHER_FIGURE = re.compile(r"\b(?:change|growth|increas|decreas|grew|grow|rose|fell|declin)", re.IGNORECASE)
"""Words of questions that ask for a change, not for the figure itself."""
_IS = re.compile(
    r"\b(?:to|at|is|are|was|were|totall?ed|totall?ing|reached|amounted\s+to|stood\s+at)\s+"
    r"(?:(?:approximately|about|around|nearly|almost|over|some)\s+)?",
    re.IGNORECASE,
)
"""Words before the figure itself, where others introduce its change."""
_BEFORE = re.compile(
    r"(?:^|[,;:.(–—-]|['’]s?|\b(?:the|a|our|its|their|total|consolidated|annual|reported|in|and|or|of(?=\s+the)|had|with"
    r"|on|approximately))\s*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"\s*(?:/?\(|[,:–—-]|$|\d|(?:was|were|is|are|of(?=\W{1,5}\d)|totall?ed|amounted|reached|stood|rose|grew|fell|increased|decreased|declined)\b"
    r"|(?:for|in|at|as\s+of|during)\s+(?:the\s+)?(?:fiscal\s+|financial\s+|full\s+|end\b|year|(?:19|20)\d\d))",
    re.IGNORECASE,
)
"""Words around a line item's name that do not make it another one, unlike "cost of revenue"."""
_ANY = r"\S+(?:\s+\S+){0,3}"
"""The pattern for * in a label."""
_SIGNS = re.compile(r"[\W_]*(?:(?:US|A|C|HK)?[$€£¥]|USD|EUR|GBP|CHF)?[\W_]*")
_HOW_MANY = re.compile(r"\bhow\s+many\b", re.IGNORECASE)
_PARTITION = re.compile(r"\W*of\s+(?:the|these|those|our|all)\b", re.IGNORECASE)
_MAY = re.compile(r"\b(?:may|might|could)\b", re.IGNORECASE)


def fit(question: str, text: str, row: types.QuotedRow | None = None, hit: types.Hit | None = None) -> Fit | None:
    """Return how well `text`, or the table row that it is, answers; None if that cannot be told.

    `hit` is its source.
    """
    item = requested_item(question)
    if item is None:
        return _of_kind(question, text, hit)
    found = _of_row(item, row) if row else _of_sentence(item, text)
    asked, told = set(years(question)), set(years(" ".join(row.columns) if row else text))
    if asked and told and not asked & told:
        return Fit.OTHER
    return found if is_plain(question) else min(found, Fit.NEAR)


def is_plain(question: str) -> bool:
    """Return whether `question` asks for a line item and nothing else, so that other figures are no answer."""
    return line_item(question, _names(question)) is not None


def _of_kind(question: str, text: str, hit: types.Hit | None) -> Fit | None:
    """Check for a name, number or date where one is asked for; a heading without a name answers nothing."""
    if asks_whether(question) and _MAY.search(text) and not _MAY.search(question):
        return Fit.NEAR  # it is asked what is, and told what may be
    if _HOW_MANY.search(question) and _PARTITION.match(text):
        return Fit.NEAR  # it is asked how many, and told a part: "Of the employees, 400 …"
    formula = named_formula(question)
    if formula:  # what it would be worked out from is not it, nor what is told of it
        is_named, is_share = named_formula(text) == formula, formula.unit == "percent"
        if not is_named or (is_share and _RATE_GIVEN.search(text) is None):
            return Fit.NEAR if is_named or (is_share and "%" in text) else Fit.UNNAMED
    asked = parse_question(question)
    if asked.kind is not Kind.NAME:
        return None if asked.holds_kind(text) else Fit.NEAR
    if has_new_name(text, asked.text, hit):
        return None
    return Fit.UNNAMED if is_heading(text) else Fit.NEAR


def is_own_item(question: str, page: int, statements: Statements) -> bool:
    """Return whether a line item on that page is the document's own rather than an affiliate's.

    It is on a page of its financial statement, or the document has no such statement.
    """
    item = requested_item(question)
    return item is None or page in statements.get(item.place or "", (page,))


def gives_of_year(question: str, year: int, text: str, row: types.QuotedRow | None = None) -> bool:
    """Return whether the text names the year and may give what `question` asks."""
    told = row.columns[row.asked] if row and row.asked is not None else " ".join(row.columns) if row else text
    found = fit(question, text, row)
    return year in years(told) and (found is None or found > Fit.UNNAMED)


def requested_item(question: str) -> Figure | None:
    """Return the line item that `question` asks for, whatever else it says; None if it asks for something else."""
    if item := line_item(question, _names(question)):
        return item
    span = find_measure(question)
    item = find_figure(question[span.start : span.end].rstrip(" ?.!")) if span else None
    is_other = _OTHER_FIGURE.search(question) or _RATE.search(question) or _SHARES.search(question)
    is_per_share = _PER_SHARE.search(question) is not None
    return None if item is None or is_other or is_per_share != item.per_share else item


def named_strangers(question: str, hits: Collection[types.Hit]) -> tuple[str, ...]:
    """Return whom `question`, which names no document, asks for what each document tells of its own subject.

    Those are its names by capitals, or the words before a line item with which it begins: "globex net sales 2022". A
    word that begins the question is no name if the `hits` use it as any other word. Places and what the hits have as a
    part, such as a row or segment, are no strangers.
    """
    words = [*_WORD.finditer(question)]
    items = [
        (first, last)
        for first in range(len(words))
        for last in range(first, min(first + MAX_ITEM_WORDS, len(words)))
        if find_figure(question[words[first].start() : words[last].end()])
    ]
    kind = asked_kind(parse_question(question))
    if not (items or kind.is_each_documents_own or named_formula(question)):
        return ()
    of_items = {number for first, last in items for number in range(first, last + 1)}
    spoken = {word for hit in hits for word in re.findall(r"(?<![\w'’-])[^\W\d_]+", hit.passage.text)}
    names, parts = _names_and_parts(
        question, [w for number, w in enumerate(words) if number not in of_items and _may_name(w, spoken)]
    )
    leading = words[: min((first for first, _ in items), default=0)]
    is_begun = bool(leading) and len(leading) <= MAX_LEADING_WORDS
    if is_begun and not (names or parts) and all(map(_is_unknown(spoken), leading)):
        names = [question[leading[0].start() : leading[-1].end()]]
    return tuple(name for name in dict.fromkeys(names) if not _is_told_part(name, hits))


def _names_and_parts(question: str, words: Sequence[re.Match[str]]) -> tuple[list[str], list[str]]:
    """Return the names in `question` that consist of these `words`: of whom is asked, and of places and segments."""
    names: list[str] = []
    parts: list[str] = []
    for span in find_slots(question, ()).names:
        if own := [word for word in words if span.start <= word.start() < span.end]:
            is_part = _is_asked_part(question, own[0].start(), own[-1].end())
            (parts if is_part else names).append(" ".join(word[0] for word in own))
    return names, parts


def _is_asked_part(question: str, start: int, end: int) -> bool:
    """Return whether a name in `question` is led in as a place or segment, unlike "in Initech's fiscal 2022"."""
    before = question[:start]
    is_led_in = _BEFORE_PART.search(before) and not _OWNS.match(question, end)
    if before.rstrip().endswith(",") and not _LISTED.match(question, end):  # "In Norway, Initech earned …"
        is_led_in = False
    return bool(is_led_in or _AFTER_PART.match(question, end) or _AFTER_PART.search(question[start:end]))


def _is_told_part(name: str, hits: Iterable[types.Hit]) -> bool:
    """Return whether `hits` have a row, column, heading or segment of that name, with at most a line item beside it."""
    own = {word.casefold() for word in _WORD.findall(name)}
    segment = re.compile(rf"(?<!\w){re.escape(name)}{_AFTER_PART.pattern}", re.IGNORECASE)

    def is_named_so(field: str) -> bool:
        words = [word.casefold() for word in _WORD.findall(_AFTER_PART.sub("", field))]
        others = [word for word in words if not (word in own or word in FILLER or word.isdigit() or is_stop_word(word))]
        return own.issubset(words) and (not others or find_figure(" ".join(others)) is not None)

    return any(segment.search(hit.passage.text) or any(map(is_named_so, _part_names(hit))) for hit in hits)


def _part_names(hit: types.Hit) -> Iterator[str]:
    """Yield the headings of a hit, and the fields of its rows of figures and of the lines right above them."""
    yield from (hit.chunk.section or "").split(SECTION_SEPARATOR)
    is_above_figures = False
    for line in reversed(hit.passage.lines):
        is_of_table = line.kind is types.BlockKind.TABLE
        has_figures = is_of_table and any(map(str.isdigit, line.text))
        if line.kind is types.BlockKind.HEADING or has_figures or (is_of_table and is_above_figures):
            yield from line.text.split("\t")
        elif _BARE_ROW.fullmatch(line.text):
            yield line.text
        is_above_figures = has_figures


def _may_name(word: re.Match[str], spoken: AbstractSet[str]) -> bool:
    is_common = word.start() == 0 and word[0].lower() in spoken
    return not (is_common or is_stop_word(word[0]) or is_term(word[0]) or is_vocabulary_term(word[0]))


def _is_unknown(spoken: AbstractSet[str]) -> Callable[[re.Match[str]], bool]:
    """Return whether a word in lower case is neither one of the vocabulary nor `spoken` by the documents."""
    return lambda word: (
        word[0].islower() and word[0] not in spoken and word[0] not in FILLER and _may_name(word, spoken)
    )


def _names(question: str) -> frozenset[str]:
    spans = find_slots(question, ()).names
    return frozenset(word.lower() for span in spans for word in question[span.start : span.end].split())


def _of_row(item: Figure, row: types.QuotedRow) -> Fit:
    label = row.label
    if not item.per_share and _PER_SHARE.search(label):
        return Fit.OTHER
    if _SHARES.search(label) or _RATE.search(label) or all("%" in cell for cell in row.cells):
        return Fit.OTHER
    if is_labelled(item, label) is not None:
        is_whole = item.per_share or not all(map(_OF_SHARE.fullmatch, row.cells))
        named = [year for column in row.columns for year in years(column)]
        is_of_parts = any(PART_OF_YEAR.search(column) for column in row.columns)
        is_of_years = bool(named) and len(named) == len({*named}) and not is_of_parts  # whole years, each once
        return Fit.GIVES if is_whole and (is_of_years or len(row.cells) == 1) else Fit.NEAR
    plain = plain_label(label)
    # A label such as "Diluted" may complete the heading of the item
    completes = bool(plain) and any({*plain.split()} <= {*plain_label(full).split()} for full in item.labels)
    is_named = any(_spelled(item, plain)) or (completes and find_figure(label) is None)
    return Fit.NEAR if is_named else Fit.UNNAMED


def _of_sentence(item: Figure, text: str) -> Fit:
    figures = [number for number in find_numbers(text) if number.year is None]
    amounts = [number for number in figures if not number.is_share]
    tells_change = not (UP | DOWN).isdisjoint(re.findall(r"[a-z]+", text.lower()))
    is_told_itself = any(
        _SIGNS.fullmatch(text, match.end(), number.start)
        for number in amounts
        for match in _IS.finditer(text, 0, number.start)
    )
    if figures and (not amounts or (tells_change and not is_told_itself)):
        return Fit.OTHER
    named = [*_spelled(item, text)]
    own = [match for match in named if item.per_share or not _PER_SHARE.match(text[match.end() :].lstrip())]
    if named and not own:
        return Fit.OTHER
    if not named or not amounts:
        return Fit.UNNAMED
    is_sized = item.per_share or any(number.unit or number.scale or "," in number.text for number in amounts)
    is_own = any(_BEFORE.search(text[: match.start()]) and _AFTER.match(text, match.end()) for match in own)
    return Fit.GIVES if is_sized and is_own else Fit.NEAR


def _spelled(item: Figure, text: str) -> Iterator[re.Match[str]]:
    for label in (item.name, *item.labels):
        words = r"[\s-]+".join(_ANY if word == "*" else re.escape(word) for word in label.split())
        yield from re.finditer(rf"(?<![\w&-]){words}(?![\w&])", text, re.IGNORECASE)
