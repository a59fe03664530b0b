"""Answer without a language model, by the best sentence or table row, word for word."""

import math
import re
import uuid
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rag import types
from rag.answering.extraction import answer_fit, question_intent
from rag.answering.extraction.answer_fit import Fit
from rag.answering.extraction.candidates import (
    Candidate,
    Features,
    collect_candidates,
    page_and_names,
    read_answers,
    scaled_logit,
)
from rag.answering.extraction.question_intent import Kind, ParsedQuestion
from rag.answering.tables.requested_figures import FILLER
from rag.answering.text import periods, term_weights
from rag.answering.text.names import NumberedName
from rag.answering.text.numbers import find_numbers
from rag.messages import N_
from rag.retrieval import Reranker

MAX_ANSWERS = 3

READ = 8
"""Candidates that the reader reads; on `benchmarks.extractive`'s questions 6 to 32 choose the same answers."""

MARGIN = 1.0
"""Maximum score difference of further answers to the best one."""

WEIGHTS = Features(
    relevance=2.2,
    answers=1.2,
    page_relevance=1.05,
    covered=1.3,
    label=1.2,
    kind=0.6,
    about=2.0,
    found=0.7,
    rank=1.4,
    near=0.65,
)
"""Weights of the features in a candidate's score: a multinomial logit over the candidates of a question (McFadden,
"Conditional logit analysis of qualitative choice behavior", 1974), fitted by `python -m benchmarks.extractive`;
`answers` and `relevance` with the others as they are."""


class Odds(NamedTuple):
    """Logistic regression of whether the best candidate is right; `lead` is its score less the fourth's."""

    page_relevance: float
    found: float
    about: float
    lead: float
    base: float


ODDS = Odds(page_relevance=0.4, found=0.5, about=1.5, lead=0.35, base=-2.3)
"""Fitted by the same command."""

MIN_LIKELIHOOD = 0.2
"""Minimum likelihood of an answer."""

CERTAIN_LIKELIHOOD = 0.75
"""Minimum likelihood of an answer of the very kind that is asked for, in the only document searched."""

DOUBTFUL_LIKELIHOOD = 0.4
"""Maximum likelihood of another measure than the one asked for, such as a total for an amount per unit, or a change for
a share, of a "when" without a date, and of a sentence that the reader takes for no answer."""

NO_ANSWER = scaled_logit(0.02)
"""The feature `answers` below which the reader takes a sentence for no answer; it reads prose only.

Of answers in prose that were likely nevertheless, 46 % of 24 cite a right page, of the other likely ones 74 % of 42.
"""

MIN_RELEVANCE = -0.6
MIN_COVERED = 0.3
"""An answer needs this relevance, or this share of the question's words."""

MIN_COVERED_ALONE = 0.5
"""The minimum share without a cross-encoder."""

MIN_LABEL = 0.5
"""Minimum label match of a row that answers a plain question for a line item."""

_PER = re.compile(
    r"\b(?:per|pro|je)\s+(?:(?:basic|diluted|common|ordinary|full-time)\s+)*([^\W\d_]{4,})", re.IGNORECASE
)
"""What a figure is asked for each of: "revenue per employee"."""

_SHARE = re.compile(
    r"^(?>.*?\b(?:percent(?:age)?|share|proportion|fraction|anteil)\b).*?\b(?:of|from|an|am|von)\b",
    re.IGNORECASE | re.MULTILINE,
)
_CHANGE = re.compile(
    r"\b(?:chang(?:e|es|ed)|growth|grew|(?:in|de)creas(?:e|es|ed)|veränderung|wachstum)\b", re.IGNORECASE
)

_ALL_BUT = re.compile(r"\b(?:except|other than|außer)\b[^.;)]*", re.IGNORECASE)
"""What the scale of a table does not hold for: "in millions, except per share data"."""

_WHEN = re.compile(r"\b(?:when|wann)\b", re.IGNORECASE)
"""A question that a circumstance may answer: "at dawn", "when the silo is full"."""

_VALUES = (Kind.NUMBER, Kind.DATE)
ABSENT = (
    N_("{names} do not occur in the passages read. {_nearest}"),
    N_("{names} does not occur in the passages read. {_nearest}"),
)
ABSENT_FROM_DOCUMENT = (
    N_("{names} do not occur in the passages read from {document}. {_nearest}"),
    N_("{names} does not occur in the passages read from {document}. {_nearest}"),
)
ABSENT_FROM_NEAREST = (
    N_("{names} do not occur in the nearest passage. {_nearest}"),
    N_("{names} does not occur in the nearest passage. {_nearest}"),
)
"""Messages for several names and for one."""
STRANGERS = N_("No document that was searched is about {names}. {_nearest}")
NOT_OF_KIND = {
    Kind.NUMBER: N_("The nearest sentence or row gives no figure that answers this. {_nearest}"),
    Kind.DATE: N_("The nearest sentence or row gives no date that answers this. {_nearest}"),
    Kind.EMAIL: N_("The nearest sentence or row gives no e-mail address that answers this. {_nearest}"),
    Kind.PHONE: N_("The nearest sentence or row gives no telephone or fax number that answers this. {_nearest}"),
    Kind.WEBSITE: N_("The nearest sentence or row gives no web address that answers this. {_nearest}"),
    Kind.COLOUR: N_("The nearest sentence or row gives no colour that answers this. {_nearest}"),
}


class Extract(NamedTuple):
    """A displayed candidate and its score, a logit among those of its question."""

    candidate: Candidate
    score: float
    row: types.QuotedRow | None = None


class Choice(NamedTuple):
    """The best answers, best first, or a `hint` on what is missing and the `nearest` hit.

    `likelihood` is the probability that the first answer is right.
    """

    extracts: tuple[Extract, ...] = ()
    likelihood: float = 0.0
    hint: str | None = None
    nearest: types.Hit | None = None


def choose(
    question: str,
    hits: Sequence[types.Hit],
    *,
    reranker: Reranker | None = None,
    reader: Reranker | None = None,
    rewritings: Iterable[types.Rewriting] = (),
    strangers: Sequence[str] = (),
    subjects: str = "",
) -> Choice:
    """Return up to `MAX_ANSWERS` best answers to `question` in `hits`.

    `rewritings` come from the vocabulary. What is asked is asked of the `strangers`, whom no document is about, so that
    only what names them answers; `subjects` are the names of documents in the question. There is no answer if a year,
    name or code of the question does not occur in the hits, if a requested e-mail address, say, is missing, if all
    figures are of another kind or period, or if the best candidate is too unlikely.
    """
    rewritings = tuple(rewritings)
    question = question_intent.in_words_of((hit.passage.text for hit in hits), question, rewritings)
    asked = question_intent.parse_question(question, rewritings)
    found = rank(asked, hits, reranker=reranker, reader=reader)
    if not found:
        return Choice(hint=N_("In the passages read, no sentence and no row of a table was recognised as an answer."))
    nearest = found[0].candidate
    about = [one for one in found if all(map(one.candidate.names, strangers))]
    if strangers and not (about and _fitting(asked, about, subjects)):
        hint = STRANGERS.format(names=_listed(strangers), _nearest=_nearest(asked, nearest))
        return Choice(hint=hint, nearest=nearest.hit)
    found = about
    named = _of_numbered(asked, found, hits)
    if not named:
        absent = [name.text for name in asked.numbered if not _is_in_a_passage(name, found)] or [asked.numbered[0].text]
        best = found[0].candidate
        template = ABSENT[len(absent) == 1]
        return Choice(hint=template.format(names=_listed(absent), _nearest=_nearest(asked, best)), nearest=best.hit)
    ranked = _fitting(asked, named, subjects)
    if not ranked:
        best = found[0].candidate
        hint = N_("In the passages read, the figure itself was not recognised. {_nearest}").format(
            _nearest=_nearest(asked, best)
        )
        return Choice(hint=hint, nearest=best.hit)
    best = ranked[0].candidate
    likely = likelihood(ranked if asked.kind is Kind.NAME else found) if reranker else best.features.covered
    missing = explain_missing(asked, hits, best)
    if best.is_certain and len({hit.passage.document_id for hit in hits}) == 1:  # else it may be another's
        likely = max(likely, CERTAIN_LIKELIHOOD)
    elif not best.is_certain:
        is_read_in_vain = best.row is None and best.features.answers < NO_ANSWER
        if is_read_in_vain or not _holds_value(asked, best) or _is_of_other_measure(asked, best):
            likely = min(likely, DOUBTFUL_LIKELIHOOD)
    is_close = is_relevant(asked, best, likely) if reranker else likely >= MIN_COVERED_ALONE
    if missing is None and not is_close:
        missing = N_("Nothing that was found answers this closely enough. {_nearest}").format(
            _nearest=_nearest(asked, best)
        )
    if missing is not None:
        return Choice(likelihood=likely, hint=missing, nearest=best.hit)
    if best.is_certain:
        firsts: dict[uuid.UUID, Extract] = {}  # each document answers for itself
        for extract in ranked:
            firsts.setdefault(extract.candidate.hit.passage.document_id, extract)
        return Choice(tuple(firsts.values())[:MAX_ANSWERS], likely)
    close = ranked if reranker else [one for one in ranked if one.candidate.features.covered >= MIN_COVERED_ALONE]
    return Choice(tuple(_shown(asked, close)), likely)


def rank(
    question: ParsedQuestion,
    hits: Sequence[types.Hit],
    *,
    reranker: Reranker | None = None,
    reader: Reranker | None = None,
) -> list[Extract]:
    """Return the candidates of `hits` with their scores, best first.

    The reader reads the best `READ` of them; none of the others is taken to answer better than the worst of these.
    """
    candidates = sorted(collect_candidates(question, hits, reranker), key=_score, reverse=True)
    if reader and candidates:
        read = read_answers(question, candidates[:READ], reader)
        least = min(candidate.features.answers for candidate in read)
        rest = [
            candidate._replace(features=candidate.features._replace(answers=least)) for candidate in candidates[READ:]
        ]
        candidates = sorted([*read, *rest], key=_score, reverse=True)
    return [Extract(candidate, _score(candidate), asked_row(question, candidate)) for candidate in candidates]


def _of_numbered(question: ParsedQuestion, extracts: Sequence[Extract], hits: Sequence[types.Hit]) -> list[Extract]:
    """Return the candidates about the things that the question names by a number; all if it names none.

    Those that bear the name themselves are preferred to others of a passage that has it; what is of another thing of
    that kind is dropped. A name that may be a quantity counts if the passages have others of that kind.
    """
    others = {name: any(name.other_stands_in(hit.passage.text) for hit in hits) for name in question.numbered}
    names = [name for name in question.numbered if name.is_sure or others[name]]
    kept = [*extracts]
    for word in dict.fromkeys(name.word.casefold() for name in names):
        meant = [name for name in names if name.word.casefold() == word]  # one of these: "Figure 7 and Figure 8"
        kept = [one for one in kept if any(map(one.candidate.bears, meant))] or [
            one
            for one in kept
            if any(_is_in_a_passage(name, [one]) for name in meant) and not all(map(one.candidate.is_of_another, meant))
        ]
    return kept


def _is_in_a_passage(name: NumberedName, extracts: Sequence[Extract]) -> bool:
    passages = {id(one.candidate.hit): one.candidate.hit for one in extracts}.values()
    return any(
        name.stands_in(page_and_names(hit)) or any(map(name.begins, hit.passage.text.split("\n"))) for hit in passages
    )


def _fitting(question: ParsedQuestion, ranked: Sequence[Extract], subjects: str) -> list[Extract]:
    """Drop candidates that give another figure, and put certain answers first.

    If a name, figure or date is asked for, close candidates with one come first.
    """
    if certain := [one for one in ranked if one.candidate.is_certain]:
        return certain
    fits = [(answer_fit.fit(question.text, one.candidate.text, one.row, one.candidate.hit), one) for one in ranked]
    is_plain = answer_fit.is_plain(question.text)
    item_words = _item_words(question, subjects)
    able = []
    for fit, extract in fits:
        said = extract.row.label if extract.row else extract.candidate.text
        is_of_another_item = item_words.isdisjoint(term_weights.words(said)) or (
            extract.candidate.features.label < MIN_LABEL if extract.row else not _tells_amount(said)
        )
        if fit is not Fit.OTHER and not (is_plain and fit is Fit.UNNAMED and is_of_another_item):
            able.append((fit, extract))

    def place(pair: tuple[Fit | None, Extract]) -> tuple[bool, bool]:
        is_of_kind = pair[0] is None if question.kind is Kind.NAME else _holds_value(question, pair[1].candidate)
        return pair[0] is not Fit.GIVES, not (is_of_kind and pair[1].score >= ranked[0].score - MARGIN)

    return [one for _, one in sorted(able, key=place)]


def _item_words(question: ParsedQuestion, subjects: str) -> set[str]:
    """Return the words by which the question and the vocabulary name what is asked for, not of whom and when."""
    others = {*term_weights.words(f"{subjects} {' '.join(FILLER)}")}
    asked = {*question.words, *(word for phrase in question.also for word in phrase)}
    return {word for word in asked - others if not word[0].isdigit()}


def _tells_amount(text: str) -> bool:
    return any(number.year is None for number in find_numbers(text))


def _holds_value(question: ParsedQuestion, candidate: Candidate) -> bool:
    return question.kind not in _VALUES or candidate.is_certain or question.holds_kind(candidate.text)


def _is_of_other_measure(question: ParsedQuestion, best: Candidate) -> bool:
    """Return whether an amount per unit is asked for, and it gives a total; or a share, and it gives a change."""
    asks_share = _SHARE.search(question.text) and not _CHANGE.search(question.text)
    if asks_share and best.row and _CHANGE.search(best.context):
        return True
    units = _PER.findall(question.text)
    of_what = _ALL_BUT.sub(" ", best.context)
    return any(
        not re.search(rf"\b(?:per|each|every|pro|je|a)\s+(?:[\w-]+\s+){{0,3}}{unit}", of_what, re.I) for unit in units
    )


def likelihood(ranked: Sequence[Extract]) -> float:
    """Return the probability that the best candidate is right."""
    features = ranked[0].candidate.features
    logit = (
        ODDS.base
        + ODDS.page_relevance * features.page_relevance
        + ODDS.found * features.found
        + ODDS.about * features.about
        + ODDS.lead * (ranked[0].score - ranked[min(3, len(ranked) - 1)].score)
    )
    return 1.0 / (1.0 + math.exp(-logit))


def is_relevant(question: ParsedQuestion, best: Candidate, likely: float, least: float = MIN_LIKELIHOOD) -> bool:
    """Return whether the best candidate is close enough; on a requested page it always is."""
    if best.is_on(question.pages):
        return True
    features = best.features
    is_near = (
        best.is_certain
        or max(features.relevance, features.page_relevance) >= MIN_RELEVANCE
        or features.covered >= MIN_COVERED
    )
    return is_near and likely >= least


def _score(candidate: Candidate) -> float:
    return sum(weight * value for weight, value in zip(WEIGHTS, candidate.features, strict=True))


def asked_row(question: ParsedQuestion, candidate: Candidate) -> types.QuotedRow | None:
    """Return the candidate's row with the column of the requested year, or with a head that the question has."""
    row = candidate.row
    if row is None:
        return None
    columns = [i for i, name in enumerate(row.columns) if question.years & question_intent.years_of(name)]
    if len(columns) != 1:
        said = {*term_weights.words(periods.normalize_periods(question.text))}
        heads = [{*term_weights.words(periods.normalize_periods(name))} for name in row.columns]
        columns = [i for i, head in enumerate(heads) if head and head <= said and (not columns or i in columns)]
    if len(row.cells) == 1:
        columns = [0]
    return row.model_copy(update={"asked": columns[0]}) if len(columns) == 1 else row


def _shown(question: ParsedQuestion, ranked: Sequence[Extract]) -> list[Extract]:
    shown = [ranked[0]]
    for extract in ranked[1:]:
        if len(shown) == MAX_ANSWERS or extract.score < ranked[0].score - MARGIN:
            break
        is_named_so = extract.row is None or extract.candidate.features.label >= ranked[0].candidate.features.label / 2
        told = {*question.words, *(w for other in shown for w in term_weights.content_words(other.candidate.text))}
        is_new = len({*term_weights.content_words(extract.candidate.text)} - told) >= 2
        if is_named_so and is_new and question.holds_kind(extract.candidate.text):
            shown.append(extract)
    return shown


# --- what is missing ---------------------------------------------------------------------------------------------


def explain_missing(question: ParsedQuestion, hits: Sequence[types.Hit], best: Candidate) -> str | None:
    """Return why the best candidate is no answer, or None.

    It must be on a requested page; requested years must occur in its passage, names anywhere in the hits of its
    document. The reason names what was looked at: a search reads a few passages of a few documents.
    """
    nearest = _nearest(question, best)
    if question.pages and not best.is_on(question.pages):
        labels = sorted(label.lstrip("#") for label in question.pages)
        return N_("The nearest passage is not on page {label}. {_nearest}").format(
            label=" or ".join(labels), _nearest=nearest
        )
    about_best = f"{page_and_names(best.hit)} {best.text}"
    years = [name for name in question.missing(about_best) if name in question.years]
    own = (page_and_names(hit) for hit in hits if hit.passage.document_id == best.hit.passage.document_id)
    names = [name for name in question.missing(" ".join(own)) if name not in question.years]
    absent = question.missing(" ".join(map(page_and_names, hits)))
    for missing, templates in (
        ([name for name in (*years, *names) if name in absent], ABSENT),
        (names, ABSENT_FROM_DOCUMENT),
        (years, ABSENT_FROM_NEAREST),
    ):
        if missing:
            return templates[len(missing) == 1].format(
                names=_listed(missing), document=best.hit.document_name, _nearest=nearest
            )
    is_lacking = question.kind in question_intent.PRECISE and not question.holds_kind(best.text)
    needs_value = question.kind is Kind.NUMBER or (question.kind is Kind.DATE and not _WHEN.search(question.text))
    is_given = _holds_value(question, best) or best.features.answers > 0 or best.is_on(question.pages)
    if is_lacking or (needs_value and not is_given):
        return NOT_OF_KIND[question.kind].format(_nearest=nearest)
    return None


def _nearest(question: ParsedQuestion, candidate: Candidate) -> str:
    """Describe where the nearest evidence is, and its years if a year is asked for."""
    years = sorted(question_intent.years_of(candidate.text))
    template = N_("The nearest stands in {document}, {_page}.")
    if question.years and years and not question.years & {*years}:
        template = N_("The nearest ({years}) stands in {document}, {_page}.")
    page = candidate.hit.page_name(candidate.page_number)
    return template.format(years=", ".join(years), document=candidate.hit.document_name, _page=page)


def _listed(names: Sequence[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
