"""Periods as documents write them. Pure functions on English; what is not recognised stays as it was asked."""

import re

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_CENTURY = r"(?:19|20)\d\d"
_SHORT_YEAR = r"['’‘`]\d\d"
_YEAR_END = r"(?![\w%]|[.,]\d)"
_YEAR = rf"(?:{_CENTURY}|{_SHORT_YEAR}){_YEAR_END}"
_OF = r"(?:\s*[-/]\s*|\s*,\s*|\s+of\s+|\s*)"
_CALENDAR = rf"(?:(?:FY|CY)[\s-]?(?:{_CENTURY}|['’‘`]?\d\d){_YEAR_END}|{_YEAR})"

_DASH = re.compile(r"(?<=\d)\s?[-–—]\s?(?=(?:FY|CY|[QH][1-4]|[1-4][QH])['’\d]?\b|(?:FY|CY)['’]?\d)", re.IGNORECASE)
_PART_YEAR = re.compile(
    rf"(?<![\w.-])(?:(?P<part>[QH][1-4]|[1-4][QH]){_OF}(?P<year>{_CALENDAR})"
    rf"|(?P<joined>[1-4][QH])(?P<joined_year>\d\d){_YEAR_END})",
    re.IGNORECASE,
)
_YEAR_PART = re.compile(
    rf"(?<![\w.-])(?P<year>(?:FY|CY)[\s-]?(?:{_CENTURY}|['’‘`]?\d\d)|{_CENTURY})[\s-]?(?P<part>[QH][1-4]|[1-4][QH])\b",
    re.IGNORECASE,
)
_FISCAL_YEAR = re.compile(
    rf"(?<![\w.-])(?P<calendar>FY|CY)[\s-]?(?P<year>{_CENTURY}|['’‘`]?\d\d)(?P<to>[-–/](?:{_CENTURY}|\d\d))?{_YEAR_END}",
    re.IGNORECASE,
)
_BARE_FISCAL_YEAR = re.compile(r"(?<![\w.&-])FY(s?)(?![\w&])")
_BARE_PART = re.compile(
    r"(?:\A(?!\w\w[:.)])|(?<=[\s(/\[\"“]))"  # "Q1: …" numbers the question
    r"(?:[QH][1-4]|[1-4][QH])(?![\w-]|\.\d)"
)
_AFTER_HALF = re.compile(r"\s+(?:of\s+)?(?:the\s+)?(?:fiscal|financial)\b", re.IGNORECASE)
_APOSTROPHE = re.compile(rf"(?<=\w)(?P<gap>\.?\s*)['’‘`](?P<year>\d\d){_YEAR_END}")
_BEFORE_APOSTROPHE = re.compile(rf"\b(?:{_MONTH}|quarter|half|fiscal|year)\Z", re.IGNORECASE)
_ORDINALS = ("first", "second", "third", "fourth")


def spell_out_periods(question: str) -> str:
    """`question` with the short forms of periods in full: "Q2'23" is "second quarter 2023", "FY22" is "2022".

    Reports say "second quarter" in their sentences, and the year in four digits everywhere. "Fiscal year" is not added:
    every page of a report has it.
    """
    question = _DASH.sub(" to ", question)
    question = _PART_YEAR.sub(_part_and_year, question)
    question = _YEAR_PART.sub(_part_and_year, question)
    question = _FISCAL_YEAR.sub(_fiscal_year, question)
    question = _BARE_FISCAL_YEAR.sub(r"fiscal year\1", question)
    question = _BARE_PART.sub(_bare_part, question)
    return _APOSTROPHE.sub(_full_year, question)


def _part_and_year(match: re.Match[str]) -> str:
    groups = match.groupdict()
    part = _part(groups["part"] or groups["joined"])
    written = groups["year"] or groups["joined_year"]
    return f"{part} {_in_four_digits(written)}" if part else match[0]


def _bare_part(match: re.Match[str]) -> str:
    """A quarter may stand alone; H1 does so as a heading, a hypothesis and a visa as well."""
    is_period = "Q" in match[0] or _AFTER_HALF.match(match.string, match.end())
    return _part(match[0]) or match[0] if is_period else match[0]


def _part(short: str) -> str | None:
    number = int(re.sub(r"\D", "", short))
    if "q" in short.lower():
        return f"{_ORDINALS[number - 1]} quarter"
    return f"{_ORDINALS[number - 1]} half" if number <= 2 else None


def _fiscal_year(match: re.Match[str]) -> str:
    return _in_four_digits(match["year"]) + (match["to"] or "")


def _full_year(match: re.Match[str]) -> str:
    if not _BEFORE_APOSTROPHE.search(match.string, 0, match.start()):
        return match[0]
    return f"{match['gap'].rstrip()} {_in_four_digits(match['year'])}"


def _in_four_digits(year: str) -> str:
    digits = re.sub(r"\D", "", year)
    if len(digits) == 4:
        return digits
    return ("20" if int(digits) < 50 else "19") + digits
