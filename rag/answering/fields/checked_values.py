"""Check the values that a language model gives for fields against the sources, as the sentences of an answer are."""

import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from rag import errors, prompts, types
from rag.answering.field_values import (
    TIME_RATIOS,
    Unit,
    Value,
    is_bare,
    normalised,
    parse_unit,
    per_periods,
    same,
    values_in,
)
from rag.answering.fields.agreement import same_value
from rag.answering.fields.asked_field import query_of
from rag.answering.fields.confidence import FIGURES, Evidence, confidence
from rag.answering.fields.model_reply import ReplyCell, ReplyField, ReplyQuote, ReplyValue
from rag.answering.generation.context import neutralise_marks
from rag.answering.passages.table_text import declared_scales
from rag.answering.text.measurement_units import DOLLARS, currencies, iso_code
from rag.answering.text.sentences import one_line
from rag.answering.text.term_weights import content_words
from rag.answering.verification.grounding import Grounder
from rag.messages import N_

Column = types.FieldDefinition | types.FieldColumn
NO_VALUE = frozenset({"", "none", "null", "n/a", "na", "not stated", "unknown", "-", "–", "—"})
"""What models write where they should write nothing."""
_LENGTHS = {"year": "Y", "month": "M", "week": "W", "day": "D"}
_DURATION = types.FieldColumn(name="Duration", type="period")
_MINUS = re.compile(r"(?<![^\W_])[−–](?=\d)")
_BETWEEN_WORDS = re.compile(r"(?!(?<=\d)[.,]\d|(?<![^\W_])-\d)[\W_]")
_IN_FIGURE = re.compile(r"[\d.,-]\d|\d[.,]")


class Claim(NamedTuple):
    """That a field has a value, and the sources of its quotes, by id."""

    text: str
    source_ids: frozenset[str]


Judge = Callable[[Sequence[Claim]], Sequence[bool]]
"""Tell for each claim whether its sources state it."""


class _Checked(NamedTuple):
    """A value, whether its quotes state it, and what is left to a judge: whether they mean yes, no or a choice."""

    value: types.CellValue
    verdict: types.Support
    claim: Claim | None = None


def check_fields(
    fields: Sequence[types.FieldDefinition],
    replies: Mapping[int, ReplyField],
    sources: Mapping[str, types.Hit],
    grounder: Grounder,
    judge: Judge,
    *,
    language: str | None = None,
) -> dict[int, types.FoundField]:
    """Return each field that the model answered, by number from 1, with located quotes, verdict and confidence.

    `sources` are what it was given, by id, `language` the code of the document's, by which figures and days are read
    that do not show how. Facts are compared; `judge` is asked once, for all fields, whether quotes mean yes, no or a
    choice. A value that cannot be read as the field's type is a failed field, with the reason. Another value that its
    quotes do not state is no conflict, but leaves the first one in doubt.
    """
    pages = pages_of(sources.values())
    found: dict[int, types.FoundField] = {}
    values: dict[int, list[_Checked]] = {}
    for number, reply in replies.items():
        field = fields[number - 1]
        if reply.state == "not_stated":
            gives_none = _is_none(reply.value) and not any(quote.text.strip() for quote in reply.quotes)
            gives_none &= all(_is_none(cell.value) for record in reply.records for cell in record)
            sure = confidence(Evidence(field.type, "not_stated", reply.confidence / 100, is_proved=gives_none))
            found[number] = types.FoundField(state="not_stated", confidence=sure, pages_read=pages)
            continue
        try:
            values[number] = [_check(field, reply, sources, grounder, language=language)]
        except ValueError as error:
            found[number] = types.FoundField(state="failed", words=reply.words, reason=str(error), pages_read=pages)
            continue
        for other in reply.others:
            with contextlib.suppress(ValueError):
                values[number].append(_check(field, other, sources, grounder, language=language))
    for number, checked in _judged(values, judge).items():
        found[number] = _found(fields[number - 1], replies[number], checked, pages)
    return found


def _judged(values: Mapping[int, Sequence[_Checked]], judge: Judge) -> dict[int, list[_Checked]]:
    """Return values with the verdicts of the judge."""
    claims = [one.claim for checked in values.values() for one in checked if one.claim]
    verdicts = iter(judge(claims) if claims else ())
    return {
        number: [
            one if one.claim is None or next(verdicts) else one._replace(verdict=types.Support.NOT_VERIFIED)
            for one in checked
        ]
        for number, checked in values.items()
    }


def _found(
    field: types.FieldDefinition, reply: ReplyField, checked: Sequence[_Checked], pages: tuple[int, ...]
) -> types.FoundField:
    first, *others = checked
    proved = [other.value for other in others if other.verdict.is_proved]
    alternatives = tuple(other for other in proved if not same_value(other, first.value, field.type))
    told_others = max(len(reply.others), reply.state == "conflict")
    is_proved = first.verdict.is_proved and len(proved) == told_others
    return types.FoundField(
        **dict(first.value),
        state="conflict" if alternatives else "found",
        alternatives=alternatives,
        verdict=first.verdict,
        confidence=confidence(Evidence(field.type, "found", reply.confidence / 100, is_proved=is_proved)),
        pages_read=pages,
    )


def joined_records(parts: Sequence[types.FoundField]) -> types.FoundField:
    """Return a list of records that was read in parts as one: no surer than its least sure part, failed if one is.

    A record that a later part repeats counts once.
    """
    stated = [part for part in parts if part.state != "not_stated"] or [*parts]
    first = min(stated, key=lambda part: (part.state != "failed", part.confidence or 0.0))
    if first.state in ("failed", "not_stated") or len(stated) == 1:
        return first
    records: list[types.Record] = []
    for part in stated:
        before = [*records]
        records += [one for one in part.value if one not in before] if isinstance(part.value, tuple) else []
    verdicts = [part.verdict for part in stated]
    return first.model_copy(
        update={
            "state": "conflict" if any(part.state == "conflict" for part in stated) else "found",
            "value": tuple(records),
            "words": "; ".join(part.words for part in stated if part.words),
            "citations": tuple(dict.fromkeys(citation for part in stated for citation in part.citations)),
            "alternatives": tuple(other for part in stated for other in part.alternatives),
            "verdict": next((one for one in verdicts if one is None or not one.is_proved), verdicts[0]),
            "confidence": min(part.confidence or 0.0 for part in stated),
        }
    )


def _check(
    field: types.FieldDefinition,
    reply: ReplyValue,
    sources: Mapping[str, types.Hit],
    grounder: Grounder,
    *,
    language: str | None,
) -> _Checked:
    """Return a value with its located quotes, and whether they state it.

    Raises ValueError if it cannot be read as the field's type.
    """
    value, unit = _value(field, reply, language)
    located = _located(reply.quotes, sources, grounder)
    quotes = Quotes([(citation.quote, passage) for citation, passage in located], language)
    if located and field.type not in FIGURES and not quotes.have(reply.words):
        # Only what is no figure is looked for by its words: "5" stands in many places that do not mean this value
        cited = dict.fromkeys(quote.source for quote in reply.quotes)
        located += _located([ReplyQuote(source=name, text=reply.words) for name in cited], sources, grounder)
        quotes = Quotes([(citation.quote, passage) for citation, passage in located], language)
    is_stated = bool(located) and _is_stated(field, value, unit, reply, quotes)
    verdict = types.Support.QUOTED if is_stated else types.Support.NOT_VERIFIED
    words = reply.words or reply.value
    if field.type in FIGURES and is_stated and not quotes.have(words):
        words = ""  # those of the quotes say it
    citations = tuple(dict.fromkeys(citation for citation, _ in located))
    claim = None
    if is_stated and field.type in ("yes_no", "choice"):
        said = ("yes" if value else "no") if isinstance(value, bool) else value
        asked, choices = one_line(neutralise_marks(query_of(field))), " / ".join(field.choices or ("yes", "no"))
        text = prompts.FIELD_CLAIM.format(field=asked, choices=choices, value=said)
        claim = Claim(text, frozenset(quote.source for quote in reply.quotes).intersection(sources))
    return _Checked(
        types.CellValue(value=value, unit=unit, words=words, citations=citations),
        verdict if located else types.Support.UNCITED,
        claim,
    )


def _located(
    quotes: Sequence[ReplyQuote], sources: Mapping[str, types.Hit], grounder: Grounder
) -> list[tuple[types.CellCitation, str]]:
    """Return the quotes that their sources have, each with the passage around it; a mark alone is no quote."""
    cited = [(one, grounder.find(one.source, one.text)) for one in quotes if one.source in sources and _plain(one.text)]
    return [
        (_to_citation(found, found.quote), sources[one.source].passage.text)
        for one, found in cited
        if found is not None and found.quote
    ]


def _is_stated(
    field: types.FieldDefinition, value: types.FieldValue, unit: str | None, reply: ReplyValue, quotes: "Quotes"
) -> bool:
    """Return whether quotes state a value: of each record all figures and the first column that has words.

    A list is not stated if a cell that was given for it could not be read. That quotes mean yes, no or a choice is not
    asked here, only whether they have the words that are to say so, and those of yes or no are about the field.
    """
    if isinstance(value, tuple):
        names = {column.name.casefold() for column in field.columns}
        given = [cell for record in reply.records for cell in record if cell.column.strip().casefold() in names]
        if sum(map(len, value)) != sum(not _is_none(cell.value) for cell in given):
            return False
        named = next((column for column in field.columns if column.type != "yes_no"), None)
        asked = [column for column in field.columns if column is named or column.type in FIGURES]
        rows = [[(one, record[one.name]) for one in asked if one.name in record] for record in value]
        return all(row and all(quotes.state(column, cell, column.unit) for column, cell in row) for row in rows)
    if field.type in FIGURES:
        return quotes.state(field, value, unit)
    if field.type == "yes_no" and {*content_words(query_of(field))}.isdisjoint(content_words(quotes.text)):
        return False
    return quotes.have(reply.words) and (field.type in ("yes_no", "choice") or quotes.have(str(value)))


class Quotes:
    """The located quotes of a value, each with the passage around it, which may declare the scale of its figures."""

    def __init__(self, located: Sequence[tuple[str, str]], language: str | None = None) -> None:
        self.text = " ".join(one_line(quote) for quote, _ in located)
        self._located, self._language = located, language
        self._words = " | ".join(_plain(quote) for quote, _ in located)  # no value goes from one quote into the next
        self._scales = declared_scales("\n".join(quote for quote, _ in located))
        self._values: dict[tuple[types.FieldType, str | None], list[Value]] = {}

    def have(self, words: str) -> bool:
        """Return whether they have words next to each other."""
        return _is_among(_plain(words), self._words)

    def state(self, column: Column, value: types.Scalar, unit: str | None) -> bool:
        """Return whether they state a value in its type; what is no figure or date is compared by its words."""
        if column.type not in FIGURES:
            return self.have(str(value))
        key = (column.type, unit)
        if key not in self._values:
            self._values[key] = [one for quote, passage in self._located for one in self._read(quote, passage, *key)]
        if column.type == "date":
            return any(_is_day(str(value), one) for one in self._values[key])
        of_unit = parse_unit(unit or "")
        given = Value(value, unit, "", 0, 0)
        # In units of one, so that a quoted figure whose unit is unknown is not taken as one in thousands
        if isinstance(value, float) and of_unit.scale != 1:
            given = Value(value * of_unit.scale, of_unit._replace(scale=1.0).text, "", 0, 0)
        stated = [one._replace(words="") for one in self._values[key]]
        if of_unit.currency and not of_unit.name:  # "EUR 4,200 per month" is an amount in EUR
            units = [parse_unit(one.unit or "") for one in stated]
            stated += [
                one._replace(unit=unit._replace(name="").text)
                for one, unit in zip(stated, units, strict=True)
                if per_periods(unit.name)
            ]
        if any(same(one, given, column.type) for one in stated):
            return True
        letter = _LENGTHS.get(of_unit.name)  # "one year" is a period, but "one" is no number
        return letter is not None and isinstance(value, float) and self.state(_DURATION, f"P{value:.15g}{letter}", None)

    def _read(self, quote: str, passage: str, kind: types.FieldType, unit: str | None) -> list[Value]:
        """Return the values of a type that a quote states, by the scales that it, others or the passage declare."""
        of_unit = parse_unit(unit or "")
        if of_unit.currency and not _may_be_in(of_unit.currency, passage):
            return []
        scales = declared_scales(quote) or self._scales or (_page_scales(passage) if of_unit.currency else ())
        is_open = "\t" not in quote and not (declared_scales(quote) or self._scales)
        readings = [frozenset({scale}) for scale in scales]
        if of_unit.currency is None or of_unit.name or is_open or not readings:
            # What a page declares does not hold for counts and amounts per share: "in millions, except per share data"
            readings.append(frozenset())
        said = quote if "\t" in quote else " ".join(quote.split())
        if of_unit.currency and of_unit.name and self._are_per(of_unit.name):
            said = f"{said}\n{of_unit.name}"
        read = [values_in(said, kind, unit=unit, scales=scales, language=self._language) for scales in readings]
        if is_open:  # Whether the scale of a page's tables is that of its prose, too, nobody can tell
            return [one for one in read[0] if all(one in others for others in read)]
        return [one for values in read for one in values]

    def _are_per(self, name: str) -> bool:
        """Return whether amounts are per something: a head may say "per share", or words "the monthly rent"."""
        return name in self.text.casefold() or per_periods(self.text) == {name}


_page_scales = functools.lru_cache(maxsize=64)(declared_scales)


@functools.lru_cache(maxsize=64)
def _may_be_in(currency: str, page: str) -> bool:
    """Return whether figures of a page may be in a currency: it names that one, or none."""
    named = currencies(page)
    is_dollar = "$" in named and currency in DOLLARS
    is_named = currency in map(iso_code, named) or re.search(rf"\b{currency}\b", page)
    return not named or is_dollar or bool(is_named)


def _is_day(value: str, stated: Value) -> bool:
    """Return whether words state a date as precisely as it is given; "5/11/2016" may be either day."""
    told, parts = str(stated.value), re.findall(r"\d+", stated.words)
    if told.startswith(value):
        return True
    is_open = len(told) == 4 and len(parts) == 3 and value.startswith(told)
    return is_open and sorted(map(int, parts[:2])) == sorted(map(int, value.split("-")[1:]))


def _to_citation(citation: types.Citation, quote: str) -> types.CellCitation:
    return types.CellCitation(
        quote=quote,
        page_number=citation.regions[0].page_number if citation.regions else citation.lines[0].page_number,
        page_label=citation.page_label,
        regions=citation.regions,
    )


def _value(
    field: types.FieldDefinition, reply: ReplyValue, language: str | None
) -> tuple[types.FieldValue, str | None]:
    if field.type != "records":
        return _scalar(field, reply.value, reply.unit, language)
    columns = {column.name.casefold(): column for column in field.columns}
    records = [_record(columns, record, language) for record in reply.records]
    read = tuple(record for record in records if record)
    if not read:
        raise ValueError("The list has no value of any of its columns.")
    return read, None


def _record(columns: Mapping[str, types.FieldColumn], cells: Iterable[ReplyCell], language: str | None) -> types.Record:
    """Return the cells of a record that can be read as their columns say, in their units."""
    record: dict[str, types.Scalar] = {}
    for cell in cells:
        column = columns.get(cell.column.strip().casefold())
        if column is not None and not _is_none(cell.value):
            with contextlib.suppress(ValueError):
                value, unit = _scalar(column, cell.value, "", language)
                if column.unit in (None, unit):
                    record[column.name] = value
    return record


def _scalar(column: Column, raw: str, unit: str, language: str | None) -> tuple[types.Scalar, str | None]:
    """Return a value and its unit: the one asked for, unless the value is in another currency or measure.

    A figure is in the unit stated beside it, else in that of its own text, else in the one asked for.
    """
    if _is_none(raw):
        raise ValueError("There is no value.")
    if column.type == "period":
        return normalised(raw, column.type, language=language), column.unit or _own_unit(raw, column.type)
    if column.type not in ("number", "money"):
        text = column.unit or parse_unit(unit).text
        return normalised(raw, column.type, text, column.choices, language=language), text
    asked, stated = parse_unit(column.unit or ""), parse_unit(unit)
    if stated == Unit() and not is_bare(raw):
        own = parse_unit(_own_unit(raw, column.type) or "")
        stated = own._replace(currency=own.currency or asked.currency, name=own.name or asked.name)
    elif stated == Unit():
        stated = asked
    value = normalised(raw, column.type, stated.text, language=language)
    ratio = TIME_RATIOS.get((stated.name, asked.name), 1.0)
    is_other = stated.name != asked.name and (
        (stated.is_measure and asked.is_measure and ratio == 1.0) or (stated.is_per and asked.is_per)
    )
    if column.unit is None or is_other or (stated.currency and asked.currency and stated.currency != asked.currency):
        return value, stated.text
    return value * ratio * stated.scale / asked.scale if isinstance(value, float) else value, column.unit


def _is_none(raw: str) -> bool:
    return raw.strip().casefold() in NO_VALUE


def _own_unit(text: str, kind: types.FieldType) -> str | None:
    """Return the unit that a text names beside its figure."""
    return next((one.unit for one in values_in(text, kind, scales=frozenset())), None)


def _is_among(words: str, text: str) -> bool:
    """Return whether a text has words as whole ones, but for the marks of notes behind them: "Smith1"."""
    start = text.find(words) if words else -1
    while start >= 0:
        end = start + len(words)
        around = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
        if not any(len(pair) == 2 and (pair.isalpha() or _IN_FIGURE.fullmatch(pair)) for pair in around):
            return True
        start = text.find(words, start + 1)
    return False


def _plain(text: str) -> str:
    """Return the words of a text, and its figures with their signs and separators."""
    return " ".join(_BETWEEN_WORDS.sub(" ", _MINUS.sub("-", one_line(text).casefold())).split())


def pages_of(hits: Iterable[types.Hit]) -> tuple[int, ...]:
    """Return the pages of passages, in order."""
    return tuple(sorted({line.page_number for hit in hits for line in hit.passage.lines}))


def corrected_value(
    field: types.FieldDefinition, given: types.CellValue, language: str | None = None
) -> types.CellValue:
    """Return a person's correction, normalised as the field says, from its value or else from its words.

    `language` is the code of the document's, by which figures and days are read that do not show how.

    Raises:
        errors.ValidationError: it is not of the field's type.
    """
    if isinstance(given.value, tuple) != (field.type == "records"):
        raise errors.ValidationError(N_("The value does not fit the field: a list of records has records."))
    if isinstance(given.value, tuple):
        return given_records(field, given, language)
    raw = given.value if given.value is not None else given.words
    unit = given.unit or field.unit
    try:
        is_whole = given.value is not None
        value = normalised(raw, field.type, unit, field.choices, language=language, is_whole=is_whole)
    except ValueError as error:
        raise errors.ValidationError(N_("The value does not fit the field: {_problem}"), _problem=str(error)) from error
    if unit is None and field.type in ("number", "money", "period"):
        unit = _own_unit(str(raw), field.type)
    return types.CellValue(value=value, unit=unit, words=given.words or str(raw), citations=given.citations)


def given_records(field: types.FieldDefinition, given: types.CellValue, language: str | None) -> types.CellValue:
    """Return corrected records, each cell normalised as its column says. Raises ValidationError."""
    columns = {column.name: column for column in field.columns}
    records = []
    for record in given.value if isinstance(given.value, tuple) else ():
        try:
            records.append(
                {
                    name: normalised(
                        value,
                        columns[name].type,
                        columns[name].unit,
                        columns[name].choices,
                        language=language,
                        is_whole=True,
                    )
                    for name, value in record.items()
                    if value not in (None, "")
                }
            )
        except (ValueError, KeyError) as error:
            raise errors.ValidationError(
                N_("The value does not fit the field: {_problem}"), _problem=str(error)
            ) from error
    return types.CellValue(value=tuple(records), words=given.words, citations=given.citations)
