"""Questions for persons: the authors of a paper, the auditor, the holder of an office."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag import types
from rag.answering.extraction.answer_kinds import AskedKind
from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.bylines import byline
from rag.answering.passages.quotable_units import Unit
from rag.answering.passages.signatures import SIGNING, is_firm, is_of_one, signatures
from rag.answering.text import term_weights
from rag.answering.text.named_entities import is_term

MAX_OFFICES_CHARS = 90
"""Maximum distance of an office from the name of its holder, who may have others."""

MAX_NAME_WORDS = 5
"""Maximum number of different words of a name; more are two names side by side."""

_HOLDER = re.compile(
    r"(?=[^?]*+\??\s*$)(?:who(?:\s+is|['’]s)|who\s+(?:serves|acts)\s+as|wer\s+ist)\s+(?:currently\s+|now\s+|derzeit\s+)?"
    r"(?:(?:the|our|its|der|die|das)\s+|(?:[\w&.-]+\s+){0,3}[\w&.-]+['’]s?\s+)?(?:current\s+|aktuelle\s+)?"
    r"(?P<role>[^\s,?][^,?]*?)(?<!\s)\s*+(?:(?<=\s)(?:of|at|in|von|bei)\s[^?]*)?\??\s*",
    re.IGNORECASE,
)
_AUTHORS = re.compile(
    r"who\s+(?:is|are|was|were)\s+(?:the|its)\s+authors?\b|who\s+(?:wrote|authored)\s+(?:the|this)\s+(?:paper|article|study"
    r"|thesis|report|document)\b|(?:names?|list)\s+of\s+(?:all\s+)?(?:the\s+)?authors\b|wer\s+(?:ist|sind|war|waren)\s+(?:der|die)\s+"
    r"(?:autor|verfasser)|wer\s+hat\s+(?:den|das|die|diese\w*)\s+\w+\s+(?:geschrieben|verfasst)",
    re.IGNORECASE,
)
_CHAIRS = ("chair", "chairman", "chairwoman", "chairperson")
_CHAIR = r"\bchair(?:man|woman|person)?\b"
_OFFICE = re.compile(
    r"\b(?:officer|president|chair(?:man|woman|person)?|director|secretary|treasurer|counsel|controller|C[EFOT]O"
    r"|(?:vorstands|aufsichtsrats)?vorsitzende[rn]?|geschäftsführer(?:in)?)\b",
    re.IGNORECASE,
)
_AUDITS = re.compile(
    r"^(?:(?>.*?\bwho\b).*?\baudit(?:s|ed)\b|(?>.*?\bwer\b).*?\bgeprüft\b)", re.IGNORECASE | re.MULTILINE
)
_AUDITOR = re.compile(r"\bauditors?\b|\bpublic accounting firm\b|\b(?:abschluss|wirtschafts)prüfer", re.IGNORECASE)
_OF_AUDIT = re.compile(r"\baudit|prüf", re.IGNORECASE)
_NAME_WORD = re.compile(
    r"(?:[^\W\d_a-zß-öø-ÿ][\w.'’-]*|[“\"][^”\"]{1,20}[”\"]|\([A-Z]\w*\)|(?:van|von|de|der|la|le|di|del)\b)\s*"
)
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w.'’-]{0,40}(?:\s+[^\W\d_a-zß-öø-ÿ][\w.'’-]{0,40})+")
_JOINS = term_weights.word_set(
    "and of the our as is has been since who serves served serving a an became on for to in board company to "
    "und der die des seit ist unser unsere als"
)
"""Words that may stand between a name and an office that its bearer holds now."""
_BEFORE_OFFICE = re.compile(
    r"(?:^|[^\w\s]|\d|\b(?:and|und|of|the|our|as|is|been|a|an|became|der|die|unser|unsere|als|ist|global|group))\s*$",
    re.I,
)
"""What may stand right before an office, unlike "Vice" before "President"."""
_FORMER = re.compile(
    r"\b(?:former(?:ly)?|previous(?:ly)?|prior|until|retired|was|from|ex-|ehemalig\w*|bis)\b|(?<![A-Z])[.](?:\s|$)|\binterim\b",
    re.I,
)
_OF_ALL = re.compile(
    r"\s*(?:$|[.;:()–—*\d-]|(?:and|&|und|since|effective|seit)\b|(?:mr|ms|mrs|dr)\.|,\s*(?:and\b|since\b|effective\b|has\b|who\b|seit\b|\()"
    r"|(?:of|der|des)\s+(?:the\s+|our\s+)?(?:company|registrant|board|group|gesellschaft)\b)",
    re.IGNORECASE,
)
_NEXT_OFFICE = re.compile(r"\s*+(?:,|&|\band\b|\bund\b)?\s*+(?:and\s+)?(?P<office>[A-Z][a-z]+)\b", re.IGNORECASE)
_OF_WHOM = re.compile(r"\s*(?:,|of|at)\s+(?P<whom>[\w&.’'-]+(?:\s+[A-Z][\w&.’'-]*)*)")


class AuthorsKind(AskedKind):
    """Asks for the authors of a document."""

    is_each_documents_own = True

    def units(self, hit: types.Hit) -> Iterable[Unit]:
        """Return the names below the title."""
        names = byline(hit.passage)
        return (names,) if names else ()

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:  # noqa: ARG002
        """Return whether a unit is the names below the title."""
        return byline(hit.passage) == unit


class AuditorKind(AskedKind):
    """Asks for the firm that audited the statements."""

    is_each_documents_own = True

    def units(self, hit: types.Hit) -> Iterable[Unit]:
        """Return the signatures."""
        return _own_signatures(hit)

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:  # noqa: ARG002
        """Return whether a unit is a firm's signature in a passage about an audit."""
        signed = SIGNING.match(text)
        name = re.split(r"\s(?=We\s)", text[signed.end() :])[0] if signed else ""
        firm = re.match(r".{0,60}?\b(?:LLP|L\.L\.P\.|PLLC|LLC|GmbH|AG)(?!\w)", name)
        is_signature = firm is not None and is_firm(firm[0])
        return is_signature and _OF_AUDIT.search(hit.passage.text) is not None


@dataclass(frozen=True)
class OfficeKind(AskedKind):
    """Asks who holds an office now; `roles` are its names."""

    roles: tuple[str, ...]
    is_each_documents_own = True

    def units(self, hit: types.Hit) -> Iterable[Unit]:
        """Return the signatures."""
        return _own_signatures(hit)

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:
        """Return whether a unit begins with the name of the holder."""
        own = " – ".join(hit.passage.text[slice(*span)] for span in _own_spans(unit)) if unit.cells else text
        return any(_holds(" ".join(own.split()), role, hit) for role in self.roles)

    def may_answer(self, text: str) -> bool:
        """Return whether `text` can answer at all: who holds an office is said with its name and that of a person."""
        offices = [role for role in self.roles if _OFFICE.search(role)]
        if not offices:
            return True
        if not any(re.search(rf"(?<!\w){re.escape(role)}(?!\w)", text, re.IGNORECASE) for role in self.roles):
            return False
        return any(not is_term(word.strip(".,")) for run in _NAME.finditer(text) for word in run[0].split())


def of_person(question: ParsedQuestion) -> AskedKind | None:
    """Return the kind of a question for authors, an auditor or the holder of an office."""
    text = question.text.strip()
    if _AUTHORS.search(text):
        return AuthorsKind()
    holder = _HOLDER.fullmatch(text)
    role = holder["role"].strip() if holder else ""
    if _AUDITS.search(text) or _AUDITOR.search(role):
        return AuditorKind()
    return OfficeKind(tuple(dict.fromkeys([role, *_synonyms(question, role)]))) if role else None


def _own_signatures(hit: types.Hit) -> Iterable[Unit]:
    """Return the signatures that are not side by side with others."""
    return (unit for unit in signatures(hit.passage) if is_of_one(hit.passage.text[slice(*unit.span)]))


def _synonyms(question: ParsedQuestion, role: str) -> Sequence[str]:
    chairs = [re.sub(_CHAIR, chair, role, flags=re.I) for chair in _CHAIRS] if re.search(_CHAIR, role, re.I) else []
    return [phrase for phrase in (*chairs, *question.phrases) if phrase.lower() != role.lower()]


def _own_spans(unit: Unit) -> list[tuple[int, int]]:
    return [*([unit.label] if unit.label else []), *(cell.span for cell in unit.cells)]


def _holds(text: str, role: str, hit: types.Hit) -> bool:
    """Return whether `text` begins with a name whose bearer now holds the office of the whole company."""
    start = signing.end() if (signing := SIGNING.match(text)) else 0
    end, names = start, 0
    while (word := _NAME_WORD.match(text, end)) and not is_term(word[0].strip(" ,.")):
        end, names = word.end(), names + 1
    if names < 2 or len({*term_weights.words(text[start:end])}) > MAX_NAME_WORDS:
        return False
    for match in re.finditer(rf"(?<![\w-]){re.escape(role)}(?![\w-])", text[end:], re.IGNORECASE):
        between, after = text[end : end + match.start()], text[end + match.end() :]
        if len(between) > MAX_OFFICES_CHARS or _FORMER.search(between):
            return False
        small = {word.casefold() for word in re.findall(r"(?<![\w])[a-zäöüß]\w*", between)}
        if small <= _JOINS and _BEFORE_OFFICE.search(between) and _is_of_company(after, hit):
            return True
    return False


def _is_of_company(after: str, hit: types.Hit) -> bool:
    """Return whether what follows an office leaves it that of the document's company."""
    while (word := _NEXT_OFFICE.match(after)) and is_term(word["office"]) and word["office"].lower() != "head":
        after = after[word.end() :]  # "President and Chief Executive Officer, Western Division" is one office
    if _OF_ALL.match(after):
        return True
    whom = _OF_WHOM.match(after)
    if whom is None:
        return False
    first = re.split(r"\s", whom["whom"])[0]
    whose = "".join(filter(str.isalpha, f"{hit.document_name} {hit.title or ''}".casefold()))
    return is_term(first) or "".join(filter(str.isalpha, whom["whom"].casefold())) in whose
