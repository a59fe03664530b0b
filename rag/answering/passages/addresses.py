"""Find the addresses of parties: below "If to Acme:", or after "Address:" below a name."""

import re
from collections.abc import Iterator, Sequence

from rag import types
from rag.answering.passages.boilerplate import Placed, placed_lines, trim_line
from rag.answering.passages.quotable_units import Unit

MAX_LINES = 9
"""Maximum number of lines of an address."""

MAX_LINES_BELOW_NAME = 4
"""Maximum distance of an address from the name whose address it is."""

_IF_TO = re.compile(
    r"\s*(?:\(?\w{1,3}[.)]\s+)?(?:if\s+to|notices?\s+to|to|falls\s+an|an)\s+[^:.;]{2,80}:\s*", re.IGNORECASE
)
_ENDS = re.compile(
    r"\s*+(?:with\s+(?:a\s+|copies|required)|copy\s+to|(?:and|or)\s+if\s+to|mit\s+kopie|or\s+(?:at|to)\s+such|\W*+\d{1,3}\W*$"
    r"|(?:\S++\s++){7}.*\.\s*$)",
    re.IGNORECASE,
)
"""What follows an address: copies, the next party, a page number, a sentence."""
_PLACE = re.compile(r"^(?:(?>.*?\d).*?[^\W\d_]{3}|(?>.*?[^\W\d_]{3}).*?\d)", re.MULTILINE)
"""A line with a street or a postcode."""
_ADDRESS = re.compile(
    r"\s*(?:(?:registered|business|mailing|postal)\s+)?(?:address|anschrift|adresse)\s*:\s*(?=\S)", re.I
)

_PARTY = re.compile(r"\s*(?:(?:party|vertragspartei|name|company|firma)\b[^:]{0,10}:|[^:]+$)", re.IGNORECASE)
"""A line that names whose address follows: "Party A: Acme, Inc.", or a name without a label."""


def addresses(passage: types.Passage) -> Iterator[Unit]:
    """Yield each address; its `section` is the line that says whose it is."""
    placed = [one for one in placed_lines(passage) if one[1].text.strip()]
    for index, (offset, line) in enumerate(placed):
        if _IF_TO.fullmatch(line.text):
            below = _address(placed[index + 1 : index + 1 + MAX_LINES], line.page_number)
            if any(_PLACE.search(one.text) for _, one in below):
                span = types.Span(trim_line(*below[0]).start, trim_line(*below[-1]).end)
                yield Unit(span, types.BlockKind.TEXT, section=trim_line(offset, line), has_lines=True)
        elif labelled := _ADDRESS.match(line.text):
            above = placed[max(index - MAX_LINES_BELOW_NAME, 0) : index]
            if party := next((one for one in reversed(above) if _PARTY.match(one[1].text)), None):
                span = types.Span(offset + labelled.end(), trim_line(offset, line).end)
                yield Unit(span, types.BlockKind.TEXT, section=trim_line(*party), has_lines=True)


def _address(below: Sequence[Placed], page: int) -> list[Placed]:
    found = list[Placed]()
    for one in below:
        text = one[1].text
        if one[1].page_number != page or _ENDS.match(text) or _IF_TO.fullmatch(text):
            break
        found.append(one)
    return found
