"""Parse what a question asks for: the kind of its answer, years, names, pages and words."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz import fuzz, process

from rag import types
from rag.answering.text import term_weights
from rag.answering.text.measurement_units import TIMES, currencies
from rag.answering.text.names import NumberedName, find_numbered_names, has_new_name, is_term
from rag.answering.text.numbers import find_numbers
from rag.messages import N_
from rag.vocabulary import definitions, references, spell_out_periods


class Kind(StrEnum):
    """The kind of thing an answer must hold."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    PLACE = "place"
    EMAIL = "email"
    PHONE = "phone"
    ADDRESS = "address"
    WEBSITE = "website"
    COLOUR = "colour"
    TITLE = "title"
    TEXT = "text"


PRECISE = frozenset({Kind.EMAIL, Kind.PHONE, Kind.WEBSITE, Kind.COLOUR})
"""Kinds that are recognised reliably: without one there is no answer."""

PHONE_DIGITS = 7
"""Minimum digits of a telephone number; shorter ones are dates and amounts."""

SHORT_NAME = 3
"""Letters of a name without digits up to which it must be a word of its own: "kWh" is not in "check whether"."""

MIN_LIKENESS = 80.0
"""Minimum similarity (rapidfuzz's normalised indel similarity, 0..100) of a misspelt word."""


def _pattern(*alternatives: str) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), re.IGNORECASE)


def _contact(noun: str) -> re.Pattern[str]:
    """Return the pattern of questions for a `noun` such as "website", not of questions about phones or a website."""
    return _pattern(
        rf"\b{noun}(?:\s+and\s+fax)?[\s-]+(?:numbers?|nummern?|address(?:es)?|adressen?|no\b)",
        rf"\b{noun}\s+(?:of|for)\b",
        rf"\b(?:by|per)\s+{noun}\b",
        rf"\b(?:what|which)(?:['’]?s|\s+is|\s+are)?\s+(?:(?!(?:of|for|in|on|to|by|with|from)\b)[^\s?]+\s+){{0,5}}?"
        rf"{noun}(?=\W*$|\s+(?:is|are|can|should|do|does|at|to|where)\b)",
        rf"^\W*+(?:[^\s?]+\s+){{0,4}}{noun}\W*$",
    )


_COLOUR = _pattern(
    r"\b(?:red|green|blue|yellow|orange|purple|violet|pink|brown|black|white|gr[ae]y|beige|turquoise|cyan|magenta|maroon|navy"
    r"|rot|grün|blau|gelb|lila|braun|schwarz|weiß|grau)(?:e[rnms]?|ish)?\b"
)
_ASKED = (
    (
        Kind.COLOUR,
        _pattern(r"\b(?:what|which)\b[^?]{0,30}\bcolou?rs?\b", r"\bcolou?rs?\s+of\b", r"\bwelche\w*\s+farben?\b"),
    ),
    (Kind.EMAIL, _contact("e-?mail")),
    (Kind.PHONE, _contact("(?:(?:tele)?phone|fax|tel|hotline)")),
    (Kind.WEBSITE, _contact("(?:web\\s?site|web address|url|home\\s?page)")),
    (Kind.ADDRESS, _pattern(r"\baddress\b")),
    (Kind.TITLE, _pattern(r"\b(?:title|heading|caption|topic|headline)\b")),
    (
        Kind.NUMBER,
        _pattern(
            r"\bhow (?:many|much|long|old|large|big|far|high|often|fast)\b",
            r"\b(?:number|percent(?:age)?|amount|ratio|rate|total|average|population|price|cost|share|size|margin|score"
            r"|accuracy|value) (?:of|is|was|did|do|does|for|in)\b",
            r"\bwhat (?:percent|score|number|amount)",
            r"\bwhat (?:is|are|was|were) (?:[^\s?]+ ){1,4}?"
            r"(?:premium|fee|salary|wage|rent|deductible|budget|weight|height|length|width|depth|area|distance|duration"
            r"|temperature|speed|capacity)(?=\W*$| (?:of|for|in|per|at|on|during)\b)",
        ),
    ),
    (
        Kind.DATE,
        _pattern(
            r"^\W*+(?:and\s++)?(?:since|until|till|by|from)?\s*when\b(?! using)",
            r"\b(?:what|which) (?:year|date|day|month|time)\b",
            r"\bdate of\b",
        ),
    ),
    (
        Kind.NAME,
        _pattern(
            r"\bwho(?:m|se)?\b",
            r"\bnames? of\b",
            r"\b(?:which|what) (?:company|person|bank|firm|auditor|court|judge|director)",
        ),
    ),
    (Kind.PLACE, _pattern(r"\bwhere\b", r"\b(?:which|what) (?:country|city|state)\b")),
)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATE_IN_FIGURES = r"(?<![\d./-])\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b(?![./-]\d)"
_DATE = _pattern(
    r"\b(?:1[5-9]|20)\d\d\b",
    _DATE_IN_FIGURES,
    rf"\b{_MONTH}\.?\s+\d{{1,2}}\b",
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH}\b",
)
_TIME = _pattern(
    _DATE.pattern,
    r"\b\d{1,2}(?:st|nd|rd|th)\s+day\b",
    r"\b(?-i:January|February|March|April|June|July|August|September|October|November|December|Januar|Februar|März|Juni|Juli"
    r"|Oktober|Dezember)\b",
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\b(?:mon|diens|donners|frei|sams|sonn)tag\b|\bmittwoch\b",
    r"\b\d{1,2}:\d\d\b|\b\d{1,2}\s?[ap]\.?m\b|\b\d{1,2}\s?uhr\b|\bnoon\b|\bmidnight\b",
    r"\b(?:daily|weekly|monthly|quarterly|annually|yearly|(?:täg|wöchent|monat|vierteljähr|jähr)lich)\b",
    r"\b(?:within|after|before|every|each|later than|innerhalb|nach|vor|jede\w?)\b[^.;]{0,30}"
    r"\b(?:hour|day|week|month|quarter|year|stunde|tag|woche|monat|quartal|jahr)\w{0,2}\b",
)
"""Dates, days that recur, times of day and periods that run from another date."""
_OF_PAST = _pattern(r"\bwhen\s+(?:was|were|did)\b", r"\b(?:what|which)\s+year\b", r"\bwann\s+(?:wurde|war)\w*\b")
"""Questions for a date and nothing else."""
_HELD = {
    Kind.EMAIL: re.compile(r"(?<![\w.+-])[\w.+-]+\s?@\s?[\w-]+\.[\w.-]+"),
    Kind.PHONE: re.compile(  # of at least six digits: a year is none
        r"(?<![\d$€£.,])(?=(?:[\s+()./–-]{0,3}\d){6})(?:\+?\(?\d{1,4}\)?[\s./–-]{0,2}){1,5}\d{2,4}\b(?![.,]\d)"
    ),
    Kind.COLOUR: _COLOUR,
    Kind.WEBSITE: re.compile(r"\bhttps?://|\bwww\.|(?<![\w-])[\w-]+\.(?:com|org|net|gov|edu|io|eu|de|fr|uk)\b"),
    Kind.ADDRESS: re.compile(
        r"\A(?:(?>.*?\b\d{1,5}\b).*?\b[A-Z]\w|(?>.*?\b[A-Z]\w+).*?\b\d{4,5}\b|.*?\b[A-Z]{1,2}\d\w? ?\d[A-Z]{2}\b)",
        re.DOTALL,
    ),
    Kind.DATE: _DATE,
    Kind.PLACE: re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w’'-]+"),
}
_COMMENTS = _pattern(
    r"\b(?:comment(?:s|ed|ers?)?|annotations?|sticky\s+notes?|kommentar\w*|anmerkung(?:en)?|randnotiz(?:en)?)\b"
)
_YEAR = re.compile(r"(?<![\d.,$€£])(?:19|20)\d\d(?![\d,%]|\.\d)")
_TOKEN = re.compile(r"[^\W_]+(?:[-'’.&][^\W_]+)*")
_DOTTED = re.compile(r"(?:[^\W\d_]\.\s?){2,}[^\W\d_]?")
_ASIDE = re.compile(r"\([^()]*\)")
_PATTERN_OF_DATE = re.compile(r"[YMDH]+(?:[-/.:][YMDHS]+)+")
_COUNT = re.compile(r"\d+(?:st|nd|rd|th)|(?:top|p)-?\d+", re.IGNORECASE)
_CURRENCIES = term_weights.word_set("usd eur gbp chf jpy inr cny cad aud hkd us rupee rupees dollar dollars euro euros")
_ABOUT_ANSWERS = term_weights.word_set(
    "email e-mail page pages seite seiten fax json yes no autor autoren autorin verfasser verfasserin"
)


@dataclass(frozen=True)
class ParsedQuestion:
    """A parsed question.

    `kind` is that of its answer, `years` and `names` what an answer must be about, `pages` their labels ("#2": the
    second page of the file), `words` its content words, `phrases` synonymous phrases, and `also` their words.
    `numbered` are the things that it names by a number: "item 7".
    """

    text: str
    kind: Kind
    years: frozenset[str]
    names: tuple[str, ...]
    pages: frozenset[str]
    words: tuple[str, ...]
    also: tuple[tuple[str, ...], ...] = ()
    phrases: tuple[str, ...] = ()
    numbered: tuple[NumberedName, ...] = ()

    def holds_kind(self, text: str) -> bool:
        """Return whether `text` holds something of the requested kind that the question does not."""
        match self.kind:
            case Kind.NUMBER:
                return _gives_quantity(self.text, text)
            case Kind.NAME:
                return has_new_name(text, self.text)
            case Kind.PLACE | Kind.DATE:
                text = _ASIDE.sub(" ", text)  # under a field of a form it is said in brackets what is to be put there
                asked, is_date = self.text.casefold(), self.kind is Kind.DATE
                held = _TIME if is_date and not _OF_PAST.search(self.text) else _HELD[self.kind]
                return any(
                    found.casefold() not in asked and (is_date or not is_term(found)) for found in held.findall(text)
                )
            case Kind.TEXT | Kind.TITLE:
                return True
            case Kind.PHONE:
                found = _HELD[Kind.PHONE].findall(re.sub(_DATE_IN_FIGURES, " ", text))
                return any(sum(map(str.isdigit, number)) >= PHONE_DIGITS for number in found)
            case _:
                return _HELD[self.kind].search(text) is not None

    def missing(self, text: str) -> tuple[str, ...]:
        """Return the question's years and names that do not occur in `text`, even misspelt."""
        folded = _folded(text)
        years = [year for year in sorted(self.years) if year not in folded]
        absent = [name for name in self.names if not _stands_in(_folded(name), folded)]
        known = {token for token in _TOKEN.findall(folded) if len(token) > 3} if absent else set()
        known |= {re.sub(r"\W", "", match) for match in _DOTTED.findall(folded)} if absent else set()
        return (*years, *(name for name in absent if not _is_misspelt(_folded(name), known)))

    def share_named(self, text: str) -> float:
        """Return the share of the question's years and names in `text`; 1 if it has none."""
        asked = len(self.years) + len(self.names)
        return 1.0 - len(self.missing(text)) / asked if asked else 1.0


def parse_question(question: str, rewritings: Iterable[types.Rewriting] = ()) -> ParsedQuestion:
    """Parse `question` with its `rewritings` from the vocabulary."""
    text = spell_out_periods(question)
    rewritings = tuple(rewritings)
    phrases = [phrase for one in rewritings if one.kind not in ("period", "landmark") for phrase in one.added]
    known = {token for one in rewritings if one.kind != "landmark" for token in _TOKEN.findall(_folded(one.found))}
    pages = frozenset(
        reference.label
        for reference in references(question)
        if reference.kind in ("page", "slide") and not reference.label.startswith("-")  # from the end
    )
    return ParsedQuestion(
        text=text,
        kind=next((kind for kind, pattern in _ASKED if pattern.search(question)), Kind.TEXT),
        years=years_of(text),
        names=tuple(dict.fromkeys(name for name in _names(question) if _folded(name) not in known | pages)),
        pages=pages,
        words=tuple(term_weights.content_words(text)),
        also=tuple(dict.fromkeys(tuple(term_weights.content_words(phrase)) for phrase in phrases)),
        phrases=tuple(dict.fromkeys(phrases)),
        numbered=tuple(find_numbered_names(question)),
    )


def in_words_of(texts: Iterable[str], question: str, rewritings: Iterable[types.Rewriting]) -> str:
    """Return `question` in the words of the `texts`: what none of them says is put as most of them say it.

    Only the vocabulary's `rewritings` are used, so that what widens a search also chooses among what was found; a
    computed figure is not put as one of its line items.
    """
    spoken = [f" {' '.join(term_weights.words(text))} " for text in texts]
    for one in rewritings:
        if one.kind not in ("synonym", "abbreviation") or one.trade is None or one.found not in question:
            continue
        counts = {phrase: _occurrences(phrase, spoken) for phrase in (one.found, *one.added)}
        most_used = max(one.added, key=lambda phrase: counts[phrase])
        if any(trade.formula(one.found) != trade.formula(most_used) for trade in definitions()):
            continue
        if not counts[one.found] and counts[most_used]:
            question = question.replace(one.found, most_used, 1)
    return question


def _occurrences(phrase: str, texts: Iterable[str]) -> int:
    sought = f" {' '.join(term_weights.words(phrase))} "
    return sum(text.count(sought) for text in texts)


def asks_for_comments(question: str) -> bool:
    """Return whether `question` asks for what somebody wrote beside the text."""
    return _COMMENTS.search(question) is not None


def years_of(text: str) -> frozenset[str]:
    """Return the years that `text` names."""
    return frozenset(_YEAR.findall(text))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", types.without_raised_marks(text)).casefold().replace("’", "'")


def _names(question: str) -> list[str]:
    """Return codes ("X-25", "GPT-4o"), words with unusual capitals, and colours, which few words stand for."""
    if question.upper() == question:
        return []
    colours = [match.group() for match in _COLOUR.finditer(question)]
    asides = _ASIDE.findall(question)  # how a word is abbreviated, in which unit to answer
    own = {word for aside in asides for word in _TOKEN.findall(aside)}
    question = _ASIDE.sub("", question)
    words = []
    for match in _TOKEN.finditer(question):
        token = re.sub(r"['’]s$", "", match.group())
        has_digit, letters = any(map(str.isdigit, token)), [c for c in token if c.isalpha()]
        is_code = has_digit and (bool(letters) or "-" in token)
        before = question[: match.start()].rstrip()
        begins_sentence = not before or before[-1] in ".?!:\"“(['"
        is_name = not has_digit and sum(map(str.isupper, letters)) > int(begins_sentence)  # its capital is no sign
        if (is_code or is_name) and token not in own and not _is_about_answers(token):
            words.append(token)
    return words + colours


def _is_about_answers(token: str) -> bool:
    """Return whether a word only says how to answer: a currency, a date format, "2nd", "top-3"."""
    return (
        token.casefold() in _CURRENCIES | _ABOUT_ANSWERS
        or _PATTERN_OF_DATE.fullmatch(token) is not None
        or _COUNT.fullmatch(token) is not None
        or _YEAR.search(token) is not None
        or term_weights.is_stop_word(token)
    )


def _stands_in(name: str, text: str) -> bool:
    """Return whether `name` occurs in `text`, however its parts are joined; short letters as a word of their own."""
    letters = re.sub(r"[\W_]+", "", name)
    if len(letters) > SHORT_NAME or any(map(str.isdigit, letters)):
        return letters in re.sub(r"[\W_]+", "", text)
    spaced = r"[\W_]{0,2}".join(letters)
    return re.search(rf"(?<![^\W\d_]){spaced}s?(?![^\W\d_])", text) is not None


def _is_misspelt(name: str, known: set[str]) -> bool:
    """Return whether one of the `known` words is meant; those with other figures name something else."""
    known = {word for word in known if re.findall(r"\d+", word) == re.findall(r"\d+", name)}
    return len(name) > 3 and process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=MIN_LIKENESS) is not None


# --- quantities ----------------------------------------------------------------------------------------------------

REACH = 4
"""Maximum number of words from a number in words to what it counts; "one" and "two" stand in many other places."""

_COUNTED = re.compile(r"\b(?:how\s+many|wie\s*viele)\s+(?P<things>[^?]*)", re.IGNORECASE)
_LASTS = re.compile(r"\b(?:how\s+long|wie\s+lange)\b", re.IGNORECASE)
_HOW_OFTEN = re.compile(r"\b(?:how\s+(?:often|frequently)|wie\s+(?:oft|häufig))\b", re.IGNORECASE)
_TIMES = re.compile(r"(?:times|mal)\b", re.IGNORECASE)
_MULTIPLE = re.compile(
    r"\b(?:once|twice|thrice|(?:double|triple)[sd]?|einmal|zweimal|doppelt)\b|\w-?fold\b|\wfach\b|\b(?:times|mal)\b"
    r"|\d\s?[x×](?!\w)",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"\b(?:(?:milli|micro)?seconds?|minutes?|hours?|days?|weeks?|months?|quarters?|years?|decades?|centur(?:y|ies)|ms|min"
    r"|sekunden?|minuten?|stunden?|tage?n?|wochen?|monate?n?|jahre?n?|quartale?n?|since|until|from|perpetual|indefinite"
    r"|bis|seit|unbefristet)\b|\d\s?[shd]\b",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"\d\s?(?:[mckµn]?m|ft|in|mi|yd|pages?|words?|inch(?:es)?|feet|foot|miles?|(?:kilo)?met(?:er|re)s?|seiten)\b", re.I
)
_FREQUENCY = re.compile(
    r"\b(?:(?:bi|semi)?-?(?:hourly|daily|nightly|weekly|monthly|quarterly|annual(?:ly)?|yearly)|every|each|per|regularly"
    r"|periodically|times|once|twice|never|always|jede[rsn]?|(?:stünd|täg|wöchent|monat|vierteljähr|halbjähr|jähr)lich"
    r"|einmal|zweimal|mal)\b",
    re.IGNORECASE,
)
_OF_UNITS = re.compile(
    r"(?:\w+\s+)?(?:percent|per\s*cent|percentage|basis|%|prozent|us|u\.s\.|dollars?|euros?|pounds?|yen|rupees?|francs?|cents?)\b",
    re.IGNORECASE,
)
"""Shares and amounts, which are not counts: "how many percent", "how many million dollars"."""
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SPELLED = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty"
    r"|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|half|third|both|pair|zero"
    r"|thousand|million|billion|dozen|once|none|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)\b",
    re.IGNORECASE,
)


def _gives_quantity(question: str, text: str) -> bool:
    """Return whether `text` gives a quantity of the kind that `question` asks for, other than its own figures."""
    counted = _COUNTED.search(question)
    if counted and not _OF_UNITS.match(counted["things"]):
        things = counted["things"]
        if _TIMES.match(things):
            return _MULTIPLE.search(text) is not None or any(number.unit == TIMES for number in find_numbers(text))
        return _gives_count(question, things, text)
    if _LASTS.search(question):
        return _DURATION.search(text) is not None or _LENGTH.search(text) is not None
    if _HOW_OFTEN.search(question):
        return _FREQUENCY.search(text) is not None
    return bool({*_NUMBER.findall(text)} - {*_NUMBER.findall(question)}) or _SPELLED.search(text) is not None


def _gives_count(question: str, things: str, text: str) -> bool:
    """Return whether a figure is no money, share or year, or a number in words stands before what is counted.

    The currency of one cell is that of its row, which is shown as "label – column: cell; …".
    """
    figures, known = find_numbers(text), {*_NUMBER.findall(question)}
    is_row_of_money = " – " in text and bool(currencies(text))
    bare = [one for one in figures if not (one.is_share or one.is_money or one.year) and one.text not in known]
    counted = _counted(things)
    return bool(bare and not is_row_of_money) or any(
        not counted or counted & {*term_weights.words(text[match.end() :])[:REACH]} for match in _SPELLED.finditer(text)
    )


def _counted(things: str) -> frozenset[str]:
    """Return the words after "how many" up to the verb: those that name what is counted."""
    keys = list[str]()
    for word in things.split():
        if term_weights.is_stop_word(word):
            break
        keys += term_weights.words(word)
    return frozenset(keys)


# --- pages ---------------------------------------------------------------------------------------------------------

LABELLED = N_("Page {label} was read by its printed number; it is page {page} of {count} in the file.")
NUMBERED = N_("Page {page} of {count} in the file was read; its printed number is {label}.")


def page_note(question: str, response: types.AnswerResponse) -> str | None:
    """Return which of the pages that `question` names the answer cites, if its label and number differ."""
    named = {reference.label for reference in references(question) if reference.kind == "page"}
    for citation, hit in response.cited if named else ():
        page = citation.lines_in(hit)[0].page_number
        label = hit.page_labels.get(page)
        if label is not None and label.lower() in named:
            return LABELLED.format(label=label, page=page, count=hit.page_count)
        if label is not None and str(page) in named:
            return NUMBERED.format(label=label, page=page, count=hit.page_count)
    return None
