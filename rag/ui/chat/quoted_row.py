"""Render a quoted table row."""

import html

from rag import types
from rag.ui.language import _


def row_html(row: types.QuotedRow, chip: str) -> str:
    """Return the row with its column names and caption as safe HTML, beside `chip`, which must be safe.

    The requested cell is marked.
    """
    caption = f"<caption>{html.escape(row.caption)}</caption>" if row.caption else ""
    head = f"<thead>{_names(row)}</thead>" if any(row.columns) else ""
    table = f"<table>{caption}{head}<tbody>{_cells(row)}</tbody></table>"
    name = html.escape(row.label or row.caption or _("Row of a table"))
    return (
        f'<figure class="row"><div class="scroll" role="region" aria-label="{name}" tabindex="0">{table}</div>{chip}'
        "</figure>"
    )


def _names(row: types.QuotedRow) -> str:
    corner = "<td></td>" if row.label else ""
    named = zip(row.columns, row.cells, strict=True)
    return f"<tr>{corner}{''.join(_header('col', name, _kind(cell)) for name, cell in named)}</tr>"


def _cells(row: types.QuotedRow) -> str:
    label = _header("row", row.label) if row.label else ""
    return f"<tr>{label}{''.join(_cell(cell, is_asked=i == row.asked) for i, cell in enumerate(row.cells))}</tr>"


def _header(scope: str, text: str, kind: str = "") -> str:
    return f'<th scope="{scope}"{kind}>{html.escape(text)}</th>'


def _cell(text: str, *, is_asked: bool) -> str:
    words = html.escape(text)
    return f"<td{_kind(text)}>{f'<mark>{words}</mark>' if is_asked else words}</td>"


def _kind(cell: str) -> str:
    """Align numbers, and the headers above them, to the right."""
    return "" if any(map(str.isalpha, cell)) else ' class="figure"'
