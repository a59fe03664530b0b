"""Answering without a language model: the sentences of the sources that answer best, word for word."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rag.answering import ranking
from rag.answering.sentences import Unit, flowing, split_passage
from rag.retrieval import Reranker
from rag.types import BlockKind, Hit

CANDIDATES = 32
"""Sentences that the cross-encoder reads per question; the others are sorted out by their words."""

MAX_SENTENCES = 3
RELATIVE_SCORE = 0.25
"""A further sentence is shown if it scores at least this share of the best one's score."""

MIN_SCORE = 0.05
"""Below this cross-encoder score of the best sentence, there is no answer. From two curves. 425 questions on Wikipedia
(XQuAD, en): 0.05 refuses 2 % of them, and 71 % once the passage that answers them is taken out of what was found; 0.2
refuses 4 % and 78 %, 0.5 8 % and 85 %. 199 questions on reports and slides, 23 of them without an answer: 0.05 refuses
18 % of the answerable and 30 % of the others, 0.2 24 % and 39 %, 0.5 33 % and 52 %: there the score tells little. As
the right rows of tables often score below 0.2, a higher threshold would cost more answers than it saves."""

MIN_LEXICAL_SCORE = 0.5
"""The same without a cross-encoder: the share of the question's words, weighted by rarity, in the best sentence."""

MIN_CHARS = 12
"""Shorter units are labels and page numbers."""


class Extract(NamedTuple):
    """A sentence of a hit's passage: where it stands, as it is shown, and how well it answers, in 0..1."""

    hit: Hit
    unit: Unit
    text: str
    score: float


def extract(question: str, hits: Sequence[Hit], *, reranker: Reranker | None = None) -> list[Extract]:
    """The one to `MAX_SENTENCES` best answers, best first; empty when none reaches the least score."""
    ranked = rank(question, hits, reranker=reranker)
    least = MIN_SCORE if reranker else MIN_LEXICAL_SCORE
    if not ranked or ranked[0].score < least:
        return []
    floor = max(least, RELATIVE_SCORE * ranked[0].score)
    return [found for found in ranked[:MAX_SENTENCES] if found.score >= floor]


def rank(question: str, hits: Sequence[Hit], *, reranker: Reranker | None = None) -> list[Extract]:
    """The candidate sentences of `hits` with their scores, best first; each text once."""
    candidates = _candidates(question, hits)
    if reranker is None:
        return candidates
    scores = reranker.scores(question, [_in_context(found) for found in candidates]) if candidates else []
    scored = [found._replace(score=score) for found, score in zip(candidates, scores, strict=True)]
    return sorted(scored, key=lambda found: -found.score)


def _candidates(question: str, hits: Sequence[Hit]) -> list[Extract]:
    """The sentences that share most words with the question, those of better hits first among equals."""
    found = list(_units(hits))
    asked = ranking.content_words(question)
    bags = [ranking.content_words(extract.text) for extract in found]
    lexical = ranking.bm25(asked, bags)
    top = max(lexical, default=0.0) or 1.0
    order = sorted(range(len(found)), key=lambda i: -(lexical[i] / top + found[i].hit.final_score))[:CANDIDATES]
    weights = ranking.rarity([*bags, asked])
    total = sum(weights[word] for word in set(asked)) or 1.0
    return [found[i]._replace(score=sum(weights[word] for word in set(asked) & set(bags[i])) / total) for i in order]


def _units(hits: Sequence[Hit]) -> Iterator[Extract]:
    """Each quotable sentence or table row of the hits' passages, each text once."""
    seen: set[str] = set()
    for hit in hits:
        text = hit.passage.text
        for unit in split_passage(hit.passage):
            shown = _shown(text, unit)
            if len(shown) >= MIN_CHARS and unit.kind is not BlockKind.HEADING and shown not in seen:
                seen.add(shown)
                yield Extract(hit, unit, shown, 0.0)


def _shown(text: str, unit: Unit) -> str:
    """A sentence on one line; a table's row with the names of its columns."""
    row = text[unit.span.start : unit.span.end]
    if unit.header is None:
        return flowing(row)
    header = text[unit.header.start : unit.header.end]
    cells, names = row.split("\t"), header.split("\t")
    if len(cells) != len(names):
        return f"{flowing(header)}: {flowing(row)}"
    named = zip(names[1:], cells[1:], strict=True)
    pairs = (f"{flowing(name)}: {flowing(cell)}" for name, cell in named if cell.strip())
    return f"{flowing(cells[0])} – {'; '.join(pairs)}"


def _in_context(found: Extract) -> str:
    """The sentence with what it is about: its document's title and section."""
    about = found.hit.chunk.section or found.hit.title
    return f"{about}. {found.text}" if about else found.text
