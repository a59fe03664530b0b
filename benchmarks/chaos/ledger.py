"""What the users were told has been done, and what turned out to be wrong."""

import enum
import itertools
import sys
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field


class Wrong(enum.StrEnum):
    """Ways to break a promise; the goal of each is 0."""

    LOST = "lost"
    DOUBLED = "doubled"
    ORPHANED = "orphaned"
    HALF = "half-searchable"
    HUNG = "hung"


class State(enum.Enum):
    """Where a document is."""

    KEPT = "in the library"
    TRASHED = "in the trash"
    PURGED = "gone for good"


@dataclass(frozen=True)
class Version:
    """A file that a user sent: the word that no other file has, and what was answered."""

    marker: str
    sha256: str
    id: uuid.UUID


@dataclass
class Entry:
    """A document as its owner knows it, in all its versions. `states` are the possible ones: two, if no answer came.

    One is `settled` when it was seen to be ready since its last version was sent.
    """

    user: str
    name: str
    versions: list[Version]
    states: set[State] = field(default_factory=lambda: {State.KEPT})
    settled: bool = False

    @property
    def current(self) -> Version:
        """The version that was sent last."""
        return self.versions[-1]

    def is_surely(self, state: State) -> bool:
        """Whether it is nothing else."""
        return self.states == {state}


@dataclass
class Chat:
    """A conversation: questions that were answered."""

    user: str
    id: uuid.UUID
    asked: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Violation:
    """A broken promise, by what, and what tells it."""

    wrong: Wrong
    round: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.wrong} ({self.round}): {self.evidence}"


def tell(what: str) -> None:
    """Say what happens, for those who watch: a run takes long."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


class Ledger:
    """The log of all users. Each user's entries are changed by that user alone."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.chats: list[Chat] = []
        self.unanswered: set[str] = set()
        """Hashes of files that were sent and never confirmed: they may be there, or not."""
        self.acknowledged: Counter[str] = Counter()
        self.violations: list[Violation] = []
        self.round = "start"
        self._seen: set[tuple[Wrong, str]] = set()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    def number(self) -> int:
        """One that no other thing has."""
        return next(self._numbers)

    def note(self, what: str) -> None:
        """Something was confirmed."""
        with self._lock:
            self.acknowledged[what] += 1

    def report(self, wrong: Wrong, subject: str, evidence: str) -> None:
        """Take down a violation, once for each `subject`."""
        with self._lock:
            if (wrong, subject) not in self._seen:
                self._seen.add((wrong, subject))
                self.violations.append(Violation(wrong, self.round, f"{subject}: {evidence}"))
                tell(str(self.violations[-1]))

    def of(self, user: str) -> list[Entry]:
        """A user's entries, oldest first."""
        return [entry for entry in self.entries if entry.user == user]
