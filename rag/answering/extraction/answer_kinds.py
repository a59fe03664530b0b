"""Kinds of questions whose answers can be recognised with certainty.

Each kind has a few patterns in English and German. What is not recognised is answered by the best candidate.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from rag import types
from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.labelled_values import DEFINES, labelled_values
from rag.answering.passages.persons import SIGNING, byline, is_firm, is_of_one, signatures
from rag.answering.passages.quotable_units import Unit
from rag.answering.text import term_weights
from rag.answering.text.names import is_term
from rag.answering.text.question_parts import asks_whether
from rag.answering.text.sentences import is_answered_by_box
from rag.vocabulary.question_words import SEAT, asks_seat

NO_WORDS = frozenset[str]()

_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_NO = re.compile(r"\bno\.|\bNr\.", re.IGNORECASE)
_PLACE_WORDS = term_weights.word_set("cover page compan regist firm listed given stated docume form report filing")
"""Stems of a question's words that say of whom or where, not what."""
_OF_SEAT = re.compile(rf"\b{SEAT}\b", re.IGNORECASE)
_SITS = re.compile(
    r"\b(?:our|its|the\s+(?:company|group)['’]s|corporate|global|world|we\s+are)\s+(?:(?:corporate|global|world|company)\s+)?"
    rf"{SEAT}\b[^.;:]{{0,60}}?\b(?:in|at)\s+(?-i:[A-Z0-9])"
    r"|\b(?:unser\w*|ihr\w*|mit)\s+(?:haupt|firmen)?sitz\b[^.;:]{0,40}?\bin\s+(?-i:[A-ZÄÖÜ])",
    re.IGNORECASE,
)


class AskedKind:
    """A kind of question; this one is any question, which no unit certainly answers."""

    is_each_documents_own = False
    """Whether each document answers it for its own company, as who audits it and where it has its seat."""

    def units(self, hit: types.Hit) -> Iterable[Unit]:  # noqa: ARG002
        """Return units of a hit that are read for this kind only, such as signatures."""
        return ()

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:  # noqa: ARG002
        """Return whether a unit with the displayed `text` certainly answers."""
        return False

    def may_answer(self, text: str) -> bool:  # noqa: ARG002
        """Return whether `text` can answer at all."""
        return True


@dataclass(frozen=True)
class StatedKind(AskedKind):
    """Asks for what a sentence of the pattern `sentence` states, with all `words`, or a value labelled so states.

    A value is labelled so if its label matches `label`.
    """

    sentence: re.Pattern[str] | None = None
    words: frozenset[str] = NO_WORDS
    label: re.Pattern[str] | None = None
    is_each_documents_own: bool = False

    def units(self, hit: types.Hit) -> Iterable[Unit]:
        """Return the values with the label that is asked for."""
        return (pair.unit for pair in labelled_values(hit.passage) if self._is_label(pair.label))

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:  # noqa: ARG002
        """Return whether a unit is such a value or sentence."""
        if unit.header is not None and unit.header == unit.label:
            return True
        if self.sentence is None or unit.cells:
            return False
        return self.words <= {*term_weights.words(text)} and self.sentence.search(text) is not None

    def _is_label(self, label: str) -> bool:
        return self.label is not None and self.label.search(label) is not None


def _own_words(question: ParsedQuestion) -> frozenset[str]:
    """Return the words of a question that say what it asks, not of whom or where."""
    names = {*term_weights.words(" ".join(question.names))}
    words = _label_words(question.text)
    return frozenset(word for word in words if len(word) > 1 and word not in _PLACE_WORDS | names)


def _label_words(text: str) -> list[str]:
    """Return the comparable words of a label, with abbreviations spelled alike."""
    text = _DOTTED.sub(lambda match: match[0].replace(".", ""), text)
    text = re.sub(r"\bID\b", "identification number", _NO.sub("number", text))
    return term_weights.content_words(text)


def asked_kind(question: ParsedQuestion) -> AskedKind:
    """Return what `question` asks for."""
    if asks_seat(question.text):
        return StatedKind(_SITS, label=_OF_SEAT, is_each_documents_own=True)
    kinds = (recognise(question) for recognise in (_of_person, _meaning, _recurring_date))
    return next((kind for kind in kinds if kind), _labelled(question))


# --- labels, definitions, dates --------------------------------------------------------------------------------

MIN_TOPIC_SHARE = 1 / 3
"""Share of a label's words that a question must more than have."""

_MEANS = (
    re.compile(
        r"^what\s+(?:does|do|did)\s+(?:the\s+(?:term|word)\s+)?(?P<term>\S.*?)(?<!\s)\s+"
        r"(?:mean|refer\s+to|stand\s+for)\b",
        re.I,
    ),
    re.compile(r"what\s+is\s+meant\s+by\s+(?:the\s+(?:term\s+)?)?(?P<term>[^?]+)", re.I),
    re.compile(
        r"^how(?=[^?]*\?)\s+(?:is|are|does\s+\S+\s+define)\s+(?:the\s+term\s+)?(?P<term>\S.*?)"
        r"(?<!\s)\s*+(?:(?<=\s)defined\b[^?]*)?\?",
        re.I,
    ),
    re.compile(r"what\s+is\s+the\s+(?:definition|meaning)\s+of\s+(?P<term>[^?]+)", re.I),
    re.compile(r"was\s+(?:bedeutet|bezeichnet|versteht\s+man\s+unter)\s+(?P<term>[^?]+)", re.I),
    re.compile(r"^wie\s+(?:ist|sind|wird|werden)\s+(?P<term>\S.*?)(?<!\s)\s+definiert\b", re.I),
)
_WHAT_IS = re.compile(
    r"(?:what\s+(?:is|are)|was\s+(?:ist|sind))\s++(?:an?|the|eine?|der|die|das)?\s*+(?P<term>[^?]+)\??", re.I
)
_IN_PASSING = r"\((?:[^()]{{0,80}}\s)?[“\"„]{term}[”\"“](?:\s+or\s[^()]*)?\)"
"""A term that is defined by the sentence it stands in: "… of 5 May 2020 (the “Effective Date”)"."""
_CONSISTS = (
    r"\s+(?:consists?\s+of|comprises?|(?:is|are)\s+made\s+up\s+of|besteht\s+aus|bestehen\s+aus|umfass(?:t|en))\b"
)
"""What tells the parts of something: "The segments consist of Mail and Freight"."""
_RECURS = re.compile(
    r"(?:when|on\s+which\s+(?:date|day))\s+(?:does|do)\s++(?:the|our|its)?\s*+(?P<what>\S.*?)(?<!\s)\s+(?P<verb>end|close|begin|start)\s*+(?:\?\s*)?$"
    r"|(?:what|when)\s+is\s++(?:the|our|its|(?:[\w&.-]+\s+){0,3}[\w&.-]+['’]s?)?\s*+(?P<what_year>(?:fiscal|financial)\s+year)"
    r"[\s-]end(?:\s+date)?\s*+(?:\?\s*)?$"
    r"|wann\s+(?P<verb_de>endet|beginnt)\s++(?:das|der|die)?\s*+(?P<what_de>[^?]+)(?:\?\s*)?$",
    re.IGNORECASE,
)
_DAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:jan|febr)uary|march|april|may|june|july|august"
    r"|(?:septem|octo|novem|decem)ber|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|januar|februar|märz|mai|juni|juli"
    r"|oktober|dezember)"
)
_ENDS = re.compile(
    rf"\b(?:ends|end\s+on|ending|closes|close\s+on|enden|endet|year-end\s+is)\b[^.;:]{{0,60}}?\b{_DAY}\b(?!\s+\d{{1,2}},?\s+(?:19|20)\d\d)",
    re.I,
)
_BEGINS = re.compile(
    rf"\b(?:begins|begin\s+on|beginning|starts|start\s+on|beginnen|beginnt)\b[^.;:]{{0,60}}?\b{_DAY}\b(?!\s+\d{{1,2}},?\s+(?:19|20)\d\d)",
    re.I,
)
_ASKS_VALUE = re.compile(
    r"(?:what|which|where|in\s+(?:which|what)|was|wie|welche[rs]?|in\s+welche[rmn])\b", re.IGNORECASE
)


@dataclass(frozen=True)
class LabelledKind(StatedKind):
    """Asks for a value whose label has the words `topic`, the meaning of a term, or a check box.

    `checked` are the words of an item of a form whose check box says whether it applies.
    """

    topic: frozenset[str] = NO_WORDS
    checked: frozenset[str] = NO_WORDS

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:
        """Return whether a unit is such a value, sentence or check box."""
        if self.checked and is_answered_by_box(text):
            return self.checked <= {*term_weights.words(text)}
        return super().answers(hit, unit, text)

    def _is_label(self, label: str) -> bool:
        words = _label_words(label)
        is_about = bool(self.topic) and self.topic <= {*words} and len(self.topic) > MIN_TOPIC_SHARE * len(words)
        return is_about and (len(self.topic) > 1 or words[:1] == [*self.topic])


def _recurring_date(question: ParsedQuestion) -> StatedKind | None:
    recurs = _RECURS.match(question.text.strip())
    if recurs is None:
        return None
    words = frozenset(term_weights.content_words(recurs["what"] or recurs["what_de"] or recurs["what_year"]))
    verb = (recurs["verb"] or recurs["verb_de"] or "end").lower()
    sentence = _ENDS if verb in ("end", "close", "endet") else _BEGINS
    return StatedKind(sentence, words, is_each_documents_own=bool(words))


def _meaning(question: ParsedQuestion) -> StatedKind | None:
    for pattern in _MEANS:
        if means := pattern.match(question.text.strip()):
            return StatedKind(_definition(means["term"]))
    return None


def _labelled(question: ParsedQuestion) -> LabelledKind:
    """Return the kind of any other question: a label, the definition of a term, or a check box may answer it."""
    text = question.text.strip()
    asked = _WHAT_IS.fullmatch(text)
    topic = _own_words(question) if _ASKS_VALUE.match(text) else NO_WORDS
    checked = _own_words(question) if asks_whether(text) else NO_WORDS
    return LabelledKind(_definition(asked["term"]) if asked else None, topic=topic, checked=checked)


def _definition(term: str) -> re.Pattern[str]:
    words = r"[\s-]+".join(map(re.escape, term.strip(" „“”\"'").split()))
    begun = rf"(?:^|[“\"„]|\bterms?\s+[“\"]?){words}{DEFINES}"
    return re.compile(rf"{begun}|{_IN_PASSING.format(term=words)}|\b{words}{_CONSISTS}", re.IGNORECASE)


# --- persons ----------------------------------------------------------------------------------------------------

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


class SignedKind(AskedKind):
    """Asks for what a signature tells."""

    def units(self, hit: types.Hit) -> Iterable[Unit]:
        """Return the signatures that are not side by side with others."""
        return (unit for unit in signatures(hit.passage) if is_of_one(hit.passage.text[slice(*unit.span)]))


class AuditorKind(SignedKind):
    """Asks for the firm that audited the statements."""

    is_each_documents_own = True

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:  # noqa: ARG002
        """Return whether a unit is a firm's signature in a passage about an audit."""
        signed = SIGNING.match(text)
        name = re.split(r"\s(?=We\s)", text[signed.end() :])[0] if signed else ""
        firm = re.match(r".{0,60}?\b(?:LLP|L\.L\.P\.|PLLC|LLC|GmbH|AG)(?!\w)", name)
        is_signature = firm is not None and is_firm(firm[0])
        return is_signature and _OF_AUDIT.search(hit.passage.text) is not None


@dataclass(frozen=True)
class OfficeKind(SignedKind):
    """Asks who holds an office now; `roles` are its names."""

    roles: tuple[str, ...]
    is_each_documents_own = True

    def answers(self, hit: types.Hit, unit: Unit, text: str) -> bool:
        """Return whether a unit begins with the name of the holder."""
        if unit.cells:
            spans = [*([unit.label] if unit.label else []), *(cell.span for cell in unit.cells)]
            text = " – ".join(hit.passage.text[slice(*span)] for span in spans)
        return any(_holds(" ".join(text.split()), role, hit) for role in self.roles)

    def may_answer(self, text: str) -> bool:
        """Return whether `text` can answer at all: who holds an office is said with its name and that of a person."""
        offices = [role for role in self.roles if _OFFICE.search(role)]
        if not offices:
            return True
        if not any(re.search(rf"(?<!\w){re.escape(role)}(?!\w)", text, re.IGNORECASE) for role in self.roles):
            return False
        return any(not is_term(word.strip(".,")) for run in _NAME.finditer(text) for word in run[0].split())


def _of_person(question: ParsedQuestion) -> AskedKind | None:
    text = question.text.strip()
    if _AUTHORS.search(text):
        return AuthorsKind()
    holder = _HOLDER.fullmatch(text)
    role = holder["role"].strip() if holder else ""
    if _AUDITS.search(text) or _AUDITOR.search(role):
        return AuditorKind()
    if not role:
        return None
    chairs = [re.sub(_CHAIR, chair, role, flags=re.I) for chair in _CHAIRS] if re.search(_CHAIR, role, re.I) else []
    synonyms = [phrase for phrase in (*chairs, *question.phrases) if phrase.lower() != role.lower()]
    return OfficeKind(tuple(dict.fromkeys([role, *synonyms])))


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
