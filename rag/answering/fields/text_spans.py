"""Find the words of a sentence that may be the value of a text field: names, codes, addresses of the net, titles."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag import types
from rag.answering.text.term_weights import is_stop_word

MAX_WHOLE_WORDS = 30
"""Maximum length of a whole sentence or heading as a value."""

LEGAL_FORM = (
    r"(?i:LLP|LLC|LP|PLLC|Inc|Incorporated|Corp|Corporation|Company|Co|Ltd|Limited|plc|GmbH|AG|SE|KG|SA|NV|BV|AB|Oy"
    r"|Pty|L\.L\.C|L\.L\.P|L\.P|N\.V|S\.A)\b\.?"
)
"""Legal forms, which end the names of firms."""

_WORD = re.compile(r"[^\s;<>()\[\]]{2,}")
_OF_CODE = re.compile(r"[@/\d]")
"""What words have that are codes or addresses of the net."""
_PATH = re.compile(r"(?:[a-z]{3,5}://[^/\s]+/|[a-z]{2,10}:)(?=[^\s/])", re.IGNORECASE)
"""What stands before the code itself: "https://example.org/10.1000/1", "id:10.1000/1"."""
_CAPITAL = r"(?:(?:[^\W\d_a-zß-öø-ÿ]\.){2,}|[^\W\d_a-zß-öø-ÿ][\w’'.&-]*(?<![.,])\.?|[a-zß-öø-ÿ]{1,3}[A-Z][\w-]*)"
_NUMBER = r"\d+(?:\.\d+)*"
_OF_PLACE = rf"\s+\([^\W\d_]\w{{0,20}}\)(?=,?\s+{LEGAL_FORM}(?!\w))"
"""What stands in brackets before a legal form: "Norland (Pty) Ltd"."""
_PIECE = rf"{_CAPITAL}(?:(?:\s*&\s*|\s+|,\s+(?={LEGAL_FORM}(?!\w)))(?:{_CAPITAL}|{_NUMBER}(?![\w,]))|{_OF_PLACE})*"
_LINK = r"\s+(?:of|for|the|and|in|on|de|la|du|für|der|des|und)"
_RUN = re.compile(rf"(?<![\w’'-]){_PIECE}(?:(?:{_LINK}){{1,2}}\s+{_PIECE}){{0,5}}")
_PIECES = re.compile(rf"(?<![\w’'-]){_PIECE}")
_TRAILING = re.compile(r"(?<![\s\d.])(?:\s++\d[\d.]*+)++$")
_TOKEN = re.compile(r"\w+|[^\w\s]")


def spans(text: str) -> Iterator[types.Span]:
    """Yield the parts of `text` that may be a value: the whole, codes, and capitalised words with and without links."""
    whole = types.Span(len(text) - len(text.lstrip()), len(text.rstrip().rstrip(".")))
    found = [whole] if len(text.split()) <= MAX_WHOLE_WORDS else []
    for word in filter(lambda word: _OF_CODE.search(word[0]), _WORD.finditer(text)):
        found.append(types.Span(*word.span()))
        if path := _PATH.match(text, *word.span()):
            found.append(types.Span(path.end(), word.end()))
    for run in _RUN.finditer(text):
        found.append(types.Span(*run.span()))
        found += [types.Span(*match.span()) for match in _PIECES.finditer(text, *run.span())]
    for span in [*found]:
        if trailing := _TRAILING.search(text, *span):
            found.append(types.Span(span.start, trailing.start()))
    for span in dict.fromkeys(found):
        stripped = text[slice(*span)].rstrip(" .,;:")
        if len(stripped) > 1 and not is_stop_word(stripped):
            yield types.Span(span.start, span.start + len(stripped))


class Likeness(NamedTuple):
    """How a text is like an example: its kinds of characters, its length, and whether both have a legal form."""

    characters: float
    length: float
    form: float


def likeness(text: str, example: str) -> Likeness:
    """Return how `text` is like `example` in its form."""
    one, other = _kinds(text), _kinds(example)
    tokens, wanted = len(text.split()), len(example.split())
    return Likeness(
        len(one & other) / (len(one | other) or 1),
        (min(tokens, wanted) / max(tokens, wanted, 1) + min(len(text), len(example)) / max(len(text), len(example), 1))
        / 2,
        float(_has_form(text) == _has_form(example)) * (2.0 if _has_form(example) else 0.5),
    )


def has_form(text: str, example: str) -> bool:
    """Return whether `text` has all kinds of characters of `example`."""
    return _kinds(example) <= _kinds(text)


def _has_form(text: str) -> bool:
    return re.search(rf"(?<![\w.]){LEGAL_FORM}(?!\w)", text) is not None


def _kinds(text: str) -> frozenset[str]:
    """Return the kinds of characters, and how words begin."""
    found: set[str] = set()
    for part in _TOKEN.findall(text):
        if part[0].isdigit() or any(map(str.isdigit, part)):
            found.add("9")
        elif part[0].isalpha():
            found.add("A" if part[0].isupper() else "a")
        elif part not in "&,.":
            found.add(part)
    return frozenset(found)


def letters_and_digits(text: str) -> str:
    """Return the letters and digits of `text` in lower case, by which names are compared."""
    return "".join(filter(str.isalnum, text.casefold()))


def without_article(name: str) -> str:
    """Return the letters and digits of a name without its article."""
    return letters_and_digits(re.sub(r"^(?:the|der|die|das)\s+", "", name.strip(), flags=re.IGNORECASE))
