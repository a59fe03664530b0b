"""Questions for the seat, address or business of a company, or the exchange that lists its stock."""

import re
from collections.abc import Iterable

from rag import types
from rag.answering.extraction.kinds.base import AskedKind, StatedKind
from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.addresses import addresses
from rag.answering.passages.company_descriptions import DESCRIBES_BUSINESS
from rag.answering.passages.quotable_units import Unit
from rag.answering.text import term_weights
from rag.vocabulary.common_questions import (
    SEAT,
    asks_business,
    asks_exchange,
    asks_seat,
    asks_shares,
    whose_address,
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
_ARTICLE = re.compile(r"^(?:the|der|die|das|den)\s+", re.IGNORECASE)
_HAS_ADDRESS = re.compile(
    r"\b(?:having|with|has|have|whose)\s+(?:(?:its|an?|their)\s+)?(?:[\w-]+\s+){0,2}(?:offices?|address|place\s+of\s+business)\s+"
    r"(?:(?:is|are)\s+)?(?:located\s+)?(?:(?:in|at)\b|(?=\d))|\bmit\s+sitz\s+in\b",
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


class AddressKind(StatedKind):
    """Asks for the address of a party, named by `words`: a block of lines, or a sentence on its office."""

    def units(self, hit: types.Hit) -> Iterable[Unit]:
        """Return the addresses of this party."""
        for unit in addresses(hit.passage):
            named = hit.passage.text[unit.section.start : unit.span.end] if unit.section else ""
            if self.words <= {*term_weights.words(named)}:
                yield unit

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:
        """Return whether a unit is one of `units`, which alone have lines, or such a sentence."""
        return unit.has_lines or super().answers(hit, unit, text)


def of_company(question: ParsedQuestion) -> AskedKind | None:
    """Return the kind of a question about a whole company."""
    if party := whose_address(question.text):
        return AddressKind(_HAS_ADDRESS, frozenset(term_weights.words(_ARTICLE.sub("", party))))
    if asks_seat(question.text):
        return StatedKind(_SITS, label=_OF_SEAT, is_each_documents_own=True)
    if asks_business(question.text):
        return StatedKind(DESCRIBES_BUSINESS)
    if asks_shares(question.text):
        return StatedKind(_OUTSTANDING, is_each_documents_own=True)
    return ExchangeKind() if asks_exchange(question.text) else None
