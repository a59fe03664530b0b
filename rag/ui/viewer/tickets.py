"""Tickets: what a page in the browser shows when it asks for pages of documents by itself.

A session of the app hands its browser a secret, sent in a header with each request. It opens what the user may read, as
long as the login is open, and is good for nothing else. Sent by hand and not by itself, as a cookie is, it is not at
the disposal of pages of other sites.
"""

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from rag import errors
from rag.engine import Installation, RAGEngine
from rag.types import Identity, RequestOrigin

MOST_TICKETS = 10_000
"""Of one process; the one not used for longest is forgotten first."""
LIFE_SECONDS = 12 * 3600.0
"""How long an unused ticket is good."""
CHECK_SECONDS = 2.0
"""How long an ended login goes on at most."""


@dataclass
class _Holder:
    user_id: str
    login: Identity | None
    whence: RequestOrigin
    used: float
    checked: float


class Tickets:
    """The tickets of a process."""

    def __init__(self) -> None:
        self._holders: OrderedDict[str, _Holder] = OrderedDict()
        self._lock = threading.Lock()

    def issue(self, user_id: str, login: Identity | None, whence: RequestOrigin, before: str | None = None) -> str:
        """A ticket for a user: the one there was `before`, if it is still good and theirs."""
        now = time.monotonic()
        with self._lock:
            holder = self._holders.get(before or "")
            if before and holder and (holder.user_id, holder.login) == (user_id, login):
                holder.used = now
                return before
            ticket = secrets.token_urlsafe(32)
            self._holders[ticket] = _Holder(user_id, login, whence, now, now)
            while len(self._holders) > MOST_TICKETS:
                self._holders.popitem(last=False)
        return ticket

    def engine(self, installation: Installation, ticket: str) -> RAGEngine:
        """The engine of the user who holds a ticket.

        Raises:
            errors.AuthError: the ticket is none, or old, or the login has ended.
        """
        now = time.monotonic()
        with self._lock:
            holder = self._holders.get(ticket)
        if holder is None or now - holder.used > LIFE_SECONDS or not _is_open(installation, holder, now):
            with self._lock:
                self._holders.pop(ticket, None)
            raise errors.AuthError("This page was open for too long, or the login has ended. Reload it.")
        with self._lock:
            holder.used = now
            if ticket in self._holders:
                self._holders.move_to_end(ticket)
        return installation.for_user(holder.user_id, holder.whence)


def _is_open(installation: Installation, holder: _Holder, now: float) -> bool:
    """Whether the login goes on with which the ticket was given; asked about now and then."""
    if holder.login is None or now - holder.checked < CHECK_SECONDS:
        return True
    holder.checked = now
    return installation.logins.by(holder.user_id, holder.whence).open(holder.login)
