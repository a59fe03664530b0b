"""Filter a model's output for display: normalise citation marks, remove HTML, images, links and quote tags.

Streaming and one-shot use give the same output, however the text is cut into pieces. Marks of unknown sources are
removed.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

MAX_LABEL_CHARS = 200
"""Maximum length of bracketed text that is considered a mark, a link or an image."""

MAX_TAG_CHARS = 2000
"""Maximum length of a recognised HTML tag or address."""

MAX_QUOTE_CHARS = 2000
"""A quote tag that is not closed within so many characters ends there, or where a new paragraph, item or row begins."""

MAX_HELD_MARK_CHARS = 700
MAX_HELD_TAG_CHARS = 2 * MAX_TAG_CHARS
"""Maximum text held back to decide what a bracket begins; no pattern below matches more."""

MAX_QUOTE_TAG_CHARS = 50
"""Maximum length of the pattern that ends a quote."""

MAX_RANGE = 50

INVISIBLE = "[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
"""Zero-width characters, which may hide in marks."""

_GAP = rf"(?:[^\S\n]|{INVISIBLE}){{0,2}}"
_BETWEEN = rf"(?:{_GAP}(?:[,;/&+–—-]|and|und|et|y){_GAP}(?:S{_GAP})?|[^\S\n]{{1,2}}(?:S{_GAP})?|S)"
_IDS = rf"S{_GAP}\d{{1,4}}(?:{_BETWEEN}\d{{1,4}}){{0,20}}"
_OPEN, _CLOSE = r"[\[【〔⟦［]", r"[\]】〕⟧］]"
_NO_BRACKET = r"[^\[\]【】〔〕⟦⟧［］\n]"
_LEAD_WORD = rf"(?:see|siehe|vgl\.|cf\.)?{_GAP}(?:(?:Source|Quelle|Fuente)[sn]?)?{_GAP}:?{_GAP}"
_MARK = re.compile(
    rf"\\?(?P<double>\[(?=\[))?{_OPEN}{_GAP}(?:\^|{_LEAD_WORD})?(?P<ids>{_IDS})"
    rf"(?:{_GAP}[,:;†|]{_NO_BRACKET}{{0,{MAX_LABEL_CHARS}}})?{_GAP}\\?{_CLOSE}(?(double)\])",
    re.IGNORECASE,
)
_ROUND_MARK = re.compile(rf"\({_LEAD_WORD}(?P<ids>{_IDS}){_GAP}\)", re.IGNORECASE)
_ROUND_BEGINNING = re.compile(r"\([A-Za-z0-9 \t\u00a0\u202f,;:./&+–—-]*")
_NUMBER = rf"\d{{1,3}}(?:{_GAP}[,;–-]{_GAP}\d{{1,3}}){{0,9}}"
_DAGGER = rf"(?::\d{{1,3}})?†{_NO_BRACKET}{{0,{MAX_LABEL_CHARS}}}"
_NUMBER_MARKS = re.compile(rf"(?:{_OPEN}{_GAP}{_NUMBER}(?:{_DAGGER})?{_GAP}{_CLOSE}[^\S\n]{{0,2}}){{1,10}}")
"""Marks with the numbers of sources, without their letter."""
_NUMBER_BEGINNING = re.compile(rf"{_OPEN}[\d,;– -]{{0,40}}(?:[:†]{_NO_BRACKET}{{0,{MAX_LABEL_CHARS}}})?")
_SOURCE_TAG = re.compile(rf"{_OPEN}{_GAP}Source{_GAP}:{_NO_BRACKET}{{0,{MAX_LABEL_CHARS}}}{_CLOSE}", re.IGNORECASE)
_ADDRESS = rf"\((?:[^()\n]|\([^()\n]{{0,{MAX_LABEL_CHARS}}}\)){{0,{MAX_TAG_CHARS}}}\)"
_LABEL = rf"\[(?P<text>[^\[\]\n]{{0,{MAX_LABEL_CHARS}}})\]"
_LINK = re.compile(_LABEL + _ADDRESS)
_IMAGE = re.compile("!" + _LABEL + _ADDRESS)
_LABEL_ONLY = re.compile(_LABEL)
_QUOTE = r"(?:quotes?|quotation|q)"
_QUOTE_OPEN = re.compile(rf"<{_QUOTE}(?=[\s>])(?P<attributes>[^<>]{{0,300}})>", re.IGNORECASE)
_QUOTE_END = re.compile(
    rf"(?P<close>(?:<|&lt;)\s?/\s?{_QUOTE}\s{{0,5}}(?:>|&gt;))|(?:<|&lt;)\s{{0,2}}{_QUOTE}(?:[\s>]|&gt;)", re.IGNORECASE
)
"""What ends a quote: its closing tag, or the tag of the next quote."""
_QUOTE_LIMIT = re.compile(r"\n(?=[^\S\n]{0,10}(?:\n|[|#>]|[-*+•]\s|\d{1,3}[.)]\s))")
"""Where a quote without a closing tag ends."""
_OTHER_QUOTE_TAG = re.compile(
    rf"(?:<\s{{0,2}}|&lt;\s?)(?P<slash>/?)\s?(?P<name>{_QUOTE})"
    r"(?P<attributes>(?:[\s/](?:(?!&gt;)[^<>]){0,300})?)(?:>|&gt;)",
    re.IGNORECASE,
)
"""A tag of a quote with spaces, or written by HTML entities."""
_OTHER_BEGINNING = re.compile(
    r"(?:<\s{0,2}|&(?:l(?:t(?:;\s?)?)?)?)(?:/?\s?(?:q[a-z]{0,8}(?:[\s/][^<>]{0,300}|&(?:gt?)?)?)?)?", re.IGNORECASE
)
_TAG_IDS = re.compile(
    rf"(?<![^\W\d_])(?P<ids>{_IDS})|\b(?:ids?|sources?|refs?)\s{{0,2}}=\W{{0,3}}(?P<numbers>{_NUMBER})", re.IGNORECASE
)
_AUTOLINK = re.compile(r"<(?P<text>(?:https?|ftp|mailto):[^<>\s]*)>", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SILENT_OPEN = re.compile(r"<(?P<name>script|style|iframe|object|svg|template)(?=[\s>])[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z!?][^<>]*>")

_TRIGGER = re.compile(r"[\[【〔⟦［\\(<!&]")
_TOUCHING = re.compile(r"(?<=<)(?=[A-Za-z/!?])|(?<=\])(?=[(:])|(?<=!)(?=\[)")
"""Neighbours that get a space between them, so that pieces cannot form a tag, link or image."""

CITATION_MARK = re.compile(r"\[(S\d{1,4})\]")
"""A citation mark as displayed."""


class ProposedQuote(NamedTuple):
    """A quote proposed by the model and its position in the displayed text; without an id it is of any source."""

    citation_id: str | None
    text: str
    position: int


class _Step(NamedTuple):
    """Drop `length` characters of the buffer, display `shown`, and read `again` first."""

    length: int
    shown: str = ""
    again: str = ""


class AnswerFilter:
    """Filter a model's text piece by piece."""

    def __init__(self, known: Collection[str]) -> None:
        """`known` are the ids of the sources given to the model, like "S1"."""
        self.quotes: list[ProposedQuote] = []
        self._known = frozenset(known)
        self._buffer = ""
        self._open_quote: tuple[str, ...] | None = None
        self._outer_quotes = self._outer_open = 0
        self._has_marks = False
        self._shown = 0
        self._last = ""
        self._before = self._after = ""
        self._removed = False

    def feed(self, text: str) -> str:
        """Add text; return what can be displayed now."""
        self._buffer += text
        return "".join(self._drain(final=False))

    def finish(self) -> str:
        """Return the rest at the end of the model's output."""
        return "".join(self._drain(final=True))

    def _drain(self, *, final: bool) -> Iterator[str]:
        while self._buffer:
            if self._open_quote is not None:
                if not self._read_quote(final=final):
                    return
                continue
            if self._outer_open:
                if not self._close_outer_quote(final=final):
                    return
                continue
            trigger = _TRIGGER.search(self._buffer)
            plain = self._buffer[: trigger.start()] if trigger else self._buffer
            if plain:
                yield self._show(plain)
                self._buffer = self._buffer[len(plain) :]
                continue
            step = self._decide(final=final)
            if step is None:
                return
            self._buffer = step.again + self._buffer[step.length :]
            if step.shown:
                yield self._show(step.shown)
            elif not step.again:
                self._remove()

    # --- what is shown ---

    def _show(self, text: str) -> str:
        core = text.strip()
        if not core:
            self._after += text
            return ""
        lead = text[: len(text) - len(text.lstrip())]
        self._after += lead
        gap = self._after if self._last else ""
        if self._last and self._removed:
            gap = _wider(self._before, self._after)
            gap = "" if core[0] in ".,;:!?)" and "\n" not in gap else gap
        piece = _TOUCHING.sub(" ", self._last + gap + core)[len(self._last) :]
        self._last, self._before, self._after, self._removed = piece[-1], "", text[len(lead) + len(core) :], False
        self._shown += len(piece)
        return piece

    def _remove(self) -> None:
        """Merge the white space on both sides of removed text."""
        self._before = _wider(self._before, self._after) if self._removed else self._after
        self._after, self._removed = "", True

    # --- what is recognised ---

    def _decide(self, *, final: bool) -> _Step | None:
        """Recognise what the buffer begins with; None until more text can tell."""
        text = self._buffer
        if len(text) == 1 and not final:
            return None
        match text[0]:
            case "<":
                step = self._angle(final=final)
            case "&":
                step = self._other_quote_tag(final=final)
            case "(":
                step = self._round(final=final)
            case "!":
                step = self._image(final=final)
            case "\\" if text[1:2] != "[":
                step = _Step(1, text[0])
            case _:
                step = self._bracket(final=final)
        return step

    def _bracket(self, *, final: bool) -> _Step | None:
        text = self._buffer
        if not final and _is_open_bracket(text):
            return None
        if link := _LINK.match(text):
            label = link["text"]
            return _Step(link.end(), again=f"[{label}]" if _MARK.fullmatch(f"[{label}]") else label)
        if mark := _MARK.match(text):
            self._has_marks = True
            return _Step(mark.end(), self._marks(mark["ids"]) if "⟦" not in mark.group() else "")
        if (marks := _NUMBER_MARKS.match(text)) and not self._has_marks:
            return self._numbers(marks, final=final)
        if tag := _SOURCE_TAG.match(text):
            return _Step(tag.end())
        return _Step(1, text[0])

    def _numbers(self, marks: re.Match[str], *, final: bool) -> _Step | None:
        """Read numbers in brackets as marks if they end a sentence or part of one, and all are of known sources."""
        ids = re.sub(_DAGGER, "", marks.group())
        is_known = self._known.issuperset(_expand(ids))
        rest = self._buffer[marks.end() :]
        if is_known and not final and (not rest or _NUMBER_BEGINNING.fullmatch(rest)):
            return None
        following = rest[:1]
        is_placed = self._last in (*".!?…。",) or not following or following in ".,;:!?)|<\n。"
        is_apart = bool(self._last) and "\n" not in self._after and not (self._last.isalnum() and not self._after)
        if not (is_known and ("†" in marks.group() or (is_placed and is_apart))):
            return _Step(1, self._buffer[0])
        spaces = len(marks.group()) - len(marks.group().rstrip())
        return _Step(marks.end() - spaces, self._marks(ids))

    def _round(self, *, final: bool) -> _Step | None:
        text = self._buffer
        if mark := _ROUND_MARK.match(text):
            self._has_marks = True
            return _Step(mark.end(), self._marks(mark["ids"]))
        if not final and len(text) < MAX_HELD_MARK_CHARS and _ROUND_BEGINNING.fullmatch(text):
            return None
        return _Step(1, text[0])

    def _image(self, *, final: bool) -> _Step | None:
        text = self._buffer
        if image := _IMAGE.match(text):
            return _Step(image.end())
        if not final and text[1:2] == "[" and _is_open_bracket(text[1:]):
            return None
        return _Step(1, text[0])

    def _angle(self, *, final: bool) -> _Step | None:
        text = self._buffer
        if not re.match(r"<[A-Za-z/!?]", text):
            return self._other_quote_tag(final=final)
        if not final and _is_open_angle(text):
            return None
        if quote := _QUOTE_OPEN.match(text):
            if not quote["attributes"].rstrip().endswith("/"):
                self._has_marks = True
                matches = _TAG_IDS.finditer(quote["attributes"])
                ids = [id_ for match in matches for id_ in _expand(match["ids"] or match["numbers"])]
                self._open_quote = tuple(dict.fromkeys(ids))
            return _Step(quote.end())
        if link := _AUTOLINK.match(text):
            return _Step(link.end(), again=link["text"])
        end = _tag_end(text)
        return _Step(end) if end else self._other_quote_tag(final=final)

    def _other_quote_tag(self, *, final: bool) -> _Step | None:
        """Read a quote's tag with spaces in it, or one that is written by HTML entities."""
        text = self._buffer
        if tag := _OTHER_QUOTE_TAG.match(text):
            return _Step(tag.end(), again=f"<{tag['slash']}{tag['name']}{tag['attributes']}>")
        if not final and len(text) < MAX_HELD_MARK_CHARS and _OTHER_BEGINNING.fullmatch(text):
            return None
        return _Step(1, text[0])

    def _marks(self, ids: str) -> str:
        return "".join(f"[{citation_id}]" for citation_id in _expand(ids) if citation_id in self._known)

    def _read_quote(self, *, final: bool) -> bool:
        """Move the open quote's text from the buffer to `quotes`; return False while its end is missing.

        A quote ends at its closing tag; without one, at the end of its paragraph, item or row, or at the next quote.
        """
        end = _QUOTE_END.search(self._buffer)
        if end is not None and end.start() > MAX_QUOTE_CHARS:
            end = None
        if end is None and not final and len(self._buffer) <= MAX_QUOTE_CHARS + MAX_QUOTE_TAG_CHARS:
            return False
        if end is not None and end["close"]:
            self._keep_quote(end.start(), end.end())
            self._outer_open, self._outer_quotes = self._outer_quotes, 0
            return True
        length = end.start() if end else min(len(self._buffer), MAX_QUOTE_CHARS)
        if limit := _QUOTE_LIMIT.search(self._buffer, 0, length):
            self._keep_quote(limit.start(), limit.start())
        else:
            self._keep_quote(length, length)
            self._outer_quotes += end is not None
        return True

    def _close_outer_quote(self, *, final: bool) -> bool:
        """Drop the rest of a quote that holds another one, if it is closed in its line; return False while unknown."""
        end = _QUOTE_END.search(self._buffer)
        line_end = self._buffer.find("\n", 0, end.start() if end else MAX_QUOTE_CHARS)
        if end is None and line_end < 0 and not final and len(self._buffer) <= MAX_QUOTE_CHARS + MAX_QUOTE_TAG_CHARS:
            return False
        if end is not None and end["close"] and line_end < 0 and end.start() <= MAX_QUOTE_CHARS:
            self._buffer = self._buffer[end.end() :]
            self._outer_open -= 1
        else:
            self._outer_open = 0
        return True

    def _keep_quote(self, end: int, following: int) -> None:
        """Keep the buffer's text up to `end` as the open quote; the buffer goes on at `following`."""
        text, self._buffer = self._buffer[:end].strip(), self._buffer[following:]
        ids = self._open_quote or ()
        self._open_quote = None
        if text and not ids:
            self.quotes.append(ProposedQuote(None, text, self._shown))
        elif text:
            self.quotes += [ProposedQuote(one, text, self._shown) for one in ids if one in self._known]


def _wider(before: str, after: str) -> str:
    return max(before, after, key=lambda space: (space.count("\n"), len(space)))


def _is_open_bracket(text: str) -> bool:
    """Return whether text beginning with a bracket may still become a mark or a link."""
    head = text.split("\n", 1)[0]
    if len(head) < len(text):
        return False
    if len(text) > MAX_TAG_CHARS + MAX_HELD_MARK_CHARS:
        return False
    close = re.search(_CLOSE, text)
    if close is None:
        return len(text) <= MAX_HELD_MARK_CHARS
    if len(text) == close.end():
        return True
    return text[close.end()] == "(" and _LABEL_ONLY.match(text) is not None and _LINK.match(text) is None


def _is_open_angle(text: str) -> bool:
    """Return whether the tag that `text` begins with may continue."""
    if len(text) > MAX_HELD_TAG_CHARS:
        return False
    if text.startswith("<!--"[: len(text)]):
        return "-->" not in text
    if silent := _SILENT_OPEN.match(text):
        return re.search(rf"</{silent['name']}\s*>", text, re.IGNORECASE) is None
    return re.match(r"<[^<>]*$", text) is not None


def _tag_end(text: str) -> int:
    """Return the end of the comment, silent element or tag at the beginning of `text`; 0 if there is none."""
    text = text[:MAX_HELD_TAG_CHARS]
    if comment := _COMMENT.match(text):
        return comment.end()
    if silent := _SILENT_OPEN.match(text):
        end = re.search(rf"</{silent['name']}\s*>", text, re.IGNORECASE)
        return end.end() if end else silent.end()
    tag = _TAG.match(text)
    return tag.end() if tag else 0


def _expand(ids: str) -> list[str]:
    """Return the ids of a mark in order, ranges expanded, without duplicates."""
    numbers: list[int] = []
    for dash, digits in re.findall(r"(?:([-–—])\s*+)?(?:S\s*)?(\d{1,4})", ids, re.IGNORECASE):
        number = int(digits)
        if dash and numbers and 0 < number - numbers[-1] <= MAX_RANGE:
            numbers.extend(range(numbers[-1] + 1, number))
        numbers.append(number)
    return list(dict.fromkeys(f"S{number}" for number in numbers))


def plain_text(text: str) -> str:
    """Filter a document's text for display in an answer: no markup, nothing that looks like a citation."""
    markup = AnswerFilter(())
    return markup.feed(text) + markup.finish()
