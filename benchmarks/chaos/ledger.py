"""The log of confirmed actions and of violations."""

import enum
import itertools
import sys
import threading
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field


class Wrong(enum.StrEnum):
    """Kinds of violations; the goal of each is 0."""

    LOST = "lost"
    DOUBLED = "doubled"
    ORPHANED = "orphaned"
    HALF = "half-searchable"
    HUNG = "hung"


class State(enum.Enum):
    """The state of a document."""

    KEPT = "in the library"
    TRASHED = "in the trash"
    PURGED = "gone for good"


@dataclass(frozen=True)
class Version:
    """An uploaded file: its unique word and the server's answer."""

    marker: str
    sha256: str
    id: uuid.UUID


@dataclass
class Entry:
    """A document with all its versions, as its owner knows it.

    `states` has two possible states if a request got no answer. `settled` is True if the document was ready at some
    point since its last version was sent.
    """

    user: str
    name: str
    versions: list[Version]
    states: set[State] = field(default_factory=lambda: {State.KEPT})
    settled: bool = False

    @property
    def current(self) -> Version:
        """Return the version sent last."""
        return self.versions[-1]

    def is_surely(self, state: State) -> bool:
        """Return whether `state` is the only possible state."""
        return self.states == {state}


@dataclass
class Chat:
    """A conversation with its answered questions."""

    user: str
    id: uuid.UUID
    asked: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Violation:
    """A violation with its evidence."""

    wrong: Wrong
    round: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.wrong} ({self.round}): {self.evidence}"


def log_progress(what: str) -> None:
    """Print progress, since a run takes long."""
    print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)


class Ledger:
    """The log of all users; only its user changes an entry."""

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
        """Return a unique number."""
        return next(self._numbers)

    def note(self, what: str) -> None:
        """Count a confirmed action."""
        with self._lock:
            self.acknowledged[what] += 1

    def report(self, wrong: Wrong, subject: str, evidence: str) -> None:
        """Record a violation, once per `subject`."""
        with self._lock:
            if (wrong, subject) not in self._seen:
                self._seen.add((wrong, subject))
                self.violations.append(Violation(wrong, self.round, f"{subject}: {evidence}"))
                log_progress(str(self.violations[-1]))

    def of(self, user: str) -> list[Entry]:
        """Return a user's entries, oldest first."""
        return [entry for entry in self.entries if entry.user == user]
