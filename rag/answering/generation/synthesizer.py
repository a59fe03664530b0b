"""LlamaIndex adapters: a response synthesizer for grounded answers and a chat engine for follow-ups."""

import asyncio
import contextlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from llama_index.core import schema
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import Response, StreamingResponse
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.response_synthesizers import BaseSynthesizer

from rag import errors, prompts
from rag.answering.generation.answer import DEFAULT_GENERATION, DEFAULT_OPTIONS, condense, stream
from rag.answering.generation.model_answer import Stop, never_stop
from rag.answering.verification.grounding import Locate
from rag.answering.verification.meaning import MeaningJudge
from rag.retrieval import CompletionCache, Query, Reranker, to_hits
from rag.types import (
    MAX_TURN_CHARS,
    MAX_TURNS,
    AnswerEvent,
    AnswerOptions,
    AnswerResponse,
    AnswerToken,
    GenerationOptions,
    Message,
    Rewriting,
    bounded_question,
)

MEMORY_TOKENS = 8000
"""Words of a conversation that a chat engine remembers."""


@dataclass
class GroundedResponse(Response):
    """LlamaIndex's response with the verified answer: citations, quotes and their boxes."""

    answer: AnswerResponse | None = None


@dataclass
class GroundedStream(StreamingResponse):
    """LlamaIndex's streaming response; `answer` is the verified answer once all pieces were read.

    `events` are the same pieces with the stages between them; read either these or `response_gen`.
    """

    answer: AnswerResponse | None = None
    events: Generator[AnswerEvent, None, None] | None = None


class GroundedSynthesizer(BaseSynthesizer):
    """Answer from nodes with verified citations; without `llm` by sentences of the documents.

    The query engine's `query` returns a `GroundedResponse`, or with `streaming` a `GroundedStream`.
    """

    def __init__(
        self,
        *,
        llm: LLM | None,
        locate: Locate,
        reranker: Reranker | None = None,
        reader: Reranker | None = None,
        judge: MeaningJudge | None = None,
        memory: CompletionCache | None = None,
        options: AnswerOptions = DEFAULT_OPTIONS,
        generation: GenerationOptions = DEFAULT_GENERATION,
        streaming: bool = False,
        stop: Stop = never_stop,
    ) -> None:
        """See `rag.answering.generation.answer.stream`."""
        super().__init__(
            # LlamaIndex would open OpenAI's where there is none, and load a vocabulary for prompts of its own
            llm=llm or MockLLM(),
            prompt_helper=PromptHelper(tokenizer=str.split),
            chat_prompt_helper=ChatPromptHelper(tokenizer=str.split),
            streaming=streaming,
        )
        self._writer = llm
        self._locate = locate
        self._reranker = reranker
        self._reader = reader
        self._judge = judge
        self._memory = memory
        self._options = options
        self._generation = generation
        self._stop = stop

    def synthesize(
        self,
        query: schema.QueryType,
        nodes: list[schema.NodeWithScore],
        additional_source_nodes: Sequence[schema.NodeWithScore] | None = None,
        **_: Any,
    ) -> GroundedResponse | GroundedStream:
        """Answer `query` from `nodes`.

        Raises:
            errors.ValidationError: the question is too long.
            errors.ProviderError: the language model refuses or is down.
        """
        question = bounded_question(query if isinstance(query, str) else query.query_str)
        sources = [*nodes, *(additional_source_nodes or ())]
        rewritings = query.findings.rewritings if isinstance(query, Query) else ()
        events = self._events(question, sources, rewritings)
        if self._streaming:
            streamed = GroundedStream(response_gen=None, source_nodes=sources)  # type: ignore[arg-type]
            streamed.events = events
            streamed.response_gen = _pieces(events, streamed)
            return streamed
        answer = final_answer(events)
        return GroundedResponse(response=answer.answer, source_nodes=sources, answer=answer)

    async def asynthesize(
        self,
        query: schema.QueryType,
        nodes: list[schema.NodeWithScore],
        additional_source_nodes: Sequence[schema.NodeWithScore] | None = None,
        **_: Any,
    ) -> GroundedResponse | GroundedStream:
        """Run `synthesize` in a thread."""
        return await asyncio.to_thread(self.synthesize, query, nodes, additional_source_nodes)

    def _events(
        self, question: str, nodes: Sequence[schema.NodeWithScore], rewritings: Sequence[Rewriting] = ()
    ) -> Generator[AnswerEvent, None, None]:
        return stream(
            question,
            to_hits(nodes),
            llm=self._writer,
            locate=self._locate,
            reranker=self._reranker,
            reader=self._reader,
            judge=self._judge,
            memory=self._memory,
            rewritings=rewritings,
            options=self._options,
            generation=self._generation,
            stop=self._stop,
        )

    def get_response(self, query_str: str, text_chunks: Sequence[str], **_: Any) -> str:
        """Answer from bare texts, which have no place on a page."""
        nodes = [schema.NodeWithScore(node=schema.TextNode(text=text), score=1.0) for text in text_chunks]
        return final_answer(self._events(query_str, nodes)).answer

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **_: Any) -> str:
        """Run `get_response` in a thread."""
        return await asyncio.to_thread(self.get_response, query_str, text_chunks)

    def _get_prompts(self) -> dict[str, Any]:
        return {}  # they are in rag.prompts

    def _update_prompts(self, prompts: dict[str, Any]) -> None:
        pass


def _pieces(events: Generator[AnswerEvent, None, None], streamed: GroundedStream) -> Generator[str, None, None]:
    with contextlib.closing(events):
        for event in events:
            if isinstance(event, AnswerToken):
                yield event.text
            elif isinstance(event, AnswerResponse):
                streamed.answer = event


def final_answer(events: Generator[AnswerEvent, None, None]) -> AnswerResponse:
    """Return the verified answer at the end of `events`.

    Raises:
        errors.GroundingError: the events end without it.
    """
    for event in events:
        if isinstance(event, AnswerResponse):
            return event
    raise errors.GroundingError("The answer broke off before it was checked. Ask again.")


class GroundedChatEngine(CondenseQuestionChatEngine):
    """A conversation of grounded answers; without a language model questions are taken as they stand."""

    @classmethod
    def from_query_engine(cls, query_engine: BaseQueryEngine, llm: LLM | None) -> Self:
        """Start a conversation that asks `query_engine`."""
        memory = ChatMemoryBuffer.from_defaults(token_limit=MEMORY_TOKENS, tokenizer_fn=str.split)
        return cls(query_engine, PromptTemplate(prompts.CONDENSE_QUESTION), memory, llm or MockLLM())

    def _condense_question(self, chat_history: list[ChatMessage], last_message: str) -> str:
        turns = [
            Message(role=turn.role.value, content=(turn.content or "")[:MAX_TURN_CHARS])
            for turn in chat_history[-MAX_TURNS:]
            if turn.role.value in {"user", "assistant"}
        ]
        llm = None if isinstance(self._llm, MockLLM) else self._llm
        return condense(bounded_question(last_message), turns, llm)

    async def _acondense_question(self, chat_history: list[ChatMessage], last_message: str) -> str:
        return await asyncio.to_thread(self._condense_question, chat_history, last_message)
