"""Translated labels of exported files."""

import datetime as dt
from collections.abc import Callable, Iterator

from rag import answering
from rag.export.report import Claim, Evidence, Report, Turn
from rag.types import Support, Verdict

Translate = Callable[[str], str]
"""A translation function for English labels; `str` leaves them untranslated."""

MOMENT = "%Y-%m-%d %H:%M UTC"
DIGEST_CHARS = 12
"""Displayed length of a SHA-256; JSON has all of it."""
VERDICTS = {
    Support.QUOTED: "quoted word for word",
    Support.SUPPORTED: "✓ supported",
    Support.PARTLY: "◐ partly supported",
    Support.NOT_STATED: "✗ not stated",
    Support.NOT_VERIFIED: "? not verified",
    Support.CONTRADICTED: "✗ contradicted",
    Support.UNCITED: "? no source",
}
QUOTES = {
    Verdict.VERIFIED: "quote verified",
    Verdict.CORRECTED: "not word for word",
    Verdict.UNVERIFIED: "no quote",
}


class Labels:
    """The labels that several formats share."""

    def __init__(self, say: Translate) -> None:
        self.say = say

    def when(self, moment: dt.datetime) -> str:
        """Format a time, to the minute."""
        return self.say(f"{moment.astimezone(dt.UTC):{MOMENT}}")

    def taken(self, report: Report) -> str:
        """Return the line with the export time."""
        return self.say(f"Exported from Pagelight on {report.made_at.astimezone(dt.UTC):{MOMENT}}")

    def understood(self, turn: Turn) -> str:
        """Return the resolved question, empty if it is unchanged."""
        return f"{self.say('Understood as')}: {turn.understood}" if turn.understood else ""

    def answer(self, turn: Turn) -> str:
        """Return the answer; a refusal is translated."""
        return turn.answer if turn.status == "ok" else self.say(turn.answer)

    def writer(self, turn: Turn) -> str:
        """Return the model that wrote the answer, or that it is quoted, and the time."""
        if turn.model == answering.EXTRACTIVE_MODEL:
            written = self.say("Quoted from the documents" if turn.status == "ok" else "Nothing was quoted")
        else:
            written = self.say(f"Written by {turn.model}")
        return f"{written}, {self.when(turn.at)}"

    def verdict(self, claim: Claim) -> str:
        """Return the verdict of a claim and what it rests on, empty if there is none."""
        if not claim.support:
            return ""
        basis = f" ({self.say(claim.basis)})" if claim.basis else ""
        return self.say(VERDICTS[claim.support]) + basis

    def judgement(self, claim: Claim) -> str:
        """Return the suffix with the verdict, and whether the claim was left out."""
        if not claim.support:
            return ""
        left_out = f" ({self.say('left out of the answer')})" if claim.left_out else ""
        return f" — {self.verdict(claim)}{left_out}"

    def missing(self, claim: Claim) -> str:
        """Return the words that the quotes lack, empty if none."""
        return f"{self.say('Not confirmed by the quotes')}: {', '.join(claim.missing)}" if claim.missing else ""

    def place(self, one: Evidence) -> str:
        """Format the place: “report.pdf, version 2, p. 53 (page 54 of 203)”."""
        version = self.say(f"version {one.version}") if one.version is not None else None
        place = ", ".join(part for part in (one.document, version, one.cells, self.say(one.page_name)) if part)
        return f"{place} ({self.say('recognised in a picture')})" if one.in_picture else place

    def judged(self, one: Evidence) -> str:
        """Return the verdict of the quote."""
        return self.say(QUOTES[one.verdict] if one.quote else QUOTES[Verdict.UNVERIFIED])

    def made_from(self, turn: Turn) -> Iterator[str]:
        """Yield the lines of the provenance, none if it was not recorded."""
        made = turn.provenance
        if made is None:
            return
        for document in made.documents:
            version = self.say(f"version {document.version}")
            yield f"{document.name}, {version}, SHA-256 {document.sha256[:DIGEST_CHARS]}…"
        yield self.say(f"Index “{made.index_name}”, generation {made.generation}, {made.space.name}")
        yield self.say(
            f"Model {turn.model}, instructions version {made.prompt_version}, Pagelight {made.program_version}"
        )
        options = {**made.configured, "max_context_tokens": made.answering.get("max_context_tokens")}
        yield ", ".join(
            f"{name} {options[name]}"
            for name in ("mode", "top_k", "min_score", "max_context_tokens")
            if name in options
        )
