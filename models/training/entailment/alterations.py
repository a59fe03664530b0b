"""Make claims from a sentence by script: some say the same or less, others change one thing and are not entailed.

Pairs that people wrote rarely differ from their evidence in one word only; answers of language models do. A model
without such pairs takes nearly the same words for the same meaning.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence

ENTAILED, NOT_ENTAILED = "entailment", "not_entailment"
ENTAILED_SHARE = 0.45
REWORDED = 0.35
"""Share of claims that are not entailed, but are reworded as well."""
EXCHANGED = 0.4
"""Share of claims with two names in which these change places."""
MAX_REWORDED = 2
MIN_KEPT_CHARS = 40
MAX_SYNONYMS = 3
CLOSEST_SYNONYMS = 2

_OPPOSITES = """
increase decrease|increased decreased|increases decreases|increasing decreasing|rose fell|rise fall|rising falling|
grew shrank|growth decline|higher lower|high low|highest lowest|more fewer|more less|most least|largest smallest|
larger smaller|large small|big small|greater smaller|longer shorter|long short|longest shortest|earlier later|
early late|before after|first last|older younger|oldest youngest|old new|best worst|better worse|good bad|strong weak|
stronger weaker|won lost|win lose|winning losing|opened closed|open closed|began ended|begin end|began stopped|
started finished|start end|bought sold|buy sell|purchased sold|acquired sold|joined left|entered left|born died|
accepted rejected|accept reject|approved rejected|agreed refused|allowed forbidden|allow forbid|permitted prohibited|
included excluded|including excluding|includes excludes|inside outside|above below|over under|up down|north south|
northern southern|east west|eastern western|male female|man woman|men women|boy girl|son daughter|brother sister|
father mother|husband wife|public private|domestic foreign|national international|major minor|positive negative|
successful unsuccessful|success failure|succeeded failed|possible impossible|common rare|popular unpopular|
same different|similar different|similar unlike|with without|for against|supported opposed|support oppose|
always never|often rarely|frequently rarely|usually seldom|everyone nobody|all none|both neither|many few|
majority minority|maximum minimum|gained lost|gain loss|profit loss|hired dismissed|appointed dismissed|
married divorced|arrived departed|import export|imported exported|raised lowered|raise lower|
expanded reduced|expand reduce|improved worsened|improve worsen|single married|alive dead|rich poor|fast slow|
hot cold|white black|left right|front back|upper lower|
previous next|former current|permanent temporary|legal illegal|true false|complete incomplete|easy difficult|
internal external|direct indirect|mandatory optional|required optional|must may|present absent|present past
"""
_STRONGER = (
    ("some", "all"),
    ("many", "all"),
    ("most", "all"),
    ("several", "all"),
    ("often", "always"),
    ("usually", "always"),
    ("sometimes", "always"),
    ("may", "will"),
    ("might", "will"),
    ("could", "will"),
    ("can", "must"),
    ("or", "and"),
    ("nearly", "exactly"),
    ("about", "exactly"),
    ("approximately", "exactly"),
    ("almost", "more than"),
    ("at least", "at most"),
    ("at most", "at least"),
    ("more than", "less than"),
    ("less than", "more than"),
    ("over", "under"),
    ("up to", "more than"),
    ("planned to", "managed to"),
    ("plans to", "managed to"),
    ("tried to", "managed to"),
    ("wanted to", "managed to"),
    ("expected to", "known to"),
    ("believed to", "known to"),
    ("alleged", "proven"),
    ("allegedly", "demonstrably"),
    ("reportedly", "certainly"),
    ("probably", "certainly"),
    ("possibly", "certainly"),
    ("partly", "wholly"),
    ("mainly", "only"),
    ("primarily", "only"),
    ("mostly", "only"),
    ("one of the", "the"),
    ("part of", "all of"),
    ("until", "since"),
    ("since", "until"),
    ("during", "after"),
    ("before", "after"),
    ("after", "before"),
    ("because of", "despite"),
    ("despite", "because of"),
    ("although", "because"),
    ("because", "although"),
    ("if", "because"),
    ("unless", "if"),
    ("a few", "most"),
    ("half", "all"),
)
_WEAKER = (
    ("all", "some"),
    ("always", "sometimes"),
    ("will", "may"),
    ("must", "may"),
    ("exactly", "about"),
    ("largest", "larger"),
    ("most of", "some of"),
    ("bought", "acquired"),
    ("began", "started"),
    ("approximately", "about"),
    ("about", "roughly"),
    ("also", ""),
    ("however, ", ""),
    ("additionally, ", ""),
    ("purchased", "bought"),
    ("located", "situated"),
    ("situated", "located"),
    ("received", "got"),
    ("became", "turned into"),
    ("died", "passed away"),
    ("wrote", "authored"),
    ("because", "since"),
    ("over", "more than"),
    ("more than", "over"),
    ("however", "though"),
    ("many", "numerous"),
    ("several", "a number of"),
    ("started", "began"),
    ("film", "movie"),
    ("released", "put out"),
    ("reduced", "cut"),
    ("increased", "went up"),
    ("decreased", "went down"),
    ("rose", "went up"),
    ("fell", "went down"),
    ("former", "ex-"),
    ("annually", "every year"),
    ("each year", "annually"),
    ("married", "wed"),
    ("approved", "gave its approval to"),
)
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|will|would|can|could|should|must|did|does|do|may|might)\b(?! not\b|n['’]t)"
)
_NEGATED = re.compile(r"\b(is|are|was|were|has|have|had|will|would|can|could|should|must|did|does|do) not\b")
_PAST = re.compile(
    r"(?<=[a-z] )(?!need|seed|feed|speed)([a-z]{3,}ed)\b(?= (?:the|a|an|in|to|on|at|his|her|its|their|for)\b)"
)
_NUMBER = re.compile(r"(?<![\w.,/-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w/-]|[.,]\d)")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")
_LEAD = re.compile(r"^(In|On|During|Since|After|Before|At|By|From) ([^,]{3,40}), (?=[A-Za-z])")
_APPOSITION = re.compile(r", (?:a|an|the|who|which|where|whose) [^,.]{5,90},(?= )")
_BRACKET = re.compile(r" ?\([^()]*\)")
_TAIL = re.compile(r",? (?:in|on|during|since|after|before|at|by|from|for|with|as|to) [^,.;]{3,60}\.$")
_PREDICATE = re.compile(r"(?:was|were|is|are|has|had|the|it|he|she|they|[a-z]+ed)\b")
_RESTRICTED = re.compile(r"\b(?:not|no|never|if|only|unless|without)\b")
_COMMON_STARTS = frozenset({"The", "A", "An", "It", "He", "She", "They", "In"})
_NAME = re.compile(
    r"[A-Z][\w'-]*(?:\.(?= [A-Z]))?(?: (?:of |the |de |and the )?[A-Z][\w'-]+)*|(?<![\d.,$-])\d[\d,.]*\d\b"
)
_AND = re.compile(r",? (?:and|but|while) ")


def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in _OPPOSITES.replace("\n", "").split("|"):
        one, other = pair.split()
        found.setdefault(one, []).append(other)
        found.setdefault(other, []).append(one)
    return found


OPPOSITES = _table()


def _sentences(text: str) -> list[str]:
    """Return the whole sentences of usual length."""
    return [s for s in _SENTENCE.split(text.strip()) if 25 <= len(s) <= 320 and s[-1] == "." and s[0].isupper()]


def _replace(text: str, old: str, new: str, chance: random.Random) -> str | None:
    found = list(re.finditer(rf"(?<![\w-]){re.escape(old)}(?![\w-])", text))
    if not found:
        return None
    at = chance.choice(found)
    return f"{text[: at.start()]}{new}{text[at.end() :]}".replace("  ", " ")


def _oppose(text: str, chance: random.Random) -> str | None:
    """Replace a word by its opposite."""
    words = [m for m in re.finditer(r"[a-z]+", text) if m.group() in OPPOSITES]
    if not words:
        return None
    m = chance.choice(words)
    return text[: m.start()] + chance.choice(OPPOSITES[m.group()]) + text[m.end() :]


def _negate(text: str, chance: random.Random) -> str | None:
    """Add or remove a negation."""
    if m := _NEGATED.search(text):
        return text[: m.start()] + m.group(1) + text[m.end() :]
    found = list(_AUXILIARY.finditer(text))[:2]
    if found:
        m = chance.choice(found)
        return f"{text[: m.end()]} not{text[m.end() :]}"
    if m := _PAST.search(text):
        verb = m.group(1)
        base = verb[:-1] if verb[-3:-2] in "vsczgtbmkdl" and verb[:-2][-1] not in "nrlstd" else verb[:-2]
        return f"{text[: m.start()]}did not {base}{text[m.end() :]}"
    return None


def _strengthen(text: str, chance: random.Random) -> str | None:
    """Replace a word by one that says more, or something else about time, cause or amount."""
    order = list(_STRONGER)
    chance.shuffle(order)
    return next((made for old, new in order if (made := _replace(text, old, new, chance))), None)


def _change_figure(text: str, chance: random.Random) -> str | None:
    """Replace a figure or year by another."""
    found = list(_NUMBER.finditer(text))
    if not found:
        return None
    m = chance.choice(found)
    raw = m.group(1)
    value = float(raw.replace(",", ""))
    if _YEAR.fullmatch(raw):
        new = str(int(value) + chance.choice([-10, -3, -2, -1, 1, 2, 3, 10]))
    elif "." in raw:
        new = f"{value * chance.choice([0.5, 0.9, 1.1, 1.5, 10]):.{len(raw.split('.')[1])}f}"
    else:
        changed = max(int(value * chance.choice([0.5, 0.8, 1.2, 2, 10])), 0) + chance.choice([0, 1])
        new = f"{changed:,}" if "," in raw else str(changed)
    return None if new == raw else text[: m.start()] + new + text[m.end() :]


def swap_names(claim: str, evidence: str, chance: random.Random) -> str | None:
    """Exchange two names of `claim`, or replace a name or figure by another one of `evidence`."""
    own = _names(claim)
    words = [match for match in own if not match.group()[0].isdigit()]
    if len(words) > 1 and chance.random() < EXCHANGED:
        one, other = sorted(chance.sample(words, 2), key=re.Match.start)
        if _words(one.group()).isdisjoint(_words(other.group())):
            between = claim[one.end() : other.start()]
            return f"{claim[: one.start()]}{other.group()}{between}{one.group()}{claim[other.end() :]}"
    if not own:
        return None
    replaced = chance.choice(own)
    others = sorted(
        {
            match.group()
            for match in _names(evidence)
            if _is_like(match.group(), replaced.group()) and _words(match.group()).isdisjoint(_words(claim))
        }
    )
    return f"{claim[: replaced.start()]}{chance.choice(others)}{claim[replaced.end() :]}" if others else None


def _names(text: str) -> list[re.Match[str]]:
    """Return names and figures; a single word that begins a sentence may be any word and does not count."""

    def counts(match: re.Match[str]) -> bool:
        before = text[: match.start()].rstrip()
        return " " in match.group() or match.group()[0].isdigit() or (bool(before) and before[-1] not in '.!?:"”')

    return [match for match in _NAME.finditer(text) if counts(match)]


def _is_like(one: str, other: str) -> bool:
    """Return whether both are figures of the same length, or names of one word or several."""
    if one[0].isdigit() or other[0].isdigit():
        return one[0].isdigit() and other[0].isdigit() and len(one) == len(other)
    return (" " in one) == (" " in other)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def _cause(text: str, other: str) -> str:
    """Join two facts as cause and effect, which no source says."""
    first = other.partition(" ")[0]
    return f"{text.rstrip('.')} because {other[0].lower() if first in _COMMON_STARTS else other[0]}{other[1:]}"


def _add_detail(text: str, other: str) -> str | None:
    """Return a sentence with the end of another one."""
    tail = _TAIL.search(other)
    return f"{text.rstrip('.')}{tail.group().lstrip(',')}" if tail and tail.group().strip(" .,") not in text else None


def _drop_detail(text: str, chance: random.Random) -> str | None:
    """Return the sentence without an apposition, a bracket, its beginning, its end or its second half."""
    ways = [_APPOSITION.sub("", text, count=1), _BRACKET.sub("", text)]
    if lead := _LEAD.match(text):
        rest = text[lead.end() :]
        ways += [
            f"{rest[0].upper()}{rest[1:]}",
            f"{rest[0].upper()}{rest[1:].rstrip('.')} {lead[1].lower()} {lead[2]}.",
        ]
    if (joint := _AND.search(text, MIN_KEPT_CHARS)) and _PREDICATE.match(text, joint.end()):
        ways.append(f"{text[: joint.start()]}.")
    if not _RESTRICTED.search(text) and (tail := _TAIL.search(text)) and tail.start() > MIN_KEPT_CHARS:
        ways.append(f"{text[: tail.start()]}.")
    changed = [way for way in ways if way != text]
    return chance.choice(changed) if changed else None


def _reword(text: str, chance: random.Random) -> str | None:
    """Return the sentence with up to two words replaced by others that say the same or less."""
    made, count = text, 0
    for old, new in chance.sample(_WEAKER, len(_WEAKER)):
        if count < MAX_REWORDED and (changed := _replace(made, old, new, chance)):
            made, count = changed, count + 1
    return made if count else None


def alter(evidence: str, elsewhere: str, chance: random.Random) -> tuple[str, str] | None:
    """Return a claim made from a sentence of `evidence`, and its label; None if that sentence cannot be altered.

    `elsewhere` is a text about something else, whose details are not entailed.
    """
    own = _sentences(evidence)
    if not own:
        return None
    text = chance.choice(own)
    if chance.random() < ENTAILED_SHARE:
        made = _entailed(text, chance)
        return (made, ENTAILED) if made else None
    base = text
    if chance.random() < REWORDED:  # so that other words alone do not mean "entailed"
        base = _reword(text, chance) or text
    others, far = [one for one in own if one != text], _sentences(elsewhere)
    made = spoil(base, others, far, chance)
    return (made, NOT_ENTAILED) if made and made != text else None


def spoil(claim: str, others: Sequence[str], elsewhere: Sequence[str], chance: random.Random) -> str | None:
    """Return the claim with one change that its evidence does not entail; None if it cannot be changed so.

    Args:
        claim: what is entailed.
        others: other sentences of the evidence, or none.
        elsewhere: sentences about something else, or none.
        chance: decides.
    """
    ways: dict[Callable[[], str | None], float] = {
        lambda: _negate(claim, chance): 0.22,
        lambda: _oppose(claim, chance): 0.22,
        lambda: _strengthen(claim, chance): 0.18,
        lambda: _change_figure(claim, chance): 0.12,
        lambda: _cause(claim, chance.choice(others)) if others else None: 0.08,
        lambda: _add_detail(claim, chance.choice(elsewhere)) if elsewhere else None: 0.10,
        lambda: f"{claim.rstrip('.')}, and {elsewhere[0]}" if elsewhere else None: 0.08,
    }
    (way,) = chance.choices([*ways], [*ways.values()])
    made = way()
    return made if made != claim else None


def sentences(text: str) -> list[str]:
    """Return the sentences of a text that can be altered."""
    return _sentences(text)


def _entailed(text: str, chance: random.Random) -> str | None:
    roll = chance.random()
    if roll < 0.15:
        return text
    if roll < 0.6:
        return _drop_detail(text, chance)
    made = _reword(text, chance)
    return (_drop_detail(made, chance) or made) if made and chance.random() < 0.4 else made


def replace_synonyms(text: str, synonyms: Mapping[str, Sequence[str]], chance: random.Random) -> str:
    """Return the text with up to `MAX_SYNONYMS` of its words replaced by synonyms."""
    able = [match for match in re.finditer(r"\b[a-z]{4,}\b", text) if match.group() in synonyms]
    chosen = chance.sample(able, min(len(able), chance.randint(1, MAX_SYNONYMS)))
    for match in sorted(chosen, key=re.Match.start, reverse=True):
        other = chance.choice(synonyms[match.group()][:CLOSEST_SYNONYMS])
        text = f"{text[: match.start()]}{other}{text[match.end() :]}"
    return text
