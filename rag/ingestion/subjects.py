"""Learn who or what a document is about: its names, its kind and the period that it reports on.

No model is needed: names stand in the file's name, in the title and on the first pages, and those that the document is
about occur again and again in its text. The owner can correct what was learned (`types.DocumentEdit.subject`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath

from rag import types, vocabulary
from rag.vocabulary import find_periods, spell_out_periods

FRONT_PAGES = 3
"""Number of first pages where the names of organisations are looked for."""

MAX_NAMES = 8
"""Maximum number of names of a document, short forms included."""

MAX_NAME_WORDS = 8
"""A longer title is no name."""

MIN_MENTIONS = 3
"""Number of times that a name stands in the text of a document that is about it."""

MIN_REPEATED = 10
"""The same for a word of the first page that neither the title nor the file's name has."""

MENTIONED_SHARE = 0.4
"""Minimum number of mentions of an organisation, as a share of the one that is mentioned most. The parties of a
contract are mentioned about equally often, the auditor and the stock exchange of a report much less."""

MAX_HEADING_WORDS = 5
"""Maximum length of a first line that says what a document without a title is about."""

MIN_SHORT_CHARS = 4
"""Minimum length of a first word that stands for the whole name."""

_GENERIC_WORDS = (
    "the a an of and for in on to by from with at inc corp corporation company co ltd limited plc llc llp lp gmbh ag "
    "sa se nv bv kg ab oy group holding holdings form annual quarterly current report reports filing filed fy cy year "
    "quarter ended results earnings press release statement statements financial final draft version copy signed "
    "dated document documents doc docx pdf file page pages paper article manual presentation slides contract "
    "agreement lease policy letter minutes notes memo january february march april may june july august september "
    "october november december appendix exhibit ex proxy user users owner owners user's owner's guide guidebook "
    "handbook instruction instructions quick start use care operating operation operator maintenance service "
    "installation reference safety getting started edition revision rev vol volume no number scan scanned new "
    "geschäftsbericht jahresabschluss bericht handbuch bedienungsanleitung vertrag mietvertrag rechnung "
    "et al abstract introduction contents part section chapter item table figure act gesetz "
)
GENERIC = frozenset(_GENERIC_WORDS.split())
"""Words that distinguish no document."""

_LEGAL_FORM = (
    r"(?=[A-Z])(?i:Incorporated|Inc|Corporation|Corp|Limited|Ltd|PLC|L\.?L\.?C|L\.?L\.?P|L\.?P|N\.?V|B\.?V|S\.?A|S\.?E|AG"
    r"|GmbH|KGaA|KG|Oyj?|ASA|AB|A/S|S\.?p\.?A|Pty|Bhd|Company|Co|Group|Holdings?)\b\.?"
)
_WEAK_FORM = re.compile(r"(?:Company|Group|Holdings?)", re.IGNORECASE)
"""Also stand behind what is no name: "Smaller Reporting Company"."""
_CAPITAL = r"[A-ZÄÖÜÉ0-9][\w&’'.-]*+"
_ORGANISATION = re.compile(
    rf"(?<![\w&’'.-])(?P<short>(?:The\s+)?{_CAPITAL}(?:(?:\s+(?:&|and|of|de|und)\s+|\s+){_CAPITAL}){{0,5}}?),?\s+"
    rf"(?P<form>{_LEGAL_FORM}(?:,?\s+{_LEGAL_FORM})*)(?![\w’'-])"
)
_ROLE = r"(?:Representative\s+)?(?:Plaintiff|Defendant|Petitioner|Respondent|Appellant|Appellee)s?"
_CASE = re.compile(
    rf"(?<![\w&’'.-])(?P<first>{_CAPITAL}(?:\s+{_CAPITAL}){{0,4}}?)(?:,?\s+{_ROLE})?,?\s+(?:v\.|vs\.?)\s+"
    rf"(?P<second>{_CAPITAL}(?:\s+{_CAPITAL}){{0,4}}?)(?=,|\.|\s+{_ROLE}|\s+[a-z(]|\s*$)"
)
_PERSON = re.compile(
    r"[A-ZÄÖÜÉ][a-zà-ÿ'’-]+(?:\s+[A-ZÄÖÜ]\.?|\s+[A-ZÄÖÜÉ][a-zà-ÿ'’-]+){0,2}\s+(?P<surname>[A-ZÄÖÜÉ][a-zà-ÿ'’-]+)"
    r"(?=\W*(?:[\d¹²³⁴⁵⁶⁷⁸⁹,*†‡§♦?∗]|\s{2,}|$|and\b|[A-Z]))"
)
"""The name of a person at the start of a line of authors, before its marks."""
MAX_CASE_CHARS = 1500
"""Length of the beginning of a document where the name of its case stands; later ones are cited."""
_COINED = re.compile(r"(?<![\w-])(?:[A-Z]{3,}[a-z]?|[A-Z]+[a-z]+[A-Z]\w*|[A-Za-z]+-?\d+\w*)(?![\w-])")
"""Acronyms, words with capitals inside and words with digits: "RAPTOR", "GraphRAG", "GPT-4"."""
_HEAD = re.compile(r"^(?P<head>[^:–—]{2,60})(?:\s*:\s+|\s+[–—-]\s+)\S")
_WORD = re.compile(r"[^\W_]+(?:[&'’-][^\W_]+)*")
_LONG_WORD = re.compile(r"[^\W\d_]{3,}(?:[&'’-][^\W_]+)*")
_FILE_WORD = re.compile(r"[^\W\d_]+(?:&[^\W\d_]+)*")
_ENDED = re.compile(
    r"\b(?:year|period|quarter|months|weeks)s?\s+end(?:ed|ing)\b|\bfiscal\s+year\b|\bGeschäftsjahr\b|\bas\s+of\b",
    re.IGNORECASE,
)
ARCHIVE_NUMBER = re.compile(r"\d{4}\.\d{4,5}(?:v\d+)?|\d{5,}")
"""Numbers of archives, which begin like years: "2005.11401"."""
_AFTER_ENDED = 60
"""Maximum distance of a period from the words that introduce it, in characters."""


def learn_subject(name: str, title: str | None, lines: Sequence[types.Line]) -> types.Subject:
    """Return what a document is about, as far as its file name, its title and its `lines` tell."""
    front = [line.text for line in lines if line.page_number <= FRONT_PAGES]
    first_page = [line.text for line in lines if line.page_number == 1]
    text = "\n".join(line.text for line in lines)
    kind = vocabulary.marked_kind(" ".join([re.sub(r"[_-]", " ", name), title or "", *front]))
    organisations = [*_organisations(front, lines, text)]
    names = [*organisations, *_from_title(title, text), *_from_file_name(name, text), *_parties(first_page)]
    if not organisations:
        names += _most_repeated(front, text)
    if not word_forms(title or "") and (kind == "manual" or not names):
        names += _first_heading(first_page)
    if kind == "paper":
        names += _first_author(first_page, title or "")
    distinct: dict[str, str] = {}
    for one in names:
        forms = word_forms(one)
        is_ordinary = len(forms) == 1 and one not in organisations and _is_ordinary_word(forms[0], text)
        if forms and not is_ordinary:
            distinct.setdefault("".join(forms), " ".join(one.split()))
    return types.Subject(
        names=tuple(distinct.values())[:MAX_NAMES], kind=kind, period=_period(name, title, "\n".join(front))
    )


def word_forms(name: str) -> tuple[str, ...]:
    """Return the words of a name that distinguish it, in lower case and without legal forms."""
    words = (word.lower() for word in _WORD.findall(name))
    return tuple(word for word in words if word not in GENERIC and not re.fullmatch(r"\d|(?:19|20)\d\d", word))


def _from_title(title: str | None, text: str) -> Iterator[str]:
    """Yield the title, what stands before its colon, and its coined words that the text repeats."""
    if not title:
        return
    if head := _HEAD.match(title):
        yield head["head"].strip()
    if len(title.split()) <= MAX_NAME_WORDS:
        yield title
    for match in _COINED.finditer("" if title.isupper() else title):
        if _mentions(match[0], text) >= MIN_MENTIONS:
            yield match[0]


def _organisations(front: Iterable[str], lines: Iterable[types.Line], text: str) -> Iterator[str]:
    """Yield the organisations that the document is about, with their short forms: "Strand Corporation", "Strand".

    It is about those that its pages name again and again.
    """
    full: dict[str, tuple[str, str]] = {}
    for line in front:
        for match in _ORGANISATION.finditer(line):
            short = re.sub(r"^The\s+", "", match["short"], flags=re.IGNORECASE).strip(" ,.")
            words = word_forms(short)
            is_weak = _WEAK_FORM.fullmatch(match["form"]) is not None
            if words and not (is_weak and all(_is_ordinary_word(word, text) for word in words)):
                full.setdefault(short.casefold(), (match[0].strip(" ,"), short))
    pages: dict[int, list[str]] = {}
    for each in lines:
        pages.setdefault(each.page_number, []).append(each.text)
    of_page = ["\n".join(page) for page in pages.values()]
    counts = Counter({key: sum(bool(_mentions(key, page)) for page in of_page) for key in full})
    least = max(MIN_MENTIONS if len(of_page) > MIN_MENTIONS else 1, MENTIONED_SHARE * max(counts.values(), default=0))
    for key, count in counts.most_common():
        if count < least:
            break
        name, short = full[key]
        yield name
        yield short
        first = short.split()[0].strip(",.")
        if len(first) >= MIN_SHORT_CHARS and first != short and not _is_ordinary_word(first, text):
            yield first


def _from_file_name(name: str, text: str) -> Iterator[str]:
    """Yield the words of the file's name that the text repeats, neighbours joined."""
    words = [word for word in _FILE_WORD.findall(PurePath(name).stem) if word.lower() not in GENERIC and len(word) > 1]
    told = [word for word in words if _mentions(word, text) >= MIN_MENTIONS]
    if told and len(told) == len(words) <= 4:
        yield " ".join(told)
    yield from (word for word in told if not _is_ordinary_word(word, text))


def _parties(first_page: Iterable[str]) -> Iterator[str]:
    """Yield the name of a case and its parties: "Roe v. Wade"."""
    if case := _CASE.search(" ".join(first_page)[:MAX_CASE_CHARS]):
        sides = [side.strip(" ,.") for side in case.groups()]
        yield " v. ".join(sides)
        yield from sides


def _first_heading(first_page: Iterable[str]) -> Iterator[str]:
    """Yield the first line that is short and tells something: "Coffee machine" below "User Manual"."""
    yield from next(
        (
            (line,)
            for line in first_page
            if any(map(_LONG_WORD.fullmatch, word_forms(line))) and len(line.split()) <= MAX_HEADING_WORDS
        ),
        (),
    )


def _first_author(first_page: Iterable[str], title: str) -> Iterator[str]:
    """Yield how a paper is cited, by the first name between its title and its abstract: "Lewis et al."."""
    beginning = re.split(
        r"\n[^\S\n]{0,9}Abstract\b", "\n".join(first_page)[:MAX_CASE_CHARS], maxsplit=1, flags=re.IGNORECASE
    )[0]
    for line in beginning.splitlines():
        if line.strip() and line.strip().casefold() not in title.casefold() and (author := _PERSON.match(line.strip())):
            yield f"{author['surname']} et al."
            return


def _most_repeated(front: Iterable[str], text: str) -> Iterator[str]:
    """Yield the coined word of the first pages that the text repeats most: a method, a product, a brand."""
    words = {match[0] for line in front if not line.isupper() for match in _COINED.finditer(line)}
    words = {word for word in words if word.lower() not in GENERIC and not word.isdigit()}
    counts = Counter({word: len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)) for word in words})
    yield from (word for word, count in counts.most_common(1) if count >= MIN_REPEATED)


def _mentions(name: str, text: str) -> int:
    """Return how often a name stands in a text; words may be joined or parted by any white space."""
    pattern = r"\s*".join(map(re.escape, name.split()))
    return len(re.findall(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE))


def _is_ordinary_word(word: str, text: str) -> bool:
    """Return whether the text also has the word in lower case, as no name is written."""
    return re.search(rf"(?<![\w./@]){re.escape(word.lower())}(?![\w@]|\.\w)", text) is not None


def _period(name: str, title: str | None, front: str) -> str | None:
    """Return the period in the file's name or title, else the one that the first pages say the report is for."""
    for text in (ARCHIVE_NUMBER.sub("", PurePath(name).stem).replace("_", " "), title or ""):
        if periods := _periods(text):
            return periods[0]
    for match in _ENDED.finditer(front):
        near = front[match.end() : match.end() + _AFTER_ENDED]
        if periods := _periods(near):
            return periods[0]
    return None


def _periods(text: str) -> list[str]:
    spelled = spell_out_periods(re.sub(r"((?:19|20)\d\d)[ -]?(?=[QH][1-4]\b)", r"\1 ", text))
    return [spelled[slice(*span)] for span in find_periods(spelled)]
