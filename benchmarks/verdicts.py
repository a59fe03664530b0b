"""Measure the verdicts on the sentences of a language model's answers, which people labelled.

Each line of `--claims` is an answer: `pdf` (below `--documents`), `sources` (`id`, `pages`), the raw `answer` with its
marks and quote tags, its `sentences` (`text`, `kind`, `label`), and `altered` versions of it, each with one
`false_sentence`. The sources are the named pages, without a search. Every answer is verified by words alone, with the
packaged entailment model, and with the language model of `--server` as judge, if there is one.
"""

import json
import re
import uuid
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import llama_server, report
from benchmarks.report import Goal, Section, at_least, at_most
from benchmarks.settings import Options
from rag import parsing, providers
from rag.answering.generation.context import Source, format_source
from rag.answering.text.markup import CITATION_MARK
from rag.answering.verification import citations
from rag.answering.verification.grounding import Grounder
from rag.answering.verification.judges import (
    JUDGE_TOKENS,
    EntailmentJudge,
    LanguageModelJudge,
    MeaningJudge,
    Prompted,
)
from rag.retrieval import Completions
from rag.types import Chunk, Hit, Line, Passage, Region, Sentence, Support

SUPPORTED = (Support.SUPPORTED, Support.QUOTED)
FAILED = (Support.CONTRADICTED, Support.NOT_STATED)
ORDER = (*FAILED, Support.UNCITED, None, Support.NOT_VERIFIED, Support.PARTLY, Support.QUOTED, Support.SUPPORTED)
"""Verdicts from the worst to the best: a labelled sentence that was cut in two gets the worse one."""

ALONE = {"true_supported": at_least(75), "false_supported": at_most(5), "false_contradicted": at_least(60)}
JUDGED = {"true_supported": at_least(95), "false_supported": at_most(2), "false_contradicted": at_least(92)}


class Claim(NamedTuple):
    """A labelled sentence of an answer: `is_true` as it was written, else as it was altered."""

    answer: str
    document: str
    raw: str
    text: str
    is_true: bool
    kind: str


class Shown(NamedTuple):
    """A claim with its verdict."""

    claim: Claim
    support: Support | None
    sentences: tuple[Sentence, ...]


class Answer(NamedTuple):
    """A labelled answer with the sources that it was written from."""

    question: str
    sources: Mapping[str, Hit]
    claims: tuple[Claim, ...]


def measure(options: Options, section: Section) -> None:
    """Verify the answers of `--claims` with each judge, and add the shares of each verdict."""
    if options.claims is None or options.documents is None:
        section.about = "skipped: give labelled answers with --claims and the folder of their PDFs with --documents"
        return
    answers = list(read_answers(options.claims, options.documents))
    section.about = f"{options.claims.name}: {len(answers)} answers"
    shares = {}
    for name, judge in judges(options).items():
        shown = [one for answer in answers for one in verify(answer, judge, options)]
        shares[name] = add_shares(section, name, shown)
    section.result = shares


def judges(options: Options) -> dict[str, MeaningJudge | None]:
    """Return the judges to compare by name; None compares words alone."""
    packaged = EntailmentJudge(providers.open_entailment_model(options.config))
    found: dict[str, MeaningJudge | None] = {"words": None, "packaged": packaged}
    if options.server:
        update = {"provider": "openai", "max_output_tokens": JUDGE_TOKENS}
        chosen = llama_server.generation(options.server).model_copy(update=update)
        config = options.config.model_copy(update=llama_server.settings(options.server))
        llm = providers.Registry().language_model(config, chosen)
        assert llm is not None
        found["model"] = LanguageModelJudge(Completions(llm, memory=None), llm.metadata.model_name, packaged)
    return found


# --- the answers ---


def read_answers(file: Path, folder: Path) -> Iterator[Answer]:
    """Yield the answers of a JSON Lines file with their true and altered claims."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    by_document: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_document[row["pdf"]].append(row)
    for name, own in by_document.items():
        parsed = parsing.parse_rendition(folder / name)
        lines = [line for block in parsed.blocks for line in block.to_lines()]
        for row in own:
            sources = {source["id"]: to_hit(name, parsed.title, lines, source["pages"]) for source in row["sources"]}
            yield Answer(row["question"], sources, tuple(_claims(row, name)))


def to_hit(name: str, title: str | None, lines: Sequence[Line], pages: Sequence[int]) -> Hit:
    """Return the pages of a document as one source."""
    chosen = tuple(line for line in lines if line.page_number in pages)
    document_id = uuid.uuid5(uuid.NAMESPACE_URL, name)
    chunk = Chunk(document_id=document_id, lines=chosen, id=uuid.uuid4(), ordinal=0)
    return Hit(
        chunk=chunk,
        passage=Passage(document_id=document_id, lines=chosen),
        document_name=Path(name).name,
        title=title,
        mime_type="application/pdf",
        final_score=1.0,
    )


def _claims(row: Mapping[str, Any], name: str) -> Iterator[Claim]:
    for sentence in row["sentences"]:
        if sentence["label"] == "true" and sentence["kind"] in ("claim", "computed"):
            yield Claim(row["id"], name, row["answer"], sentence["text"], True, sentence["kind"])
    for altered in row["altered"]:
        yield Claim(row["id"], name, altered["answer"], altered["false_sentence"], False, altered["kind"])


# --- their verdicts ---


def verify(answer: Answer, judge: MeaningJudge | None, options: Options) -> Iterator[Shown]:
    """Yield the claims of an answer with their verdicts; each version of the answer is verified as a whole."""
    reranker = providers.CrossEncoder(options.config)
    shown = {name: format_source(Source(name, hit, hit.passage.lines)) for name, hit in answer.sources.items()}
    prompted = Prompted(answer.question, shown)
    grounder = Grounder(answer.sources, locate=_nowhere, reranker=reranker, judge=judge, prompted=prompted)
    by_version: dict[str, list[Claim]] = defaultdict(list)
    for claim in answer.claims:
        by_version[claim.raw].append(claim)
    for raw, claims in by_version.items():
        parsed = grounder.attribute(citations.parse(raw, answer.sources))
        sentences = grounder.ground(parsed.claims, parsed.text).sentences
        for claim in claims:
            own = find(claim.text, sentences)
            yield Shown(claim, min((one.support for one in own), key=ORDER.index, default=None), own)


def _nowhere(*_: object) -> tuple[Region, ...]:
    """Stand in for box lookup, which does not affect verdicts."""
    return ()


_NO_LETTER = re.compile(r"[^\w%]+")


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", CITATION_MARK.sub("", text)).casefold()


def find(text: str, sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """Return the sentence with that text, or else those that contain it or are parts of it."""
    wanted = _letters(text)
    same = [one for one in sentences if _letters(one.text) == wanted]
    around = [one for one in sentences if wanted in _letters(one.text)]
    parts = [one for one in sentences if _letters(one.text) and _letters(one.text) in wanted]
    return tuple(same[:1] or around[:1] or parts)


# --- figures ---


def add_shares(section: Section, name: str, shown: Sequence[Shown]) -> dict[str, float | int]:
    """Add the share of each verdict among true and false claims with its interval; return them by name."""
    true = [one for one in shown if one.claim.is_true]
    false = [one for one in shown if not one.claim.is_true]
    goals = JUDGED if name == "model" else ALONE
    shares: dict[str, float | int] = {"true_claims": len(true), "false_claims": len(false)}
    rows = (
        ("true_supported", true, SUPPORTED),
        ("true_partly", true, (Support.PARTLY,)),
        ("true_struck", true, (Support.CONTRADICTED,)),
        ("true_not_stated", true, (Support.NOT_STATED,)),
        ("true_open", true, (Support.NOT_VERIFIED, Support.UNCITED, None)),
        ("false_supported", false, SUPPORTED),
        ("false_partly", false, (Support.PARTLY,)),
        ("false_contradicted", false, FAILED),
        ("false_open", false, (Support.NOT_VERIFIED, Support.UNCITED, None)),
    )
    for key, part, verdicts in rows:
        shares[key] = _add(section, f"{name}: {key}", part, verdicts, goals.get(key))
    return shares


def _add(
    section: Section, name: str, part: Sequence[Shown], verdicts: Sequence[Support | None], goal: Goal | None
) -> float:
    low, high = report.interval((one.claim.document, one.support in verdicts) for one in part)
    share = sum(one.support in verdicts for one in part) / max(len(part), 1)
    section.add(f"{name} (n = {len(part)}) [{100 * low:.0f}, {100 * high:.0f}]", 100 * share, "%", goal)
    return round(share, 4)
