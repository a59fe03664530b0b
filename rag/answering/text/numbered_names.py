"""Names of a word and a number or letter: "item 7", "Station 9", "clause 4.3", "Exhibit A".

They name one of several alike, so that what is said of another one answers nothing.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rag.answering.text.term_weights import is_stop_word, word_set

_LABEL = r"(?:\d{1,4}(?:[./-]\d{1,3})*[a-z]?|(?-i:[IVXLC]{1,6}|[A-Z](?:[.-]?\d{1,3})?))"
_SIGN = r"(?:(?:no|nr)\b\.?\s*|numbers?\s+|nummer\s+|[#№]\s*)?"
_NAMED = re.compile(
    rf"(?<![\w'’&-])(?P<word>[^\W\d_]{{2,}})\s+{_SIGN}(?P<label>{_LABEL})"
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
        rf"(?<![^\W_]){stem}(?:e?s|e?n)?\b{between}{_SIGN}(?P<labels>{many})(?![\w]|[.,]\d)", text, re.IGNORECASE
    ):
        yield from re.findall(rf"(?<![\w.]){_LABEL}(?![\w])", match["labels"], re.IGNORECASE)


def _normalized(label: str) -> str:
    """Return a label in lower case; Roman numerals as numbers."""
    if label and set(label) <= _ROMAN.keys():
        values = [_ROMAN[letter] for letter in label]
        following = [*values[1:], 0]
        return str(sum(-one if one < after else one for one, after in zip(values, following, strict=True)))
    return label.casefold().lstrip("0") or label
