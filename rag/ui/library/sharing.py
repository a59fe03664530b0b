"""Collections that several people have: which is looked at, and whom one's own is shared with."""

import streamlit as st

from rag.types import DEFAULT_INDEX, Share, SharedIndex, ShareRequest
from rag.ui import people_picker, session
from rag.ui.formatting import plain
from rag.ui.language import N_, _

MAY = {"read": N_("can read"), "write": N_("can read and write")}


def switch() -> None:
    """Which collection is looked at, where there are several: one's own and what others share."""
    names = _collections()
    if session.collection() not in names:
        session.leave()
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
        session.enter(chosen)
        st.rerun()


def _collections() -> dict[str, str]:
    """What can be looked at, by what it is entered with: the user's own collections, then what others share."""
    return own_collections() | {str(one.index.id): _called(one) for one in session.own_engine().sharing.with_me()}


def own_collections() -> dict[str, str]:
    """What the user's own collections are called, by what they are entered with."""
    others = [index for index in session.own_engine().indexes.list() if index.name != DEFAULT_INDEX]
    return {DEFAULT_INDEX: _("My documents"), **{str(index.id): index.name for index in others}}


def _called(shared: SharedIndex) -> str:
    name = _("Documents") if shared.index.name == DEFAULT_INDEX else shared.index.name
    return f"{name} · {shared.owner_name or shared.index.user_id}"


def offer_sharing() -> None:
    """Whom the documents are shared with, to be changed by who may share."""
    engine = session.own_engine()
    sharing, name = engine.sharing, session.collection()
    own = {DEFAULT_INDEX, *(str(index.id) for index in engine.indexes.list())}
    if name not in own or not sharing.allowed:
        return
    with st.popover(_("Share"), icon=":material/group:"):
        known = people_picker.known(sharing.colleagues())
        for share in sharing.list(name) if name != DEFAULT_INDEX or _has_index() else []:
            _shown(share, people_picker.called(known, share.grantee_kind, share.grantee))
        with st.form("share", clear_on_submit=True, border=False):
            grantee = people_picker.choose(_("Share with"), known.values())
            permission = st.segmented_control(
                _("Permission"), list(MAY), default="read", format_func=lambda key: _(MAY[key]), required=True
            )
            if st.form_submit_button(_("Share"), type="primary") and grantee:
                sharing.give({"grantee": grantee.id, "grantee_kind": grantee.kind, "permission": permission}, name)
                st.rerun()


def _has_index() -> bool:
    return any(index.name == DEFAULT_INDEX for index in session.own_engine().indexes.list())


def _shown(share: Share, called: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"{plain(called)} {_(MAY[share.permission])}")
        st.button(
            _("Stop sharing"),
            key=f"withdraw-{share.grantee_kind}-{share.grantee}",
            on_click=_withdraw,
            args=[ShareRequest(grantee=share.grantee, grantee_kind=share.grantee_kind)],
        )


def _withdraw(asked: ShareRequest) -> None:
    session.own_engine().sharing.withdraw(asked, session.collection())
