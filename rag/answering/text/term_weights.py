"""Lexical matching: comparable words, stop words, inverse document frequency and BM25."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from rag import types

STEM_CHARS = 6
"""Words are compared by their first letters, which works for any alphabet (McNamee & Mayfield 2004 found 4 to 5 best
for European languages on whole collections; within a page longer is safer)."""

BM25_K1, BM25_B = 1.2, 0.75
"""Robertson & Zaragoza, "The Probabilistic Relevance Framework" (2009)."""

_WORD = re.compile(r"[぀-ヿ㐀-鿿가-힯]+|\d+(?:[.,]\d+)*|[^\W\d_]+")
_UNSPACED = re.compile(r"[぀-ヿ㐀-鿿가-힯]")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a space-separated list."""
    return frozenset(words.split())


_STOP_WORDS = word_set(
    "a an and are as at be been but by did do does for from had has have how in into is it its of on or our that the "
    "their there these they this those to was we were what when where which who whom whose why will with would you "
    "your about than then"
)


def words(text: str) -> list[str]:
    """Return the comparable words of `text`: lower case, cut to stems; character pairs in scripts without spaces."""
    found: list[str] = []
    for word in _WORD.findall(unicodedata.normalize("NFKC", types.without_raised_marks(text)).casefold()):
        if _UNSPACED.match(word):
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word[0].isdigit():
            found.append(word)
        else:
            found.append(word[:STEM_CHARS])
    return found


def content_words(text: str) -> list[str]:
    """Return `words` without stop words, or all of them if nothing else is left."""
    found = words(text)
    return [word for word in found if word not in _STOP_WORDS] or found


def is_stop_word(word: str) -> bool:
    """Return whether `word` is a stop word."""
    return word.casefold() in _STOP_WORDS


def idf(texts: Iterable[Iterable[str]]) -> dict[str, float]:
    """Return the weight of each word: BM25's inverse document frequency over `texts`, always above 0."""
    bags = [set(bag) for bag in texts]
    counts = Counter(word for bag in bags for word in bag)
    return {word: math.log(1 + (len(bags) - count + 0.5) / (count + 0.5)) for word, count in counts.items()}


def bm25(query: Sequence[str], texts: Sequence[Sequence[str]]) -> list[float]:
    """Return the BM25 score of each text for `query`, with the texts themselves as the collection."""
    weights = idf(texts)
    mean = sum(map(len, texts)) / max(1, len(texts)) or 1.0
    scores = []
    for text in texts:
        counts, norm = Counter(text), BM25_K1 * (1 - BM25_B + BM25_B * len(text) / mean)
        known = [word for word in set(query) if counts[word]]
        scores.append(sum(weights[word] * counts[word] * (BM25_K1 + 1) / (counts[word] + norm) for word in known))
    return scores


def is_unspaced(character: str) -> bool:
    """Return whether `character` is of a script without spaces between words."""
    return _UNSPACED.match(character) is not None
