"""Analyse text for comparison: words with stems, figures, negations and their order; clauses to prove."""

import difflib
import functools
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import snowballstemmer

from rag import types
from rag.answering.text import negation, numbers, periods, term_weights
from rag.answering.text.negation import Word
from rag.answering.text.numbers import Number
from rag.answering.text.periods import Period, find_quarters
from rag.answering.text.term_weights import word_set

MAX_REPLACED = 4
"""Maximum number of words treated as a replacement; longer differences are paraphrases."""

MAX_OF_SAME, MIN_SAME = 8, 3
"""A replacement may be longer if at least `MIN_SAME` equal words follow."""

MAX_INITIALS = 6
"""Longest acronym that stands for a name."""

NEGATION = "¬"


_LIGHT_WORDS = word_set(
    "it its they them their he she his her we our us you your i my this that these those there here the a an of in "
    "on at to by for from with as and or but if then than so such both each also again already however therefore "
    "thus hence moreover furthermore additionally overall meanwhile which who whom whose what when where while is "
    "are was were be been being am has have had having do does did doing done will would shall should can could may "
    "might must not no never without neither nor none cannot about approximately around roughly some any every all "
    "just only even still yet now very most least much many total totalled totaled amount amounts amounted "
    "amounting reach reached stand stood stands report reports reported reporting recorded records according state "
    "states stated say says said show shows shown note notes noted mention mentions mentioned indicate indicates "
    "indicated come comes came respective respectively through between during within per up via compared versus vs "
    "s t d ll re ve hundred thousand million millions billion billions trillion percent percentage cent points "
    "dollars dollar euros euro usd eur fy"
)
"""Words without content of their own, or content that a paraphrase may drop."""

_FOREIGN_LIGHT_WORDS = word_set(
    "tausend millionen milliarde milliarden prozent mio mrd der die das den dem des ein eine einen einem einer "
    "und oder ist sind war waren wird wurde wurden hat hatte im von zu mit auf für bei nach aus le la les un une "
    "du de et ou est sont était ont par pour dans sur au aux el los las una y o es son fue eran han en por para "
    "con del al"
)
"""The same in other languages; in English "war", "son" and "die" say something."""

_ENGLISH = word_set("the of and to by from with for were are has its")
"""Words that mark a text as English: frequent, and not of the other languages."""

_BOUNDS = word_set("more less over out almost nearly")
"""Light words where they bound a figure ("over 300", "9 out of 12"), which `quantities` compares."""

_NAMES_TOO = {"us": "US", "it": "IT", "who": "WHO", "may": "May", "will": "Will"}
"""Light words that are names when they are written so: the United States, information technology, a month."""

_NAMES_WITHIN = word_set("state states report reports records note notes total most stand stands points")
"""Light words that belong to a name when capitals begin them within a sentence: "the United States"."""

_NEXT_WORD = re.compile(r"\s+(?:(?:than|of)\s+)?(?:the\s+)?(?:[^\w\s]{0,2}\s?\d|[A-Z]{0,4}\s?[$€£¥\d]|([^\W\d_]+))")
"""The figure or word behind a bound, with "than" or "of" between them."""

_FIGURE_BEFORE = re.compile(r"(?<!\S)(?=\S*\d)\S++(?:\s+[^\W\d_]+)?\s+$")
"""A figure that "more" may follow: "300 ships more"."""

_ALONE = re.compile(r"(?<=\s)\S(?=[\s,;)]|\.?$)")
"""A letter between spaces; one with a full stop behind it is an initial, except at the end."""

_SHARES = word_set("half all every each one a double twice")
"""Words that a bound may limit like a figure: "almost all", "over half"."""

_CAPITALS = re.compile(r"\b[A-Z][a-z]\w*(?:\s+(?:(?:of|and|for|the)\s+)*[A-Z][a-z]\w*)+")
"""Capitalised words in a row, of which names are made: "Securities and Exchange Commission"."""

_SENTENCE_START = re.compile(r"(?:^|[.:;!?–—\"“(|•])\s*$")

_ACRONYM = r"[A-Z](?:\.[A-Z])+\b\.?"  # "U.S."
_WORD = re.compile(_ACRONYM + r"|[぀-ヿ㐀-鿿가-힯]+|[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMERIC_DATE = re.compile(r"\b(\d{1,4})[./-](\d{1,2})[./-](\d{1,4})\b")


class Item(NamedTuple):
    """A word, figure or negation in text order."""

    key: str
    text: str


class Text:
    """A text analysed once; its parts are computed when first used."""

    def __init__(self, text: str, years: Mapping[int, int] | None = None) -> None:
        """`years` maps starts of figures to their years where these are known, as in table rows."""
        self.text = text
        self._years = years
        plain = types.without_raised_marks(text)
        pieces = [piece for match in _WORD.finditer(plain) for piece in _split_unspaced(match)]
        is_english = not _ENGLISH.isdisjoint(piece.casefold() for piece, _ in pieces)
        light = _LIGHT_WORDS if is_english else _LIGHT_WORDS | _FOREIGN_LIGHT_WORDS
        self.words = [_word(piece, start, plain, light) for piece, start in pieces]
        self.numbers = numbers.find_numbers(text)

    @functools.cached_property
    def keys(self) -> frozenset[str]:
        """The keys of all words, light ones included."""
        return frozenset(word.key for word in self.words)

    @functools.cached_property
    def content(self) -> list[Word]:
        """The words with content."""
        return [word for word in self.words if word.is_content]

    @functools.cached_property
    def content_keys(self) -> frozenset[str]:
        """The keys of the words with content."""
        return frozenset(word.key for word in self.content)

    @functools.cached_property
    def sequence(self) -> list[Item]:
        """Content words, figures and negations in order."""
        items = [
            (word.start, _item(word))
            for word in self.words
            if word.is_content or word.text.casefold() in negation.NEGATIONS
        ]
        items += [(number.start, Item(f"{numbers.plain_value(number):g}", number.text)) for number in self.numbers]
        return [item for _, item in sorted(items)]

    @functools.cached_property
    def figures(self) -> list[Number]:
        """Numbers in digits and spelled counts: "one", "twelve"."""
        spelled = (
            Number(word.text, word.start, word.end, frozenset({value}), None)
            for word in self.words
            if (value := _count(word.text.casefold())) is not None
        )
        return sorted([*self.numbers, *spelled], key=lambda number: number.start)

    @functools.cached_property
    def values(self) -> frozenset[float]:
        """The possible values of its figures, without scales."""
        return frozenset(value for figure in self.figures for value in figure.values)

    @functools.cached_property
    def folded(self) -> frozenset[str]:
        """The words in lower case."""
        return frozenset(word.text.casefold() for word in self.words)

    @functools.cached_property
    def negated(self) -> list[tuple[str, ...]]:
        """The words governed by each negation."""
        return negation.negated(self.text, self.words)

    @functools.cached_property
    def denied(self) -> Mapping[int, tuple[str, ...]]:
        """The words governed by each word of denial ("lacks", "failed to"), by its position."""
        return negation.denied(self.text, self.words)

    @functools.cached_property
    def years(self) -> Mapping[int, int]:
        """The year of each figure, by its position."""
        return periods.figure_years(self.text) if self._years is None else self._years

    @functools.cached_property
    def periods(self) -> list[Period]:
        """The quarters and halves of years it names."""
        return find_quarters(self.text)

    @functools.cached_property
    def acronyms(self) -> Mapping[str, frozenset[str]]:
        """The initials of its names of several words, with these words: "US" of "the United States"."""
        found: dict[str, frozenset[str]] = {}
        for run in _CAPITALS.findall(self.text):
            names = [word for word in run.split() if word[0].isupper()]
            for start, end in itertools.combinations(range(len(names) + 1), 2):
                if 2 <= end - start <= MAX_INITIALS:
                    found["".join(name[0] for name in names[start:end])] = frozenset(names[start:end])
        return found

    @functools.cached_property
    def months(self) -> frozenset[float]:
        """The months it names, in any form: "December", "Dec", "31/12"."""
        parts = [float(part) for match in _NUMERIC_DATE.finditer(self.text) for part in match.groups()]
        parts += [numbers.spelled_value(word.text) or 0 for word in self.words if numbers.is_month(word.text)]
        return frozenset(part for part in parts if 1 <= part <= 12)


def _item(word: Word) -> Item:
    if not word.is_content:
        return Item(NEGATION, word.text)
    value = numbers.spelled_value(word.text)
    return Item(word.key if value is None else f"{value:g}", word.text)


_NO_COUNTS = word_set(
    "first once single second twice both third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
)
"""Number words that count nothing."""


def _count(word: str) -> float | None:
    if word == "one":
        return 1.0
    return None if word in _NO_COUNTS or numbers.is_month(word) else numbers.spelled_value(word)


def _split_unspaced(match: re.Match[str]) -> list[tuple[str, int]]:
    """Return a word, or pairs of characters in scripts without spaces."""
    word, start = match.group(), match.start()
    if not term_weights.is_unspaced(word[0]):
        return [(word, start)]
    return [(word[index : index + 2], start + index) for index in range(max(1, len(word) - 1))]


def _word(word: str, start: int, text: str, light: frozenset[str]) -> Word:
    """Return a word of `text`; it has no content if it is one of the `light` ones and not written as a name."""
    end = start + len(word)
    plain = word.replace(".", "")
    folded = unicodedata.normalize("NFKC", plain).casefold().replace("’", "'")
    if _NAMES_TOO.get(folded) == plain and not text.isupper() and text[end : end + 1] != "$":
        return Word(word, plain, start, end, is_content=True)
    if len(folded) == 1:
        # A single letter tells things apart ("Class B"), unless it is an initial or part of a sign ("R&D").
        is_letter_of_name = (
            bool(_ALONE.match(text, start)) and text[start] != "I" and _is_capitalised_within(start, text)
        )
        return Word(word, plain, start, end, is_content=is_letter_of_name)
    is_light = folded in light and not (folded in _NAMES_WITHIN and _is_capitalised_within(start, text))
    is_light |= folded in _BOUNDS and (_is_before_figure(text[end:]) or bool(_FIGURE_BEFORE.search(text[:start])))
    is_content = not is_light and not negation.CONTRACTED.fullmatch(folded)
    return Word(word, stem(folded), start, end, is_content)


def _is_before_figure(text: str) -> bool:
    """Return whether `text` begins with a figure, perhaps with "than" or "of" before it."""
    match = _NEXT_WORD.match(text)
    return match is not None and (
        match[1] is None or numbers.spelled_value(match[1]) is not None or match[1] in _SHARES
    )


def _is_capitalised_within(start: int, text: str) -> bool:
    """Return whether the word at `start` begins with a capital, and no sentence or line does there."""
    return text[start].isupper() and not _SENTENCE_START.search(text[:start])


def is_name(word: Word, text: str) -> bool:
    """Return whether a word of `text` is capitalised for another reason than beginning a sentence."""
    return (len(word.text) > 1 and word.text.isupper()) or _is_capitalised_within(word.start, text)


_IRREGULAR = {
    "rose": "rise", "risen": "rise", "grew": "grow", "grown": "grow", "growth": "grow", "fell": "fall",
    "fallen": "fall", "held": "hold", "paid": "pay", "sold": "sell", "sale": "sell", "sales": "sell",
    "bought": "buy", "began": "begin", "begun": "begin", "built": "build", "led": "lead", "lost": "lose",
    "met": "meet", "spent": "spend", "won": "win", "wrote": "write", "written": "write", "gave": "give",
    "given": "give", "took": "take", "taken": "take", "became": "become", "brought": "bring", "went": "go",
    "gone": "go", "left": "leave", "kept": "keep", "sent": "send", "found": "find", "founded": "founded",
    "men": "man", "women": "woman", "children": "child", "people": "person", "men's": "man",
}  # fmt: skip


@functools.lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the comparison key of a lower-case word: its Porter stem (Snowball), or that of its irregular base."""
    word = word.removesuffix("'s").removesuffix("'")
    return str(_stemmer().stemWord(_IRREGULAR.get(word, word)))


@functools.cache
def _stemmer() -> "snowballstemmer.EnglishStemmer":
    return snowballstemmer.stemmer("english")


def is_abbreviated(name: str, text: Text, other: Text) -> bool:
    """Return whether a name of `text` is, or is part of, one whose initials or full form `other` has: "US"."""
    plain = name.replace(".", "")
    if plain.isupper():
        return plain in other.acronyms
    letters = {initials for initials, words in text.acronyms.items() if name in words}
    return bool(letters) and not letters.isdisjoint(word.text.replace(".", "") for word in other.words)


@functools.lru_cache(maxsize=256)
def analyze(text: str) -> Text:
    """Analyse a text, with a cache: a claim is compared with many pieces."""
    return Text(text)


# --- in which order ---


def count_matching(ours: Sequence[Item], theirs: Sequence[Item]) -> int:
    """Return how many items are the same in the same order."""
    keys = [item.key for item in ours], [item.key for item in theirs]
    matcher = difflib.SequenceMatcher(None, *keys, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


def differences(ours: Sequence[Item], theirs: Sequence[Item]) -> Iterator[tuple[Sequence[Item], Sequence[Item]]]:
    """Yield what stands in each text between equal neighbours, or a lone negation."""
    keys = [item.key for item in ours], [item.key for item in theirs]
    codes = difflib.SequenceMatcher(None, *keys, autojunk=False).get_opcodes()
    for index, (kind, start, end, other_start, other_end) in enumerate(codes):
        beside = [codes[other] for other in (index - 1, index + 1) if 0 <= other < len(codes)]
        if kind == "equal" or sum(map(_size, beside)) < 2 or not all(map(_size, beside)):
            continue
        mine, other = ours[start:end], theirs[other_start:other_end]
        goes_on = _size(beside[-1]) >= MIN_SAME
        is_subject = index == 0 and goes_on
        is_alike = is_subject or len(mine) <= (MAX_OF_SAME if goes_on else MAX_REPLACED)
        if (kind == "replace" and is_alike) or [item.key for item in (*mine, *other)] == [NEGATION]:
            yield mine, (other[:MAX_REPLACED] if is_subject else other)


def exchanges(ours: Sequence[Item], theirs: Sequence[Item]) -> Iterator[tuple[Sequence[Item], Sequence[Item]]]:
    """Yield words exchanged around a third: "A bought B", "B bought A"."""
    there = {tuple(item.key for item in theirs[index : index + 3]) for index in range(len(theirs) - 2)}
    for index in range(len(ours) - 2):
        first, verb, last = ours[index : index + 3]
        if (
            first.key != last.key
            and (last.key, verb.key, first.key) in there
            and (first.key, verb.key, last.key) not in there
            and not any(map(is_figure, (first, last)))
        ):
            yield [first], [last]


def is_figure(item: Item) -> bool:
    """Return whether the item is a number, in digits or spelled."""
    return item.key[0].isdigit()


def _size(code: tuple[str, int, int, int, int]) -> int:
    """Return the number of equal words of a diff opcode."""
    return code[2] - code[1] if code[0] == "equal" else 0


_CLAUSE = re.compile(
    r"(?:(?<!\s)\s+)?;\s+(?:and |but )?|(?:,|(?<!\s))\s+(?:and|but|while|whereas|und|während|et(?! al)|y)\s+|"
    r"(?:,|(?<!\s))\s+(?:compared (?:with|to)|versus|up from|down from|from)\s+(?=[$€£]?\s?\d)"
)
"""Possible clause boundaries."""
_ANAPHORA = re.compile(
    r"\s*(?:it|its|they|their|he|she|his|her|we|our|this|these|those|that|such|both|the (?:company|group|firm|bank|"
    r"fund|registrant|agreement|plan|former|latter))\b",
    re.IGNORECASE,
)
"""Beginnings of sentences that refer back."""


def refers_back(sentence: str) -> bool:
    """Return whether a sentence refers to the one before it: "It …", "The company …"."""
    return _ANAPHORA.match(sentence) is not None


def clause_splits(claim: str) -> list[tuple[str, str]]:
    """Return the ways to split a claim into two statements; a predicate without subject takes that of the other."""
    if re.search(r"\brespectively\b", claim, re.IGNORECASE):
        return []
    found = []
    for match in _CLAUSE.finditer(claim):
        left, right = claim[: match.start()], claim[match.end() :]
        if left.count("(") != left.count(")") or not _is_statement(left):
            continue
        if is_bare_predicate(right) and (verb := finite_verb(left)):
            right = f"{left[len(lead_in(left)) : verb.start()].strip()} {right}"
        if _is_statement(right):
            found.append((left, right))
    return found


def is_fragment(text: str) -> bool:
    """Return whether a text says nothing of anything: a name, or a figure with at most one word ("13 weeks")."""
    said = analyze(text)
    if not said.numbers:
        return all(word.text[0].isupper() for word in said.content)
    return len(said.content) < 2 and finite_verb(text) is None and ":" not in text and "–" not in text


IRREGULAR_PASTS = (
    "became|began|bore|bought|broke|brought|built|came|chose|cut|drew|drove|fell|gave|got|grew|held|kept|led|left|lent|lost|"
    "made|met|paid|ran|rose|said|sank|saw|sent|sold|spent|stood|told|took|went|won|wrote"
)
"""Past forms not ending in -ed, as a pattern."""
_FINITE = re.compile(
    r"(?<!-)\b(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|shall|should|does|did|do|[a-z]{2,}ed|"
    rf"{IRREGULAR_PASTS}|ist|sind|war|waren|est|sont|es|son)\b|–"
)
_PRESENT = re.compile(r"\b[a-z]{3,}s(?!\s+(?:of|and|or)\b)\b")
"""Possible verbs after a subject with an article; elsewhere they are plurals."""
_DETERMINED = re.compile(r"\s*(?:the|an?|its|their|our|his|her|this|that|it|he|she)\b", re.IGNORECASE)
_BARE_PREDICATE = re.compile(
    r"\s*(?:also |then )?(?:(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|shall|should|does|did|"
    rf"do|[a-z]{{2,}}ed|{IRREGULAR_PASTS})\b|[$€£]?\s?\d|in (?:19|20)\d\d)"
)
_LEADING = re.compile(
    r"\s*(?:in|during|at|as of|for|on|since|by|following|after|before|under|upon|until|excluding|including)\b"
    r"[^,]{1,60},\s*"
    r"|\s*in (?:(?:fiscal )?(?:19|20)\d\d|january|february|march|april|may|june|july|august|september|october|november"
    r"|december)\s+(?=[^\W\d])",
    re.IGNORECASE,
)
_PRONOUNS = frozenset({"i", "we", "you", "he", "she", "it", "they", "there", "this", "these", "that", "those"})


def is_bare_predicate(part: str) -> bool:
    """Return whether the part begins with a verb or figure and has no subject of its own."""
    return _BARE_PREDICATE.match(part) is not None


def lead_in(text: str) -> str:
    """Return the period or place that introduces a statement: "In 2031, "."""
    lead = _LEADING.match(text)
    return lead[0] if lead else ""


def move_lead_in_to_end(text: str) -> str:
    """Move an introducing period or place to the end: "Tolls rose in 2031"."""
    lead = lead_in(text)
    return f"{text[len(lead) :].rstrip(' .')} {lead.strip(' ,')}" if lead else text


def _is_statement(part: str) -> bool:
    """Return whether the part has a subject and a predicate with content."""
    verb = finite_verb(part)
    if verb is None:
        return False
    said = analyze(part[verb.start() :])
    return bool(said.content or said.numbers)


def finite_verb(text: str) -> re.Match[str] | None:
    """Return the first finite verb with a subject before it."""
    start = len(lead_in(text))
    patterns = [_FINITE, _PRESENT] if _DETERMINED.match(text, start) else [_FINITE]
    for verb in (verb for pattern in patterns for verb in pattern.finditer(text, start)):
        subject = analyze(text[start : verb.start()])
        if subject.content or subject.folded & _PRONOUNS:
            return verb
    return None
