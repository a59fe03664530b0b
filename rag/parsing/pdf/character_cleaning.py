"""Clean extracted text: control characters, white space, mirrored brackets, raised marks."""

import re
from itertools import accumulate

from rag.types.text import RAISED, SUPERSCRIPTS

_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
"""Control characters (PostgreSQL refuses NUL), lone surrogates, byte order marks and non-characters."""

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_ITEM = re.compile(r"\s*\w{1,3}")
"""The label before the unpaired bracket of "1)" and "iv)"."""
UNKNOWN = "\ufffd"
"""U+FFFD stands for a glyph whose character is unknown."""
_LEFT, _RIGHT = "([{<«‹", ")]}>»›"
_BRACKETS = _LEFT + _RIGHT
_MIRRORED = str.maketrans(_BRACKETS, _RIGHT + _LEFT)
_OPENING = str.maketrans(_RIGHT, _LEFT)
_PLAIN = _OPENING | str.maketrans(
    {raised: plain.translate(_OPENING) for raised, plain in SUPERSCRIPTS.items()} | {"⁻": "-", "−": "-"}
)
_RAISED_ABBREVIATION = re.compile(r"[^\W\d_]{2,}\.?")
MAX_MARK_CHARS = 12
"""Longer raised text is a line of its own that overlaps another: "(1)(2)(3)" is a mark."""
_MARKS_WITHOUT_SUPERSCRIPT = frozenset(" .,;:*†‡§¶#®©™℠")


def clean(text: str) -> str:
    """Remove control characters and collapse white space."""
    return " ".join((text if text.isprintable() else _NOT_TEXT.sub("", text)).split())


def remove_whitespace(text: str) -> str:
    """Remove control characters and white space."""
    return "".join(_NOT_TEXT.sub("", text).split())


def is_readable(text: str) -> bool:
    """Whether there are characters besides white space, and not more unknown glyphs than others."""
    characters = len("".join(text.split()))
    return 0 < characters >= 2 * text.count(UNKNOWN)


def has_right_to_left(text: str) -> bool:
    """Whether there is any character of a script that runs from right to left."""
    return _RIGHT_TO_LEFT.search(text) is not None


def mirror_brackets(text: str) -> str:
    """Replace opening brackets by closing ones, and the reverse."""
    return text.translate(_MIRRORED)


def is_right_to_left(text: str) -> bool:
    """Whether most letters are of a script that runs from right to left."""
    return not text.isascii() and 2 * len(_RIGHT_TO_LEFT.findall(text)) > sum(map(str.isalpha, text))


def normalize_drawing(text: str) -> str:
    """Replace closing brackets by opening ones, superscripts by characters on the line, and minus signs by hyphens.

    The direction of the text decides which bracket is drawn, and the place of a character whether it is raised.
    """
    return text.translate(_PLAIN)


def superscript(text: str, following: str) -> str:
    """Return raised text, before `following`, in superscripts: the mark of note 4 after "1,240" is "⁴".

    Abbreviations ("30th"), the numerators of fractions ("1/2") and longer text are written on the line. Marks that
    Unicode has no superscripts for are set apart by spaces.
    """
    mark = text.strip()
    if len(mark) > MAX_MARK_CHARS or _RAISED_ABBREVIATION.fullmatch(mark):
        return text
    if following.startswith(("/", "⁄")):
        return f" {text}"
    raised = text.translate(RAISED)
    is_raised = all(char in SUPERSCRIPTS or char in _MARKS_WITHOUT_SUPERSCRIPT for char in raised)
    return raised if is_raised else f" {text} "


def correct_brackets(text: str) -> str:
    """Mirror brackets that a file stores as drawn instead of as written.

    In right-to-left text the opening bracket is drawn as ")", and many files store that, so that "(2023)" is read as
    ")2023(". Brackets beside letters of such a script are mirrored if that pairs more of them. Single brackets, and
    that of "1)" at the start of a line, stay.
    """
    if text.isascii() or not has_right_to_left(text):
        return text
    places = _brackets_among_right_to_left(text)
    brackets = "".join(text[place] for place in places)
    mirrored = mirror_brackets(brackets)
    if count_unpaired(mirrored) >= count_unpaired(brackets):
        return text
    characters = list(text)
    for place, bracket in zip(places, mirrored, strict=True):
        characters[place] = bracket
    return "".join(characters)


def _brackets_among_right_to_left(text: str) -> list[int]:
    """Return the offsets of brackets whose nearest letter before or after is of a right-to-left script."""
    letters = [character if character.isalpha() else "" for character in text]
    before = accumulate(letters, _last_letter)
    after = [*accumulate(reversed(letters), _last_letter)][::-1]
    return [
        place
        for place, (character, *near) in enumerate(zip(text, before, after, strict=True))
        if character in _BRACKETS and _RIGHT_TO_LEFT.search("".join(near)) and not _ITEM.fullmatch(text, 0, place)
    ]


def _last_letter(letter: str, following: str) -> str:
    return following or letter


def count_unpaired(brackets: str) -> int:
    """Count the brackets without a partner."""
    open_ones: list[str] = []
    alone = 0
    for bracket in brackets:
        if bracket in _LEFT:
            open_ones.append(bracket)
        elif open_ones and open_ones[-1] == bracket.translate(_OPENING):
            open_ones.pop()
        else:
            alone += 1
    return alone + len(open_ones)
