"""The words of a user's house: questions are widened with them, and landmarks are recognised by them.

They come before those of the packaged trades. Kept is the text as it was written, comments and all.
"""

import logging

from rag import errors, retrieval, vocabulary
from rag.engine.workspace import Workspace
from rag.types import GlossarySummary, RetrievalOptions, Rewriting

logger = logging.getLogger(__name__)

MAX_BYTES = 200_000
"""Each of the packaged vocabularies has fewer. What a process keeps ready, and what a search costs, grow with it."""


class Glossary:
    """One user's glossary."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def get(self) -> str:
        """The glossary as TOML, as it was written; empty if there is none."""
        return self._workspace.store.glossary.get()

    def set(self, toml: str) -> GlossarySummary:
        """Have this glossary, in the form of the packaged vocabularies, in the place of the one there was.

        It holds from the next question on, in every process; its places are found in documents that are read from now
        on, and in those there are when they are read anew.

        Raises:
            errors.LimitError: it has more than `MAX_BYTES`.
            errors.ValidationError: it is no TOML or no vocabulary, or names places that neither it nor a packaged
                vocabulary defines; the message says where.
        """
        toml = toml.removeprefix("\ufeff")  # as Windows begins files
        size = len(toml.encode("utf-8", "surrogatepass"))
        if size > MAX_BYTES:
            raise errors.LimitError(
                f"The glossary has {size / 1000:,.0f} kB, of {MAX_BYTES // 1000} kB that it may have. Leave out what "
                "questions hardly ask for.",
                details={"bytes": size, "max_bytes": MAX_BYTES},
            )
        summary = summarize(toml)
        vocabulary.widener(toml)
        self._workspace.store.glossary.put(toml)
        return summary

    def clear(self) -> None:
        """Have none: the packaged vocabularies alone are left."""
        self._workspace.store.glossary.delete()

    def explain(self, question: str) -> tuple[Rewriting, ...]:
        """What a search for `question` would look for besides its words, and at which landmarks."""
        return retrieval.understand(question, RetrievalOptions(), self.widener()).rewritings

    def widener(self) -> vocabulary.Widener:
        """What the user's questions are widened by, as the glossary is now."""
        return vocabulary.widener(self._usable())

    def landmarks(self) -> vocabulary.Landmarks:
        """What the landmarks of the user's documents are recognised by, as the glossary is now."""
        return vocabulary.landmarks(self._usable())

    def _usable(self) -> str:
        """The glossary, if this version understands it.

        A place that it builds on may have gone from the packaged vocabularies: no reason to find nothing at all.
        """
        toml = self.get()
        try:
            vocabulary.widener(toml)
        except errors.ValidationError:
            logger.warning("a glossary is not used: it does not fit this version")
            return ""
        return toml


def summarize(toml: str) -> GlossarySummary:
    """What there is in a glossary. Raises `errors.ValidationError` if it is none."""
    loaded = vocabulary.load(toml)
    return GlossarySummary(
        title=loaded.title,
        synonyms=len(loaded.synonyms),
        derived=len(loaded.derived),
        places=len(loaded.places),
        items=len(loaded.items),
        abbreviations=len(loaded.abbreviations),
    )
