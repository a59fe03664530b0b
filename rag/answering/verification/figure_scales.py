"""What keeps a figure that stands in a source from proving a claim: its scale, there or in the claim."""

import re
from collections.abc import Iterable

from rag.answering.passages.captions import declared_scales
from rag.answering.text.analyzed_text import Text
from rag.answering.text.numbers import Number, Scales, is_same

SCALE_NAMES = {1e3: "thousand", 1e5: "lakh", 1e6: "million", 1e7: "crore", 1e9: "billion", 1e12: "trillion"}
"""What the scale of a caption is called behind a figure."""
_PRINTED = frozenset[float]()
"""No scale: a figure is what its digits say."""


def not_shown(claim: Text, source: Text, scales: Scales) -> list[str]:
    """Words of scale in the claim where the source has the figure bare and nothing says what it is in."""
    if scales is not None:
        return []
    return [
        _scale_word(number)
        for number in claim.numbers
        if number.scale is not None
        and any(is_same(number, other, None) for other in source.numbers)
        and not any(is_same(number, other, _PRINTED) for other in source.numbers)
    ]


def left_out(claim: Text, row: Text, cells: Iterable[Text], declared: Scales) -> list[str]:
    """The scale of a row's table where the claim gives a cell's amount without it, and is no copy of the row."""
    if not declared or declared_scales(claim.text) or claim.folded <= row.folded:
        return []
    amounts = [number for number in claim.numbers if number.scale is None and number.is_money]
    bare = [number for cell in cells for number in cell.numbers if number.scale is None]
    is_bare = any(is_same(amount, other, _PRINTED) for amount in amounts for other in bare)
    return [SCALE_NAMES.get(scale, f"{scale:,.0f}") for scale in sorted(declared)] if is_bare else []


def _scale_word(number: Number) -> str:
    return re.sub(r"^[\d.,'’\s-]+", "", number.text) or number.text
