"""Explain why a passage is, or is not, used for an answer: the pipeline stage at which it was lost."""

from collections.abc import Sequence

from rag import retrieval, types
from rag.answering.generation.context import Context, Source
from rag.engine.questions.answerer import Answerer
from rag.messages import N_

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
"""The stage that each outcome of a candidate means, the best first."""


def explain(answerer: Answerer, passage: str) -> types.Explanation:
    """Trace `passage`, words as they stand in a document, through the search and the sources of an answer.

    `answerer` must search with a trace. Raises as `Questions.search`.
    """
    store, scope, question = answerer.workspace.store, answerer.search.scope, answerer.request.question
    words = passage.split()
    texts = [" ".join(words), " ".join(words[:END_WORDS]), " ".join(words[-END_WORDS:])]
    searches = (store.chunks.with_words(scope.index_id, text, MAX_PLACES) for text in dict.fromkeys(texts))
    places = next(filter(None, searches), [])
    if not places:
        message = N_(
            "No chunk of the index has these words. Copy them as they stand in the document; look at the page's text "
            "in the index if they may have been read differently."
        )
        documents = store.documents.list(scope.index_id)
        if waiting := [document.name for document in documents if document.chunk_count == 0]:
            message = N_(
                "No chunk of the index has these words. Copy them as they stand in the document; look at the page's "
                "text in the index if they may have been read differently. Not read so far, or without success: "
                "{names}."
            ).format(names=", ".join(waiting[:5]))
        return types.Explanation(stage="not_indexed", message=message)
    live = [place for place in places if not place.in_trash]
    if not live:
        message = N_("The document is in the trash. Restore it to search in it again.")
        return _explanation("trash", places[0], message)
    response = answerer.search.run(retrieval.Query(question))
    trace = response.trace or types.SearchTrace(variants=(), candidates=())
    context = answerer.choose_sources(question, response.results)
    traced = {candidate.chunk_id: candidate for candidate in trace.candidates}
    candidates = [(traced[place.chunk_id], place) for place in live if place.chunk_id in traced]
    if candidates:
        candidate, place = min(candidates, key=lambda pair: ([*OUTCOMES].index(pair[0].outcome), pair[0].fused_rank))
        explanation = _explain_candidate(answerer, candidate, place, response, passage=passage, context=context)
    else:
        explanation = _explain_no_candidate(answerer, live)
    if explanation.stage != "given" and (whole := _given_whole(context, response, live, passage)):
        place, citation_id = whole
        message = N_("Its document is short enough to be given whole: it is read as {citation}.").format(
            citation=citation_id
        )
        explanation = _explanation("given", place, message, explanation.candidate)
    return explanation.model_copy(update={"rewritings": trace.rewritings})


def _explain_no_candidate(answerer: Answerer, live: Sequence[types.Finding]) -> types.Explanation:
    store, scope = answerer.workspace.store, answerer.search.scope
    ids = [place.chunk_id for place in live]
    allowed = store.chunks.in_scope(scope.model_copy(update={"must_include": ()}), ids)
    in_scope = store.chunks.in_scope(scope, ids)
    if not allowed:
        if store.documents.get(live[0].document_id).disabled:
            return _explanation("filters", live[0], N_("Its document is disabled. Enable it."))
        return _explanation("filters", live[0], N_("The filters shut its document out. Search without them."))
    if not in_scope:
        place = next(place for place in live if place.chunk_id in allowed)
        message = N_("Its chunk does not have the required words: {words}.")
        return _explanation("must_include", place, message.format(words=", ".join(scope.must_include)))
    near = [place for place in live if place.chunk_id in in_scope]
    ranks = answerer.search.retriever().chunk_ranks(answerer.request.question, [place.chunk_id for place in near])
    meaning, words = (
        N_("{_how} it is number {rank} (score {score})").format(_how=how, rank=rank, score=f"{score or 0.0:.3f}")
        if rank
        else N_("{_how} it is beyond number {count}").format(_how=how, count=ranks.looked_at)
        for how, rank, score in (
            (N_("by meaning"), ranks.vector_rank, ranks.vector_score),
            (N_("by words"), ranks.lexical_rank, ranks.lexical_score),
        )
    )
    message = N_(
        "Neither search has it among its first {count}: {_meaning}, {_words}. Ask in the words of the document, or "
        "search for rewrites of the question."
    ).format(count=retrieval.POOL, _meaning=meaning, _words=words)
    return _explanation("candidates", near[0], message)


def _explain_candidate(
    answerer: Answerer,
    candidate: types.CandidateTrace,
    place: types.Finding,
    response: types.SearchResponse,
    *,
    passage: str,
    context: Context,
) -> types.Explanation:
    options = answerer.request.retrieval
    stage = OUTCOMES[candidate.outcome]
    if stage != "given":
        score = f"{candidate.final_score or 0.0:.3f}"
        message = {
            "considered": N_(
                "Its fused score is only the {rank}th best; so many are not looked at. Raise top_k or rerank."
            ).format(rank=candidate.fused_rank),
            "min_score": N_("Its score {score} is below the least of {least}. Lower min_score.").format(
                score=score, least=options.min_score
            ),
            "top_k": N_("Better places came first: only {count} are returned. Raise top_k.").format(
                count=options.top_k
            ),
            "trash": N_("It was deleted while it was searched."),
        }[stage]
        return _explanation(stage, place, message, candidate)
    hit = response.results[(candidate.hit or 1) - 1]
    source = next((source for source in context.sources if source.hit.chunk.id == hit.chunk.id), None)
    if source is None or not _contains_passage(source, passage):
        message = N_("It is part of hit {number}, but there was no room for it. Raise the budget of tokens.")
        return _explanation("context", place, message.format(number=candidate.hit), candidate)
    message = N_("It is part of hit {number} and is read as {citation}.")
    return _explanation("given", place, message.format(number=candidate.hit, citation=source.citation_id), candidate)


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


def _given_whole(
    context: Context, response: types.SearchResponse, places: Sequence[types.Finding], passage: str
) -> tuple[types.Finding, str] | None:
    """Return the place and the id of a source with the passage that is no hit."""
    ids = {hit.chunk.id for hit in response.results}
    for source in context.sources:
        for place in places:
            of_document = source.hit.passage.document_id == place.document_id
            if of_document and source.hit.chunk.id not in ids and _contains_passage(source, passage):
                return place, source.citation_id
    return None


def _contains_passage(source: Source, passage: str) -> bool:
    text = " ".join(types.lines_text(source.lines).split()).casefold()
    words = passage.casefold().split()
    return " ".join(words[:END_WORDS]) in text or " ".join(words[-END_WORDS:]) in text
