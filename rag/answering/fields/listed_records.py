"""Read lists of records without a language model: labelled lines, rows of tables, signatures, authors, parties."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.fields.document_units import DocumentUnits, FieldUnit
from rag.answering.fields.text_spans import LEGAL_FORM, spans
from rag.answering.passages.persons import SIGNING, begins_abstract, byline, is_institution, signatures
from rag.answering.passages.quotable_units import Unit, placed_lines, trim_line
from rag.answering.text import term_weights
from rag.answering.text.names import is_term
from rag.answering.text.sentences import one_line

MAX_VALUE_CHARS = 120
"""Maximum length of a value in a labelled line."""

FRONT_PAGES = 3
"""Pages on which a document says whom it is between."""


class FoundRecord(NamedTuple):
    """A record and what states it."""

    values: Mapping[str, str]
    hit: types.Hit
    unit: Unit


Reading = Callable[[types.FieldDefinition, DocumentUnits], list[FoundRecord]]


def read_records(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Return the records of a field by the first way of reading that fits it; [] if none does."""
    asked = {*term_weights.words(f"{field.name} {field.instruction}")}
    for words, read in _READINGS:
        if words is None or asked & {*term_weights.words(words)}:
            found = read(field, document)
            named = {_plain(record.values[field.columns[0].name]): record for record in reversed(found)}
            unique = [record for record in found if named[_plain(record.values[field.columns[0].name])] is record]
            if unique:
                return unique
    return []


def _plain(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


# --- labelled lines ---


def _labelled(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read lines such as "Name: Ada Holm", whose labels are those of the columns; forms stand side by side, too."""
    columns = [column.name for column in field.columns]
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
                name = next(one for one in columns if one.casefold() == match[1].casefold())
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
    """Read signatures with what stands below them; a party right above them is the last column."""
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
                office = next((line.strip() for line in below if _plain(line) != _plain(name)), "")
                if office and len(field.columns) > 1 and len(names) == 1:
                    values[field.columns[1].name] = _TITLE_LABEL.sub("", office)
                if unit.section and len(field.columns) > 2 and not place:
                    values[field.columns[2].name] = one_line(text[slice(*unit.section)])
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
_ALIAS = re.compile(r"\((?:[^()\"“”]{0,60})[\"“](?P<alias>[^\"“”]{1,60})[\"”][^()]{0,60}\)")
_AND = re.compile(r"[\s,;:]*(?:(?:and|&|und)\b\s*)?(?:\(?[1-9ivx]{1,3}[.)]\s*)?", re.IGNORECASE)
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
            found, start = list[FoundRecord](), 0
            for alias in _ALIAS.finditer(reach, 0, end.start() if end else len(reach)):
                name = _party(reach, start, alias.start())
                start = alias.end()
                if name is None:
                    break
                values = {field.columns[0].name: one_line(reach[slice(*name)])}
                if len(field.columns) > 1:
                    values[field.columns[1].name] = alias["alias"].strip(" ,.")
                unit = Unit(types.Span(begin.end() + name.start, begin.end() + alias.end()), types.BlockKind.TEXT)
                found.append(FoundRecord(values, page, unit))
            if len(found) > 1:
                return found
    return []


def _party(text: str, start: int, end: int) -> types.Span | None:
    """Return the first name between two places, one with a legal form before others."""
    first = _AND.match(text, start, end)
    start = first.end() if first else start
    names = [
        types.Span(start + span.start, start + span.end)
        for span in spans(text[start:end])
        if span.end - span.start < end - start - 1
    ]
    names = [name for name in names if text[name.start].isupper()]
    formal = [name for name in names if re.search(rf"(?<!\w){LEGAL_FORM}$", text[slice(*name)])]
    whole = types.Span(start, start + len(text[start:end].rstrip(" ,;")))
    chosen = next(iter(formal or names), whole)
    return chosen if 2 < chosen.end - chosen.start < MAX_VALUE_CHARS else None


# --- tables and lists ---


def _rows(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read the rows of the first table whose heads have the names of most columns, below what the field is about."""
    columns = [column.name for column in field.columns]
    keys = {name: {*term_weights.content_words(name)} for name in columns}
    subject = {*term_weights.content_words(field.name)}
    groups = itertools.groupby(
        (unit for unit in document.units if unit.unit.header and unit.row), key=lambda one: (one.page, one.unit.header)
    )
    best: list[FoundRecord] = []
    for (_, header), rows in groups:
        units = [*rows]
        hit = units[0].hit
        head = {*term_weights.words(hit.passage.text[slice(*header)])}
        if not keys[columns[0]] <= head or len(units) < 3:
            continue
        above = {*term_weights.words(hit.passage.text[max(0, header.start - 600) : header.start])}
        if not subject & (above | {*term_weights.words(hit.chunk.section or "")}):
            continue
        found = [record for unit in units if (record := _of_row(unit, columns, keys)) is not None]
        best = max(best, found, key=len)
    return best if len(best) > 1 else []


def _of_row(unit: FieldUnit, columns: Sequence[str], keys: Mapping[str, set[str]]) -> FoundRecord | None:
    row = unit.row
    if row is None or not row.label or any(map(str.isdigit, row.label)):
        return None
    values = {columns[0]: row.label}
    words = [cell for cell in row.cells if any(map(str.isalpha, cell))]
    for name in columns[1:]:
        named = [c for head, c in zip(row.columns, row.cells, strict=True) if keys[name] & {*term_weights.words(head)}]
        value = (named or words[-1:] or [""])[0]
        if value:
            values[name] = value
    return FoundRecord(values, unit.hit, unit.unit) if len(values) > 1 else None


_PERSON = re.compile(
    r"(?P<name>(?:[A-Z][\w’'-]*\.?\s+){1,4}[A-Z][\w’'-]+(?:,?\s+(?:Jr|Sr|I{2,3})\.?)?),?\s+(?:age\s+|\()?(?P<age>[2-9]\d)\)?\s*[,.]\s*"
    r"(?:(?:is|has\s+(?:been|served\s+as))\s+)?(?:our\s+|the\s+)?(?P<office>[^.;:]{3,160})"
)


_OFFICE_ENDS = re.compile(r"(?<!\s)\s++(?:since|a position|and has|effective|until|from)\b")


def _persons(field: types.FieldDefinition, document: DocumentUnits) -> list[FoundRecord]:
    """Read paragraphs that begin with a person's name, age and office: "Ada Holm, 51, is Chief Executive Officer"."""
    found: list[FoundRecord] = []
    for unit in document.units:
        match = _PERSON.match(unit.text)
        if match is None or any(map(is_term, match["name"].split())):
            continue
        if found and unit.page > found[-1].hit.chunk.main_page + 1 and len(found) < 3:
            found = []
        office = _OFFICE_ENDS.split(match["office"])[0].strip(" ,")
        found.append(
            FoundRecord(
                {field.columns[0].name: match["name"], field.columns[1].name: office.strip()}, unit.hit, unit.unit
            )
        )
    return found if len(found) > 2 else []


_READINGS: Sequence[tuple[str | None, Reading]] = (
    ("signatory signatories signature signed sign", _labelled),
    ("signatory signatories signature signed sign", _signed),
    ("author authors writer verfasser", _authors),
    ("party parties contracting", _parties),
    ("officer officers director directors executive person persons", _rows),
    ("officer officers director directors executive person persons", _persons),
    (None, _rows),
)
"""Which words of a field are read in which way, the likeliest first."""
