"""Questions for the seat or the shares of a company, or the exchange that lists its stock."""

import re

from rag import types
from rag.answering.extraction.kinds.base import AskedKind, StatedKind
from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.quotable_units import Unit
from rag.vocabulary.common_questions import (
    SEAT,
    asks_exchange,
    asks_seat,
    asks_shares,
)

MAX_COLUMN_NAMES_CHARS = 300
"""Maximum distance of a security from the names of its columns."""

_OF_SEAT = re.compile(rf"\b{SEAT}\b", re.IGNORECASE)
_SITS = re.compile(
    r"\b(?:our|its|the\s+(?:company|group)['’]s|corporate|global|world|we\s+are)\s+(?:(?:corporate|global|world|company)\s+)?"
    rf"{SEAT}\b[^.;:]{{0,60}}?\b(?:in|at)\s+(?-i:[A-Z0-9])"
    r"|\b(?:unser\w*|ihr\w*|mit)\s+(?:haupt|firmen)?sitz\b[^.;:]{0,40}?\bin\s+(?-i:[A-ZÄÖÜ])",
    re.IGNORECASE,
)
_EXCHANGE = (
    r"(?:\bNASDAQ\b|\bNYSE\b|\bEuronext\b|\bXetra\b|(?-i:\b[A-Z]\w+)\s+(?:Stock|Securities)\s+Exchange\b"
    r"|(?-i:\b[A-Z]\w+er\s+(?:Wertpapierb|B)örse\b))"
)
_COUNT_OF_SHARES = r"(?<!\d)\d{1,3}(?:[,.]\d{3}){2,8}(?!\d)"
_OUTSTANDING = re.compile(
    rf"^(?!.*(?:\baverage\b|durchschnitt))(?:(?>.*?\bshares\b)(?>.*?\boutstanding\b).*?{_COUNT_OF_SHARES}"
    rf"|(?>.*?{_COUNT_OF_SHARES})(?>.*?\bshares\b).*?\boutstanding\b"
    rf"|(?>.*?\boutstanding\b)(?>.*?{_COUNT_OF_SHARES}).*?\bshares\b"
    rf"|.*?{_COUNT_OF_SHARES}\s+(?:stamm)?aktien\b)",
    re.IGNORECASE,
)
"""The count of the cover page, unlike the average for a year."""
_LISTED = re.compile(
    r"^(?:(?>.*?\b(?:listed|trade[sd]?|quoted|registered|notiert|gehandelt|symbols?)\b)"
    rf".*?{_EXCHANGE}|(?>.*?{_EXCHANGE}).*?\b(?:symbols?|ticker|notiert)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_ON_EXCHANGE = re.compile(rf"(?!.*\.$).*{_EXCHANGE}[^.]{{0,40}}", re.IGNORECASE)
_REGISTERED = re.compile(r"\bexchange\s+on\s+which\s+registered\b|\btrading\s+symbol", re.IGNORECASE)
"""The column names of the securities on the cover page of a report."""


class ExchangeKind(AskedKind):
    """Asks on which exchange securities are listed, and under which symbol."""

    is_each_documents_own = True

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:
        """Return whether a sentence says where securities are listed, or a row names it below its columns' names."""
        above = hit.passage.text[max(unit.span.start - MAX_COLUMN_NAMES_CHARS, 0) : unit.span.start]
        is_row = _REGISTERED.search(" ".join(above.split())) is not None and _ON_EXCHANGE.fullmatch(text) is not None
        return is_row or (not unit.cells and _LISTED.search(text) is not None)


def of_company(question: ParsedQuestion) -> AskedKind | None:
    """Return the kind of a question about a whole company."""
    if asks_seat(question.text):
        return StatedKind(_SITS, label=_OF_SEAT, is_each_documents_own=True)
    if asks_shares(question.text):
        return StatedKind(_OUTSTANDING, is_each_documents_own=True)
    return ExchangeKind() if asks_exchange(question.text) else None
