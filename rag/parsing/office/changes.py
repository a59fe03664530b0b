"""Count the changes of a document that nobody has accepted yet."""

from typing import NamedTuple

from rag.messages import N_


class Changes(NamedTuple):
    """The numbers of changes; moved text is deleted at one place and inserted at another."""

    insertions: int = 0
    deletions: int = 0

    @property
    def note(self) -> str | None:
        """What the owner of the document is told, None if there are no changes."""
        if not any(self):
            return None
        return N_(
            "It has unaccepted changes (insertions: {insertions}, deletions: {deletions}). Inserted text is read as "
            "valid, deleted text as struck out."
        ).format(insertions=f"{self.insertions:,}", deletions=f"{self.deletions:,}")
