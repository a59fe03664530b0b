"""Simulated users who upload, ask, delete, restore and purge without pause; one makes backups.

Each performs one action at a time through a random server and repeats requests without an answer, uploads under the
same idempotency key. Confirmed results go into the ledger.
"""

import random
import subprocess
import threading
import time
import uuid
from abc import abstractmethod
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx

from benchmarks.chaos import files
from benchmarks.chaos.ledger import Chat, Entry, Ledger, State, Version, Wrong
from benchmarks.chaos.services import Services
from rag import errors
from rag.store.backup import backup

CLIENT_SECONDS = 120.0
"""Timeout of a request in seconds."""
PATIENCE_SECONDS = 300.0
"""How long a user retries, in seconds."""
PAUSE_SECONDS = 0.3
REST = 3
"""Pause between backups, as a multiple of a backup's duration, so that not every round waits for one."""
TROUBLE = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.INSUFFICIENT_STORAGE})
"""Statuses besides 5xx that ask to retry."""
EVIDENCE_CHARS = 300

UPLOADED = (HTTPStatus.ACCEPTED, HTTPStatus.OK)
PURGED = (HTTPStatus.OK, HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND)


class Worker(threading.Thread):
    """A thread that repeats an action while allowed to."""

    def __init__(self, name: str, ledger: Ledger, services: Services, seed: int) -> None:
        super().__init__(name=name, daemon=True)
        self.ledger = ledger
        self.services = services
        self.random = random.Random(f"{seed}-{name}")
        self.may_go = threading.Event()
        self.idle = threading.Event()
        self.over = False
        self.request_seconds = CLIENT_SECONDS * services.patience
        self.insist_seconds = PATIENCE_SECONDS * services.patience

    def run(self) -> None:
        """Run until the end."""
        while True:
            self.idle.set()
            self.may_go.wait()
            self.idle.clear()
            if self.over:
                return
            self.act()

    @abstractmethod
    def act(self) -> None:
        """Perform one action."""


class User(Worker):
    """A user with documents and chats; documents have at most `pages` pages."""

    def __init__(self, name: str, ledger: Ledger, services: Services, seed: int, *, key: str, pages: int) -> None:
        super().__init__(name, ledger, services, seed)
        self._pages = pages
        self._client = httpx.Client(headers={"x-api-key": key}, timeout=self.request_seconds)

    def act(self) -> None:
        """Perform a random action."""
        acts = {self.upload: 8, self.ask: 3, self.search: 3}
        acts |= {self.replace: 3} if self._some(State.KEPT, settled=True) else {}
        acts |= {self.trash: 3} if self._some(State.KEPT) else {}
        acts |= {self.restore: 3, self.purge: 2} if self._some(State.TRASHED) else {}
        self.random.choices([*acts], [*acts.values()])[0]()
        time.sleep(self.random.uniform(0.0, PAUSE_SECONDS))

    def _some(self, state: State, *, settled: bool = False) -> list[Entry]:
        """Return a document in this state; one with several versions must be settled, to know the current one."""
        own = [entry for entry in self.ledger.of(self.name) if entry.is_surely(state)]
        return [entry for entry in own if entry.settled or (not settled and len(entry.versions) == 1)]

    # --- what users do ---

    def upload(self) -> None:
        """Upload a new document, sometimes twice at the same time."""
        file = self._file()
        twice = self.random.random() < 0.15
        with ThreadPoolExecutor(2) as pool:
            answers = [*pool.map(lambda _: self._send(file), range(2 if twice else 1))]
        found = {answer for answer in answers if answer}
        for other in [*found][1:]:
            self.ledger.report(Wrong.DOUBLED, file.name, f"the same upload is {other} too")
        if found:
            version = Version(file.marker, file.sha256, found.pop())
            self.ledger.entries.append(Entry(self.name, file.name, [version]))

    def replace(self) -> None:
        """Upload a new version of a document."""
        entry = self.random.choice(self._some(State.KEPT, settled=True))
        file = self._file()
        entry.settled = False
        if found := self._send(file, replaces=str(entry.current.id)):
            entry.versions.append(Version(file.marker, file.sha256, found))

    def trash(self) -> None:
        """Move a document to the trash."""
        self._move(State.KEPT, State.TRASHED, "DELETE", "", HTTPStatus.NO_CONTENT)

    def restore(self) -> None:
        """Restore a document from the trash."""
        self._move(State.TRASHED, State.KEPT, "POST", "/restore", HTTPStatus.OK)

    def purge(self) -> None:
        """Purge a document; if the first answer was lost, it may already be gone."""
        self._move(State.TRASHED, State.PURGED, "DELETE", "?permanent=true", *PURGED)

    def _move(self, before: State, after: State, method: str, path: str, *accepted: HTTPStatus) -> None:
        entry = self.random.choice(self._some(before))
        entry.states = {before, after}
        if self.insist(f"{after.name.lower()} {entry.name}", method, f"/documents/{entry.current.id}{path}", accepted):
            entry.states = {after}
            self.ledger.note(after.name.lower())

    def ask(self) -> None:
        """Ask a question in a chat; an unanswered one is asked again as a new question."""
        chats = [chat for chat in self.ledger.chats if chat.user == self.name]
        if not chats or self.random.random() < 0.2:
            body = {"json": {"title": f"Chat {self.ledger.number()}"}}
            begun = self.insist("begin a chat", "POST", "/conversations", (HTTPStatus.CREATED,), lambda: body)
            if begun is None:
                return
            chats = [Chat(self.name, uuid.UUID(begun.json()["id"]))]
            self.ledger.chats += chats
        chat = self.random.choice(chats)
        markers = [entry.current.marker for entry in self._some(State.KEPT)] or ["nothing"]
        asked: list[str] = []

        def question() -> Mapping[str, Any]:
            asked.append(f"What is said of the {self.random.choice(markers)}? ({self.ledger.number()})")
            return {"json": {"question": asked[-1]}}

        path = f"/conversations/{chat.id}/messages"
        if self.insist("ask", "POST", path, (HTTPStatus.CREATED,), question):
            chat.asked.append(asked[-1])
            self.ledger.note("questions")

    def search(self) -> None:
        """Check that ready documents are found and documents in the trash are not."""
        for state, wrong in ((State.KEPT, Wrong.HALF), (State.TRASHED, Wrong.LOST)):
            if entries := [entry for entry in self._some(state) if entry.settled]:
                self.look_for(self.random.choice(entries), wrong, is_there=state is State.KEPT)

    def look_for(self, entry: Entry, wrong: Wrong, *, is_there: bool) -> None:
        """Search for the unique word of a document."""
        body = {"json": {"query": entry.current.marker, "retrieval": {"minScore": 0, "topK": 20}}}
        answer = self.call("POST", "/search", body)
        if answer is None or answer.status_code != HTTPStatus.OK:
            return
        found = any(hit["fileId"] == str(entry.current.id) for hit in answer.json()["results"])
        if found != is_there:
            what = "found in the trash" if found else "ready, and not found by a word of its own"
            self.ledger.report(wrong, f"{entry.name} of {self.name}", what)
        self.ledger.note("searches")

    # --- how they do it ---

    def _file(self) -> files.File:
        kind = self.random.choices(["pdf", "text", "locked"], [6, 2, 1])[0]
        return files.make(self.ledger.number(), self.random.randint(1, self._pages), kind=kind)

    def _send(self, file: files.File, **form: str) -> uuid.UUID | None:
        form |= {"password": file.password} if file.password else {}
        self.ledger.unanswered.add(file.sha256)
        sent = {
            "files": {"file": (file.name, file.content)},
            "data": form,
            "headers": {"idempotency-key": f"{self.name}-{file.name}"},
        }
        answer = self.insist(f"upload {file.name}", "POST", "/documents", UPLOADED, lambda: sent)
        if answer is None:
            return None
        self.ledger.unanswered.discard(file.sha256)
        self.ledger.note("uploads")
        return uuid.UUID(answer.json()["id"])

    def insist(
        self,
        what: str,
        method: str,
        path: str,
        accepted: tuple[HTTPStatus, ...],
        body: Callable[[], Mapping[str, Any]] = dict,
    ) -> httpx.Response | None:
        """Repeat a request until it is answered; an answer not in `accepted` is a violation and returns None."""
        deadline = time.monotonic() + self.insist_seconds
        said = "nothing"
        while time.monotonic() < deadline and not self.over:
            answer = self.call(method, path, body())
            if answer is not None and answer.status_code in accepted:
                return answer
            if answer is not None:
                said = f"{answer.status_code} {answer.text[:EVIDENCE_CHARS]}"
                if not answer.is_server_error and answer.status_code not in TROUBLE:
                    self.ledger.report(Wrong.LOST, f"{what} of {self.name}", f"refused: {said}")
                    return None
            time.sleep(PAUSE_SECONDS)
        if self.over:
            return None
        evidence = f"not done in {self.insist_seconds:.0f} s, at last: {said}"
        self.ledger.report(Wrong.HUNG, f"{what} of {self.name}", evidence)
        return None

    def call(self, method: str, path: str, keywords: Mapping[str, Any]) -> httpx.Response | None:
        """Return the answer to one request, or None if there was none or the power was cut first."""
        url = self.random.choice(self.services.urls)
        era = self.services.cuts
        try:
            answer = self._client.request(method, f"{url}{path}", **keywords)
        except httpx.TimeoutException as error:
            evidence = f"no answer within {self.request_seconds:.0f} s ({type(error).__name__})"
            self.ledger.report(Wrong.HUNG, f"{method} {path.partition('?')[0]} of {self.name} at {url}", evidence)
            return None
        except httpx.HTTPError:
            return None
        return answer if era == self.services.cuts else None


class Archivist(Worker):
    """Makes and verifies backups in `folder`, at most `most` of them."""

    def __init__(
        self, name: str, ledger: Ledger, services: Services, seed: int, *, folder: Path, most: int | None = None
    ) -> None:
        super().__init__(name, ledger, services, seed)
        self._folder = folder
        self._most = most
        self._rests_until = 0.0

    def act(self) -> None:
        """Make one backup; if a fault interrupts it, nothing may be left."""
        is_enough = self._most is not None and self.ledger.acknowledged["backups"] >= self._most
        if is_enough or time.monotonic() < self._rests_until:
            time.sleep(PAUSE_SECONDS)
            return
        started = time.monotonic()
        self._back_up()
        self._rests_until = time.monotonic() + REST * (time.monotonic() - started)

    def _back_up(self) -> None:
        with suppress(OSError):  # left from before a power cut
            _clear(self._folder)
        path = self._folder / f"backup-{self.ledger.number()}.tar"
        expected = [entry for entry in self.ledger.entries if entry.settled and entry.is_surely(State.KEPT)]
        era = self.services.cuts
        process = self.services.run("backup", str(path), log="backup")
        try:
            process.wait(self.insist_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.ledger.report(Wrong.HUNG, path.name, f"not made in {self.insist_seconds:.0f} s")
        if era != self.services.cuts:
            return
        if process.returncode == 0:
            self._check(path, expected)
        for left in self._folder.iterdir():
            if left != path and process.returncode > 0:
                self.ledger.report(Wrong.ORPHANED, left.name, "left of a backup that failed")
        _clear(self._folder)

    def _check(self, path: Path, expected: list[Entry]) -> None:
        try:
            manifest = backup.check(path)
        except errors.Error as error:
            self.ledger.report(Wrong.LOST, path.name, error.message)
            return
        kept = {file.document_id for file in manifest.files if file.kind == "original"}
        for entry in expected:
            if State.PURGED not in entry.states and entry.versions[0].id not in kept:
                self.ledger.report(Wrong.LOST, f"{entry.name} of {entry.user}", f"not in {path.name}")
        self.ledger.note("backups")


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


@dataclass(frozen=True)
class Crowd:
    """All users."""

    workers: list[Worker]
    ledger: Ledger

    @property
    def users(self) -> list[User]:
        """All users without the archivist."""
        return [worker for worker in self.workers if isinstance(worker, User)]

    def start(self) -> None:
        """Start the threads, which wait for `go`."""
        for worker in self.workers:
            worker.start()

    def go(self) -> None:
        """Let the users act."""
        for worker in self.workers:
            worker.may_go.set()

    def pause(self) -> None:
        """Wait until each user has finished its current action."""
        for worker in self.workers:
            worker.may_go.clear()
        for worker in self.workers:
            if not worker.idle.wait(worker.insist_seconds + worker.request_seconds):
                self.ledger.report(Wrong.HUNG, worker.name, "does not come back from what it is at")

    def end(self) -> None:
        """Stop all users."""
        for worker in self.workers:
            worker.over = True
        self.go()
        for worker in self.workers:
            worker.join(worker.request_seconds)
