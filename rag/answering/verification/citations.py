"""Parse an answer into sentences, the statements to prove, the sources they cite and the quotes proposed for them."""

import bisect
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from rag import prompts, types
from rag.answering.text import numbers
from rag.answering.text.analyzed_text import Text
from rag.answering.text.markup import CITATION_MARK, AnswerFilter, ProposedQuote
from rag.answering.text.normalized_text import normalize
from rag.answering.text.sentences import (
    SOURCES_LINE,
    answer_sentences,
    markdown_row,
    strip_markup,
    without_marks,
)

_SENTINEL = normalize(prompts.NOT_FOUND_SENTINEL).text.rstrip(".")

_DOCUMENTS = (
    r"(?:(?:the|these|this|any of the|my|your|provided|given|available|supplied|retrieved|cited|above|uploaded)"
    r"\s+){0,6}"
    r"(?:documents?|sources?|context|passages?|excerpts?|texts?|materials?|reports?|files?|pages?|information|content|"
    r"sections?|filings?|library|data)"
)
_TELL = (
    r"(?:mention|contain|provide|state|specify|include|say|disclose|cover|give|address|list|discuss|answer|reveal|"
    r"indicate|describe|offer|report|show|identify|explain|tell|refer|name|hold|have)"
)
_TOLD = (
    r"(?:mentioned|contained|provided|stated|specified|included|disclosed|covered|given|addressed|listed|discussed|"
    r"answered|revealed|indicated|described|reported|shown|identified|found|available|present|named)"
)
_REFUSAL = re.compile(
    "|".join(
        [
            rf"\b{_DOCUMENTS}\b[^.]{{0,60}}?\b(?:do|does|did|doesn|don|didn)(?:['’]t| not)\b[^.]{{0,25}}?\b{_TELL}\b",
            rf"\b{_DOCUMENTS}\b[^.]{{0,60}}?\b(?:contains?|have|has|holds?|provides?|gives?|includes?|makes?) no\b",
            (
                rf"\b(?:is|are|was|were|isn|aren|wasn|weren)(?:['’]t| not)\b(?: \w+){{0,2}} {_TOLD}\b[^.]{{0,40}}"
                rf"\b(?:in|by|from|within) {_DOCUMENTS}\b"
            ),
            (
                r"\b(?:I|we)(?:\s\w+)? (?:could not|cannot|can not|can['’]?t|couldn['’]t|am unable to|was unable to|"
                r"am not able to|was not able to|are unable to) "
                r"(?:find|answer|determine|locate|tell|say|provide|see|identify)"
            ),
            r"\bI (?:do not|don['’]t) (?:have|know|see|find)\b",
            r"\bI (?:did not|didn['’]t) find\b|\bI (?:found|have) no\b",
            r"\b(?:there (?:is|are|was|were) no|there isn['’]t|no) (?:\w+ ){0,3}?(?:information|mention|details)\b",
            r"\b(?:cannot|can['’]t|could not|couldn['’]t) be (?:answered|determined|found|established|derived)\b",
            r"\b(?:unable|impossible|not possible) to (?:answer|determine|find|say|tell|locate|provide)\b",
            r"\binsufficient (?:information|context)\b",
            r"\b(?:Dokument\w*|Quell\w*|Unterlagen|Kontext|Auszüg\w*)\b[^.]{0,80}\b(?:nicht|keine?n?)\b",
            r"\b(?:ich (?:konnte|kann|habe)|wir (?:konnten|können))\b[^.]{0,80}\b(?:nicht|keine?n?)\b",
            r"\b(?:documents?|sources?|contexte|textes?)\b[^.]{0,60}\bn(?:e |['’])\w+[^.]{0,20}\b(?:pas|aucune?)\b",
            r"\bje (?:ne|n['’])\b[^.]{0,40}\b(?:pas|aucune?|rien)\b",
            r"\b(?:documentos?|fuentes?|contexto|textos?|fragmentos?)\b[^.]{0,40}\bno \w+",
            r"\bno (?:he|pude|puedo|encuentro|encontré|hay información|se (?:menciona|indica|especifica))\b",
            r"\b(?:documenti|fonti|contesto|testi?)\b[^.]{0,40}\bnon \w+",
            r"\bnon (?:ho|posso|trovo|è|si)\b[^.]{0,60}\b(?:trovat\w*|menzionat\w*|specificat\w*|informazion\w*)",
        ]
    ),
    re.IGNORECASE,
)
"""Phrases by which models say that the sources do not contain the answer: English and the commonest of others."""

_OFFER = re.compile(
    r"\s*(?:let me know|please let me|feel free|if you (?:need|would like|want|have)|would you like|happy to help|"
    r"i hope this|sure[,!.]|certainly[,!.]|of course[,!.]|here (?:is|are)\b|below (?:is|are)\b|"
    r"the following|to answer your question|please (?:provide|consult|check|see|note that i))",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"\s*(?:according to|as (?:stated|reported|shown|noted|described|mentioned) (?:in|by)|based on|per|from|in) "
    rf"{_DOCUMENTS}(?: \[?S?\d+\]?)?(?: (?:provided|above|given))?\s*,\s*|\s*{_DOCUMENTS} "
    r"(?:states?|says?|shows?|reports?|notes?|mentions?|indicates?|confirms?|discloses?)(?: clearly)? that\s+|"
    r"\s*(?:it is (?:stated|reported|noted|mentioned)|note|please note|specifically|in (?:summary|short|fact|addition|"
    r"particular|total|conclusion|other words)|overall|to summari[sz]e|in brief)\s*[,:]?\s+(?:that\s+)?|"
    r"\s*(?:yes|no|answer|ja|nein|oui|non|sí)\s*(?:[,:!–—-]|\.(?=\s+[^\W\d_]))\s+",
    re.IGNORECASE,
)
_BARE_REPLY = re.compile(
    r"\W*(?:(?:short |final )?answer\W+|antwort\W+|réponse\W+)?"
    r"(?:yes|no|ja|nein|nee|oui|non|sí|si|sì|sim|não|да|нет|是的?|否|不是|はい|いいえ)\W*",
    re.IGNORECASE,
)
_ENDS_OPEN = re.compile(
    r"\b(?:is|are|was|were|has|have|had|includes?|including|follow(?:s|ing)?|below|that|sind|ist|war(?:en)?|hat|haben|lauten?|"
    r"folgende[rns]?|sont|est|suivante?s?|son|es|siguientes?|sono|è|seguenti|zijn|são|como segue)\s*:$",
    re.IGNORECASE,
)
"""The end of an announcement: what it says stands below."""

_SAYS_KIND = {
    types.BlockKind.STRUCK: re.compile(
        r"\b(?:str(?:uck|icken|ike)[\s-]?(?:out|through)|crossed[\s-]out|redlined|deleted|deletion|(?:durch|aus)?gestrichen\w*"
        r"|gelöscht\w*|barrée?s?|biffée?s?|tachad[oa]s?)\b",
        re.IGNORECASE,
    ),
    types.BlockKind.HIDDEN: re.compile(
        r"\b(?:(?:is|are|was|were|been|being)\s+(?:hidden|concealed)|hidden\s+(?:text|words?|lines?|sentences?|passages?)"
        r"|invisibl[ey]|not\s+visible|(?:nicht\s+|un)sichtbar\w*|(?:ist|sind|war|waren)\s+(?:verborgen|versteckt)"
        r"|versteckte\w*\s+text\w*)\b",
        re.IGNORECASE,
    ),
}


def said_kinds(statement: str) -> list[types.BlockKind]:
    """Return which kinds of invalid text a statement speaks of: struck out, hidden."""
    return [kind for kind, pattern in _SAYS_KIND.items() if pattern.search(statement)]


def checkable_statement(sentence: types.Sentence, answer: str = "") -> str:
    """Return the statement of a sentence of `answer` as it is compared with quotes; "" if it states nothing."""
    answer = answer or sentence.text
    blank = CITATION_MARK.sub(lambda mark: " " * len(mark.group()), answer)
    before, after = blank[: sentence.start], blank[sentence.end :]
    row = markdown_row(blank.split("\n"), before.count("\n"))
    if row is not None:
        return row
    text = sentence.text
    if not sentence.citation_ids and is_bare_reply(text):  # the sentences after it give the facts
        return ""
    if sentence.citation_ids and text.endswith(":") and not _ENDS_OPEN.search(text):  # "It has two segments [S1]:"
        text = text.removesuffix(":")
    if not is_checkable(text, before, after):
        return ""
    statement = strip_markup(text)
    # lead-ins such as "According to the report, …" state nothing
    while (lead := _LEAD_IN.match(statement)) and (rest := statement[lead.end() :]) and Text(rest).content:
        statement = rest
    return statement


def is_bare_reply(statement: str) -> bool:
    """Return whether a statement is only "Yes" or "No", which any page may have beside a box to tick."""
    return _BARE_REPLY.fullmatch(statement) is not None


def is_sentinel(text: str) -> bool:
    """Return whether a text is the refusal that a model is told to reply, and nothing else."""
    return normalize(text).text.strip().rstrip(".").rstrip() == _SENTINEL


def is_refusal(sentence: str) -> bool:
    """Return whether a sentence says that the sources do not contain what was asked."""
    return _SENTINEL in normalize(sentence).text or _REFUSAL.search(sentence) is not None


def is_checkable(sentence: str, before: str = "", after: str = "") -> bool:
    """Return whether a source could prove `text`; `before` and `after` surround it in the answer.

    Headings, questions, announcements ("The figures are:") and offers state nothing.
    """
    text = strip_markup(sentence)
    line = before.rsplit("\n", 1)[-1]
    if re.match(r"\s*#{1,6}\s", line) or text.endswith(("?", "？")):
        return False
    if text.endswith(":") and not after.split("\n", 1)[0].strip():
        return False
    is_bold_line = re.fullmatch(r"\s*(?:\*\*|__)[^*]+(?:\*\*|__):?\s*", line + sentence) is not None
    if (is_bold_line and not re.search(r"[.!]\s*(?:\*\*|__)", sentence)) or _OFFER.match(text):
        return bool(Text(text).numbers) and not is_bold_line
    made = Text(text)
    return bool(made.content or made.numbers)


_LINE = re.compile(r"[^\n]+")
_MARKS = re.compile(rf"(?:(?<!\s)\s+)?{CITATION_MARK.pattern}")
_CUT_MARK = re.compile(r"(?:(?<!\s)\s+)?\[S?\d*$")
"""What is left of a mark where the output was cut off."""

_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]")
_ITEM = re.compile(r"(?P<indent>[ \t>]*)(?:[•‣◦▪●○–—*+-]|\(?(?:\d{1,3}|[a-zA-Z])[.)])[ \t]")
MIN_COVERED = 0.6
"""Minimum share of a sentence's words in the quotes of the next one, with which it shares their sources."""

_SPACE_BEFORE_STOP = re.compile(r"(?<!\s)\s+(?=[.,;:!?)](?:\s|$))")


class Claim(NamedTuple):
    """A sentence of the answer and the quotes proposed for it."""

    sentence: types.Sentence
    quotes: tuple[ProposedQuote, ...] = ()


class ParsedAnswer(NamedTuple):
    """An answer as displayed, citation marks included, and its sentences."""

    text: str
    claims: tuple[Claim, ...]


def parse(raw: str, known: Collection[str]) -> ParsedAnswer:
    """Split a model's raw output into claims, keeping only citation marks of `known` ids."""
    markup = AnswerFilter(known)
    return parse_filtered(markup.feed(raw) + markup.finish(), markup.quotes)


def parse_filtered(text: str, quotes: Sequence[ProposedQuote]) -> ParsedAnswer:
    """Split `text`, the output of an AnswerFilter, into claims with its `quotes`.

    A sentence without a citation mark gets the marks of its quotes' sources, or of the table, list or paragraph that it
    belongs to.
    """
    answer = ParsedAnswer(text, tuple(_claims(text, quotes)))
    quoted = {
        index: [quote.citation_id for quote in claim.quotes if quote.citation_id]
        for index, claim in enumerate(answer.claims)
        if not claim.sentence.citation_ids
    }
    answer = with_citations(answer, quoted)
    return with_citations(answer, _inherited(answer))


def with_citations(answer: ParsedAnswer, sources: Mapping[int, Sequence[str]]) -> ParsedAnswer:
    """Return `answer` with the marks of `sources` after its sentences, which are given by their index.

    They replace the marks that these sentences have.
    """
    text = answer.text
    quotes = [quote for claim in answer.claims for quote in claim.quotes]
    for index in sorted(sources, reverse=True):
        mark = "".join(f"[{citation_id}]" for citation_id in dict.fromkeys(sources[index]))
        if not mark:
            continue
        sentence = answer.claims[index].sentence
        own = text[sentence.start : sentence.end]
        bare = _CUT_MARK.sub("", _MARKS.sub("", own).rstrip(" |"))
        new = f"{bare} {mark}{own[len(own.rstrip(' |')) :]}"
        text = f"{text[: sentence.start]}{new}{text[sentence.end :]}"
        moved = len(new) - len(own)
        quotes = [q._replace(position=q.position + moved) if q.position > sentence.start else q for q in quotes]
    return answer if text == answer.text else ParsedAnswer(text, tuple(_claims(text, quotes)))


class _Block(NamedTuple):
    """Lines of an answer of one kind: "row", "item", "sources", "heading" or "text"; the last three are one line."""

    kind: str
    lines: list[int]


def _blocks(lines: Sequence[str]) -> list[_Block]:
    found: list[_Block] = []
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if markdown_row(lines, number) is not None:
            kind = "row"
        elif SOURCES_LINE.fullmatch(line):
            kind = "sources"
        elif _HEADING.match(line):
            kind = "heading"
        else:
            kind = "item" if _ITEM.match(line) else "text"
        if found and found[-1].kind == kind and kind in ("row", "item"):
            found[-1].lines.append(number)
        else:
            found.append(_Block(kind, [number]))
    return found


def _inherited(answer: ParsedAnswer) -> dict[int, Sequence[str]]:
    """Return the ids that statements without marks take over, by the index of their sentence.

    A row has the sources of its table, else those of the sentence before or after it. A list item has the sources at
    its own end, else those of the item or sentence that introduces it, else of a line of marks below the list. A
    sentence in a paragraph has those of the next one if that one's quotes cover it.
    """
    lines = without_marks(answer.text).split("\n")
    ids: dict[int, Sequence[str]] = {i: claim.sentence.citation_ids for i, claim in enumerate(answer.claims)}
    claims: list[list[int]] = [[] for _ in lines]
    for index, claim in enumerate(answer.claims):
        claims[answer.text.count("\n", 0, claim.sentence.start)].append(index)
    blocks = _blocks(lines)
    around = [_Block("heading", []), *blocks, _Block("heading", [])]
    for before, block, after in zip(around, blocks, around[2:], strict=False):
        lead = _last_ids(ids, claims[before.lines[-1]]) if before.kind == "text" else ()
        own = [index for number in block.lines for index in claims[number]]
        if block.kind == "row":
            below = _last_ids(ids, claims[after.lines[0]][:1]) if after.kind == "text" else ()
            shared = tuple(dict.fromkeys(one for index in own for one in ids[index]))
            ids |= {index: shared or lead or below for index in own if not ids[index]}
        elif block.kind == "item":
            is_lead = bool(lead) and (
                lines[before.lines[-1]].rstrip().endswith(":") or before.lines[-1] + 1 == block.lines[0]
            )
            row = answer.text.split("\n")[after.lines[0]] if after.kind == "sources" else ""
            ids |= _of_items(lines, block, claims, ids, lead if is_lead else CITATION_MARK.findall(row))
        elif block.kind == "text":
            for index, following in reversed(list(itertools.pairwise(own))):
                if not ids[index] and _covers(answer.claims[following].quotes, answer.claims[index].sentence.text):
                    ids[index] = ids[following]
    return {
        index: inherited
        for index, inherited in ids.items()
        if inherited and not (sentence := answer.claims[index].sentence).citation_ids
        if checkable_statement(sentence, answer.text) and not is_refusal(sentence.text)
    }


def _last_ids(ids: Mapping[int, Sequence[str]], indices: Sequence[int]) -> Sequence[str]:
    return ids[indices[-1]] if indices else ()


def _of_items(
    lines: Sequence[str],
    block: _Block,
    claims: Sequence[Sequence[int]],
    ids: Mapping[int, Sequence[str]],
    lead: Sequence[str],
) -> dict[int, Sequence[str]]:
    """Return the ids of the sentences of a list; `lead` are those of the whole list."""
    found: dict[int, Sequence[str]] = {}
    above: list[tuple[int, Sequence[str]]] = []
    for number in block.lines:
        item = _ITEM.match(lines[number])
        indent = len(item["indent"].expandtabs(4)) if item else 0
        while above and above[-1][0] >= indent:
            above.pop()
        inherited = above[-1][1] if above else lead
        for index in reversed(claims[number]):
            inherited = found[index] = ids[index] or inherited
        above.append((indent, inherited))
    return found


def _covers(quotes: Sequence[ProposedQuote], sentence: str) -> bool:
    """Return whether quotes have the figures and most words of a sentence."""
    words = [quote.text for quote in quotes]
    said, quoted = Text(strip_markup(sentence)), Text("\n".join(words))
    shared = len(said.content_keys & quoted.keys)
    return shared > 0 and shared >= MIN_COVERED * len(said.content_keys) and not numbers.unsupported(said.text, words)


def _claims(text: str, quotes: Sequence[ProposedQuote]) -> list[Claim]:
    blank = without_marks(text)
    lines = [types.Span(*match.span()) for match in _LINE.finditer(text)]
    spans = answer_sentences(text)
    owner = _SentenceFinder(lines, spans)
    marks: list[list[re.Match[str]]] = [[] for _ in spans]
    for match in CITATION_MARK.finditer(text):
        if (index := owner.of(match.start())) is not None:
            marks[index].append(match)
    owned: list[list[ProposedQuote]] = [[] for _ in spans]
    for quote in quotes:
        if (index := owner.of(quote.position)) is not None:
            owned[index].append(quote)
    return [
        Claim(_sentence(blank, span, own), tuple(proposed))
        for span, own, proposed in zip(spans, marks, owned, strict=True)
    ]


class _SentenceFinder:
    """Find the sentence that a citation mark belongs to."""

    def __init__(self, lines: Sequence[types.Span], spans: Sequence[types.Span]) -> None:
        self._lines = [line.start for line in lines]
        self._starts = [span.start for span in spans]

    def of(self, position: int) -> int | None:
        """Return the sentence before `position`; at the beginning of a line, the first sentence of that line."""
        if not self._starts:
            return None
        index = bisect.bisect_left(self._starts, position) - 1
        line = bisect.bisect_right(self._lines, position)
        line_start = self._lines[line - 1] if line else 0
        line_end = self._lines[line] if line < len(self._lines) else None
        following = index + 1
        begins_line = index < 0 or self._starts[index] < line_start
        if begins_line and following < len(self._starts) and (line_end is None or self._starts[following] < line_end):
            return following
        return max(index, 0)


def _sentence(blank: str, span: types.Span, marks: Sequence[re.Match[str]]) -> types.Sentence:
    return types.Sentence(
        text=_SPACE_BEFORE_STOP.sub("", " ".join(blank[span.start : span.end].split())),
        citation_ids=tuple(dict.fromkeys(mark.group(1) for mark in marks)),
        start=min([span.start, *(mark.start() for mark in marks)]),
        end=max([span.end, *(mark.end() for mark in marks)]),
    )
