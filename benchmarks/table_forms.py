"""Generate tables of known cells as HTML and as sheets: four styles, each with the features of its kind of document."""

import html
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

STYLES = ("filing", "brochure", "paper", "invoice")
LONG_ROWS = 70
"""Rows of a table that spans pages."""

_NOUNS = [
    "Revenue",
    "Goods",
    "Freight",
    "Wages",
    "Rent",
    "Energy",
    "Licences",
    "Interest",
    "Tax",
    "Repairs",
    "Travel",
    "Insurance",
    "Storage",
    "Training",
]
_OF = [
    "from services",
    "of subsidiaries",
    "on bank loans",
    "for own use",
    "in associates",
    "before discontinued operations",
]
_LONG = (
    "attributable to shareholders of the parent company after deduction of minority interests",
    "and other items that will not be reclassified to the statement of income in later periods",
    "including cancellation fees, delivery to the agreed place and disposal of all packing material",
)
_PLACES = ("North", "South", "East", "West", "Overseas")
_SECTIONS = ("Current assets", "Fixed assets", "Liabilities", "Equity", "Operating activities", "Other items")
_MARKS = "¹²³"

_CSS = """
@page { size: A4; margin: 18mm }
body { font: 10pt 'Liberation Sans', sans-serif; margin: 0 }
section { break-before: page }
h2 { font-size: 13pt } table { border-collapse: collapse; margin: 8pt 0 } thead { display: table-header-group }
td, th { padding: 1pt 4pt; text-align: right; vertical-align: bottom; font-weight: normal }
td.l, th.l { text-align: left } td.s { text-align: left; padding-right: 0 } td.e { text-align: left; padding-left: 0 }
sup { font-size: 65% }
.turned { transform: rotate(90deg) translateY(-160mm); transform-origin: 0 0; width: 230mm; height: 160mm }
.filing { font-family: 'Liberation Serif', serif }
.filing thead th { border-bottom: .7pt solid #000; font-weight: bold }
.filing thead th.l { border: 0 } .filing.shaded tbody tr:nth-child(odd) { background: #cef }
.brochure thead { background: #246; color: #fff }
.brochure td, .brochure th { padding: 5pt 8pt; vertical-align: middle }
.brochure tbody tr { border-bottom: .5pt solid #999 }
.paper { font-size: 9pt } .paper table { border-top: 1pt solid #000; border-bottom: 1pt solid #000 }
.paper td, .paper th { text-align: center; padding: 1.5pt 7pt }
.paper thead tr:last-child th { border-bottom: .5pt solid }
.invoice td, .invoice th { border: .6pt solid #555; padding: 3pt 5pt; vertical-align: top }
.invoice th { font-weight: bold }
.narrow td.l { width: 46mm } .plain td, .plain th { border: 0 !important } .wide table { width: 100% }
"""


class Head(NamedTuple):
    """A head cell: its text and how many columns it covers."""

    text: str
    span: int


@dataclass
class Row:
    """A row: its label, raised mark, and a text for each column; without texts it is the name of a section."""

    label: str
    texts: list[str] = field(default_factory=list)
    mark: str = ""


@dataclass
class GeneratedTable:
    """A table: its heads row by row above the columns, its rows, and the features it was made with."""

    number: int
    style: str
    corner: str
    heads: list[list[Head]]
    rows: list[Row]
    features: frozenset[str]

    @property
    def name(self) -> str:
        """What stands above it."""
        return f"Exhibit {self.number}"

    @property
    def columns(self) -> list[str]:
        """The heads of each column from top to bottom."""
        levels = [[head.text for head in level for _ in range(head.span)] for level in self.heads]
        return [" ".join(filter(None, column)) for column in zip(*levels, strict=True)]


def make_tables(count: int) -> list[GeneratedTable]:
    """Make as many tables of each style, always the same."""
    return [_make(number, STYLES[number % len(STYLES)], random.Random(number)) for number in range(count)]


def _make(number: int, style: str, chance: random.Random) -> GeneratedTable:
    likely = {
        "two levels": 0.4,
        "wrapped labels": 0.4,
        "negatives": 0.5,
        "signs apart": 0.6 if style == "filing" else 0.0,
        "marks": 0.25,
        "empty cells": 0.35,
        "sections": 0.4 if style != "invoice" else 0.0,
        "no rules": 0.25,
        "full width": 0.5,
        "spanning pages": 0.12,
        "rotated": 0.08,
    }
    features = {name for name, share in likely.items() if chance.random() < share}
    if "spanning pages" in features:
        features -= {"rotated"}
        if chance.random() < 0.4:
            features.add("heads once")
    if style == "invoice":
        heads, corner = _invoice_heads(), "Item"
    else:
        heads, corner = _heads(features, chance), chance.choice(["", "", "Item", "In millions of euro"])
    rows = [*_rows(style, features, sum(head.span for head in heads[-1]), chance)]
    return GeneratedTable(number, style, corner, heads, rows, frozenset(features))


def _invoice_heads() -> list[list[Head]]:
    return [[Head("Description", 1), Head("Quantity", 1), Head("Unit price", 1), Head("Amount", 1)]]


def _heads(features: set[str], chance: random.Random) -> list[list[Head]]:
    year = chance.randrange(2008, 2025)
    years = [str(year - back) for back in range(chance.randint(2, 4))]
    if "two levels" not in features:
        kind = chance.choice(["years", "dates", "places"])
        names = {"years": years, "dates": [f"31 Dec {year}" for year in years], "places": list(_PLACES[: len(years)])}
        return [[Head(name, 1) for name in names[kind]]]
    below = chance.choice([["H1", "H2"], ["North", "South", "Total"], ["Budget", "Actual"]])
    if chance.random() < 0.5:
        return [[Head("Year ended 31 December", len(years))], [Head(name, 1) for name in years]]
    years = years[:2]
    return [[Head(name, len(below)) for name in years], [Head(name, 1) for _ in years for name in below]]


def _rows(style: str, features: set[str], columns: int, chance: random.Random) -> Iterator[Row]:
    labels: set[str] = set()
    sections = list(_SECTIONS)
    chance.shuffle(sections)
    most = 7 if "rotated" in features else 14
    count = LONG_ROWS if "spanning pages" in features else chance.randint(5, most)
    for index in range(count):
        if "sections" in features and sections and index % 6 == 0 and index + 1 < count:
            yield Row(sections.pop())
        label = f"{chance.choice(_NOUNS)} {chance.choice(_OF)}"
        if "wrapped labels" in features and chance.random() < 0.3:
            label += f" {chance.choice(_LONG)}"
        if label in labels or count > len(_NOUNS):
            label = f"{chance.choice(_NOUNS)} of station {len(labels) + 1}"
        labels.add(label)
        mark = chance.choice(_MARKS) if "marks" in features and chance.random() < 0.2 else ""
        if style == "invoice":
            price, amount = chance.randint(2, 900), chance.randint(1, 40)
            texts = [
                chance.choice(["Blue", "Oak, oiled", "Set of two"]),
                str(amount),
                f"{price}.50",
                f"{price * amount:,}.00",
            ]
        else:
            texts = [_figure(style, features, chance) for _ in range(columns)]
        if "empty cells" in features:
            texts = ["" if chance.random() < 0.25 else text for text in texts]
        yield Row(label, texts if any(texts) else [*texts[:-1], "7"], mark)


def _figure(style: str, features: set[str], chance: random.Random) -> str:
    if style == "paper":
        return f"{chance.uniform(0, 100):.2f}"
    value = chance.choice([chance.randint(1, 99), chance.randint(100, 99_999)])
    negative = "negatives" in features and chance.random() < 0.35
    if chance.random() < 0.06:
        return "—"
    sign = "$" if "signs apart" in features and chance.random() < 0.5 else ""
    percent = "%" if "signs apart" in features and not sign and chance.random() < 0.2 else ""
    return f"{sign}({value:,}){percent}" if negative else f"{sign}{value:,}{percent}"


# --- HTML ---------------------------------------------------------------------------------------------


def to_html(tables: Sequence[GeneratedTable], *, for_print: bool) -> str:
    """Return a document of tables, each below its name; only a printed one has turned tables and signs apart."""
    body = "\n".join(_section(table, for_print=for_print) for table in tables)
    style = f"<style>{_CSS}</style>" if for_print else ""
    return f"<!DOCTYPE html><html><head><meta charset=utf-8>{style}</head><body>{body}</body></html>"


def _section(table: GeneratedTable, *, for_print: bool) -> str:
    apart = for_print and "signs apart" in table.features
    names = [table.style, *(name for name, feature in _CLASSES.items() if feature in table.features)]
    levels = [_head_row(table, index, apart=apart) for index in range(len(table.heads))]
    rows = [_row(row, apart=apart, columns=len(table.columns)) for row in table.rows]
    head = "".join(levels)
    content = (
        f"<tbody>{head}{''.join(rows)}</tbody>"
        if "heads once" in table.features and for_print
        else (f"<thead>{head}</thead><tbody>{''.join(rows)}</tbody>")
    )
    turned = ' class="turned"' if for_print and "rotated" in table.features else ""
    return (
        f'<section class="{" ".join(names)}"><div{turned}><h2>{table.name}</h2>'
        f"<p>The figures of this exhibit were made by script and mean nothing.</p><table>{content}</table>"
        "<p>Nothing in this exhibit was audited, and all of it may change without notice.</p></div></section>"
    )


_CLASSES = {"narrow": "wrapped labels", "plain": "no rules", "wide": "full width", "shaded": "marks"}


def _head_row(table: GeneratedTable, index: int, *, apart: bool) -> str:
    is_last = index + 1 == len(table.heads)
    corner = f'<th class="l">{html.escape(table.corner) if is_last else ""}</th>'
    width = 3 if apart else 1
    cells = (
        f'<th colspan="{head.span * width}"{_CENTER if head.span > 1 else ""}>{html.escape(head.text)}</th>'
        for head in table.heads[index]
    )
    return f"<tr>{corner}{''.join(cells)}</tr>"


_CENTER = ' style="text-align: center"'


def _row(row: Row, *, apart: bool, columns: int) -> str:
    mark = f"<sup>{'123'[_MARKS.index(row.mark)]}</sup>" if row.mark else ""
    texts = row.texts or [""] * columns
    cells = "".join(_apart(text) if apart else f"<td>{text}</td>" for text in texts)
    return f'<tr><td class="l">{html.escape(row.label)}{mark}</td>{cells}</tr>'


def _apart(text: str) -> str:
    """Return three cells: the currency sign, the figure, and what closes it, as filings have it."""
    sign = "$" if text.startswith("$") else ""
    end = text[len(text.rstrip(")%")) :]
    return f'<td class="s">{sign}</td><td>{text[len(sign) : len(text) - len(end)]}</td><td class="e">{end}</td>'
