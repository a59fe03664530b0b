"""Detect names of persons and organisations.

Capitals alone are not enough: headings, titles and defined terms have them, too.
"""

import re
from collections.abc import Callable

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
