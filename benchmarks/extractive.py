"""`python -m benchmarks.extractive QA.jsonl`: fit the constants that choose and refuse extractive answers.

Each question is asked of its own document and of all documents of an existing index. `WEIGHTS` of
`rag.answering.extraction.extractive_answer` are a multinomial logit over the candidates of a question, `ODDS` a
logistic regression of whether the best one is right. Both are fitted to all questions, which gives the constants, and
to six sevenths of the documents, which measures their quality on the rest.
"""

import argparse
import functools
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import fitting
from benchmarks.fitting import Choice, Numbers
from rag import evaluation
from rag.answering.extraction import extractive_answer, question_intent
from rag.answering.extraction.candidates import Candidate, Features, collect_candidates, read_answers
from rag.answering.extraction.extractive_answer import MIN_LIKELIHOOD, ODDS, WEIGHTS
from rag.answering.generation.context import build_context
from rag.engine import RAGEngine
from rag.engine.evaluation import Corpus, Evaluation
from rag.evaluation.answers import says
from rag.types import Filters, Hit, RetrievalOptions, SearchRequest

FOLDS = 7
CHOICE_RIDGE, ODDS_RIDGE = 2.0, 1.0
SAYS, STANDS = 1.0, 0.7
"""Weight of a question in which no candidate has the gold answer and those on gold pages count as right."""

LEAST = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
"""Minimum likelihoods to evaluate."""

SCOPES = ("own", "all")


@dataclass(frozen=True)
class Case:
    """A question, asked of its own document or of all, with its candidate answers."""

    question: evaluation.Question
    scope: str
    is_lookup: bool
    asked: question_intent.ParsedQuestion
    hits: Sequence[Hit]
    candidates: Sequence[Candidate]

    @functools.cached_property
    def measures(self) -> Numbers:
        """Return a row of features per candidate."""
        rows = [candidate.features for candidate in self.candidates]
        return np.array(rows, dtype=float).reshape(len(rows), len(Features._fields))

    def choice(self) -> Choice | None:
        """Return the options and which are right; None if no candidate is right."""
        stands = np.array([self.is_on_gold_page(candidate) for candidate in self.candidates], dtype=bool)
        right = stands & np.array([self.is_said(candidate) for candidate in self.candidates], dtype=bool)
        if right.any():
            return Choice(self.measures, right, SAYS)
        return Choice(self.measures, stands, STANDS) if stands.any() else None

    def is_on_gold_page(self, candidate: Candidate) -> bool:
        """Return whether a candidate is on a gold page."""
        of_document = candidate.hit.document_name == self.question.file_name
        return self.question.is_scored and of_document and candidate.page_number in self.question.gold_pages

    def is_said(self, candidate: Candidate) -> bool:
        """Return whether a candidate contains the words of the gold answer."""
        gold = self.question.answer or ""
        return self.question.answerable and bool(evaluation.answers.normalize(gold)) and says(candidate.text, gold)

    def best(self, weights: Numbers) -> "Best | None":
        """Return the candidate with the highest score, or None."""
        if not self.candidates:
            return None
        scores = self.measures @ weights
        order = np.argsort(-scores, kind="stable")
        candidate = self.candidates[order[0]]
        lead = float(scores[order[0]] - scores[order[min(3, len(order) - 1)]])
        features = candidate.features
        return Best(self, candidate, (features.page_relevance, features.found, features.about, lead))


class Best(NamedTuple):
    """The chosen candidate and the inputs of its likelihood: the fields of `Odds` without the intercept."""

    case: Case
    candidate: Candidate
    measures: tuple[float, ...]

    @property
    def is_right(self) -> bool:
        """Whether the chosen candidate is on a gold page."""
        return self.case.is_on_gold_page(self.candidate)

    def is_refused(self, likely: float, least: float) -> bool:
        """Return whether the answer is refused at the minimum likelihood `least`."""
        if not extractive_answer.is_relevant(self.case.asked, self.candidate, likely, least):
            return True
        return extractive_answer.explain_missing(self.case.asked, self.case.hits, self.candidate) is not None


class Judged(NamedTuple):
    """A case, the candidate chosen by some weights, and its likelihood; None and 0 if there is none."""

    case: Case
    best: Best | None
    likelihood: float = 0.0


def main() -> None:
    """Print the fitted constants next to those in use, and the quality of both."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.extractive", description="Fit answers without a model.")
    made.add_argument("questions", type=Path, metavar="QA.jsonl", help="questions in the format of `pagelight eval`")
    made.add_argument("--index", default="default", help="the index of their documents")
    arguments = made.parse_args()
    console = Console()
    asked = evaluation.load_questions(arguments.questions)
    with RAGEngine() as engine, console.status("Asking …"):
        cases = list(ask(engine, arguments.index, asked))
    if not any(case.choice() for case in cases):
        raise SystemExit("Nothing found stands on a gold page: are the questions' documents in the index?")
    documents = len({case.question.file_name for case in cases})
    console.print(f"{len({case.question.id for case in cases})} of {len(asked)} questions about {documents} documents")
    for table in report(cases):
        console.print(table, "")


def report(cases: Sequence[Case]) -> Iterator[Table]:
    """Print the tables: constants, first candidate, calibration, refusals."""
    in_use = np.array(WEIGHTS), np.array(ODDS)
    fitted = fit_weights(cases), fit_odds(cases, in_use[0])
    per_fold, held_out = cross_validated(cases)
    found = {"in use": judge(cases, *in_use), "held out": held_out}
    yield _constants("WEIGHTS", WEIGHTS._fields, in_use[0], fitted[0], [weights for weights, _ in per_fold])
    yield _constants("ODDS", ODDS._fields, in_use[1], fitted[1], [odds for _, odds in per_fold])
    yield _scores("The first candidate", {name: first_candidate(judged) for name, judged in found.items()})
    yield _calibration(found)
    for name, judged in found.items():
        title = f"Refused below a likelihood, {name} ({MIN_LIKELIHOOD:g} is the least in use)"
        yield _scores(title, {f"{least:g}": refusals(judged, least) for least in LEAST})


# --- asking ---


def ask(engine: RAGEngine, index_name: str, asked: Sequence[evaluation.Question]) -> Iterator[Case]:
    """Ask each question whose document is in the index, of this document and of all."""
    ids = {document.name: document.id for document in engine.documents.list(index_name)}
    evaluated = Evaluation(engine.questions, engine.pages, Corpus(index_name, ids, everything=Filters()))
    lookups = evaluated.lookups(asked)
    models = engine.installation.workspace(engine.user_id).models
    for question in asked:
        if question.file_name not in ids:
            continue
        for scope, documents in zip(SCOPES, ((ids[question.file_name],), ()), strict=True):
            retrieval = RetrievalOptions(filters=Filters(document_ids=documents), trace=True)
            request = SearchRequest(index_name=index_name, query=question.question, retrieval=retrieval)
            found = engine.search(request)
            read = question_intent.parse_question(question.question, found.trace.rewritings if found.trace else ())
            hits = list(build_context(found.results).hits.values())
            collected = collect_candidates(read, hits, models.reranker)
            candidates = read_answers(read, collected, models.reader)
            yield Case(question, scope, question.id in lookups, read, hits, candidates)


# --- fitting and judging ---


def fit_weights(cases: Sequence[Case]) -> Numbers:
    """Fit `WEIGHTS`."""
    return fitting.choice_weights([choice for case in cases if (choice := case.choice())], CHOICE_RIDGE)


def fit_odds(cases: Sequence[Case], weights: Numbers) -> Numbers:
    """Fit `ODDS` for candidates chosen by `weights`, which also set the scale of the best one's lead."""
    chosen = [best for case in cases if (best := case.best(weights))]
    right = np.array([best.is_right for best in chosen], dtype=bool)
    return fitting.odds_weights(np.array([best.measures for best in chosen]), right, ODDS_RIDGE)


def judge(cases: Sequence[Case], weights: Numbers, odds: Numbers) -> list[Judged]:
    """Apply constants to all cases."""
    judged = []
    for case in cases:
        best = case.best(weights)
        likely = float(fitting.likelihoods(odds, np.array([best.measures]))[0]) if best else 0.0
        judged.append(Judged(case, best, likely))
    return judged


def cross_validated(cases: Sequence[Case]) -> tuple[list[tuple[Numbers, Numbers]], list[Judged]]:
    """Return the constants of each fold, and each case judged by those fitted without its document."""
    constants, judged = [], []
    for held in fitting.folds((case.question.file_name for case in cases), FOLDS):
        others = [case for case in cases if case.question.file_name not in held]
        if not any(case.choice() for case in others):
            continue
        weights = fit_weights(others)
        constants.append((weights, fit_odds(others, weights)))
        judged += judge([case for case in cases if case.question.file_name in held], *constants[-1])
    return constants, judged


def first_candidate(judged: Sequence[Judged]) -> evaluation.Scores:
    """Measure how often the best candidate is on a gold page, and contains the answer of look-up questions."""
    values = defaultdict(list)
    for case, best, _ in judged:
        if case.question.is_scored:
            values[f"{case.scope}: on a gold page"].append(
                (case.question.file_name, float(bool(best and best.is_right)))
            )
        if case.is_lookup:
            said = best is not None and case.is_said(best.candidate)
            values[f"{case.scope}: says the answer"].append((case.question.file_name, float(said)))
    return evaluation.Scores.of(len(judged), values)


def refusals(judged: Sequence[Judged], least: float) -> evaluation.Scores:
    """Measure right and wrong refusals for several minimum likelihoods."""
    values = defaultdict(list)
    for case, best, likely in judged:
        refused = best is None or best.is_refused(likely, least)
        name = "refused_wrong" if case.question.answerable else "refused_right"
        values[f"{case.scope}: {name}"].append((case.question.file_name, float(refused)))
    return evaluation.Scores.of(len(judged), values)


# --- tables ---


def _constants(
    title: str, names: Sequence[str], in_use: Numbers, fitted: Numbers, per_fold: Sequence[Numbers]
) -> Table:
    table = Table("", "in use", "fitted", f"in {FOLDS} folds", title=title, title_justify="left")
    for place, name in enumerate(names):
        values = [weights[place] for weights in per_fold]
        spread = f"{min(values):.2f} … {max(values):.2f}" if values else "–"
        table.add_row(name, f"{in_use[place]:.2f}", f"{fitted[place]:.2f}", spread)
    return table


def _scores(title: str, columns: dict[str, evaluation.Scores]) -> Table:
    """Return a table with a row per measure and a column per method; brackets contain 95 % intervals."""
    table = Table("", "n", *columns, title=title, title_justify="left")
    measures = dict.fromkeys(name for scores in columns.values() for name in scores.means)
    for measure in sorted(measures, reverse=True):
        count = next(scores.counts[measure] for scores in columns.values() if measure in scores.counts)
        table.add_row(measure, str(count), *(with_interval(scores, measure) for scores in columns.values()))
    return table


def with_interval(scores: evaluation.Scores, measure: str) -> str:
    """Format a value such as “0.61 [.52 .69]”."""
    if measure not in scores.means:
        return "–"
    ends = " ".join(f"{end:.2f}".removeprefix("0") for end in scores.intervals.get(measure, ()))
    return f"{scores.means[measure]:.2f}" + (f" [{ends}]" if ends else "")


def _calibration(found: dict[str, list[Judged]]) -> Table:
    """Return a table of the share of right answers per bin of likelihood, refused or not."""
    table = Table("likelihood", "n", "mean", "right", title="Calibration of ODDS", title_justify="left")
    for name, judged in found.items():
        chosen = [one for one in judged if one.best]
        likely = np.array([one.likelihood for one in chosen])
        right = np.array([one.best is not None and one.best.is_right for one in chosen], dtype=bool)
        brier, auc = fitting.brier(likely, right), fitting.auc(likely, right)
        table.add_section()
        table.add_row(
            f"{name}: Brier {brier:.3f}, AUC {auc:.3f}", str(len(likely)), f"{likely.mean():.2f}", f"{right.mean():.2f}"
        )
        for one in fitting.calibration(likely, right):
            table.add_row(f"{one.low:g} … {one.high:g}", str(one.size), f"{one.likelihood:.2f}", f"{one.right:.2f}")
    return table


if __name__ == "__main__":
    main()
