"""axe-core on a page as it is just now: what keeps people out who see little, or who have no mouse."""

from collections.abc import Iterator, Mapping
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, ViewportSize

GRAVE = ("serious", "critical")
PHONE: ViewportSize = {"width": 390, "height": 844}
EXEMPT: Mapping[tuple[str, str], str] = {
    ("scrollable-region-focusable", ".st-key-copy"): (
        "Streamlit's container takes no tab stop. Chromium and Firefox give one to what scrolls and holds none."
    ),
    ("color-contrast", ".line"): "The layer of text over a page is not seen: its words are in the page's picture.",
    ("aria-dialog-name", ".stToast"): "Streamlit names the title that none of its toasts has.",
}
"""Why a finding is let be, by its rule and the end of what it is about: only what cannot be mended from outside."""
SETTLED = """dark => {
    const shown = getComputedStyle(document.querySelector('[data-testid="stApp"]')).backgroundColor;
    const [red, green, blue] = shown.match(/[0-9.]+/g).map(Number);
    const isDark = red + green + blue < 384;
    const isThere = !document.querySelector('[data-testid$="Skeleton"]');
    return isThere && isDark === dark && !document.getAnimations().some(one => one instanceof CSSTransition);
}"""
"""Whether all elements and the theme are there, and no colour is on its way any more."""
RUN = """async ([within, rules]) => {
    const options = { resultTypes: ["violations"], ...(rules && { runOnly: rules }) };
    const { violations } = await axe.run(within, options);
    return violations.flatMap(({ id, impact, nodes }) => nodes.map(({ target, html, failureSummary }) =>
        ({ id, impact, target: target.flat().at(-1), html: html.slice(0, 200), why: failureSummary })));
}"""
SECOND_LOOK_MS = 1500
"""After this time, what was found is looked at once more: a button may just be changing its colour."""


class Audit:
    """Of one page after another; `findings` has what is grave, each with the state of the page that it was found in."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.findings: list[str] = []

    def look(self, state: str, *, within: str = "html", phone: bool = False) -> None:
        """At the page as it is, its colours also in the dark; with `phone` also in a window of that size.

        With `within` only at what has opened over a page that was looked at before.
        """
        self._run(state, within)
        if phone and (usual := self._page.viewport_size):
            self._page.set_viewport_size(PHONE)
            self._run(f"{state}, on a phone", within)
            self._page.set_viewport_size(usual)
        self._page.emulate_media(color_scheme="dark")
        self._run(f"{state}, in the dark", within, ["color-contrast"], dark=True)
        self._page.emulate_media(color_scheme="light")
        self._page.wait_for_function(SETTLED, arg=False)

    def _run(self, state: str, within: str, rules: list[str] | None = None, *, dark: bool = False) -> None:
        self._page.wait_for_function(SETTLED, arg=dark)
        for frame in self._page.frames:
            if not frame.evaluate("() => 'axe' in window"):
                frame.evaluate(AXE_SCRIPT)
        found = [*_grave(self._page.evaluate(RUN, [within, rules]))]
        if found:
            self._page.wait_for_timeout(SECOND_LOOK_MS)
            found = [*_grave(self._page.evaluate(RUN, [within, rules]))]
        self.findings += [f"{state}: {told}" for told in found]


def _grave(found: list[dict[str, Any]]) -> Iterator[str]:
    for one in found:
        target = one["target"].partition(":nth-child")[0]
        is_exempt = any(one["id"] == rule and target.endswith(end) for rule, end in EXEMPT)
        is_fading = one["id"] == "color-contrast" and 'data-stale="true"' in one["target"]  # Streamlit replaces it
        if one["impact"] in GRAVE and not is_exempt and not is_fading:
            yield f"{one['id']} at {one['target']}\n    {one['html']}\n    {one['why']}"
