"""The stages of a search that need no database."""

import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from llama_index.core.llms import ChatMessage, ChatResponse, LLMMetadata, MockLLM
from pydantic import PrivateAttr

from rag import prompts, providers
from rag.config import Config
from rag.retrieval import as_configured
from rag.retrieval.completion_cache import MIN_CHARS, Completions, request_digest
from rag.retrieval.query_expansion import read_list, variants
from rag.retrieval.ranking import WEIGHTS, WHOLE_FRONT, Ranking, maximal_marginal_relevance, merge, rank
from rag.retrieval.similarity import Similarity
from rag.store.conversations.caches import CompletionKind
from rag.store.search.lexical import LexicalMatches
from rag.types import Candidate, RetrievalOptions
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


def test_lexical_scores_are_shares_of_what_the_question_can_reach() -> None:
    options = as_configured(RetrievalOptions(mode="lexical"), Config())
    ranking = rank([], LexicalMatches(candidates({A: 1.2, B: 0.25}), {}, {}, [], []), options)
    shares = {A: 1.0, B: 0.25}
    assert ranking == Ranking(lexical=shares, fused=shares, places={A: (DOCUMENT, 1), B: (DOCUMENT, 1)})


ELSEWHERE = uuid.UUID(int=98)
DEFAULTS = as_configured(RetrievalOptions(), Config())
SCALE = Similarity(0.5, 0.9)
BESIDE = WEIGHTS.page + WEIGHTS.document
"""What counts beside a chunk's own fit without routing."""


def hybrid(
    whole: dict[uuid.UUID, float],
    fronts: dict[uuid.UUID, float] | None = None,
    landmarks: Sequence[Candidate] = (),
    pages: Sequence[Candidate] = (),
    **options: Any,
) -> dict[uuid.UUID, float]:
    """The fused scores of four chunks of two documents, of which `whole` and `fronts` are the fits.

    Those of a hybrid search by scores are squared: the weighted means that they are the roots of.
    """
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, ELSEWHERE, 1, 0.9), Candidate(C, ELSEWHERE, 2, 0.5)]
    asked = as_configured(RetrievalOptions(**options), Config())
    matches = LexicalMatches(candidates({A: 0.8, D: 0.6}), whole, fronts or {}, [*pages], [*landmarks])
    fused = rank(near, matches, asked, SCALE).fused
    return squared(fused) if asked.mode == "hybrid" and not asked.by_ranks else fused


def squared(scores: dict[uuid.UUID, float]) -> dict[uuid.UUID, float]:
    """The weighted means that fused scores are the roots of."""
    return {key: score * score for key, score in scores.items()}


def test_what_has_no_vector_yet_fits_by_its_words_alone() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.9)]
    words = [Candidate(B, DOCUMENT, 2, 0.6, has_vector=False), Candidate(C, DOCUMENT, 3, 0.6)]
    pages = [Candidate(E, DOCUMENT, 9, 1.0, has_vector=False)]
    fused = squared(rank(near, LexicalMatches(words, {}, {}, pages, []), DEFAULTS, SCALE).fused)
    own = {A: 0.65, B: 0.6, C: 0.65 + 0.35 * 0.6, E: WEIGHTS.page}  # C may be as near as the farthest of the nearest
    total = 1.0 + WEIGHTS.page + WEIGHTS.document + WEIGHTS.front
    assert fused == pytest.approx({key: score / total for key, score in own.items()})


def test_a_score_is_the_weighted_mean_of_what_speaks_for_a_chunk() -> None:
    own = {A: 0.65 + 0.35 * 0.8, B: 0.65, C: 0.0, D: 0.35 * 0.6}
    assert hybrid({}, routing=False) == pytest.approx({key: score / (1 + BESIDE) for key, score in own.items()})
    weighed = hybrid({}, routing=False, vector_weight=0.2, lexical_weight=0.2)
    assert weighed[A] == pytest.approx(0.9 / (1 + BESIDE))


def test_other_candidates_do_not_change_a_score() -> None:
    """Whether a better one or a worse one is found beside it."""
    near, words = [Candidate(A, DOCUMENT, 1, 0.8)], [Candidate(A, DOCUMENT, 1, 0.5)]
    alone = rank(near, LexicalMatches(words, {DOCUMENT: 0.5}, {}, [], []), DEFAULTS, SCALE).fused[A]
    more = [Candidate(B, ELSEWHERE, 1, 0.95), *near, Candidate(C, ELSEWHERE, 2, 0.4)]
    matches = LexicalMatches(
        [Candidate(B, ELSEWHERE, 1, 1.0), *words], {ELSEWHERE: 1.0, DOCUMENT: 0.5}, {ELSEWHERE: 0.4}, [], []
    )
    assert rank(more, matches, DEFAULTS, SCALE).fused[A] == pytest.approx(alone)


def test_what_has_nothing_to_do_with_the_question_scores_nothing() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.5), Candidate(B, DOCUMENT, 2, 0.45)]
    assert rank(near, LexicalMatches.none(), DEFAULTS, SCALE).fused == {A: 0.0, B: 0.0}


def test_what_is_not_among_the_nearest_is_taken_for_as_near_as_the_last_of_them() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, DOCUMENT, 1, 0.8)]
    fused = squared(rank(near, LexicalMatches(candidates({C: 1.0}), {}, {}, [], []), DEFAULTS, SCALE).fused)
    assert fused[C] - fused[B] == pytest.approx(0.35 / (1 + BESIDE + WEIGHTS.front))


@pytest.mark.parametrize("weights", [{"lexical_weight": 0.0}, {"vector_weight": 0.0}])
def test_without_weight_a_search_has_no_say(weights: dict[str, float]) -> None:
    """A retriever does not even start it; here its candidates must not count either way."""
    options = as_configured(RetrievalOptions(**weights), Config())
    assert (options.by_meaning, options.by_words) == ("lexical_weight" in weights, "vector_weight" in weights)
    assert as_configured(RetrievalOptions(mode="vector", **weights), Config()).by_meaning
    assert as_configured(RetrievalOptions(mode="lexical", **weights), Config()).by_words


def test_by_meaning_alone_the_score_is_that_of_the_cosine() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, ELSEWHERE, 1, 0.7), Candidate(C, ELSEWHERE, 2, 0.4)]
    options = as_configured(RetrievalOptions(lexical_weight=0.0), Config())
    fused = rank(near, LexicalMatches.none(), options, SCALE).fused
    assert fused == pytest.approx({A: 1.0, B: 0.5**0.5, C: 0.0})


def test_a_search_needs_at_least_one_weight() -> None:
    with pytest.raises(ValueError, match="at least one"):
        RetrievalOptions(vector_weight=0.0, lexical_weight=0.0)


def test_words_count_more_in_languages_that_the_model_does_not_speak() -> None:
    """By meaning A is better than B, by words B is; only for the documents that are foreign the words decide."""
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, DOCUMENT, 1, 0.5), Candidate(C, ELSEWHERE, 1, 0.7)]
    matches = LexicalMatches(
        [Candidate(B, DOCUMENT, 1, 0.9), Candidate(C, ELSEWHERE, 1, 0.8), Candidate(A, DOCUMENT, 1, 0.1)],
        {},
        {},
        [],
        [],
    )
    spoken = rank(near, matches, DEFAULTS, SCALE).fused
    assert spoken[A] > spoken[B]
    foreign = rank(near, matches, DEFAULTS, SCALE, foreign={DOCUMENT}).fused
    assert foreign[A] < foreign[B] <= 1.0
    assert foreign[C] == spoken[C]
    by_meaning = DEFAULTS.model_copy(update={"lexical_weight": 0.0})
    unchanged = pytest.approx(rank(near, matches, by_meaning, SCALE).fused)
    assert rank(near, matches, by_meaning, SCALE, foreign={DOCUMENT}).fused == unchanged


def test_of_two_chunks_the_one_whose_document_fits_better_is_the_better() -> None:
    fused, without = hybrid({DOCUMENT: 0.2, ELSEWHERE: 0.6}, routing=False), hybrid({}, routing=False)
    gained = {key: fused[key] - without[key] for key in fused}
    here, there = (WEIGHTS.document * fit / (1 + BESIDE) for fit in (0.2, 0.6))
    assert gained == pytest.approx({A: here, B: there, C: there, D: here})
    whole = hybrid({DOCUMENT: 1.7}, routing=False)  # has the words oftener than is expected
    assert whole[A] - without[A] == pytest.approx(WEIGHTS.document / (1 + BESIDE))


def test_a_document_whose_front_is_spoken_of_is_the_better() -> None:
    fused, without = hybrid({}, fronts={ELSEWHERE: 0.5, DOCUMENT: WHOLE_FRONT / 2}), hybrid({})
    total = 1 + BESIDE + WEIGHTS.front
    assert fused[B] - without[B] == pytest.approx(WEIGHTS.front / total)
    assert fused[A] - without[A] == pytest.approx(WEIGHTS.front / 2 / total)
    assert hybrid({}, fronts={ELSEWHERE: 0.5}, routing=False) == hybrid({}, routing=False)


def test_a_chunk_at_a_landmark_is_lifted_by_its_strength_and_its_documents_fit() -> None:
    there = [Candidate(C, ELSEWHERE, 2, 0.8), Candidate(E, DOCUMENT, 9, 0.5)]
    whole = {DOCUMENT: 0.25, ELSEWHERE: 1.0}
    before, fused = hybrid(whole, routing=False), hybrid(whole, landmarks=there, routing=False)
    assert fused[C] == pytest.approx(before[C] + (1 - before[C]) * WEIGHTS.landmark * 0.8)
    least = WEIGHTS.document * 0.25 / (1 + BESIDE)  # found by no search: only its document speaks for it
    assert fused[E] == pytest.approx(least + (1 - least) * WEIGHTS.landmark * 0.5 * 0.25)
    assert (fused[A], fused[B]) == pytest.approx((before[A], before[B]))
    assert E not in hybrid(whole, landmarks=there, mode="lexical")


def test_a_chunk_whose_page_fits_as_a_whole_is_the_better() -> None:
    pages = [Candidate(B, ELSEWHERE, 1, 1.0), Candidate(E, ELSEWHERE, 1, 1.0)]
    before, fused = hybrid({}, routing=False), hybrid({}, pages=pages, routing=False)
    gain = WEIGHTS.page / (1 + BESIDE)
    assert fused[B] == pytest.approx(before[B] + gain)
    assert fused[A] == pytest.approx(before[A])
    assert fused[E] == pytest.approx(gain)  # another chunk of the page, found by no search
    assert E not in hybrid({}, pages=pages, mode="lexical")


def test_a_landmark_beyond_doubt_outranks_what_stands_elsewhere() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, DOCUMENT, 2, 0.5)]
    before = rank(near, LexicalMatches.none(), DEFAULTS, SCALE)
    ranking = rank(near, LexicalMatches([], {}, {}, [], [Candidate(C, DOCUMENT, 12, 1.0)]), DEFAULTS, SCALE)
    assert squared(ranking.fused) == pytest.approx({C: 1.0, A: 0.9 * before.fused[A] ** 2, B: 0.0})


def test_in_a_single_document_a_landmark_counts_whole() -> None:
    near = [Candidate(A, DOCUMENT, 1, 0.9), Candidate(B, DOCUMENT, 2, 0.5)]
    there = [Candidate(B, DOCUMENT, 2, 0.5)]
    fused = squared(rank(near, LexicalMatches([], {}, {}, [], there), DEFAULTS, SCALE).fused)
    assert fused[B] == pytest.approx(WEIGHTS.landmark * 0.5)


def test_a_search_of_one_kind_keeps_its_own_scores() -> None:
    assert hybrid({ELSEWHERE: 0.6}, mode="vector") == {A: 0.9, B: 0.9, C: 0.5}
    assert hybrid({ELSEWHERE: 0.6}, mode="lexical") == {A: 0.8, D: 0.6}


def test_ranks_are_fused_of_both_lists_and_of_nothing_else() -> None:
    there, pages = [Candidate(E, DOCUMENT, 9, 1.0)], [Candidate(E, DOCUMENT, 9, 1.0)]
    fused = hybrid({DOCUMENT: 1.0, ELSEWHERE: 0.5}, landmarks=there, pages=pages, fusion="rrf", rrf_k=60)
    assert fused == pytest.approx({A: 1 / 61 + 1 / 61, B: 1 / 62, C: 1 / 63, D: 1 / 62})


def test_no_sum_over_ranks_is_too_low() -> None:
    assert as_configured(RetrievalOptions(fusion="rrf", min_score=0.2), Config()).min_score == 0.0
    assert as_configured(RetrievalOptions(min_score=0.2), Config(rag_fusion="rrf")).min_score == 0.0
    assert as_configured(RetrievalOptions(fusion="rrf", mode="vector", min_score=0.2), Config()).min_score == 0.2
    assert as_configured(RetrievalOptions(min_score=0.2), Config()).min_score == 0.2


@pytest.mark.parametrize(("diversity", "order"), [(0.0, [0, 1, 2, 3]), (0.5, [0, 2, 1, 3]), (1.0, [0, 2, 3, 1])])
def test_diversity_weighs_novelty_against_relevance(diversity: float, order: list[int]) -> None:
    scores = np.array([1.0, 0.95, 0.6, 0.1])
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    assert maximal_marginal_relevance(scores, vectors, diversity=diversity, limit=4) == order
    assert maximal_marginal_relevance(scores, vectors, diversity=diversity, limit=2) == order[:2]


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
    _window: int = PrivateAttr()
    _answers: int = PrivateAttr(default=0)

    def __init__(self, name: str, window: int = 100_000) -> None:
        super().__init__(max_tokens=None)
        self._name = name
        self._window = window

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name=self._name, context_window=self._window)

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


@pytest.mark.parametrize("window", [100_000, 6000, 3000, 600])
def test_a_small_model_reads_less_of_each_passage(window: int) -> None:
    model = Counting("one", window)
    completions = Completions(model, Memory())
    prompt = completions.longest(lambda chars: "Rate these.\n" + "\n".join(["abcd " * (chars // 5)] * 20), 2000)
    shown = prompt.count("abcd") // 20 * 5
    assert (shown == 2000) == (window == 100_000)
    assert providers.remaining_tokens(model, prompt) >= 0 or shown < MIN_CHARS
    assert shown > 50
