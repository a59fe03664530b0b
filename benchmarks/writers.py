"""Compare answers that a real language model writes with extracts and with LlamaIndex's CitationQueryEngine.

All get the same questions (`--questions`, in the format of `pagelight eval`), each about its own document (`--pdfs`).
The model runs on llama.cpp's server: a packaged one, one from a file (`--weights`), or a running server (`--server`).
"""

import random
import re
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pydantic
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.query_engine import CitationQueryEngine

from benchmarks import databases, llama_server
from benchmarks.report import Section
from benchmarks.settings import Options
from rag import evaluation, parsing, providers
from rag.cli.library import ingest
from rag.engine import RAGEngine
from rag.engine.evaluation import Corpus, Evaluation
from rag.evaluation import Question
from rag.evaluation.answers import AnswerRow, answer_row, says, score
from rag.types import AnswerRequest, AnswerResponse, AnswerToken, Filters, GenerationOptions, RetrievalOptions

QUESTIONS, QUICK_QUESTIONS = 60, 2
SEED = 5
TOP_K = 8
CITED_CHUNKS = 3
"""LlamaIndex's default `similarity_top_k` is 2; its chunks of 512 tokens are about as much as our budget."""


class Sample(NamedTuple):
    """The questions, the files by name, and the ids of those whose answer stands on a page word for word."""

    asked: Sequence[Question]
    files: Mapping[str, Path]
    lookups: set[str]


class Written(NamedTuple):
    """An answer with the seconds to its first word and to its end."""

    row: AnswerRow
    response: AnswerResponse
    first: float
    last: float


def measure(options: Options, section: Section) -> None:
    """Ask all questions of each writer."""
    if options.pdfs is None or options.questions is None:
        section.about = "skipped: name a folder of PDFs (--pdfs) and a file of questions (--questions)"
        return
    count = QUICK_QUESTIONS if options.quick else QUESTIONS
    files = {path.name: path for path in sorted(options.pdfs.rglob("*.pdf"))}
    asked = _sample(evaluation.load_questions(options.questions), files, count)
    if not asked:
        raise SystemExit(f"None of the questions is about a PDF in {options.pdfs}.")
    section.about = f"{len(asked)} questions about {len({question.file_name for question in asked})} documents"
    with _server(options) as url, _engine(options, url) as engine:
        ids = _ingest(engine, sorted({files[question.file_name] for question in asked}))
        corpus = Corpus("writers", ids, everything=None)
        sample = Sample(asked, files, Evaluation(engine.questions, engine.pages, corpus).lookups(asked))
        for name, generation in (
            ("extract", GenerationOptions(provider="extractive")),
            ("model", llama_server.generation(url)),
        ):
            written = [_write(engine, question, ids[question.file_name], generation) for question in asked]
            _report(section, name, sample, written)
            section.notes += [f"{name} · {one.row.id} · {_told(one)}" for one in written]
        llm = llama_server.language_model(engine.config, url)
        _, embedder = providers.Registry().embedding_model(engine.config)
        _measure_citation_engine(section, sample, llm, embedder)


def _sample(questions: Sequence[Question], files: Mapping[str, Path], count: int) -> list[Question]:
    """Return questions whose document is there, spread over the documents, the same for every run."""
    there = [question for question in questions if question.file_name in files]
    random.Random(SEED).shuffle(there)
    seen: dict[str, int] = {}
    order = []
    for question in there:
        seen[question.file_name] = seen.get(question.file_name, 0) + 1
        order.append((seen[question.file_name], question))
    return [question for _, question in sorted(order, key=lambda pair: pair[0])][:count]


@contextmanager
def _server(options: Options) -> Iterator[str]:
    if options.server:
        yield options.server
        return
    with llama_server.serving(options.folder, options.weights) as url:
        yield url


@contextmanager
def _engine(options: Options, url: str) -> Iterator[RAGEngine]:
    with databases.server(options) as server_url, databases.temporary(server_url) as database:
        own = {"rag_database_url": pydantic.SecretStr(database), "rag_storage_url": None}
        with RAGEngine(options.config.model_copy(update={**llama_server.settings(url), **own})) as engine:
            yield engine


def _ingest(engine: RAGEngine, files: Sequence[Path]) -> dict[str, Any]:
    engine.indexes.ensure("writers")
    ingest.ingest_files(engine, files, "writers")
    return {document.name: document.id for document in engine.documents.list("writers")}


def _write(engine: RAGEngine, question: Question, document: Any, generation: GenerationOptions) -> Written:
    request = AnswerRequest(
        index_name="writers",
        question=question.question,
        retrieval=RetrievalOptions(top_k=TOP_K, filters=Filters(document_ids=(document,))),
        generation=generation,
    )
    started, first = time.perf_counter(), 0.0
    response: AnswerResponse | None = None
    for event in engine.questions.stream(request):
        if isinstance(event, AnswerToken):
            first = first or time.perf_counter() - started
        elif isinstance(event, AnswerResponse):
            response = event
    assert response is not None
    seconds = time.perf_counter() - started
    return Written(answer_row(question, response, seconds), response, first or seconds, seconds)


def _report(section: Section, name: str, sample: Sample, written: Sequence[Written]) -> None:
    scores = score(sample.asked, [one.row for one in written], sample.lookups)
    for measure_name, value in scores.scores.means.items():
        section.add(f"{name}: {measure_name}", value, "")
    for support, count in sorted(scores.sentences.items()):
        section.add(f"{name}: sentences, {support}", count, "")
    section.add(f"{name}: first word, median", statistics.median(one.first for one in written), "s")
    section.add(f"{name}: whole answer, median", statistics.median(one.last for one in written), "s")
    read = [one.response.usage.input_tokens for one in written]
    section.add(f"{name}: tokens read, median", statistics.median(read), "")
    replaced = sum(bool(one.response.hint) and one.row.status == "ok" for one in written)
    section.add(f"{name}: replaced by an extract", replaced, "")


def _told(one: Written) -> str:
    marks = " ".join(f"<{sentence.support or '-'}> {sentence.text}" for sentence in one.row.sentences)
    pages = ",".join(str(citation.page) for citation in one.row.citations)
    return f"{one.row.status} · p. {pages} · {marks or one.row.answer}"


# --- LlamaIndex ---


def _measure_citation_engine(section: Section, sample: Sample, llm: LLM, embedder: BaseEmbedding) -> None:
    """Ask LlamaIndex's engine with the same model, embedding model and pages."""
    indexes: dict[str, VectorStoreIndex] = {}
    right, said, seconds = [], [], []
    for question in sample.asked:
        if question.file_name not in indexes:
            pages = [
                Document(text=text, metadata={"page": page})
                for page, text in _page_texts(sample.files[question.file_name]).items()
            ]
            indexes[question.file_name] = VectorStoreIndex.from_documents(pages, embed_model=embedder)
        ask = CitationQueryEngine.from_args(indexes[question.file_name], llm=llm, similarity_top_k=CITED_CHUNKS)
        started = time.perf_counter()
        response = ask.query(question.question)
        seconds.append(time.perf_counter() - started)
        cited = [int(number) for number in re.findall(r"(?:\[|\bSource )(\d+)\b", str(response))]
        pages_cited = [
            response.source_nodes[number - 1].metadata["page"]
            for number in cited
            if 0 < number <= len(response.source_nodes)
        ]
        if question.gold_pages:
            right.append(pages_cited[:1] and pages_cited[0] in question.gold_pages)
        if question.id in sample.lookups and question.answer:
            said.append(says(str(response), question.answer))
        section.notes.append(f"CitationQueryEngine · {question.id} · p. {pages_cited} · {response}")
    section.add("CitationQueryEngine: said", statistics.mean(map(float, said)) if said else 0.0, "")
    section.add("CitationQueryEngine: first_page", statistics.mean(map(bool, right)) if right else 0.0, "")
    section.add("CitationQueryEngine: whole answer, median", statistics.median(seconds), "s")


def _page_texts(file: Path) -> dict[int, str]:
    texts: dict[int, list[str]] = {}
    for block in parsing.parse_rendition(file).blocks:
        for line in block.to_lines():
            texts.setdefault(line.page_number, []).append(line.text)
    return {page: "\n".join(lines) for page, lines in texts.items()}
