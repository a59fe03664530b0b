"""Count the changes of a document that nobody has accepted yet."""

from typing import NamedTuple


class Changes(NamedTuple):
    """The numbers of changes; moved text is deleted at one place and inserted at another."""

    insertions: int = 0
    deletions: int = 0

    @property
    def note(self) -> str | None:
        """What the owner of the document is told, None if there are no changes."""
        if not any(self):
            return None
        return (
            f"It has unaccepted changes (insertions: {self.insertions:,}, deletions: {self.deletions:,}). Inserted"
            " text is read as valid, deleted text as struck out."
        )
