"""Kinds of documents (`rag/vocabulary/kinds`): how they are recognised, and what is asked of them first."""

import functools
import tomllib
from collections.abc import Mapping

from rag import types
from rag.vocabulary.vocabulary import packaged_files


class DocumentKind(types.Model):
    """A kind of documents.

    `nouns` name one of them in a question, in lower case: "the RAPTOR paper". `description` is compared with a document
    by meaning; `marks` are phrases in lower case of which its first pages have some, `cues` phrases of sentences that
    state what matters in it, and its main line items, the most important first. `questions` are the first ones to ask,
    the most important first, by language.
    """

    description: str
    nouns: tuple[str, ...]
    marks: tuple[str, ...]
    cues: tuple[str, ...]
    questions: Mapping[str, tuple[str, ...]]


@functools.cache
def document_kinds() -> Mapping[str, DocumentKind]:
    """Return all kinds by name."""
    files = packaged_files("kinds").items()
    return {name: DocumentKind.model_validate(tomllib.loads(text)) for name, text in files}


def cues_of(kind: str | None) -> tuple[str, ...]:
    """Return the phrases in which documents of a kind state what matters, without a kind those of all."""
    kinds = document_kinds()
    own = kinds.get(kind or "")
    return tuple(dict.fromkeys(cue for one in ([own] if own else kinds.values()) for cue in one.cues))


def marked_kind(text: str) -> str | None:
    """Return the name of the kind that most phrases in `text` are marks of; None without a majority."""
    text = " ".join(text.lower().split())
    counts = {name: sum(mark in text for mark in kind.marks) for name, kind in document_kinds().items()}
    first, second = sorted(counts, key=lambda name: -counts[name])[:2]
    return first if counts[first] > counts[second] else None
