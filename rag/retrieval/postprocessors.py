"""Postprocessing stages between search and answer, each a LlamaIndex node postprocessor.

Stages can be omitted, or others inserted. Nodes of other retrievers keep their order and text where a stage needs a
chunk's position.
"""

import math
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llama_index.core import schema
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor

from rag import tracing, types
from rag.retrieval.nodes import HitNode, to_hits
from rag.retrieval.ranking import Reranker, maximal_marginal_relevance
from rag.retrieval.tracing import Query, searched_text
from rag.store.store import UserStore

Nodes = list[schema.NodeWithScore]

PER_PLACE = 4
"""Chunks to consider per requested page, since several may be on the same page."""
SPARE = 5
"""Additional chunks to consider, since some may be deleted meanwhile."""
MAX_PASSAGE_CHARS = 12_000
"""Maximum length of a passage; longer pages are cut around the chunk."""


def candidate_count(options: types.RetrievalOptions) -> int:
    """Return the number of candidates that the stages need."""
    each_counts = options.passage == "chunk" and not options.diversity
    places = options.top_k + SPARE if each_counts else options.top_k * PER_PLACE
    return max(places, options.rerank.top_n if options.rerank.enabled else 0)


def stages(options: types.RetrievalOptions, *, store: UserStore, reranker: Reranker) -> list[BaseNodePostprocessor]:
    """Return the stages that the options need, in order.

    Rerank, record scores, drop low scores, diversify, put what is no evidence last, expand to pages or cut to top k,
    add printed page numbers.
    """
    found: list[BaseNodePostprocessor] = []
    by_page = options.passage == "pages"
    if options.rerank.enabled:
        found.append(Rerank(reranker=reranker, top_n=options.rerank.top_n))
    if options.trace:
        found.append(RecordScores())
    found.append(SimilarityPostprocessor(similarity_cutoff=options.min_score))
    if options.diversity:
        found.append(Diversity(store=store, diversity=options.diversity))
    found.append(NoEvidenceLast(top_k=options.top_k, by_page=by_page))
    if by_page:
        found.append(PageExpansion(store=store, top_k=options.top_k))
    else:
        found.append(TopK(top_k=options.top_k))
    found.append(PrintedNumbers(store=store))
    return found


class Rerank(BaseNodePostprocessor):
    """Reranks the first `top_n` by a cross-encoder; the new score is the mean of both.

    Other nodes get a rerank score of 0, so that they do not overtake reranked ones.
    """

    reranker: Any
    top_n: int

    @tracing.span("rerank")
    def _postprocess_nodes(self, nodes: Nodes, query_bundle: schema.QueryBundle | None = None) -> Nodes:
        texts = [
            f"{node.hit.chunk.context}\n{node.hit.chunk.text}"
            if isinstance(node, HitNode)
            else node.get_content(metadata_mode=schema.MetadataMode.NONE)
            for node in (found.node for found in nodes[: self.top_n])
        ]
        scores = self.reranker.scores(searched_text(query_bundle) if query_bundle else "", texts)
        scored = [_reranked(found, score) for found, score in zip(nodes, scores, strict=False)]
        scored += [_reranked(found, None) for found in nodes[len(scores) :]]
        return sorted(scored, key=lambda found: -(found.score or 0.0))


def _reranked(found: schema.NodeWithScore, score: float | None) -> schema.NodeWithScore:
    mean = ((found.score or 0.0) + (score or 0.0)) / 2
    if not isinstance(found.node, HitNode):
        return schema.NodeWithScore(node=found.node, score=mean)
    return HitNode.of(found.node.hit.model_copy(update={"final_score": mean, "rerank_score": score}))


class RecordScores(BaseNodePostprocessor):
    """Records the final scores in the query, for its trace."""

    def _postprocess_nodes(self, nodes: Nodes, query_bundle: schema.QueryBundle | None = None) -> Nodes:
        if isinstance(query_bundle, Query):
            hits = [(found.node.hit, found.score or 0.0) for found in nodes if isinstance(found.node, HitNode)]
            query_bundle.findings.final = {hit.chunk.id: score for hit, score in hits}
            query_bundle.findings.reranked = {
                hit.chunk.id: hit.rerank_score for hit, _ in hits if hit.rerank_score is not None
            }
        return nodes


class Diversity(BaseNodePostprocessor):
    """Diversifies nodes by maximal marginal relevance; nodes missing in the store are dropped."""

    store: Any
    diversity: float

    def _postprocess_nodes(self, nodes: Nodes, query_bundle: schema.QueryBundle | None = None) -> Nodes:
        ids = [found.node.hit.chunk.id for found in nodes if isinstance(found.node, HitNode)]
        vectors = self.store.chunks.vectors(ids)
        present = [found for found in nodes if isinstance(found.node, HitNode) and found.node.hit.chunk.id in vectors]
        if not present:
            return nodes
        scores = np.array([found.score or 0.0 for found in present])
        order = maximal_marginal_relevance(
            scores / max(float(scores.max()), 1e-9),  # sums over ranks are too small to be weighed against cosines
            np.array([vectors[hit.chunk.id] for hit in to_hits(present)]),
            diversity=self.diversity,
            limit=len(present),
        )
        return [present[position] for position in order]


class NoEvidenceLast(BaseNodePostprocessor):
    """Puts struck out and hidden text behind all other nodes, with no higher score than theirs.

    The best of it keeps the last of the `top_k` places if it was among these, so that its own words find it, and no
    number of hidden words fills the results.
    """

    top_k: int
    by_page: bool

    def _postprocess_nodes(self, nodes: Nodes, query_bundle: schema.QueryBundle | None = None) -> Nodes:
        last = [found for found in nodes if _proves_nothing(found.node)]
        if not last:
            return nodes
        others = [found for found in nodes if not _proves_nothing(found.node)]
        is_among_best = any(found is last[0] for found in nodes[: self._end_of_places(nodes, self.top_k)])
        end = self._end_of_places(others, self.top_k - 1) if is_among_best else len(others)
        return [*others[:end], *_below(others[:end], last[:1]), *others[end:], *_below(others, last[1:])]

    def _end_of_places(self, nodes: Nodes, count: int) -> int:
        """Return the number of nodes before the place after the first `count` ones."""
        places: set[object] = set()
        for number, found in enumerate(nodes):
            places.add(self._place(found))
            if len(places) > count:
                return number
        return len(nodes)

    def _place(self, found: schema.NodeWithScore) -> object:
        if not isinstance(found.node, HitNode) or not self.by_page:
            return found.node.node_id
        chunk = found.node.hit.chunk
        return chunk.document_id, chunk.main_page


def _proves_nothing(node: schema.BaseNode) -> bool:
    return isinstance(node, HitNode) and node.hit.chunk.kinds <= types.NO_EVIDENCE


def _below(others: Nodes, last: Nodes) -> Nodes:
    """Return the `last` nodes with no higher score than the `others`."""
    least = min((found.score or 0.0 for found in others), default=math.inf)
    scores = [min(found.score or 0.0, least) for found in last]
    hits = zip(to_hits(last), scores, strict=True)
    return [HitNode.of(hit.model_copy(update={"final_score": score})) for hit, score in hits]


class TopK(BaseNodePostprocessor):
    """Keeps the first `top_k` chunks."""

    top_k: int

    def _postprocess_nodes(self, nodes: Nodes, query_bundle: schema.QueryBundle | None = None) -> Nodes:
        return nodes[: self.top_k]


class PrintedNumbers(BaseNodePostprocessor):
    """Adds printed page numbers and page counts to the hits."""

    store: Any

    def _postprocess_nodes(self, nodes: Nodes, query_bundle: schema.QueryBundle | None = None) -> Nodes:
        hits = [found.node.hit for found in nodes if isinstance(found.node, HitNode)]
        asked = {(hit.chunk.document_id, page) for hit in hits for page in (*hit.chunk.pages, *hit.passage.pages)}
        labels = self.store.documents.page_labels(asked) if asked else {}
        return [self._with(found, labels) if isinstance(found.node, HitNode) else found for found in nodes]

    def _with(
        self, found: schema.NodeWithScore, labels: Mapping[uuid.UUID, tuple[int, Mapping[int, str]]]
    ) -> schema.NodeWithScore:
        hit = to_hits([found])[0]
        count, of_pages = labels.get(hit.chunk.document_id, (0, {}))
        mine = {page: of_pages[page] for page in (*hit.chunk.pages, *hit.passage.pages) if page in of_pages}
        return HitNode.of(hit.model_copy(update={"page_labels": mine, "page_count": count}))


class PageExpansion(BaseNodePostprocessor):
    """Expands chunks to the first `top_k` pages, each with its best chunk."""

    store: Any
    top_k: int

    def _postprocess_nodes(self, nodes: Nodes, query_bundle: schema.QueryBundle | None = None) -> Nodes:
        best: dict[tuple[uuid.UUID, int], types.Hit] = {}
        for hit in to_hits(found for found in nodes if isinstance(found.node, HitNode)):
            best.setdefault((hit.chunk.document_id, hit.chunk.main_page), hit)
        places = [*best][: self.top_k]
        pages = self.store.chunks.page_lines(places)
        expanded = []
        for place in places:
            if page_lines := pages.get(place):  # else it was deleted since it was found
                lines = page_passage(page_lines, best[place].chunk)
                passage = types.Passage(document_id=best[place].chunk.document_id, lines=lines)
                expanded.append(HitNode.of(best[place].model_copy(update={"passage": passage})))
        foreign = [found for found in nodes if not isinstance(found.node, HitNode)]
        return [*expanded, *foreign][: self.top_k]


def page_passage(page: Sequence[types.Line], chunk: types.Chunk) -> tuple[types.Line, ...]:
    """Return the lines of a page and those of `chunk` beyond it, as many around it as `MAX_PASSAGE_CHARS` allows."""
    on_page = {line.page_number for line in page}
    beyond = [line for line in chunk.lines if line.page_number not in on_page]
    lines = sorted([*page, *beyond], key=lambda line: (line.page_number, line.number))
    room = MAX_PASSAGE_CHARS
    if sum(len(line.text) for line in lines) <= room:
        return tuple(lines)
    first = next((i for i, line in enumerate(lines) if line.number >= chunk.line_start), 0)
    last = first
    room -= len(lines[first].text)
    while room > 0 and (first > 0 or last < len(lines) - 1):
        if last < len(lines) - 1:
            last += 1
            room -= len(lines[last].text)
        if first > 0 and (last == len(lines) - 1 or lines[last].number >= chunk.line_end):
            first -= 1
            room -= len(lines[first].text)
    return tuple(lines[first : last + 1])
