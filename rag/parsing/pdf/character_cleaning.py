"""What happens to characters on their way out of a file: next to nothing."""

import re
from itertools import accumulate

_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
"""Control characters (PostgreSQL refuses NUL), lone surrogates, byte order marks and non-characters."""

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_ITEM = re.compile(r"\s*\w{1,3}")
"""What stands before the bracket of "1)" and "iv)", which has no partner."""
_READABLE = re.compile(r"[^\s\ufffd]")
_LEFT, _RIGHT = "([{<«‹", ")]}>»›"
_TURNS = _LEFT + _RIGHT
_TURNED = str.maketrans(_TURNS, _RIGHT + _LEFT)
_SAME = str.maketrans(_RIGHT, _LEFT)


def clean(text: str) -> str:
    """`text` without what is no character, and with single spaces for runs of white space."""
    return " ".join(_NOT_TEXT.sub("", text).split())


def squash(text: str) -> str:
    """`text` without what is no character and without white space."""
    return "".join(_NOT_TEXT.sub("", text).split())


def is_readable(text: str) -> bool:
    """Whether there is any character other than white space and the replacement character U+FFFD."""
    return _READABLE.search(text) is not None


def is_right_to_left(text: str) -> bool:
    """Whether most letters are of a script that runs from right to left."""
    return 2 * len(_RIGHT_TO_LEFT.findall(text)) > sum(map(str.isalpha, text))


def without_sides(text: str) -> str:
    """`text` with one form for both brackets of a pair: which is drawn depends on the direction of the text."""
    return text.translate(_SAME)


def upright(text: str) -> str:
    """`text` with brackets as they are written, not as they are drawn.

    In what runs from right to left the opening bracket is drawn as ")", and many files name it by that shape, with
    which "(2023)" is read as ")2023(". So brackets beside letters of such a script are turned if that makes pairs of
    more of them. One that stands alone, its partner on another line, stays as it was read, as do those of "1)" where a
    line begins.
    """
    if text.isascii() or not _RIGHT_TO_LEFT.search(text):
        return text
    places = _brackets_among_right_to_left(text)
    brackets = "".join(text[place] for place in places)
    turned = brackets.translate(_TURNED)
    if _unpaired(turned) >= _unpaired(brackets):
        return text
    characters = list(text)
    for place, bracket in zip(places, turned, strict=True):
        characters[place] = bracket
    return "".join(characters)


def _brackets_among_right_to_left(text: str) -> list[int]:
    """Places of the brackets of which one of the nearest letters is of a script that runs from right to left."""
    letters = [character if character.isalpha() else "" for character in text]
    before = accumulate(letters, _later)
    after = [*accumulate(reversed(letters), _later)][::-1]
    return [
        place
        for place, (character, *near) in enumerate(zip(text, before, after, strict=True))
        if character in _TURNS and _RIGHT_TO_LEFT.search("".join(near)) and not _ITEM.fullmatch(text, 0, place)
    ]


def _later(letter: str, later: str) -> str:
    return later or letter


def _unpaired(brackets: str) -> int:
    """How many of `brackets` have no partner."""
    open_ones: list[str] = []
    alone = 0
    for bracket in brackets:
        if bracket in _LEFT:
            open_ones.append(bracket)
        elif open_ones and open_ones[-1] == bracket.translate(_SAME):
            open_ones.pop()
        else:
            alone += 1
    return alone + len(open_ones)
