"""Overviews of documents: what one is, about whom, its key facts, and questions to ask it."""

import datetime as dt
import uuid

from rag.types.base import Model
from rag.types.search import Usage
from rag.types.text import Region


class KeyFact(Model):
    """A fact of a document: its `text`, and the words on the page that say it, with their lines and boxes.

    Without a language model the text is that of the page on one line; a table row has its column names in it.
    """

    text: str
    quote: str
    page_number: int
    page_label: str | None = None
    line_start: int
    line_end: int
    regions: tuple[Region, ...]


class KeyFacts(Model):
    """The facts of a document in reading order, and when and by whom they were chosen.

    `model` is the language model that wrote them, None for sentences of the document itself; `dropped` is how many of
    its statements were left out since their quotes do not prove them.
    """

    facts: tuple[KeyFact, ...] = ()
    model: str | None = None
    dropped: int = 0
    usage: Usage | None = None
    made_at: dt.datetime


class DocumentOverview(KeyFacts):
    """What a document is, about whom, of which period, its key facts, and questions that it likely answers.

    `questions` are those found so far: they are looked for when the document is first asked about, not when it is read.
    """

    document_id: uuid.UUID
    name: str
    title: str | None = None
    kind: str | None = None
    names: tuple[str, ...] = ()
    period: str | None = None
    page_count: int = 0
    language: str
    questions: tuple[str, ...] = ()


class OverviewEstimate(Model):
    """What an overview by a language model takes at most: tokens to read and to write, and dollars if known.

    A strong model also judges the facts that are in other words than the document; that is counted.
    """

    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None = None
