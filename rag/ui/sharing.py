"""Collections that several people have: which is looked at, and whom one's own is shared with."""

import streamlit as st

from rag.types import DEFAULT_INDEX, Share, SharedIndex, ShareRequest
from rag.ui import session
from rag.ui.text import plain

MAY = {"read": "may read", "write": "may read and write"}


def switch() -> None:
    """Whose documents are looked at, where others share some."""
    shared = {str(one.index.id): one for one in session.own_engine().sharing.with_me()}
    if session.collection() not in {DEFAULT_INDEX, *shared}:
        session.leave()
        st.toast("The collection is not shared with you any more.", icon=":material/group_off:")
    if not shared:
        return
    choices = [DEFAULT_INDEX, *shared]
    chosen = st.selectbox(
        "Collection",
        choices,
        index=choices.index(session.collection()),
        format_func=lambda key: _called(shared[key]) if key in shared else "My documents",
        key=f"collection-{session.collection()}",
    )
    if chosen != session.collection():
        session.enter(chosen)
        st.rerun()


def _called(shared: SharedIndex) -> str:
    name = "Documents" if shared.index.name == DEFAULT_INDEX else shared.index.name
    return f"{name} · {shared.owner_name or shared.index.user_id}"


def offer_sharing() -> None:
    """Whom the documents are shared with, to be changed by who may share."""
    sharing = session.own_engine().sharing
    if session.collection() != DEFAULT_INDEX or not sharing.allowed:
        return
    with st.popover("Share", icon=":material/group:"):
        for share in sharing.list(DEFAULT_INDEX) if _has_index() else []:
            _shown(share)
        with st.form("share", clear_on_submit=True, border=False):
            grantee = st.text_input("With", placeholder="User id or group", max_chars=500)
            kind = st.segmented_control("Kind", ["user", "group"], default="user", required=True)
            permission = st.segmented_control(
                "They", list(MAY), default="read", format_func=MAY.__getitem__, required=True
            )
            if st.form_submit_button("Share", type="primary") and grantee.strip():
                sharing.give({"grantee": grantee.strip(), "grantee_kind": kind, "permission": permission})
                st.rerun()


def _has_index() -> bool:
    return any(index.name == DEFAULT_INDEX for index in session.own_engine().indexes.list())


def _shown(share: Share) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{plain(share.grantee)} ({share.grantee_kind}) {MAY[share.permission]}")
        st.button(
            "Withdraw",
            key=f"withdraw-{share.grantee_kind}-{share.grantee}",
            on_click=_withdraw,
            args=[ShareRequest(grantee=share.grantee, grantee_kind=share.grantee_kind)],
        )


def _withdraw(asked: ShareRequest) -> None:
    session.own_engine().sharing.withdraw(asked)
