"""Tickets with which the viewer's requests identify their session.

A session gives its browser a secret that is sent in a header with each request. It allows only what the user may read,
while the login is open. Unlike a cookie it is not sent automatically, so other sites cannot use it.
"""

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from rag import errors, types
from rag.engine import Installation, RAGEngine
from rag.messages import N_

MAX_TICKETS = 10_000
"""Per process; the least recently used ticket is dropped first."""
TICKET_LIFETIME_SECONDS = 12 * 3600.0
"""Lifetime of an unused ticket."""
CHECK_SECONDS = 2.0
"""How long the result of a login check is cached."""


@dataclass
class _Holder:
    user_id: str
    login: types.Identity | None
    whence: types.RequestOrigin
    used: float
    checked: float


class Tickets:
    """The tickets of a process."""

    def __init__(self) -> None:
        self._holders: OrderedDict[str, _Holder] = OrderedDict()
        self._lock = threading.Lock()

    def issue(
        self, user_id: str, login: types.Identity | None, whence: types.RequestOrigin, before: str | None = None
    ) -> str:
        """Return a ticket for a user: the one `before` if it is still valid and theirs."""
        now = time.monotonic()
        with self._lock:
            holder = self._holders.get(before or "")
            if before and holder and (holder.user_id, holder.login) == (user_id, login):
                holder.used = now
                return before
            ticket = secrets.token_urlsafe(32)
            self._holders[ticket] = _Holder(user_id, login, whence, now, now)
            while len(self._holders) > MAX_TICKETS:
                self._holders.popitem(last=False)
        return ticket

    def engine(self, installation: Installation, ticket: str) -> RAGEngine:
        """Return the engine of the user who holds a ticket.

        Raises:
            errors.AuthError: the ticket is unknown or expired, or the login has ended.
        """
        now = time.monotonic()
        with self._lock:
            holder = self._holders.get(ticket)
        is_used = holder is not None and now - holder.used <= TICKET_LIFETIME_SECONDS
        if holder is None or not is_used or not _login_is_open(installation, holder, now):
            with self._lock:
                self._holders.pop(ticket, None)
            raise errors.AuthError(N_("This page was open for too long, or the login has ended. Reload it."))
        with self._lock:
            holder.used = now
            if ticket in self._holders:
                self._holders.move_to_end(ticket)
        return installation.for_user(holder.user_id, holder.whence)


def _login_is_open(installation: Installation, holder: _Holder, now: float) -> bool:
    """Return whether the ticket's login is still open, checking every `CHECK_SECONDS`."""
    if holder.login is None or now - holder.checked < CHECK_SECONDS:
        return True
    holder.checked = now
    return installation.logins.by(holder.user_id, holder.whence).open(holder.login)
