"""Ask back which document is meant, where a question that names none is asked of each, and many answer as well."""

import uuid
from collections.abc import Iterable

import numpy as np
from rapidfuzz import fuzz

from rag import prompts, providers, retrieval, types, vocabulary
from rag.answering.conversation.suggested_questions import in_document
from rag.answering.extraction import answer_fit, question_intent, summary
from rag.answering.extraction.answer_kinds import asked_kind
from rag.answering.extraction.extractive_answer import MAX_ANSWERS
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.engine.questions.document_mentions import find_mentions
from rag.engine.workspace import Workspace
from rag.ingestion.language_detection import detect

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
    documents: Iterable[types.DocumentNames],
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
    if find_mentions(question, documents):
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
