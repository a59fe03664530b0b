"""The choice of a chat's sources: all documents, whole groups of them, or single ones.

A choice is a tuple of entries: keys of groups and ids of documents. A group stands for the documents that are in it
when a question is asked, so that later ones are included.
"""

import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from rag import types

ALL = "all"
UNTAGGED = "untagged"
TAG = "tag:"
SAVED = "saved:"
"""Keys of groups: each document, those without a tag, and the beginnings of those of a tag and of a saved filter."""

Choice = tuple[str, ...]


def initial_choice(conversation: types.Conversation | None) -> Choice:
    """Return the choice with which a chat began: as it was made, or the documents of a chat of another program."""
    if conversation is None:
        return (ALL,)
    return conversation.sources or tuple(map(str, conversation.document_ids)) or (ALL,)


class Group(NamedTuple):
    """A group of documents: the name of its tag or saved filter, and the ids of the documents that are in it now."""

    name: str
    ids: frozenset[str]


class Scope(NamedTuple):
    """What a choice means now.

    `chosen` are the ids of its documents, `asked` the documents to ask, in the order of the list and empty for all, and
    `ready` those of `asked` that have been read. `first` is the one for the overview, `is_alone` whether no other is
    asked.
    """

    choice: Choice
    chosen: frozenset[str]
    asked: tuple[uuid.UUID, ...]
    ready: frozenset[uuid.UUID]
    first: uuid.UUID | None
    is_alone: bool


class Sources(NamedTuple):
    """The documents that can be chosen, newest first, and their groups by key."""

    documents: tuple[types.Document, ...]
    groups: Mapping[str, Group]

    @classmethod
    def of(cls, documents: Iterable[types.Document], saved: Mapping[str, Collection[uuid.UUID]]) -> "Sources":
        """Group documents by tag, ignoring case, and by saved filter, of which `saved` has the documents' ids."""
        listed = tuple(documents)
        ids = frozenset(str(document.id) for document in listed)
        names: dict[str, str] = {}
        tagged: dict[str, set[str]] = {}
        for document in reversed(listed):  # a group has its oldest document's spelling
            for tag in document.tags:
                names.setdefault(tag.casefold(), tag)
                tagged.setdefault(tag.casefold(), set()).add(str(document.id))
        groups = {ALL: Group("", ids)}
        groups |= {f"{SAVED}{name}": Group(name, ids & {*map(str, members)}) for name, members in saved.items()}
        groups |= {f"{TAG}{tag}": Group(names[tag], frozenset(tagged[tag])) for tag in sorted(tagged)}
        if untagged := ids.difference(*tagged.values()):
            groups[UNTAGGED] = Group("", untagged)
        return cls(listed, groups)

    def chosen(self, choice: Choice) -> frozenset[str]:
        """Return the ids of the documents that a choice includes now."""
        return frozenset().union(*map(self._members, choice))

    def scope(self, choice: Choice, first: uuid.UUID | None = None) -> Scope:
        """Return what a choice means now, with the document that was `first` before as long as it can be asked."""
        chosen = self.chosen(choice)
        asked = [document for document in self.documents if str(document.id) in chosen and ALL not in choice]
        all_ready = [document.id for document in self.documents if document.searchable]
        ready = [document.id for document in asked if document.searchable]
        candidates = ready if asked else all_ready
        return Scope(
            choice,
            chosen,
            tuple(document.id for document in asked),
            frozenset(ready),
            first if first in candidates else next(iter(candidates), None),
            len(asked) == 1 or len(all_ready) == 1,
        )

    def existing(self, choice: Choice, replaced: Mapping[str, str]) -> Choice:
        """Return a choice without what is gone, with the current versions of those that were `replaced`."""
        current = dict.fromkeys(replaced.get(entry, entry) for entry in choice)
        return tuple(entry for entry in current if entry in self.groups or entry in self.groups[ALL].ids)

    def with_entry(self, choice: Choice, entry: str) -> Choice:
        """Add a document or a whole group."""
        if entry == ALL:
            return (ALL,)
        return (*(other for other in choice if other not in self._members(entry) and other != entry), entry)

    def without_entry(self, choice: Choice, entry: str) -> Choice:
        """Remove a document or all of a group; groups that lose a document are replaced by their other documents."""
        dropped = self._members(entry)
        kept = tuple(
            other
            for other in choice
            if other in self.groups and other not in (entry, ALL) and not dropped & self.groups[other].ids
        )
        single = self.chosen(choice) - dropped - self.chosen(kept)
        return kept + tuple(key for document in self.documents if (key := str(document.id)) in single)

    def search(self, query: str) -> tuple[types.Document, ...]:
        """Return the documents, by name, that have each word of `query` in the name, title, subject or tags."""
        words = query.casefold().split()
        hits = []
        for document in self.documents:
            fields = (document.name, document.title or "", *document.subject.names, *document.tags)
            if all(word in " ".join(fields).casefold() for word in words):
                hits.append(document)
        return tuple(sorted(hits, key=lambda document: document.name.casefold()))

    def _members(self, entry: str) -> frozenset[str]:
        return self.groups[entry].ids if entry in self.groups else frozenset((entry,)) & self.groups[ALL].ids
