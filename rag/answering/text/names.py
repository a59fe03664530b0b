"""Recognise names: of persons and organisations, and numbered ones ("item 7", "Station 9")."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rag import types
from rag.answering.text.term_weights import is_stop_word, word_set

_CAPITAL = r"(?:(?:[A-Z]\.){2,}|[^\W\d_a-zß-öø-ÿ][\w’'-]*\.?)"
_RUN = re.compile(rf"(?<![\w’'-]){_CAPITAL}(?:(?:\s*&\s*|,?\s+){_CAPITAL})*")
"""Capitalised words and what joins them in a firm's name: "Strand & Sons, Inc."."""
_WORD = re.compile(r"(?:[A-Z]\.){2,}|[^\W\d_][\w’'-]*\.?")
_QUOTED = re.compile(r"[“\"][^”\"]*[”\"]")
"""Defined terms and quoted titles."""
_SIGNED = re.compile(r"/s/\s*(?=[^\W\d_])", re.IGNORECASE)
MAX_GAP = 100
"""White space after which a sentence may begin."""
_BEGINNING = re.compile(r"(?:^|[.!?:;•·●▪]|\s[–—-])\s*$|(?<!\s)[^\S\t]*\t\s*$")
_SIGN = re.compile(
    r"[A-ZÄÖÜ]\.|(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame|Lord|Judge|Justice|Senator|Herr|Frau)\.?"
    r"|(?:LLP|LLC|LP|PLLC|Inc|Corp|Ltd|Limited|plc|PLC|GmbH|AG|SE|KG|SA|NV|BV|AB|Oy|Pty|Brothers|Sons)\.?"
)
"""Initials, titles and legal forms, which only names have."""
_TERMS = word_set(
    # offices, bodies and parties, what documents speak of, rules and those that make them, days
    "company corporation group registrant firm bank board director directors shareholder shareholders stockholder "
    "stockholders committee audit auditor auditors auditing accountant accountants accounting chief executive "
    "financial operating officer officers president vice chairman chairwoman chair chairperson secretary treasurer "
    "controller general counsel principal independent registered public oversight senior management member members "
    "trustee trustees partner partners employee employees manager managing head founder lead human resources legal "
    "corporate affairs commission congress securities exchange trade department court courts government treasury "
    "internal revenue service conduct annual quarterly meeting opinions control controls critical matter matters "
    "basis ethics party parties fee fees services date name title position age signature signatures shares stock "
    "common units consolidated balance sheet sheets income operations equity earnings cash flow flows governance "
    "compensation definitive sec pcaob fasb aicpa iasb gaap ifrs irs nyse nasdaq coso treadway sponsoring "
    "organizations sarbanes-oxley dodd-frank ceo cfo coo cto cio evp svp vp january february march april may june "
    "july august september october november december monday tuesday wednesday thursday friday saturday sunday "
    "fiscal year participant participants beneficiary beneficiaries administrator borrower lender lenders seller "
    "buyer purchaser tenant landlord licensor licensee "
)
"""Capitalised words that name nobody."""
_PLACES = word_set("us u.s usa uk u.k eu united states america american europe european north south new york")


_WRITINGS = word_set(
    "form item part note notes section article chapter schedule exhibit appendix annex table page index report "
    "reports statement statements agreement act code codes rule rules regulation standard standards topic update "
    "framework plan plans policy policies opinion certificate certification certifications indenture bylaws proxy "
)
"""Kinds and parts of documents: capitals that end with one are a title ("Definitive Proxy Statement")."""


def has_new_name(text: str, question: str, hit: types.Hit | None = None) -> bool:
    """Return whether `text` names somebody whom `question` does not name.

    Offices, chapter titles and the document's own subject do not count, nor words that `hit` also has in lower case.
    """
    known = {*map(_plain, _WORD.findall(question))}
    whose = "".join(filter(str.isalpha, f"{hit.document_name} {hit.title or ''}".casefold())) if hit else ""
    small = {_plain(word) for word in _WORD.findall(hit.passage.text) if word.islower()} if hit else set()

    def tells(word: str) -> bool:
        """Return whether the word distinguishes one name from others."""
        plain = _plain(word)
        if len(plain) < 2 or "." in plain or _SIGN.fullmatch(word) or is_stop_word(plain) or plain in whose:
            return False
        return not any(plain in words for words in (_TERMS, _WRITINGS, _PLACES, small, known))

    bare = _QUOTED.sub(" ", text)
    needs_sign = is_heading(bare) and not _SIGNED.search(text)
    for run in _RUN.finditer(bare):
        words = _WORD.findall(run[0])
        has_sign = any(_SIGN.fullmatch(word) for word in words)
        if _plain(words[-1]) in _WRITINGS and not has_sign:
            continue
        begins = (
            _BEGINNING.search(bare, max(run.start() - MAX_GAP, 0), run.start()) is not None
            and not has_sign
            and words[0][1:].islower()
        )
        is_told = any(map(tells, words[1:] if begins else words))
        if is_told and (has_sign or not needs_sign or _has_office(run[0], tells)):
            return True
    return False


def is_term(word: str) -> bool:
    """Return whether a capitalised word is an office, a party or a kind of document, and no name."""
    return _plain(word) in _TERMS | _WRITINGS


def _has_office(run: str, tells: Callable[[str], bool]) -> bool:
    """Return whether the run is a name of several words and, after a comma, its bearer's office."""
    name, _, office = run.partition(",")
    parts, title = _WORD.findall(name), _WORD.findall(office)
    return len(parts) > 1 and all(map(tells, parts)) and bool(title) and not tells(title[0])


def is_heading(text: str) -> bool:
    """Return whether all content words are capitalised, as in headings and signatures."""
    words = [word for word in _WORD.findall(text) if not is_stop_word(word)]
    return all(word[0].isupper() for word in words)


def _plain(word: str) -> str:
    return word.casefold().replace("’", "'").removesuffix("'s").rstrip(".'")


_LABEL = r"(?:\d{1,4}(?:[./-]\d{1,3})*[a-z]?|(?-i:[IVXLC]{1,6}|[A-Z](?:[.-]?\d{1,3})?))"
_NUMBER_SIGN = r"(?:(?:no|nr)\b\.?\s*|numbers?\s+|nummer\s+|[#№]\s*)?"
_NAMED = re.compile(
    rf"(?<![\w'’&-])(?P<word>[^\W\d_]{{2,}})\s+{_NUMBER_SIGN}(?P<label>{_LABEL})"
    r"(?![\w%€$£+]|[.,:/]\d|-\w|\s*(?:%|per\s?cent\b|prozent\b))(?P<end>\s*(?:$|[?!.,;:)”\"]|['’]s?\b)?)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/]\d{1,3})?")

_RANGE = re.compile(r"(\d+)-(\d+)")
"""Names several things, "port 0-3", unless other labels are of this form, too: "Figure 4-7"."""

_COUNTING = word_set(
    "about above after all almost any approximately around at before below between beyond bis circa during each every "
    "exceed exceeds fewer first fiscal for last least less max maximum mehr min minimum more most nearly next of only "
    "over page pages past per plus roughly seite seiten since slide slides some than to top total under until up vor "
    "nach within year years jahr jahre january february march april may june july august september october november "
    "december januar februar märz mai juni juli oktober dezember usd eur gbp chf euro euros dollar dollars als auf aus "
    "bei beside besides durch höchstens im mindestens mit neben oder ohne seit um und unter using von vor wurde wurden "
    "zu zwischen über"
)
"""Words before a quantity, a date or a page."""
_AUXILIARIES = word_set(
    "can could do does did may might must shall should will would is are was were has have had am let kann können muss "
    "müssen soll sollen darf wird werden ist sind war waren hat haben"
)
_ARTICLES = word_set("the der die das")
_LINKS = word_set(
    "a about according against among and as at between by compare contains covers der des die das dem den describe for "
    "from give im in includes into laut mit of on or say says show since states sum the through to und under unter "
    "using von what which who wie with within zu zum zur über"
)
"""Words before a noun; after others a number may be a quantity: "sold 500"."""
_AFTER = re.compile(
    r"\s+(?:about|according|am|and|as|at|auf|aus|bei|between|by|compared|during|for|from|für|gegenüber|im|in|mean|means|"
    r"mit|of|on|or|over|say|says|since|state|states|than|to|und|oder|under|until|versus|vs|von|with|within|zu|zum|über|"
    r"is|are|was|were|has|have|had|can|may|shall|will|must|do|does|did)\b",
    re.IGNORECASE,
)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}


class NumberedName(NamedTuple):
    """A word and the label of one of the things that it names. It is `sure` unless the number may be a quantity."""

    word: str
    label: str
    is_sure: bool = True

    @property
    def text(self) -> str:
        """The name as it is written."""
        return f"{self.word} {self.label}"

    def stands_in(self, text: str) -> bool:
        """Return whether `text` has the name, also in a list ("items 4 and 7") or with "is" between."""
        return any(self._is_label(label) for label in _labels_of(self.word, text))

    def other_stands_in(self, text: str) -> bool:
        """Return whether `text` has the word with other labels only."""
        labels = [*_labels_of(self.word, text)]
        return bool(labels) and not any(map(self._is_label, labels))

    def begins(self, text: str) -> bool:
        """Return whether `text` begins with the label, as a numbered clause or item does: "4.3 Payment", "(7) …"."""
        marked = re.match(rf"\s*+[(\[§]?\s*+(?P<label>{_LABEL})(?P<end>[.):\]]|\s)", text, re.IGNORECASE)
        if marked is None or not self._is_label(marked["label"].rstrip(".")):
            return False
        return not marked["end"].isspace() or not marked["label"].isalnum() or "\t" in text[: marked.end()]

    def _is_label(self, label: str) -> bool:
        return _normalized(label) == _normalized(self.label)


def find_numbered_names(question: str) -> Iterator[NumberedName]:
    """Yield the names that `question` has."""
    for match in _NAMED.finditer(question):
        word, label = match["word"], match["label"]
        folded = word.casefold()
        if is_stop_word(word) or folded in _COUNTING | _AUXILIARIES or _YEAR.fullmatch(label):
            continue
        before = question[: match.start()].casefold().split()
        previous = before[-1] if before else ""
        is_capital = word[0].isupper() and match.start() > 0
        is_noun = is_capital or not previous or previous in _LINKS | _AUXILIARIES
        asked = before[-2:-1] if previous in _ARTICLES else before[-1:]
        follows_auxiliary = bool(asked) and asked[0] in _AUXILIARIES
        is_at_end = bool(match["end"].strip()) or match.end() == len(question)
        is_closed = is_at_end or _AFTER.match(question, match.start("end")) is not None
        if (label == "I" and not is_at_end) or (label == "A" and not is_closed):  # a pronoun, an article
            continue
        is_closed = is_closed or follows_auxiliary
        is_range = (ends := _RANGE.fullmatch(label)) is not None and int(ends[1]) < int(ends[2])
        yield NumberedName(word, label, is_sure=is_noun and (is_closed or is_capital) and not is_range)


def _labels_of(word: str, text: str) -> Iterator[str]:
    """Yield the labels right after a word, which may be plural, in `text`."""
    stem = re.escape(re.sub(r"(?<=\w\w\w)(?:es|s)$", "", word.casefold()))
    many = rf"{_LABEL}(?:\)?\s*(?:,|;|&|/|and|or|und|oder)\s*(?:and\s+|or\s+)?\(?{_LABEL}(?![\w]))*"
    between = r"(?:\s+(?:is|was|are|were|of|ist|war|beträgt)\b)?[\s.:=#(–-]*"
    for match in re.finditer(
        rf"(?<![^\W_]){stem}(?:e?s|e?n)?\b{between}{_NUMBER_SIGN}(?P<labels>{many})(?![\w]|[.,]\d)", text, re.IGNORECASE
    ):
        yield from re.findall(rf"(?<![\w.]){_LABEL}(?![\w])", match["labels"], re.IGNORECASE)


def _normalized(label: str) -> str:
    """Return a label in lower case; Roman numerals as numbers."""
    if label and set(label) <= _ROMAN.keys():
        values = [_ROMAN[letter] for letter in label]
        following = [*values[1:], 0]
        return str(sum(-one if one < after else one for one, after in zip(values, following, strict=True)))
    return label.casefold().lstrip("0") or label
