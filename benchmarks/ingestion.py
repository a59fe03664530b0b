"""Measure the throughput of each stage from a file to a searchable document."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from benchmarks import databases, material
from benchmarks.report import Section
from benchmarks.settings import Options
from rag import parsing, providers
from rag.engine import RAGEngine
from rag.ingestion import search_text, split_blocks
from rag.store.store import Store
from rag.types import Chunk, ChunkingOptions, Document, ParsedDocument

PAGES, QUICK_PAGES = 150, 1
USER = "benchmark"

Result = TypeVar("Result")


def measure(options: Options, section: Section) -> None:
    """Run the stages one by one as ingestion calls them, then all of ingestion on the same file."""
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as name,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
        Store.open(url) as store,
    ):
        folder = Path(name)
        path = options.pdf or material.make_pdf(folder / "report.pdf", QUICK_PAGES if options.quick else PAGES, seed=3)
        config = options.config.model_copy(update={"rag_data_dir": folder, "rag_storage_url": None})
        with RAGEngine(config, user_id=USER, store=store) as engine:
            _measure_stages(section, engine, store, path, folder / "rendition.pdf")
            document = engine.documents.add(path, path.name, enqueue=False)
            whole, document = _timed(lambda: engine.documents.process(document.id))
        section.about = f"{document.page_count:,} pages, {document.chunk_count:,} chunks"
        section.add("all by one worker, with its bookkeeping", document.page_count / whole, "pages/s")


def _measure_stages(section: Section, engine: RAGEngine, store: Store, path: Path, rendition: Path) -> None:
    """Use a separate index and no embedding cache."""
    document = engine.documents.add(path, path.name, index_name="stages", enqueue=False)
    space = engine.indexes.ensure("stages").space
    _, embedder = providers.Registry().embedding_model(engine.config, space)
    providers.embed_query(embedder, "Open the model before the time is taken.")
    times: dict[str, float] = {}
    times["render and parse"], parsed = _timed(
        lambda: parsing.read_file(path, name=path.name, rendition=rendition, config=engine.config.rag_parsing)
    )
    times["chunk"], (chunks, texts) = _timed(lambda: _chunk(document, parsed))
    times["embed"], vectors = _timed(lambda: providers.embed_texts(embedder, texts))
    times["store"], _ = _timed(
        lambda: store.of(document.user_id).chunks.replace(
            document.id,
            space,
            parsed=parsed,
            chunks=chunks,
            vectors=vectors,
            search_texts=texts,
        )
    )
    for name, taken in times.items():
        section.add(name, len(parsed.pages) / taken, "pages/s")
    for name, taken in times.items():
        section.add(f"{name}, of the stages' time", 100 * taken / sum(times.values()), "%")


def _chunk(document: Document, parsed: ParsedDocument) -> tuple[list[Chunk], list[str]]:
    """Return chunks with their texts for embedding and indexing."""
    chunks = split_blocks(
        parsed.blocks, document_id=document.id, name=document.name, title=parsed.title, options=ChunkingOptions()
    )
    return chunks, [search_text(chunk) for chunk in chunks]


def _timed(call: Callable[[], Result]) -> tuple[float, Result]:
    """Return the seconds and the result of a call."""
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result
