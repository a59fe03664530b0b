"""Review of the selected cell: its value and what it stands on, the page with its words, and a person's decision."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from rag import errors, types
from rag.export import page_ranges
from rag.ui import session
from rag.ui.formatting import escape, local_time, percent
from rag.ui.language import N_, _
from rag.ui.matrix import decisions
from rag.ui.matrix.correction import show_correction
from rag.ui.matrix.selection import Place, Selected, engine_of
from rag.ui.matrix.values import REVIEWED, citation_page, value_text
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message
from rag.ui.viewer.pdf_viewer import Mark, show_pdf, show_purged, show_trash_note

ACTIVE = "matrix-active-citation"
"""Session key of the `Active` citation."""

VERDICTS = {
    types.Support.QUOTED: N_("Quoted word for word."),
    types.Support.SUPPORTED: N_("The quote supports it."),
    types.Support.PARTLY: N_("The quote supports part of it."),
    types.Support.NOT_STATED: N_("The quote does not say this."),
    types.Support.NOT_VERIFIED: N_("It is unclear whether the quote says this."),
    types.Support.CONTRADICTED: N_("The quote contradicts it."),
    types.Support.UNCITED: N_("No words of the document prove it."),
}
DECIDED = {
    "accepted": N_("Accepted on {time}."),
    "corrected": N_("Corrected on {time}."),
    "rejected": N_("Rejected on {time}."),
}
DECIDED_BY = {
    "accepted": N_("Accepted by {name} on {time}."),
    "corrected": N_("Corrected by {name} on {time}."),
    "rejected": N_("Rejected by {name} on {time}."),
}


class Active(NamedTuple):
    """The number of a cell's citation that was clicked, and which click that was, in the viewer or beside it."""

    place: Place
    number: int
    click: int = 0
    jump: int = 0


def show_review(filled: types.FilledMatrix, selected: Selected) -> None:
    """Show what the selected cell says, the buttons to decide, and its page."""
    values = _values(selected)
    citations = [*dict.fromkeys(citation for value in values for citation in value.citations)]
    with st.container(key="matrix-told", gap="xsmall"):
        field = selected.field
        st.markdown(f"**{escape(field.name)}**")
        if field.instruction:
            st.caption(escape(field.instruction))
        _finding(filled, selected)
        _quotes(selected, citations)
        if decisions.is_correcting(selected):
            show_correction(filled, selected)
        else:
            decisions.show_notice(filled.matrix.id, selected.place)
            _buttons(filled, selected)
    with st.container(key="matrix-viewer"):
        _viewer(filled, selected, citations)


def _values(selected: Selected) -> list[types.CellValue]:
    """Return the values to show, the one that counts first: a correction, what was found, the others of a conflict."""
    shown = selected.shown
    if shown is None:
        return []
    corrected = [shown.review] if shown.review and shown.review.state == "corrected" else []
    return [*corrected, shown.cell, *shown.cell.alternatives]


# --- what was found ---------------------------------------------------------------------------------


def _finding(filled: types.FilledMatrix, selected: Selected) -> None:
    shown = selected.shown
    if shown is None:
        st.caption(_("Not filled yet."))
        return
    cell, review = shown.cell, shown.review
    if review:
        sign, _meaning = REVIEWED[review.state]
        if review.state == "corrected":
            st.text(value_text(selected.field, review))
        st.caption(f"{sign} {_decided(review)}")
        if not shown.is_reviewed:
            st.info(_("The value was read again since. Please look at it again."), icon=":material/history:")
    if cell.state == "not_stated":
        st.text(_("Not stated on the pages that were read: {pages}", pages=page_ranges(cell.pages_read) or "–"))
    elif cell.state == "failed":
        st.text(translate_message(cell.reason or "") or _("Failed."))
    elif review is None or review.state != "corrected":
        _value(selected.field, cell)
    else:
        st.caption(_("Found: {value}", value=escape(value_text(selected.field, cell))))
    if cell.confidence is not None and (review is None or review.state != "corrected"):
        st.caption(_confidence(cell))
    if cell.alternatives:
        st.caption(_("The document states other values, too:"))
        for number, other in enumerate(cell.alternatives):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.text(f"≠ {value_text(selected.field, other)}", width="stretch")
                take = functools.partial(_take, filled, selected, other)
                if filled.may_write:
                    st.button(_("Take this one"), key=f"matrix-take-{number}", on_click=take)
    if shown.conflict:
        st.warning(escape(translate_message(shown.conflict)), icon=":material/difference:")
    if shown.is_missing and review is None:
        st.warning(_("The field is required."), icon=":material/priority_high:")
    if shown.is_stale:
        text = _("The document or the field has changed since. Fill again for a current value.")
        st.info(text, icon=":material/refresh:")


def _value(field: types.FieldDefinition, value: types.FoundField) -> None:
    """Show a value, a list of records as a table, and its words if they are other ones."""
    if isinstance(value.value, tuple):
        st.dataframe([dict(record) for record in value.value], hide_index=True, height="content", placeholder="")
        return
    text = value_text(field, value)
    st.text(text)
    if value.words and value.words != text:
        is_proved = value.verdict is None or value.verdict.is_proved
        said = N_("In the document: “{words}”") if is_proved else N_("The model says: “{words}”")
        st.caption(_(said, words=escape(value.words)))


def _decided(review: types.CellReview) -> str:
    """Say what was decided and when, and by whom if that was somebody else."""
    time = local_time(review.reviewed_at)
    if review.reviewed_by in (None, session.own_engine().user_id):
        return _(DECIDED[review.state], time=time)
    return _(DECIDED_BY[review.state], name=escape(review.reviewer or review.reviewed_by or ""), time=time)


def _confidence(cell: types.FoundField) -> str:
    """Say how sure a value is, what that means, and whether its quote proves it."""
    told = percent(cell.confidence or 0.0)
    if cell.is_sure:
        text = _("Confidence {share}: of such values about that share is right.", share=told)
    else:
        text = _("Confidence {share}: of such values about that share is right. Please check it.", share=told)
    verdict = _(VERDICTS[cell.verdict]) if cell.verdict and cell.state in ("found", "conflict") else ""
    return f"{text} {verdict}"


def _take(filled: types.FilledMatrix, selected: Selected, value: types.CellValue) -> None:
    """Decide a conflict for one of its values."""
    decisions.decide(filled, selected.place, "corrected", selected.seen, value.model_dump())


# --- decide -----------------------------------------------------------------------------------------


def _buttons(filled: types.FilledMatrix, selected: Selected) -> None:
    """Show the buttons with their keys in the help; a failed cell cannot be accepted, and readers decide nothing."""
    shown = selected.shown
    may_not = shown is None or not filled.may_write
    act = functools.partial(decisions.act, filled, selected.place, seen=selected.seen)
    state = shown.review.state if shown and shown.review and shown.is_reviewed else None
    if not filled.may_write:
        st.caption(_("This collection is shared with you for reading only."))
    with st.container(horizontal=True, key="matrix-decide", vertical_alignment="center"):
        _button(
            _("Accept"),
            "a",
            "check",
            lambda: act("accept"),
            disabled=may_not or not selected.can_be_accepted or state == "accepted",
        )
        _button(_("Correct"), "c", "edit", lambda: act("correct"), disabled=may_not)
        _button(_("Reject"), "r", "close", lambda: act("reject"), disabled=may_not or state == "rejected")
        if shown and shown.review:
            _button(_("Take back"), "u", "undo", lambda: act("undo"), disabled=may_not)
        st.space("stretch")
        _button(_("Previous"), "k", "arrow_upward", lambda: decisions.move(filled, -1), disabled=not filled.to_review)
        _button(_("Next"), "j", "arrow_downward", lambda: decisions.move(filled, 1), disabled=not filled.to_review)


KEYS: Mapping[str, str] = {
    "a": N_("Accept (key a)"),
    "c": N_("Correct (key c)"),
    "r": N_("Reject (key r)"),
    "u": N_("Take back (key u)"),
    "k": N_("Previous value to review (key k)"),
    "j": N_("Next value to review (key j)"),
}


def _button(label: str, key: str, icon: str, on_click: Callable[[], None], *, disabled: bool = False) -> None:
    st.button(
        label,
        key=f"matrix-key-{key}",
        icon=f":material/{icon}:",
        on_click=error_boundary()(on_click),
        disabled=disabled,
        help=_(KEYS[key]),
    )


# --- the page ---------------------------------------------------------------------------------------


def _quotes(selected: Selected, citations: Sequence[types.CellCitation]) -> None:
    """Show each quote with its page; a click highlights it."""
    with st.container(key="matrix-quotes", gap=None):
        for number, citation in enumerate(citations):
            label = f"**{escape(citation_page(citation))}** {escape(citation.quote)}"
            before: Active | None = st.session_state.get(ACTIVE)
            active = Active(selected.place, number, jump=before.jump + 1 if before else 1)
            activate = functools.partial(st.session_state.__setitem__, ACTIVE, active)
            st.button(label, key=f"matrix-quote-{number}", type="tertiary", on_click=activate)


def _viewer(filled: types.FilledMatrix, selected: Selected, citations: Sequence[types.CellCitation]) -> None:
    """Show the version of the document that the cell was filled from, with its quotes, the active one highlighted."""
    cell = selected.shown.cell if selected.shown else None
    try:
        document = engine_of(filled.matrix.id).documents.get(cell.document_id if cell else selected.document.id)
    except errors.NotFoundError as error:
        show_purged(selected.document.name, error)
        return
    chosen: Active | None = st.session_state.get(ACTIVE)
    if chosen is None or chosen.place != selected.place or chosen.number >= len(citations):
        chosen = Active(selected.place, 0)
    marks = [Mark(citation_page(citation), citation.quote, citation.regions, ()) for citation in citations]
    drawn = [number for number, mark in enumerate(marks) if mark.quote]
    first_read = next(iter(cell.pages_read if cell else ()), None)

    def pick(position: int, click: int) -> None:
        st.session_state[ACTIVE] = chosen._replace(number=drawn[position], click=click)

    show_trash_note(document)
    show_pdf(
        document,
        [marks[number] for number in drawn],
        drawn.index(chosen.number) if chosen.number in drawn else None,
        jump=hash((selected.place, chosen.jump)),
        click=chosen.click,
        page_number=citations[chosen.number].page_number if citations else first_read,
        key="matrix-viewer-pdf",
        on_pick=pick,
        on_take=functools.partial(decisions.take_words, selected, document) if filled.may_write else None,
    )
