"""Find the documents that a question mentions, and ask back which is meant where it mentions none and many answer."""

import re
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz

from rag import prompts, providers, retrieval, types, vocabulary
from rag.answering.conversation.suggested_questions import in_document
from rag.answering.extraction import answer_fit, question_intent, summary
from rag.answering.extraction.answer_kinds import asked_kind
from rag.answering.extraction.extractive_answer import MAX_ANSWERS
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.text.term_weights import word_set
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import detect
from rag.vocabulary import years

MAX_ALIAS_WORDS = 3
"""The first word of a longer title is no name: "Annual results of the harbour board" is not "Annual"."""

MIN_BEGINNING_CHARS = 4
"""Minimum length of a first word that stands for the whole name."""

_WORD = re.compile(r"[^\W\d_]+(?:&[^\W\d_]+)*")
_ASKED_WORD = re.compile(r"[^\W_]+(?:&[^\W_]+)*")


_GENERIC = word_set(
    "the a an of and for in on to by from with inc corp corporation company co ltd limited plc llc lp gmbh ag sa se "
    "nv bv group holdings holding form annual quarterly report reports filing filed fy year quarter ended results "
    "earnings press release statement statements financial final draft version copy signed dated document documents "
    "doc pdf file page pages paper article manual presentation slides contract agreement lease policy letter "
    "minutes notes memo january february march april may june july august september october november december "
    "appendix exhibit ex"
)
"""Words that do not distinguish file names."""


class Mention(NamedTuple):
    """A name in a question, and the documents it may refer to."""

    span: types.Span
    documents: tuple[types.Document, ...]


def find_mentions(question: str, documents: Iterable[types.Document]) -> list[Mention]:
    """Return the mentions of `documents` in `question`, in order.

    If documents share a name, the years in the question decide.
    """
    words = list(_ASKED_WORD.finditer(question))
    found: dict[types.Span, list[types.Document]] = {}
    for document in documents:
        spans = {span for alias in aliases(document) if (span := _find_alias(alias, words, question))}
        for span in spans:
            found.setdefault(span, []).append(document)
    longest = [
        span
        for span in sorted(found)
        if not any(other.start <= span.start and span.end <= other.end for other in found if other != span)
    ]
    asked_years = {str(year) for year in years(question)}
    mentions = []
    for span in longest:
        of_years = [one for one in found[span] if asked_years & {*re.findall(r"\d{4}", one.name)}]
        mentions.append(Mention(span, tuple(of_years or found[span])))
    return mentions


def aliases(document: types.Document) -> set[tuple[str, ...]]:
    """Return the names of a document in lower case: the distinctive words of its file name and title."""
    named = (PurePath(document.name).stem, document.title or "")
    return {words for text in named if (words := _distinctive_words(text))}


def _distinctive_words(text: str) -> tuple[str, ...]:
    words = (word.lower() for word in _WORD.findall(text))
    return tuple(word for word in words if len(word) > 1 and word not in _GENERIC)


def _find_alias(alias: Sequence[str], words: Sequence[re.Match[str]], question: str) -> types.Span | None:
    """Find a name as a whole, ignoring spaces, or its capitalised first word."""
    whole = "".join(alias)
    lowered = [match[0].lower() for match in words]
    for first in range(len(words)):
        for last in range(first, min(first + len(alias) + 2, len(words))):
            joined = "".join(lowered[first : last + 1])
            if joined == whole and len(whole) >= 3:
                return types.Span(words[first].start(), words[last].end())
    if not 1 < len(alias) <= MAX_ALIAS_WORDS or len(alias[0]) < MIN_BEGINNING_CHARS:
        return None
    for place, match in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else None
        goes_on = (
            following is not None
            and following[0][0].isupper()
            and not question[match.end() : following.start()].strip()
        )
        if lowered[place] == alias[0] and match[0][0].isupper() and not goes_on:
            return types.Span(*match.span())
    return None


NEAR = 0.9
"""Minimum score of a document that answers as well, as a share of the best one's."""

MAX_LISTED = 6
"""Maximum number of documents to list."""

ALIKE = 0.7
"""Minimum similarity, on the scale of the space, of a question to one that is asked of each document of a kind. Of 199
questions about certain documents none reaches 0.55; "What were net sales?" has 0.8."""

ALIKE_IN_WORDS = 85.0
"""The same in per cent of the letters, in languages that the model does not read."""


def disambiguate(
    workspace: Workspace,
    space: types.EmbeddingSpace,
    query: "retrieval.Query",
    documents: Callable[[], Iterable[types.Document]],
    options: types.AnswerOptions,
) -> types.AnswerResponse | None:
    """Return the question which document is meant, with a passage of each; None if that is clear enough.

    It is unclear if more `documents` score about as well as answers are shown. `query` has been searched for among
    them by weighted fusion, whose scores are absolute.
    """
    question, ranking, chunks = query.query_str, query.findings.ranking, query.findings.chunks
    best: dict[uuid.UUID, tuple[uuid.UUID, float]] = {}  # the best chunk of each document
    for key, score in sorted(ranking.fused.items(), key=lambda scored: -scored[1]):
        if key not in chunks or not chunks[key].kinds <= types.NO_EVIDENCE:
            best.setdefault(ranking.places[key][0], (key, score))
    least = NEAR * max((score for _, score in best.values()), default=0.0)
    rivals = [key for key, score in best.values() if score >= least]
    if len(rivals) <= MAX_ANSWERS or not is_asked_of_each(workspace, space, question):
        return None
    if find_mentions(question, documents()):
        return None
    store = workspace.store
    nearest = tuple(
        summary.to_hit(chunk, store.documents.get(document.id), chunk.lines)
        for chunk, document in store.chunks.get(rivals[:MAX_LISTED])
    )
    message = prompts.WHICH_DOCUMENT_MESSAGE.format(count=len(rivals))
    return types.AnswerResponse(
        status="insufficient_context",
        answer=options.insufficient_evidence_message or message,
        hint=message if options.insufficient_evidence_message else None,
        nearest=nearest,
        follow_ups=tuple(dict.fromkeys(in_document(question, hit.document_name) for hit in nearest)),
        model=EXTRACTIVE_MODEL,
    )


def is_asked_of_each(workspace: Workspace, space: types.EmbeddingSpace, question: str) -> bool:
    """Return whether a question asks what each document of a kind has for itself, such as its revenue."""
    parsed, language = question_intent.parse_question(question), detect(question)
    if parsed.names and language != "german":  # in which each noun looks like a name
        return False
    if asked_kind(parsed).is_each_documents_own or answer_fit.requested_item(question) is not None:
        return True
    kinds = vocabulary.document_kinds().values()
    usual = [template for kind in kinds for template in kind.questions.get(language, ())]
    languages = workspace.models.languages(space)
    if languages and language not in languages:
        return any(fuzz.ratio(question.lower(), template.lower()) >= ALIKE_IN_WORDS for template in usual)
    if not usual:
        return False
    embedder = providers.CachedEmbedding(workspace.models.embedder(space), space, workspace.store.embedding_cache)
    vector, *others = np.array(embedder.get_text_embedding_batch([question, *usual]))
    similarity = float(np.max(np.array(others) @ vector))
    return workspace.models.scales.of(space, embedder).share(similarity) >= ALIKE
