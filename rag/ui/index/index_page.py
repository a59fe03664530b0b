"""Overview of the index page: contents, sizes, models and caches."""

import streamlit as st

from rag import types
from rag.ui import session
from rag.ui.components import facts, metrics
from rag.ui.formatting import decimal, escape, file_size, percent, plural
from rag.ui.index import health_check
from rag.ui.index.embedding_models import embedding_models
from rag.ui.language import N_, _
from rag.ui.numeric_tables import format_numbers
from rag.ui.translated_messages import translate_message

CACHE_NAMES = {
    "rewrites": N_("Reworded questions"),
    "hyde": N_("Draft answers to search with (HyDE)"),
    "lookups": N_("Questions split into steps"),
    "rerank": N_("Reranking"),
    "answers": N_("Answers"),
    "verdicts": N_("Checks by a language model"),
    "suggestions": N_("Suggested questions"),
    "embeddings": N_("Embeddings"),
}
"""Names of the caches on the page."""


def overview() -> None:
    """Show counts, sizes on disk, models and caches."""
    stats = session.engine().inspect_index()
    figures = {
        _("Documents"): decimal(stats.documents),
        _("Pages"): decimal(stats.pages),
        _("Chunks"): decimal(stats.chunks),
        _("Tokens"): decimal(stats.tokens),
        _("Files on disk"): file_size(stats.file_bytes),
        _("Database"): file_size(stats.database_bytes),
        _("Failed"): decimal(stats.failed_documents),
        _("In the trash"): decimal(stats.documents_in_trash),
    }
    metrics(figures)
    left, right = st.columns(2, gap="small")
    space, chunking = stats.index.space, stats.index.chunking
    with left.container(border=True):
        st.subheader(_("Index"), anchor=False)
        facts(
            {
                _("Name"): stats.index.name,
                _("Vectors"): _("{dimensions} dimensions, {model}").format(
                    dimensions=space.dimensions, model=f"{space.provider}:{space.model}"
                ),
                _("Chunk size"): _("{characters} characters, {shared} overlap").format(
                    characters=chunking.chunk_size_chars, shared=chunking.chunk_overlap_chars
                ),
                _("Embedded"): plural(stats.index.generation, "{count} time", "{count} times"),
                _("Languages"): ", ".join(_(types.language_name(code)) for code in stats.languages) or "–",
            }
        )
    with right.container(border=True):
        st.subheader(_("Models"), anchor=False)
        facts({_(role.capitalize()): model for role, model in session.engine().indexes.models().items()})
    if stats.advice:
        st.info(escape(translate_message(stats.advice)), icon=":material/translate:")
    health_check.warning()
    embedding_models()
    _caches()


def _caches() -> None:
    """Show the size and hit rate of each cache that was used, and a button to clear them."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader(_("Caches"), anchor=False, width="stretch")
            if st.button(_("Clear caches"), icon=":material/delete_sweep:"):
                removed = session.engine().caches.clear()
                st.toast(_("{removed} entries removed.").format(removed=decimal(removed)))
        shown = [
            {
                _("cache"): _(CACHE_NAMES.get(cache.kind, cache.kind)),
                _("entries"): cache.entries,
                _("size"): file_size(cache.bytes),
                _("times used"): cache.hits + cache.misses,
                _("hit rate"): cache.hit_rate,
            }
            for cache in session.engine().caches.stats()
            if cache.entries or cache.hits or cache.misses or cache.kind == "embeddings"
        ]
        st.dataframe(
            format_numbers(shown, {_("entries"): decimal, _("times used"): decimal, _("hit rate"): percent}),
            hide_index=True,
            height="content",
            placeholder="–",
        )
