"""Answer who signed and who the directors are by the signatures of a document."""

import re
from collections.abc import Sequence

from rag import types
from rag.answering.extraction.lists import MAX_SHORT_ITEMS, FoundList
from rag.answering.extraction.summary import KeySentence
from rag.answering.passages.signatures import SIGNING, signatures
from rag.answering.text import term_weights
from rag.answering.text.sentences import one_line

_MAY_ASK = re.compile(r"\b(?:sign\w*|executed|unter(?:schrieben|zeichnet)|directors|board)\b", re.IGNORECASE)
_SIGNED_THING = r"(?:report|document|filing|contract|agreement|lease|form|10-?[kq]|8-?k|indenture|amendment|letter|it)"
_ASKS_SIGNERS = re.compile(
    rf"""(?:by\s+whom|who)\s+(?:(?:all|has|have|was|were|is)\s+)*(?:signed|executed)
    (?:\s+(?:the|this|that|annual|quarterly|form|merger|loan|credit|licen[cs]e|['’]s))*(?:\s+{_SIGNED_THING})*
    (?:\s+(?:for|on\s+behalf\s+of)(?:\s+(?P<party>.+))?)?
    |(?:who\s+are|list|name)\s+(?:all\s+)?(?:the\s+)?(?:signatories|signers)(?:\s+(?:of|to)(?:\s+(?:the|this))?(?:\s+{_SIGNED_THING})?)?
    |(?:wer\s+hat|von\s+wem\s+(?:wurde|ist))\s+(?:den|die|das|der|diese[nrms]?)\s+\w+\s+(?:unterschrieben|unterzeichnet)""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKS_DIRECTORS = re.compile(
    r"""(?:who\s+(?:are|is|sits|serves)(?:\s+on)?|list|name)\s+(?:(?:all|of|the|its|our|their|current|['’]s|company(?:['’]s)?)\s+)*
    (?:members\s+of\s+(?:the\s+)?board(?:\s+of\s+directors)?|board(?:\s+members|\s+of\s+directors)?|directors)
    (?:\s+(?:of|at)(?:\s+the)?(?:\s+(?:company|group|firm|registrant))?)?""",
    re.IGNORECASE | re.VERBOSE,
)
_DIRECTOR = re.compile(
    r"""(?<!managing\s)\bdirector\b(?!\s+(?:of|for)\b)(?!\s*,\s*(?!(?:president|chief|chair|vice|executive|principal)\b)[a-z])
    |\bchair(?:man|woman|person)?\b|\bmember\s+of\s+the\s+board\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""The office of a member of the board, unlike a director of a department."""


def may_ask_signers(question: str) -> bool:
    """Return whether `question` may be one for signers; quick, so that documents are looked up for few."""
    return _MAY_ASK.search(question) is not None


def asks_signers(question: str) -> bool:
    """Return whether `question`, without names of documents, asks who signed or who the directors are."""
    return (_match(_ASKS_SIGNERS, question) or _match(_ASKS_DIRECTORS, question)) is not None


def find_signers(chunks: Sequence[types.Chunk], question: str) -> FoundList | None:
    """Return the signatures that answer `question`, or None without any; `chunks` are all of a document in order.

    Each signer is shown once, under the party that is named above the first signature.
    """
    of_directors, asked = _match(_ASKS_DIRECTORS, question) is not None, _match(_ASKS_SIGNERS, question)
    asked_party = {*term_weights.words((asked and asked["party"]) or "")}
    signed: dict[str, KeySentence] = {}
    party = ""
    for chunk in chunks:
        for unit in signatures(chunk):
            text = chunk.text[slice(*unit.span)]
            named = one_line(chunk.text[slice(*unit.section)]) if unit.section else ""
            party = named or party
            is_asked = asked_party <= {*term_weights.words(party)} and (not of_directors or _DIRECTOR.search(text))
            if is_asked:
                names = " ".join(SIGNING.split(text.split("\n")[0].split("\t")[0])).strip().casefold()
                signed.setdefault(names, KeySentence(chunk, unit.span, named))
    return FoundList([*signed.values()][:MAX_SHORT_ITEMS], len(signed)) if signed else None


def _match(pattern: re.Pattern[str], question: str) -> re.Match[str] | None:
    return pattern.fullmatch(" ".join(question.split()).strip(" ¿?.!"))
