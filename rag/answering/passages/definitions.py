"""Find the terms that a text defines, as in: “Closing Date” means the day of the closing."""

import re

DEFINES = (
    r"\s*+[”\"“’']?\s*+(?:\([^()]*\)\s*+)?,?\s*+(?:(?:shall\s+|will\s+)?means?\b|(?:is|are)\s+defined\s+(?:as|to)\b"
    r"|(?:shall\s+)?(?:have|has)\s+the\s+meaning\b"
    r"(?!\s+(?:set|given|ascribed|assigned|specified|provided|defined)\b)"
    r"|(?:shall\s+)?refers?\s+to\b|bezeichnet\b|bedeutet\b)"
)
"""Pattern of what follows a term where it is defined."""

_DEFINED = re.compile(rf"[“\"„](?P<term>[A-ZÄÖÜ][\w’'&-]*(?:\s+[\w’'&-]+){{0,3}})(?={DEFINES})")


def defined_terms(text: str) -> list[str]:
    """Return the terms in quotation marks that `text` defines, in order."""
    return list(dict.fromkeys(" ".join(match["term"].split()) for match in _DEFINED.finditer(text)))
