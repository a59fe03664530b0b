"""Shared collections: choosing one, and sharing one's own."""

import itertools
from collections.abc import Iterable, Mapping

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.formatting import escape
from rag.ui.language import N_, _

PERMISSIONS = {"read": N_("can read"), "write": N_("can read and write")}
People = Mapping[tuple[types.GranteeKind, str], types.Grantee]


def choose_collection() -> None:
    """Choose between own and shared collections, if there are several."""
    names = own_collections()
    for shared in session.own_engine().store.shares.shared_with_me():
        name = _("Documents") if shared.index.name == types.DEFAULT_INDEX else shared.index.name
        names[str(shared.index.id)] = f"{name} · {shared.owner_name or shared.index.user_id}"
    if session.collection() not in names:
        st.session_state.pop(session.COLLECTION, None)
        st.toast(_("This collection was deleted or is no longer shared with you."), icon=":material/group_off:")
    if len(names) == 1:
        return
    choices = [*names]
    chosen = st.selectbox(
        _("Collection"),
        choices,
        index=choices.index(session.collection()),
        format_func=names.__getitem__,
        key=f"collection-{session.collection()}",
    )
    if chosen != session.collection():
        session.open_collection(chosen)
        st.rerun()


def own_collections() -> dict[str, str]:
    """Return the names of the user's own collections by the id that opens them."""
    others = [index for index in session.own_engine().indexes.list() if index.name != types.DEFAULT_INDEX]
    return {types.DEFAULT_INDEX: _("My documents"), **{str(index.id): index.name for index in others}}


def share_menu() -> None:
    """Show and change who the collection is shared with, for users who may share."""
    engine = session.own_engine()
    sharing, name, indexes = engine.sharing, session.collection(), engine.indexes.list()
    own = {types.DEFAULT_INDEX, *(str(index.id) for index in indexes)}
    if name not in own or not sharing.allowed or not session.has_team():
        return
    has_index = name != types.DEFAULT_INDEX or any(index.name == name for index in indexes)
    with st.popover(_("Share"), icon=":material/group:"):
        people = merge_people(sharing.colleagues())
        for share in sharing.list(name) if has_index else []:
            with st.container(horizontal=True, vertical_alignment="center"):
                grantee_name = display_name(people, share.grantee_kind, share.grantee)
                st.markdown(f"{escape(grantee_name)} {_(PERMISSIONS[share.permission])}")
                st.button(
                    _("Stop sharing"),
                    key=f"withdraw-{share.grantee_kind}-{share.grantee}",
                    on_click=_withdraw,
                    args=[types.ShareRequest(grantee=share.grantee, grantee_kind=share.grantee_kind), name],
                )
        with st.form("share", clear_on_submit=True, border=False):
            grantee = choose_person(_("Share with"), people.values())
            permission = st.segmented_control(
                _("Permission"),
                list(PERMISSIONS),
                default="read",
                format_func=lambda key: _(PERMISSIONS[key]),
                required=True,
            )
            if st.form_submit_button(_("Share"), type="primary") and grantee:
                sharing.share({"grantee": grantee.id, "grantee_kind": grantee.kind, "permission": permission}, name)
                st.rerun()


def _withdraw(request: types.ShareRequest, collection: str) -> None:
    session.own_engine().sharing.unshare(request, collection)  # checks again who is logged in


def merge_people(*lists: Iterable[types.Grantee]) -> People:
    """Merge lists of people; the first entry of each person wins."""
    people: dict[tuple[types.GranteeKind, str], types.Grantee] = {}
    for grantee in itertools.chain(*lists):
        people.setdefault((grantee.kind, grantee.id), grantee)
    return people


def display_name(people: People, kind: types.GranteeKind, grantee_id: str) -> str:
    """Return a person's display name, or the id if they are unknown."""
    return person_label(people.get((kind, grantee_id)) or types.Grantee(kind=kind, id=grantee_id))


def person_label(grantee: types.Grantee | str) -> str:
    """Return the label of a person in a list; the id appears only if there is no name."""
    if isinstance(grantee, str):
        return grantee
    if grantee.kind == "group":
        return _("Group {name}", name=grantee.id)
    return " · ".join(filter(None, [grantee.name, grantee.email])) or grantee.id


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
