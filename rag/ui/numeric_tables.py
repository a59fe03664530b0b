"""Tables that show localized numbers and still sort them numerically."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

from rag.ui.formatting import decimal

DASH = "–"
Writer = Callable[[float], str]

format_score: Writer = functools.partial(decimal, decimals=3)
"""Format a score, usually between 0 and 1."""


def format_numbers(rows: Sequence[Mapping[str, Any]], writers: Mapping[str, Writer]) -> Styler:
    """Format numeric columns of `rows` for `st.dataframe`; missing values become a dash.

    Integer columns with missing values, which pandas turns into floats, are shown as integers. Streamlit's own
    formats follow the browser's language or English only.
    """
    table = pd.DataFrame(rows)
    formats: dict[str, str | Writer] = dict.fromkeys(table.select_dtypes("float"), "{:.0f}")
    formats |= {name: writer for name, writer in writers.items() if name in table}
    return table.style.format(formats, na_rep=DASH)
