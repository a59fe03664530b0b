"""Explain why a passage is, or is not, used for an answer: the pipeline stage at which it was lost."""

from collections.abc import Sequence

from rag import answering, retrieval, types
from rag.engine.questions.answerer import Answerer
from rag.messages import N_
from rag.store import UserStore

MAX_PLACES = 50
"""Maximum number of chunks to trace."""
END_WORDS = 8
"""The beginning and the end of a passage may be in different chunks."""

OUTCOMES: dict[types.Outcome, types.Stage] = {
    "returned": "given",
    "same_place": "given",
    "beyond_top_k": "top_k",
    "below_min_score": "min_score",
    "not_considered": "considered",
    "gone": "trash",
}


class Explainer:
    """Traces passages of an index through one request."""

    def __init__(self, store: UserStore, answerer: Answerer) -> None:
        """`answerer` must search with a trace."""
        self._store = store
        self._answerer = answerer
        self._scope = answerer.search.scope
        self._query = answerer.request.question

    def explain(self, passage: str) -> types.Explanation:
        """Trace `passage`, words as they stand in a document, through the search and the sources of the answer.

        Raises as `Questions.search`.
        """
        places = self._places(passage)
        if not places:
            return self._not_indexed()
        if all(place.in_trash for place in places):
            return _explanation(
                "trash", places[0], N_("The document is in the trash. Restore it to search in it again.")
            )
        live = [place for place in places if not place.in_trash]
        response = self._answerer.search.run(retrieval.Query(self._query))
        trace = response.trace or types.SearchTrace(variants=(), candidates=())
        traced = {candidate.chunk_id: candidate for candidate in trace.candidates}
        context = self._answerer.choose_sources(self._query, response.results)
        followed = [(traced[place.chunk_id], place) for place in live if place.chunk_id in traced]
        if followed:
            candidate, place = min(followed, key=lambda pair: ([*OUTCOMES].index(pair[0].outcome), pair[0].fused_rank))
            explanation = self._explain_candidate(candidate, place, response, passage, context)
        else:
            explanation = self._not_found(live)
        if explanation.stage != "given" and (whole := _given_whole(context, response, live, passage)):
            place, citation_id = whole
            message = N_("Its document is short enough to be given whole: it is read as {citation}.").format(
                citation=citation_id
            )
            explanation = _explanation("given", place, message, explanation.candidate)
        return explanation.model_copy(update={"rewritings": trace.rewritings})

    def _places(self, passage: str) -> list[types.Finding]:
        words = passage.split()
        texts = [" ".join(words), " ".join(words[:END_WORDS]), " ".join(words[-END_WORDS:])]
        for text in dict.fromkeys(texts):
            found = self._store.chunks.with_words(self._scope.index_id, text, MAX_PLACES)
            if found:
                return found
        return []

    def _not_indexed(self) -> types.Explanation:
        documents = self._store.documents.list(self._scope.index_id)
        waiting = [document.name for document in documents if document.chunk_count == 0]
        message = N_(
            "No chunk of the index has these words. Copy them as they stand in the document; look at the page's text "
            "in the index if they may have been read differently."
        )
        if waiting:
            message = N_(
                "No chunk of the index has these words. Copy them as they stand in the document; look at the page's "
                "text in the index if they may have been read differently. Not read so far, or without success: "
                "{names}."
            ).format(names=", ".join(waiting[:5]))
        return types.Explanation(stage="not_indexed", message=message)

    def _not_found(self, live: Sequence[types.Finding]) -> types.Explanation:
        """Explain a passage that is no candidate: it was filtered out, or is too far from the question."""
        allowed = self._in_scope(self._scope.model_copy(update={"must_include": ()}), live)
        if not allowed:
            return _explanation("filters", live[0], self._filter_reason(live[0]))
        having = self._in_scope(self._scope, live)
        if not having:
            words = ", ".join(self._scope.must_include)
            return _explanation(
                "must_include",
                allowed[0],
                N_("Its chunk does not have the required words: {words}.").format(words=words),
            )
        standing = self._answerer.search.retriever().chunk_ranks(self._query, [place.chunk_id for place in having])
        meaning, words = _format_ranks(standing)
        message = N_(
            "Neither search has it among its first {count}: {_meaning}, {_words}. Ask in the words of the document, or "
            "search for rewrites of the question."
        ).format(count=retrieval.POOL, _meaning=meaning, _words=words)
        return _explanation("candidates", having[0], message)

    def _filter_reason(self, place: types.Finding) -> str:
        if self._store.documents.get(place.document_id).disabled:
            return N_("Its document is disabled. Enable it.")
        return N_("The filters shut its document out. Search without them.")

    def _in_scope(self, scope: types.Scope, places: Sequence[types.Finding]) -> list[types.Finding]:
        inside = self._store.chunks.in_scope(scope, [place.chunk_id for place in places])
        return [place for place in places if place.chunk_id in inside]

    def _explain_candidate(
        self,
        candidate: types.CandidateTrace,
        place: types.Finding,
        response: types.SearchResponse,
        passage: str,
        context: answering.Context,
    ) -> types.Explanation:
        options = self._answerer.request.retrieval
        stage = OUTCOMES[candidate.outcome]
        message = {
            "considered": N_(
                "Its fused score is only the {rank}th best; so many are not looked at. Raise top_k or rerank."
            ).format(rank=candidate.fused_rank),
            "min_score": N_("Its score {score} is below the least of {least}. Lower min_score.").format(
                score=_score(candidate), least=options.min_score
            ),
            "top_k": N_("Better places came first: only {count} are returned. Raise top_k.").format(
                count=options.top_k
            ),
            "trash": N_("It was deleted while it was searched."),
        }.get(stage)
        if message:
            return _explanation(stage, place, message, candidate)
        hit = response.results[(candidate.hit or 1) - 1]
        source = next((source for source in context.sources if source.hit.chunk.id == hit.chunk.id), None)
        if source is None or not _contains_passage(source, passage):
            message = N_(
                "It is part of hit {number}, but there was no room for it. Raise the budget of tokens."
            ).format(number=candidate.hit)
            return _explanation("context", place, message, candidate)
        return _explanation(
            "given",
            place,
            N_("It is part of hit {number} and is read as {citation}.").format(
                number=candidate.hit, citation=source.citation_id
            ),
            candidate,
        )


def _explanation(
    stage: types.Stage, place: types.Finding, message: str, candidate: types.CandidateTrace | None = None
) -> types.Explanation:
    return types.Explanation(
        stage=stage,
        message=message,
        document_name=place.document_name,
        page_number=place.page_number,
        candidate=candidate,
    )


def _score(candidate: types.CandidateTrace) -> str:
    return f"{candidate.final_score or 0.0:.3f}"


def _given_whole(
    context: answering.Context, response: types.SearchResponse, places: Sequence[types.Finding], passage: str
) -> tuple[types.Finding, str] | None:
    """Return the place and the id of a source with the passage that is no hit."""
    found = {hit.chunk.id for hit in response.results}
    for source in context.sources:
        for place in places:
            of_document = source.hit.passage.document_id == place.document_id
            if of_document and source.hit.chunk.id not in found and _contains_passage(source, passage):
                return place, source.citation_id
    return None


def _contains_passage(source: answering.Source, passage: str) -> bool:
    """Whether the source's lines contain the beginning or the end of the passage."""
    text = " ".join(types.lines_text(source.lines).split()).casefold()
    words = passage.casefold().split()
    return " ".join(words[:END_WORDS]) in text or " ".join(words[-END_WORDS:]) in text


def _format_ranks(standing: "retrieval.ChunkRanks") -> list[str]:
    """Format the ranks by meaning and by words."""
    return [
        N_("{_how} it is number {rank} (score {score})").format(_how=name, rank=rank, score=f"{score:.3f}")
        if rank
        else N_("{_how} it is beyond number {count}").format(_how=name, count=standing.looked_at)
        for name, rank, score in (
            (N_("by meaning"), standing.vector_rank, standing.vector_score or 0.0),
            (N_("by words"), standing.lexical_rank, standing.lexical_score or 0.0),
        )
    ]
