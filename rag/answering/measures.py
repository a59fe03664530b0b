"""The money that figures are given in: currencies by their signs, codes and names."""

import re
from typing import NamedTuple

_DOLLAR = "$"
"""A dollar of no named country: of the one that the table names, else of the United States."""


class _Currency(NamedTuple):
    """A currency: what stands before its sign, its code, and its name in words."""

    signs: str = ""
    codes: str = ""
    names: str = ""


_CURRENCIES = {
    "US$": _Currency(r"(?:US|U\.S\.)\s?\$", "USD", r"(?:US|U\.S\.|American)\s+dollars?"),
    "C$": _Currency(r"(?:C\$|(?:CA|CDN|Cdn)\s?\$)", "CAD", r"Canadian\s+dollars?"),
    "A$": _Currency(r"(?:A\$|AU\s?\$)", "AUD", r"Australian\s+dollars?"),
    "HK$": _Currency(r"HK\s?\$", "HKD", r"Hong\s+Kong\s+dollars?"),
    "NZ$": _Currency(r"NZ\s?\$", "NZD", r"New\s+Zealand\s+dollars?"),
    "S$": _Currency(r"(?:S\$|SG\s?\$)", "SGD", r"Singapore\s+dollars?"),
    "NT$": _Currency(r"NT\s?\$", "TWD", r"(?:New\s+)?Taiwan\s+dollars?"),
    "R$": _Currency(r"R\$", "BRL", r"Brazilian\s+reais|Brazilian\s+real"),
    "MX$": _Currency(r"MX\s?\$", "MXN", r"Mexican\s+pesos?"),
    "€": _Currency("€", "EUR", r"euros?"),
    "£": _Currency("£", "GBP", r"pounds?\s+sterling|British\s+pounds?"),
    "¥": _Currency("¥", "JPY", r"(?:Japanese\s+)?yen"),
    "CNY": _Currency("", "CNY|RMB", r"(?:Chinese\s+)?yuan|renminbi"),
    "₹": _Currency(r"Rs\.?(?!\w)|₹", "INR", r"(?:Indian\s+)?rupees?"),
    "₩": _Currency("₩", "KRW", r"(?:South\s+)?Korean\s+won"),
    "CHF": _Currency("", "CHF", r"Swiss\s+francs?"),
    "SEK": _Currency("", "SEK", r"Swedish\s+kron(?:or|a)"),
    "NOK": _Currency("", "NOK", r"Norwegian\s+kroner?"),
    "DKK": _Currency("", "DKK", r"Danish\s+kroner?"),
    "PLN": _Currency("", "PLN", r"zloty|złoty"),
    "ZAR": _Currency("", "ZAR", r"South\s+African\s+rand"),
    _DOLLAR: _Currency(r"\$", "", r"dollars?"),
}
_NOT_BEHIND_LETTER, _NOT_BEFORE_LETTER = r"(?<![^\W\d_])", r"(?![^\W\d_])"


def _pattern(currency: _Currency) -> str:
    words = rf"{_NOT_BEHIND_LETTER}(?:{currency.codes or '(?!)'}|(?i:{currency.names})){_NOT_BEFORE_LETTER}"
    if not currency.signs:
        return words
    begins_with_letter = re.match(r"[(\w]", currency.signs) is not None
    return f"{_NOT_BEHIND_LETTER if begins_with_letter else ''}(?:{currency.signs})|{words}"


CURRENCY = "|".join(map(_pattern, _CURRENCIES.values()))
"""A currency as a regular expression without groups."""
CODE = "|".join(currency.codes for currency in _CURRENCIES.values() if currency.codes)
_EACH = {name: re.compile(_pattern(currency)) for name, currency in _CURRENCIES.items()}


def currencies(text: str) -> frozenset[str]:
    """The currencies that `text` names, each by the one name that it has here."""
    return frozenset(map(_named, re.findall(CURRENCY, text)))


def _named(spelling: str) -> str:
    return next(name for name, pattern in _EACH.items() if pattern.fullmatch(spelling))
