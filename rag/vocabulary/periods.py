"""Find and spell out fiscal and calendar periods in English text."""

import re

from rag import types

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

_NTH = r"(?:first|second|third|fourth|last|1st|2nd|3rd|4th)"
_WHOLE_YEAR = (
    rf"(?:(?:fiscal|financial|calendar|business)\s+(?:years?\s+)?|years?\s+|FYs?[\s-]?|CY[\s-]?)?{_CENTURY}(?!\d|[%\w])"
    r"|(?:FY|CY)\s?['’‘`]?\d\d(?!\d)|['’‘`]\d\d(?!\w)"
)
_PERIODS = re.compile(
    rf"(?<![\w.,])(?<!\D-)(?:(?:{_MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+|\d{{1,2}}\.?\s+{_MONTH}\s+|{_MONTH}\s+(?:of\s+)?)"
    rf"{_CENTURY}(?!\d)"
    rf"|(?:{_NTH}\s+(?:(?:fiscal|financial)\s+)?(?:quarter|half)|[QH][1-4]|[1-4][QH])"
    rf"(?:\s*+(?:[-/,]\s*+)?(?:of\s+)?(?:the\s+)?(?:{_WHOLE_YEAR}))?(?!\w)"
    r"|(?:the\s+)?(?:previous|prior|preceding|last|next|following)\s+(?:(?:fiscal|financial)\s+)?(?:year|quarter)\b"
    r"|(?:the|a)\s+(?:year|quarter)\s+(?:before|earlier|after|later)\b"
    rf"|{_WHOLE_YEAR})",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:previous|prior|preceding|last|before|earlier)\b", re.IGNORECASE)
_AFTER = re.compile(r"\b(?:next|following|after|later)\b", re.IGNORECASE)
_YEAR_IN = re.compile(
    rf"(?<!\d)(?P<four>{_CENTURY})(?!\d)|(?:(?:FY|CY)\s?['’‘`]?|['’‘`])(?P<two>\d\d)(?!\d)", re.IGNORECASE
)


def spell_out_periods(question: str) -> str:
    """Spell out abbreviated periods: "Q2'23" as "second quarter 2023", "FY22" as "2022".

    "Fiscal year" is not added, since every page of a report has it.
    """
    question = _DASH.sub(" to ", question)
    question = _PART_YEAR.sub(_part_and_year, question)
    question = _YEAR_PART.sub(_part_and_year, question)
    question = _FISCAL_YEAR.sub(_fiscal_year, question)
    question = _BARE_FISCAL_YEAR.sub(r"fiscal year\1", question)
    question = _BARE_PART.sub(_bare_part, question)
    return _APOSTROPHE.sub(_full_year, question)


def find_periods(text: str) -> list[types.Span]:
    """Find periods: "2021", "FY21", "Q2 2021", "the first quarter of 2021", "March 31, 2021".

    Relative ones such as "the previous year" are included. The two ends of a range are two periods.
    """
    return [types.Span(*match.span()) for match in _PERIODS.finditer(text)]


def years(text: str) -> tuple[int, ...]:
    """Return the distinct years in `text`, in order; FY21 is 2021."""
    found = (int(_in_four_digits(match["four"] or match["two"])) for match in _YEAR_IN.finditer(text))
    return tuple(dict.fromkeys(found))


def years_away(period: str) -> int:
    """Return the offset in years of a relative period: -1 for "the previous year", 1 for "the next year", else 0."""
    if "year" not in period.lower() or years(period):
        return 0
    return -1 if _BEFORE.search(period) else int(bool(_AFTER.search(period)))


def _part_and_year(match: re.Match[str]) -> str:
    groups = match.groupdict()
    part = _part(groups["part"] or groups["joined"])
    written = groups["year"] or groups["joined_year"]
    return f"{part} {_in_four_digits(written)}" if part else match[0]


def _bare_part(match: re.Match[str]) -> str:
    """Spell out a quarter without a year, but not an H1, which may be a heading, a hypothesis or a visa."""
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
