"""Questions for the seat of a company, its business, or the exchange that lists its stock."""

import re

from rag.answering.extraction.kinds.base import AskedKind, StatedKind
from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.company_descriptions import DESCRIBES_BUSINESS
from rag.answering.passages.quotable_units import Unit
from rag.types import Hit

MAX_COLUMN_NAMES_CHARS = 300
"""Maximum distance of a security from the names of its columns."""

_SEAT = (
    r"(?:headquarter(?:s|ed)?|(?:head|main|registered|principal(?:\s+executive)?)\s+offices?|(?:haupt|firmen)?sitz"
    r"|hauptverwaltung)"
)
_ASKS_SEAT = re.compile(
    r"(?:where|in\s+(?:which|what)\s+(?:city|town|state|country)|wo|in\s+welche[rm]\s+(?:stadt|land|ort|staat))\s+(?:is|are|ist)\s+"
    r"(?:(?:the|its|our|their|der|die|das|ihr|unser)\s+(?:(?:company|group|firm)(?:['’]s)?\s+)?"
    r"|(?:(?-i:[A-ZÄÖÜ])[\w.&-]*\s+)*(?-i:[A-ZÄÖÜ])[\w.&-]*(?:['’]s?)?\s+)?"
    rf"(?:(?:corporate|global|world)\s+)?(?:{_SEAT}|based)(?:\s+(?:located|of|von|der|des)\b.*)?\s*\??\s*"
    rf"|wo\s+hat\s+.+?\s+(?:ihren|seinen)\s+{_SEAT}\s*\??\s*",
    re.IGNORECASE,
)
"""A question for the seat of the whole company, not of a region or of its employees."""
_OF_SEAT = re.compile(rf"\b{_SEAT}\b", re.IGNORECASE)
_SITS = re.compile(
    r"\b(?:our|its|the\s+(?:company|group)['’]s|corporate|global|world|we\s+are)\s+(?:(?:corporate|global|world|company)\s+)?"
    rf"{_SEAT}\b[^.;:]{{0,60}}?\b(?:in|at)\s+(?-i:[A-Z0-9])"
    r"|\b(?:unser\w*|ihr\w*|mit)\s+(?:haupt|firmen)?sitz\b[^.;:]{0,40}?\bin\s+(?-i:[A-ZÄÖÜ])",
    re.IGNORECASE,
)
_ASKS_BUSINESS = re.compile(
    r"what\s+(?:does|do)\s+(?:the\s+(?:company|firm|group|business)|it|they|(?-i:[A-Z])[\w.&'’ -]*?)\s+do\s*\??"
    r"|what\s+(?:is|are)\s+(?:(?:the\s+)?(?:company|firm|group)['’]s|its|their|(?-i:[A-Z])[\w.& -]*['’]s?)\s+"
    r"(?:(?:main|core|principal)\s+)?(?:business(?:es)?|line\s+of\s+business|activit(?:y|ies))\s*\??"
    r"|what\s+(?:kind|type|sort)\s+of\s+(?:company|business|firm)\s+is\b.*"
    r"|in\s+(?:which|what)\s+(?:line\s+of\s+)?business\s+is\b.*"
    r"|was\s+macht\s+(?:das\s+unternehmen|die\s+(?:firma|gesellschaft)|(?-i:[A-ZÄÖÜ])[\w.&-]*)\s*\??",
    re.IGNORECASE,
)
_ASKS_EXCHANGE = re.compile(
    r"(?:on\s+)?(?:what|which)\s+(?:stock\s+|securities\s+)?exchanges?\b.*|where\s+(?:is|are)\s+.*\b(?:stock|shares|securities)\s+"
    r"(?:listed|traded)\b.*|what\s+(?:is|are)\s+.*\b(?:ticker|(?:trading|stock)\s+symbol)\b.*"
    r"|(?:an\s+)?welche[rn]?\s+börsen?\b.*|was\s+ist\s+.*(?:börsenkürzel|tickersymbol).*",
    re.IGNORECASE,
)
_EXCHANGE = (
    r"(?:\bNASDAQ\b|\bNYSE\b|\bEuronext\b|\bXetra\b|(?-i:\b[A-Z]\w+)\s+(?:Stock|Securities)\s+Exchange\b"
    r"|(?-i:\b[A-Z]\w+er\s+(?:Wertpapierb|B)örse\b))"
)
_LISTED = re.compile(
    rf"\b(?:listed|trade[sd]?|quoted|registered|notiert|gehandelt|symbols?)\b.*{_EXCHANGE}|{_EXCHANGE}.*\b(?:symbols?|ticker|notiert)\b",
    re.IGNORECASE,
)
_ON_EXCHANGE = re.compile(rf"(?!.*\.$).*{_EXCHANGE}[^.]{{0,40}}", re.IGNORECASE)
_REGISTERED = re.compile(r"\bexchange\s+on\s+which\s+registered\b|\btrading\s+symbol", re.IGNORECASE)
"""The column names of the securities on the cover page of a report."""


class ExchangeKind(AskedKind):
    """Asks on which exchange securities are listed, and under which symbol."""

    is_each_documents_own = True

    def answers(self, hit: Hit, unit: Unit, text: str) -> bool:
        """Return whether a sentence says where securities are listed, or a row names it below its columns' names."""
        above = hit.passage.text[max(unit.span.start - MAX_COLUMN_NAMES_CHARS, 0) : unit.span.start]
        is_row = _REGISTERED.search(" ".join(above.split())) is not None and _ON_EXCHANGE.fullmatch(text) is not None
        return is_row or (not unit.cells and _LISTED.search(text) is not None)


def of_company(question: ParsedQuestion) -> AskedKind | None:
    """Return the kind of a question about a whole company."""
    text = question.text.strip()
    if _ASKS_SEAT.fullmatch(text):
        return StatedKind(_SITS, label=_OF_SEAT, is_each_documents_own=True)
    if _ASKS_BUSINESS.fullmatch(text):
        return StatedKind(DESCRIBES_BUSINESS)
    return ExchangeKind() if _ASKS_EXCHANGE.fullmatch(text) else None
