"""Measure the accuracy of verdicts on true and false claims generated from the PDFs of a folder."""

import random
import statistics
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks import labelled_claims, llama_server, report
from benchmarks.claim_forms import Fact, Made, Page, false_claims, true_claims
from benchmarks.report import Section, at_least, at_most
from benchmarks.settings import Options
from rag import parsing, providers
from rag.answering.text.markup import ProposedQuote
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounder
from rag.answering.verification.judges import EntailmentJudge, LanguageModelJudge, MeaningJudge
from rag.retrieval import Completions, Reranker
from rag.types import Chunk, Hit, Line, Passage, Region, Sentence, Span, Support

FACTS, QUICK_FACTS = 1000, 60
QUICK_LABELLED = 60
PER_PAGE = 4
"""Maximum number of sentences, and of rows, per page."""

SIX = ("other number", "other year", "other name", "negated", "quote from elsewhere", "two facts stitched")
WORST_FALSE, LEAST_TRUE = 0.01, 0.95


class Shown(NamedTuple):
    """A claim, its document, and whether it was shown as supported."""

    made: Made
    document: str
    is_supported: bool


def measure(options: Options, section: Section) -> None:
    """Judge the labelled claims of `--claims`, else claims made from the documents of `--pdfs`."""
    if options.claims:
        reranker, judge = providers.CrossEncoder(options.config), _judge(options)
        labelled_claims.measure(
            options.claims,
            section,
            lambda sources: Grounder(sources, locate=_nowhere, reranker=reranker, judge=judge),
            count=QUICK_LABELLED if options.quick else None,
        )
        return
    if options.pdfs is None:
        section.about = "skipped: give a folder of PDFs with --pdfs, or labelled claims with --claims"
        return
    pages = list(read_pages(options.pdfs))
    facts = choose(pages, QUICK_FACTS if options.quick else FACTS)
    cases = [case for fact in facts for case in claims_of(fact)]
    section.about = f"{len(facts):,} facts of {len({fact.document for fact in facts})} documents, {len(cases):,} claims"
    reranker, judge = providers.CrossEncoder(options.config), _judge(options)
    by_kind(section, [judged(fact, made, reranker, judge) for fact, made in cases])


def _judge(options: Options) -> MeaningJudge:
    """Return the judge of meaning: the entailment model, with the language model of `--server` if there is one."""
    second = EntailmentJudge(providers.open_entailment_model(options.config))
    if not options.server:
        return second
    llm = llama_server.language_model(options.config, options.server)
    return LanguageModelJudge(Completions(llm, memory=None), llm.metadata.model_name, second)


# --- the documents ---


def read_pages(folder: Path) -> Iterator[Page]:
    """Return the pages of all readable PDFs below `folder`."""
    for path in sorted(folder.rglob("*.pdf")):
        parsed = parsing.parse_rendition(path)
        lines: dict[int, list[Line]] = defaultdict(list)
        for block in parsed.blocks:
            for line in block.to_lines():
                lines[line.page_number].append(line)
        document_id = uuid.uuid4()
        for number in sorted(lines):
            yield Page(path.name, Passage(document_id=document_id, lines=tuple(lines[number])))


def choose(pages: Iterable[Page], count: int) -> list[Fact]:
    """Choose `count` facts evenly over documents, one in four a table row where there are rows."""
    chance = random.Random(11)
    by_document: dict[str, list[Page]] = defaultdict(list)
    for page in pages:
        by_document[page.document].append(page)
    found = [_facts_of(own, 2 * count // max(len(by_document), 1) + 4, chance) for own in by_document.values()]
    turns = [facts[turn] for turn in range(max(map(len, found), default=0)) for facts in found if turn < len(facts)]
    return turns[:count]


def _facts_of(pages: list[Page], enough: int, chance: random.Random) -> list[Fact]:
    """Yield the facts of one document by page in random order, three sentences and then a row."""
    chance.shuffle(pages)
    sentences: list[Fact] = []
    rows: list[Fact] = []
    for page in pages:
        facts = list(page.facts())
        chance.shuffle(facts)
        sentences += [fact for fact in facts if not fact.is_row][:PER_PAGE]
        rows += [fact for fact in facts if fact.is_row][:PER_PAGE]
        if len(sentences) >= enough:
            break
    return [fact for i in range(enough) for fact in (*sentences[3 * i : 3 * i + 3], *rows[i : i + 1])]


def claims_of(fact: Fact) -> Iterator[tuple[Fact, Made]]:
    """Return the fact's true and false claims."""
    chance = random.Random(f"{fact.document} {fact.text}")
    others = [other for other in fact.page.facts() if other.span != fact.span and not other.is_row]
    for made in (*true_claims(fact, others, chance), *false_claims(fact, others, chance)):
        yield fact, made


# --- their verdicts ---


def judged(
    fact: Fact,
    made: Made,
    reranker: Reranker | None = None,
    judge: MeaningJudge | None = None,
) -> Shown:
    """Judge a claim that cites the page with its quotes."""
    hit = _hit(fact, without=made.without)
    sentence = Sentence(text=made.claim, citation_ids=("S1",), start=0, end=len(made.claim))
    quotes = tuple(ProposedQuote("S1", quote, 0) for quote in made.quotes)
    grounder = Grounder({"S1": hit}, locate=_nowhere, reranker=reranker, judge=judge)
    (shown,) = grounder.ground([Claim(sentence, quotes)]).sentences
    return Shown(made, fact.document, shown.support is Support.SUPPORTED)


def _hit(fact: Fact, without: Span | None) -> Hit:
    passage = fact.page.passage if without is None else _cut(fact.page.passage, without)
    chunk = Chunk(document_id=passage.document_id, lines=passage.lines, id=uuid.uuid4(), ordinal=0)
    return Hit(chunk=chunk, passage=passage, document_name=fact.document, mime_type="application/pdf", final_score=1.0)


def _cut(passage: Passage, span: Span) -> Passage:
    """Return the passage without the characters of `span`."""
    lines: list[Line] = []
    position = 0
    for index, line in enumerate(passage.lines):
        position += (2 if line.starts_block else 1) if index else 0
        start, end = max(span.start - position, 0), max(span.end - position, 0)
        lines.append(line.model_copy(update={"text": line.text[:start] + line.text[end:]}))
        position += len(line.text)
    return Passage(document_id=passage.document_id, lines=tuple(lines))


def _nowhere(*_: object) -> tuple[Region, ...]:
    """Stand in for box lookup, which does not affect verdicts."""
    return ()


# --- figures ---


def by_kind(section: Section, shown: Sequence[Shown]) -> None:
    """Add the share shown as supported: the six false kinds, all true ones, then each kind."""
    true = [one for one in shown if one.made.is_true]
    verbatim = [one for one in true if one.made.kind.startswith("verbatim")]
    rewritten = [one for one in true if not one.made.kind.startswith("verbatim")]
    six = [one for one in shown if one.made.kind in SIX]
    _add(section, "false, six kinds", six, is_true=False)
    _add(section, "true, verbatim", verbatim, is_true=True)
    _add(section, "true, rewritten", rewritten, is_true=True)
    kinds = dict.fromkeys(one.made.kind for one in sorted(shown, key=lambda one: (one.made.is_true, one.made.kind)))
    for kind in kinds:
        of_kind = [one for one in shown if one.made.kind == kind]
        _add(
            section,
            f"{'true' if of_kind[0].made.is_true else 'false'}: {kind}",
            of_kind,
            is_true=of_kind[0].made.is_true,
        )


def _share(shown: Sequence[Shown]) -> float:
    return statistics.fmean(one.is_supported for one in shown) if shown else 0.0


def _add(section: Section, name: str, shown: Sequence[Shown], *, is_true: bool) -> None:
    low, high = report.interval((one.document, one.is_supported) for one in shown)
    goal = at_least(100 * LEAST_TRUE) if is_true else at_most(100 * WORST_FALSE)
    label = f"{name} (n = {len(shown):,}) [{100 * low:.1f}, {100 * high:.1f}]"
    section.add(label, 100 * _share(shown), "%", goal)
