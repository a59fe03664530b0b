"""A user's glossary, which expands questions and defines landmarks in documents.

It takes precedence over the packaged vocabularies. The TOML text is stored as written, with comments.
"""

import logging

from rag import errors, retrieval, types, vocabulary
from rag.engine.workspace import Workspace
from rag.messages import N_

logger = logging.getLogger(__name__)

MAX_BYTES = 200_000
"""More than any packaged vocabulary has. Memory and search time grow with it."""


class Glossary:
    """One user's glossary."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def get(self) -> str:
        """Return the glossary as TOML; empty if there is none."""
        return self._workspace.store.glossary.get()

    def set(self, toml: str) -> types.GlossarySummary:
        """Replace the glossary.

        It takes effect with the next question, in all processes; its landmarks are found when documents are read
        (again).

        Raises:
            errors.LimitError: it has more than `MAX_BYTES`.
            errors.ValidationError: it is invalid, or names undefined places; the message says where.
        """
        toml = toml.removeprefix("\ufeff")  # byte order mark
        size = len(toml.encode("utf-8", "surrogatepass"))
        if size > MAX_BYTES:
            raise errors.LimitError(
                N_(
                    "The glossary has {size} kB, of {limit} kB that it may have. Leave out what questions hardly ask "
                    "for."
                ),
                size=f"{size / 1000:,.0f}",
                limit=MAX_BYTES // 1000,
                details={"bytes": size, "max_bytes": MAX_BYTES},
            )
        summary = summarize(toml)
        vocabulary.widener(toml)
        self._workspace.store.glossary.put(toml)
        return summary

    def clear(self) -> None:
        """Delete the glossary, leaving the packaged vocabularies."""
        self._workspace.store.glossary.delete()

    def explain(self, question: str) -> tuple[types.Rewriting, ...]:
        """Return how a search for `question` would be expanded."""
        return retrieval.understand(question, types.RetrievalOptions(), self.widener()).rewritings

    def widener(self) -> vocabulary.Widener:
        """Return the query expansion with the current glossary."""
        return vocabulary.widener(self._valid_toml())

    def landmarks(self) -> vocabulary.Landmarks:
        """Return the landmark patterns with the current glossary."""
        return vocabulary.landmarks(self._valid_toml())

    def _valid_toml(self) -> str:
        """Return the glossary, or nothing if this version does not understand it.

        A packaged place that it builds on may be gone; search must work nevertheless.
        """
        toml = self.get()
        try:
            vocabulary.widener(toml)
        except errors.ValidationError:
            logger.warning("a glossary is not used: it does not fit this version")
            return ""
        return toml


def summarize(toml: str) -> types.GlossarySummary:
    """Return a summary of a glossary. Raises ValidationError if it is invalid."""
    loaded = vocabulary.load(toml)
    return types.GlossarySummary(
        title=loaded.title,
        synonyms=len(loaded.synonyms),
        derived=len(loaded.derived),
        places=len(loaded.places),
        items=len(loaded.items),
        abbreviations=len(loaded.abbreviations),
    )
