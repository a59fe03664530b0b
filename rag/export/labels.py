"""Translated labels of exported files."""

import datetime as dt
from collections.abc import Iterator

from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.export.marks import Translate
from rag.export.report import Claim, Evidence, Report, Turn
from rag.messages import N_

MOMENT = "%Y-%m-%d %H:%M UTC"
DIGEST_CHARS = 12
"""Displayed length of a SHA-256; JSON has all of it."""
UNDERSTOOD = N_("Understood as")
EVIDENCE = N_("Evidence")
MADE_FROM = N_("Made from")


class Labels:
    """The labels that several formats share."""

    def __init__(self, say: Translate) -> None:
        self.say = say

    def exported_at(self, report: Report) -> str:
        """Return the line with the export time."""
        return self.say(
            N_("Exported from Pagelight on {_moment}").format(_moment=f"{report.made_at.astimezone(dt.UTC):{MOMENT}}")
        )

    def understood(self, turn: Turn) -> str:
        """Return the resolved question, empty if it is unchanged."""
        return f"{self.say(UNDERSTOOD)}: {turn.understood}" if turn.understood else ""

    def answer(self, turn: Turn) -> str:
        """Return the answer; a refusal is translated."""
        return turn.answer if turn.status == "ok" else self.say(turn.answer)

    def writer(self, turn: Turn) -> str:
        """Return the model that wrote the answer, or that it is quoted, and the time."""
        if turn.model == EXTRACTIVE_MODEL:
            written = self.say(N_("Quoted from the documents") if turn.status == "ok" else N_("Nothing was quoted"))
        else:
            written = self.say(N_("Written by {model}").format(model=turn.model))
        moment = self.say(f"{turn.at.astimezone(dt.UTC):{MOMENT}}")
        return f"{written}, {moment}"

    def judgement(self, claim: Claim) -> str:
        """Return the mark of a claim and the reason."""
        return " — ".join(filter(None, [claim.mark, claim.reason]))

    def place(self, evidence: Evidence) -> str:
        """Format the place: “report.pdf, version 2, p. 53 (page 54 of 203)”."""
        version = None
        if evidence.version is not None:
            version = self.say(N_("version {number}").format(number=evidence.version))
        parts = (evidence.file_name, version, evidence.cells, self.say(evidence.page_name))
        place = ", ".join(filter(None, parts))
        return f"{place} ({', '.join(map(self.say, evidence.set_apart))})" if evidence.set_apart else place

    def made_from(self, turn: Turn) -> Iterator[str]:
        """Yield the lines of the provenance, none if it was not recorded."""
        made = turn.provenance
        if made is None:
            return
        for document in made.documents:
            version = self.say(N_("version {number}").format(number=document.version))
            yield f"{document.name}, {version}, SHA-256 {document.sha256[:DIGEST_CHARS]}…"
        yield self.say(
            N_("Index “{name}”, generation {generation}, {model}").format(
                name=made.index_name, generation=made.generation, model=made.space.name
            )
        )
        yield self.say(
            N_("Model {model}, instructions version {version}, Pagelight {program}").format(
                model=turn.model, version=made.prompt_version, program=made.program_version
            )
        )
        options = {**made.configured, "max_context_tokens": made.answering.get("max_context_tokens")}
        yield ", ".join(
            f"{name} {options[name]}"
            for name in ("mode", "top_k", "min_score", "max_context_tokens")
            if name in options
        )
