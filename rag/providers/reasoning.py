"""Separate the answer of a reasoning model from its reasoning.

Such models write their reasoning first, between <think> and </think>, unless their server moves it to a field of its
own. Some chat templates contain the opening tag, so that the output has only the closing one.
"""

import re

_NAMES = ("think", "thinking", "thought", "reasoning")
_OPEN = re.compile(rf"\s*<(?:{'|'.join(_NAMES)})>", re.IGNORECASE)
_TAGS = tuple(f"<{name}>" for name in _NAMES)
_CLOSE = re.compile(rf"</(?:{'|'.join(_NAMES)})>", re.IGNORECASE)


def strip_reasoning(text: str) -> str:
    """Return the answer in a whole output, "" if it ends before the answer begins."""
    answer = _CLOSE.split(text)[-1]
    return "" if _OPEN.match(answer) else answer


class ReasoningFilter:
    """Remove the reasoning from an output that comes piece by piece.

    Reasoning without an opening tag is recognised only at its end: it passes, with its closing tag.
    """

    def __init__(self) -> None:
        """Expect the beginning of the output."""
        self._held: str | None = ""

    def feed(self, text: str) -> str:
        """Add a piece; return what belongs to the answer."""
        if self._held is None:
            return text
        self._held += text
        start = self._held.lstrip().lower()
        may_open = any(tag.startswith(start) and tag != start for tag in _TAGS)  # white space, or a part of a tag
        if may_open or (_OPEN.match(self._held) and not _CLOSE.search(self._held)):
            return ""
        return self.finish()

    def finish(self) -> str:
        """Return the rest at the end of the output."""
        held, self._held = self._held, None
        return strip_reasoning(held) if held and _OPEN.match(held) else held or ""
