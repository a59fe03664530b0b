"""Identify the language of a text, and choose what to recognise a document with."""

import functools
from collections import Counter
from collections.abc import Callable, Set
from typing import TYPE_CHECKING

from rag.messages import N_

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

AUTO = "auto"
"""The setting that detects the language."""
MIN_PROBABILITY = 0.5
"""Least probability at which an identified language is accepted."""
MIN_LETTERS = 100
"""Texts with fewer letters have no identifiable language."""
SAMPLE_CHARS = 4000
MAX_TRIALS = 8
"""Maximum number of installed languages to try on a page; each try recognises the page."""
DEFAULT = "eng"

_LANGUAGES = {
    "ara": ("Arabic", "ar arz ary"), "bul": ("Bulgarian", "bg"), "cat": ("Catalan", "ca"), "ces": ("Czech", "cs"),
    "chi_sim": ("Chinese", "zh wuu yue"), "dan": ("Danish", "da"), "deu": (N_("German"), "de"),
    "ell": ("Greek", "el"), "eng": (N_("English"), "en pcm"), "est": ("Estonian", "et"), "eus": ("Basque", "eu"),
    "fas": ("Persian", "fa"), "fin": ("Finnish", "fi"), "fra": (N_("French"), "fr"), "gle": ("Irish", "ga"),
    "heb": ("Hebrew", "he"), "hin": ("Hindi", "hi"), "hrv": ("Croatian", "hr"), "hun": ("Hungarian", "hu"),
    "hye": ("Armenian", "hy"), "ind": ("Indonesian", "id"), "ita": (N_("Italian"), "it"), "jpn": ("Japanese", "ja"),
    "kor": ("Korean", "ko"), "lav": ("Latvian", "lv"), "lit": ("Lithuanian", "lt"), "nld": (N_("Dutch"), "nl"),
    "nor": ("Norwegian", "no nb nn"), "pol": ("Polish", "pl"), "por": (N_("Portuguese"), "pt"),
    "ron": ("Romanian", "ro"), "rus": ("Russian", "ru"), "slk": ("Slovak", "sk"), "slv": ("Slovenian", "sl"),
    "spa": (N_("Spanish"), "es"), "srp": ("Serbian", "sr"), "swe": ("Swedish", "sv"), "tam": ("Tamil", "ta"),
    "tha": ("Thai", "th"), "tur": ("Turkish", "tr"), "ukr": ("Ukrainian", "uk"), "vie": ("Vietnamese", "vi"),
}  # fmt: skip
"""English name and py3langid codes (with varieties) by Tesseract code."""

PACKAGED = "packaged"
"""Stands for the packaged models, which read many languages at once, among the languages of Tesseract's data."""

PACKAGED_LANGUAGES = _LANGUAGES.keys() - {
    *("ara", "bul", "ell", "fas", "heb", "hin", "hye", "kor", "rus", "srp", "tam", "tha", "ukr", "vie")
}
"""Languages whose every letter the packaged models know."""

NAMES = {code: name for code, (name, _) in _LANGUAGES.items()}
_TESSERACT_CODES = {known: code for code, (_, others) in _LANGUAGES.items() for known in others.split()}


@functools.cache
def language_identifier() -> "LanguageIdentifier":
    """Load py3langid's model, on demand because that takes a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def identify(text: str) -> str | None:
    """Tesseract's code of the language of `text`; None if it is not clear."""
    if not _has_words(text):
        return None
    probabilities: Counter[str] = Counter()
    for code, probability in language_identifier().rank(" ".join(text[:SAMPLE_CHARS].split())):
        probabilities[_TESSERACT_CODES.get(code, code)] += probability
    language, probability = max(probabilities.items(), key=lambda item: item[1])
    return language if probability >= MIN_PROBABILITY and language in NAMES else None


def _has_words(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= MIN_LETTERS


def choose_language(setting: str, installed: Set[str], digital: str, sample: Callable[[str], str]) -> str:
    """Choose what to recognise a document with: a language of Tesseract's data, or `PACKAGED` where that is installed.

    "auto" takes the language of its digital text, else the language identified in a recognised page.

    Args:
        setting: a language or "auto".
        installed: the languages with data, at least one.
        digital: text of the document that needs no recognition.
        sample: recognises a page of the document with a language.
    """
    if PACKAGED in installed:
        return _choose_with_packaged(setting, installed, digital, sample)
    first = DEFAULT if DEFAULT in installed else min(installed)
    if setting != AUTO or len(installed) == 1:
        return first if setting == AUTO else setting
    known = identify(digital)
    if known is not None and known in installed:
        return known
    text = sample(first)
    found = identify(text)  # mostly right even if recognised as another language of the same script
    if found is not None or not _has_words(text):
        return found if found is not None and found in installed else first
    return _try_each(installed - {first}, sample) or first


def _choose_with_packaged(setting: str, installed: Set[str], digital: str, sample: Callable[[str], str]) -> str:
    known = identify(digital) if setting == AUTO else setting
    if known is not None:
        wanted = set(known.split("+"))
        return known if wanted <= installed and not wanted <= PACKAGED_LANGUAGES else PACKAGED
    others = installed - PACKAGED_LANGUAGES - {PACKAGED}
    if not others or identify(sample(PACKAGED)) in PACKAGED_LANGUAGES:
        return PACKAGED
    return _try_each(others, sample) or PACKAGED


def _try_each(candidates: Set[str], sample: Callable[[str], str]) -> str | None:
    """Return the first language in which a page reads like that language."""
    tried = sorted(candidates)[:MAX_TRIALS]
    return next((language for language in tried if identify(sample(language)) == language), None)


def language_warning(text: str, language: str, installed: Set[str]) -> str | None:
    """Return a warning, with advice, if recognised `text` is not in `language`."""
    used = PACKAGED_LANGUAGES if language == PACKAGED else language.split("+")
    if not _has_words(text) or (found := identify(text)) in used:
        return None
    listed = " and ".join(NAMES.get(code, code) for code in used)
    names = N_("the packaged models") if language == PACKAGED else listed
    if found is None:
        return N_(
            "Its pictures were recognised with {_languages} only, and the words are of no known language. Install "
            "Tesseract's data for its language."
        ).format(_languages=names)
    template = N_(
        "Its pictures were recognised with {_languages} only, and read like {_language}. Install its data (Debian: "
        "{package}) and read it again."
    )
    if found in installed:
        template = N_(
            "Its pictures were recognised with {_languages} only, and read like {_language}. Set "
            "RAG_PARSING__OCR_LANGUAGE={code} and read it again."
        )
    package = f"tesseract-ocr-{found.replace('_', '-')}"
    return template.format(_languages=names, _language=NAMES[found], package=package, code=found)
