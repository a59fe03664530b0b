"""Read the codes of headers and footers of Excel sheets (ECMA-376, 18.3.1.46)."""

import re

_CODE = re.compile(
    r'&(?:(?P<part>[LCR])|(?P<sheet>A)|(?P<character>&)|"[^"]*"|K[0-9A-Fa-f]{6}|K\d\d[+-]\d{3}|\d+|.)', re.DOTALL
)


def lines(codes: str, sheet: str) -> list[str]:
    """Return the left, middle and right text of a header, without page numbers, dates, file names and fonts.

    A header that says nothing but the sheet's name is left out.
    """

    def replaced(match: re.Match[str]) -> str:
        return "\n" if match["part"] else sheet if match["sheet"] else "&" if match["character"] else ""

    texts = (" ".join(line.split()) for line in _CODE.sub(replaced, codes).splitlines())
    return [text for text in dict.fromkeys(texts) if re.search(r"\w", text) and text not in {sheet, "Page", "Page of"}]
