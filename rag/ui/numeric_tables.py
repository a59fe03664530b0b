"""Tables whose figures the present language writes, and which are put in order as numbers all the same."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

from rag.ui.formatting import decimal

NOTHING = "–"
Writer = Callable[[float], str]

score: Writer = functools.partial(decimal, decimals=3)
"""What is mostly between 0 and 1."""


def difference(value: float) -> str:
    """How much more or less, with its sign."""
    return f"{'+' if value > 0 else ''}{score(value)}"


def written(rows: Sequence[Mapping[str, Any]], writers: Mapping[str, Writer]) -> Styler:
    """`rows` for `st.dataframe`; the figures of each column in `writers` as that writes them, a dash where none is.

    Whole numbers stay as they are, also in a column that lacks some, which pandas takes for fractions. Streamlit's own
    formats write numbers as the browser's language, or always as English does.
    """
    table = pd.DataFrame(rows)
    whole = dict.fromkeys(table.select_dtypes("float"), _whole)
    as_text = {
        name: functools.partial(_text, write) for name, write in (whole | dict(writers)).items() if name in table
    }
    return table.style.format(as_text)


def _text(write: Writer, value: float | None) -> str:
    return NOTHING if value is None or pd.isna(value) else write(value)


def _whole(value: float) -> str:
    return f"{value:.0f}"
