"""Find amounts: figures with their signs, scales and units, in digits or words, but no days and references."""

import bisect
import functools
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from babel import Locale, UnknownLocaleError

from rag import types
from rag.answering.field_values.dates import CENTURY, day_spans
from rag.answering.field_values.spelled_numbers import SpelledNumber, find_spelled_numbers
from rag.answering.field_values.units import Unit, parse_unit, per_periods
from rag.answering.text.analyzed_text import analyze
from rag.answering.text.measurement_units import CODE, measure_behind, share_behind
from rag.answering.text.numbers import Number, find_numbers, plain_digits
from rag.answering.text.periods import NO_AMOUNT, find_quarters

_REACH = 32
"""Characters beside a figure that are searched for its sign, unit and noun."""
_MINUS = "-−–"
_REFERENCE = re.compile(
    rf"(?:{NO_AMOUNT.pattern})|(?:\b(?:articles?|clauses?|chapters?|parts?|annex|appendix|schedule|level|no|nr|"
    r"ziffer|abschnitt|seite|artikel|anlage|absatz)\.?|§) ?$",
    re.IGNORECASE,
)
_WITH_COMMA = re.compile(
    r"(?<![\d.,])(?:\d{1,3}(?:\.\d{3}){1,9},\d|\d{1,12},\d{1,2}(?![\d.,])|\d{1,3}(?:\.\d{3}){2,9}(?!\d))"
)
_WITH_POINT = re.compile(
    r"(?<![\d.,])(?:\d{1,3}(?:,\d{3}){1,9}\.\d|\d{1,12}\.\d{1,2}(?![\d.,])|\d{1,3}(?:,\d{3}){2,9}(?!\d))"
)
_GERMAN = re.compile(r"(?<!\w)(?:Mio|Mrd|Tsd|Millionen|Milliarden?|Tausend|Prozent|TEUR|T€)(?!\w)")
_YEAR = re.compile(CENTURY)
_FRACTION = re.compile(r"[¼-¾⅐-⅞]")
_NOUN = re.compile(r"[ \u00a0-]{1,2}(?=[^\W\d_])")
_TOKENS_BEHIND = re.compile(
    r"[)\]]?(?P<three>(?P<two>(?P<one>\s?[^\s\d/–—-]{1,16})(?: [^\s\d/–—-]{1,16})?)(?: [^\s\d/–—-]{1,16})?)"
)
_TOKENS_BEFORE = re.compile(r"(?<![^\s()\[\]|])(?P<two>(?:[^\s\d()\[\]]{1,16} )?(?P<one>[^\s\d()\[\]]{1,16}))\s{0,2}$")
_PER = re.compile(
    r"\s?(?:(?:per|pro|je)\s|/\s?)(?:(?:basic|diluted|common|ordinary)\s(?:and\s(?:basic|diluted)\s)?)?"
    r"(?P<name>[^\W\d_]{1,20}[²³]?)"
)
_NIL = re.compile(
    r"(?:(?<=[\t\n|])|\A)[^\S\t\n]{0,3}(?P<nil>nil|none|keine?|[—–-]{1,2})(?=[^\S\t\n]{0,3}(?:[\t\n|]|\Z))",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[)\s]{0,2}(?:[-–—]|\b(?:to|and|or|bis|und|oder)\b)[\s$€£¥]{0,3}", re.IGNORECASE)
_OF_CELL = frozenset("\t\n|")
_NO_SIGN_BEHIND = frozenset({"%", ")", "]", "€"})
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{2,3}){0,99}[.,]\d{3}(?!\d)(?:[.,]\d|(?![.,]\d))")
_SPACED = re.compile(
    rf"(?:(?<=[$€£¥₹])|(?<=[$€£¥₹] )|(?<=\b[A-Z]{{3}} ))\d{{1,3}}(?: \d{{3}}){{1,5}}(?!\d| \d)"
    rf"|(?<![\d.,])(?<!\d )\d{{1,3}}(?: \d{{3}}){{1,5}}(?:[.,]\d\d?)?(?= ?(?:[€£]|{CODE})(?! ?\d))"
)
"""Money in groups of digits with spaces; elsewhere these part the figures of a row."""
_NO_CENTS = re.compile(r"[.,][-–—]{1,2}(?!\d)")
_CLOCK = re.compile(r":\d\d(?!\d)")
_SECTION = re.compile(r"\d{1,2}\.\d{1,2} {1,3}[A-Z]")
"""The number of a section before its title."""
_AFTER_COLON = re.compile(r"\d:")
_LEADING_ZERO = re.compile(r"0\d")
_FIGURE = re.compile(r"\s?\d")
_JOINED_BEFORE = re.compile(r"[^\W\d_][-/]")
_LETTER_BEHIND = re.compile(r"-[A-Z](?!\w)")
_LISTED = re.compile(r"and|or|und|oder", re.IGNORECASE)
_WORDS_TOO = frozenset({"ALL", "AMD", "BAM", "COP", "CUP", "GEL", "MAD", "MOP", "PEN", "SOS", "TOP", "TRY"})
"""Codes of currencies that are words or names too; before a figure they are no currencies."""


class Amount(NamedTuple):
    """A figure with its sign: the span of its words, its value without scale, and the unit it states.

    `scale` is None if none is stated. `noun` is the text behind it, if a noun follows that may be what it counts;
    `is_cell` if it fills a cell or the whole text; `is_year` if it may be a year.
    """

    start: int
    end: int
    value: float
    scale: float | None
    unit: Unit
    noun: str = ""
    is_cell: bool = False
    is_year: bool = False


def find_amounts(text: str, language: str | None = None, *, dollar: str = "USD") -> list[Amount]:
    """Find the amounts of `text` in order; `dollar` is what a dollar without country means.

    A cell that is "nil" or a dash is 0. Of "five (5)" the words and digits are one. Of a range, both ends are amounts.
    Figures in brackets are negative, unless the bracket is a remark in prose or the mark of a note.
    """
    plain = _SPACED.sub(lambda match: match[0].replace(" ", "\u00a0"), plain_digits(types.without_raised_marks(text)))
    found = [*_Figures(plain, comma=has_decimal_comma(plain, language), dollar=dollar)]
    found += [Amount(*match.span("nil"), 0.0, None, Unit(), is_cell=True) for match in _NIL.finditer(plain)]
    return _with_units_of_ranges(sorted(found), plain)


def has_decimal_comma(text: str, language: str | None = None) -> bool:
    """Return whether commas part decimals: by the figures that show it, else by the language, else by German words."""
    commas, points = _WITH_COMMA.search(text) is not None, _WITH_POINT.search(text) is not None
    if commas != points:
        return commas
    return _uses_comma(language) if language else _GERMAN.search(text) is not None


@functools.cache
def _uses_comma(language: str) -> bool:
    try:
        symbols = Locale.parse(language, sep="-" if "-" in language else "_").number_symbols["latn"]
        return bool(symbols["decimal"] == ",")
    except (UnknownLocaleError, ValueError, KeyError):
        return False


class _Context(NamedTuple):
    """What a figure has around it: the span of its words, sign, scale and unit."""

    start: int
    end: int
    sign: int = 1
    scale: float | None = None
    unit: Unit = Unit()

    @property
    def is_bare(self) -> bool:
        """Whether it has neither scale nor unit."""
        return self.scale is None and self.unit == Unit()


class _Figures:
    """The figures of a text in digits, then those in words alone."""

    def __init__(self, text: str, *, comma: bool, dollar: str) -> None:
        self._text = text
        self._comma = comma
        self._dollar = dollar
        self._is_row = "\t" in text
        self._spelled = {number.end: number for number in find_spelled_numbers(text)}
        taken = sorted([*((s.start, s.end) for s in day_spans(text)), *((q.start, q.end) for q in find_quarters(text))])
        self._taken_from, self._taken_to = [start for start, _ in taken], [end for _, end in taken]

    def __iter__(self) -> Iterator[Amount]:
        for number in map(_without_letter, find_numbers(self._text)):
            value = self._reading(number)
            if value is None or not math.isfinite(value) or self._is_taken(number.start):
                continue
            words = self._words_before(number, value)
            context: _Context | None
            if words:
                del self._spelled[words.end]
                context = self._behind(_Context(words.start, number.end + 1, scale=number.scale))
            else:
                context = self._around(number)
            if context is None:
                continue
            if context.unit.currency and not context.unit.name and context.scale is None:
                value = max(number.values)  # no amount of money has three decimals
            if amount := self._amount(context, value, number.text):
                yield amount
        for words in self._spelled.values():
            if words.value >= 2 and not self._is_taken(words.start):
                amount = self._amount(self._behind(_Context(words.start, words.end)), words.value, "")
                if amount:
                    yield amount

    def _is_taken(self, position: int) -> bool:
        index = bisect.bisect_right(self._taken_from, position) - 1
        return index >= 0 and position < self._taken_to[index]

    def _reading(self, number: Number) -> float | None:
        """Return the value of the digits by the text's decimal sign; None for the number of a section, "4.2.1"."""
        separators = re.findall(r"(?<=\d)[.,](?=\d)", number.text)
        if len(number.values) == 1 and (len(separators) < 2 or _GROUPED.match(number.text)):
            return next(iter(number.values))
        if len(separators) > 1:
            return None
        return min(number.values) if (separators == [","]) == self._comma else max(number.values)

    def _words_before(self, number: Number, value: float) -> SpelledNumber | None:
        """Return the words that spell the number in brackets behind them: "five (5)"."""
        gap = self._text[number.start - 2 : number.start]
        words = self._spelled.get(number.start - 2) if gap == " (" else None
        return words if words and words.value == value and self._text[number.end : number.end + 1] == ")" else None

    def _amount(self, context: _Context, value: float, written: str) -> Amount | None:
        start, end = context.start, context.end
        if fraction := _FRACTION.match(self._text, end):
            end = fraction.end()
            context = self._behind(context._replace(end=end))
            value, end = value + unicodedata.numeric(fraction[0]), context.end
        if context.is_bare and (self._is_in_word(start, end) or self._is_reference(start)):
            return None
        noun = _NOUN.match(self._text, end)
        behind = self._text[noun.end() : noun.end() + _REACH] if noun else ""
        return Amount(
            start,
            end,
            context.sign * value,
            context.scale,
            context.unit,
            noun=behind if behind and _is_content(behind) else "",
            is_cell=self._is_cell(start, end),
            is_year=context.is_bare and _YEAR.fullmatch(written) is not None,
        )

    # --- what stands around a figure in digits ---

    def _around(self, number: Number) -> _Context | None:
        """Return the context of a number in digits; None for the mark of a note."""
        written = self._text[number.start : number.end]
        plain = self._behind(_Context(number.start, number.end, scale=number.scale))
        closing = self._closing(number, plain.end)
        start, is_negative = self._minus(number.start)
        bracket = self._bracket(start) if closing else None
        if bracket is not None:
            start, is_minus = self._minus(bracket)
            is_negative |= is_minus
        currency, start = self._currency(start)
        has_unit_inside = bracket is None or (closing or 0) > number.end + 1
        if currency.currency and not plain.unit.currency:
            plain = self._behind(_Context(number.start, number.end, scale=number.scale), currency.currency)
        if currency.currency:
            start, is_minus = self._minus(start)
            is_negative |= is_minus
            bracket = self._bracket(start) if closing and bracket is None else bracket
            is_column = self._is_row and number.scale is None and _YEAR.fullmatch(written) and plain.unit == Unit()
            if is_column and self._text[start : number.start].strip().isalpha():  # "EUR 2023"
                currency, start, plain = Unit(), number.start, _Context(number.start, number.end)
        unit = Unit(currency.currency, name=plain.unit.name) if currency.currency else plain.unit
        scale = plain.scale or (currency.scale if currency.scale != 1 else None)
        context = _Context(start, plain.end, -1 if is_negative else 1, scale, unit)
        if bracket is None or closing is None:
            return context
        return self._in_brackets(context, bracket, closing, written, has_unit_inside=has_unit_inside)

    def _in_brackets(
        self, context: _Context, bracket: int, closing: int, written: str, *, has_unit_inside: bool
    ) -> _Context | None:
        """Return a figure in brackets as negative, as it is in a remark of prose, and None for the mark of a note."""
        before = self._text[max(0, bracket - 2) : bracket].rstrip(" ")[-1:]
        remark = context._replace(start=max(context.start, bracket + 1))
        if context.is_bare and written.isdigit():
            if _YEAR.fullmatch(written) and not self._is_row:
                return remark
            if len(written) <= (1 if before.isdigit() else 2) and before.isalnum():
                return None
        if has_unit_inside and not context.is_bare and before.isalpha() and not self._is_row:
            return remark
        return context._replace(start=min(context.start, bracket), end=max(context.end, closing), sign=-1)

    def _closing(self, number: Number, end: int) -> int | None:
        """Return where the bracket around a number closes: directly behind it, or behind its unit."""
        inside = re.search(r"[)\]]", self._text[number.start : number.end])
        if inside:
            return number.start + inside.end()
        return next((place + 1 for place in (number.end, end) if self._text[place : place + 1] in {")", "]"}), None)

    def _minus(self, position: int) -> tuple[int, bool]:
        """Return where a minus sign directly before `position` begins, and whether there is one; a dash is none."""
        if self._text[max(0, position - 6) : position].casefold() == "minus ":
            return position - 6, True
        if position == 0 or self._text[position - 1] not in _MINUS:
            return position, False
        before = self._text[max(0, position - 3) : position - 1]
        is_range = (
            before[-1:].isalnum()
            or before[-1:] in _NO_SIGN_BEHIND
            or (self._text[position - 1] == "–" and before.rstrip(" ")[-1:].isdigit())
        )
        return (position, False) if is_range else (position - 1, True)

    def _bracket(self, position: int) -> int | None:
        place = position - 2 if self._text[max(0, position - 2) : position] in {"( ", "[ "} else position - 1
        return place if place >= 0 and self._text[place] in "([" else None

    def _currency(self, position: int) -> tuple[Unit, int]:
        """Return the currency before `position`, with a scale such as that of "TEUR", and where it begins."""
        offset = max(0, position - _REACH)
        match = _TOKENS_BEFORE.search(self._text[offset:position])
        if match is None:
            return Unit(), position
        for group in ("two", "one"):
            written = match[group].lstrip("-−–=:~≈<>≤≥+/|")
            unit = _stated(written, self._dollar)
            if unit and unit.currency and written.strip() not in _WORDS_TOO:
                return unit, offset + match.end(group) - len(written)
        return Unit(), position

    def _behind(self, context: _Context, currency: str = "") -> _Context:
        """Add the scale and unit behind a figure, whose currency before it is given."""
        end = context.end
        if cents := _NO_CENTS.match(self._text, end):  # "200.000,- EUR"
            end = cents.end()
        if share := share_behind(self._text, end):
            return context._replace(end=share.end, unit=Unit(name=share.name))
        dot = self._text[end : end + 1] == "." and context.scale is not None  # "Mio. EUR"
        match = _TOKENS_BEHIND.match(self._text, end + dot)
        for group in ("three", "two", "one"):
            if match is None:
                break
            written = match[group].rstrip(".,;:)]")
            words = written.strip().removeprefix("of ") if context.scale else written  # "million of US dollars"
            unit = _stated(words, self._dollar, currency)
            stop = match.start(group) + len(written)
            is_of_next = unit and unit.currency and not currency and _FIGURE.match(self._text, stop)  # "5, EUR 7"
            if unit and not is_of_next:
                scale = context.scale if unit.scale == 1 else (context.scale or 1) * unit.scale
                context = context._replace(end=stop, scale=scale, unit=unit._replace(scale=1.0))
                break
        if (currency or context.unit.currency) and (per := _PER.match(self._text, context.end)):
            measure = measure_behind(self._text, per.start("name"))
            name = f"per {measure.name if measure else per['name']}"
            return context._replace(unit=Unit(context.unit.currency, name=next(iter(per_periods(name)), name)))
        if not currency and context.unit == Unit() and (measure := measure_behind(self._text, context.end)):
            return context._replace(end=measure.end, unit=Unit(name=measure.name))
        return context

    # --- what a bare figure belongs to ---

    def _is_in_word(self, start: int, end: int) -> bool:
        """Return whether a figure is part of a name: "10-K", "COVID-19", "4th", "B2", "12:30", "0123"."""
        before, behind = self._text[max(0, start - 2) : start], self._text[end : end + 3]
        is_clock = _CLOCK.match(self._text, end) or _AFTER_COLON.fullmatch(before)
        is_identifier = _LEADING_ZERO.match(self._text, start)
        is_joined = before[-1:].isalpha() or before[-1:] in {"_", "#", "§"} or _JOINED_BEFORE.fullmatch(before)
        is_begun = behind[:1].isalpha() or behind[:1] == "_" or _LETTER_BEHIND.match(behind)
        return any((is_clock, is_identifier, is_joined, is_begun))

    def _is_reference(self, start: int) -> bool:
        if _SECTION.match(self._text, start) and self._text[max(0, start - 1) : start] in {"", "\n"}:
            return True
        return _REFERENCE.search(self._text[max(0, start - _REACH) : start].rpartition("\t")[2]) is not None

    def _is_cell(self, start: int, end: int) -> bool:
        before, behind = self._text[max(0, start - 4) : start].rstrip(" "), self._text[end : end + 4].lstrip(" ")
        is_first = start <= 4 and not before
        return (is_first or before[-1:] in _OF_CELL) and (
            behind[:1] in _OF_CELL if behind else end + 4 >= len(self._text)
        )


def _without_letter(number: Number) -> Number:
    """Leave out a letter behind the digits that is a scale only with a currency, or a measure: "EUR 5m", "5m"."""
    if number.scale is not None or not number.text[-1].isalpha():
        return number
    return number._replace(text=number.text[:-1], end=number.end - 1)


def _stated(written: str, dollar: str, currency: str = "") -> Unit | None:
    """Return the currency and scale that all of some words state, beside a currency; None if they say anything else."""
    tokens = written.split()
    nothing = Unit(currency or None)
    unit = parse_unit(f"{currency} {written}".strip(), dollar=dollar)
    if unit.name or unit == nothing:
        return None
    ends = (tokens[0], tokens[-1])  # no connectors: "of $", "EUR in"
    return unit if all(parse_unit(f"{currency} {word}".strip()) != nothing for word in ends) else None


def _is_content(text: str) -> bool:
    words = analyze(text).words
    return bool(words) and words[0].start == 0 and words[0].is_content


def _with_units_of_ranges(amounts: Sequence[Amount], text: str) -> list[Amount]:
    """Give both ends of a range the unit and scale that one of them states: "5 to 10 %", "$5–7 million"."""
    found: list[Amount] = []
    for amount in amounts:
        last, end = (found[-1], amount) if found else (None, amount)
        if last and last.end <= amount.start and _RANGE.fullmatch(text, last.end, amount.start):
            if last.unit == Unit() and not last.noun:
                last = last._replace(unit=end.unit)
            elif last.unit.currency and last.scale and end.unit.name == "m":  # "GBP 2.5m–3m"
                end = end._replace(unit=last.unit, scale=1e6)
            elif end.unit == Unit() and not end.noun and not _LISTED.search(text, last.end, end.start):
                end = end._replace(unit=last.unit, scale=end.scale or last.scale)
            if last.unit == end.unit and last.scale is None and abs(last.value) <= abs(end.value):
                last = last._replace(scale=end.scale)
            found[-1] = last._replace(is_year=last.is_year and last.unit == Unit())
            end = end._replace(is_year=end.is_year and end.unit == Unit())
        found.append(end)
    return found
