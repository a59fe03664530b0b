"""Check the values that a language model gives for fields against the sources, as the sentences of an answer are."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence

from rag import errors, types
from rag.answering.field_values import Value, normalised, parse_unit, same, values_in
from rag.answering.fields.agreement import same_value
from rag.answering.fields.confidence import Evidence, confidence
from rag.answering.fields.model_reply import ReplyCell, ReplyField, ReplyQuote, ReplyValue
from rag.answering.passages.table_text import declared_scales
from rag.answering.text.markup import ProposedQuote
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounder
from rag.messages import N_

Column = types.FieldDefinition | types.FieldColumn
NO_VALUE = frozenset({"", "none", "null", "n/a", "na", "not stated", "unknown"})
"""What models write where they should write nothing."""


def check_fields(
    fields: Sequence[types.FieldDefinition],
    replies: Mapping[int, ReplyField],
    sources: Mapping[str, types.Hit],
    grounder: Grounder,
) -> dict[int, types.FoundField]:
    """Return each field that the model answered, by number from 1, with located quotes, verdict and confidence.

    `sources` are what it was given, by id. A value that cannot be read as the field's type is a failed field, with the
    reason.
    """
    pages = pages_of(sources.values())
    found: dict[int, types.FoundField] = {}
    for number, reply in replies.items():
        field = fields[number - 1]
        told = reply.confidence / 100
        if reply.state == "not_stated":
            sure = confidence(Evidence(field.type, "not_stated", told))
            found[number] = types.FoundField(state="not_stated", confidence=sure, pages_read=pages)
            continue
        try:
            checked = [_check(field, reply, sources, grounder)]
        except ValueError as error:
            found[number] = types.FoundField(state="failed", words=reply.words, reason=str(error), pages_read=pages)
            continue
        for other in reply.others:
            with contextlib.suppress(ValueError):
                checked.append(_check(field, other, sources, grounder))
        (value, support, is_typed), *others = checked
        alternatives = tuple(other for other, _, _ in others if not same_value(other, value, field.type))
        evidence = Evidence(
            field.type, "found", told, is_quoted=bool(value.citations), is_typed=is_typed, support=support
        )
        found[number] = types.FoundField(
            **dict(value),
            state="conflict" if alternatives else "found",
            alternatives=alternatives,
            verdict=support,
            confidence=confidence(evidence),
            pages_read=pages,
        )
    return found


def joined_records(parts: Sequence[types.FoundField]) -> types.FoundField:
    """Return a list of records that was read in parts as one, each record once, as sure as the least sure part."""
    unread = [part for part in parts if part.state == "failed"]
    stated = unread or [part for part in parts if part.state != "not_stated"] or [*parts]
    first, *others = stated
    if unread or not others:
        return first
    records = [*_records(first)]
    for part in others:
        records += [record for record in _records(part) if record not in records]
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


def _records(part: types.FoundField) -> tuple[types.Record, ...]:
    return part.value if isinstance(part.value, tuple) else ()


def _check(
    field: types.FieldDefinition, reply: ReplyValue, sources: Mapping[str, types.Hit], grounder: Grounder
) -> tuple[types.CellValue, types.Support | None, bool]:
    """Return a value with its citations, the verdict on its words, and whether its quotes state it in its type.

    Raises ValueError if it cannot be read as the field's type.
    """
    value, unit = _value(field, reply)
    quotes = [quote for quote in reply.quotes if quote.source in sources]
    claims = _claims(reply, quotes)
    judged, cited = grounder.ground(claims, by_meaning=False)
    located = [(citation, citation.quote) for citation in cited if citation.quote is not None]
    citations = {quote: _to_citation(citation, quote) for citation, quote in located}
    is_typed = any(
        states(field, value, unit, quote, sources[citation.citation_id].passage.text) for citation, quote in located
    )
    supports = [sentence.support for sentence in judged]
    least = next((support for support in supports if support is None or not support.is_proved), supports[0])
    words = reply.words or reply.value
    stated = types.CellValue(value=value, unit=unit, words=words, citations=tuple(citations.values()))
    return stated, least, is_typed


def _claims(reply: ReplyValue, quotes: Sequence[ReplyQuote]) -> list[Claim]:
    """Return the statements to prove: of a list one for each record, with the quotes that have its first value.

    The name of the field is no part of them: documents call things otherwise, and other rows have its words.
    """
    if not reply.records:
        return [_claim(reply.words or reply.value, quotes)]
    claims = []
    for record in reply.records:
        stated = [cell.value for cell in record if cell.value.strip()]
        own = [quote for quote in quotes if stated and same_words(stated[0], quote.text)]
        claims.append(_claim("; ".join(stated), own or quotes))
    return claims


def _claim(text: str, quotes: Sequence[ReplyQuote]) -> Claim:
    ids = tuple(dict.fromkeys(quote.source for quote in quotes))
    sentence = types.Sentence(text=text, citation_ids=ids, start=0, end=len(text))
    return Claim(sentence, tuple(ProposedQuote(quote.source, quote.text, len(text)) for quote in quotes))


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
    """Return the cells of a record that can be read as their columns say."""
    record: dict[str, types.Scalar] = {}
    for cell in cells:
        column = columns.get(cell.column.strip().casefold())
        if column is not None and cell.value.strip():
            with contextlib.suppress(ValueError):
                record[column.name] = _scalar(column, cell.value, "")[0]
    return record


def _scalar(column: Column, raw: str, unit: str) -> tuple[types.Scalar, str | None]:
    """Return a value and its unit: the one asked for, unless the value is in another currency."""
    if raw.strip().casefold() in NO_VALUE:
        raise ValueError("There is no value.")
    stated = parse_unit(unit)
    if column.unit is None or column.type not in ("number", "money"):
        return normalised(raw, column.type, column.unit or stated.text, column.choices), column.unit or stated.text
    asked = parse_unit(column.unit)
    if stated.currency and asked.currency and stated.currency != asked.currency:
        return normalised(raw, column.type, stated.text), stated.text
    value = normalised(raw, column.type, column.unit)
    if stated.currency and stated.scale != asked.scale and isinstance(value, float) and not _has_letters(raw):
        value = value * stated.scale / asked.scale
    return value, column.unit


def _has_letters(text: str) -> bool:
    return any(map(str.isalpha, text))


def states(field: types.FieldDefinition, value: types.FieldValue, unit: str | None, quote: str, passage: str) -> bool:
    """Return whether a quote states a value in its type; `passage` around it may declare the scale of its figures.

    Of records, whether it has the first column of one. What is no figure or date is compared by its words.
    """
    if isinstance(value, tuple):
        first = field.columns[0]
        return any(_stated(first, record.get(first.name), first.unit, quote, passage) for record in value)
    return _stated(field, value, unit, quote, passage)


def _stated(column: Column, value: types.Scalar, unit: str | None, quote: str, passage: str) -> bool:
    if value is None or column.type in ("yes_no", "choice"):
        return False
    if column.type == "text":
        return same_words(str(value), quote)
    of_unit = parse_unit(unit or "")
    readings = [scales for scales in (declared_scales(quote), declared_scales(passage)) if scales]
    if of_unit.currency is None or of_unit.name or not readings:
        # What a page declares does not hold for counts and amounts per share: "in millions, except per share data"
        readings.append(frozenset())
    return any(
        same(one, Value(value, unit, "", 0, 0), column.type)
        for scales in dict.fromkeys(readings)
        for one in values_in(quote, column.type, unit=unit, choices=column.choices, scales=scales)
    )


def same_words(words: str, quote: str) -> bool:
    """Return whether a quote has the words of a value next to each other."""
    return _plain(words) in _plain(quote)


def _plain(text: str) -> str:
    return " ".join("".join(char if char.isalnum() else " " for char in text.casefold()).split())


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
        value = normalised(raw, field.type, unit, field.choices)
    except ValueError as error:
        raise errors.ValidationError(N_("The value does not fit the field: {_problem}"), _problem=str(error)) from error
    return types.CellValue(value=value, unit=unit, words=given.words or str(raw), citations=given.citations)


def given_records(field: types.FieldDefinition, given: types.CellValue) -> types.CellValue:
    """Return corrected records, each cell normalised as its column says. Raises ValidationError."""
    columns = {column.name: column for column in field.columns}
    records = []
    for record in given.value if isinstance(given.value, tuple) else ():
        try:
            records.append(
                {
                    name: normalised(value, columns[name].type, columns[name].unit, columns[name].choices)
                    for name, value in record.items()
                    if value not in (None, "")
                }
            )
        except (ValueError, KeyError) as error:
            raise errors.ValidationError(
                N_("The value does not fit the field: {_problem}"), _problem=str(error)
            ) from error
    return types.CellValue(value=tuple(records), words=given.words, citations=given.citations)
