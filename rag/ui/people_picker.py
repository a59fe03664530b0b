"""Choose a user or group by name."""

from collections.abc import Iterable, Mapping

import streamlit as st

from rag import types
from rag.ui.language import _

People = Mapping[tuple[types.GranteeKind, str], types.Grantee]


def merge_people(*some: Iterable[types.Grantee]) -> People:
    """Merge lists of people; the first entry of each person wins."""
    found: dict[tuple[types.GranteeKind, str], types.Grantee] = {}
    for one in (one for part in some for one in part):
        found.setdefault((one.kind, one.id), one)
    return found


def display_name(known: People, kind: types.GranteeKind, grantee_id: str) -> str:
    """Return a person's display name, or the id if they are unknown."""
    return person_label(known.get((kind, grantee_id)) or types.Grantee(kind=kind, id=grantee_id))


def person_label(one: types.Grantee | str) -> str:
    """Return the label of a person in a list; the id appears only if there is no name."""
    if isinstance(one, str):
        return one
    if one.kind == "group":
        return _("Group {name}", name=one.id)
    return " · ".join(filter(None, [one.name, one.email])) or one.id


def choose_person(label: str, offered: Iterable[types.Grantee]) -> types.Grantee | None:
    """Choose a person from a list or by id; None while nobody is chosen."""
    chosen = st.selectbox(
        label,
        list(offered),
        index=None,
        format_func=person_label,
        placeholder=_("Name or user ID"),
        accept_new_options=True,
    )
    if isinstance(chosen, str):
        return types.Grantee(kind="user", id=chosen.strip()) if chosen.strip() else None
    return chosen
