"""What happens to characters on their way out of a file: next to nothing."""

import re

_NOT_TEXT = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
"""Control characters (PostgreSQL refuses NUL), lone surrogates, byte order marks and non-characters."""

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_READABLE = re.compile(r"[^\s\ufffd]")


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
