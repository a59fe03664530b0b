"""Measure `RAGEngine.query` over a thousand documents, including the query's embedding."""

import random
import tempfile
from pathlib import Path

import pydantic

from benchmarks import databases
from benchmarks.report import Section, at_most
from benchmarks.settings import Options
from benchmarks.timing import percentiles
from rag.engine import RAGEngine
from rag.types import Rect, TextBlock

DOCUMENTS, QUICK_DOCUMENTS = 1000, 3
QUESTIONS, QUICK_QUESTIONS = 200, 2
WARM_UP, QUICK_WARM_UP = 10, 1
PARAGRAPHS = 4
SENTENCES = 5

QUERY_MS = at_most(500)

THINGS = [
    "harbour",
    "orchard",
    "glacier",
    "library",
    "violin",
    "desert",
    "market",
    "engine",
    "theatre",
    "river",
    "bridge",
    "mine",
    "canal",
    "tower",
]
DEEDS = ["inspected", "repaired", "closed", "opened", "sold", "measured", "flooded", "painted", "insured", "moved"]
PLACES = ["Lindmark", "Osterby", "Vikholm", "Granau", "Torvik", "Hellebro", "Sandmoor", "Kestrel"]


def measure(options: Options, section: Section) -> None:
    """Query short, distinct documents with questions that are not cached."""
    documents = QUICK_DOCUMENTS if options.quick else DOCUMENTS
    questions, warm_up = (QUICK_QUESTIONS, QUICK_WARM_UP) if options.quick else (QUESTIONS, WARM_UP)
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        databases.server(options) as server_url,
        databases.temporary(server_url) as url,
    ):
        config = options.config.model_copy(
            update={"rag_data_dir": Path(folder), "rag_storage_url": None, "rag_database_url": pydantic.SecretStr(url)}
        )
        with RAGEngine(config, user_id="benchmark") as engine:
            chunks = sum(_add(engine, number) for number in range(documents))
            asked = [_question(number) for number in range(warm_up + questions)]
            for question in asked[:warm_up]:
                engine.query(question)
            taken = percentiles(engine.query, asked[warm_up:])
    section.about = f"{documents:,} documents, {chunks:,} chunks, {questions} questions"
    section.add("query p50", taken.p50, "ms")
    section.add("query p95", taken.p95, "ms", QUERY_MS)


def _add(engine: RAGEngine, number: int) -> int:
    """Store a document without parsing; return its number of chunks."""
    source = random.Random(number)
    paragraphs = [" ".join(_sentence(source) for _ in range(SENTENCES)) for _ in range(PARAGRAPHS)]
    document = engine.documents.add("\n\n".join(paragraphs).encode(), f"note-{number}.txt", enqueue=False)
    blocks = [
        TextBlock(
            page_number=1, bbox=Rect(72, 72 * line, 520, 72 * line + 60), line_start=line, line_end=line, text=text
        )
        for line, text in enumerate(paragraphs, start=1)
    ]
    return engine.index_document(document.id, blocks).chunk_count


def _sentence(source: random.Random) -> str:
    thing, deed, place = source.choice(THINGS), source.choice(DEEDS), source.choice(PLACES)
    return f"The {thing} of {place} was {deed} in {source.randint(1900, 2020)} for {source.randint(100, 9999)} crowns."


def _question(number: int) -> str:
    source = random.Random(f"question {number}")
    return f"When was the {source.choice(THINGS)} of {source.choice(PLACES)} {source.choice(DEEDS)}, question {number}?"
