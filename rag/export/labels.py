"""Translated labels of exported files."""

import datetime as dt
from collections.abc import Iterator

from rag import answering
from rag.export.marks import Translate
from rag.export.report import Claim, Evidence, Report, Turn

MOMENT = "%Y-%m-%d %H:%M UTC"
DIGEST_CHARS = 12
"""Displayed length of a SHA-256; JSON has all of it."""


class Labels:
    """The labels that several formats share."""

    def __init__(self, say: Translate) -> None:
        self.say = say

    def when(self, moment: dt.datetime) -> str:
        """Format a time, to the minute."""
        return self.say(f"{moment.astimezone(dt.UTC):{MOMENT}}")

    def exported_at(self, report: Report) -> str:
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

    def judgement(self, claim: Claim) -> str:
        """Return the mark of a claim and the reason."""
        return " — ".join(filter(None, [claim.mark, claim.reason]))

    def place(self, evidence: Evidence) -> str:
        """Format the place: “report.pdf, version 2, p. 53 (page 54 of 203)”."""
        version = self.say(f"version {evidence.version}") if evidence.version is not None else None
        place = ", ".join(
            part for part in (evidence.document, version, evidence.cells, self.say(evidence.page_name)) if part
        )
        return f"{place} ({', '.join(map(self.say, evidence.set_apart))})" if evidence.set_apart else place

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
