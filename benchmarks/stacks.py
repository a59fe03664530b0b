"""Compare parsing and ingestion of real PDFs with common alternatives, in one run.

Needs the dependency group `stacks` and a folder of PDFs (`--pdfs`). Parsing: pages per second of bare MuPDF, pypdf,
pdfplumber and pymupdf4llm. Ingestion: LlamaIndex's tutorial (`SimpleDirectoryReader`, `SentenceSplitter`,
`VectorStoreIndex`) with the same embedding model, once in padded batches on all cores, as its users run it, and once
with our `LocalEmbedding`.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pdfplumber
import pymupdf4llm
import pypdf
from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.node_parser import SentenceSplitter
from llama_index.readers.file import PDFReader
from pydantic import PrivateAttr

from benchmarks import databases
from benchmarks.parsing import extract
from benchmarks.report import Section, at_least
from benchmarks.settings import Options
from rag import packaged_models, parsing, worker
from rag.engine import RAGEngine
from rag.parsing.pdf.mupdf import pymupdf
from rag.providers import onnx_models
from rag.providers.embedded_models import LocalEmbedding
from rag.store.store import Store
from rag.types import UNFINISHED, DocumentStatus

PAGES, QUICK_PAGES = 400, 10
"""Minimum number of pages; whole files are taken in order of their names."""
SLOW_PAGES, SLOW_QUICK_PAGES = 60, 4
"""Pages for libraries that take seconds per page."""
USER = "benchmark"
BATCH = 10
"""LlamaIndex's default `embed_batch_size`."""
LOOK_SECONDS = 0.1
_WITHOUT_WORDS = (DocumentStatus.QUEUED, DocumentStatus.PARSING)


def measure(options: Options, section: Section) -> None:
    """Measure parsing, then ingestion end to end."""
    if options.pdfs is None:
        raise SystemExit("Name a folder of PDFs: --pdfs FOLDER")
    files, pages = _sample(options.pdfs, QUICK_PAGES if options.quick else PAGES)
    section.about = f"{len(files)} files, {pages:,} pages"
    _measure_parsing(section, files, pages, SLOW_QUICK_PAGES if options.quick else SLOW_PAGES)
    _measure_ingestion(options, section, files, pages)


def _sample(folder: Path, wanted: int) -> tuple[list[Path], int]:
    files: list[Path] = []
    pages = 0
    for path in sorted(folder.rglob("*.pdf")):
        if pages >= wanted:
            break
        with pymupdf.open(path) as document:
            pages += document.page_count
        files.append(path)
    return files, pages


def _measure_parsing(section: Section, files: list[Path], pages: int, slow_pages: int) -> None:
    """Run each library on all files; the slow ones on the first pages."""
    with tempfile.TemporaryDirectory() as folder:
        rendition = Path(folder) / "rendition.pdf"
        parsing.read_file(files[0], name=files[0].name, rendition=rendition)  # start the fork server
        bare = _seconds(lambda: _each(extract, files))
        core = _seconds(lambda: [parsing.parse_rendition(path) for path in files])
        whole = _seconds(lambda: [parsing.read_file(path, name=path.name, rendition=rendition) for path in files])
    section.add('parsing: bare get_text("dict")', pages / bare, "pages/s")
    section.add("parsing: ours, in this process", pages / core, "pages/s")
    section.add("parsing: ours as used, in a child process", pages / whole, "pages/s")
    section.add("parsing: pypdf", pages / _seconds(lambda: _each(_pypdf, files)), "pages/s")
    slow = range(min(slow_pages, _count(files[0])))
    section.add(
        "parsing: pdfplumber, with tables", len(slow) / _seconds(lambda: _pdfplumber(files[0], slow)), "pages/s"
    )
    section.add("parsing: pymupdf4llm", len(slow) / _seconds(lambda: _pymupdf4llm(files[0], slow)), "pages/s")
    section.add("ours as used / bare time", whole / bare, "×")


def _measure_ingestion(options: Options, section: Section, files: list[Path], pages: int) -> None:
    ours = _ours(options, files)
    nodes, tutorial = _tutorial(files, _BatchedEmbedding())
    _, with_our_model = _tutorial(files, LocalEmbedding())
    section.add("ingestion: ours, chunks", ours.chunks, "")
    section.add("ingestion: LlamaIndex's tutorial, nodes", nodes, "")
    section.add("ingestion: ours, until searchable by words", pages / ours.words, "pages/s")
    section.add("ingestion: ours, whole", pages / ours.whole, "pages/s")
    section.add("ingestion: LlamaIndex's tutorial", pages / tutorial, "pages/s")
    section.add("ingestion: LlamaIndex's tutorial with our embedding", pages / with_our_model, "pages/s")
    section.add("ingestion: speedup over the tutorial", tutorial / ours.whole, "×", at_least(2.0))


class _Ours(NamedTuple):
    """Seconds until all files were searchable by words and until all were ready, and their chunks."""

    words: float
    whole: float
    chunks: int


def _ours(options: Options, files: list[Path]) -> _Ours:
    """Ingest with a worker, whose lanes parse one file while another is embedded, into an empty database."""
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as name,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
        Store.open(url) as store,
    ):
        config = options.config.model_copy(update={"rag_data_dir": Path(name), "rag_storage_url": None})
        with RAGEngine(config, user_id=USER, store=store) as engine:
            engine.installation.warm_up()
            for path in files:
                engine.documents.add(path, path.name)
            started = time.perf_counter()
            working = threading.Thread(target=worker.run, args=(engine.installation,), kwargs={"wait": False})
            working.start()
            words = _seconds(lambda: _wait(engine, _WITHOUT_WORDS))
            _wait(engine, UNFINISHED)
            whole = time.perf_counter() - started
            chunks = sum(document.chunk_count for document in engine.documents.list())
            working.join()  # words in pictures come last and are not waited for
            return _Ours(words, whole, chunks)


def _wait(engine: RAGEngine, until_none: Collection[DocumentStatus]) -> None:
    while any(document.status in until_none for document in engine.documents.list()):
        time.sleep(LOOK_SECONDS)


def _tutorial(files: list[Path], embedder: BaseEmbedding) -> tuple[int, float]:
    """Return nodes and seconds; the index is in memory, as in the tutorial."""
    embedder.get_text_embedding("Open the model before the time is taken.")
    started = time.perf_counter()
    reader = SimpleDirectoryReader(input_files=[str(path) for path in files], file_extractor={".pdf": PDFReader()})
    nodes = SentenceSplitter().get_nodes_from_documents(reader.load_data())
    VectorStoreIndex(nodes, embed_model=embedder)
    return len(nodes), time.perf_counter() - started


class _BatchedEmbedding(LocalEmbedding):
    """The same model in one session on all cores, ten texts at a time, padded to the longest."""

    _session: Any = PrivateAttr()
    _tokenizer: Any = PrivateAttr()

    def __init__(self) -> None:
        super().__init__()
        self.embed_batch_size = BATCH
        folder = packaged_models.find_model(packaged_models.BGE_SMALL_EN)
        self._session = packaged_models.load_onnxruntime().InferenceSession(
            str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
        )
        self._tokenizer = onnx_models.open_tokenizer(packaged_models.BGE_SMALL_EN)

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        ids = [encoded.ids[: onnx_models.MAX_TOKENS] for encoded in self._tokenizer.encode_batch(texts)]
        longest = max(map(len, ids))
        tokens = np.array([[*row, *[0] * (longest - len(row))] for row in ids], dtype=np.int64)
        mask = np.array([[1] * len(row) + [0] * (longest - len(row)) for row in ids], dtype=np.int64)
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        states = self._session.run(None, given)[0][:, 0]
        vectors: list[list[float]] = (states / np.linalg.norm(states, axis=1, keepdims=True)).tolist()
        return vectors


def _pypdf(path: Path) -> None:
    for page in pypdf.PdfReader(path).pages:
        page.extract_text()


def _pdfplumber(path: Path, pages: range) -> None:
    with pdfplumber.open(path) as document:
        for index in pages:
            document.pages[index].extract_text()
            document.pages[index].extract_tables()


def _pymupdf4llm(path: Path, pages: range) -> None:
    pymupdf4llm.to_markdown(str(path), pages=[*pages], show_progress=False)


def _each(read: Callable[[Path], None], files: list[Path]) -> None:
    for path in files:
        read(path)


def _count(path: Path) -> int:
    with pymupdf.open(path) as document:
        return int(document.page_count)


def _seconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started
