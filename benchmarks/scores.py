"""`python -m benchmarks.scores QA.jsonl`: measure the constants behind a score on your own questions.

The questions' documents are searched once in an existing index; the candidates are then ranked again with each value of
each constant. The quality of a value is the mean of the recall of five distinct pages and the reciprocal rank, in the
question's own document and in all, cross-validated: four of five parts of the documents choose, the fifth measures.
"""

import argparse
import hashlib
import statistics
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from rag import evaluation, providers, vocabulary
from rag.config import load_config
from rag.engine import RAGEngine
from rag.evaluation.statistics import interval
from rag.retrieval import POOL, UNRELATED_TEXTS, Similarity, as_configured, understand
from rag.retrieval.ranking import WEIGHTS, Ranking, best_first, rank
from rag.store.search.lexical import LexicalMatches
from rag.store.store import UserStore
from rag.types import Candidate, Filters, Index, RetrievalOptions, Scope

PARTS = 5
PAGES = 5
LOW, MIDDLE = 0.2, 0.5
"""The minimum scores of the contracts."""

Values = Mapping[str, float]
TRIED: Mapping[str, Sequence[float]] = {
    "page": (0.0, 0.1, 0.25, 0.4, 0.6),
    "document": (0.0, 0.15, 0.3, 0.5),
    "front": (0.0, 0.15, 0.3, 0.5),
    "landmark": (0.0, 0.3, 0.4, 0.5, 0.6, 0.8),
    "unrelated": (0.40, 0.45, 0.50, 0.55, 0.60),
    "related": (0.75, 0.80, 0.85, 0.90),
}


@dataclass(frozen=True)
class Searched:
    """A question with the candidates of both searches and the searched document, None for all."""

    question: evaluation.Question
    names: Mapping[uuid.UUID, str]
    scope: str
    near: Sequence[Candidate]
    matches: LexicalMatches

    def ranked(self, values: Values) -> Ranking:
        """Rank the candidates with some constants changed."""
        weights = WEIGHTS._replace(**{name: values[name] for name in WEIGHTS._fields if name in values})
        scale = Similarity(values["unrelated"], values["related"])
        return rank(self.near, self.matches, OPTIONS, scale, weights=weights)

    def worth(self, values: Values) -> float:
        """Return the mean of page recall and reciprocal rank."""
        ranking = self.ranked(values)
        places = (ranking.places[key] for key in best_first(ranking.fused))
        pages = list(dict.fromkeys((self.names[document], page) for document, page in places))
        gold = {(self.question.file_name, page) for page in self.question.gold_pages}
        first = next((place for place, page in enumerate(pages, start=1) if page in gold), None)
        return (len(gold & {*pages[:PAGES]}) / len(gold) + (1 / first if first else 0.0)) / 2

    def best_right(self, values: Values) -> float:
        """The best score on a right page."""
        ranking, gold = self.ranked(values), {*self.question.gold_pages}
        right = (key for key, (document, page) in ranking.places.items() if self._is_own(document) and page in gold)
        return max((ranking.fused[key] for key in right), default=0.0)

    def best(self, values: Values) -> float:
        """The best score of all."""
        return max(self.ranked(values).fused.values(), default=0.0)

    def _is_own(self, document: uuid.UUID) -> bool:
        return self.names[document] == self.question.file_name


OPTIONS = as_configured(RetrievalOptions(mode="hybrid", fusion="weighted"), load_config())


def main() -> None:
    """Print the quality of each constant's values, and the scores of right and unrelated hits."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.scores", description="Measure the constants of scores.")
    made.add_argument("questions", type=Path, metavar="QA.jsonl", help="questions in the format of `pagelight eval`")
    made.add_argument("--index", default="default", help="the index of their documents")
    arguments = made.parse_args()
    console = Console()
    with RAGEngine() as engine:
        library = Library.of(engine, arguments.index)
        questions = [one for one in evaluation.load_questions(arguments.questions) if one.is_scored]
        found = library.search(questions)
        scale = Similarity.of(library.embedder.get_text_embedding_batch([*UNRELATED_TEXTS]))
    used = {**WEIGHTS._asdict(), **scale._asdict()}
    asked = [one for one in found if one.scope != "unrelated"]
    console.print(f"{len(questions)} questions; in use { ({name: round(value, 3) for name, value in used.items()}) }")
    console.print(_table(asked, used))
    for name, scores in {
        "right pages, own document": [one.best_right(used) for one in found if one.scope == "own"],
        "right pages, all documents": [one.best_right(used) for one in found if one.scope == "all"],
        "best of an unrelated document": [one.best(used) for one in found if one.scope == "unrelated"],
    }.items():
        above = [sum(score >= least for score in scores) / len(scores) for least in (LOW, MIDDLE)]
        console.print(f"{name}: {above[0]:.2f} score {LOW} or more, {above[1]:.2f} {MIDDLE} or more")


@dataclass(frozen=True)
class Library:
    """An index with its documents' names and searcher."""

    store: UserStore
    index: Index
    embedder: providers.CachedEmbedding
    names: Mapping[uuid.UUID, str]

    @classmethod
    def of(cls, engine: RAGEngine, index_name: str) -> "Library":
        """Return the user's index of this name, embedded by the packaged model."""
        store = engine.installation.workspace(engine.user_id).store
        index = store.indexes.find(index_name)
        embedder = providers.CachedEmbedding(providers.LocalEmbedding(), index.space, store.embedding_cache)
        return cls(store, index, embedder, {one.id: one.name for one in engine.documents.list(index_name)})

    def search(self, questions: Sequence[evaluation.Question]) -> list[Searched]:
        """Search each question in its own document, in all, and in an unrelated one."""
        ids = {name: key for key, name in self.names.items()}
        found = []
        for question in questions:
            others = sorted(set(ids) - {question.file_name})
            unrelated = others[hashlib.sha256(question.id.encode()).digest()[0] % len(others)]
            scopes = {"own": (ids[question.file_name],), "all": (), "unrelated": (ids[unrelated],)}
            found += [self._searched(question, scope, documents) for scope, documents in scopes.items()]
        return found

    def _searched(self, question: evaluation.Question, scope: str, documents: tuple[uuid.UUID, ...]) -> Searched:
        where = Scope(index_id=self.index.id, filters=Filters(document_ids=documents))
        asked = understand(question.question, OPTIONS, vocabulary.widener())
        vector = self.embedder.get_query_embedding(asked.text)
        near = self.store.chunks.dense(where, self.index.space, vector, POOL)
        matches = self.store.chunks.lexical(where, asked.text, POOL, added=asked.added, landmarks=asked.landmarks)
        return Searched(question, self.names, scope, near, matches)


def _table(asked: Sequence[Searched], used: Values) -> Table:
    """Return a row per constant: the quality of its values and the gain of choosing on other documents."""
    table = Table("", "what its values are worth", "in use", "gained by choosing", "95 %")
    current = [found.worth(used) for found in asked]
    documents = sorted({found.question.file_name for found in asked})
    part = {name: place % PARTS for place, name in enumerate(documents)}
    for name, tried in TRIED.items():
        worth = {value: [found.worth({**used, name: value}) for found in asked] for value in tried}
        held_out = []
        for held in range(PARTS):
            inside = [one for one, found in enumerate(asked) if part[found.question.file_name] == held]
            outside = sorted({*range(len(asked))} - {*inside})
            best = max(tried, key=lambda value: statistics.fmean(worth[value][one] for one in outside))
            held_out += [(asked[one].question.file_name, worth[best][one] - current[one]) for one in inside]
        low, high = interval(held_out) or (0.0, 0.0)
        values = ", ".join(f"{value:g}: {statistics.fmean(found):.3f}" for value, found in worth.items())
        gain = statistics.fmean(value for _, value in held_out)
        now = f"{used[name]:.3g}: {statistics.fmean(current):.3f}"
        table.add_row(name, values, now, f"{gain:+.3f}", f"{low:+.3f} … {high:+.3f}")
    return table


if __name__ == "__main__":
    main()
