"""The stages of a search that need no database."""

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata, MockLLM
from pydantic import PrivateAttr

from rag import errors, prompts
from rag.config import Config
from rag.retrieval import as_configured
from rag.retrieval.augmentation import read_list, variants
from rag.retrieval.completions import Completions, request_digest
from rag.retrieval.diversity import maximal_marginal_relevance
from rag.retrieval.ranking import Ranking, merge, rank
from rag.retrieval.reranking import ModelReranker
from rag.store import CompletionKind, LexicalMatches
from rag.types import Candidate, Fusion, RetrievalOptions
from tests.scripted import Scripted

A, B, C, D, E = (uuid.UUID(int=number) for number in range(5))
DOCUMENT = uuid.UUID(int=99)


def test_without_options_the_question_is_all_that_is_searched() -> None:
    (only,) = variants("Who pays?", RetrievalOptions(), None)
    assert (only.kind, only.text) == ("question", "Who pays?")


def test_rewrites_and_a_hypothetical_answer_follow_the_question() -> None:
    model = Scripted('1. payer of costs\n- WHO  pays?\n"who bears the cost"\nnever read', "The buyer pays.")
    found = variants("Who pays?", RetrievalOptions(multi_query=3, hyde=True), model)
    assert [(variant.kind, variant.text) for variant in found] == [
        ("question", "Who pays?"),
        ("rewrite", "payer of costs"),
        ("rewrite", "who bears the cost"),
        ("hyde", "The buyer pays."),
    ]
    assert model.asked == [
        ("rewrites", prompts.REWRITE_QUERY.format(count=3, question="Who pays?")),
        ("hyde", prompts.HYPOTHETICAL_ANSWER.format(question="Who pays?")),
    ]


@pytest.mark.parametrize("reply", ["", "\n \n", "---"])
def test_a_model_that_says_nothing_adds_nothing(reply: str) -> None:
    assert len(variants("Who?", RetrievalOptions(multi_query=2, hyde=True), Scripted(reply, " "))) == 1


def test_lists_are_read_whatever_their_marks() -> None:
    assert read_list("1) one\n 2. two\n* three\n• four\n“five”\n\n2019 sales") == [
        "one", "two", "three", "four", "five", "2019 sales",
    ]  # fmt: skip


def candidates(scores: dict[uuid.UUID, float]) -> list[Candidate]:
    return [Candidate(key, DOCUMENT, 1, score) for key, score in scores.items()]


def test_what_a_request_leaves_open_is_as_the_settings_say() -> None:
    config = Config(rag_hybrid=False, rag_fusion="rrf", rag_rrf_k=10)
    options = as_configured(RetrievalOptions(top_k=3, trace=True), config)
    assert (options.mode, options.fusion, options.rrf_k) == ("vector", "rrf", 10)
    assert (options.top_k, options.trace) == (3, True)
    options = as_configured(RetrievalOptions(mode="lexical", fusion="weighted", rrf_k=60), config)
    assert (options.mode, options.fusion, options.rrf_k) == ("lexical", "weighted", 60)
    options = as_configured(RetrievalOptions(), Config())
    assert (options.mode, options.fusion, options.rrf_k) == ("hybrid", "weighted", 60)


def test_variants_that_agree_outrank_one_that_is_sure() -> None:
    options = as_configured(RetrievalOptions(mode="vector"), Config())
    rankings = [
        rank(candidates(scores), LexicalMatches.none(), options)
        for scores in ({A: 0.9, B: 0.8}, {B: 0.8, C: 0.7}, {B: 0.6, C: 0.5})
    ]
    merged = merge(rankings)
    assert merged.fused == pytest.approx({A: 0.3, B: 2.2 / 3, C: 0.4})
    assert merged.vector == {A: 0.9, B: 0.8, C: 0.7}
    assert set(merged.places) == {A, B, C}
    assert merge(rankings[:1]) is rankings[0]


def test_lexical_scores_are_shares_of_the_best() -> None:
    options = as_configured(RetrievalOptions(mode="lexical"), Config())
    ranking = rank([], LexicalMatches(candidates({A: 8.0, B: 2.0}), {}, {}, [], []), options)
    shares = {A: 1.0, B: 0.25}
    assert ranking == Ranking(lexical=shares, fused=shares, places={A: (DOCUMENT, 1), B: (DOCUMENT, 1)})


ELSEWHERE = uuid.UUID(int=98)
DEFAULTS = as_configured(RetrievalOptions(), Config())


def hybrid(
    whole: dict[uuid.UUID, float],
    fronts: dict[uuid.UUID, float] | None = None,
    landmarks: Sequence[Candidate] = (),
    pages: Sequence[Candidate] = (),
    **options: Any,
) -> dict[uuid.UUID, float]:
    """The fused scores of four chunks of two documents, of which `whole` and `fronts` are the fits."""
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, ELSEWHERE, 1, 0.9), Candidate(C, ELSEWHERE, 2, 0.5)]
    asked = as_configured(RetrievalOptions(**options), Config())
    matches = LexicalMatches(candidates({A: 4.0, D: 3.0}), whole, fronts or {}, [*pages], [*landmarks])
    return rank(near, matches, asked).fused


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_words_count_more_in_languages_that_the_model_does_not_speak(fusion: Fusion) -> None:
    """By meaning A is better than B, by words B is; only for the documents that are foreign the words decide."""
    options = as_configured(RetrievalOptions(fusion=fusion), Config())
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, DOCUMENT, 1, 0.5), Candidate(C, ELSEWHERE, 1, 0.7)]
    matches = LexicalMatches(
        [Candidate(B, DOCUMENT, 1, 9.0), Candidate(C, ELSEWHERE, 1, 8.0), Candidate(A, DOCUMENT, 1, 1.0)],
        {},
        {},
        [],
        [],
    )
    spoken = rank(near, matches, options).fused
    assert spoken[A] > spoken[B]
    foreign = rank(near, matches, options, {DOCUMENT}).fused
    assert foreign[A] < foreign[B] <= 1.0
    assert foreign[C] == spoken[C]
    by_meaning = options.model_copy(update={"lexical_weight": 0.0})
    unchanged = pytest.approx(rank(near, matches, by_meaning).fused)
    assert rank(near, matches, by_meaning, {DOCUMENT}).fused == unchanged


def test_of_two_chunks_the_one_whose_document_fits_better_is_the_better() -> None:
    fused = hybrid({DOCUMENT: 1.0, ELSEWHERE: 3.0}, routing=False)
    assert fused == pytest.approx(
        {A: 1.1 / 1.3, B: (0.65 + 0.3) / 1.3, C: 0.3 / 1.3, D: 0.1 / 1.3},
    )
    assert hybrid({DOCUMENT: 3.0}, routing=False)[A] == pytest.approx(1.0)
    assert hybrid({DOCUMENT: 3.0}, routing=False)[C] == 0.0  # a document without any of the words fits worst


def test_a_document_whose_front_is_spoken_of_is_the_better() -> None:
    fused = hybrid({}, fronts={ELSEWHERE: 2.0, DOCUMENT: 1.0})
    assert fused[B] == pytest.approx((0.65 + 0.6) / 1.6)
    assert fused[A] == pytest.approx((1.0 + 0.3) / 1.6)
    assert hybrid({}, fronts={ELSEWHERE: 2.0}, routing=False)[B] == pytest.approx(0.65 / 1.3)


def test_a_chunk_at_a_landmark_is_lifted_by_its_strength_and_its_documents_fit() -> None:
    there = [Candidate(C, ELSEWHERE, 2, 0.8), Candidate(E, DOCUMENT, 9, 0.5)]
    whole = {DOCUMENT: 1.0, ELSEWHERE: 4.0}
    before, fused = hybrid(whole, routing=False), hybrid(whole, landmarks=there, routing=False)
    assert fused[C] == pytest.approx(before[C] + (1 - before[C]) * 0.8 * 0.8)
    least = 0.3 * 0.25 / 1.3  # found by no search: only its document speaks for it
    assert fused[E] == pytest.approx(least + (1 - least) * 0.8 * 0.5 * 0.25)
    assert (fused[A], fused[B]) == (before[A], before[B])
    assert E not in hybrid(whole, landmarks=there, mode="lexical")


def test_a_chunk_whose_page_fits_as_a_whole_is_the_better() -> None:
    pages = [Candidate(B, ELSEWHERE, 1, 1.0), Candidate(E, ELSEWHERE, 1, 1.0)]
    fused = hybrid({}, pages=pages, routing=False)
    assert fused[B] == pytest.approx((0.65 + 0.4) / 1.4 / 1.3)
    assert fused[A] == pytest.approx(1.0 / 1.4 / 1.3)
    assert fused[E] == pytest.approx(0.4 / 1.4 / 1.3)  # another chunk of the page, found by no search
    assert E not in hybrid({}, pages=pages, mode="lexical")


def test_a_landmark_beyond_doubt_outranks_what_stands_elsewhere() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, DOCUMENT, 2, 0.5)]
    ranking = rank(near, LexicalMatches([], {}, {}, [], [Candidate(C, DOCUMENT, 12, 1.0)]), DEFAULTS)
    assert ranking.fused == {C: 1.0, A: pytest.approx(0.9), B: 0.0}


def test_in_a_single_document_a_landmark_counts_whole() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, DOCUMENT, 2, 0.5)]
    there = [Candidate(B, DOCUMENT, 2, 0.5)]
    assert rank(near, LexicalMatches([], {}, {}, [], there), DEFAULTS).fused == {A: 1.0, B: pytest.approx(0.4)}


def test_whole_documents_count_only_where_both_searches_and_several_documents_take_part() -> None:
    assert hybrid({ELSEWHERE: 3.0}, mode="vector") == {A: 0.9, B: 0.9, C: 0.5}
    assert hybrid({ELSEWHERE: 3.0}, mode="lexical") == {A: 1.0, D: 0.75}
    alone = rank(candidates({A: 0.9, B: 0.5}), LexicalMatches([], {DOCUMENT: 3.0}, {}, [], []), DEFAULTS)
    assert alone.fused == {A: 1.0, B: 0.0}


def test_lists_may_be_fused_by_ranks() -> None:
    fused = hybrid({DOCUMENT: 1.0, ELSEWHERE: 1.0}, routing=False, fusion="rrf", rrf_k=60)
    best = 1 / 61
    assert {key: 1.3 * score - 0.3 for key, score in fused.items()} == pytest.approx(
        {A: 1.0, B: 0.65 / 62 / best, C: 0.65 / 63 / best, D: 0.35 / 62 / best}
    )


@pytest.mark.parametrize(("diversity", "order"), [(0.0, [0, 1, 2, 3]), (0.5, [0, 2, 1, 3]), (1.0, [0, 2, 3, 1])])
def test_diversity_weighs_novelty_against_relevance(diversity: float, order: list[int]) -> None:
    scores = np.array([1.0, 0.95, 0.6, 0.1])
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert maximal_marginal_relevance(scores, vectors, diversity=diversity, limit=4) == order
    assert maximal_marginal_relevance(scores, vectors, diversity=diversity, limit=2) == order[:2]


def test_a_model_s_ratings_become_scores() -> None:
    model = Scripted("1: 10\n[2]: 2.5\n**4** = 12\nbecause …")
    texts = ["one", "two\nlines", "three " * 1000, "four"]
    assert ModelReranker(model).scores("Who?", texts) == [1.0, 0.25, 0.0, 1.0]
    passages = f"[1] one\n\n[2] two lines\n\n[3] {('three ' * 1000)[:2000].strip()}\n\n[4] four\n"
    assert model.asked == [("rerank", prompts.RERANK.format(question="Who?", passages=passages))]
    assert ModelReranker(Scripted()).scores("Who?", []) == []


def test_a_reply_without_ratings_is_an_error() -> None:
    with pytest.raises(errors.RetrievalError, match="cross-encoder"):
        ModelReranker(Scripted("All of them are good.")).scores("Who?", ["one"])


def test_what_a_completion_depends_on_makes_its_key() -> None:
    parts: Sequence[tuple[str, ...]] = [("a", "b"), ("ab",), ("a", "b", ""), ("b", "a"), ('a", "b',)]
    assert len({request_digest(*one) for one in parts}) == len(parts)


class Memory:
    """What was kept, in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, bytes], str] = {}

    def recall(self, kind: CompletionKind, key: bytes) -> str | None:
        return self.kept.get((kind, key))

    def keep(self, kind: CompletionKind, key: bytes, completion: str) -> None:
        self.kept[kind, key] = completion


class Counting(MockLLM):
    """A model that numbers its answers, and repeats what it was asked."""

    _name: str = PrivateAttr()
    _answers: int = PrivateAttr(default=0)

    def __init__(self, name: str) -> None:
        super().__init__(max_tokens=None)
        self._name = name

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self._name)

    def chat(self, messages: Sequence[ChatMessage], **_: object) -> ChatResponse:
        self._answers += 1
        (asked,) = messages
        return ChatResponse(message=ChatMessage(role="assistant", content=f"answer {self._answers} to {asked.content}"))


def test_a_model_is_asked_once_for_each_prompt_of_each_version(monkeypatch: pytest.MonkeyPatch) -> None:
    memory, model = Memory(), Counting("one")
    completions = Completions(model, memory)
    assert [completions.complete("hyde", prompt) for prompt in ("a", "a", "b", "a")] == [
        "answer 1 to a", "answer 1 to a", "answer 2 to b", "answer 1 to a",
    ]  # fmt: skip
    assert completions.complete("rewrites", "a") == "answer 3 to a"
    assert Completions(Counting("two"), memory).complete("hyde", "a") == "answer 1 to a"
    assert len(memory.kept) == 4
    monkeypatch.setattr(prompts, "AUGMENTATION_PROMPT_VERSION", "next")
    assert completions.complete("hyde", "a") == "answer 4 to a"
