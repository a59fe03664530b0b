"""Recognise sentences that say in which business a company is."""

import re

_CAPITALISED = r"(?-i:[A-ZÄÖÜ])[\w.&'’-]*"
_FIRM = (
    rf"(?:we|our\s+company|(?:the\s+|das\s+|die\s+)?{_CAPITALISED}"
    rf"(?:,?\s+(?:{_CAPITALISED}|[“\"(]\S*|and|its|our|or|the|subsidiaries))*)"
)
_MAKES = r"(?:design|develop|manufactur|produc|market|sell|provid|operat|distribut|offer|leas)(?:e?s|e)?"
"""Every company does one of these somewhere; two in a row sum up what it does."""
_COMPANY = (
    r"(?:company|manufacturer|provider|retailer|bank|developer|supplier|producer|distributor|operator|insurer|leader|utility"
    r"|carrier|airline)"
)

DESCRIBES_BUSINESS = re.compile(
    rf"^{_FIRM}\s+(?:(?:is|are)\s+(?:principally\s+|primarily\s+|mainly\s+)?engaged\s+in\b"
    rf"|(?:is|are)\s+(?:an?|one\s+of\s+the|the)\s+(?:(?!(?:of|the|for|by|to)\s)[\w,&'’-]+\s+){{0,8}}{_COMPANY}\b"
    rf"|{_MAKES}(?:,?\s+(?:and\s+)?{_MAKES})+\b|(?:entwickel|produzier|vertreib|betreib)\w*\b)"
    r"|\bprincipal\s+activit(?:y|ies)\b[^.;]{0,40}\b(?:is|are)\b",
    re.IGNORECASE,
)
