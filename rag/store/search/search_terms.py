"""Text made ready for PostgreSQL's parser, which cuts documents and questions into terms. Pure functions.

`to_tsvector` knows words parted by spaces and a good deal of punctuation. What it would take wrongly is put right
before, on both sides alike: ligatures and full-width letters, thousands separators, signs and ranges, paths, and
the scripts that are written without spaces.
"""

import re
import unicodedata

CJK = (
    "\u2e80-\u2fdf"  # radicals
    "\u3005-\u3007\u3021-\u3029"  # ideographic marks and numerals
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U0003134f"  # Han, rarer
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
)
CJK_RUN = re.compile(f"[{CJK}]+")

THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
"""1,234,567: PostgreSQL would take 1, 234 and 567 for three numbers."""

FORM_NUMBER = re.compile(r"(?<![\w-])(\d+)-([a-z]+)(?![\w-])")
"""10-K, 8-K, 3-D: one name, also written 10K."""

HYPHEN_AT_NUMBER = re.compile(r"[-\u2010-\u2015\u2212+](?=\.?\d)|(?<=\d)[-\u2010-\u2015\u2212]")
"""A sign or a range. PostgreSQL would take the 2020 of 2019-2020 for minus 2020."""

SEPARATORS = str.maketrans(dict.fromkeys("/\\<>&_=~|\u00b7\u2022", " ") | {"\u00ad": None, "\x00": " "})
"""What PostgreSQL would read as paths, tags and entities, so that the words in them are lost; and soft hyphens."""


def normalize(text: str) -> str:
    """`text` as `to_tsvector` should see it in any language: lower case, and CJK as bigrams."""
    text = unicodedata.normalize("NFKC", text).lower().translate(SEPARATORS)
    text = THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    text = FORM_NUMBER.sub(r"\1\2", text)
    text = HYPHEN_AT_NUMBER.sub(" ", text)
    return CJK_RUN.sub(lambda match: f" {' '.join(bigrams(match[0]))} ", text)


def bigrams(run: str) -> list[str]:
    """Overlapping pairs of a run of characters, or the only one.

    Chinese, Japanese and Korean so need no dictionary; Lucene's CJKAnalyzer does the same.
    """
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]
