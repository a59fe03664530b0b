"""Make claims from questions and the passages that answer them.

A question with an answer is a claim in other words than the passage has. With an answer to another question about the
same passage, or with a passage that does not answer, it is one that is not entailed.
"""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

Row = Mapping[str, Any]

ENTAILED, NOT_ENTAILED = "entailment", "not_entailment"
ENTAILED_SHARE = 0.45
OTHER_ANSWER = 0.65
"""Share of the claims that are not entailed whose answer is another one; others have evidence without the answer."""

AS_QUESTION = 0.25
"""Share of the claims that stay a question with its answer, where they could be a statement."""

MAX_BESIDE = 4
"""Most sentences before and after the one that answers."""

_SUBJECT = re.compile(
    r"^(?:Who|What|Which(?: of (?:the|these)(?: \w+)?)?|(?:What|Which) (?:\w+ ){1,3}?)\s*"
    r"(?=(?:[a-z]+(?:ed|es|s)|led|won|made|wrote|became|built|gave|took|held|began|said|ran|sold|had|has|can|could|will"
    r"|would|may|must|should|did not|does not|do not)\b)(?P<rest>.+?)\??$"
)
_COUNTED = re.compile(
    r"^How (?:many|much) (?P<rest>(?:\w+ ){1,3}?(?:are|were|have|had|live[ds]?|died|[a-z]+ed)\b.+?)\??$"
)
_IS = re.compile(r"^(?:What|Who|Which) (?P<verb>is|was|are|were) (?P<rest>(?!the name of\b)[^,]+?)\??$")
_NAMED = re.compile(r"^What (?P<verb>is|was) the name of (?P<rest>[^,]+?)\??$")
_PARTICIPLE = re.compile(r"^[\w',\- ]*?\b(?:[a-z]+ed|known|made|held|built|given|taken|found|said|born|called)\b")
_AUXILIARY = re.compile(r"^(?:is|was|are|were|did|does|do)\b")
_INVERTED = re.compile(
    r"^(?:(?P<in>In|On|At|By|From|For|To|With|During|Since|Until|Under|Through|Of|After|Before|Into) )?"
    r"(?P<asked>(?:what|which|whom|where|when|who)(?: (?!did|does|do|was|were|is|are|has|have|can|could|will|would)"
    r"[\w-]+){0,3}?) (?P<verb>did|does|do|was|were|is|are|has|have|can|could|will|would) (?P<rest>.+?)\??$",
    re.IGNORECASE,
)
_LAST = re.compile(
    r"^(?P<rest>.*\b(?:of|in|by|to|for|from|with|on|at|as|is|was|are|were|called)) (?:what|whom|which)(?: \w+)?\??$"
)
_PERFECT_OR_PASSIVE = frozenset({"was", "were", "is", "are", "has", "have", "had"})
_SENTENCE_END = re.compile(r"[.!?][\"”)]* +(?=[A-Z\"“(])")
_YEAR = re.compile(r"(?:1\d|20)\d\d$")
_MONTH = re.compile(r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* \d")
LEAST_SEEN = 5


class Claim(NamedTuple):
    evidence: str
    text: str
    label: str


class Statements:
    """Turns questions with answers into statements; knows verbs and participles from the texts it has read."""

    def __init__(self, texts: Iterable[str]) -> None:
        verbs, participles, others = Counter[str](), Counter[str](), Counter[str]()
        for text in texts:
            words = re.findall(r"[A-Za-z]+", text.lower())
            for one, word in pairwise(words):
                if one in ("to", "will", "would", "can", "could", "must", "should", "did", "not"):
                    verbs[word] += 1
                elif one in ("was", "were", "been", "be", "is", "are"):
                    participles[word] += 1
                elif one in ("the", "a", "an", "of", "in", "his", "its", "their", "and"):
                    others[word] += 1
        self._verbs = {word for word, count in verbs.items() if count >= LEAST_SEEN and count > others[word]}
        self._participles = {
            word
            for word, count in participles.items()
            if count >= LEAST_SEEN and word.endswith(("ed", "en")) and count > others[word] / 2
        } | {
            "known",
            "made",
            "held",
            "built",
            "found",
            "born",
            "sold",
            "sent",
            "led",
            "won",
            "said",
            "set",
            "put",
            "located",
        }

    def of(self, question: str, answer: str) -> str | None:
        """Return a question with its answer as one sentence; None if it has a form that is not known here."""
        answer = answer.strip(" .")
        capital = answer[:1].upper() + answer[1:]
        asked = " ".join(question.split())
        if m := _NAMED.match(asked):
            return f"The name of {m['rest']} {m['verb']} {answer}."
        if m := _LAST.match(asked):
            return f"{m['rest']} {answer}."
        if m := _IS.match(asked):
            if _PARTICIPLE.match(m["rest"]):  # "Who was elected in 1990?"
                return f"{capital} {m['verb']} {m['rest']}."
            rest = m["rest"][0].upper() + m["rest"][1:]
            return f"{rest} {m['verb']} {answer}." if m["rest"].startswith(("the ", "a ", "an ")) else None
        if m := _COUNTED.match(asked):
            return f"{capital} {m['rest']}."
        if m := _INVERTED.match(asked):
            return self._inverted(m, answer)
        if (m := _SUBJECT.match(asked)) and not _AUXILIARY.match(m["rest"]):
            return f"{capital} {m['rest']}."
        return None

    def straighten(self, verb: str, rest: str, end: str) -> str | None:
        """Put the verb behind its subject: "did", "Rome fall", "in 476" becomes "Rome did fall in 476."."""
        words = rest.split()
        known = self._participles if verb in _PERFECT_OR_PASSIVE else self._verbs
        place = next((place for place in range(1, len(words)) if words[place].lower() in known), None)
        if place is None:
            return None
        said = " ".join(filter(None, [*words[:place], verb, *words[place:], end]))
        return f"{said[0].upper()}{said[1:]}."

    def _inverted(self, m: re.Match[str], answer: str) -> str | None:
        """Return the statement of an inverted question, with a preposition before the answer if it needs one."""
        before, asked = (m["in"] or "").lower(), m["asked"].lower()
        if answer.lower().startswith(("in ", "on ", "at ", "by ", "from ", "during ", "since ", "to ")):
            before = ""
        elif not before and asked in ("when", "what year", "which year") and _YEAR.match(answer):
            before = "in"
        elif not before and asked == "when" and _MONTH.match(answer):
            before = "on"
        elif not before and asked == "where":
            before = "in"
        return self.straighten(m["verb"].lower(), m["rest"], f"{before} {answer}".strip())


def kind_of(question: str) -> str:
    """Return the question word with what it asks for: "how many", "what year"."""
    m = re.search(r"\b(who|when|where|why|how (?:many|much|long|old)|how|(?:what|which) \w+)\b", question.lower())
    return m.group() if m else ""


def is_like(one: str, other: str) -> bool:
    """Return whether two answers look alike: both begin with a figure, a capital or a small letter."""

    def kind(text: str) -> str:
        return "9" if text[:1].isdigit() else "A" if text[:1].isupper() else "a"

    return kind(one) == kind(other)


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return where sentences start and end, roughly."""
    ends = [m.end() for m in _SENTENCE_END.finditer(text)] + [len(text)]
    return list(zip([0, *ends], ends, strict=False))


def claim_of(row: Row, others: Sequence[Row], statements: Statements, chance: random.Random) -> Claim | None:
    """Return a claim made from a question, with evidence and label.

    Args:
        row: with "question", "context", "start" and "end" of the answer, and "other", a passage that does not answer.
        others: the other questions about the same passage.
        statements: writes the claims.
        chance: decides.
    """
    text, answer = row["context"], row["context"][row["start"] : row["end"]]
    spans = sentences_of(text)
    own = next((place for place, span in enumerate(spans) if span[1] > row["start"]), 0)
    if spans[own][1] < row["end"]:
        return None
    first, last = _around(own, len(spans), chance)
    evidence = text[spans[first][0] : spans[last][1]].strip()
    if chance.random() < ENTAILED_SHARE:
        return _claim(row, answer, evidence, ENTAILED, statements, chance)
    if chance.random() < OTHER_ANSWER:
        wrong = _other_answer(row, answer, others, evidence, chance)
        return _claim(row, wrong, evidence, NOT_ENTAILED, statements, chance) if wrong else None
    if row["other"] and chance.random() < 0.4:
        return _claim(row, answer, row["other"][:900].rpartition(" ")[0], NOT_ENTAILED, statements, chance)
    parts = [
        text[start:end] for place, (start, end) in enumerate(spans) if first - 1 <= place <= last + 1 and place != own
    ]
    left = " ".join(part.strip() for part in parts)
    if len(left) < 60 or answer.lower() in left.lower():
        return None
    return _claim(row, answer, left, NOT_ENTAILED, statements, chance)


def window(row: Row, chance: random.Random) -> str:
    """Return a few successive sentences of the passage of a question."""
    spans = sentences_of(row["context"])
    first, last = _around(chance.randrange(len(spans)), len(spans), chance)
    return row["context"][spans[first][0] : spans[last][1]].strip()


def _around(own: int, count: int, chance: random.Random) -> tuple[int, int]:
    return max(0, own - chance.randint(0, MAX_BESIDE)), min(count - 1, own + chance.randint(0, MAX_BESIDE))


def _other_answer(row: Row, answer: str, others: Sequence[Row], evidence: str, chance: random.Random) -> str | None:
    """Return the answer to another question, one that looks like the right one; mostly one that the evidence has."""
    told = [other["context"][other["start"] : other["end"]] for other in others]
    apart = [
        (other, kind_of(question["question"]) == kind_of(row["question"]))
        for question, other in zip(others, told, strict=True)
        if other.lower() not in answer.lower() and answer.lower() not in other.lower() and is_like(answer, other)
    ]
    found = [other for other, is_same in apart if is_same and other in evidence] or [other for other, _ in apart]
    near = [other for other in found if other in evidence] or found
    return chance.choice(near) if near else None


def _claim(row: Row, answer: str, evidence: str, label: str, statements: Statements, chance: random.Random) -> Claim:
    question = row["question"].strip()
    made = statements.of(question, answer) if chance.random() >= AS_QUESTION else None
    return Claim(evidence, made or f"{question} {answer[:1].upper() + answer[1:]}", label)
