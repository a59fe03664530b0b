"""Extract the statement of an answer's sentence that a source can be asked to prove."""

import re

from rag import prompts, types
from rag.answering.text.analyzed_text import Text
from rag.answering.text.answer_sentences import markdown_row, strip_markup
from rag.answering.text.markup import CITATION_MARK
from rag.answering.text.normalized_text import normalize

_SENTINEL = normalize(prompts.NOT_FOUND_SENTINEL).text.rstrip(".")

_DOCUMENTS = (
    r"(?:(?:the|these|this|any of the|my|your|provided|given|available|supplied|retrieved|cited|above|uploaded)"
    r"\s+){0,6}"
    r"(?:documents?|sources?|context|passages?|excerpts?|texts?|materials?|reports?|files?|pages?|information|content|"
    r"sections?|filings?|library|data)"
)
_TELL = (
    r"(?:mention|contain|provide|state|specify|include|say|disclose|cover|give|address|list|discuss|answer|reveal|"
    r"indicate|describe|offer|report|show|identify|explain|tell|refer|name|hold|have)"
)
_TOLD = (
    r"(?:mentioned|contained|provided|stated|specified|included|disclosed|covered|given|addressed|listed|discussed|"
    r"answered|revealed|indicated|described|reported|shown|identified|found|available|present|named)"
)
_REFUSAL = re.compile(
    "|".join(
        [
            rf"\b{_DOCUMENTS}\b[^.]{{0,60}}?\b(?:do|does|did|doesn|don|didn)(?:['’]t| not)\b[^.]{{0,25}}?\b{_TELL}\b",
            rf"\b{_DOCUMENTS}\b[^.]{{0,60}}?\b(?:contains?|have|has|holds?|provides?|gives?|includes?|makes?) no\b",
            (
                rf"\b(?:is|are|was|were|isn|aren|wasn|weren)(?:['’]t| not)\b(?: \w+){{0,2}} {_TOLD}\b[^.]{{0,40}}"
                rf"\b(?:in|by|from|within) {_DOCUMENTS}\b"
            ),
            (
                r"\b(?:I|we)(?:\s\w+)? (?:could not|cannot|can not|can['’]?t|couldn['’]t|am unable to|was unable to|"
                r"am not able to|was not able to|are unable to) "
                r"(?:find|answer|determine|locate|tell|say|provide|see|identify)"
            ),
            r"\bI (?:do not|don['’]t) (?:have|know|see|find)\b",
            r"\bI (?:did not|didn['’]t) find\b|\bI (?:found|have) no\b",
            r"\b(?:there (?:is|are|was|were) no|there isn['’]t|no) (?:\w+ ){0,3}?(?:information|mention|details)\b",
            r"\b(?:cannot|can['’]t|could not|couldn['’]t) be (?:answered|determined|found|established|derived)\b",
            r"\b(?:unable|impossible|not possible) to (?:answer|determine|find|say|tell|locate|provide)\b",
            r"\binsufficient (?:information|context)\b",
            r"\b(?:Dokument\w*|Quell\w*|Unterlagen|Kontext|Auszüg\w*)\b[^.]{0,80}\b(?:nicht|keine?n?)\b",
            r"\b(?:ich (?:konnte|kann|habe)|wir (?:konnten|können))\b[^.]{0,80}\b(?:nicht|keine?n?)\b",
            r"\b(?:documents?|sources?|contexte|textes?)\b[^.]{0,60}\bn(?:e |['’])\w+[^.]{0,20}\b(?:pas|aucune?)\b",
            r"\bje (?:ne|n['’])\b[^.]{0,40}\b(?:pas|aucune?|rien)\b",
            r"\b(?:documentos?|fuentes?|contexto|textos?|fragmentos?)\b[^.]{0,40}\bno \w+",
            r"\bno (?:he|pude|puedo|encuentro|encontré|hay información|se (?:menciona|indica|especifica))\b",
            r"\b(?:documenti|fonti|contesto|testi?)\b[^.]{0,40}\bnon \w+",
            r"\bnon (?:ho|posso|trovo|è|si)\b[^.]{0,60}\b(?:trovat\w*|menzionat\w*|specificat\w*|informazion\w*)",
        ]
    ),
    re.IGNORECASE,
)
"""Phrases by which models say that the sources do not contain the answer: English and the commonest of others."""

_OFFER = re.compile(
    r"\s*(?:let me know|please let me|feel free|if you (?:need|would like|want|have)|would you like|happy to help|"
    r"i hope this|sure[,!.]|certainly[,!.]|of course[,!.]|here (?:is|are)\b|below (?:is|are)\b|"
    r"the following|to answer your question|please (?:provide|consult|check|see|note that i))",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"\s*(?:according to|as (?:stated|reported|shown|noted|described|mentioned) (?:in|by)|based on|per|from|in) "
    rf"{_DOCUMENTS}(?: \[?S?\d+\]?)?(?: (?:provided|above|given))?\s*,\s*|\s*{_DOCUMENTS} "
    r"(?:states?|says?|shows?|reports?|notes?|mentions?|indicates?|confirms?|discloses?)(?: clearly)? that\s+|"
    r"\s*(?:it is (?:stated|reported|noted|mentioned)|note|please note|specifically|in (?:summary|short|fact|addition|"
    r"particular|total|conclusion|other words)|overall|to summari[sz]e|in brief)\s*[,:]?\s+(?:that\s+)?|"
    r"\s*(?:yes|no|answer|ja|nein|oui|non|sí)\s*(?:[,:!–—-]|\.(?=\s+[^\W\d_]))\s+",
    re.IGNORECASE,
)
_BARE_REPLY = re.compile(
    r"\W*(?:(?:short |final )?answer\W+|antwort\W+|réponse\W+)?"
    r"(?:yes|no|ja|nein|nee|oui|non|sí|si|sì|sim|não|да|нет|是的?|否|不是|はい|いいえ)\W*",
    re.IGNORECASE,
)
_ENDS_OPEN = re.compile(
    r"\b(?:is|are|was|were|has|have|had|includes?|including|follow(?:s|ing)?|below|that|sind|ist|war(?:en)?|hat|haben|lauten?|"
    r"folgende[rns]?|sont|est|suivante?s?|son|es|siguientes?|sono|è|seguenti|zijn|são|como segue)\s*:$",
    re.IGNORECASE,
)
"""The end of an announcement: what it says stands below."""

_SAYS_KIND = {
    types.BlockKind.STRUCK: re.compile(
        r"\b(?:str(?:uck|icken|ike)[\s-]?(?:out|through)|crossed[\s-]out|redlined|deleted|deletion|(?:durch|aus)?gestrichen\w*"
        r"|gelöscht\w*|barrée?s?|biffée?s?|tachad[oa]s?)\b",
        re.IGNORECASE,
    ),
    types.BlockKind.HIDDEN: re.compile(
        r"\b(?:(?:is|are|was|were|been|being)\s+(?:hidden|concealed)|hidden\s+(?:text|words?|lines?|sentences?|passages?)"
        r"|invisibl[ey]|not\s+visible|(?:nicht\s+|un)sichtbar\w*|(?:ist|sind|war|waren)\s+(?:verborgen|versteckt)"
        r"|versteckte\w*\s+text\w*)\b",
        re.IGNORECASE,
    ),
}


def said_kinds(statement: str) -> list[types.BlockKind]:
    """Return which kinds of invalid text a statement speaks of: struck out, hidden."""
    return [kind for kind, pattern in _SAYS_KIND.items() if pattern.search(statement)]


def checkable_statement(sentence: types.Sentence, answer: str = "") -> str:
    """Return the statement of a sentence of `answer` as it is compared with quotes; "" if it states nothing."""
    answer = answer or sentence.text
    blank = CITATION_MARK.sub(lambda mark: " " * len(mark.group()), answer)
    before, after = blank[: sentence.start], blank[sentence.end :]
    row = markdown_row(blank.split("\n"), before.count("\n"))
    if row is not None:
        return row
    text = sentence.text
    if not sentence.citation_ids and is_bare_reply(text):  # the sentences after it give the facts
        return ""
    if sentence.citation_ids and text.endswith(":") and not _ENDS_OPEN.search(text):  # "It has two segments [S1]:"
        text = text.removesuffix(":")
    return strip_lead_ins(text) if is_checkable(text, before, after) else ""


def is_bare_reply(statement: str) -> bool:
    """Return whether a statement is only "Yes" or "No", which any page may have beside a box to tick."""
    return _BARE_REPLY.fullmatch(statement) is not None


def strip_lead_ins(sentence: str) -> str:
    """Return `sentence` without markup and lead-ins such as "According to the report, …"; formulas as plain text."""
    bare = strip_markup(sentence)
    while (lead := _LEAD_IN.match(bare)) and lead.end() < len(bare) and Text(bare[lead.end() :]).content:
        bare = bare[lead.end() :]
    return bare


def is_refusal(sentence: str) -> bool:
    """Return whether a sentence says that the sources do not contain what was asked."""
    return _SENTINEL in normalize(sentence).text or _REFUSAL.search(sentence) is not None


def is_checkable(sentence: str, before: str = "", after: str = "") -> bool:
    """Return whether a source could prove `text`; `before` and `after` surround it in the answer.

    Headings, questions, announcements ("The figures are:") and offers state nothing.
    """
    text = strip_markup(sentence)
    line = before.rsplit("\n", 1)[-1]
    if re.match(r"\s*#{1,6}\s", line) or text.endswith(("?", "？")):
        return False
    if text.endswith(":") and not after.split("\n", 1)[0].strip():
        return False
    is_bold_line = re.fullmatch(r"\s*(?:\*\*|__)[^*]+(?:\*\*|__):?\s*", line + sentence) is not None
    if (is_bold_line and not re.search(r"[.!]\s*(?:\*\*|__)", sentence)) or _OFFER.match(text):
        return bool(Text(text).numbers) and not is_bold_line
    made = Text(text)
    return bool(made.content or made.numbers)
