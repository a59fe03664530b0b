"""Read lists of records without a language model: labelled lines, rows of tables, signatures, authors, parties."""

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Sequence, Set
from decimal import Decimal
from typing import NamedTuple

from rag import types
from rag.answering.field_values import normalised, parse_unit
from rag.answering.fields.defined_terms import defined_terms, name_before
from rag.answering.fields.document_units import DocumentUnits
from rag.answering.fields.text_spans import letters_and_digits
from rag.answering.passages.persons import SIGNING, begins_abstract, byline, is_institution, signatures
from rag.answering.passages.quotable_units import Unit, placed_lines, trim_line
from rag.answering.tables.data_tables import TypedTable
from rag.answering.text import term_weights
from rag.answering.text.names import is_term
from rag.answering.text.sentences import one_line

MAX_VALUE_CHARS = 120
"""Maximum length of a value in a labelled line."""

FRONT_PAGES = 3
"""Pages on which a document says whom it is between."""


KNOWN_COLUMNS = 3
"""Columns of a field that a table must have if nothing above it says what the field is about."""

ALIKE = 0.9
"""How well a head fits a column of the same kind with another name: "Position" for "Title"."""

MIN_HEAD_FIT = 0.5
"""Minimum F1 of the words of a column's name and those of a head."""

ABOVE_CHARS = 600
"""Characters above a table that may say what it is about."""


class FoundRecord(NamedTuple):
    """A record and what states it; each value is of its column's type."""

    values: types.Record
    hit: types.Hit
    unit: Unit


Reading = Callable[[types.FieldDefinition, DocumentUnits], list[FoundRecord]]


def read_records(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Return the records of a field by the first way of reading that fits its name, or else its instruction.

    What the instruction rules out ("without signatories") is not asked for. [] if no way fits.
    """
    name, instruction = ({*term_weights.words(text)} for text in (field.name, _RULED_OUT.split(field.instruction)[0]))
    fitting = [[read for kinds, read in _READINGS if asked & kinds] for asked in (name, instruction)]
    for read in fitting[0] or fitting[1]:
        if found := read(field, document):
            first = {letters_and_digits(str(one.values[field.columns[0].name])): one for one in reversed(found)}
            return [one for one in found if any(one is other for other in first.values())]
    return _rows(field, document)


_RULED_OUT = re.compile(r"\b(?:without|excluding|except|other than|not|ohne|außer|nicht)\b", re.IGNORECASE)


def _column(field: types.FieldDefinition, names: Set[str]) -> str | None:
    """Return the first further column that has one of these words in its name."""
    return next((one.name for one in field.columns[1:] if names & {*term_weights.words(one.name)}), None)


_OFFICES, _FIRMS, _CALLED = (
    frozenset(term_weights.words(names))
    for names in (
        "title office position role function capacity job funktion titel amt stellung",
        "party company firm organisation organization entity employer for partei firma unternehmen",
        "role capacity function alias called term short defined rolle funktion bezeichnung kurzname",
    )
)
"""Words in the names of columns for what a person is, for whom, and what a party is called."""


# --- labelled lines ---


def _labelled(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read lines such as "Name: Ada Holm", whose labels are those of the columns; forms stand side by side, too."""
    columns = [column.name for column in field.columns]
    by_name = {name.casefold(): name for name in columns}
    label = re.compile(
        rf"(?<![^\W_])({'|'.join(map(re.escape, sorted(columns, key=len, reverse=True)))})\s*:", re.IGNORECASE
    )
    found: list[tuple[int, dict[str, str], types.Hit, Unit]] = []
    for page in document.pages:
        for offset, line in placed_lines(page.passage):
            labels = [*label.finditer(line.text)]
            if not labels or line.text[: labels[0].start()].strip(" _\t"):
                continue
            places: Counter[str] = Counter()
            for match, after in zip(labels, [*labels[1:], None], strict=True):
                name = by_name.get(match[1].casefold())
                if name is None:  # of letters that are the same in one sense only: "TİTLE"
                    continue
                end = after.start() if after else len(line.text)
                value = re.split(r"\t|\s{3,}", line.text[match.end() : end].strip(" _\t"))[0].strip(" _.,")
                unit = Unit(types.Span(offset + match.start(), offset + max(end, match.end())), types.BlockKind.TEXT)
                place, places[name] = places[name], places[name] + 1
                if not value or len(value) > MAX_VALUE_CHARS:
                    continue
                if name == columns[0]:
                    found.append((place, {name: value}, page, unit))
                    continue
                begun = next((one for one in reversed(found) if one[0] == place and one[2] is page), None)
                if begun and name not in begun[1]:
                    begun[1][name] = value
    complete = [one for one in found if len(one[1]) > 1]
    return [FoundRecord(values, page, unit) for _, values, page, unit in found] if complete else []


# --- signatures ---


_TITLE_LABEL = re.compile(r"^\s*(?:its|title|name|position)\s*:\s*", re.IGNORECASE)
_DATED = re.compile(r"^\s*date|\b(?:19|20)\d\d\s*$", re.IGNORECASE)


def _signed(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read signatures with the office below them and the party right above them."""
    office, party = _column(field, _OFFICES), _column(field, _FIRMS)
    found = []
    for page in document.pages:
        text = page.passage.text
        for unit in signatures(page.passage):
            first, *below = text[slice(*unit.span)].split("\n")
            below = [line for line in below if not _DATED.search(line)]
            names = [name for part in SIGNING.split(first) if (name := re.split(r"\t|\s{3,}", part.strip(" ,_\t"))[0])]
            for place, name in enumerate(names):
                if len(name) > MAX_VALUE_CHARS:
                    continue
                values = {field.columns[0].name: name}
                told = next(
                    (line.strip() for line in below if letters_and_digits(line) != letters_and_digits(name)), ""
                )
                if told and office and len(names) == 1:
                    values[office] = _TITLE_LABEL.sub("", told)
                if unit.section and party and not place:
                    values[party] = one_line(text[slice(*unit.section)])
                found.append(FoundRecord(values, page, unit))
    return found


# --- authors ---

_MARKS = re.compile(r"[^\w\s,;&.'’-]+|\d+")
"""Signs of affiliations and footnotes."""

_BETWEEN = re.compile(r"(?<!\s)\s*+(?:[,;&]|\b(?:and|und)\b)[\s,;&]*+(?:(?:and|und)\b)?", re.IGNORECASE)


def _authors(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read the names below the title, else the lines of names on the first page above its abstract."""
    for page in document.pages[:1]:
        unit = byline(page.passage)
        found = _names(page, unit) if unit else []
        if not found:
            for offset, line in placed_lines(page.passage):
                if begins_abstract(line.text):
                    break
                if document.has_large_title and line.bbox.y1 - line.bbox.y0 > 0.95 * document.largest_height:
                    continue
                one = Unit(trim_line(offset, line), types.BlockKind.TEXT)
                found += _names(page, one) if line.text.strip() else []
        return [FoundRecord({field.columns[0].name: name}, page, unit) for name, unit in found]
    return []


def _names(page: types.Hit, unit: Unit) -> list[tuple[str, Unit]]:
    """Return the names of persons that a line consists of; [] if anything else is in it."""
    text = types.without_raised_marks(page.passage.text[slice(*unit.span)].split("\t")[0])
    text = re.sub(r"-?\n", " " if "," in text else ", ", text)
    parts = [one_line(_MARKS.sub("", part)).strip(" .,") for part in _BETWEEN.split(text)]
    names = [part for part in parts if part]
    if any(len(name.split()[-1].strip(".")) == 1 for name in names):  # references: "Holm A"
        return []
    is_named = all(_FULL_NAME.fullmatch(name) and not is_institution(name) for name in names) and not text.isupper()
    return [(name, unit) for name in names] if names and is_named else []


_FULL_NAME = re.compile(
    r"(?:by\s+)?[^\W\d_a-zß-öø-ÿ][\w.'’-]*(?:\s+(?:van|von|der|de|la|del|bin|al|[^\W\d_a-zß-öø-ÿ][\w.'’-]*)){1,4}"
)


# --- parties ---

_BETWEEN_PARTIES = re.compile(
    r"\b(?:by\s+and\s+between|between|by\s+and\s+among|among|(?:made|entered\s+into)\s+by)\b", re.IGNORECASE
)
_RECITALS = re.compile(
    r"\b(?:WHEREAS|RECITALS?|WITNESSETH|BACKGROUND|NOW,?\s+THEREFORE)\b|\n[^\S\n]{0,9}1\.|\bas\s+follows\b"
)
PARTIES_CHARS = 1500
"""Characters in which a document says whom it is between."""


def _parties(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read who an agreement is between: each name before what it is called from there on."""
    for page in document.pages[:FRONT_PAGES]:
        text = page.passage.text
        for begin in _BETWEEN_PARTIES.finditer(text):
            reach = text[begin.end() : begin.end() + PARTIES_CHARS]
            end = _RECITALS.search(reach)
            found = list[FoundRecord]()
            for term in defined_terms(reach[: end.start()] if end else reach):
                name = name_before(reach, term.start, term.end) if term.is_behind else None
                if name is None:
                    break
                values = {field.columns[0].name: one_line(reach[slice(*name)])}
                if called := _column(field, _CALLED):
                    values[called] = term.term
                unit = Unit(types.Span(begin.end() + name.start, begin.end() + term.end), types.BlockKind.TEXT)
                found.append(FoundRecord(values, page, unit))
            if len(found) > 1:
                return found
    return []


# --- tables and lists ---


def _rows(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read the rows of the table whose heads name most of the columns, below what the field is about."""
    office = _column(field, _OFFICES)
    subject = {*term_weights.content_words(field.name)}
    best: tuple[tuple[int, bool, int], TypedTable, list[int | None]] | None = None
    for table in document.tables:
        places = _places(field.columns, table)
        known = sum(place is not None for place in places)
        is_named = not subject.isdisjoint(term_weights.words(_above(table, document)))
        if places[0] is None or known < min(2, len(field.columns)) or not (is_named or known >= KNOWN_COLUMNS):
            continue
        fit = known, is_named, len(table.rows)
        if best is None or fit > best[0]:
            best = fit, table, places
    if best is None:
        return []
    _, table, places = best
    found = []
    for number, row in enumerate(table.rows):
        values = {
            column.name: value
            for column, place in zip(field.columns, places, strict=True)
            if place is not None and (value := _value_of(column, table, place, number)) is not None
        }
        line = document.line(row.lines[0])
        name = values.get(field.columns[0].name)
        is_named = name is not None and (not office or any(map(str.isalpha, str(name))))  # no number of an exhibit
        if line and is_named and len(values) > 1:
            found.append(FoundRecord(values, line[0], Unit(line[1], types.BlockKind.TABLE)))
    return found


def _places(columns: Sequence[types.FieldColumn], table: TypedTable) -> list[int | None]:
    """Return for each column of a field the column of a table whose head is closest to its name, if any is close.

    Labels without a head are the first column of the field.
    """
    heads = [{*term_weights.content_words(column.head)} for column in table.info.columns]
    places: list[int | None] = []
    for column in columns:
        words = {*term_weights.content_words(column.name)}
        alike = next((names for names in (_OFFICES, _FIRMS) if names & words), frozenset[str]())
        fits = [
            0.0 if place in places else max(_f1(words, head), ALIKE if alike & head else 0.0)
            for place, head in enumerate(heads)
        ]
        closest = max(range(len(fits)), key=fits.__getitem__)
        places.append(closest if fits[closest] >= MIN_HEAD_FIT else None)
    if places[0] is None and not table.info.columns[0].head and 0 not in places:
        places[0] = 0
    return places


def _f1(one: Set[str], other: Set[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other) or 1)


def _above(table: TypedTable, document: DocumentUnits) -> str:
    """Return what stands above a table, and the section that it is in."""
    first = document.line(table.rows[0].lines[0])
    if first is None:
        return table.info.name
    hit, span = first
    return (
        f"{table.info.name} {hit.chunk.section or ''} {hit.passage.text[max(0, span.start - ABOVE_CHARS) : span.start]}"
    )


def _value_of(column: types.FieldColumn, table: TypedTable, place: int, row: int) -> types.Scalar:
    """Return the value of a cell as its column says; of amounts in the unit asked for. None if it is none."""
    cell, read, told = table.rows[row].cells[place], table.columns[place].values[row], table.info.columns[place]
    asked = parse_unit(column.unit or "")
    if isinstance(read, Decimal):
        if column.type in {"number", "money"}:
            is_other = told.unit is not None and asked.currency not in (None, parse_unit(told.unit).currency)
            return None if is_other else float(read) * parse_unit(told.scale or "").scale / asked.scale
        if column.type == "percentage":
            return float(read)
    with contextlib.suppress(ValueError):
        return normalised(cell, column.type, column.unit, column.choices)
    return None


_PERSON = re.compile(
    r"(?P<name>(?:[A-Z][\w’'-]*\.?\s+){1,4}[A-Z][\w’'-]+(?:,?\s+(?:Jr|Sr|I{2,3})\.?)?),?\s+\(?(?:age\s+)?(?P<age>[2-9]\d)\)?\s*[,.]\s*"
    r"(?:(?:is|has\s+(?:been|served\s+as))\s+)?(?:our\s+|the\s+)?(?P<office>[^.;:]{3,160})"
)


_OFFICE_ENDS = re.compile(r"(?<!\s)\s++(?:since|a position|and has|effective|until|from)\b")


def _persons(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read paragraphs that begin with a person's name, age and office: "Ada Holm, 51, is Chief Executive Officer"."""
    office = _column(field, _OFFICES)
    found: list[FoundRecord] = []
    for unit in document.units:
        match = _PERSON.match(unit.text)
        if match is None or any(map(is_term, match["name"].split())):
            continue
        if found and unit.page > found[-1].hit.chunk.main_page + 1 and len(found) < 3:
            found = []
        values = {field.columns[0].name: match["name"]}
        if office:
            values[office] = _OFFICE_ENDS.split(match["office"])[0].strip(" ,")
        found.append(FoundRecord(values, unit.hit, unit.unit))
    return found if len(found) > 2 else []


_SIGNATORIES = "signatory signatories signature signed sign"
_OFFICERS = "officer officers director directors executive person persons"
_READINGS: Sequence[tuple[Set[str], Reading]] = [
    (frozenset(term_weights.words(kinds)), read)
    for kinds, read in (
        (_SIGNATORIES, _labelled),
        (_SIGNATORIES, _signed),
        ("author authors writer verfasser", _authors),
        ("party parties contracting", _parties),
        (_OFFICERS, _rows),
        (_OFFICERS, _persons),
    )
]
"""Which words of a field are read in which way, the likeliest first."""
