"""The language of a document, which its words are searched by, found by py3langid from nothing but the text."""

from collections import Counter

from rag import parsing
from rag.types import ENGLISH, SIMPLE

PIECES = 8
PIECE_CHARS = 500
"""So much of a document is looked at, evenly spread over it: enough for every real document that was tried."""
LIKELY = 0.5
"""The least probability of a language to be believed. What is less clear is hardly a sentence, and taken for English.
Of 300 pieces of English text four were taken for another language at 20 characters, none at 50."""

LANGUAGES = {
    "ar": "arabic",
    "ary": "arabic",
    "arz": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": ENGLISH,
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "zh": SIMPLE,
    "wuu": SIMPLE,
    "yue": SIMPLE,
    "ja": SIMPLE,
    "ko": SIMPLE,  # bigrams, which have no stems
    "pcm": ENGLISH,
    "zxx": ENGLISH,  # Nigerian English; and nothing that is language, such as tables of numbers
}
"""What PostgreSQL 14 and later have stems for, by the codes of py3langid, varieties of a language together."""


def detect(text: str) -> str:
    """The language of `text`; `ENGLISH` if it is not clear, `SIMPLE` if PostgreSQL has no stems for it."""
    probabilities: Counter[str] = Counter()
    for code, probability in parsing.language_identifier().rank(_sample(text)):
        probabilities[LANGUAGES.get(code, code)] += probability
    language, probability = max(probabilities.items(), key=lambda item: item[1])
    if probability < LIKELY:
        return ENGLISH
    return language if language in LANGUAGES.values() else SIMPLE


def _sample(text: str) -> str:
    if len(text) <= PIECES * PIECE_CHARS:
        return text
    step = (len(text) - PIECE_CHARS) // (PIECES - 1)
    return " ".join(text[start : start + PIECE_CHARS] for start in range(0, step * PIECES, step))
