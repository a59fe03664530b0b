"""The verdicts of an answer in words: a mark for each sentence, its reason, and one line for the whole answer.

The pages, exports, MCP and the command line say the same; `say` translates.
"""

import re
from collections import Counter
from collections.abc import Callable

from rag import types
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL
from rag.answering.text.markup import CITATION_MARK
from rag.messages import N_

Translate = Callable[[str], str]
"""A translation function for English words; `str` leaves them untranslated."""

MARKS = {
    types.Support.QUOTED: "✓",
    types.Support.SUPPORTED: "✓",
    types.Support.PARTLY: N_("◐ partly"),
    types.Support.NOT_STATED: N_("✗ not stated"),
    types.Support.NOT_VERIFIED: N_("? not verified"),
    types.Support.CONTRADICTED: N_("✗ contradicted"),
    types.Support.UNCITED: N_("? no source"),
}
"""The mark at the end of a sentence, legible without colour."""
REASONS = {
    types.Support.QUOTED: N_("These are the document's own words."),
    types.Support.SUPPORTED: N_("The sources say this."),
    types.Support.PARTLY: N_("The sources say only a part of this."),
    types.Support.NOT_STATED: N_("The sources do not say this."),
    types.Support.NOT_VERIFIED: N_("It could not be decided whether the sources say this. Read the page."),
    types.Support.CONTRADICTED: N_("The sources say otherwise."),
    types.Support.UNCITED: N_("No source is named for this."),
}
RESTS_ON = {
    types.BlockKind.STRUCK: N_("The words are struck out."),
    types.BlockKind.HIDDEN: N_("The words are not visible on the page."),
}
"""The reasons of a sentence that only such words say."""
IN_OTHER_WORDS = N_("The sources say this in other words.")
COUNTED = {
    types.Support.CONTRADICTED: N_("contradicted by the sources"),
    types.Support.NOT_STATED: N_("not stated in the sources"),
    types.Support.PARTLY: N_("only partly stated in the sources"),
    types.Support.NOT_VERIFIED: N_("could not be decided"),
    types.Support.UNCITED: N_("without a source"),
}
"""What follows the number of sentences with a verdict, in this order."""

_CELL = re.compile(r"(?:\\.|[^|\s\\])(?:(?:\\.|[^|\\])*(?:\\.|[^|\s\\]))?")
_EMPHASIS = "*_"


def mark_of(response: types.AnswerResponse, number: int, say: Translate = str) -> str:
    """Return the mark of a sentence; empty if it states nothing, or is a quotation of an extract."""
    support = response.sentences[number].support
    is_extract = support is types.Support.QUOTED and response.model == EXTRACTIVE_MODEL
    return "" if support is None or is_extract else say(MARKS[support])


def written_mark(response: types.AnswerResponse, number: int, say: Translate = str) -> str:
    """Return the mark of a sentence for running text, where its words would be read as part of the next sentence."""
    mark = mark_of(response, number, say)
    return f"({mark})" if " " in mark else mark


def plain_words(sentence: types.Sentence) -> str:
    """Return a sentence to be listed by itself: without emphasis, the cells of a row separated by dots."""
    words = sentence.text.replace("**", "")
    return " · ".join(filter(None, map(str.strip, words.split("|")))) if _is_row(sentence.text) else words


def reason_of(sentence: types.Sentence, say: Translate = str) -> str:
    """Return why a sentence has its verdict, in words; empty if it states nothing."""
    if sentence.support is None:
        return ""
    if sentence.rests_on is not None:
        return say(RESTS_ON[sentence.rests_on])
    is_same_words = sentence.judged_by in (None, types.SAME_WORDS)
    in_other_words = sentence.support is types.Support.SUPPORTED and not is_same_words
    reason = say(IN_OTHER_WORDS if in_other_words else REASONS[sentence.support])
    if sentence.missing and not sentence.support.is_proved:
        reason += " " + say(N_("Not found there: {missing}.").format(missing=", ".join(sentence.missing)))
    basis = "" if is_same_words else say(sentence.basis)
    return f"{reason} ({basis})" if basis else reason


def summary_of(response: types.AnswerResponse, say: Translate = str) -> str:
    """Return one line about the verdicts: “5 of 6 sentences verified; 1 not stated in the sources”.

    Empty for a refusal, and for an extract, which says itself that it is quoted.
    """
    supports = [sentence.support for sentence in response.sentences if sentence.support]
    proved, total = sum(support.is_proved for support in supports), len(supports)
    if response.status != "ok" or not supports:
        return ""
    if proved == total:
        if response.model == EXTRACTIVE_MODEL:
            return ""
        return say(
            N_("1 sentence verified") if total == 1 else N_("All {total} sentences verified").format(total=total)
        )
    counts = Counter(supports)
    others = ", ".join(f"{counts[support]} {say(words)}" for support, words in COUNTED.items() if counts[support])
    if total == 1:
        sentence = say(N_("The sentence is not verified"))
        return f"{sentence}: {say(COUNTED[supports[0]])}"
    verified = (
        N_("{count} of {total} sentences verified").format(count=proved, total=total)
        if proved
        else N_("None of {total} sentences verified").format(total=total)
    )
    return N_("{_first}; {_others}").format(_first=say(verified), _others=others)


def reading_text(reading: types.WholeReading, advice: str) -> str:
    """Say what was read whole, or what that would take and, as `advice`, how to have it done."""
    pages = "1 page" if reading.pages == 1 else f"{reading.pages:,} pages"
    parts = "1 part" if reading.parts == 1 else f"{reading.parts} parts"
    if reading.is_done:
        return f"Read: {pages} in {parts}."
    price = "no price known" if reading.cost_usd is None else f"about ${reading.cost_usd:.2f}"
    return (
        f"Not all pages were read. To read {'' if reading.pages == 1 else 'all '}{pages} in {parts} takes about "
        f"{reading.rounded_tokens:,} tokens ({price}): {advice}."
    )


def rewrite(
    response: types.AnswerResponse, text: str, sentence: Callable[[int, str], str], between: Callable[[str], str] = str
) -> str:
    """Return `text`, the answer's, with each sentence (number, text) and what is between them rewritten."""
    parts, end = [], 0
    for number, each in enumerate(response.sentences):
        parts += [between(text[end : each.start]), sentence(number, text[each.start : each.end])]
        end = each.end
    return "".join([*parts, between(text[end:])])


def cite(response: types.AnswerResponse, own: str, number: int | None, label: Callable[[int], str]) -> str:
    """Replace the citation marks in the text of a sentence by the labels of its citations.

    Outside of a sentence (`number` is None), or if the sentence has none with that id, it is the first with the id.
    """

    def labels(mark: re.Match[str]) -> str:
        same_id = [at for at, citation in enumerate(response.citations) if citation.citation_id == mark[1]]
        cited = [at for at in same_id if response.citations[at].sentence == number] or same_id[:1]
        return "".join(dict.fromkeys(map(label, cited))) or mark[0]

    return CITATION_MARK.sub(labels, own)


def strike(own: str, start: str, end: str) -> str:
    """Put a sentence between `start` and `end`, of a row of a table each cell."""
    if _is_row(own):
        return _CELL.sub(lambda cell: f"{start}{cell[0]}{end}", own)
    first, last = len(own) - len(own.lstrip(_EMPHASIS)), len(own.rstrip(_EMPHASIS))
    body = own[first:last]
    # emphasis that begins or ends in another sentence, or covers the whole one, stays outside
    first = 0 if own[:first] and own[:first] in body else first
    last = len(own) if own[last:] and own[last:] in body else last
    return own if first >= last else f"{own[:first]}{start}{own[first:last]}{end}{own[last:]}"


def append(own: str, mark: str, gap: str = " ") -> str:
    """Add a mark after a gap to a sentence, of a row of a table to its last cell."""
    cells = [*_CELL.finditer(own)] if _is_row(own) else []
    end = cells[-1].end() if cells else len(own)
    return f"{own[:end]}{gap}{mark}{own[end:]}"


def _is_row(own: str) -> bool:
    return own.startswith("|")
