"""Routes for shared collections and the audit log."""

from typing import Annotated, Any

import pydantic
from fastapi import APIRouter, Query
from fastapi.responses import Response

from rag import engine as facade
from rag import types
from rag.api.authentication import Admin, Reader, Writer
from rag.api.responses import IndexName, Items, Limit, listed

Text = Annotated[str | None, Query(max_length=500, pattern=types.STORABLE)]

router = APIRouter(tags=["team"])


class ForgottenAudit(types.Model):
    """The number of entries deleted."""

    forgotten: int


@router.get("/shared")
def list_shared(sender: Reader) -> Items[types.SharedIndex]:
    """List the collections that others share with the user now. Use their ids wherever an index is named."""
    return listed(sender.engine.store.shares.shared_with_me())


@router.get("/shares")
def list_shares(sender: Writer) -> Items[types.Share]:
    """List the users and groups that the user's collections are shared with."""
    return listed(sender.engine.sharing.list())


@router.put("/shares")
def share(sender: Writer, body: types.ShareRequest, index_name: IndexName = types.DEFAULT_INDEX) -> Items[types.Share]:
    """Share a collection with a user or a group, or change their permission. Only curators and admins may."""
    return listed(sender.engine.sharing.share(body, index_name))


@router.post("/shares/withdraw")
def withdraw_share(
    sender: Writer, body: types.ShareRequest, index_name: IndexName = types.DEFAULT_INDEX
) -> Items[types.Share]:
    """Stop sharing a collection with a user or a group, at once."""
    return listed(sender.engine.sharing.unshare(body, index_name))


@router.get("/audit", response_model=Items[types.AuditEntry], responses={200: {"content": {"text/csv": {}}}})
def read_audit(
    *,
    sender: Reader,
    since: Annotated[pydantic.AwareDatetime | None, Query()] = None,
    until: Annotated[pydantic.AwareDatetime | None, Query()] = None,
    actor: Text = None,
    action: Annotated[str | None, Query(max_length=100, pattern=types.STORABLE, description="Or a part of it.")] = None,
    before: Annotated[int | None, Query(ge=1, le=2**63 - 1, description="Only entries with a lower id.")] = None,
    limit: Limit = 50,
    csv: Annotated[bool, Query(description="As CSV.")] = False,
) -> Any:
    """Read the audit log: who did what, when and from where.

    Admins with a key of that permission see all of it, others what they did and what was done to their documents.
    """
    asked = types.AuditFilter(since=since, until=until, actor=actor, action=action)
    entries = sender.engine.audit.list(asked, limit=limit, below=before, own=not sender.may_administer)
    if csv:
        return Response(facade.to_csv(entries), media_type="text/csv; charset=utf-8")
    return listed(entries)


@router.delete("/audit")
def forget_audit(sender: Admin, before: Annotated[pydantic.AwareDatetime, Query()]) -> ForgottenAudit:
    """Delete the entries before a time, which is itself recorded. Only admins may."""
    return ForgottenAudit(forgotten=sender.engine.audit.forget(before))
