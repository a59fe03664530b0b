"""Recognise text whose letters form no words, such as that of fonts from before Unicode, read as Latin letters."""

import re

from rag.answering.text.term_weights import word_set

MAX_MALFORMED_SHARE = 0.4
"""Maximum share of malformed words of legible text; ordinary text of many abbreviations and names stays below."""

_BETWEEN = re.compile(r"[\s/.]+")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]")
_AROUND = "\"'“”‘’«»„‚()[]{}<>,;:!?*–—-_•#§$%&+=|…®™°¹²³⁰⁴⁵⁶⁷⁸⁹"
"""What may stand around a word."""
_INSIDE = re.compile(r"[`;^@~\\{}\[\]\"<>|¼½¾¡¿¬¨ª]")
"""What stands inside no word."""
_NO_VOWEL = re.compile(r"(?=.*[a-z])[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{2,}")
_CAPITAL_AT_END = re.compile(r"[a-z]{2,}[A-Z]")
_ABBREVIATIONS = word_set(
    "mr mrs ms dr st jr sr ltd inc plc vs nth pp vgl bzw usw nr hrs ft mg kg km cm mm ml hz khz mhz ghz kwh mph rpm "
    "td th nd rd pt fn ch cf tbsp tsp qty pts mbh str lbs"
)


def is_legible(text: str) -> bool:
    r"""Return whether the words of `text` are formed as those of a language; other scripts than Latin count as such.

    A malformed word has no vowel, a sign inside, or a capital at its end: "vlk/kkj.k", "la[;k", "ldsA".
    """
    words = [word for token in _BETWEEN.split(text) if _LATIN.search(word := token.strip(_AROUND))]
    malformed = sum(map(_is_malformed, words))
    return malformed < 2 or malformed <= MAX_MALFORMED_SHARE * len(words)


def _is_malformed(word: str) -> bool:
    if word.lower() in _ABBREVIATIONS:
        return False
    has_no_vowel = _NO_VOWEL.fullmatch(word) is not None
    return has_no_vowel or _INSIDE.search(word) is not None or _CAPITAL_AT_END.fullmatch(word) is not None
