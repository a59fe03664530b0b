"""How a question was understood: on the index page, below a search."""

from collections.abc import Iterator

import streamlit as st

from rag.types import Rewriting, SearchTrace, Variant
from rag.ui.formatting import plain
from rag.ui.language import N_, _

REASONS = {
    "period": N_("period"),
    "synonym": N_("same meaning"),
    "derived": N_("calculated from"),
    "item": N_("found in"),
    "abbreviation": N_("abbreviation"),
}
TRADES = (N_("Contracts"), N_("Finance"), N_("General"), N_("Science"))
"""The titles of our vocabularies; what a house calls its own stays as it is."""


def understood(trace: SearchTrace) -> None:
    """What was found in the question, what it added to the search, and who knew it."""
    rows = [*_lookups(trace.variants), *_places(trace.rewritings), *_widened(trace.rewritings)]
    if not rows:
        st.caption(_("Searched as entered: nothing was added."))
        return
    with st.expander(_("How the question was understood"), expanded=True, type="compact", key="understood"):
        header = (_("In the question"), _("Also searched for"), _("Why"))
        st.table([dict(zip(header, map(plain, row), strict=True)) for row in rows], border="horizontal")


def _lookups(variants: tuple[Variant, ...]) -> Iterator[tuple[str, str, str]]:
    for variant in variants:
        if variant.kind == "lookup":
            yield _("step {number}").format(number=variant.step), variant.text, _("look-up")


def _places(rewritings: tuple[Rewriting, ...]) -> Iterator[tuple[str, str, str]]:
    names = [name for rewriting in rewritings if rewriting.kind == "landmark" for name in rewriting.added]
    if names:
        yield _("places named"), ", ".join(names), _("preferred")


def _widened(rewritings: tuple[Rewriting, ...]) -> Iterator[tuple[str, str, str]]:
    """What the same words brought stands together."""
    words = [rewriting for rewriting in rewritings if rewriting.kind != "landmark"]
    found = [rewriting.found for rewriting in words]
    for rewriting in sorted(words, key=lambda rewriting: found.index(rewriting.found)):
        reason = _(REASONS[rewriting.kind])
        why = f"{reason} · {titled(rewriting.trade)}" if rewriting.trade else reason
        yield rewriting.found, ", ".join(rewriting.added), why


def titled(vocabulary: str) -> str:
    """The title of a vocabulary, in the present language if it is ours."""
    return _(vocabulary) if vocabulary in TRADES else vocabulary
