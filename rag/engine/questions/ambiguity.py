"""Ask back which document is meant, where a question that names none is asked of each, and many answer as well."""

import uuid
from collections.abc import Callable, Iterable

import numpy as np
from rapidfuzz import fuzz

from rag import answering, prompts, providers, retrieval, types, vocabulary
from rag.answering.conversation.suggested_questions import in_document
from rag.answering.extraction import answer_fit, question_intent, summary
from rag.answering.extraction.extractive_answer import MAX_ANSWERS
from rag.answering.extraction.kinds import asked_kind
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


class WhichDocument:
    """Decides for one user's question whether to ask back."""

    def __init__(self, workspace: Workspace, space: types.EmbeddingSpace) -> None:
        self._workspace = workspace
        self._space = space

    def disambiguate(
        self, query: "retrieval.Query", documents: Callable[[], Iterable[types.Document]], options: types.AnswerOptions
    ) -> types.AnswerResponse | None:
        """Return the question back with a passage of each document; None if it is clear enough which is meant.

        It is unclear if more `documents` score about as well as answers are shown. `query` has been searched for among
        them by weighted fusion, whose scores are absolute.
        """
        best = _best_chunks(query)
        rivals = [key for key, score in best if score >= NEAR * best[0][1]]
        question = query.query_str
        if len(rivals) <= MAX_ANSWERS or not self._is_of_each(question) or find_mentions(question, documents()):
            return None
        nearest = self._hits(rivals[:MAX_LISTED])
        message = prompts.WHICH_DOCUMENT_MESSAGE.format(count=len(rivals))
        return types.AnswerResponse(
            status="insufficient_context",
            answer=options.insufficient_evidence_message or message,
            hint=message if options.insufficient_evidence_message else None,
            nearest=nearest,
            follow_ups=tuple(dict.fromkeys(in_document(question, hit.document_name) for hit in nearest)),
            model=answering.EXTRACTIVE_MODEL,
        )

    def _is_of_each(self, question: str) -> bool:
        """Return whether a question asks what each document of a kind has for itself, such as its revenue."""
        parsed = question_intent.parse_question(question)
        language = detect(question)
        if parsed.names and language != "german":  # in which each noun looks like a name
            return False
        is_own = asked_kind(parsed).is_each_documents_own
        return is_own or answer_fit.requested_item(question) is not None or self._is_usual(question, language)

    def _is_usual(self, question: str, language: str) -> bool:
        """Return whether a question is like one that is asked of each document of a kind."""
        models = self._workspace.models
        kinds = vocabulary.document_kinds().values()
        usual = [one for kind in kinds for one in kind.questions.get(language, ())]
        languages = models.languages(self._space)
        if languages and language not in languages:
            return any(fuzz.ratio(question.lower(), one.lower()) >= ALIKE_IN_WORDS for one in usual)
        if not usual:
            return False
        cache = self._workspace.store.embedding_cache
        embedder = providers.CachedEmbedding(models.embedder(self._space), self._space, cache)
        own, *others = np.array(embedder.get_text_embedding_batch([question, *usual]))
        return models.scales.of(self._space, embedder).share(float(np.max(np.array(others) @ own))) >= ALIKE

    def _hits(self, chunk_ids: list[uuid.UUID]) -> tuple[types.Hit, ...]:
        store = self._workspace.store
        found = store.chunks.get(chunk_ids)
        return tuple(summary.to_hit(chunk, store.documents.get(document.id), chunk.lines) for chunk, document in found)


def _best_chunks(query: "retrieval.Query") -> list[tuple[uuid.UUID, float]]:
    """Return the best chunk of each document found and its score, best first."""
    ranking, chunks = query.findings.ranking, query.findings.chunks
    best: dict[uuid.UUID, tuple[uuid.UUID, float]] = {}
    for key, score in sorted(ranking.fused.items(), key=lambda scored: -scored[1]):
        if key not in chunks or not chunks[key].kinds <= types.NO_EVIDENCE:
            best.setdefault(ranking.places[key][0], (key, score))
    return [*best.values()]
