"""Key facts: the sentences and table rows of a document that tell an analyst most, word for word.

A sentence counts by how central its words are to the document (the centroid of `summary`), by what it tells (figures,
names, and the phrases in which documents of its kind state what matters), and by where it stands. A row of a table
counts by how often the text speaks of what its label names. No vectors are needed, and time is linear in the text.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rag import types, vocabulary
from rag.answering.extraction import summary
from rag.answering.passages.quotable_units import Unit, split_passage
from rag.answering.passages.statements import display_text, words_at
from rag.answering.passages.table_text import PERIOD
from rag.answering.text import term_weights
from rag.answering.text.sentences import has_bullet, one_line, without_bullet
from rag.ingestion.chunking import SECTION_SEPARATOR

MAX_FACTS = 10
MAX_ROWS, MAX_ROWS_OF_STATEMENT = 4, 2
"""Maximum number of facts that are rows of tables, and of rows of one statement."""

MAX_OF_PAGE, MAX_OF_SECTION = 2, 3
"""Maximum number of sentences of one page and of one of several sections, so that facts come from all of a document."""
SEVERAL_SECTIONS = 5

MAX_SIMILARITY = 0.3
"""Maximum cosine similarity of a sentence with those chosen before it."""

MAX_FIGURES, MAX_NAMES = 2, 2
"""With more figures or names a sentence tells no more; with many it is a list."""
AMOUNT, FIGURE, NAME, CUE, SUBJECT = 0.35, 0.1, 0.08, 0.5, 0.25
"""What each amount, other figure and name adds to the score of a sentence, that it states what matters in its kind, and
that it names what the document is about."""

TELLING, ASIDE = 1.6, 0.5
"""Weights of sentences under headings such as "Summary", and such as "Appendix" or "Related work"."""
EARLINESS = 1.15, 0.75
"""Weights of the first and the last page."""
COVER_WEIGHT, MIN_COVERED = 0.4, 20
"""Weight of the first page of a document of so many pages: it says what the document is, as its title does."""
DEPENDENT, CITED, ABOUT_ITSELF = 0.5, 0.5, 0.2
"""Weights of sentences that depend on the one before, cite other works, and speak of the document or of chances."""
USUAL_WORDS = 18
"""Content words of a sentence from which on its length counts against it."""

MIN_SPOKEN = 3
"""Minimum number of sentences that speak of what the label of a row names."""
MAX_LABEL_WORDS = 6
MAX_ROW_CELLS = 6

_UNITS = (
    r"thousand|million|billion|trillion|Mio|Mrd|Millionen|Milliarden|crore|lakh|USD|EUR|GBP|CHF|Euro|dollars|rupees|"
    r"days?|weeks?|months?|years?|hours?|minutes?|seconds?|mm|cm|m|km|kg|g|ml|l|V|W|kW|A|Hz"
)
_AMOUNT = re.compile(
    rf"[$€£¥₹]\s?\d[\d,.]*+|(?<![\w.,])\d[\d,.]*+\s?(?:%|°|(?:percent|per cent|Prozent|{_UNITS})\b)", re.IGNORECASE
)
_FIGURE = re.compile(r"(?<![\w.,§\[-])\d[\d,.]*+(?![\]\w])")
_NAME = re.compile(r"(?<=[a-z,] )[A-ZÄÖÜÉ][\w&’'.-]++(?: [A-ZÄÖÜÉ][\w&’'.-]++){0,4}")
_CITATION = re.compile(
    r"\bet al\b|\[\d{1,3}(?:, ?\d{1,3}){0,9}\]|\((?:e\.g\.,? )?[A-Z][\w-]{1,30}(?: & [A-Z][\w-]{1,30})?, \d{4}"
)
_NO_SENTENCE = re.compile(r"\b[A-Z]\., |[=∑∏∈∂∝∗∼≈∀∃∇√∫<>|{}\\]|[⁰¹²³⁴-⁹]\s")
"""Authors of a reference, and formulas."""
_ASIDE = re.compile(
    r"\b(?:risk factors|accounting (?:estimates|policies|pronouncements)|related work|background|prior work|citation|"
    r"preface|foreword|about th(?:is|e) \w+)\b",
    re.IGNORECASE,
)
"""Headings over what is not the document's own matter."""
_PARTS = "part|item|note|section|page|chapter|appendix|figure|table|form"
_ABOUT_ITSELF = re.compile(
    rf"""(?:(?:the|this|these|each|all|our)\ )?(?:chapters?|sections?|report|document|manual|guide|handbook|paper|
        appendix|table|figures?|authors?|executive\ summary)\b
    |\b(?:see|refer\ to|described|discussed|set\ forth|included|presented|found|contained)\ (?:in\ |under\ |at\ )?
        (?:the\ |our\ )?[“"(]?(?:{_PARTS})\b
    |\b(?:our\ audit|we\ (?:have\ )?audited|in\ our\ opinion|reasonable\ assurance|certify|certifies|exhibit|registrant|
        hereto|pursuant|not\ material|immaterial|recently\ (?:adopted|issued)|anti-?dilutive|citation)\b
    |\bwe\ (?:also\ )?(?:believe|expect|anticipate|intend|plan)\b
    |\b(?:may|might|could)\ (?:not\ )?(?:be|have|cause|result|adversely|affect|harm|differ|fail|become|lead|also)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""Sentences that speak of the document, in forms that every such document has, or of what may happen."""
_LEADS_BACK = re.compile(
    r"""(?:in\ particular|note\ that|explanation|rather|specifically
    |(?:some|many|most|all|both|each|either|neither)\ of\ (?:these|them|which)
    |in\ (?:this|that|these|such|her|his|their|its)|(?:to|for|because\ of)\ (?:this|that|these)
    |the\ (?:former|latter|above|following)|as\ (?:shown|described|noted))\b""",
    re.IGNORECASE | re.VERBOSE,
)


class KeyFact(NamedTuple):
    """A sentence or table row of a chunk."""

    chunk: types.Chunk
    unit: Unit

    @property
    def text(self) -> str:
        """Its words on one line, those of a row with its column names."""
        return one_line(display_text(self.chunk.text, self.unit))

    @property
    def section(self) -> str:
        """The heading that it stands under."""
        return (self.chunk.section or "").rsplit(SECTION_SEPARATOR, 1)[-1]

    @property
    def page_number(self) -> int:
        """The page that it begins on."""
        return self.chunk.lines_of(*self.unit.span)[0].page_number


NO_STATEMENTS: Mapping[str, Collection[int]] = MappingProxyType({})


class _Sentence(NamedTuple):
    fact: KeyFact
    text: str
    words: tuple[str, ...]


def key_facts(
    chunks: Sequence[types.Chunk],
    *,
    cues: Sequence[str] = (),
    names: Collection[str] = (),
    statements: Mapping[str, Collection[int]] = NO_STATEMENTS,
    limit: int = MAX_FACTS,
) -> list[KeyFact]:
    """Return the sentences and rows that tell most of a document, at most `limit`, in reading order.

    `chunks` are all of its chunks in order, `cues` phrases in lower case in which its kind states what matters, and its
    line items, `names` what it is about, `statements` the pages of its financial statements.
    """
    told = [chunk for chunk in chunks if chunk.kinds & types.PAGE_TEXT and not summary.is_beside(chunk.section)]
    facts = [fact for chunk in told for fact in _facts(chunk)]
    rows = [fact for fact in facts if fact.unit.cells]
    sentences = _sentences([fact for fact in facts if not fact.unit.cells], summary.repeated_lines(chunks))
    pages = max((chunk.pages[-1] for chunk in told), default=1)
    scale = _Scale(cues, [name.casefold() for name in names], pages)
    chosen = _best_rows(rows, [one.words for one in sentences], statements, cues)[:limit]
    chosen += _best_sentences(sentences, scale, limit - len(chosen))
    return sorted(chosen, key=lambda fact: (fact.chunk.ordinal, fact.unit.span.start))


def _facts(chunk: types.Chunk) -> Iterator[KeyFact]:
    """Yield the rows with a label, and the text; what begins in the middle of a paragraph may be no sentence."""
    for unit in split_passage(types.Passage(document_id=chunk.document_id, lines=chunk.lines)):
        if unit.is_boilerplate or (unit.span.start == 0 and not chunk.lines[0].starts_block):
            continue
        if unit.cells and unit.label is not None:
            yield KeyFact(chunk, unit)
        elif unit.kind is types.BlockKind.TEXT and not unit.cells:
            yield KeyFact(chunk, unit._replace(span=without_bullet(chunk.text, unit.span)))


def _sentences(facts: Sequence[KeyFact], repeated: Collection[str]) -> list[_Sentence]:
    """Return the whole sentences of the document's content, each once; an item of a list may end without a stop."""
    sentences: dict[str, _Sentence] = {}
    for fact in facts:
        text = fact.text
        is_item = text[-1:].isalnum() and has_bullet(fact.chunk.text[fact.unit.span.end :].lstrip())
        if text in sentences or not summary.states_something(f"{text}." if is_item else text):
            continue
        lines = fact.chunk.lines_of(*fact.unit.span)
        if not _NO_SENTENCE.search(text) and not any(summary.plain_line(line.text) in repeated for line in lines):
            words = (word for word in term_weights.content_words(text) if not word[0].isdigit())
            sentences[text] = _Sentence(fact, text, tuple(words))
    return [*sentences.values()]


class _Scale(NamedTuple):
    """What the sentences of a document of so many pages are weighed by."""

    cues: Sequence[str]
    names: Collection[str]
    pages: int

    def weight(self, sentence: _Sentence) -> float:
        """Return what a sentence's figures, names, phrases and place make of its centrality."""
        fact, text, _ = sentence
        lower, page = text.casefold(), fact.page_number
        amounts, figures = len(_AMOUNT.findall(text)), len(_FIGURE.findall(text))
        weight = 1.0 + AMOUNT * min(amounts, MAX_FIGURES) + FIGURE * min(figures, MAX_FIGURES)
        weight += NAME * min(len(_NAME.findall(text)), MAX_NAMES)
        weight += CUE * any(cue in lower for cue in self.cues) + SUBJECT * any(name in lower for name in self.names)
        first, last = EARLINESS
        weight *= first + (last - first) * page / self.pages
        headings = (fact.chunk.section or "").split(SECTION_SEPARATOR)
        if any(summary.is_appended(heading) or _ASIDE.search(heading) for heading in headings):
            weight *= ASIDE
        elif any(map(summary.is_telling, headings)):
            weight *= TELLING
        if page == 1 and self.pages >= MIN_COVERED:
            weight *= COVER_WEIGHT
        if summary.is_dependent(text) or _LEADS_BACK.match(text):
            weight *= DEPENDENT
        if _CITATION.search(text):
            weight *= CITED
        return weight * (ABOUT_ITSELF if _ABOUT_ITSELF.search(text) else 1.0)


def _best_sentences(sentences: Sequence[_Sentence], scale: _Scale, limit: int) -> list[KeyFact]:
    """Return the sentences of the highest scores, each unlike those before, from several pages and sections."""
    idf = term_weights.idf([one.words for one in sentences])
    totals = Counter(word for one in sentences for word in one.words)
    centroid = {word: math.log1p(count) * idf[word] for word, count in totals.items() if count > 1}

    def centrality(one: _Sentence) -> float:
        return sum(centroid.get(word, 0.0) for word in {*one.words}) / max(len(one.words), USUAL_WORDS)

    most = MAX_OF_SECTION if len({_section(one.fact) for one in sentences}) >= SEVERAL_SECTIONS else limit
    chosen: list[_Sentence] = []
    of_page, of_section = Counter[int](), Counter[str]()
    for one in sorted(sentences, key=lambda one: centrality(one) * scale.weight(one), reverse=True):
        if len(chosen) == limit:
            break
        page, section = one.fact.page_number, _section(one.fact)
        is_new = all(_similarity(one.words, other.words, idf) <= MAX_SIMILARITY for other in chosen)
        if is_new and of_page[page] < MAX_OF_PAGE and of_section[section] < most:
            of_page[page] += 1
            of_section[section] += 1
            chosen.append(one)
    return [one.fact for one in chosen]


def _section(fact: KeyFact) -> str:
    return fact.chunk.section or ""


def _similarity(some: Sequence[str], others: Sequence[str], idf: Mapping[str, float]) -> float:
    def norm(words: Collection[str]) -> float:
        return math.sqrt(sum(idf[word] ** 2 for word in words)) or 1.0

    first, second = {*some}, {*others}
    return sum(idf[word] ** 2 for word in first & second) / (norm(first) * norm(second))


def _best_rows(
    rows: Sequence[KeyFact],
    sentences: Sequence[Sequence[str]],
    statements: Mapping[str, Collection[int]],
    cues: Sequence[str],
) -> list[KeyFact]:
    """Return the rows with a figure for each of several periods that tell most.

    In the document's own statements these are the line items among `cues`, in their order; in documents without such
    those whose labels, of several words, its sentences speak of most.
    """
    items: dict[str, tuple[str, KeyFact]] = {}
    of_label: dict[tuple[str, ...], KeyFact] = {}
    for fact in rows:
        label = words_at(fact.chunk.text, fact.unit.label)
        words = tuple(term_weights.content_words(label))
        if len(words) > MAX_LABEL_WORDS or not label[:1].isupper() or not _is_of_periods(fact):
            continue
        figure = vocabulary.find_figure(label)
        if figure and figure.name in cues and fact.page_number in statements.get(figure.place or "", ()):
            items.setdefault(figure.name, (figure.place or "", fact))
        elif len(words) > 1:
            of_label.setdefault(words, fact)
    chosen: list[KeyFact] = []
    of_statement = Counter[str]()
    for name in sorted(items, key=cues.index):
        place, fact = items[name]
        of_statement[place] += 1
        if of_statement[place] <= MAX_ROWS_OF_STATEMENT:
            chosen.append(fact)
    if not chosen:
        spoken = _spoken([*of_label], sentences)
        most = sorted(of_label, key=lambda words: -spoken[words])
        chosen = [of_label[words] for words in most if spoken[words] >= MIN_SPOKEN]
    return chosen[:MAX_ROWS]


def _is_of_periods(fact: KeyFact) -> bool:
    cells = fact.unit.cells
    return 2 <= len(cells) <= MAX_ROW_CELLS and all(
        PERIOD.search(cell.column) and re.search(r"\d", words_at(fact.chunk.text, cell.span)) for cell in cells
    )


def _spoken(labels: Sequence[tuple[str, ...]], sentences: Sequence[Sequence[str]]) -> Mapping[tuple[str, ...], int]:
    """Return how many sentences have the words of each label one behind the other."""
    lengths = {len(label) for label in labels}
    counts = Counter[tuple[str, ...]]()
    for words in sentences:
        counts.update({tuple(words[i : i + length]) for length in lengths for i in range(len(words) - length + 1)})
    return counts
