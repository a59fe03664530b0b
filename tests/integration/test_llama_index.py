"""LlamaIndex carries the main path: its query engine is in the trace of every answer, and any part can be another's."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import schema
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.instrumentation.span_handlers import SimpleSpanHandler
from llama_index.core.node_parser import NodeParser, SentenceSplitter
from llama_index_instrumentation import get_dispatcher

from rag import errors
from rag.config import load_config
from rag.engine import RAGEngine
from rag.ingestion import BlockNodeParser, FileDocument
from rag.types import Line, PageInfo, ParsedDocument, Rect, TextBlock

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
        assert [chunk.ordinal for chunk in engine.chunks.list(document.id)] == [0, 1]
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
