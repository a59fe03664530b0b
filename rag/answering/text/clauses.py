"""Split sentences into clauses that can be proved separately."""

import re

from rag.answering.text.analyzed_text import analyze

_CLAUSE = re.compile(
    r"(?:(?<!\s)\s+)?;\s+(?:and |but )?|(?:,|(?<!\s))\s+(?:and|but|while|whereas|und|während|et(?! al)|y)\s+|"
    r"(?:,|(?<!\s))\s+(?:compared (?:with|to)|versus|up from|down from|from)\s+(?=[$€£]?\s?\d)"
)
"""Possible clause boundaries."""
_ANAPHORA = re.compile(
    r"\s*(?:it|its|they|their|he|she|his|her|we|our|this|these|those|that|such|both|the (?:company|group|firm|bank|"
    r"fund|registrant|agreement|plan|former|latter))\b",
    re.IGNORECASE,
)
"""Beginnings of sentences that refer back."""


def refers_back(sentence: str) -> bool:
    """Return whether a sentence refers to the one before it: "It …", "The company …"."""
    return _ANAPHORA.match(sentence) is not None


def clause_splits(claim: str) -> list[tuple[str, str]]:
    """Return the ways to split a claim into two statements; a predicate without subject takes that of the other."""
    if re.search(r"\brespectively\b", claim, re.IGNORECASE):
        return []
    found = []
    for match in _CLAUSE.finditer(claim):
        left, right = claim[: match.start()], claim[match.end() :]
        if left.count("(") != left.count(")") or not _is_statement(left):
            continue
        if is_bare_predicate(right) and (verb := finite_verb(left)):
            right = f"{left[len(lead_in(left)) : verb.start()].strip()} {right}"
        if _is_statement(right):
            found.append((left, right))
    return found


def is_fragment(text: str) -> bool:
    """Return whether a text says nothing of anything: a name, or a figure with at most one word ("13 weeks")."""
    said = analyze(text)
    if not said.numbers:
        return all(word.text[0].isupper() for word in said.content)
    return len(said.content) < 2 and finite_verb(text) is None and ":" not in text and "–" not in text


IRREGULAR_PASTS = (
    "became|began|bore|bought|broke|brought|built|came|chose|cut|drew|drove|fell|gave|got|grew|held|kept|led|left|lent|lost|"
    "made|met|paid|ran|rose|said|sank|saw|sent|sold|spent|stood|told|took|went|won|wrote"
)
"""Past forms not ending in -ed, as a pattern."""
_FINITE = re.compile(
    r"(?<!-)\b(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|shall|should|does|did|do|[a-z]{2,}ed|"
    rf"{IRREGULAR_PASTS}|ist|sind|war|waren|est|sont|es|son)\b|–"
)
_PRESENT = re.compile(r"\b[a-z]{3,}s(?!\s+(?:of|and|or)\b)\b")
"""Possible verbs after a subject with an article; elsewhere they are plurals."""
_DETERMINED = re.compile(r"\s*(?:the|an?|its|their|our|his|her|this|that|it|he|she)\b", re.IGNORECASE)
_BARE_PREDICATE = re.compile(
    r"\s*(?:also |then )?(?:(?:is|are|was|were|has|have|had|will|would|can|could|may|might|must|shall|should|does|did|"
    rf"do|[a-z]{{2,}}ed|{IRREGULAR_PASTS})\b|[$€£]?\s?\d|in (?:19|20)\d\d)"
)
_LEADING = re.compile(
    r"\s*(?:in|during|at|as of|for|on|since|by|following|after|before|under|upon|until|excluding|including)\b"
    r"[^,]{1,60},\s*"
    r"|\s*in (?:(?:fiscal )?(?:19|20)\d\d|january|february|march|april|may|june|july|august|september|october|november"
    r"|december)\s+(?=[^\W\d])",
    re.IGNORECASE,
)
_PRONOUNS = frozenset({"i", "we", "you", "he", "she", "it", "they", "there", "this", "these", "that", "those"})


def is_bare_predicate(part: str) -> bool:
    """Return whether the part begins with a verb or figure and has no subject of its own."""
    return _BARE_PREDICATE.match(part) is not None


def lead_in(text: str) -> str:
    """Return the period or place that introduces a statement: "In 2031, "."""
    lead = _LEADING.match(text)
    return lead[0] if lead else ""


def move_lead_in_to_end(text: str) -> str:
    """Move an introducing period or place to the end: "Tolls rose in 2031"."""
    lead = lead_in(text)
    return f"{text[len(lead) :].rstrip(' .')} {lead.strip(' ,')}" if lead else text


def _is_statement(part: str) -> bool:
    """Return whether the part has a subject and a predicate with content."""
    verb = finite_verb(part)
    if verb is None:
        return False
    said = analyze(part[verb.start() :])
    return bool(said.content or said.numbers)


def finite_verb(text: str) -> re.Match[str] | None:
    """Return the first finite verb with a subject before it."""
    start = len(lead_in(text))
    patterns = [_FINITE, _PRESENT] if _DETERMINED.match(text, start) else [_FINITE]
    for verb in (verb for pattern in patterns for verb in pattern.finditer(text, start)):
        subject = analyze(text[start : verb.start()])
        if subject.content or subject.folded & _PRONOUNS:
            return verb
    return None
