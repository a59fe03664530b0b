"""The view of the index page that tells what is amiss, each with a button where it can be mended."""

from collections.abc import Sequence

import streamlit as st

from rag.types import MENDABLE, AilingDocument, FindingKind, HealthFinding
from rag.ui import session
from rag.ui.formatting import plain, plural
from rag.ui.language import N_, _, either
from rag.ui.library.incomplete_documents import loss
from rag.ui.page_frame import door
from rag.ui.translated_messages import said

SHOWN_PAGES = 12
TOLD: dict[FindingKind, tuple[str, str]] = {
    "failed": (
        N_("could not be read"),
        N_("The cause, such as too little memory or a missing program, may be fixed now."),
    ),
    "password": (N_("waiting for a password"), N_("Enter it on the Upload page.")),
    "vectors": (
        N_("not fully embedded"),
        N_("Some chunks have no vector and are found by keywords only. Read the documents again to embed them."),
    ),
    "pages": (N_("with pages that could not be read"), N_("All other pages are searched.")),
    "wordless": (
        N_("without any text"),
        N_("They may be scans. Text in pictures is recognised only if Tesseract is installed."),
    ),
    "incomplete": (N_("incomplete"), N_("Text that could not be placed on a page is not searched.")),
}
"""What is said of documents, and what follows from it."""


def findings() -> None:
    """All that is amiss with documents of the index, the worst first."""
    with door():
        found = {finding.kind: finding for finding in session.engine().health_checks.findings()}
        if not found:
            st.success(_("No problems found in the documents read so far."), icon=":material/check_circle:")
            return
        for kind in TOLD:
            if kind in found:
                _finding(found[kind])


def warning() -> None:
    """One line that leads to the findings; nothing if there are none."""
    found = session.engine().health_checks.findings()
    if found:
        told = ", ".join(
            f"{plural(finding.count, '{count} document', '{count} documents')} {_(TOLD[finding.kind][0])}"
            for finding in found
        )
        st.warning(_("{told}. See **Health**.").format(told=told), icon=":material/healing:")


def _finding(finding: HealthFinding) -> None:
    told, advice = TOLD[finding.kind]
    with st.container(border=True, key=f"finding-{finding.kind}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(
                f"{plural(finding.count, '{count} document', '{count} documents')} {_(told)}",
                anchor=False,
                width="stretch",
            )
            _way_out(finding)
        st.caption(_(advice))
        _documents(finding.documents)
        if finding.count > len(finding.documents):
            st.caption(
                plural(
                    finding.count - len(finding.documents), "and {count} more document", "and {count} more documents"
                )
            )


def _way_out(finding: HealthFinding) -> None:
    if finding.kind not in MENDABLE:
        st.page_link("pages/upload.py", label=_("Enter password"), icon=":material/key:")
        return
    refusal = session.refusal()
    st.button(
        _("Read again") if finding.count == 1 else _("Read all again"),
        key=f"mend-{finding.kind}",
        icon=":material/healing:",
        on_click=_mend,
        args=(finding.kind,),
        disabled=refusal is not None,
        help=refusal,
    )


def _mend(kind: FindingKind) -> None:
    with door():
        mended = session.engine().health_checks.repair(kind)
        st.toast(
            plural(len(mended), "{count} document will be read again.", "{count} documents will be read again."),
            icon=":material/healing:",
        )


def _documents(documents: Sequence[AilingDocument]) -> None:
    st.markdown("\n".join(f"- **{plain(document.name)}**{_detail(document)}" for document in documents))


def _detail(document: AilingDocument) -> str:
    if document.error:
        return f": {plain(said(document.error))}"
    if document.failed_pages:
        listed = ", ".join(map(str, document.failed_pages[:SHOWN_PAGES]))
        more = " …" if len(document.failed_pages) > SHOWN_PAGES else ""
        return f": {either(len(document.failed_pages), 'page {pages}', 'pages {pages}').format(pages=listed + more)}"
    if document.missing_vectors:
        missing = document.missing_vectors
        return f": {plural(missing, '{count} chunk without a vector', '{count} chunks without a vector')}"
    if document.completeness:
        return f": {loss(document.completeness)}".replace("\n", "\n  ")  # a list within the list
    return ""
