"""Recognise questions that only all pages of a document answer: lists, counts and mentions of what its text says.

A count of things in the text ("how many penalties does the act name") is told from a figure that the text states ("how
many employees does the company have") by the verb or by the noun. Where neither decides, a search answers.
"""

import re

from rag.answering.extraction import lists
from rag.answering.tables.requested_figures import may_request_figure

_TEXT_NOUNS = r"""(?:
     (?:sub-?)?sections|(?:sub-?)?chapters|articles|clauses|paragraphs|schedules|appendi(?:x|c)es|annex(?:es|ures)|exhibits
    |definitions|tables|charts|equations|quizzes|case\sstudies|examples|exercises|diagrams|footnotes|citations
    |bullet\spoints|hypotheses|recommendations|findings
    |conclusions|requirements|obligations|duties|prohibitions|restrictions|exceptions|exemptions|exclusions|penalties
    |sanctions|offen[cs]es|warnings|cautions|precautions|risks?\sfactors|risks|principles|rules|criteria
    |procedures|functions|routines|subroutines|methods|commands|arguments|error\s(?:codes|messages)|topics|themes
    |Abschnitte|Kapitel|Artikel|Paragra(?:f|ph)en|Klauseln|Anhänge|Anlagen|Definitionen|Tabellen|Abbildungen|Beispiele
    |Fußnoten|Empfehlungen
    |Anforderungen|Pflichten|Verbote|Ausnahmen|Strafen|Bußgelder|Sanktionen|Warnhinweise|Warnungen|Risiken|Grundsätze
    |Prinzipien|Regeln|Kriterien|Verfahren|Funktionen|Routinen|Methoden|Befehle|Argumente|Fehlermeldungen|Themen
    )"""
"""What a text itself consists of or lays down: counted by reading, while a figure of anything else is stated."""

_STATED_NOUNS = (
    r"(?:employees|people|persons|workers|staff|shares|stores|customers|users|copies|pages|words|units|days|weeks|months"
    r"|years|hours|minutes|times|percent|dollars|euros|Mitarbeiter\w*|Beschäftigte\w*|Personen|Menschen|Aktien|Filialen"
    r"|Kunden|Seiten|Wörter|Tage|Wochen|Monate|Jahre|Stunden|Mal)"
)
_DOCUMENT = (
    r"(?:document|report|paper|file|filing|pdf|contract|agreement|lease|article|book|manual|guide|handbook|presentation"
    r"|letter|text|study|policy|thesis|act|law|regulation|statute|bill|directive|Dokument|Bericht|Vertrag|Text|Buch"
    r"|Handbuch|Anleitung|Studie|Gesetz|Verordnung|Richtlinie|Datei)"
)
_THIS = r"(?:the|this|that|your|my|our|das|dieses|der|dieser|die|diese|im|dem|diesem)"
_MENTIONED = (
    r"(?:mentioned|named|listed|enumerated|described|discussed|defined|cited|quoted|referenced|referred\sto|documented"
    r"|prescribed|laid\sdown|set\sout|proposed|recommended)"
)
_MENTIONS = (
    r"(?:mention|name|list|enumerate|describe|discuss|define|cite|quote|reference|refer\sto|prescribe|lay\sdown"
    r"|set\sout|propose|recommend)"
)
_GENANNT = (
    r"(?:genannt|erwähnt|aufgeführt|aufgezählt|aufgelistet|beschrieben|besprochen|definiert|zitiert|vorgeschlagen"
    r"|empfohlen)"
)
_NENNT = r"(?:nennt|erwähnt|beschreibt|definiert|zitiert|behandelt|empfiehlt|schlägt)"
_NOUNS = r"[^?]{1,80}?"
_NUMBER = (
    r"(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d{1,2}|zwei|drei|vier|fünf|sechs|sieben|acht|neun"
    r"|zehn|elf|zwölf)"
)
_POLITE = (
    r"(?:(?:please|bitte|kindly)\s)?(?:(?:can|could|would)\syou\s(?:please\s)?"
    r"|(?:kannst\sdu|können\ssie)\s(?:bitte\s)?(?:mir\s)?)?"
)

_LISTED = re.compile(
    rf"""{_POLITE}(?:
     (?:list|enumerate)\s(?:out\s)?(?:the|its|their|every|each|all|any|a(?:n)?\s(?:complete|full|exhaustive)\slist)\b
    |(?:name|give|show|tell|find|extract|collect|identify|compile|gather|write\sdown|provide|make|create|produce|quote
        |report|describe|explain)\s(?:me\s|us\s)?(?:all\b|every\s(?!year|month|quarter|day)|each\s(?!year|month|quarter|day)|any\sand\sall\b
        |an?\s(?:complete\s|full\s|exhaustive\s)?list\sof\b|the\s(?:complete|full|exhaustive|entire)\slist\sof\b)
    |(?:what|which)\sare\s(?:all\b|each\b|the\s{_NUMBER}\s(?!months?\b|years?\b|quarters?\b|weeks?\b|days?\b))
    |(?:all|every|each)\s(?:the\s)?(?:mentions?|occurrences?|references?|instances?)\s(?:of|to)\b
    |(?:nenne|nennen\ssie|liste|listen\ssie|zähle|zählen\ssie|gib|geben\ssie|zeige?|zeigen\ssie|finde
        |finden\ssie|suche|sammle|beschreibe)\s(?:mir\s|uns\s|bitte\s)*(?:alle[nrs]?|sämtliche[nrs]?|jede[nrs]?
        |eine\s(?:vollständige\s)?(?:liste|aufzählung|aufstellung))\b
    |(?:alle|sämtliche)\s{_NOUNS}\s(?:nennen|auflisten|aufzählen|zeigen|geben|beschreiben)$
    |(?:was|welche[s]?)\ssind\s(?:alle|sämtliche|die\s{_NUMBER}\s(?!monate|jahre|quartale|wochen|tage))
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""The beginning of a request for a list that is to be complete."""

_ALL = re.compile(r"\b(?:all|every|each|complete|full|alle[nrs]?|sämtliche\w?|jede\w?)\b", re.IGNORECASE)

_MENTIONED_THINGS = re.compile(
    rf"""(?:what|which|how\smany|who)\s{_NOUNS}\s(?:
     (?:are|were|is\severything|have\sbeen)\s(?:\w+ly\s)?{_MENTIONED}\b
    |(?:do|does|did)\s(?:{_NOUNS}\s)?(?<!\bthe\s)(?<!\bthis\s){_MENTIONS}\b
    )
    |(?:welche|wie\sviele|wieviele)\s{_NOUNS}\s(?:
     (?:werden|wurden|sind)\s(?:{_NOUNS}\s)?{_GENANNT}\b
    |{_NENNT}\s{_THIS}\s
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""Things that the text says something of, also how many."""

_SINGLE = re.compile(
    r"(?:what|which)\s(?:[\w-]+\s){0,3}?(?:year|date|number|amount|page|section|name|person)\s(?:do|does|did)\b",
    re.IGNORECASE,
)

_COUNTED = re.compile(
    rf"""(?:how\smany|wie\sviele|wieviele)\s(?:
     (?:[\w'’/-]+\s){{0,4}}?{_TEXT_NOUNS}(?![\w-])
    |(?!(?:[\w'’/-]+\s){{0,4}}?{_STATED_NOUNS}\b)(?:[\w'’/-]+\s){{1,5}}?(?:
         (?:are|were)\s(?:(?:there|included|contained|found)\s)?(?:in|inside|within|throughout|across)\s{_THIS}\s(?:[\w-]+\s){{0,2}}?{_DOCUMENT}\b
        |(?:do|does)\s{_THIS}\s(?:[\w-]+\s){{0,2}}?{_DOCUMENT}\s(?:have|contain|include|give|provide|cover)\b
        |(?:gibt\ses|stehen|sind)\s(?:in\s)?{_THIS}\s(?:[\w-]+\s){{0,2}}?{_DOCUMENT}
        |(?:hat|enthält|umfasst)\s{_THIS}\s(?:[\w-]+\s){{0,2}}?{_DOCUMENT}
        )
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""A count of parts of the text, or of things in "the document"."""

_PERIOD = re.compile(
    r"\b(?:(?:19|20)\d\d|FY\s?\d\d|Q[1-4]|quarter|fiscal|per\s(?:year|month|day)|annually)\b", re.IGNORECASE
)
"""What is counted for a period is a figure that the text states."""


def asks_whole_document(question: str) -> bool:
    """Return whether `question` asks for all that a document says of something; summaries are recognised elsewhere."""
    text = " ".join(question.split()).strip(" ¿?.!")
    if lists.may_ask_signers(text) and lists.asks_signers(text):
        return False
    if _SINGLE.match(text):
        return False
    if _MENTIONED_THINGS.match(text):
        return not _PERIOD.search(text)
    if _LISTED.match(text):
        return _ALL.search(text) is not None or not may_request_figure(text)
    return _COUNTED.match(text) is not None and not _PERIOD.search(text)
