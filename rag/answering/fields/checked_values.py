"""Check the values that a language model gives for fields against the sources, as the sentences of an answer are."""

import contextlib
import functools
import re
from collections.abc import Iterable, Mapping, Sequence

from rag import errors, types
from rag.answering.field_values import TIME_RATIOS, Unit, Value, is_bare, normalised, parse_unit, same, values_in
from rag.answering.fields.agreement import same_value
from rag.answering.fields.confidence import FIGURES, Evidence, confidence
from rag.answering.fields.model_reply import ReplyCell, ReplyField, ReplyQuote, ReplyValue
from rag.answering.fields.value_candidates import Prover
from rag.answering.passages.table_text import declared_scales
from rag.answering.text.measurement_units import DOLLARS, currencies, iso_code
from rag.answering.text.sentences import one_line
from rag.answering.verification.grounding import Grounder
from rag.messages import N_

Column = types.FieldDefinition | types.FieldColumn
NO_VALUE = frozenset({"", "none", "null", "n/a", "na", "not stated", "unknown"})
"""What models write where they should write nothing."""
_LENGTHS = {"year": "Y", "month": "M", "week": "W", "day": "D"}
_DURATION = types.FieldColumn(name="Duration", type="period")
DENIED = 0.3
"""By how much more likely quotes entail the opposite, or another choice, than the value that they are to prove.

Of 51 values that are right this refuses none, of the 197 wrong ones in their place two thirds (docs/quality.md).
"""


def check_fields(
    fields: Sequence[types.FieldDefinition],
    replies: Mapping[int, ReplyField],
    sources: Mapping[str, types.Hit],
    grounder: Grounder,
    prover: Prover,
) -> dict[int, types.FoundField]:
    """Return each field that the model answered, by number from 1, with located quotes, verdict and confidence.

    `sources` are what it was given, by id. A value that cannot be read as the field's type is a failed field, with the
    reason. Another value that its quotes do not state is no conflict, but leaves the first one in doubt.
    """
    pages = pages_of(sources.values())
    found: dict[int, types.FoundField] = {}
    for number, reply in replies.items():
        field = fields[number - 1]
        told = reply.confidence / 100
        if reply.state == "not_stated":
            gives_none = not (reply.value.strip() or reply.quotes or reply.records)
            sure = confidence(Evidence(field.type, "not_stated", told, is_proved=gives_none))
            found[number] = types.FoundField(state="not_stated", confidence=sure, pages_read=pages)
            continue
        try:
            checked = [_check(field, reply, sources, grounder, prover)]
        except ValueError as error:
            found[number] = types.FoundField(state="failed", words=reply.words, reason=str(error), pages_read=pages)
            continue
        for other in reply.others:
            with contextlib.suppress(ValueError):
                checked.append(_check(field, other, sources, grounder, prover))
        (value, verdict), *others = checked
        proved = [other for other, support in others if support.is_proved]
        alternatives = tuple(other for other in proved if not same_value(other, value, field.type))
        told_others = max(len(reply.others), reply.state == "conflict")
        is_proved = verdict.is_proved and len(proved) == told_others
        found[number] = types.FoundField(
            **dict(value),
            state="conflict" if alternatives else "found",
            alternatives=alternatives,
            verdict=verdict,
            confidence=confidence(Evidence(field.type, "found", told, is_proved=is_proved)),
            pages_read=pages,
        )
    return found


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
    prover: Prover,
) -> tuple[types.CellValue, types.Support]:
    """Return a value with its located quotes, and whether they state it.

    Raises ValueError if it cannot be read as the field's type.
    """
    value, unit = _value(field, reply)
    located = _located(reply.quotes, sources, grounder)
    quotes = Quotes([(citation.quote, passage) for citation, passage in located])
    if located and field.type not in FIGURES and not quotes.have(reply.words):
        # A figure alone stands in many places, words do not
        own = [ReplyQuote(source=name, text=reply.words) for name in {quote.source: 0 for quote in reply.quotes}]
        located += _located(own, sources, grounder)
        quotes = Quotes([(citation.quote, passage) for citation, passage in located])
    if not located:
        verdict = types.Support.UNCITED
    elif _is_stated(field, value, unit, reply, quotes) and not _is_denied(field, value, quotes, prover):
        verdict = types.Support.QUOTED
    else:
        verdict = types.Support.NOT_VERIFIED
    words = reply.words or reply.value
    if field.type in FIGURES and verdict.is_proved and not quotes.have(words):
        words = ""  # those of the quotes say it
    citations = tuple(dict.fromkeys(citation for citation, _ in located))
    return types.CellValue(value=value, unit=unit, words=words, citations=citations), verdict


def _located(
    quotes: Sequence[ReplyQuote], sources: Mapping[str, types.Hit], grounder: Grounder
) -> list[tuple[types.CellCitation, str]]:
    """Return the quotes that their sources have, each with the passage around it."""
    cited = [(one, grounder.find(one.source, one.text)) for one in quotes if one.source in sources]
    return [
        (_to_citation(found, found.quote), sources[one.source].passage.text)
        for one, found in cited
        if found is not None and found.quote
    ]


def _is_stated(
    field: types.FieldDefinition, value: types.FieldValue, unit: str | None, reply: ReplyValue, quotes: "Quotes"
) -> bool:
    """Return whether quotes state a value: of records the first column and all figures and dates.

    That they mean yes, no or a choice is not asked here, only whether they have the words that are to say so.
    """
    if isinstance(value, tuple):
        first, *others = field.columns
        asked = [first, *(column for column in others if column.type in FIGURES)]
        cells = [(column, record[column.name]) for record in value for column in asked if column.name in record]
        return all(quotes.state(column, cell, column.unit) for column, cell in cells)
    if field.type in FIGURES:
        return quotes.state(field, value, unit)
    return quotes.have(reply.words) and (field.type in ("yes_no", "choice") or quotes.have(str(value)))


def _is_denied(field: types.FieldDefinition, value: types.FieldValue, quotes: "Quotes", prover: Prover) -> bool:
    """Return whether quotes mean another choice, or yes for no, more than the value."""
    claims: dict[types.FieldValue, str]
    if field.type == "choice":
        claims = {choice: f"The {field.name} is {choice}." for choice in field.choices}
    elif field.type == "yes_no":
        claims = {True: f"{field.name}.", False: f"Not {field.name}."}
    else:
        return False
    proofs = dict(zip(claims, prover.probabilities([(quotes.text, claim) for claim in claims.values()]), strict=True))
    return max(proofs.values()) - proofs[value] >= DENIED


class Quotes:
    """The located quotes of a value, each with the passage around it, which may declare the scale of its figures."""

    def __init__(self, located: Sequence[tuple[str, str]]) -> None:
        self.text = " ".join(one_line(quote) for quote, _ in located)
        self._located = located
        self._words = _plain(self.text)
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
        if isinstance(value, float) and of_unit.scale != 1:  # a figure of no unit is none of thousands
            given = Value(value * of_unit.scale, of_unit._replace(scale=1.0).text, "", 0, 0)
        if any(same(one._replace(words=""), given, column.type) for one in self._values[key]):
            return True
        letter = _LENGTHS.get(of_unit.name)  # "one year" is a period, but "one" is no number
        return letter is not None and isinstance(value, float) and self.state(_DURATION, f"P{value:.15g}{letter}", None)

    def _read(self, quote: str, passage: str, kind: types.FieldType, unit: str | None) -> list[Value]:
        """Return the values of a type that a quote states, by the scales that it, others or the passage declare."""
        of_unit = parse_unit(unit or "")
        if of_unit.currency and not _may_be_in(of_unit.currency, passage):
            return []
        scales = declared_scales(quote) or self._scales or (_page_scales(passage) if of_unit.currency else ())
        readings = [frozenset({scale}) for scale in scales]
        if of_unit.currency is None or of_unit.name or not readings:
            # What a page declares does not hold for counts and amounts per share: "in millions, except per share data"
            readings.append(frozenset())
        said = quote if "\t" in quote else " ".join(quote.split())
        if of_unit.currency and of_unit.name and of_unit.name in self.text.casefold():  # the head may say "per share"
            said = f"{said}\n{of_unit.name}"
        return [one for scales in readings for one in values_in(said, kind, unit=unit, scales=scales)]


_page_scales = functools.lru_cache(maxsize=64)(declared_scales)


@functools.lru_cache(maxsize=64)
def _may_be_in(currency: str, page: str) -> bool:
    """Return whether figures of a page may be in a currency: it names that one, or none."""
    named = currencies(page)
    is_dollar = "$" in named and currency in DOLLARS
    return not named or is_dollar or currency in page or currency in map(iso_code, named)


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


def _value(field: types.FieldDefinition, reply: ReplyValue) -> tuple[types.FieldValue, str | None]:
    if field.type != "records":
        return _scalar(field, reply.value, reply.unit)
    columns = {column.name.casefold(): column for column in field.columns}
    records = [_record(columns, record) for record in reply.records]
    read = tuple(record for record in records if record)
    if not read:
        raise ValueError("The list has no value of any of its columns.")
    return read, None


def _record(columns: Mapping[str, types.FieldColumn], cells: Iterable[ReplyCell]) -> types.Record:
    """Return the cells of a record that can be read as their columns say, in their units."""
    record: dict[str, types.Scalar] = {}
    for cell in cells:
        column = columns.get(cell.column.strip().casefold())
        if column is not None and cell.value.strip():
            with contextlib.suppress(ValueError):
                value, unit = _scalar(column, cell.value, "")
                if column.unit in (None, unit):
                    record[column.name] = value
    return record


def _scalar(column: Column, raw: str, unit: str) -> tuple[types.Scalar, str | None]:
    """Return a value and its unit: the one asked for, unless the value is in another currency or measure.

    A figure is in the unit stated beside it, else in that of its own text, else in the one asked for.
    """
    if raw.strip().casefold() in NO_VALUE:
        raise ValueError("There is no value.")
    if column.type == "period":
        return normalised(raw, column.type), column.unit or _own_unit(raw, column.type)
    if column.type not in ("number", "money"):
        text = column.unit or parse_unit(unit).text
        return normalised(raw, column.type, text, column.choices), text
    asked, stated = parse_unit(column.unit or ""), parse_unit(unit)
    if stated == Unit() and not is_bare(raw):
        own = parse_unit(_own_unit(raw, column.type) or "")
        stated = own._replace(currency=own.currency or asked.currency, name=own.name or asked.name)
    elif stated == Unit():
        stated = asked
    value = normalised(raw, column.type, stated.text)
    ratio = TIME_RATIOS.get((stated.name, asked.name), 1.0)
    is_other = stated.is_measure and asked.is_measure and stated.name != asked.name and ratio == 1.0
    if column.unit is None or is_other or (stated.currency and asked.currency and stated.currency != asked.currency):
        return value, stated.text
    return value * ratio * stated.scale / asked.scale if isinstance(value, float) else value, column.unit


def _own_unit(text: str, kind: types.FieldType) -> str | None:
    """Return the unit that a text names beside its figure."""
    return next((one.unit for one in values_in(text, kind, scales=frozenset())), None)


def same_words(words: str, quote: str) -> bool:
    """Return whether a quote has the words of a value next to each other."""
    return _is_among(_plain(words), _plain(quote))


def _is_among(words: str, text: str) -> bool:
    """Return whether a text has words as whole ones, but for the marks of notes behind them: "Smith1"."""
    start = text.find(words)
    while start >= 0:
        around = text[start - 1 : start] + words[:1], words[-1:] + text[start + len(words) : start + len(words) + 1]
        if not any(len(pair) == 2 and (pair.isalpha() or pair.isdigit()) for pair in around):
            return True
        start = text.find(words, start + 1)
    return False


def _plain(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in one_line(text).casefold()).split())


def pages_of(hits: Iterable[types.Hit]) -> tuple[int, ...]:
    """Return the pages of passages, in order."""
    return tuple(sorted({line.page_number for hit in hits for line in hit.passage.lines}))


def corrected_value(field: types.FieldDefinition, given: types.CellValue) -> types.CellValue:
    """Return a person's correction, normalised as the field says, from its value or else from its words.

    Raises:
        errors.ValidationError: it is not of the field's type.
    """
    if isinstance(given.value, tuple) != (field.type == "records"):
        raise errors.ValidationError(N_("The value does not fit the field: a list of records has records."))
    if isinstance(given.value, tuple):
        return given_records(field, given)
    raw = given.value if given.value is not None else given.words
    unit = given.unit or field.unit
    try:
        value = normalised(raw, field.type, unit, field.choices, is_whole=given.value is not None)
    except ValueError as error:
        raise errors.ValidationError(N_("The value does not fit the field: {_problem}"), _problem=str(error)) from error
    if unit is None and field.type in ("number", "money", "period"):
        unit = _own_unit(str(raw), field.type)
    return types.CellValue(value=value, unit=unit, words=given.words or str(raw), citations=given.citations)


def given_records(field: types.FieldDefinition, given: types.CellValue) -> types.CellValue:
    """Return corrected records, each cell normalised as its column says. Raises ValidationError."""
    columns = {column.name: column for column in field.columns}
    records = []
    for record in given.value if isinstance(given.value, tuple) else ():
        try:
            records.append(
                {
                    name: normalised(
                        value, columns[name].type, columns[name].unit, columns[name].choices, is_whole=True
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
