"""LlamaIndex carries the main path: its query engine is in the trace of every answer, and any part can be another's."""

import asyncio
import contextlib
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import schema
from llama_index.core.chat_engine.types import StreamingAgentChatResponse
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.node_parser import NodeParser, SentenceSplitter
from llama_index_instrumentation import get_dispatcher

from rag import errors, prompts
from rag.answering import GroundedAsyncStream, GroundedResponse, GroundedStream, GroundedSynthesizer
from rag.config import load_config
from rag.engine import RAGEngine
from rag.ingestion import BlockNodeParser, FileDocument
from rag.types import AnswerResponse, Line, PageInfo, ParsedDocument, Rect, TextBlock
from tests import answers
from tests.vendor_servers import SLOW_SECONDS, Endless, Held, Refusal, VendorServer, openai_server

TEXT = "The harbour handled 4,812 ships in 2023.\nThe pier was rebuilt in 1998."
QUESTION = "How many ships did the harbour handle?"


@pytest.fixture
def engine(database_url: str, tmp_path: Path) -> Iterator[RAGEngine]:
    with open_engine(database_url, tmp_path) as opened:
        opened.documents.process(opened.documents.add(TEXT.encode(), "harbour.txt", enqueue=False).id)
        yield opened


def open_engine(database_url: str, folder: Path, **parts: Any) -> RAGEngine:
    return RAGEngine(load_config(rag_database_url=database_url, rag_data_dir=folder), user_id="ada", **parts)


@contextmanager
def traced() -> Iterator[list[str]]:
    """Names of LlamaIndex's spans, `Class.method`, in the order of their ends."""
    handler: SimpleSpanHandler = SimpleSpanHandler()
    names: list[str] = []
    dispatcher = get_dispatcher()
    dispatcher.add_span_handler(handler)
    try:
        yield names
    finally:
        dispatcher.span_handlers.remove(handler)
        names += [span.id_.partition("-")[0] for span in handler.completed_spans]


def in_a_chat(engine: RAGEngine) -> str:
    return engine.chats.ask(engine.chats.start("Ships").id, QUESTION).content


DOORS: dict[str, Callable[[RAGEngine], str]] = {
    "a chat": in_a_chat,
    "answer": lambda engine: engine.answer(QUESTION).answer,
    "a stream": lambda engine: [*engine.questions.stream({"question": QUESTION})][-1].answer,  # type: ignore[union-attr]
    "a query engine": lambda engine: str(engine.as_query_engine().query(QUESTION)),
    "a chat engine": lambda engine: str(engine.as_chat_engine().chat(QUESTION)),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_answer_goes_through_the_query_engine(engine: RAGEngine, door: str) -> None:
    with traced() as names:
        answer = DOORS[door](engine)
    assert "4,812 ships" in answer
    assert {"HybridRetriever.retrieve", "RetrieverQueryEngine.query"} <= {*names}


def test_a_search_goes_through_the_query_engines_retriever_and_postprocessors(engine: RAGEngine) -> None:
    with traced() as names:
        assert engine.search({"query": "ships"}).results
    assert "HybridRetriever.retrieve" in names
    assert any(name.startswith("PageExpansion.") for name in names), names


def test_the_synthesizer_answers_by_any_function_that_answers_from_hits() -> None:
    synthesizer = GroundedSynthesizer(lambda question, hits, _: answers.stream(question, hits, llm=None))
    assert synthesizer.get_response("When was the pier rebuilt?", [TEXT]) == "The pier was rebuilt in 1998. [S1]"


# --- ingestion ---


def parsed(*lines: str) -> ParsedDocument:
    """A page of one block."""
    box = Rect(72, 100, 300, 112)
    own = tuple(
        Line(number=number, page_number=1, bbox=box, text=text, starts_block=number == 1)
        for number, text in enumerate(lines, start=1)
    )
    block = TextBlock(page_number=1, bbox=box, line_start=1, line_end=len(lines), text="\n".join(lines), lines=own)
    return ParsedDocument(title="A title", pages=(PageInfo(number=1, width=595, height=842),), blocks=(block,))


def test_our_node_parser_makes_nodes_that_know_their_place_and_their_neighbours() -> None:
    document_id = uuid.uuid4()
    document = FileDocument.of(
        document_id, "report.pdf", parsed(*(f"Line {number} of the report." for number in range(90)))
    )
    nodes = IngestionPipeline(transformations=[BlockNodeParser()], disable_cache=True).run(documents=[document])
    assert len(nodes) > 1
    first, second = nodes[0], nodes[1]
    assert first.metadata["page_number"] == 1
    assert (first.metadata["line_start"], first.metadata["bbox"]) == (1, [72, 100, 300, 112])
    assert first.ref_doc_id == str(document_id)
    assert first.next_node
    assert first.next_node.node_id == second.node_id
    assert second.prev_node
    assert second.prev_node.node_id == first.node_id
    assert first.get_content(metadata_mode=schema.MetadataMode.EMBED).startswith("report · A title")
    assert first.get_content(metadata_mode=schema.MetadataMode.LLM).startswith("Line 0")


def test_another_node_parser_cuts_lines_with_their_boxes(database_url: str, tmp_path: Path) -> None:
    splitter = SentenceSplitter(chunk_size=12, chunk_overlap=0, tokenizer=str.split)
    with open_engine(database_url, tmp_path, node_parser=splitter) as engine:
        document = engine.documents.add(TEXT.encode(), "harbour.txt", enqueue=False)
        assert engine.documents.process(document.id).chunk_count == 2
        assert [chunk.ordinal for chunk in engine.store.chunks.of_document(document.id)] == [0, 1]
        citation = engine.answer("When was the pier rebuilt?").citations[0]
    assert citation.quote == "The pier was rebuilt in 1998."
    assert citation.regions


class Shouting(SentenceSplitter):
    """Changes what it cuts."""

    def split_text_metadata_aware(self, text: str, metadata_str: str) -> list[str]:
        return [text.upper()]


def test_a_node_parser_that_changes_the_text_fails_the_document(database_url: str, tmp_path: Path) -> None:
    with open_engine(database_url, tmp_path, node_parser=Shouting(tokenizer=str.split)) as engine:
        read = engine.documents.process(engine.documents.add(TEXT.encode(), "harbour.txt", enqueue=False).id)
    assert (read.status, read.error_code) == ("failed", errors.ValidationError.code)
    assert "harbour.txt" in (read.error or "")


def test_our_node_parser_takes_only_what_we_parsed() -> None:
    parser: NodeParser = BlockNodeParser()
    with pytest.raises(errors.ValidationError, match="node parsers"):
        parser.get_nodes_from_documents([schema.Document(text="x")])


# --- in an event loop ---

ANSWER = '4,812 ships [S1]<quote id="S1">The harbour handled 4,812 ships in 2023.</quote>.'


@pytest.fixture
def written(database_url: str, tmp_path: Path) -> Iterator[tuple[RAGEngine, VendorServer]]:
    """An engine whose model and embeddings are a vendor's, and that vendor."""
    with openai_server() as server:
        config = load_config(
            rag_database_url=database_url,
            rag_data_dir=tmp_path,
            openai_api_key="sk-test",
            openai_base_url=server.url,
            rag_embed_model="openai",
        )
        server.pieces = [ANSWER[at : at + 7] for at in range(0, len(ANSWER), 7)]
        with RAGEngine(config, user_id="ada") as engine:
            engine.documents.process(engine.documents.add(TEXT.encode(), "harbour.txt", enqueue=False).id)
            server.requests.clear()
            yield engine, server


async def until(condition: Callable[[], bool]) -> None:
    """Wait in the event loop, which must go on meanwhile."""
    async with asyncio.timeout(SLOW_SECONDS / 2):
        while not condition():
            await asyncio.sleep(0.01)


def test_an_awaited_answer_is_the_one_of_a_call(written: tuple[RAGEngine, VendorServer]) -> None:
    engine, _ = written
    called = engine.as_query_engine().query(QUESTION)
    awaited = asyncio.run(engine.as_query_engine().aquery(QUESTION))
    assert isinstance(called, GroundedResponse)
    assert isinstance(awaited, GroundedResponse)
    assert str(called) == str(awaited) == "4,812 ships [S1]."
    assert [node.node_id for node in awaited.source_nodes] == [node.node_id for node in called.source_nodes]
    assert checked(awaited.answer) == checked(called.answer)


def checked(answer: AnswerResponse | None) -> tuple[object, ...]:
    assert answer
    return answer.status, answer.answer, answer.sentences, answer.citations, answer.sources, answer.model


def test_an_awaited_stream_is_the_one_of_a_call(written: tuple[RAGEngine, VendorServer]) -> None:
    engine, _ = written

    async def read() -> tuple[list[str], GroundedAsyncStream]:
        stream = await engine.as_query_engine(streaming=True).aquery(QUESTION)
        assert isinstance(stream, GroundedAsyncStream)
        return [piece async for piece in stream.async_response_gen()], stream

    called = engine.as_query_engine(streaming=True).query(QUESTION)
    assert isinstance(called, GroundedStream)
    shown = [*called.response_gen]
    engine.store.caches.clear()
    pieces, awaited = asyncio.run(read())
    assert pieces == shown
    assert len(pieces) > 1
    assert awaited.response_txt == "".join(shown)
    assert awaited.get_formatted_sources() == called.get_formatted_sources()
    assert checked(awaited.answer) == checked(called.answer)
    assert awaited.answer
    assert awaited.answer.citations[0].regions


def test_an_event_loop_goes_on_while_an_answer_is_searched_and_written(written: tuple[RAGEngine, VendorServer]) -> None:
    engine, server = written
    embedded, answered = threading.Event(), threading.Event()
    server.faults += [Held(embedded), Held(answered)]

    async def ask() -> list[str]:
        async def read() -> list[str]:
            stream = await engine.as_query_engine(streaming=True).aquery(QUESTION)
            assert isinstance(stream, GroundedAsyncStream)
            return [piece async for piece in stream.async_response_gen()]

        asked = asyncio.create_task(read())
        await until(lambda: len(server.requests) == 1)
        embedded.set()
        await until(lambda: len(server.requests) == 2)
        answered.set()
        return await asked

    assert "".join(asyncio.run(ask())) == "4,812 ships [S1]."


@pytest.mark.parametrize("door", ["a query engine", "a stream", "a chat"])
def test_a_cancelled_answer_is_written_no_further(written: tuple[RAGEngine, VendorServer], door: str) -> None:
    engine, server = written

    async def read() -> None:
        match door:
            case "a query engine":
                await engine.as_query_engine().aquery(QUESTION)
            case "a stream":
                stream = await engine.as_query_engine(streaming=True).aquery(QUESTION)
                assert isinstance(stream, GroundedAsyncStream)
                assert [piece async for piece in stream.async_response_gen()]
            case _:
                chat = await engine.as_chat_engine().astream_chat(QUESTION)
                assert [piece async for piece in chat.async_response_gen()]

    async def cancel() -> None:
        asked = asyncio.create_task(read())
        await until(lambda: bool(server.requests) and "messages" in server.bodies[-1])
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await until(server.left.is_set)

    server.faults.append(Endless())
    asyncio.run(cancel())


def test_a_reader_that_leaves_a_stream_ends_the_work(written: tuple[RAGEngine, VendorServer]) -> None:
    engine, server = written

    async def leave(stream: object) -> None:
        assert isinstance(stream, GroundedAsyncStream | StreamingAgentChatResponse)
        async with contextlib.aclosing(stream.async_response_gen()) as pieces:
            assert await anext(pieces)
        await until(server.left.is_set)
        server.left.clear()

    async def read() -> None:
        server.faults += [Endless(), Endless()]
        await leave(await engine.as_query_engine(streaming=True).aquery(QUESTION))
        await leave(await engine.as_chat_engine().astream_chat(QUESTION))

    asyncio.run(read())


def test_a_chat_streams_in_an_event_loop(written: tuple[RAGEngine, VendorServer]) -> None:
    engine, _ = written
    chat = engine.as_chat_engine()

    async def ask(question: str) -> tuple[list[str], StreamingAgentChatResponse]:
        response = await chat.astream_chat(question)
        return [piece async for piece in response.async_response_gen()], response

    pieces, response = asyncio.run(ask(QUESTION))
    assert len(pieces) > 1
    assert "".join(pieces) == str(response) == "4,812 ships [S1]."
    stream = response.sources[0].raw_output
    assert isinstance(stream, GroundedAsyncStream)
    assert stream.answer
    assert stream.answer.citations[0].verdict == "verified"
    assert response.source_nodes == stream.source_nodes
    assert [(turn.role.value, turn.content) for turn in chat.chat_history] == [
        ("user", QUESTION),
        ("assistant", "4,812 ships [S1]."),
    ]


def test_a_chat_with_a_query_engine_that_does_not_stream_answers_in_one_piece(engine: RAGEngine) -> None:
    async def ask() -> list[str]:
        response = await engine.as_chat_engine(query_engine=engine.as_query_engine()).astream_chat(QUESTION)
        pieces = [piece async for piece in response.async_response_gen()]
        assert pieces == [piece async for piece in response.async_response_gen()]
        return pieces

    [piece] = asyncio.run(ask())
    assert "4,812 ships" in piece


def test_a_refusal_is_streamed_as_well(written: tuple[RAGEngine, VendorServer]) -> None:
    engine, server = written
    server.pieces = [prompts.NOT_FOUND_SENTINEL]
    called = engine.as_query_engine(streaming=True).query("Who paints the moon?")
    assert str(called) == prompts.INSUFFICIENT_CONTEXT_MESSAGE

    async def read() -> str:
        stream = await engine.as_query_engine(streaming=True).aquery("Who paints the moon?")
        assert isinstance(stream, GroundedAsyncStream)
        return str(await stream.get_response())

    assert asyncio.run(read()) == prompts.INSUFFICIENT_CONTEXT_MESSAGE


def test_an_error_of_the_vendor_reaches_an_awaiting_reader(written: tuple[RAGEngine, VendorServer]) -> None:
    engine, server = written

    async def read_answer() -> None:
        stream = await engine.as_query_engine(streaming=True).aquery(QUESTION)
        assert isinstance(stream, GroundedAsyncStream)
        assert not [piece async for piece in stream.async_response_gen()]

    async def read_chat() -> None:
        chat = await engine.as_chat_engine().astream_chat(QUESTION)
        assert not [piece async for piece in chat.async_response_gen()]

    for read in (read_answer, read_chat):
        server.faults.append(Refusal(401))
        with pytest.raises(errors.ProviderError):
            asyncio.run(read())
