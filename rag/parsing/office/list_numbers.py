"""Format the numbers of lists and headings, as Word and OpenDocument name their formats."""

from collections.abc import Callable

from rag.parsing.pdf.page_labels import to_roman

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщыэюя"
"""The letters that Word counts with."""
_MARKS = "*†‡§"
MAX_REPEATED = 20
"""More repetitions of a letter than this are written as a number."""
_MAX_ROMAN = 4999
_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = {
    **{word: f"{word}th" for word in _ONES},
    **{word: f"{word[:-1]}ieth" for word in _TENS[2:]},
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def formatted(number: int, kind: str) -> str:
    """Return `number` in a format of Word (ST_NumberFormat); in digits if the format is not known."""
    return _FORMATS[kind](number) if kind in _FORMATS else str(number)


def _roman(number: int) -> str:
    return to_roman(number) if 0 < number <= _MAX_ROMAN else str(number)


def _repeated(number: int, letters: str) -> str:
    """Return a letter, and past the last one repeated letters: "z", "aa", "bb"."""
    count, position = divmod(number - 1, len(letters))
    return letters[position] * (count + 1) if 0 <= count < MAX_REPEATED else str(number)


def _ordinal_ending(number: int) -> str:
    return "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _in_words(number: int) -> str:
    if not 0 <= number < 100:
        return str(number)
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


def _ordinal_in_words(number: int) -> str:
    if not 0 < number < 100:
        return f"{number}{_ordinal_ending(number)}"
    start, dash, last = _in_words(number).rpartition("-")
    return start + dash + _ORDINALS[last]


_FORMATS: dict[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "bullet": lambda _: "",
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "lowerLetter": lambda number: _repeated(number, _LETTERS),
    "upperLetter": lambda number: _repeated(number, _LETTERS.upper()),
    "russianLower": lambda number: _repeated(number, _CYRILLIC),
    "russianUpper": lambda number: _repeated(number, _CYRILLIC.upper()),
    "chicago": lambda number: _repeated(number, _MARKS),
    "decimalZero": "{:02}".format,
    "decimalEnclosedCircle": lambda number: chr(ord("①") + number - 1) if 1 <= number <= 20 else str(number),
    "numberInDash": "- {} -".format,
    "ordinal": lambda number: f"{number}{_ordinal_ending(number)}",
    "cardinalText": lambda number: _in_words(number).capitalize(),
    "ordinalText": lambda number: _ordinal_in_words(number).capitalize(),
}
