"""Show how a question was understood, below a search."""

from collections.abc import Iterator

import streamlit as st

from rag import types
from rag.ui.formatting import escape
from rag.ui.language import N_, _

REASONS = {
    "period": N_("period"),
    "synonym": N_("same meaning"),
    "derived": N_("calculated from"),
    "item": N_("found in"),
    "abbreviation": N_("abbreviation"),
}
OWN_VOCABULARIES = (N_("Contracts"), N_("Finance"), N_("General"), N_("Science"))
"""Titles of the built-in vocabularies; user-defined titles are not translated."""


def show_understanding(trace: types.SearchTrace) -> None:
    """Show what was found in the question, what it added to the search, and why."""
    rows = [*_lookups(trace.variants), *_places(trace.rewritings), *_added_terms(trace.rewritings)]
    if not rows:
        st.caption(_("Searched as entered: nothing was added."))
        return
    with st.expander(_("How the question was understood"), expanded=True, type="compact", key="understood"):
        header = (_("In the question"), _("Also searched for"), _("Why"))
        st.table([dict(zip(header, map(escape, row), strict=True)) for row in rows], border="horizontal")


def _lookups(variants: tuple[types.Variant, ...]) -> Iterator[tuple[str, str, str]]:
    for variant in variants:
        if variant.kind == "lookup":
            yield _("step {number}").format(number=variant.step), variant.text, _("look-up")


def _places(rewritings: tuple[types.Rewriting, ...]) -> Iterator[tuple[str, str, str]]:
    names = [name for rewriting in rewritings if rewriting.kind == "landmark" for name in rewriting.added]
    if names:
        yield _("places named"), ", ".join(names), _("preferred")


def _added_terms(rewritings: tuple[types.Rewriting, ...]) -> Iterator[tuple[str, str, str]]:
    """Yield added terms, grouped by the words that caused them."""
    words = [rewriting for rewriting in rewritings if rewriting.kind != "landmark"]
    found = [rewriting.found for rewriting in words]
    for rewriting in sorted(words, key=lambda rewriting: found.index(rewriting.found)):
        reason = _(REASONS[rewriting.kind])
        why = f"{reason} · {vocabulary_title(rewriting.trade)}" if rewriting.trade else reason
        yield rewriting.found, ", ".join(rewriting.added), why


def vocabulary_title(vocabulary: str) -> str:
    """Return the title of a vocabulary, translated if it is built in."""
    return _(vocabulary) if vocabulary in OWN_VOCABULARIES else vocabulary
