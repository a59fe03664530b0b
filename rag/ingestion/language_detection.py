"""Detect the language of a document with py3langid."""

from collections import Counter

from rag import parsing, types

PIECES = 8
PIECE_CHARS = 500
"""The sample of a document: evenly spaced pieces and their length."""
LIKELY = 0.5
"""Minimum probability of a language; below it the text is hardly a sentence, and taken for English. Of 300 pieces of
English text four were misclassified at 20 characters, none at 50."""

LANGUAGES = {
    "ar": "arabic",
    "ary": "arabic",
    "arz": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": types.ENGLISH,
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
    "zh": types.SIMPLE,
    "wuu": types.SIMPLE,
    "yue": types.SIMPLE,
    "ja": types.SIMPLE,
    "ko": types.SIMPLE,  # bigrams, which have no stems
    "pcm": types.ENGLISH,
    "zxx": types.ENGLISH,  # Nigerian English; and nothing that is language, such as tables of numbers
}
"""PostgreSQL's text search configurations (14 and later) by py3langid code; varieties of a language share one."""


def detect(text: str) -> str:
    """Return the language of `text`, `ENGLISH` if unclear, `SIMPLE` if PostgreSQL has no stemmer for it."""
    probabilities: Counter[str] = Counter()
    if len(text) > PIECES * PIECE_CHARS:
        step = (len(text) - PIECE_CHARS) // (PIECES - 1)
        text = " ".join(text[start : start + PIECE_CHARS] for start in range(0, step * PIECES, step))
    for code, probability in parsing.language_identifier().rank(text):
        probabilities[LANGUAGES.get(code, code)] += probability
    language, probability = max(probabilities.items(), key=lambda item: item[1])
    if probability < LIKELY:
        return types.ENGLISH
    return language if language in LANGUAGES.values() else types.SIMPLE


def language_code(language: str) -> str | None:
    """Return the code of a language; None for `ENGLISH`, which documents have whose language is unclear."""
    if language in (types.ENGLISH, types.SIMPLE):
        return None
    return next((code for code, name in LANGUAGES.items() if name == language), None)
