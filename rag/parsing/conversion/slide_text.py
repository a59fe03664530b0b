"""The text of a slide's shape as HTML that looks alike."""

import html
from collections.abc import Iterator, Sequence
from typing import Any

from rag.parsing.conversion.packages import local
from rag.parsing.conversion.slide_styles import Colour, TextStyle, css, first_attribute, first_child

DEFAULT_SIZE_PT = 18.0
_ALIGNMENTS = {"ctr": "center", "r": "right", "just": "justify", "dist": "justify"}
_EMU_PER_POINT = 12_700
_PER_MILLE = 100_000
_SYMBOL_FONTS = ("wingdings", "symbol", "webdings")
_SERIFS = ("times", "georgia", "garamond", "cambria", "book", "serif", "palatino", "minion")
_FIXED = ("courier", "consolas", "mono", "menlo")
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
MAX_INDENT_PT = 200.0


def to_html(body: Any, style: TextStyle, colour: Colour | None = None) -> str:
    """The paragraphs of `body` (a txBody); `colour` is what the shape itself gives to text that names none."""
    scale = _scale(body)
    counters: dict[int, int] = {}
    return "".join(
        _paragraph(paragraph, style, scale, colour, counters) for paragraph in body if local(paragraph) == "p"
    )


def share_before(body: Any, style: TextStyle) -> float:
    """How much of the room that a text has too little of is before its lines, by how the first one is aligned."""
    paragraph = body.find("{*}p")
    alignment = first_attribute(style.level(paragraph), "algn") if paragraph is not None else None
    return {"ctr": 0.5, "r": 1.0}.get(alignment or "", 0.0)


def has_text(body: Any) -> bool:
    """Whether anything is written in it."""
    return body is not None and any((text.text or "").strip() for text in body.iter("{*}t"))


def _scale(body: Any) -> float:
    fit = body.find("{*}bodyPr/{*}normAutofit")
    share = fit.get("fontScale", "") if fit is not None else ""
    return int(share) / _PER_MILLE if share.isdigit() else 1.0


def _paragraph(paragraph: Any, style: TextStyle, scale: float, colour: Colour | None, counters: dict[int, int]) -> str:
    levels = style.level(paragraph)
    runs = "".join(_runs(paragraph, style, levels, scale, colour))
    size = _size(style.characters(paragraph, levels), scale)
    if not runs.strip():
        return f'<p style="margin:0;font-size:{size:.1f}pt">&nbsp;</p>'
    bullet = _bullet(levels, counters, int(first_attribute(levels[:1], "lvl") or 0))
    margin, indent = (_points(first_attribute(levels, name)) for name in ("marL", "indent"))
    before = _space(first_child(levels, "spcBef"), size)
    looks = [
        f"margin:{before:.1f}pt 0 0 {max(margin, 0):.1f}pt",
        f"text-indent:{max(indent, -margin):.1f}pt",
        f"text-align:{_ALIGNMENTS.get(first_attribute(levels, 'algn') or '', 'left')}",
        f"font-size:{size:.1f}pt",
    ]
    return f'<p style="{";".join(looks)}">{bullet}{runs}</p>'


def _runs(
    paragraph: Any, style: TextStyle, levels: Sequence[Any], scale: float, colour: Colour | None
) -> Iterator[str]:
    for run in paragraph:
        name = local(run)
        if name == "br":
            yield "<br>"
        elif name in {"r", "fld"}:
            text = "".join(part.text or "" for part in run.iter("{*}t"))
            written = html.escape(text).replace("\v", "<br>").replace("  ", " &nbsp;").replace("\t", " &emsp;")
            yield f'<span style="{_looks(style.characters(run, levels), style, scale, colour)}">{written}</span>'
        elif name not in {"pPr", "endParaRPr"}:
            yield html.escape("".join(part.text or "" for part in run.iter("{*}t")))


def _looks(properties: Sequence[Any], style: TextStyle, scale: float, colour: Colour | None) -> str:
    fill = first_child(properties[:1], "solidFill", "gradFill")
    own = style.theme.colour(fill) or colour or style.theme.colour(first_child(properties, "solidFill", "gradFill"))
    looks = [f"font-size:{_size(properties, scale):.1f}pt", f"color:{css(own or style.theme.named('tx1'))}"]
    if first_attribute(properties, "b") in {"1", "true"}:
        looks.append("font-weight:bold")
    if first_attribute(properties, "i") in {"1", "true"}:
        looks.append("font-style:italic")
    if (first_attribute(properties, "u") or "none") != "none":
        looks.append("text-decoration:underline")
    shift = first_attribute(properties, "baseline") or "0"
    if shift.lstrip("-").isdigit() and int(shift):
        looks.append("vertical-align:" + ("super" if int(shift) > 0 else "sub"))
    looks.append(f"font-family:{_family(first_child(properties, 'latin'))}")
    return ";".join(looks)


def _family(latin: Any) -> str:
    name = latin.get("typeface", "").lower() if latin is not None else ""
    if any(part in name for part in _FIXED):
        return "monospace"
    return "serif" if any(part in name for part in _SERIFS) and "sans" not in name else "sans-serif"


def _size(properties: Sequence[Any], scale: float) -> float:
    size = first_attribute(properties, "sz") or ""
    return (int(size) / 100 if size.isdigit() else DEFAULT_SIZE_PT) * scale


def _points(value: str | None) -> float:
    try:
        return min(max(int(value or 0) / _EMU_PER_POINT, -MAX_INDENT_PT), MAX_INDENT_PT)
    except ValueError:
        return 0.0


def _space(spacing: Any, size: float) -> float:
    """Points before a paragraph."""
    for kind in spacing if spacing is not None else ():
        value = kind.get("val", "").rstrip("%")
        if value.isdigit():
            return min(int(value) / 100 if local(kind) == "spcPts" else int(value) / _PER_MILLE * size, 100.0)
    return 0.0


def _bullet(levels: Sequence[Any], counters: dict[int, int], depth: int) -> str:
    kind = first_child(levels, "buChar", "buAutoNum", "buNone", "buBlip")
    if kind is None or local(kind) == "buNone":
        return ""
    for deeper in [level for level in counters if level > depth]:
        del counters[deeper]
    if local(kind) == "buAutoNum":
        start = kind.get("startAt", "1")
        counters[depth] = counters.get(depth, int(start) - 1 if start.isdigit() else 0) + 1
        return f"{_number(counters[depth], kind.get('type', ''))}&ensp;"
    font = first_child(levels, "buFont")
    symbolic = font is not None and font.get("typeface", "").lower().startswith(_SYMBOL_FONTS)
    return f"{'•' if symbolic or local(kind) == 'buBlip' else html.escape(kind.get('char', '•'))}&ensp;"


def _number(number: int, kind: str) -> str:
    text = str(number)
    if kind.startswith("alpha") and number <= 26:
        text = chr(96 + number)
    elif kind.startswith("roman"):
        text = _roman(number)
    text = text.upper() if "Uc" in kind else text
    return f"({text})" if kind.endswith("ParenBoth") else f"{text})" if kind.endswith("ParenR") else f"{text}."


def _roman(number: int) -> str:
    text = ""
    for value, letters in zip(
        (100, 90, 50, 40, 10, 9, 5, 4, 1), ["c", "xc", "l", "xl", "x", "ix", "v", "iv", "i"], strict=True
    ):
        text += letters * (number // value)
        number %= value
    return text
