"""Questions to begin with: asked of the document before they are offered, and offered only if it likely answers."""

import itertools
import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import metadata

import numpy as np

from rag import providers, retrieval, types, vocabulary
from rag.answering.conversation import suggested_questions
from rag.engine.workspace import Workspace

MAX_SUGGESTIONS = 5
"""Maximum number of questions to begin with."""

ENOUGH = 2
"""With so many questions of its kind that it answers, a document is not asked about its own terms and headings."""

FIRST_CHUNKS = 120
"""Number of first chunks that are read for terms, headings and the kind."""

OWN_QUESTIONS = (suggested_questions.term_questions, suggested_questions.topic_questions)
"""What a document is asked about itself, in its own words."""


Ask = Callable[[types.Document, str], types.AnswerResponse]
"""Ask a document a question; the answer is in its own words."""


class Suggestions:
    """Questions that one user's documents answer.

    Asking takes seconds, so the outcome is cached: digests of the questions, not their words, since terms and headings
    are the document's and must go with it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def find(self, document_id: uuid.UUID, ask: Ask) -> tuple[str, ...]:
        """Return the questions that a document answers, the best first; asks it by `ask` unless they are cached.

        Raises NotFoundError and ProviderError.
        """
        document = self._workspace.store.documents.get(document_id)
        if document.status is not types.DocumentStatus.READY:
            return ()
        known = self._known(document)
        if known is None:
            known = tuple(itertools.islice(self._answered(document, ask), MAX_SUGGESTIONS))
            digests = [_digest(question) for question in known]
            self._workspace.store.caches.keep("suggestions", _key(document), json.dumps(digests))
        return known

    def known_in(self, document_id: uuid.UUID, language: str) -> tuple[str, ...]:
        """Return the cached questions if the document is in that language. Raises NotFoundError."""
        document = self._workspace.store.documents.get(document_id)
        return (self._known(document) or ()) if document.language == language else ()

    def _known(self, document: types.Document) -> tuple[str, ...] | None:
        cached = self._workspace.store.caches.recall("suggestions", _key(document))
        if cached is None:
            return None
        digests: list[str] = json.loads(cached)
        language = document.language
        possible = [vocabulary.question_templates(language).summary]
        possible += [one for kind in vocabulary.document_kinds().values() for one in kind.questions.get(language, ())]
        found = {_digest(question): question for question in possible}
        if not found.keys() >= {*digests}:
            chunks = self._first_chunks(document)
            own = itertools.chain(*(of(chunks, language) for of in OWN_QUESTIONS))
            found |= {_digest(question): question for question in own}
        return tuple(found[digest] for digest in digests if digest in found)

    def _first_chunks(self, document: types.Document) -> Sequence[types.Chunk]:
        chunks = self._workspace.store.chunks.of_document(document.id, limit=FIRST_CHUNKS)
        return [chunk for chunk in chunks if chunk.kinds & types.PAGE_TEXT]

    # --- asking ---

    def _answered(self, document: types.Document, ask: Ask) -> Iterator[str]:
        """Yield the questions that the document answers, the best first, as long as they are wanted."""
        chunks, language = self._first_chunks(document), document.language
        kind = self._nearest_kind(document, chunks) or vocabulary.document_kinds().get(document.subject.kind or "")
        usual = kind.questions.get(language, ()) if kind else ()
        is_answered = partial(_is_answered, ask, document)
        best = [*itertools.islice(filter(is_answered, usual), MAX_SUGGESTIONS - 1)]
        for own_questions in OWN_QUESTIONS:
            if len(best) < ENOUGH:
                own = filter(is_answered, own_questions(chunks, language))
                best += itertools.islice(own, MAX_SUGGESTIONS - 1 - len(best))
        yield from best
        summary = vocabulary.question_templates(language).summary
        if is_answered(summary):
            yield summary

    def _nearest_kind(self, document: types.Document, chunks: Sequence[types.Chunk]) -> vocabulary.DocumentKind | None:
        """Return the kind whose description is nearest to the chunks' vectors, if the model reads their language."""
        models, index = self._workspace.models, self._workspace.store.indexes.get_by_id(document.index_id)
        languages = models.languages(index.space)
        vectors = [*self._workspace.store.chunks.vectors([chunk.id for chunk in chunks]).values()]
        if not vectors or (languages and document.language not in languages):
            return None
        embedder = providers.CachedEmbedding(
            models.embedder(index.space), index.space, self._workspace.store.embedding_cache
        )
        scale = models.scales.of(index.space, embedder)
        centroid = np.mean(vectors, axis=0)
        similarity = {
            name: float(centroid @ np.array(embedder.get_query_embedding(kind.description)))
            for name, kind in vocabulary.document_kinds().items()
        }
        width = max(scale.related - scale.unrelated, 1e-9)
        return suggested_questions.nearest_kind({name: value / width for name, value in similarity.items()})


def _is_answered(ask: Ask, document: types.Document, question: str) -> bool:
    """Return whether the extract that answers is likely right; what is put together from several has no odds."""
    answer = ask(document, question)
    return answer.status == "ok" and (answer.likelihood is None or answer.likelihood >= types.LIKELY_THRESHOLD)


def _digest(question: str) -> str:
    return retrieval.request_digest(question).hex()


def _key(document: types.Document) -> bytes:
    """Return the key of a reading of a document by this version of the program."""
    return retrieval.request_digest(metadata.version("pagelight"), str(document.id), str(document.indexed_at))
