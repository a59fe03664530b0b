"""Judge answers without a language model to questions of analysts about public documents.

`data/public_questions.jsonl` has 150 questions about the 30 documents of `data/public_documents.json`, in the format of
`pagelight eval` with a `kind`, a `split` (whole documents) and the texts that an answer must have (`required`).
"""

import collections
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple

import pydantic

from benchmarks import databases
from benchmarks.report import Section, at_least, at_most
from benchmarks.settings import Options
from rag import evaluation
from rag.cli.library import ingest
from rag.engine import RAGEngine
from rag.engine.evaluation import Corpus, Evaluation
from rag.evaluation import Question
from rag.evaluation.answers import AnswerRow, is_right, says
from rag.types import LIKELY_THRESHOLD, GenerationOptions, RetrievalOptions, ignore_progress

DATA = Path(__file__).with_name("data")
INDEX = "questions"
QUICK_DOCUMENTS = 2
SHOWN_CHARS = 200

Split = Literal["open", "final"]
Judgement = Literal["right", "half right", "refused", "wrong"]

LIKELY = "wrong, called likely"
UNANSWERABLE = "not in the document"


class PublicQuestion(Question):
    """A question with its kind.

    An answer must say one text of each group in `required`; for an unanswerable question it must be a refusal.
    """

    kind: str
    split: Split
    required: tuple[tuple[str, ...], ...] = ()


class PublicDocument(pydantic.BaseModel):
    """A document that is not part of the project: where it comes from, and its checksum."""

    name: str
    title: str
    kind: str
    pages: int
    license: str
    address: str
    sha256: str
    bytes: int
    split: Split


class Judged(NamedTuple):
    """A question with its answer."""

    question: PublicQuestion
    row: AnswerRow

    @property
    def judgement(self) -> Judgement:
        """Judge the answer."""
        return judge(self.question, self.row)

    @property
    def is_called_likely(self) -> bool:
        """Whether it is a wrong answer that is shown as likely."""
        likelihood = self.row.likelihood
        return self.judgement == "wrong" and likelihood is not None and likelihood >= LIKELY_THRESHOLD


def measure(options: Options, section: Section) -> None:
    """Ask the questions of one split, each of its own document."""
    if options.pdfs is None:
        section.about = "skipped: name a folder with the documents of benchmarks/data/public_documents.json (--pdfs)"
        return
    documents = [document for document in load_documents() if document.split == options.split]
    if options.quick:
        documents = sorted(documents, key=lambda document: document.pages)[:QUICK_DOCUMENTS]
    files = checked_files(documents, options.pdfs)
    asked = [question for question in load_questions() if question.file_name in files]
    section.about = f"{len(asked)} questions about {len(files)} documents, split {options.split}"
    with _engine(options) as engine:
        judged = _ask(engine, asked, files)
    report(section, judged)
    if options.split == "open":  # nobody should develop on single answers of the final split
        section.notes += [_described(one) for one in judged if one.judgement != "right"]


def load_questions() -> list[PublicQuestion]:
    """Return all questions."""
    lines = (DATA / "public_questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [PublicQuestion.model_validate_json(line) for line in lines]


def load_documents() -> list[PublicDocument]:
    """Return the descriptions of all documents."""
    described = json.loads((DATA / "public_documents.json").read_text(encoding="utf-8"))
    return [PublicDocument.model_validate(document) for document in described]


def checked_files(documents: Sequence[PublicDocument], folder: Path) -> dict[str, Path]:
    """Return the files by name. Exits with the addresses of those that are missing or have another checksum."""
    files = {document.name: folder / document.name for document in documents}
    missing = [
        f"{document.name}: {document.address}"
        for document in documents
        if not (path := files[document.name]).is_file()
        or hashlib.sha256(path.read_bytes()).hexdigest() != document.sha256
    ]
    if missing:
        raise SystemExit("\n".join([f"Missing or different in {folder}:", *missing]))
    return files


def judge(question: PublicQuestion, row: AnswerRow) -> Judgement:
    """Judge an answer: right is one with all required texts and a citation of a gold page, half right one with some."""
    if row.status != "ok":
        return "refused" if question.answerable else "right"
    if not question.answerable:
        return "wrong"
    said = [any(says(row.answer, text) for text in group) for group in question.required]
    if all(said) and any(is_right(question, citation) for citation in row.citations):
        return "right"
    return "half right" if any(said) else "wrong"


def report(section: Section, judged: Sequence[Judged]) -> None:
    """Add the shares of each judgement with 95 % intervals over documents, and a note for each kind."""
    shares = _shares(judged)
    goals = {"right": at_least(0.7), LIKELY: at_most(0.02)}
    for name, value in shares.means.items():
        section.add(f"{name} {_ends(shares, name)}", value, "", goals.get(name))
    kinds: dict[str, list[Judged]] = collections.defaultdict(list)
    for one in judged:
        kinds[one.question.kind if one.question.answerable else UNANSWERABLE].append(one)
    for kind, ones in sorted(kinds.items()):
        found = _shares(ones)
        figures = " · ".join(f"{name} {value:.2f} {_ends(found, name)}" for name, value in found.means.items())
        section.notes.append(f"{kind} (n = {len(ones)}): {figures}")


def _shares(judged: Sequence[Judged]) -> evaluation.Scores:
    names: tuple[Judgement, ...] = ("right", "half right", "refused", "wrong")
    values: dict[str, list[tuple[str, float]]] = {
        name: [(one.question.file_name, float(one.judgement == name)) for one in judged] for name in names
    }
    values[LIKELY] = [(one.question.file_name, float(one.is_called_likely)) for one in judged]
    return evaluation.Scores.of(len(judged), values)


def _ends(shares: evaluation.Scores, name: str) -> str:
    ends = shares.intervals.get(name)
    return f"[{ends[0]:.2f} {ends[1]:.2f}]" if ends else ""


def _described(one: Judged) -> str:
    pages = ", ".join(str(citation.page) for citation in one.row.shown)
    question = f"{one.question.id} {one.question.file_name}: {one.question.question}"
    likelihood = "" if one.row.likelihood is None else f"{one.row.likelihood:.2f} "
    return f"{one.judgement} {likelihood}· {question} · p. {pages} · {one.row.answer[:SHOWN_CHARS]}"


@contextmanager
def _engine(options: Options) -> Iterator[RAGEngine]:
    with databases.server(options) as server_url, databases.temporary(server_url) as database:
        own = {"rag_database_url": pydantic.SecretStr(database), "rag_storage_url": None}
        with RAGEngine(options.config.model_copy(update=own)) as engine:
            yield engine


def _ask(engine: RAGEngine, asked: Sequence[PublicQuestion], files: Mapping[str, Path]) -> list[Judged]:
    engine.indexes.ensure(INDEX)
    ingest.ingest_files(engine, sorted(files.values()), INDEX)
    ids = {document.name: document.id for document in engine.documents.list(INDEX)}
    asking = Evaluation(engine.questions, engine.pages, Corpus(INDEX, ids, everything=None), "document")
    extract = GenerationOptions(provider="extractive")
    rows = {row.id: row for row in asking.answer(asked, RetrievalOptions(), extract, ignore_progress)}
    return [Judged(question, rows[question.id]) for question in asked]
