"""Extracts: the sentences of a document that say most of what it says, section by section, word for word.

Centroid-based: Radev, Jing, Styś, Tam, "Centroid-based summarization of multiple documents", Information Processing &
Management 40 (2004), with the centroid of embedded vectors for passages as in Rossiello, Basile, Semeraro,
"Centroid-based Text Summarization through Compositionality of Word Embeddings", MultiLing 2017, and that of weighted
words for the sentences in them; against repetition maximal marginal relevance (Carbonell, Goldstein, SIGIR 1998).
"""

import itertools
import math
import re
import textwrap
import uuid
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rag import types
from rag.answering.passages.quotable_units import Block, Unit, read_blocks, split_passage
from rag.answering.passages.statements import Label, Row, Source, Statement, display_text, quoted_row
from rag.answering.text import term_weights
from rag.answering.text.legibility import is_legible
from rag.answering.text.sentences import one_line
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.retrieval import maximal_marginal_relevance

MAX_SENTENCES = 10
"""Maximum length of the summary of one document."""

SHORT_SENTENCES = 3
"""The same for each of several documents."""

OWN_SENTENCES, CONCLUDING_SENTENCES, MAIN_SENTENCES = 7, 2, 5
"""Maximum number of sentences from a document's own summary, from its conclusion, and, without a summary of its own,
from its main sections."""

PASSAGES = 24
"""Sentences whose passages a model reads for a summary; passages can hold several."""

MAX_SHARE = 1 / 3
"""Maximum share of a summary's sentences that come from one of its sections, if it has three or more."""

MAX_LABEL_CHARS = 90
"""Maximum length of the name of a section above its sentences."""

MAX_NAME_WORDS = 12
"""Maximum number of words of a line that names the document."""

MAX_SECTIONS = 6
"""Number of main sections, the largest, that contribute sentences."""

CHUNKS_PER_SECTION = 8
"""Chunks of a section that are read: those nearest to its own and the document's centroid."""

DIVERSITY = 0.4
"""Weight of novelty against centrality among the sentences of a section."""

POSITION_BONUS = 0.3
"""Bonus of a passage's first sentences: position in MEAD (Radev et al. 2004), scaled to the best."""

DEPENDENT_WEIGHT = 0.6
"""Weight of sentences that depend on the one before: "However, this …"."""

MIN_CHARS, MAX_CHARS, MIN_WORDS = 40, 400, 7
MIN_LETTER_SHARE = 0.7
"""Minimum share of letters among the characters of a sentence, to exclude rows of figures."""

REPEATED = 3
"""A line on this many pages is boilerplate."""

_KINDS = (
    r"(?:document|report|paper|file|filing|pdf|contract|agreement|lease|article|book|manual|guide|presentation|letter|text|"
    r"deck|study|policy|thesis|memo|minutes|10-?k|10-?q|8-?k|dokument|bericht|vertrag|rapport|contrat|documento|informe|contrato)s?"
)
_WHOLE = re.compile(
    rf"(?:(?:of|in|from|about)\s+)?(?:(?:this|that|these|those|the|my|our|all|both|each|whole|entire|full|attached|uploaded|das|dieses|den|diesen|der|die|le|ce|cette|la|el|este|"
    rf"annual|quarterly|of)\s+)*(?:{_KINDS}|it|this|everything)?",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"(?<![\s,])[\s,]++(?:please|pls|plz|thanks|thank\s+you|briefly|in\s+(?:short|brief)|bitte|danke)$", re.IGNORECASE
)
"""What ends a request and asks for nothing."""
_ASKED = re.compile(
    r"""[\s¿]*+(?:please\s++|kindly\s++)?(?:(?:can|could|would)\s+you\s++(?:please\s++)?)?(?:
    (?P<verb>summari[sz]e|sum\s+up|outline|recap|give\s+(?:me\s+)?(?:an?|the)\s+(?:\w+\s+)?(?:summary|overview|outline|synopsis|gist|recap)
      |(?:\w+\s+)?(?:summary|overview|synopsis|gist|outline)(?=\s+of\b|\s*[?.!]*$)|tl;?dr
      |(?:what\s+(?:is|are)|list|give\s+me|show\s+me|name|tell\s+me)?\s*+(?:the\s+)?(?:key|main|most\s+important|principal|central)
        \s+(?:points|messages|takeaways|take-aways|ideas|statements|conclusions|results|findings|contributions|facts|figures)
      |fass[et]?|zusammenfassung|résum(?:e|er|ez|é)|resum(?:e|ir|a|en))
    |what\s+(?:is|are)\s+(?P<about>\S.*?)(?<!\s)\s+about(?:,?\s+and\s+what\s+are\s+(?:its|the|their)\s+(?:main|key)\s+(?:points|results|findings|conclusions))?|what\s+does\s+(?P<says>\S.*?)(?<!\s)\s+say|worum\s+geht\s+es\s+in|de\s+quoi\s+parle
    )\s*+(?P<target>.*?)(?:(?:(?<!\s)\s+)?zusammen)?""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_OF_KIND = re.compile(rf"\b{_KINDS}\b", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?:for\s+the\s+)?(?:(?:fiscal|financial|quarterly)\s+)?(?:year|quarter|period|six\s+months|half[- ]year)\s+ended"
    r"\b.*\d{4}|(?:geschäftsjahr|annual\s+report)\s+(?:19|20)\d\d\b.*",
    re.IGNORECASE,
)
_NUMBERED = r"^(?:(?:\d++|[ivxlc]++\b)[\s.:–—-]*+)?(?:the\s+)?"
_OWN_SUMMARY = re.compile(
    rf"{_NUMBERED}(?:abstract|(?:executive\s+)?summary|(?:key|main)\s+(?:findings|results|points|messages)|highlights|in\s+brief"
    r"|at\s+a\s+glance|zusammenfassung|kurzfassung)",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(
    rf"{_NUMBERED}(?:discussion\s+and\s+)?(?:conclusions?|concluding\s+remarks|summary\s+and\s+conclusions?|fazit|schluss)"
    r"(?:\s+and\s+\w+(?:\s+\w+)?)?",
    re.IGNORECASE,
)
"""Headings over what a document says of itself in short, and at its end."""
_TARGET_LEAD = re.compile(r"(?:of|in|from|about|for|von|de|du|der|des|die|das|le|la|el)\s+", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:points|messages|takeaways|take-aways|ideas|statements|conclusions|results|findings|contributions|facts|figures)$",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:the\s+)?(?:sections?|chapters?|parts?|items?|notes?)\b|.*\b(?:section|chapter)$", re.IGNORECASE
)

_BESIDE = re.compile(
    r"\b(?:references|bibliography|works\s+cited|literature|table\s+of\s+contents|contents|index(?:\s+to)?|signatures?|"
    r"exhibits?|glossary|acknowledge?ments?|about\s+the\s+authors?|disclaimers?|copyright|legal\s+notice|imprint|"
    r"forward[- ]looking|safe\s+harbor)\b",
    re.IGNORECASE,
)
"""Sections that belong to a document but not to its content."""

_BOILERPLATE = re.compile(
    r"(?:figure|table|fig\.|tab\.)\s*\d+|arxiv\s+preprint|in\s+proceedings|permanent\s+link|\bet\s+al\.\s+[A-Z]|"
    r"all\s+rights\s+reserved|copyright|©|forward[- ]looking\s+statement|intentionally\s+left\s+blank|"
    r"indicate\s+by\s+check\s*mark|accelerated\s+filer|check\s+the\s+appropriate\s+box|incorporated\s+(?:herein\s+)?by\s+reference|"
    r"accompanying\s+notes|pursuant\s+to\s+(?:section|rule)|"
    r"see\s+(?:note|page|item|section|appendix)\b|refer\s+to\s+(?:note|page|item|section)|isbn|doi:|https?://|www\.|@",
    re.IGNORECASE,
)
_DEPENDENT = re.compile(
    r"(?:however|it|its|this|these|those|that|they|their|such|therefore|thus|hence|moreover|furthermore|in\s+addition|additionally|"
    r"also|but|and|or|he|she|his|her|consequently|similarly|for\s+example|for\s+instance|as\s+a\s+result|as\s+such|conversely|"
    r"instead|nevertheless|accordingly|finally|second|third|then|we\s+also)\b",
    re.IGNORECASE,
)


_STAMP = re.compile(r"(?:arxiv:|doi:|https?://|issn\b|isbn\b|e-?issn\b)", re.IGNORECASE)
"""The beginning of a line in the margin that says where a text was published, and names no section."""


THIS_DOCUMENT = "this"
"""What stands for the name of a document, before its kind or alone."""


class Extract(NamedTuple):
    """What to summarise: a whole document, or the section or subject `part`."""

    part: str = ""


class KeySentence(NamedTuple):
    """A chosen sentence: its chunk, span and section; a table row has its `unit`."""

    chunk: types.Chunk
    span: types.Span
    section: str
    unit: Unit | None = None


@dataclass(frozen=True)
class _Sentence:
    key: KeySentence
    text: str
    words: tuple[str, ...]
    position: int


def requested_summary(question: str) -> Extract | None:
    """Return what `question` asks to summarise, or None."""
    match = _ASKED.fullmatch(_POLITE.sub("", " ".join(question.split()).rstrip(" ?.!")))
    if match is None:
        return None
    said = match["about"] or match["says"]
    if said is not None:
        is_pronoun = said.lower() in ("it", "this")
        is_whole = bool(match["about"]) if is_pronoun else bool(_WHOLE.fullmatch(said))
        return Extract() if is_whole and not match["target"] else None
    target = match["target"]
    if _WHOLE.fullmatch(target):
        return Extract()
    part = _TARGET_LEAD.sub("", target, count=1)
    return None if _POINTS.search(match["verb"] or "") and not _PLACE.match(part) else Extract(part)


# --- choosing -------------------------------------------------------------------------------------------


def naming_lines(chunks: Sequence[types.Chunk], title: str | None) -> list[KeySentence]:
    """Return what the first page says the document is: the line of its title, one of its kind, one of its period."""
    page = min((chunk.pages[0] for chunk in chunks), default=1)
    first = read_blocks([chunk for chunk in chunks if page in chunk.pages])
    short = [block for block in first if len(block.text.split()) <= MAX_NAME_WORDS and is_legible(block.text)]
    tests = (
        lambda text: bool(title) and text.casefold() == (title or "").casefold(),
        lambda text: _OF_KIND.search(text) is not None,
        lambda text: _PERIOD.fullmatch(text) is not None,
    )
    found = {next((block for block in short if test(block.text)), None) for test in tests} - {None}
    return [KeySentence(block.chunk, block.span, "") for block in short if block in found]


def key_sentences(
    chunks: Sequence[types.Chunk], vectors: Mapping[uuid.UUID, Any], *, limit: int = MAX_SENTENCES
) -> list[KeySentence]:
    """Return the sentences most central to a document, at most `limit`, in the order of its sections.

    The first is the one that the first main section begins with. `chunks` are in reading order with their unit
    `vectors`. Headers, tables, contents and references are left out. Time is linear in chunks; a bounded number of them
    is read sentence by sentence.
    """
    repeated = repeated_lines(chunks)
    told = [chunk for chunk in chunks if chunk.id in vectors and not is_beside(chunk.section)]
    if not told:
        return []
    sections = main_sections(told, min(MAX_SECTIONS, limit))
    centroid = _mean([vectors[chunk.id] for chunk in told])
    chosen: list[KeySentence] = []
    most = limit * MAX_SHARE // 1 if len(sections) * MAX_SHARE >= 1 else limit
    shares = quotas([section.weight for section in sections], limit, most)
    for (name, own, _), quota in zip(sections, shares, strict=True):
        centre = _mean([vectors[chunk.id] for chunk in own]) + centroid
        near = sorted(own, key=lambda chunk: -float(vectors[chunk.id] @ centre))[:CHUNKS_PER_SECTION]
        sentences = [sentence for chunk in near for sentence in _sentences(chunk, name, repeated)]
        opening = list[KeySentence]()
        if not chosen:  # the document's first sentence that stands for itself
            told_here = (sentence for chunk in own for sentence in _sentences(chunk, name, repeated))
            alone = (sentence.key for sentence in told_here if not is_dependent(sentence.text))
            opening = [*itertools.islice(alone, 1)]
        known = {one_line(_text(key)) for key in (*chosen, *opening)}
        taken = opening + _best(sentences, quota - len(opening), known)
        chosen += sorted(taken, key=lambda key: (key.chunk.ordinal, key.span.start))
    return chosen


def whole_summary(
    chunks: Sequence[types.Chunk], vectors: Mapping[uuid.UUID, Any], facts: Sequence[KeySentence]
) -> list[KeySentence]:
    """Return what sums up a whole document, in reading order: its own summary, its key `facts` and its conclusion.

    Without a summary of its own, its main sections give `MAIN_SENTENCES` at most.
    """
    repeated = repeated_lines(chunks)
    own, conclusion = (_sentences_below(heading, chunks, repeated) for heading in (_OWN_SUMMARY, _CONCLUSION))
    keys = [*own[:OWN_SENTENCES], *facts, *conclusion[:CONCLUDING_SENTENCES]]
    if not own:
        keys += key_sentences(chunks, vectors, limit=MAIN_SENTENCES)
    unique = {one_line(_text(key)): key for key in reversed(keys)}
    return sorted(unique.values(), key=lambda key: (key.chunk.ordinal, key.span.start))


def _sentences_below(
    heading: re.Pattern[str], chunks: Sequence[types.Chunk], repeated: frozenset[str]
) -> list[KeySentence]:
    """Return the sentences of the first section of the first level with this `heading`, unless others have its name.

    Those are of chapters. A heading over more than `DOMINANT` of the text is the title and no level.
    """
    sizes = Counter[str]()
    for chunk in chunks:
        sizes.update({name: len(chunk.text) for name in (chunk.section or "").split(SECTION_SEPARATOR)})
    titles = {name for name, size in sizes.items() if size >= DOMINANT * _size(chunks)}
    found = list[tuple[str, list[KeySentence]]]()
    for section, inside in itertools.groupby(chunks, key=lambda chunk: chunk.section or ""):
        *above, last = section.split(SECTION_SEPARATOR)
        name = last.replace("*", "").strip(" .:")
        if heading.fullmatch(name) and {*above} <= titles:
            sentences = [one.key for chunk in inside for one in _sentences(chunk, name, repeated)]
            found += [(name, sentences)] if sentences else []
    names = [name for name, _ in found]
    return found[0][1] if found and names.count(names[0]) == 1 else []


def _text(key: KeySentence) -> str:
    return key.chunk.text[key.span.start : key.span.end]


def _mean(vectors: Sequence[Any]) -> Any:
    mean = np.mean(np.asarray(vectors), axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)


def is_beside(section: str | None) -> bool:
    """Return whether a section belongs to a document but not to its content, such as its references."""
    return _BESIDE.search((section or "").rsplit(SECTION_SEPARATOR, 1)[-1]) is not None


def is_dependent(text: str) -> bool:
    """Return whether a sentence depends on the one before: "However, this …"."""
    return _DEPENDENT.match(text) is not None


def repeated_lines(chunks: Sequence[types.Chunk]) -> frozenset[str]:
    """Return lines, with digits masked, that occur on several pages."""
    pages: dict[str, set[int]] = {}
    for chunk in chunks:
        for line in chunk.lines:
            pages.setdefault(plain_line(line.text), set()).add(line.page_number)
    return frozenset(text for text, on in pages.items() if len(on) >= REPEATED)


def plain_line(text: str) -> str:
    """Return a line as it is compared with those of other pages."""
    return re.sub(r"\d+", "0", " ".join(text.split()).lower())


def _sentences(chunk: types.Chunk, section: str, repeated: frozenset[str]) -> list[_Sentence]:
    sentences: list[_Sentence] = []
    for unit in split_passage(types.Passage(document_id=chunk.document_id, lines=chunk.lines)):
        text = one_line(chunk.text[unit.span.start : unit.span.end])
        if unit.kind is not types.BlockKind.TEXT or unit.is_boilerplate or unit.cells or not states_something(text):
            continue
        if any(plain_line(line.text) in repeated for line in chunk.lines_of(*unit.span)):
            continue
        words = tuple(term_weights.content_words(text))
        sentences.append(_Sentence(KeySentence(chunk, unit.span, section), text, words, len(sentences)))
    return sentences


def states_something(text: str) -> bool:
    """Return whether a text is a whole sentence of its document's content."""
    solid = text.replace(" ", "")
    return (
        MIN_CHARS <= len(text) <= MAX_CHARS
        and len(text.split()) >= MIN_WORDS
        and (text[0].isupper() or text[0].isdigit() or text[0] in "\"“‘'«")
        and text.rstrip("\"”’'»)")[-1:] in ".!。"
        and sum(map(str.isalpha, solid)) >= MIN_LETTER_SHARE * len(solid)
        and not text.isupper()
        and not _BOILERPLATE.search(text)
        and is_legible(text)
    )


def _best(sentences: Sequence[_Sentence], limit: int, known: set[str]) -> list[KeySentence]:
    unique = list({sentence.text: sentence for sentence in sentences if sentence.text not in known}.values())
    if not unique:
        return []
    weights = term_weights.idf([sentence.words for sentence in unique])
    totals = Counter(word for sentence in unique for word in sentence.words)
    centroid = {word: count * weights[word] for word, count in totals.items() if count > 1}
    places = {word: place for place, word in enumerate(weights)}
    scores, vectors = np.zeros(len(unique)), np.zeros((len(unique), len(places)))
    for row, sentence in enumerate(unique):
        # the weight in the centroid over the root of the length, so that length does not decide
        score = sum(centroid.get(word, 0.0) for word in set(sentence.words)) / math.sqrt(len(sentence.words) or 1)
        score *= 1 + POSITION_BONUS / (1 + sentence.position)
        scores[row] = score * (DEPENDENT_WEIGHT if is_dependent(sentence.text) else 1.0)
        for word in sentence.words:
            vectors[row, places[word]] += weights[word]
    scores = scores / max(float(scores.max()), 1e-9)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    order = maximal_marginal_relevance(scores, vectors, diversity=DIVERSITY, limit=limit)
    return [unique[index].key for index in order]


# --- sections: their names and places say which count most (Edmundson, "New Methods in Automatic Extracting", 1969) ---

MIN_PARTS = 4
"""Minimum number of numbered parts, the text before the first among them, for a document to consist of them."""

DOMINANT = 0.6
"""A heading over more than this share of the text is the document's title; sections are below it."""

_TELLING = re.compile(
    r"(?:(?:part|item|chapter|section)?\s*[\divxlc.]++[a-z]?(?:(?<=\.)|[\s.:–—-])[\s.:–—-]*+)?(?:the\s+)?(?:abstract|(?:executive\s+)?summary|introduction|overview|highlights|conclusions?|(?:key|main)\s+findings|"
    r"findings|results|recommendations|outlook)\b",
    re.IGNORECASE,
)
"""The beginning of a heading over what a document comes to, unlike that of "Item 16. Form 10-K Summary"."""
PART = re.compile(r"(?:part|item|chapter|article|title|teil|kapitel|artikel)\s+(?:\d+[A-Z]?|[IVXLC]+)\b", re.IGNORECASE)
_APPENDIX = re.compile(r"(?:appendix|annex|exhibit|attachment|schedule)\b", re.IGNORECASE)
_LETTERED = re.compile(r"[A-Z](?:\.\d+)*\.?\s+[A-Z]")
TELLING, APPENDED = 3.0, 0.3
"""Weights of sections with telling names and of appendices; others weigh 1.0."""
EARLINESS = 1.5, 0.5
"""Weights of the first and the last section; interpolated between."""


class Section(NamedTuple):
    """A section with its chunks; the weight says how much of a summary it gives."""

    name: str
    chunks: list[types.Chunk]
    weight: float


def main_sections(chunks: Sequence[types.Chunk], limit: int) -> list[Section]:
    """Return the main sections in reading order: numbered parts, else those where none has nearly all text."""
    sections = _numbered_parts(chunks)
    for depth in () if len(sections) >= MIN_PARTS else (1, 2, 3):
        sections = {}
        for chunk in chunks:
            sections.setdefault(tuple((chunk.section or "").split(SECTION_SEPARATOR)[:depth]), []).append(chunk)
        if max(map(_size, sections.values())) < DOMINANT * _size(chunks):
            break
    sizes = {path: _size(own) for path, own in sections.items()}
    weights = {path: size * _weight(path[-1], place / len(sizes)) for place, (path, size) in enumerate(sizes.items())}
    largest = sorted(weights, key=lambda path: -weights[path])[:limit]
    return [Section(path[-1], own, weights[path]) for path, own in sections.items() if path in largest]


def _numbered_parts(chunks: Sequence[types.Chunk]) -> dict[tuple[str, ...], list[types.Chunk]]:
    """Return the parts that headings such as "Item 7" begin, whatever the levels of the headings below."""
    shares: dict[uuid.UUID, Counter[str]] = {}
    blocks = read_blocks(chunks)
    for block, part in zip(blocks, parts_of(blocks, repeated_lines(chunks)), strict=True):
        shares.setdefault(block.chunk.id, Counter())[part] += len(block.text)
    parts: dict[tuple[str, ...], list[types.Chunk]] = {}
    for chunk in chunks:
        if chunk.id in shares:
            parts.setdefault((shares[chunk.id].most_common(1)[0][0],), []).append(chunk)
    return parts


def parts_of(blocks: Iterable[Block], repeated: Container[str]) -> list[str]:
    """Return the part that each block stands in, such as "Item 7", whatever the levels of the headings below, or "".

    A running header, one of the `repeated` lines, begins no part anew. An appendix ends the last part.
    """
    parts, part = list[str](), ""
    begun = set[str]()
    for block in blocks:
        name = PART.match(block.text) if block.is_heading or block.is_bold else None
        if name and not (name[0].casefold() in begun and plain_line(block.text) in repeated):
            part = block.text
            begun.add(name[0].casefold())
        elif part and block.is_heading and _APPENDIX.match(block.text):
            part = block.text
        parts.append(part)
    return parts


def _size(chunks: Sequence[types.Chunk]) -> int:
    return sum(len(chunk.text) for chunk in chunks)


def _weight(name: str, place: float) -> float:
    """Return a section's weight by its name and relative position (0..1)."""
    first, last = EARLINESS
    earliness = first + (last - first) * place
    return earliness * (TELLING if is_telling(name) else APPENDED if is_appended(name) else 1.0)


def is_telling(heading: str) -> bool:
    """Return whether a heading stands over what a document comes to: "Summary", "Results"."""
    return _TELLING.match(heading) is not None


def is_appended(heading: str) -> bool:
    """Return whether a heading begins an appendix."""
    return bool(_APPENDIX.match(heading) or _LETTERED.match(heading))


def quotas(weights: Sequence[float], limit: int, most: float = math.inf) -> list[int]:
    """Distribute `limit` items over sections: one each, the rest by the method of Sainte-Laguë, at most `most` each."""
    counts = [1] * len(weights)
    while sum(counts) < limit and min(counts) < most:
        open_ones = [index for index, count in enumerate(counts) if count < most]
        counts[max(open_ones, key=lambda index: weights[index] / (2 * counts[index] + 1))] += 1
    return counts


# --- saying --------------------------------------------------------------------------------------------------


def to_statements(
    keys: Sequence[KeySentence], document: types.Document, *, sections: bool = True
) -> list[Statement | Label]:
    """Return the chosen sentences as statements under the names of their sections."""
    parts: list[Statement | Label] = []
    section = None
    for key in keys:
        names_section = is_legible(key.section) and not _STAMP.match(key.section)
        if sections and key.section != section and key.section and names_section:
            name = textwrap.shorten(key.section.replace("*", " "), MAX_LABEL_CHARS, placeholder=" …")
            parts.append(Label(f"**{name}**"))
        section = key.section
        source = Source(to_hit(key.chunk, document, key.chunk.lines), key.span)
        quoted = quoted_row(key.chunk.text, key.unit) if key.unit else None
        if key.unit and quoted:
            parts.append(Statement(display_text(key.chunk.text, key.unit), (source,), Row(key.unit, quoted)))
        else:
            parts.append(Statement(one_line(_text(key)), (source,)))
    return parts


def to_hit(
    chunk: types.Chunk, document: types.Document, lines: tuple[types.Line, ...], *, score: float = 1.0
) -> types.Hit:
    """Return a chunk and lines around it as a hit."""
    return types.Hit(
        chunk=chunk,
        passage=types.Passage(document_id=document.id, lines=lines),
        document_name=document.name,
        mime_type=document.mime_type,
        title=document.title,
        source=document.source,
        shown_source=document.shown_source,
        page_labels=document.page_labels,
        page_count=document.page_count,
        final_score=score,
    )


def passages(keys: Sequence[KeySentence], document: types.Document) -> list[types.Hit]:
    """Return the passages of the chosen sentences, each once, in reading order."""
    chunks = {key.chunk.ordinal: key for key in keys}
    return [to_hit(chunks[ordinal].chunk, document, chunks[ordinal].chunk.lines) for ordinal in sorted(chunks)]
