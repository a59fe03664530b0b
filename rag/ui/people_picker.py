"""Choosing somebody of the installation: a user or a group, by the names that people have."""

from collections.abc import Iterable, Mapping

import streamlit as st

from rag.types import Grantee, GranteeKind
from rag.ui.language import _

Known = Mapping[tuple[GranteeKind, str], Grantee]


def known(*some: Iterable[Grantee]) -> Known:
    """Each of them once; of one that several lists have, the first says most."""
    found: dict[tuple[GranteeKind, str], Grantee] = {}
    for one in (one for part in some for one in part):
        found.setdefault((one.kind, one.id), one)
    return found


def called(known: Known, kind: GranteeKind, grantee_id: str) -> str:
    """What somebody is called, by the id where nothing else is known."""
    return spelled(known.get((kind, grantee_id)) or Grantee(kind=kind, id=grantee_id))


def spelled(one: Grantee | str) -> str:
    """As a list of people names somebody; the id is said of those only who have no name."""
    if isinstance(one, str):
        return one
    if one.kind == "group":
        return _("Group {name}").format(name=one.id)
    return " · ".join(filter(None, [one.name, one.email])) or one.id


def choose(label: str, offered: Iterable[Grantee]) -> Grantee | None:
    """Somebody of a list, or whose id is typed; None while nobody is chosen."""
    chosen = st.selectbox(
        label,
        list(offered),
        index=None,
        format_func=spelled,
        placeholder=_("Name or user ID"),
        accept_new_options=True,
    )
    if isinstance(chosen, str):
        return Grantee(kind="user", id=chosen.strip()) if chosen.strip() else None
    return chosen
