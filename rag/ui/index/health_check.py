"""Health view of the index page: problems of documents, with a button to repair them."""

from collections.abc import Sequence

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.formatting import escape, n_documents, plural
from rag.ui.language import N_, _, ngettext
from rag.ui.library.incomplete_documents import missing_text
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message

SHOWN_PAGES = 12
DESCRIPTIONS: dict[types.FindingKind, tuple[str, str]] = {
    "failed": (
        N_("could not be read"),
        N_("The cause may be gone now."),
    ),
    "password": (N_("waiting for a password"), N_("Enter it in the library.")),
    "vectors": (
        N_("not fully indexed"),
        N_("Parts of them are found by words only, not by meaning. Read them again."),
    ),
    "pages": (N_("with pages that could not be read"), N_("All other pages are searched.")),
    "wordless": (
        N_("without any text"),
        N_("They may be scans. Text in pictures is recognised only if RAG_PARSING__OCR is on."),
    ),
    "incomplete": (N_("incomplete"), N_("Text that could not be placed on a page is not searched.")),
}
"""Description and advice for each kind of problem, the worst first."""


def problems() -> None:
    """Show all problems of the index's documents, the worst first."""
    with error_boundary():
        found = {finding.kind: finding for finding in session.engine().health_checks.findings()}
        if not found:
            st.success(_("No problems found in the documents read so far."), icon=":material/check_circle:")
            return
        for kind in DESCRIPTIONS:
            if kind in found:
                _finding(found[kind])


def warning() -> None:
    """Show a one-line summary of the problems, if there are any."""
    found = session.engine().health_checks.findings()
    if found:
        told = ", ".join(f"{n_documents(finding.count)} {_(DESCRIPTIONS[finding.kind][0])}" for finding in found)
        st.warning(_("{told}. See **Health**.").format(told=told), icon=":material/healing:")


def _finding(finding: types.HealthFinding) -> None:
    told, advice = DESCRIPTIONS[finding.kind]
    with st.container(border=True, key=f"finding-{finding.kind}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(
                f"{n_documents(finding.count)} {_(told)}",
                anchor=False,
                width="stretch",
            )
            _repair_button(finding)
        st.caption(_(advice))
        _documents(finding.documents)
        if finding.count > len(finding.documents):
            st.caption(
                plural(
                    finding.count - len(finding.documents), "and {count} more document", "and {count} more documents"
                )
            )


def _repair_button(finding: types.HealthFinding) -> None:
    if finding.kind not in types.REPAIRABLE:
        st.page_link("pages/library.py", label=_("Enter password"), icon=":material/key:")
        return
    refusal = session.read_only_reason()
    st.button(
        _("Read again") if finding.count == 1 else _("Read all again"),
        key=f"mend-{finding.kind}",
        icon=":material/healing:",
        on_click=_repair,
        args=(finding.kind,),
        disabled=refusal is not None,
        help=refusal,
    )


def _repair(kind: types.FindingKind) -> None:
    with error_boundary():
        mended = session.engine().health_checks.repair(kind)
        st.toast(
            plural(len(mended), "{count} document will be read again.", "{count} documents will be read again."),
            icon=":material/healing:",
        )


def _documents(documents: Sequence[types.AilingDocument]) -> None:
    st.markdown("\n".join(f"- **{escape(document.name)}**{_detail(document)}" for document in documents))


def _detail(document: types.AilingDocument) -> str:
    if document.error:
        return f": {escape(translate_message(document.error))}"
    if document.failed_pages:
        listed = ", ".join(map(str, document.failed_pages[:SHOWN_PAGES]))
        more = " …" if len(document.failed_pages) > SHOWN_PAGES else ""
        template = ngettext(len(document.failed_pages), "page {pages}", "pages {pages}")
        return ": " + template.format(pages=listed + more)
    if document.missing_vectors:
        without = plural(document.missing_vectors, "{count} chunk without a vector", "{count} chunks without a vector")
        return f": {without}"
    if document.completeness:
        return f": {missing_text(document.completeness)}".replace("\n", "\n  ")  # a list within the list
    return ""
