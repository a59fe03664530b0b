"""Measure verdicts on claims that people labelled, in the format of WiCE.

Each line of the file is a JSON object: `id`, `label` (`supported`, `partially_supported` or `not_supported`), `claim`,
`evidence` (sentences) and optionally `kind`. Kamoi et al., "WiCE: Real-World Entailment for Claims in Wikipedia", 2023.
"""

import json
import random
import statistics
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import Goal, Section, at_least, at_most
from rag.answering.verification.citations import Claim
from rag.answering.verification.grounding import Grounder
from rag.types import Chunk, Hit, Line, Passage, Sentence, Support

SENTENCES = 5
"""Sentences of an answer whose checking is timed."""

RESAMPLES = 2000
SEED = 5


class LabelledClaim(NamedTuple):
    """A claim with its evidence; `is_true` means that people judged it fully supported."""

    id: str
    claim: str
    evidence: tuple[str, ...]
    is_true: bool
    kind: str


class Judged(NamedTuple):
    """A labelled claim and its verdict."""

    labelled: LabelledClaim
    sentence: Sentence


GrounderFactory = Callable[[Mapping[str, Hit]], Grounder]
"""Makes a grounder for the sources of an answer."""


def measure(file: Path, section: Section, make_grounder: GrounderFactory, *, count: int | None = None) -> list[Judged]:
    """Judge `count` claims of a file, drawn by seed, by default all, and add the figures."""
    claims = list(read_claims(file))
    if count is not None:
        claims = random.Random(SEED).sample(claims, min(count, len(claims)))
    judged = [judge(labelled, make_grounder) for labelled in claims]
    true = [one for one in judged if one.labelled.is_true]
    others = [one for one in judged if not one.labelled.is_true]
    section.about = f"{file.name}: {len(true)} supported claims, {len(others)} others"
    _add(section, "balanced accuracy", judged, balanced_accuracy, at_least(75))
    _add(section, "supported claims accepted", true, accepted)
    _add(section, "other claims accepted", others, accepted, at_most(10))
    _add(section, "supported claims struck out", true, struck, at_most(0))
    _add(section, "other claims struck out", others, struck)
    for support in Support:
        counts = [sum(one.sentence.support is support for one in part) for part in (true, others)]
        section.notes.append(f"{support}: {counts[0]} of the supported claims, {counts[1]} of the others")
    for basis in sorted({one.sentence.judged_by or "nothing" for one in judged if is_accepted(one)}):
        counts = [sum(is_accepted(one) and one.sentence.judged_by == basis for one in part) for part in (true, others)]
        section.notes.append(f"accepted by {basis}: {counts[0]} of the supported claims, {counts[1]} of the others")
    for kind in sorted({one.labelled.kind for one in judged if one.labelled.kind}):
        part = [one for one in judged if one.labelled.kind == kind]
        section.notes.append(f"{kind}: {sum(map(is_accepted, part))} of {len(part)} accepted")
    times = sorted(answer_seconds(claims, make_grounder))
    name = f"answer of {SENTENCES} sentences"
    section.add(f"{name}, median", statistics.median(times), "s", at_most(0.5))
    section.add(f"{name}, 95th percentile", times[int(0.95 * len(times))], "s", at_most(0.5))
    return judged


def read_claims(file: Path) -> Iterator[LabelledClaim]:
    """Yield the claims of a JSON Lines file."""
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            is_true = row["label"] == "supported"
            yield LabelledClaim(row["id"], row["claim"], tuple(row["evidence"]), is_true, row.get("kind", ""))


def judge(labelled: LabelledClaim, make_grounder: GrounderFactory) -> Judged:
    """Judge a claim that cites one page with its evidence, without proposing a quote."""
    (shown,) = make_grounder({"S1": to_hit(labelled.evidence)}).ground([_cite(labelled.claim, "S1")]).sentences
    return Judged(labelled, shown)


def answer_seconds(claims: Sequence[LabelledClaim], make_grounder: GrounderFactory) -> Iterator[float]:
    """Yield how long answers of `SENTENCES` claims take to judge; each claim cites a page of its own."""
    for first in range(0, max(len(claims) - SENTENCES, 0) + 1, SENTENCES):
        answer = claims[first : first + SENTENCES]
        sources = {f"S{number}": to_hit(one.evidence) for number, one in enumerate(answer, 1)}
        cited = [_cite(one.claim, source) for one, source in zip(answer, sources, strict=True)]
        started = time.perf_counter()
        make_grounder(sources).ground(cited)
        yield time.perf_counter() - started


def _cite(claim: str, source: str) -> Claim:
    return Claim(Sentence(text=claim, citation_ids=(source,), start=0, end=len(claim)), ())


def to_hit(evidence: Sequence[str]) -> Hit:
    """Return a page that has each sentence in a paragraph of its own."""
    lines = tuple(
        Line(number=number, page_number=1, text=text, bbox=(0, 20 * number, 500, 20 * number + 12), starts_block=True)
        for number, text in enumerate(evidence, 1)
    )
    passage = Passage(document_id=uuid.uuid4(), lines=lines)
    chunk = Chunk(document_id=passage.document_id, lines=lines, id=uuid.uuid4(), ordinal=0)
    return Hit(chunk=chunk, passage=passage, document_name="evidence", mime_type="application/pdf", final_score=1.0)


# --- figures ---


def is_accepted(one: Judged) -> bool:
    """Return whether the claim is shown as supported."""
    return one.sentence.support is Support.SUPPORTED


def accepted(part: Sequence[Judged]) -> float:
    """Return the share of claims that are shown as supported."""
    return statistics.fmean(map(is_accepted, part)) if part else 0.0


def struck(part: Sequence[Judged]) -> float:
    """Return the share of claims that are shown struck through."""
    return statistics.fmean(one.sentence.support is Support.CONTRADICTED for one in part) if part else 0.0


def balanced_accuracy(judged: Sequence[Judged]) -> float:
    """Return the mean of the shares judged rightly among true and among other claims."""
    true = [one for one in judged if one.labelled.is_true]
    others = [one for one in judged if not one.labelled.is_true]
    return (accepted(true) + 1 - accepted(others)) / 2


def _add(
    section: Section,
    name: str,
    part: Sequence[Judged],
    figure: Callable[[Sequence[Judged]], float],
    goal: Goal | None = None,
) -> None:
    low, high = interval(part, figure)
    label = f"{name} (n = {len(part):,}) [{100 * low:.1f}, {100 * high:.1f}]"
    section.add(label, 100 * figure(part), "%", goal)


def interval(part: Sequence[Judged], figure: Callable[[Sequence[Judged]], float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a figure, resampling pieces of evidence."""
    by_evidence: dict[tuple[str, ...], list[Judged]] = {}
    for one in part:
        by_evidence.setdefault(one.labelled.evidence, []).append(one)
    groups = list(by_evidence.values())
    chance = random.Random(3)
    drawn = (
        figure([one for group in chance.choices(groups, k=len(groups)) for one in group]) for _ in range(RESAMPLES)
    )
    values = sorted(drawn) if groups else [0.0] * RESAMPLES
    return values[int(0.025 * RESAMPLES)], values[int(0.975 * RESAMPLES)]
