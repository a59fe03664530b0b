"""Recognise units that certainly answer: authors, offices, labelled values, recurring dates, definitions, seats.

Each kind has a few patterns in English and German. What is not recognised is answered by the best candidate.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.answering.extraction.question_intent import ParsedQuestion
from rag.answering.passages.bylines import byline
from rag.answering.passages.company_descriptions import DESCRIBES_BUSINESS
from rag.answering.passages.definitions import DEFINES
from rag.answering.passages.labelled_values import is_firm, labelled_values, signatures
from rag.answering.passages.quotable_units import Unit
from rag.answering.text import term_weights
from rag.answering.text.named_entities import is_term
from rag.answering.text.sentences import is_answered_by_box
from rag.answering.verification.answer_agreement import asks_whether
from rag.types import Hit

MAX_OFFICES_CHARS = 90
"""Maximum distance of an office from the name of its holder, who may have others."""

MAX_NAME_WORDS = 5
"""Maximum number of different words of a name; more are two names side by side."""

MIN_TOPIC_SHARE = 1 / 3
"""Share of a label's words that a question must more than have."""

NO_WORDS = frozenset[str]()

_HOLDER = re.compile(
    r"(?:who(?:\s+is|['’]s)|who\s+(?:serves|acts)\s+as|wer\s+ist)\s+(?:currently\s+|now\s+|derzeit\s+)?"
    r"(?:(?:the|our|its|der|die|das)\s+|(?:[\w&.-]+\s+){0,3}[\w&.-]+['’]s?\s+)?(?:current\s+|aktuelle\s+)?"
    r"(?P<role>[^,?]+?)(?:\s+(?:of|at|in|von|bei)\s+[^?]*)?\s*\??\s*",
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
_AUDITS = re.compile(r"\bwho\b.*\baudit(?:s|ed)\b|\bwer\b.*\bgeprüft\b", re.IGNORECASE)
_AUDITOR = re.compile(r"\bauditors?\b|\bpublic accounting firm\b|\b(?:abschluss|wirtschafts)prüfer", re.IGNORECASE)
_OF_AUDIT = re.compile(r"\baudit|prüf", re.IGNORECASE)
_MEANS = (
    re.compile(
        r"what\s+(?:does|do|did)\s+(?:the\s+(?:term|word)\s+)?(?P<term>.+?)\s+(?:mean|refer\s+to|stand\s+for)\b", re.I
    ),
    re.compile(r"what\s+is\s+meant\s+by\s+(?:the\s+(?:term\s+)?)?(?P<term>[^?]+)", re.I),
    re.compile(
        r"how\s+(?:is|are|does\s+\S+\s+define)\s+(?:the\s+term\s+)?(?P<term>.+?)(?:\s+defined\b[^?]*)?\s*\?", re.I
    ),
    re.compile(r"what\s+is\s+the\s+(?:definition|meaning)\s+of\s+(?P<term>[^?]+)", re.I),
    re.compile(r"was\s+(?:bedeutet|bezeichnet|versteht\s+man\s+unter)\s+(?P<term>[^?]+)", re.I),
    re.compile(r"wie\s+(?:ist|sind|wird|werden)\s+(?P<term>.+?)\s+definiert\b", re.I),
)
_WHAT_IS = re.compile(
    r"(?:what\s+(?:is|are)|was\s+(?:ist|sind))\s+(?:an?|the|eine?|der|die|das)?\s*(?P<term>[^?]+?)\s*\??", re.I
)
_IN_PASSING = r"\((?:[^()]{{0,40}}\s)?[“\"„]{term}[”\"“](?:\s+or\s[^()]*)?\)"
"""A term that is defined by the sentence it stands in: "… of 5 May 2020 (the “Effective Date”)"."""
_RECURS = re.compile(
    r"(?:when|on\s+which\s+(?:date|day))\s+(?:does|do)\s+(?:the|our|its)?\s*(?P<what>.+?)\s+(?P<verb>end|close|begin|start)\s*\??\s*$"
    r"|wann\s+(?P<verb_de>endet|beginnt)\s+(?:das|der|die)?\s*(?P<what_de>[^?]+?)\s*\??\s*$",
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
_NAME_WORD = re.compile(
    r"(?:[^\W\d_a-zß-öø-ÿ][\w.'’-]*|[“\"][^”\"]{1,20}[”\"]|\([A-Z]\w*\)|(?:van|von|de|der|la|le|di|del)\b)\s*"
)
_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w.'’-]*(?:\s+[^\W\d_a-zß-öø-ÿ][\w.'’-]*)+")
_SIGNING = re.compile(r"(?:(?:by|durch)\s*:?\s*)?/s/\s*", re.IGNORECASE)
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
_NEXT_OFFICE = re.compile(r"\s*(?:,|&|\band\b|\bund\b)?\s*(?:and\s+)?(?P<office>[A-Z][a-z]+)\b", re.IGNORECASE)
_OF_WHOM = re.compile(r"\s*(?:,|of|at)\s+(?P<whom>[\w&.’'-]+(?:\s+[A-Z][\w&.’'-]*)*)")
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_NO = re.compile(r"\bno\.|\bNr\.", re.IGNORECASE)
_PLACE_WORDS = term_weights.word_set("cover page compan regist firm listed given stated docume form report filing")
"""Stems of a question's words that say of whom or where, not what."""


@dataclass(frozen=True)
class AskedKind:
    """What a question of a known kind asks for: authors, an office, a term's meaning, a recurring date or a seat.

    `checked` are the words of an item of a form whose check box says whether it applies. `roles` are the names of the
    office. `sentence` is the pattern of a sentence that answers, if it has the words `what`. A labelled value answers
    if its label has the words `topic` or matches `label`.
    """

    topic: frozenset[str] = NO_WORDS
    roles: tuple[str, ...] = ()
    is_auditor: bool = False
    is_author: bool = False
    sentence: re.Pattern[str] | None = None
    what: frozenset[str] = NO_WORDS
    label: re.Pattern[str] | None = None
    checked: frozenset[str] = NO_WORDS

    @property
    def is_each_documents_own(self) -> bool:
        """Whether each document answers it for its own company, as who audits it and where it has its seat."""
        return self.is_auditor or self.is_author or bool(self.roles or self.what or self.label)

    def units(self, hit: Hit) -> Iterator[Unit]:
        """Yield units of a hit that are read for this kind only: labelled values and signatures."""
        if self.topic or self.label:
            yield from (pair.unit for pair in labelled_values(hit.passage) if self._is_label(pair.label))
        if self.is_auditor or self.roles:
            yield from signatures(hit.passage)
        if self.is_author and (names := byline(hit.passage)):
            yield names

    def answers(self, hit: Hit, unit: Unit, text: str) -> bool:
        """Return whether a unit with the displayed `text` certainly answers."""
        if unit.header is not None and unit.header == unit.label:
            return True
        if self.checked and is_answered_by_box(text):
            return self.checked <= {*term_weights.words(text)}
        if self.is_author or self.is_auditor:
            return byline(hit.passage) == unit if self.is_author else self._is_auditor(hit, text)
        if self.roles:
            own = " – ".join(hit.passage.text[slice(*span)] for span in _own_spans(unit)) if unit.cells else text
            return any(_holds(" ".join(own.split()), role, hit) for role in self.roles)
        if self.sentence is None or unit.cells:
            return False
        return self.what <= {*term_weights.words(text)} and self.sentence.search(text) is not None

    def may_answer(self, text: str) -> bool:
        """Return whether `text` can answer at all: who holds an office is said with its name and that of a person."""
        offices = [role for role in self.roles if _OFFICE.search(role)]
        if not offices:
            return True
        if not any(re.search(rf"(?<!\w){re.escape(role)}(?!\w)", text, re.IGNORECASE) for role in self.roles):
            return False
        return any(not is_term(word.strip(".,")) for run in _NAME.finditer(text) for word in run[0].split())

    def _is_label(self, label: str) -> bool:
        if self.label:
            return self.label.search(label) is not None
        words = _label_words(label)
        is_about = self.topic <= {*words} and len(self.topic) > MIN_TOPIC_SHARE * len(words)
        return is_about and (len(self.topic) > 1 or words[:1] == [*self.topic])

    def _is_auditor(self, hit: Hit, text: str) -> bool:
        signed = _SIGNING.match(text)
        name = re.split(r"\s(?=We\s)", text[signed.end() :])[0] if signed else ""
        firm = re.match(r".{0,60}?\b(?:LLP|L\.L\.P\.|PLLC|LLC|GmbH|AG)(?!\w)", name)
        is_signature = firm is not None and is_firm(firm[0])
        return is_signature and _OF_AUDIT.search(hit.passage.text) is not None


def asked_kind(question: ParsedQuestion) -> AskedKind:
    """Return what `question` asks for, if it is of a known kind."""
    text = question.text.strip()
    if person := _asked_person(question, text):
        return person
    if _ASKS_SEAT.fullmatch(text):
        return AskedKind(sentence=_SITS, label=_OF_SEAT)
    if _ASKS_BUSINESS.fullmatch(text):
        return AskedKind(sentence=DESCRIBES_BUSINESS)
    for pattern in _MEANS:
        if means := pattern.match(text):
            return AskedKind(sentence=_definition(means["term"]))
    if recurs := _RECURS.match(text):
        what = frozenset(term_weights.content_words(recurs["what"] or recurs["what_de"]))
        verb = (recurs["verb"] or recurs["verb_de"]).lower()
        return AskedKind(what=what, sentence=_ENDS if verb in ("end", "close", "endet") else _BEGINS)
    asked = _WHAT_IS.fullmatch(text)
    definition = _definition(asked["term"]) if asked else None
    return AskedKind(
        _topic(question), sentence=definition, checked=_own_words(question) if asks_whether(text) else NO_WORDS
    )


def _asked_person(question: ParsedQuestion, text: str) -> AskedKind | None:
    """Return the kind of a question for authors, an auditor or the holder of an office."""
    if _AUTHORS.search(text):
        return AskedKind(is_author=True)
    holder = _HOLDER.fullmatch(text)
    role = holder["role"].strip() if holder else ""
    if _AUDITS.search(text) or _AUDITOR.search(role):
        return AskedKind(is_auditor=True)
    return AskedKind(roles=tuple(dict.fromkeys([role, *_synonyms(question, role)]))) if role else None


def _definition(term: str) -> re.Pattern[str]:
    """Return the pattern of a sentence that defines `term`."""
    words = r"[\s-]+".join(map(re.escape, term.strip(" „“”\"'").split()))
    begun = rf"(?:^|[“\"„]|\bterms?\s+[“\"]?){words}{DEFINES}"
    return re.compile(f"{begun}|{_IN_PASSING.format(term=words)}", re.IGNORECASE)


def _topic(question: ParsedQuestion) -> frozenset[str]:
    """Return the words of the label that is asked for; empty if the question asks for something else."""
    if not re.match(
        r"(?:what|which|where|in\s+(?:which|what)|was|wie|welche[rs]?|in\s+welche[rmn])\b", question.text, re.I
    ):
        return NO_WORDS
    return _own_words(question)


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


def _synonyms(question: ParsedQuestion, role: str) -> Sequence[str]:
    chairs = [re.sub(_CHAIR, chair, role, flags=re.I) for chair in _CHAIRS] if re.search(_CHAIR, role, re.I) else []
    return [phrase for phrase in (*chairs, *question.phrases) if phrase.lower() != role.lower()]


def _own_spans(unit: Unit) -> list[tuple[int, int]]:
    return [*([unit.label] if unit.label else []), *(cell.span for cell in unit.cells)]


def _holds(text: str, role: str, hit: Hit) -> bool:
    """Return whether `text` begins with a name whose bearer now holds the office of the whole company."""
    start = signing.end() if (signing := _SIGNING.match(text)) else 0
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


def _is_of_company(after: str, hit: Hit) -> bool:
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
