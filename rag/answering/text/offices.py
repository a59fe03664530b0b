"""Check that an office in a claim is that of the source: a Chief Financial Officer and Vice President is no CEO."""

import re
from collections.abc import Iterator

from rag.answering.text.analyzed_text import Text

_CHIEF = re.compile(r"\bchief\s+(?:[^\W\d_]+\s+){1,3}?officer\b", re.IGNORECASE)
_PLAIN = re.compile(
    r"\b(?P<qualifier>(?:vice|deputy|assistant|associate|former|acting|interim|co|stellvertretend\w*|ehemalig\w*)[\s-]+)?"
    r"(?P<office>president|chair(?:man|woman|person)?|treasurer|controller|secretary"
    r"|(?:vorstands|aufsichtsrats)vorsitzende[rn]?|geschäftsführer(?:in)?)\b",
    re.IGNORECASE,
)


def mismatches(claim: Text, own: Text) -> list[str]:
    """Return the offices of the claim that the source `own` has not, though it may have all their words."""
    return [*_other_chiefs(claim.text, own.text), *_qualified(claim.text, own.text)]


def _other_chiefs(claim: str, own: str) -> Iterator[str]:
    """Yield offices of which the source has the words apart: "Executive Vice President and Chief Financial Officer"."""
    known = {" ".join(match[0].casefold().split()) for match in _CHIEF.finditer(own)}
    yield from (match[0] for match in _CHIEF.finditer(claim) if " ".join(match[0].casefold().split()) not in known)


def _qualified(claim: str, own: str) -> Iterator[str]:
    """Yield plain offices that the source has only with a qualifier: "Vice President"."""
    has_plain: dict[str, bool] = {}
    for match in _PLAIN.finditer(own):
        office = match["office"].casefold()
        has_plain[office] = has_plain.get(office, False) or not match["qualifier"]
    for match in _PLAIN.finditer(claim):
        if not match["qualifier"] and has_plain.get(match["office"].casefold()) is False:
            yield match["office"]
