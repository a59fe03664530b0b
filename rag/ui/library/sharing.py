"""Shared collections: choosing one, and sharing one's own."""

import streamlit as st

from rag import types
from rag.ui import people_picker, session
from rag.ui.formatting import escape
from rag.ui.language import N_, _

PERMISSIONS = {"read": N_("can read"), "write": N_("can read and write")}


def choose_collection() -> None:
    """Choose between own and shared collections, if there are several."""
    names = _collections()
    if session.collection() not in names:
        session.leave_collection()
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


def _collections() -> dict[str, str]:
    """Return the names of own and shared collections by the id that opens them."""
    shared = session.own_engine().sharing.shared_with_me()
    return own_collections() | {str(collection.index.id): _shared_name(collection) for collection in shared}


def own_collections() -> dict[str, str]:
    """Return the names of the user's own collections by the id that opens them."""
    others = [index for index in session.own_engine().indexes.list() if index.name != types.DEFAULT_INDEX]
    return {types.DEFAULT_INDEX: _("My documents"), **{str(index.id): index.name for index in others}}


def _shared_name(shared: types.SharedIndex) -> str:
    name = _("Documents") if shared.index.name == types.DEFAULT_INDEX else shared.index.name
    return f"{name} · {shared.owner_name or shared.index.user_id}"


def share_menu() -> None:
    """Show and change who the collection is shared with, for users who may share."""
    engine = session.own_engine()
    sharing, name = engine.sharing, session.collection()
    own = {types.DEFAULT_INDEX, *(str(index.id) for index in engine.indexes.list())}
    if name not in own or not sharing.allowed or not session.has_team():
        return
    with st.popover(_("Share"), icon=":material/group:"):
        known = people_picker.merge_people(sharing.colleagues())
        for share in sharing.list(name) if name != types.DEFAULT_INDEX or _has_index() else []:
            _share_row(share, people_picker.display_name(known, share.grantee_kind, share.grantee))
        with st.form("share", clear_on_submit=True, border=False):
            grantee = people_picker.choose_person(_("Share with"), known.values())
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


def _has_index() -> bool:
    return any(index.name == types.DEFAULT_INDEX for index in session.own_engine().indexes.list())


def _share_row(share: types.Share, called: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{escape(called)} {_(PERMISSIONS[share.permission])}")
        st.button(
            _("Stop sharing"),
            key=f"withdraw-{share.grantee_kind}-{share.grantee}",
            on_click=_withdraw,
            args=[types.ShareRequest(grantee=share.grantee, grantee_kind=share.grantee_kind)],
        )


def _withdraw(asked: types.ShareRequest) -> None:
    session.own_engine().sharing.unshare(asked, session.collection())
