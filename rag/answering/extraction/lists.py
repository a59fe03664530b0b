"""Answer "what are the main risks" by the document's own list, and who signed it by its signatures.

Its items are headings, bullets or the starts of paragraphs. The list stands below a heading, or after
a sentence that ends with a colon, which has all words of what is asked for.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from rag import types
from rag.answering.extraction.list_rows import ENDS_WITH_COLON, NO_ROW, Row, read_row, read_rows
from rag.answering.extraction.summary import PART, KeySentence, parts_of, quotas, repeated_lines
from rag.answering.passages.persons import SIGNING, signatures
from rag.answering.passages.quotable_units import Block, read_blocks, split_passage
from rag.answering.passages.statements import words_at
from rag.answering.text import term_weights
from rag.answering.text.sentences import one_line, split_sentences, without_bullet
from rag.vocabulary import find_periods

MAX_ITEMS, MAX_SHORT_ITEMS, MAX_KEY_TERMS = 10, 30, 15
"""Items of a list that are shown, of one whose items are all short, and of the clauses of a contract."""

SHORT_CHARS = 80

MIN_ITEMS = 3
"""Fewer headings, bold sentences or bullets below a heading are no list; after a colon two are one."""

MIN_WORDS = 5
"""Fewer words in bold are a term, not a statement."""

MAX_ITEM_CHARS = 300
"""Of longer items only the first sentence is shown."""

WHOLE = 0.5
"""A heading over more than this share of the text is the document's title."""

_LEAD = r"""[\s¿]*(?:please\s+|bitte\s+)?(?:
      (?:what|which)\s+are\s+(?:all\s+)?(?:the|its|their|our|your)
     |(?:list|name|enumerate|show\s+me|give\s+me|tell\s+me)\s+(?:all\s+)?(?:of\s+)?(?:the|its|their|our|your)
     |was\s+sind\s+(?:die|ihre|unsere)|(?:nenne|liste)\s+(?:mir\s+)?(?:alle|die)(?:\s+die)?|welches\s+sind\s+die)\s+"""
_BEGINS = re.compile(_LEAD, re.IGNORECASE | re.VERBOSE)
_ASKED = re.compile(
    rf"""{_LEAD}(?:(?:company|business|firm|group|organi[sz]ation)['’]s\s+)?
    (?:(?P<main>main|key|major|principal|most\s+important|primary|central|top|essential|core|wichtigsten|wesentlichen|zentralen|größten)\s+)?
    (?P<subject>(?:[\w/&-]+\s+){{0,3}}?[\w/&-]+)
    (?:\s+(?:of|in|for|to|about|facing|faced\s+by|described\s+in|mentioned\s+in|listed\s+in|von|in|für|des|der)\s+(?P<whose>\S.*?))?
    (?:(?<!\s)\s+auf)?""",
    re.IGNORECASE | re.VERBOSE,
)
_SUBJECT = r"(?P<subject>(?:[\w/&-]+\s+){0,3}?[\w/&-]+)"
_COUNTED = re.compile(
    rf"""[\s¿]*+(?:how\s+many|wie\s*viele)\s+{_SUBJECT}
    (?:\s+(?P<clause>(?:do|does|did|are|is|were|was|has|have|must|shall|can|may|will|of|in|for|on|hat|haben|gibt|sind|muss|müssen)\b[^?]*?))?
    (?P<asks>(?<=[\w)”"'’])[\s,;.?–-]++(?:(?:and|und)\s+)?
    (?:(?:what|which|who)\s+are\s+(?:they|these|those)|(?:please\s+)?(?:name|list)\s+them|which\s+(?:ones|are\s+they)|welche(?:\s+sind\s+(?:es|das))?))?""",
    re.IGNORECASE | re.VERBOSE,
)
"""A question for the number of items, and maybe for them; its clause tells which of several lists is meant."""
_COUNTS = re.compile(r"[\s¿]*+(?:how\s+many|wie\s*viele)\b", re.IGNORECASE)
_FEATURES = (
    r"(?:full\s+)?names?\s*(?:,|and|&|\+|und)\s*(?:their\s+)?(?:roles?|titles?|positions?|offices?|functions?|ages?)"
)
_PERSONS = re.compile(
    rf"""[\s¿]*+(?:(?:who|what)\s+are\s+|(?:list|name|give\s+me|show\s+me)\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+|its\s+|our\s+)?
    (?:{_FEATURES}\s+of\s+(?:all\s+)?(?:the\s+|its\s+|our\s+)?(?P<of>(?:[\w/&-]+\s+){{0,3}}?[\w/&-]+)
    |{_SUBJECT}\s*+[,:;(–-]?\s*+(?:(?:with|and|by)\s+)?(?:their\s+)?{_FEATURES}\)?)""",
    re.IGNORECASE | re.VERBOSE,
)
"""A request for persons by name and office: "executive officers, names and roles"."""
_ASKS_FEATURES = re.compile(rf"\b{_FEATURES}\b", re.IGNORECASE)
_PERIOD_BEFORE = re.compile(r"(?:\s|^)(?:(?:as\s+of|as\s+at|in|for|on|at|during|per|zum|im)\s+)?$", re.IGNORECASE)

_NAMING = term_weights.word_set(
    "do does did are is was were has have been there in of by the this that its it they s list mention describe discuss"
    " name contain include identify listed mentioned described discussed named contained included identified document"
    " report paper file filing contract agreement lease article book manual guide handbook plan letter study policy"
    " 10-k 10k 10-q 10q hat haben gibt es sind im der die das dem den diesem bericht vertrag dokument handbuch genannt"
    " aufgeführt"
)
"""Words that say no more of things that are counted than that the document names them."""

_ENTRY = re.compile(r"(?P<name>[^\W\d_a-zß-öø-ÿ][^—–:;!?]{2,120}?)\s+[—–]\s")
"""The name at the beginning of an entry and the dash behind it: "Jane Doe, Treasurer — Ms. Doe, 58, …"."""
MAX_STRAY_WORDS = 3
"""Maximum length of a stray line, such as the rest of a marginal note, between a lead-in and its list."""

_ANYTHING = re.compile(
    r"(?:(?:the|this|that|its|their|our|der|die|das|dem|den|diese[mnrs]?)\s+)*"
    r"(?:company|business|firm|group|corporation|organi[sz]ation|registrant|document|report|paper|file|filing|contract"
    r"|agreement|lease|article|book|manual|guide|handbook|plan|letter|10-?k|unternehmens?|gesellschaft|berichts?"
    r"|vertrags?|dokuments?|handbuchs?)?",
    re.IGNORECASE,
)
"""What a list may be said to be of without another meaning."""

_CLAUSE = re.compile(r"(\d{1,2})\.\s+\S")
"""The beginning of a clause of a contract."""

_KEY_TERM = re.compile(
    r"\b(?:part(?:y|ies)|scope|grant(?:ed)?|licen[cs]es?|rights?|services?|terms?|duration|renewal|fees?|prices?|pay(?:ment|ments|able)"
    r"|rent|royalt(?:y|ies)|consideration|terminat\w*|exclusiv\w*|confidential\w*|liabilit(?:y|ies)|indemni\w*|warrant\w*"
    r"|(?:governing|applicable)\s+law|vertragsgegenstand|laufzeit|vergütung|preise?|kündigung|haftung|gewährleistung"
    r"|geheimhaltung|gerichtsstand|anwendbares\s+recht)\b",
    re.IGNORECASE,
)
"""Titles of the clauses that a reader of a contract looks up first."""

_PARTS = term_weights.word_set("term provi clause sectio chapte topic bestim klause abschn kapite themen")
"""Stems of the words for the parts of a document, which its own headings name."""


class AskedList(NamedTuple):
    """A list that is asked for, by the stems of its name; `is_main` if only its main items are.

    `about` are the stems of what else is said of it; `is_counted` if nothing but the number of its items is asked for.
    """

    stems: frozenset[str]
    is_main: bool
    about: frozenset[str] = frozenset()
    is_counted: bool = False

    @property
    def is_of_parts(self) -> bool:
        """Whether the parts of the document are asked for."""
        return self.stems <= _PARTS


class FoundList(NamedTuple):
    """The shown items of a list, and how many were found; `is_whole` if it surely has no others."""

    items: list[KeySentence]
    total: int
    is_whole: bool = True


def may_request_list(question: str) -> bool:
    """Return whether `question` begins as one for a list; quick, so that documents are looked up for few."""
    return bool(_BEGINS.match(question) or _COUNTS.match(question) or _ASKS_FEATURES.search(question))


def requested_list(question: str, title: str = "") -> AskedList | None:
    """Return the list that `question`, without names of documents, asks for, or None.

    A list may be said to be of what the document's `title` names: "the values of Acme" in the "Acme Handbook".
    """
    question = " ".join(question.split()).rstrip(" .?!")
    if counted := _COUNTED.fullmatch(question):
        if not counted["asks"] and not {*re.findall(r"[\w-]+", (counted["clause"] or "").lower())} <= _NAMING:
            return None  # a part of a list: "in units 4 and 5", "were rated high"
        about = _stems(counted["clause"] or "")
        return AskedList(_stems(counted["subject"]), is_main=False, about=about, is_counted=not counted["asks"])
    if _ASKS_FEATURES.search(question) and (persons := _PERSONS.fullmatch(_without_periods(question))):
        return AskedList(_stems(persons["of"] or persons["subject"]), is_main=False)
    match = _ASKED.fullmatch(question)
    if match is None:
        return None
    whose = match["whose"] or ""
    if not (_ANYTHING.fullmatch(whose) or {*term_weights.words(whose)} <= {*term_weights.words(title)}):
        return None
    return AskedList(_stems(match["subject"]), match["main"] is not None)


def find_list(chunks: Sequence[types.Chunk], request: AskedList) -> FoundList | None:
    """Return the items of a list that a document names so; `chunks` are all of it in reading order."""
    blocks = read_blocks(chunks)
    if request.is_of_parts:
        clauses: list[Block] = []  # of a contract without headings: paragraphs numbered 1., 2., 3. and so on
        for block in blocks:
            match = _CLAUSE.match(block.text)
            if match and int(match[1]) == len(clauses) + 1:
                clauses.append(block)
        parts = max(_headings(blocks)[1:], clauses, key=len)  # the first heading is the title
        if request.is_main:
            return _key_terms(blocks, parts)
        items, is_whole = parts, True
        if parts is clauses:
            later = (match for block in blocks if (match := _CLAUSE.match(block.text)))
            is_whole = all(int(match[1]) <= len(clauses) for match in later)
    else:
        row = _items(_below_heading(blocks, request.stems, repeated_lines(chunks)), request.stems)
        items, is_whole, _ = row if row.items else _after_colon(blocks, request)
        if not items and (rows := _table_rows(chunks, request.stems)):
            return FoundList(rows[:MAX_SHORT_ITEMS], len(rows), is_whole=False)
    unique = list({block.text.casefold(): block for block in items}.values())
    return FoundList([_shown(block) for block in _spread(unique)], len(unique), is_whole) if unique else None


def _key_terms(blocks: Sequence[Block], parts: Sequence[Block]) -> FoundList | None:
    """Return how the parts begin that most contracts turn on, or the first parts if there are few such."""
    ends = [*(part.number for part in parts[1:]), math.inf]
    beginnings = []  # of each part that says something: itself, else the first text below its title
    for part, end in zip(parts, ends, strict=False):
        texts = (block for block in blocks if part.number <= block.number < end and not block.is_heading)
        if text := next((block for block in texts if len(block.text.split()) >= MIN_WORDS), None):
            beginnings.append((part, text))
    ranked = sorted((part for part, _ in beginnings), key=lambda part: not _KEY_TERM.search(part.text))
    items = [_shown(text)._replace(section=part.text) for part, text in beginnings if part in ranked[:MAX_KEY_TERMS]]
    return FoundList(items, len(ranked)) if items else None


def _stems(text: str) -> frozenset[str]:
    """Return the comparable words of `text` in the singular, without numbers."""
    return frozenset(word.removesuffix("s") for word in term_weights.content_words(text) if not word[0].isdigit())


# --- reading --------------------------------------------------------------------------------------------


def _below_heading(blocks: Sequence[Block], stems: frozenset[str], repeated: frozenset[str]) -> list[Block]:
    """Return the longest run of blocks whose headings have one of the `stems`, with all of them in one heading."""
    parts = parts_of(blocks, repeated)
    counts = Counter(name for block in blocks for name in set(block.path))
    named_so = {name: _stems(name) for name in {*counts, *parts} if counts[name] <= WHOLE * len(blocks)}
    runs: list[list[Block]] = []
    is_inside = False
    for block, part, before in zip(blocks, parts, ["", *parts], strict=False):
        named = [named_so[name] for name in (*block.path, part) if name in named_so]
        continues = is_inside and part == before and any(stems & words for words in named)
        is_inside = continues or any(stems <= words for words in named)
        if is_inside and not continues:
            runs.append([])
        if is_inside:
            runs[-1].append(block)
    return max(runs, key=lambda run: sum(len(block.text) for block in run), default=[])


def _items(below: Sequence[Block], stems: frozenset[str]) -> Row:
    """Return the items below a heading: bold sentences, headings, bullets; if it has only the `stems`, paragraphs."""
    bold = [block for block in below if block.is_bold and not PART.match(block.text)]
    sentences = [block for block in bold if len(block.text.split()) >= MIN_WORDS]
    has_terms = any(block not in sentences and not block.is_heading for block in bold)
    is_titled = bool(below) and (below[0].is_heading or not below[0].is_bold)  # else by a part's name in bold
    levels: dict[int, list[Block]] = {}
    for heading in _headings(below)[is_titled:]:
        levels.setdefault(len(heading.path), []).append(heading)
    # headings of other levels are of groups of items, or of parts of one
    headings = max(levels.values(), key=lambda level: len({heading.text for heading in level}), default=[])
    is_one_level = len(levels) == 1 and all(heading.text.endswith(heading.path[-1]) for heading in headings)
    for items, is_whole in ((sentences, not has_terms), (headings, is_one_level)):
        if len(items) >= MIN_ITEMS:
            return Row(items, is_whole, length=len(below))
    row = read_rows(below)
    if len(row.items) >= MIN_ITEMS:
        return row
    is_named_so = bool(below) and _stems(below[0].path[-1]) == stems
    texts = [block for block in below if is_named_so and not block.is_heading and len(block.text.split()) >= MIN_WORDS]
    return Row(texts, is_whole=False, length=len(below))


_TOTAL = re.compile(r"\W*(?:(?:grand|sub)[\s-]?)?(?:total|sum|summe|gesamt)", re.IGNORECASE)


def _table_rows(chunks: Sequence[types.Chunk], stems: frozenset[str]) -> list[KeySentence]:
    """Return the rows, each label once, of the table whose first column has a head of these `stems`.

    None of several such tables, and of one with rows that may be items or not, as no cell stands under a head.
    """
    rows: dict[str, KeySentence] = {}
    is_begun = is_over = False
    for chunk in chunks:
        for unit in split_passage(types.Passage(document_id=chunk.document_id, lines=chunk.lines)):
            is_table = unit.kind is types.BlockKind.TABLE
            is_row = bool(unit.cells or unit.label)
            header = unit.header or (None if is_row else unit.span)
            head = chunk.text[slice(*header)].split("\t")[0] if is_table and header else ""
            if _stems(head) == stems:
                if is_over:
                    return []
                is_begun = True
                label = words_at(chunk.text, unit.label or unit.cells[0].span) if is_row else ""
                if label and not _TOTAL.match(label):
                    rows.setdefault(label, KeySentence(chunk, unit.span, chunk.section or "", unit))
            elif is_begun and not is_over:
                if is_row and not header:
                    return []
                is_over = is_row or not (is_table or unit.is_boilerplate)
    return [*rows.values()] if len(rows) >= MIN_ITEMS else []


def _after_colon(blocks: Sequence[Block], request: AskedList) -> Row:
    """Return the longest row of bullets or entries after a block that ends with a colon and has all stems asked for.

    Its heading may have them as well. Of several, the row whose lead-in says most of what else is asked comes first.
    """
    rows: list[tuple[int, Row]] = []
    for index, block in enumerate(blocks):
        lead = _stems(f"{block.path[-1] if block.path else ''} {block.text}")
        if not ENDS_WITH_COLON.search(block.text) or not request.stems <= lead:
            continue
        following = blocks[index + 1 :]
        if following and not following[0].is_bullet and len(following[0].text.split()) <= MAX_STRAY_WORDS:
            following = following[1:]
        row = read_row(following)
        if len(row.items) < MIN_ITEMS - 1:
            row = read_row(following, _entry_mark)
            row = row._replace(items=[*map(_named, row.items)])
        rows.append((len(request.about & lead), row))
    _, longest = max(rows, key=lambda row: (row[0], len(row[1].items)), default=(0, NO_ROW))
    return longest if len(longest.items) >= MIN_ITEMS - 1 else NO_ROW


def _entry_mark(block: Block) -> str | None:
    return "—" if _ENTRY.match(block.chunk.text, block.span.start) else None


def _named(entry: Block) -> Block:
    """Return the name that an entry begins with."""
    match = _ENTRY.match(entry.chunk.text, entry.span.start)
    return entry._replace(span=types.Span(*match.span("name"))) if match else entry


def _without_periods(question: str) -> str:
    for start, end in reversed(find_periods(question)):
        question = f"{_PERIOD_BEFORE.sub('', question[:start])}{question[end:]}"
    return question


def _headings(blocks: Sequence[Block]) -> list[Block]:
    """Return the headings; adjacent ones, such as a number and a name, are one."""
    joined: list[Block] = []
    for before, block in pairwise([None, *blocks]):
        if block is None or not block.is_heading:
            continue
        if before and before.is_heading and before.chunk is block.chunk:
            joined[-1] = joined[-1]._replace(span=types.Span(joined[-1].span.start, block.span.end))
        else:
            joined.append(block)
    return joined


# --- choosing --------------------------------------------------------------------------------------------


def _spread(items: Sequence[Block]) -> list[Block]:
    """Return the first items of each section, as many as its share of all."""
    sections: dict[str, list[Block]] = {}
    for item in items:
        sections.setdefault("" if item.is_heading else item.path[-1], []).append(item)
    limit = MAX_SHORT_ITEMS if all(len(item.text) <= SHORT_CHARS for item in items) else MAX_ITEMS
    groups = [*sections.values()][:limit]
    shares = quotas([len(group) for group in groups], min(limit, sum(map(len, groups))))
    return [item for group, share in zip(groups, shares, strict=True) for item in group[:share]]


def _shown(block: Block) -> KeySentence:
    """Return a block without its bullet; of a long one the first sentence, with the next if it is only a title."""
    text = block.chunk.text
    span = without_bullet(text, block.span)
    if not block.is_heading and (span.end - span.start > MAX_ITEM_CHARS or not (block.is_bold or block.is_bullet)):
        first, *others = split_sentences(text[slice(*span)])
        is_title = len(text[span.start + first.start : span.start + first.end].split()) < MIN_WORDS
        span = types.Span(span.start, span.start + (others[0].end if is_title and others else first.end))
    return KeySentence(block.chunk, span, "" if block.is_heading else block.path[-1])


_MAY_ASK = re.compile(r"\b(?:sign\w*|executed|unter(?:schrieben|zeichnet)|directors|board)\b", re.IGNORECASE)
_SIGNED_THING = r"(?:report|document|filing|contract|agreement|lease|form|10-?[kq]|8-?k|indenture|amendment|letter|it)"
_ASKS_SIGNERS = re.compile(
    rf"""(?:by\s+whom|who)\s+(?:(?:all|has|have|was|were|is)\s+)*(?:signed|executed)
    (?:\s+(?:the|this|that|annual|quarterly|form|merger|loan|credit|licen[cs]e|['’]s))*(?:\s+{_SIGNED_THING})*
    (?:\s+(?:for|on\s+behalf\s+of)(?:\s+(?P<party>.+))?)?
    |(?:who\s+are|list|name)\s+(?:all\s+)?(?:the\s+)?(?:signatories|signers)(?:\s+(?:of|to)(?:\s+(?:the|this))?(?:\s+{_SIGNED_THING})?)?
    |(?:wer\s+hat|von\s+wem\s+(?:wurde|ist))\s+(?:den|die|das|der|diese[nrms]?)\s+\w+\s+(?:unterschrieben|unterzeichnet)""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_DIRECTORS = re.compile(
    r"""(?:who\s+(?:are|is|sits|serves)(?:\s+on)?|list|name)\s+(?:(?:all|of|the|its|our|their|current|['’]s|company(?:['’]s)?)\s+)*
    (?:members\s+of\s+(?:the\s+)?board(?:\s+of\s+directors)?|board(?:\s+members|\s+of\s+directors)?|directors)
    (?:\s+(?:of|at)(?:\s+the)?(?:\s+(?:company|group|firm|registrant))?)?""",
    re.IGNORECASE | re.VERBOSE,
)
_DIRECTOR = re.compile(
    r"""(?<!managing\s)\bdirector\b(?!\s+(?:of|for)\b)(?!\s*,\s*(?!(?:president|chief|chair|vice|executive|principal)\b)[a-z])
    |\bchair(?:man|woman|person)?\b|\bmember\s+of\s+the\s+board\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""The office of a member of the board, unlike a director of a department."""


def may_ask_signers(question: str) -> bool:
    """Return whether `question` may be one for signers; quick, so that documents are looked up for few."""
    return _MAY_ASK.search(question) is not None


def asks_signers(question: str) -> bool:
    """Return whether `question`, without names of documents, asks who signed or who the directors are."""
    return (_match(_ASKS_SIGNERS, question) or _match(_ASKS_DIRECTORS, question)) is not None


def find_signers(chunks: Sequence[types.Chunk], question: str) -> FoundList | None:
    """Return the signatures that answer `question`, or None without any; `chunks` are all of a document in order.

    Each signer is shown once, under the party that is named above the first signature.
    """
    of_directors, asked = _match(_ASKS_DIRECTORS, question) is not None, _match(_ASKS_SIGNERS, question)
    asked_party = {*term_weights.words((asked and asked["party"]) or "")}
    signed: dict[str, KeySentence] = {}
    party = ""
    for chunk in chunks:
        for unit in signatures(chunk):
            text = chunk.text[slice(*unit.span)]
            named = one_line(chunk.text[slice(*unit.section)]) if unit.section else ""
            party = named or party
            is_asked = asked_party <= {*term_weights.words(party)} and (not of_directors or _DIRECTOR.search(text))
            if is_asked:
                names = " ".join(SIGNING.split(text.split("\n")[0].split("\t")[0])).strip().casefold()
                signed.setdefault(names, KeySentence(chunk, unit.span, named))
    return FoundList([*signed.values()][:MAX_SHORT_ITEMS], len(signed)) if signed else None


def _match(pattern: re.Pattern[str], question: str) -> re.Match[str] | None:
    return pattern.fullmatch(" ".join(question.split()).strip(" ¿?.!"))
