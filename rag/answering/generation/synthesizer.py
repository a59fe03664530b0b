"""LlamaIndex adapters: a response synthesizer for grounded answers and a chat engine for follow-ups."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from llama_index.core import schema
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.base.response.schema import RESPONSE_TYPE, AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.chat_engine import CondenseQuestionChatEngine
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.indices.prompt_helper import ChatPromptHelper, PromptHelper
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer
from llama_index.core.prompts import PromptTemplate
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.tools import ToolOutput

from rag import prompts, types
from rag.answering.conversation.followups import condense
from rag.answering.generation.model_answer import final_answer
from rag.async_streams import in_threads
from rag.retrieval import Completions, Query, to_hits

Answer = Callable[[str, Sequence[types.Hit], Sequence[types.Rewriting]], Generator[types.AnswerEvent, None, None]]
"""Yield the events of an answer to a question from hits; the vocabulary's rewritings help to find extracts."""

MEMORY_TOKENS = 8000
"""Words of a conversation that a chat engine remembers."""


@dataclass
class GroundedResponse(Response):
    """LlamaIndex's response with the verified answer: citations, quotes and their boxes."""

    answer: types.AnswerResponse | None = None


class GroundedStream(StreamingResponse):
    """LlamaIndex's streaming response; `answer` is the verified answer once all pieces were read.

    `events` are the same pieces with the stages between them; read either these or `response_gen`.
    """

    def __init__(
        self, events: Generator[types.AnswerEvent, None, None], source_nodes: list[schema.NodeWithScore]
    ) -> None:
        """Take an answer that is being written."""
        super().__init__(self._pieces(), source_nodes)
        self.answer: types.AnswerResponse | None = None
        self.events = events

    def _pieces(self) -> Generator[str, None, None]:
        is_empty = True  # as that of a refusal
        with contextlib.closing(self.events):
            for event in self.events:
                if isinstance(event, types.AnswerToken):
                    is_empty = False
                    yield event.text
                elif isinstance(event, types.AnswerResponse):
                    self.answer = event
                    if is_empty:
                        yield event.answer


class GroundedAsyncStream(AsyncStreamingResponse):
    """`GroundedStream` for an event loop, which it never blocks.

    A reader that is cancelled or closes the stream ends the work as soon as the piece being written is there.
    """

    def __init__(
        self, events: AsyncGenerator[types.AnswerEvent, None], source_nodes: list[schema.NodeWithScore]
    ) -> None:
        """Take an answer that is being written."""
        super().__init__(self._pieces(), source_nodes)
        self.answer: types.AnswerResponse | None = None
        self.events = events

    async def _pieces(self) -> AsyncGenerator[str, None]:
        is_empty = True  # as that of a refusal
        async with contextlib.aclosing(self.events):
            async for event in self.events:
                if isinstance(event, types.AnswerToken):
                    is_empty = False
                    yield event.text
                elif isinstance(event, types.AnswerResponse):
                    self.answer = event
                    if is_empty:
                        yield event.answer

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        """Yield the pieces of the answer."""
        try:
            async for piece in super().async_response_gen():
                yield piece
        finally:
            await self.response_gen.aclose()  # LlamaIndex leaves it to the garbage collector


class GroundedSynthesizer(BaseSynthesizer):
    """Answer from nodes with verified citations, by a function that does so from hits.

    The query engine's `query` and `aquery` return a `GroundedResponse`, or with `streaming` a `GroundedStream` and a
    `GroundedAsyncStream`.
    """

    def __init__(self, answer: Answer, *, streaming: bool = False) -> None:
        """The last event that `answer` yields is the verified answer."""
        super().__init__(
            # LlamaIndex would open OpenAI's, and load a vocabulary for prompts of its own
            llm=MockLLM(),
            prompt_helper=PromptHelper(tokenizer=str.split),
            chat_prompt_helper=ChatPromptHelper(tokenizer=str.split),
            streaming=streaming,
        )
        self._answer = answer

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
        sources = [*nodes, *(additional_source_nodes or ())]
        events = self._events(query, sources)
        if self._streaming:
            return GroundedStream(events, sources)
        answer = final_answer(events)
        return GroundedResponse(response=answer.answer, source_nodes=sources, answer=answer)

    async def asynthesize(
        self,
        query: schema.QueryType,
        nodes: list[schema.NodeWithScore],
        additional_source_nodes: Sequence[schema.NodeWithScore] | None = None,
        **_: Any,
    ) -> GroundedResponse | GroundedAsyncStream:
        """Answer `query` from `nodes` without blocking the event loop. Raises as `synthesize`."""
        sources = [*nodes, *(additional_source_nodes or ())]
        events = in_threads(self._events(query, sources))
        if self._streaming:
            return GroundedAsyncStream(events, sources)
        answer = final_answer([event async for event in events])
        return GroundedResponse(response=answer.answer, source_nodes=sources, answer=answer)

    def _events(
        self, query: schema.QueryType, nodes: Sequence[schema.NodeWithScore]
    ) -> Generator[types.AnswerEvent, None, None]:
        question = types.bounded_question(query if isinstance(query, str) else query.query_str)
        return self._answer(question, to_hits(nodes), query.findings.rewritings if isinstance(query, Query) else ())

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


class GroundedChatEngine(CondenseQuestionChatEngine):
    """A conversation of grounded answers; without a language model questions are taken as they stand."""

    @classmethod
    def from_query_engine(cls, query_engine: BaseQueryEngine, llm: LLM | None) -> Self:
        """Start a conversation that asks `query_engine`."""
        memory = ChatMemoryBuffer.from_defaults(token_limit=MEMORY_TOKENS, tokenizer_fn=str.split)
        return cls(query_engine, PromptTemplate(prompts.CONDENSE_QUESTION), memory, llm or MockLLM())

    def _condense_question(self, chat_history: list[ChatMessage], last_message: str) -> str:
        turns = [
            types.Message(role=turn.role.value, content=(turn.content or "")[: types.MAX_TURN_CHARS])
            for turn in chat_history[-types.MAX_TURNS :]
            if turn.role.value in {"user", "assistant"}
        ]
        completions = None if isinstance(self._llm, MockLLM) else Completions(self._llm, None)
        return condense(types.bounded_question(last_message), turns, completions)

    async def _acondense_question(self, chat_history: list[ChatMessage], last_message: str) -> str:
        return await asyncio.to_thread(self._condense_question, chat_history, last_message)

    async def astream_chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> "GroundedChatStream":
        """Stream the answer to `message`, in one piece if the query engine does not stream."""
        history = chat_history or await self._memory.aget(input=message)
        question = await self._acondense_question(history, message)
        response = await self._query_engine.aquery(question)
        await self._memory.aput(ChatMessage(role="user", content=message))
        source = ToolOutput(tool_name="query_engine", content="", raw_input={"query": question}, raw_output=response)
        return GroundedChatStream(source, response, self._memory)


class GroundedChatStream(StreamingAgentChatResponse):
    """An answer of a chat for an event loop, which is written while it is read.

    LlamaIndex's own is written by a task that goes on when its reader is cancelled, and has no source nodes.
    """

    def __init__(self, source: ToolOutput, response: RESPONSE_TYPE, memory: BaseMemory) -> None:
        """Take the response of a query engine; what was read goes to `memory`."""
        super().__init__(sources=[source], source_nodes=response.source_nodes, is_writing_to_memory=False)
        self._response = response
        self._memory = memory

    async def async_response_gen(self) -> AsyncGenerator[str, None]:
        """Yield the pieces of the answer. A reader that is cancelled or closes the stream ends the work."""
        if self.is_done:
            yield self.response
            return
        if isinstance(self._response, AsyncStreamingResponse):
            async with contextlib.aclosing(self._response.async_response_gen()) as pieces:
                async for piece in pieces:
                    self.response += piece
                    yield piece
        else:
            self.response = str(self._response)
            yield self.response
        self.is_done = True
        await self._memory.aput(ChatMessage(role="assistant", content=self.response))
