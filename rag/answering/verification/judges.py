"""Judge the claims of an answer by meaning.

The entailment model runs on this machine. It gets the claims that the comparison of words leaves open, each with the
best sentences of its cited passages; facts stay a veto. A language model reads the sources once and judges all claims.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import pydantic

from rag import errors, prompts, providers, types
from rag.answering.text.json_replies import INTEGER, TEXT, closed_object, list_of, read_list
from rag.answering.text.markup import ProposedQuote
from rag.answering.verification.open_claims import OpenClaim, SourceSentence
from rag.retrieval import Completions

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM, ChatMessage

    from rag.providers import EntailmentModel

MAX_LOCATED = 4
"""Most sentences that are tried alone as the quote of an accepted claim."""

MIN_REPLACED = 0.8
"""Least probability of a claim with a word in sentence of another one, or with figures for which there are rows.

Of 623 claims with a random word in its sentence (`benchmarks claims`, "other word") the model accepts 11, 19 at 0.75.
"""

MIN_DOUBT = 0.5
"""Probability from which a claim that words contradict is not struck out, but left unverified; figures decide alone."""

MAX_SOURCES_TOKENS = 100_000
"""Most tokens of the sources in one prompt of a judge, of a model whose window takes more."""

JUDGE_TOKENS = 4096
"""Room for the verdicts on about forty claims."""

VERDICT_TOKENS = 100
"""Expected length of a verdict with the words that it rests on."""


class MeaningVerdict(NamedTuple):
    """How far the sources state a claim, and by whom it was judged.

    `sentences` are the sentences that decide it; `words` the same as a language model copied them, still to be located.
    """

    support: types.Support
    judged_by: str
    probability: float | None = None
    missing: tuple[str, ...] = ()
    sentences: tuple[SourceSentence, ...] = ()
    words: tuple[ProposedQuote, ...] = ()


class Prompted(NamedTuple):
    """What an answer was written from: the question, and the sources by id as they were shown to its writer."""

    question: str = ""
    sources: Mapping[str, str] = {}


NOTHING_PROMPTED = Prompted()


class MeaningJudge(Protocol):
    """Judges claims by meaning; one that `reads_all` is asked about claims that words decide, too."""

    reads_all: bool

    def judge(self, claims: Sequence[OpenClaim], prompted: Prompted) -> list[MeaningVerdict | None]:
        """Return a verdict for each claim, None for one that it cannot decide."""
        ...


class EntailmentJudge:
    """Judges by the entailment model: a claim is supported if its probability reaches the model's threshold.

    A claim without words of its own is left as it is: words that all stand in the evidence and do not prove the claim
    say something else there, which the model overlooks more often than not (two facts combined, names exchanged).
    """

    reads_all = False

    def __init__(self, model: "EntailmentModel") -> None:
        self._model = model

    def judge(self, claims: Sequence[OpenClaim], prompted: Prompted = NOTHING_PROMPTED) -> list[MeaningVerdict | None]:
        """Return "supported", "not verified" where words contradict what the model takes for entailed, or None."""
        del prompted  # a small model reads sentences, not sources
        values = self._model.probabilities([(claim.evidence, claim.text) for claim in claims])
        return [self._verdict(claim, value) for claim, value in zip(claims, values, strict=True)]

    def _verdict(self, claim: OpenClaim, value: float) -> MeaningVerdict | None:
        if claim.is_contradicted and value < MIN_DOUBT:
            return None
        if claim.is_contradicted:
            return MeaningVerdict(types.Support.NOT_VERIFIED, types.SAME_MEANING, value, claim.vetoes)
        is_doubtful = bool(claim.replaced) or claim.rests_on_rows
        least = max(self._model.threshold, MIN_REPLACED) if is_doubtful else self._model.threshold
        if value < least or claim.vetoes or not claim.has_other_words:
            return None
        return MeaningVerdict(types.Support.SUPPORTED, types.SAME_MEANING, value, sentences=self.locate(claim))

    def locate(self, claim: OpenClaim) -> tuple[SourceSentence, ...]:
        """Return the sentence that entails the claim alone, else the two that come nearest."""
        if len(claim.sentences) < 2:
            return claim.sentences
        tried = claim.sentences
        if len(tried) > MAX_LOCATED:
            words = set(claim.text.casefold().split())
            by_words = sorted(tried, key=lambda sentence: -len(words & set(sentence.text.casefold().split())))
            tried = tuple(by_words[:MAX_LOCATED])
        pairs = [(f"{claim.before} {sentence.text}".strip(), claim.text) for sentence in tried]
        values = self._model.probabilities(pairs)
        ranked = sorted(zip(values, tried, strict=True), key=lambda pair: -pair[0])
        if ranked[0][0] >= self._model.threshold:
            return (ranked[0][1],)
        nearest = {sentence for _, sentence in ranked[:2]}
        return tuple(sentence for sentence in claim.sentences if sentence in nearest)


class _Words(pydantic.BaseModel):
    source: str = ""
    text: str


class RepliedVerdict(pydantic.BaseModel):
    """What a language model says of a claim, which it names by its number from 1."""

    claim: int
    verdict: Literal["supported", "partly", "contradicted", "not_stated"]
    words: list[_Words] = []
    missing: str = ""

    @property
    def sources(self) -> frozenset[str]:
        """The ids of the sources that it rests on."""
        return frozenset(words.source.strip("[]") for words in self.words)


_VERDICT = closed_object(
    {
        "claim": INTEGER,
        "words": list_of(closed_object({"source": TEXT, "text": TEXT})),
        "missing": TEXT,
        "verdict": {**TEXT, "enum": ["supported", "partly", "contradicted", "not_stated"]},
    }
)
VERDICTS_SCHEMA = closed_object({"verdicts": list_of(_VERDICT)})
"""The reply to `prompts.JUDGE`, where a server takes a schema; the verdict comes last, after its reasons."""


class LanguageModelJudge:
    """Judges all claims of an answer by a cached request to a language model, which reads all sources.

    Where these are too long for one request, the claims are judged in batches, each by the sources that they cite. A
    claim with a figure that is in no source, and follows from none, is at best partly supported; one with a figure that
    stands there for another row, column or period, or that is computed wrongly, is not verified. Claims without a
    readable verdict, or whose sources are too long, go to `second`, the entailment model's judge, as far as words leave
    them open.
    """

    reads_all = True

    def __init__(self, completions: Completions, name: str, second: MeaningJudge | None = None) -> None:
        self._completions = completions
        self._name = name
        self._second = second

    def judge(self, claims: Sequence[OpenClaim], prompted: Prompted) -> list[MeaningVerdict | None]:
        """Return the model's verdict for each claim, else the second judge's."""
        replies = self._replies(claims, prompted)
        verdicts = [self._verdict(claim, replies.get(number)) for number, claim in enumerate(claims, start=1)]
        left = [i for i, verdict in enumerate(verdicts) if verdict is None and not claims[i].is_decided]
        if self._second is not None and left:
            others = self._second.judge([claims[i] for i in left], prompted)
            for i, other in zip(left, others, strict=True):
                verdicts[i] = other
        return verdicts

    def _verdict(self, claim: OpenClaim, reply: RepliedVerdict | None) -> MeaningVerdict | None:
        if reply is None:
            return None
        support = types.Support(reply.verdict)
        missing = tuple(filter(None, [reply.missing.strip()]))
        if support is types.Support.SUPPORTED and claim.denied_figures:
            support, missing = types.Support.NOT_VERIFIED, claim.denied_figures
        elif support is types.Support.SUPPORTED:
            support, missing = (types.Support.PARTLY, claim.absent) if claim.absent else (support, ())
        words = tuple(ProposedQuote(quote.source.strip("[]") or None, quote.text, 0) for quote in reply.words)
        return MeaningVerdict(support, self._name, missing=missing, words=words)

    def _replies(self, claims: Sequence[OpenClaim], prompted: Prompted) -> dict[int, RepliedVerdict]:
        """Return the model's verdicts by the number of their claim; none if it fails or replies with something else."""
        texts = [" ".join(claim.wording.split()) for claim in claims]
        room = sources_room(self._completions.llm, prompted.question, texts)
        replies: dict[int, RepliedVerdict] = {}
        with contextlib.suppress(errors.ProviderError):  # the answer stands without it
            for batch in judged_together([claim.citation_ids for claim in claims], prompted.sources, room):
                asked = self._ask(prompted.question, batch.sources, [texts[index] for index in batch.claims])
                replies |= {index + 1: asked[n] for n, index in enumerate(batch.claims, start=1) if n in asked}
        return replies

    def _ask(self, question: str, sources: Iterable[str], claims: Iterable[str]) -> dict[int, RepliedVerdict]:
        prompt = judge_prompt(question, sources, claims)
        reply = self._completions.complete("verdicts", prompt, VERDICTS_SCHEMA, is_usable=read_verdicts)
        return read_verdicts(reply)


def read_verdicts(reply: str) -> dict[int, RepliedVerdict]:
    """Return the verdicts of a reply by the number of their claim, of one that was cut off its complete ones."""
    replies: dict[int, RepliedVerdict] = {}
    for row in read_list(reply, "verdicts"):
        with contextlib.suppress(pydantic.ValidationError):
            verdict = RepliedVerdict.model_validate(row)
            replies[verdict.claim] = verdict
    return replies


def judge_prompt(question: str, sources: Iterable[str], claims: Iterable[str]) -> str:
    """Return the prompt for the verdicts on claims, which are numbered from 1."""
    numbered = [prompts.JUDGE_CLAIM.format(number=number, text=text) for number, text in enumerate(claims, start=1)]
    return prompts.JUDGE.format(sources="\n".join(sources), question=question, claims="\n".join(numbered))


def judge_messages(question: str, sources: Iterable[str], claims: Iterable[str]) -> "list[ChatMessage]":
    """Return `judge_prompt` as the message of a user."""
    import llama_index.core
    from llama_index.core.llms import ChatMessage, MessageRole

    return [ChatMessage(role=MessageRole.USER, content=judge_prompt(question, sources, claims))]


def sources_room(llm: "LLM", question: str, claims: Iterable[str] = ()) -> int:
    """Return the most tokens of sources in one request for verdicts on `claims`; may be negative."""
    return min(providers.remaining_tokens(llm, judge_prompt(question, (), claims)), MAX_SOURCES_TOKENS)


def is_judged_by_writer(llm: "LLM", choice: bool | None) -> bool:
    """Return whether the model that writes an answer also judges it; by default all but small ones do."""
    return choice or (choice is None and not providers.is_small(llm))


class JudgedTogether(NamedTuple):
    """Claims, by their index, that are judged in one request by these sources."""

    claims: Sequence[int]
    sources: Sequence[str]


def judged_together(
    cited: Sequence[Sequence[str]], sources: Mapping[str, str], room_tokens: int
) -> list[JudgedTogether]:
    """Divide claims, given as the ids that each cites, into requests whose sources fit into `room_tokens`.

    All are judged by all sources if these fit. Else each request has only what its claims cite; claims that cite
    nothing, or more than fits, are left out.
    """
    sizes = {citation_id: providers.estimate_max_tokens(text) for citation_id, text in sources.items()}
    if sum(sizes.values()) <= room_tokens:
        return [JudgedTogether(range(len(cited)), [*sources.values()])]
    batches: list[tuple[list[int], set[str]]] = []
    for index, ids in enumerate(cited):
        own = sizes.keys() & set(ids)
        if not own or sum(sizes[citation_id] for citation_id in own) > room_tokens:
            continue
        if not batches or sum(sizes[citation_id] for citation_id in batches[-1][1] | own) > room_tokens:
            batches.append(([], set()))
        batches[-1][0].append(index)
        batches[-1][1].update(own)
    return [
        JudgedTogether(claims, [text for citation_id, text in sources.items() if citation_id in ids])
        for claims, ids in batches
    ]
