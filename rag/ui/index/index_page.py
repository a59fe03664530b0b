"""Views of the index page about the index itself: its contents and models, and its problems."""

import streamlit as st

from rag import types
from rag.export import page_ranges
from rag.ui import session
from rag.ui.components import box, facts, metrics
from rag.ui.formatting import decimal, escape, file_size, n_documents, n_pages, plural, progress_text
from rag.ui.index import chunks
from rag.ui.language import N_, _, ngettext
from rag.ui.library.incomplete_documents import missing_text
from rag.ui.page_frame import error_boundary
from rag.ui.translated_messages import translate_message

WORDLESS_PX = 220
MAX_PAGE_NUMBERS = 12
PROBLEMS: dict[types.FindingKind, tuple[str, str]] = {
    "failed": (N_("could not be read"), N_("The cause may be gone now.")),
    "password": (N_("waiting for a password"), N_("Enter it in the library.")),
    "vectors": (N_("not fully indexed"), N_("Parts of them are found by words only, not by meaning. Read them again.")),
    "pages": (N_("with pages that could not be read"), N_("All other pages are searched.")),
    "wordless": (
        N_("without any text"),
        N_("They may be scans. Text in pictures is recognised only if RAG_PARSING__OCR is on."),
    ),
    "incomplete": (N_("incomplete"), N_("Text that could not be placed on a page is not searched.")),
}
"""Description and advice for each kind of problem, the worst first."""


# --- overview ---------------------------------------------------------------------------------------


def overview() -> None:
    """Show counts, sizes on disk, models, and problems in one line."""
    engine = session.engine()
    stats = engine.inspect_index()
    metrics(
        {
            _("Documents"): decimal(stats.documents),
            _("Pages"): decimal(stats.pages),
            _("Chunks"): decimal(stats.chunks),
            _("Tokens"): decimal(stats.tokens),
            _("Files on disk"): file_size(stats.file_bytes),
            _("Database"): file_size(stats.database_bytes),
            _("Failed"): decimal(stats.failed_documents),
            _("In the trash"): decimal(stats.documents_in_trash),
        }
    )
    left, right = st.columns(2, gap="small")
    space, chunking = stats.index.space, stats.index.chunking
    with left, box(_("Index")):
        facts(
            {
                _("Name"): stats.index.name,
                _("Vectors"): _(
                    "{dimensions} dimensions, {model}",
                    dimensions=space.dimensions,
                    model=f"{space.provider}:{space.model}",
                ),
                _("Chunk size"): _(
                    "{characters} characters, {shared} overlap",
                    characters=chunking.chunk_size_chars,
                    shared=chunking.chunk_overlap_chars,
                ),
                _("Embedded"): plural(stats.index.generation, "{count} time", "{count} times"),
                _("Languages"): ", ".join(_(types.language_name(code)) for code in stats.languages) or "–",
            }
        )
    with right, box(_("Models")):
        facts({_(role.capitalize()): model for role, model in engine.indexes.models().items()})
    if stats.advice:
        st.info(escape(translate_message(stats.advice)), icon=":material/translate:")
    if findings := engine.indexes.findings():
        problems = ", ".join(f"{n_documents(finding.count)} {_(PROBLEMS[finding.kind][0])}" for finding in findings)
        st.warning(_("{told}. See **Health**.", told=problems), icon=":material/healing:")


# --- problems ---------------------------------------------------------------------------------------


def problems() -> None:
    """Show all problems of the index's documents, the worst first, with a button to repair them, and empty pages."""
    findings = {finding.kind: finding for finding in session.engine().indexes.findings()}
    if not findings:
        st.success(_("No problems found in the documents read so far."), icon=":material/check_circle:")
    refusal = session.read_only_reason()
    for kind, (description, advice) in PROBLEMS.items():
        if finding := findings.get(kind):
            _finding(finding, description, advice, refusal)
    summary = session.engine().indexes.wordless()
    if summary.pages:
        with box(_("Pages without text")):
            _pages_without_text(summary)


def _finding(finding: types.HealthFinding, description: str, advice: str, refusal: str | None) -> None:
    with st.container(border=True, key=f"finding-{finding.kind}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(f"{n_documents(finding.count)} {_(description)}", anchor=False, width="stretch")
            if finding.kind in types.REPAIRABLE:
                st.button(
                    _("Read again") if finding.count == 1 else _("Read all again"),
                    key=f"repair-{finding.kind}",
                    icon=":material/healing:",
                    on_click=_repair,
                    args=(finding.kind,),
                    disabled=refusal is not None,
                    help=refusal,
                )
            else:
                st.page_link("pages/library.py", label=_("Enter password"), icon=":material/key:")
        st.caption(_(advice))
        st.markdown("\n".join(f"- **{escape(document.name)}**{_problem(document)}" for document in finding.documents))
        if hidden := finding.count - len(finding.documents):
            st.caption(plural(hidden, "and {count} more document", "and {count} more documents"))


@error_boundary()
def _repair(kind: types.FindingKind) -> None:
    queued = session.engine().indexes.repair(kind)
    st.toast(
        plural(len(queued), "{count} document will be read again.", "{count} documents will be read again."),
        icon=":material/healing:",
    )


def _problem(document: types.AilingDocument) -> str:
    """Return what follows the document's name."""
    if document.error:
        return f": {escape(translate_message(document.error))}"
    if pages := document.failed_pages:
        numbers = ", ".join(map(str, pages[:MAX_PAGE_NUMBERS])) + (" …" if len(pages) > MAX_PAGE_NUMBERS else "")
        template = ngettext(len(pages), "page {pages}", "pages {pages}")
        return ": " + template.format(pages=numbers)
    if missing := document.missing_vectors:
        return ": " + plural(missing, "{count} chunk without a vector", "{count} chunks without a vector")
    if document.completeness:
        return f": {missing_text(document.completeness)}".replace("\n", "\n  ")  # a list within the list
    return ""


def _pages_without_text(summary: types.WordlessSummary) -> None:
    """List the pages on which no text was found: a click opens the first one of a document."""
    st.caption(
        _(
            "{pages} of {documents}: blank, a picture, or not read. Select a row to open the first page.",
            pages=n_pages(summary.pages),
            documents=n_documents(summary.documents),
        )
    )
    rows = [
        {
            _("document"): document.name,
            _("without text"): document.wordless / document.page_count,
            _("pages"): progress_text(document.wordless, document.page_count),
            _("page numbers"): page_ranges(document.first) + (" …" if document.wordless > len(document.first) else ""),
        }
        for document in summary.worst
    ]

    def open_first_page() -> None:
        for row in st.session_state["wordless"].selection.rows:
            chunks.open_page(summary.worst[row].document_id, summary.worst[row].first[0])

    share = st.column_config.ProgressColumn(format="percent", min_value=0, max_value=1, width="small")
    st.dataframe(
        rows,
        key="wordless",
        hide_index=True,
        height=WORDLESS_PX,
        on_select=open_first_page,
        selection_mode="single-row",
        column_config={_("without text"): share},
    )
    if summary.documents > len(rows):
        st.caption(_("The {rows} documents with the most pages without text.", rows=len(rows)))
