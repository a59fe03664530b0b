"""Check whether text gives the quantity that a question asks for: a count, a multiple, a duration, a frequency."""

import re

from rag.answering.text import term_weights
from rag.answering.text.measurement_units import TIMES, currencies
from rag.answering.text.numbers import find_numbers

REACH = 4
"""Maximum number of words from a number in words to what it counts; "one" and "two" stand in many other places."""

_COUNTED = re.compile(r"\b(?:how\s+many|wie\s*viele)\s+(?P<things>[^?]*)", re.IGNORECASE)
_LASTS = re.compile(r"\b(?:how\s+long|wie\s+lange)\b", re.IGNORECASE)
_RECURS = re.compile(r"\b(?:how\s+(?:often|frequently)|wie\s+(?:oft|häufig))\b", re.IGNORECASE)
_TIMES = re.compile(r"(?:times|mal)\b", re.IGNORECASE)
_MULTIPLE = re.compile(
    r"\b(?:once|twice|thrice|(?:double|triple)[sd]?|einmal|zweimal|doppelt)\b|\w-?fold\b|\wfach\b|\b(?:times|mal)\b"
    r"|\d\s?[x×](?!\w)",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\b(?:(?:milli|micro)?seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|decades?|centur(?:y|ies)|ms|min"
    r"|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|quartale?n?|since|until|from|perpetual|indefinite"
    r"|bis|seit|unbefristet)\b|\d\s?[shd]\b",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"\d\s?(?:[mckµn]?m|ft|in|mi|yd|pages?|words?|inch(?:es)?|feet|foot|miles?|(?:kilo)?met(?:er|re)s?|seiten)\b", re.I
)
_FREQUENCY = re.compile(
    r"\b(?:(?:bi|semi)?-?(?:hourly|daily|nightly|weekly|monthly|quarterly|annual(?:ly)?|yearly)|every|each|per|regularly"
    r"|periodically|times|once|twice|never|always|jede[rsn]?|(?:stünd|täg|wöchent|monat|vierteljähr|halbjähr|jähr)lich"
    r"|einmal|zweimal|mal)\b",
    re.IGNORECASE,
)
_OF_UNITS = re.compile(
    r"(?:\w+\s+)?(?:percent|per\s*cent|percentage|basis|%|prozent|us|u\.s\.|dollars?|euros?|pounds?|yen|rupees?|francs?|cents?)\b",
    re.IGNORECASE,
)
"""Shares and amounts, which are not counts: "how many percent", "how many million dollars"."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SPELLED = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|half|third|both|pair|zero"
    r"|thousand|million|billion|dozen|once|none|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)\b",
    re.IGNORECASE,
)


def gives_quantity(question: str, text: str) -> bool:
    """Return whether `text` gives a quantity of the kind that `question` asks for, other than its own figures."""
    counted = _COUNTED.search(question)
    if counted and not _OF_UNITS.match(counted["things"]):
        things = counted["things"]
        return _gives_multiple(text) if _TIMES.match(things) else _gives_count(question, things, text)
    if _LASTS.search(question):
        return _DURATION.search(text) is not None or _LENGTH.search(text) is not None
    if _RECURS.search(question):
        return _FREQUENCY.search(text) is not None
    return bool({*_NUMBER.findall(text)} - {*_NUMBER.findall(question)}) or _SPELLED.search(text) is not None


def _gives_multiple(text: str) -> bool:
    return _MULTIPLE.search(text) is not None or any(number.unit == TIMES for number in find_numbers(text))


def _gives_count(question: str, things: str, text: str) -> bool:
    """Return whether a figure is no money, share or year, or a number in words stands before what is counted.

    The currency of one cell is that of its row, which is shown as "label – column: cell; …".
    """
    figures, known = find_numbers(text), {*_NUMBER.findall(question)}
    is_row_of_money = " – " in text and bool(currencies(text))
    bare = [one for one in figures if not (one.is_share or one.is_money or one.year) and one.text not in known]
    counted = _counted(things)
    return bool(bare and not is_row_of_money) or any(
        not counted or counted & {*term_weights.words(text[match.end() :])[:REACH]} for match in _SPELLED.finditer(text)
    )


def _counted(things: str) -> frozenset[str]:
    """Return the words after "how many" up to the verb: those that name what is counted."""
    found = list[str]()
    for word in things.split():
        if term_weights.is_stop_word(word):
            break
        found += term_weights.words(word)
    return frozenset(found)
