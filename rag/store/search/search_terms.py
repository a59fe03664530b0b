"""Turn a search scope and its words into SQL parameters, and normalize text for PostgreSQL's parser. Pure functions.

`to_tsvector` splits words at spaces and most punctuation. Documents and questions are normalized before that where it
would split wrongly: ligatures and full-width letters, raised marks, thousands separators, signs and ranges, paths, and
scripts without spaces.
"""

import re
import unicodedata

from rag import types

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
"""1,234,567: PostgreSQL would read three numbers: 1, 234 and 567."""

FORM_NUMBER = re.compile(r"(?<![\w-])(\d+)-([a-z]+)(?![\w-])")
"""10-K, 8-K, 3-D: one term, also written 10K."""

HYPHEN_AT_NUMBER = re.compile(r"[-\u2010-\u2015\u2212+](?=\.?\d)|(?<=\d)[-\u2010-\u2015\u2212]")
"""A sign or a range. PostgreSQL would read -2020 in 2019-2020."""

SEPARATORS = str.maketrans(dict.fromkeys("/\\<>&_=~|\u00b7\u2022", " ") | {"\u00ad": None, "\x00": " "})
"""Characters that PostgreSQL reads as parts of paths, tags and entities, losing the words in them; soft hyphens."""


def normalize(text: str) -> str:
    """Return `text` for `to_tsvector` in any language: lower case, with CJK as bigrams."""
    text = unicodedata.normalize("NFKC", types.without_raised_marks(text)).lower().translate(SEPARATORS)
    text = THOUSANDS.sub(lambda match: match[0].replace(",", ""), text)
    text = FORM_NUMBER.sub(r"\1\2", text)
    text = HYPHEN_AT_NUMBER.sub(" ", text)
    return CJK_RUN.sub(lambda match: f" {' '.join(bigrams(match[0]))} ", text)


def bigrams(run: str) -> list[str]:
    """Return the overlapping pairs of characters in a run, or its only character.

    Chinese, Japanese and Korean need no dictionary this way, as in Lucene's CJKAnalyzer.
    """
    return [run[start : start + 2] for start in range(len(run) - 1)] or [run]


def scope_parameters(scope: types.Scope) -> dict[str, object]:
    """Return the parameters of `documents_in_scope` in ``scope.sql`` and the patterns of `must_include`.

    None means no filter.
    """
    filters = scope.filters
    patterns = [pattern(keyword) for keyword in scope.must_include] or None
    return {
        "index_id": scope.index_id,
        "document_ids": [*filters.document_ids] or None,
        "mime_types": [*filters.mime_types] or None,
        "sources": [*filters.sources] or None,
        "source_prefix": filters.source_prefix or None,
        "added_after": filters.added_after,
        "added_before": filters.added_before,
        "tags": [*filters.tags] or None,
        "author": filters.author or None,
        "dated_after": filters.dated_after,
        "dated_before": filters.dated_before,
        "must_all": patterns if scope.must_include_mode == "all" else None,
        "must_any": patterns if scope.must_include_mode == "any" else None,
    }


def pattern(words: str) -> str:
    """Return a PostgreSQL regular expression that matches the words with any whitespace between them."""
    return r"\s+".join(map(re.escape, words.split()))
