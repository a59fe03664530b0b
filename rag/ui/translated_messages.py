"""Translate the engine's messages for the pages.

The engine speaks English, to programs too. Its messages are recognised by pattern; unknown ones are shown unchanged.
"""

import datetime as dt
import functools
import re

from rag.ui.formatting import date_time, decimal
from rag.ui.language import ENGLISH, N_, _, current_language
from rag.ui.translated_errors import ERRORS

MESSAGES = (
    # Reading progress: rag.types.reading_progress
    N_("waiting"),
    N_("reading"),
    N_("{_done}, {time} left"),
    N_("page {done} of {total}"),
    N_("chunk {done} of {total}"),
    N_("indexing"),
    N_("searchable by words, {share} % by meaning"),
    N_("tried again in {time}"),
    N_("{kept} of {total} ({share} %)"),
    N_("{taken} of 1 file in it was taken in."),
    N_("{taken} of 1 file in it were taken in."),
    N_("{taken} of {total} files in it was taken in."),
    N_("{taken} of {total} files in it were taken in."),
    # Advice on the index
    N_(
        "{model} does not speak the language of most of this text. A multilingual model, which runs on this machine, "
        "finds more: {command}"
    ),
    # The matrix
    N_("Before it changed (version {version}): {told}"),
    N_("Says yes, others say otherwise"),
    N_("Says no, others say otherwise"),
    N_("Differs from the others"),
    # Places
    N_("page {page}"),
    N_("p. {label} (page {page} of {count})"),
    N_("p. {label} (page {page})"),
    N_("p. {page}"),
    N_("v{version}; changed in v{latest} (page {page})"),
    N_("v{version}; changed in v{latest}"),
    N_("v{version}; gone in v{latest}"),
    # What verdicts rest on: rag.types.Sentence.basis
    N_("same words"),
    N_("same meaning, p = {p}"),
    N_("by meaning"),
    N_("judged by {model}"),
    # Answers
    N_("I do not have enough grounded context to answer that."),
    N_("{model} gave no answer that the documents support. This is what they say themselves."),
    N_("The answer was cut off at its limit of {tokens} tokens. Ask for less, or allow longer answers."),
    N_("The answer is not complete. {_error}"),
    N_("Which of the {count} documents? Name one, or choose it, and ask again."),
    N_("Page {label} was read by its printed number; it is page {page} of {count} in the file."),
    N_("Page {page} of {count} in the file was read; its printed number is {label}."),
    N_("In the passages read, no sentence and no row of a table was recognised as an answer."),
    N_("In the passages read, the figure itself was not recognised. {_nearest}"),
    N_("Found for {year}: {told} ({document}, {_page}). In the passages read, no {measure} of {other} was recognised."),
    N_("Nothing that was found answers this closely enough. {_nearest}"),
    N_("{names} does not occur in the passages read. {_nearest}"),
    N_("{names} do not occur in the passages read. {_nearest}"),
    N_("{names} does not occur in the passages read from {document}. {_nearest}"),
    N_("{names} do not occur in the passages read from {document}. {_nearest}"),
    N_("{names} does not occur in the nearest passage. {_nearest}"),
    N_("{names} do not occur in the nearest passage. {_nearest}"),
    N_("The nearest passage is not on page {label}. {_nearest}"),
    N_("The nearest sentence or row gives no figure that answers this. {_nearest}"),
    N_("The nearest sentence or row gives no date that answers this. {_nearest}"),
    N_("The nearest sentence or row gives no e-mail address that answers this. {_nearest}"),
    N_("The nearest sentence or row gives no telephone or fax number that answers this. {_nearest}"),
    N_("The nearest sentence or row gives no web address that answers this. {_nearest}"),
    N_("The nearest sentence or row gives no colour that answers this. {_nearest}"),
    N_("The nearest ({years}) stands in {document}, {_page}."),
    N_("The nearest stands in {document}, {_page}."),
    N_("An extract: sentences of the document itself, chosen for how much of it they say. Nothing is rephrased."),
    N_("All {count} items of the list, in the document's own words."),
    N_("{shown} of {count} items of the list, in the document's own words."),
    N_("From the signatures in the document."),
    N_("The answer failed. Ask again; if it persists, check the log."),
    N_("The answer broke off before it was checked. Ask again."),
    N_("The same answer."),
    N_("Changed, though nothing that it is made from did: the model wrote it in another way."),
    # Skipped parts of mails and archives
    N_("{taken} of 1 file in it was taken in. Left out: {_left}"),
    N_("{taken} of 1 file in it were taken in. Left out: {_left}"),
    N_("{taken} of {total} files in it was taken in. Left out: {_left}"),
    N_("{taken} of {total} files in it were taken in. Left out: {_left}"),
    N_("more than {limit} files"),
    N_("more than {limit} MB unpacked"),
    N_("more than {limit} MB"),
    N_("of a kind that cannot be read ({_kind})"),
    N_("a picture of another document, or data for programs"),
    N_("damaged"),
    N_("empty"),
    N_("it was deleted for good"),
    N_("its content is in the trash, as {present}"),
    N_("its content was in the index already, as {present}"),
    # Notes on documents
    N_("It is a PDF portfolio: its own pages are only a cover, the files in it are documents of their own."),
    N_(
        "It is a dynamic XFA form, which only Adobe's programs show: its pages are a notice, and the content of the "
        "form is not read. Print it to a PDF file there and add that."
    ),
    N_("It has redactions that were not applied: the text below them is still in the file and is read."),
    N_("{_what}, which cannot be read: install Tesseract ({how}), and read the document again."),
    N_(
        "{_what}, which cannot be read: install Tesseract with its data for “{language}” ({how}), and read the "
        "document again."
    ),
    N_("Page {page} is a picture"),
    N_("{count} pages are pictures"),
    N_(
        "Its pictures were recognised with the packaged models only, and the words are of no known language. Install "
        "Tesseract's data for its language."
    ),
    N_(
        "Its pictures were recognised with the packaged models only, and read like {_language}. Install its data "
        "(Debian: {package}) and read it again."
    ),
    N_(
        "Its pictures were recognised with {_languages} only, and the words are of no known language. Install "
        "Tesseract's data for its language."
    ),
    N_(
        "Its pictures were recognised with {_languages} only, and read like {_language}. Set "
        "RAG_PARSING__OCR_LANGUAGE={code} and read it again."
    ),
    N_(
        "Its pictures were recognised with {_languages} only, and read like {_language}. Install its data (Debian: "
        "{package}) and read it again."
    ),
    N_(
        "It has unaccepted changes (insertions: {insertions}, deletions: {deletions}). Inserted text is read as valid, "
        "deleted text as struck out."
    ),
    N_("it is not in the file: add it as well"),
    N_("{count} more places"),
    N_("section “{title}”"),
    N_("slide {number}"),
    # Re-run answers
    N_("The same answer, though {_reasons}."),
    N_("Changed because {_reasons}."),
    N_("Changed; {_reasons}."),
    N_("what the first answer was made from was not kept"),
    N_("{name} is gone"),
    N_("{name} is in the trash"),
    N_("{name} has version {latest} now, where version {version} was read"),
    N_("{name} is left out of searches"),
    N_("{name} was read again"),
    N_("{_names} came since"),
    N_("{_names} went since"),
    N_("the index is of {model}, was of {earlier}"),
    N_("the index is in generation {generation}, was in {earlier}"),
    N_("the instructions are version {version}, were {earlier}"),
    N_("Pagelight is version {version}, was {earlier}"),
    N_("the model was {model}, now the model was {latest}"),
    N_("the model was {model}, now the documents were quoted"),
    N_("the documents were quoted, now the model was {model}"),
    N_("{group} option {name} is {value}, was {earlier}"),
    # Why a passage was not found
    N_("The document is in the trash. Restore it to search in it again."),
    N_(
        "No chunk of the index has these words. Copy them as they stand in the document; look at the page's text "
        "in the index if they may have been read differently."
    ),
    N_(
        "No chunk of the index has these words. Copy them as they stand in the document; look at the page's text "
        "in the index if they may have been read differently. Not read so far, or without success: {names}."
    ),
    N_("Its chunk does not have the required words: {words}."),
    N_(
        "Neither search has it among its first {count}: {_meaning}, {_words}. Ask in the words of the document, or "
        "search for rewrites of the question."
    ),
    N_("{_how} it is number {rank} (score {score})"),
    N_("{_how} it is beyond number {count}"),
    N_("by meaning"),
    N_("by words"),
    N_("Its document is disabled. Enable it."),
    N_("The filters shut its document out. Search without them."),
    N_("Its fused score is only the {rank}th best; so many are not looked at. Raise top_k or rerank."),
    N_("Its score {score} is below the least of {least}. Lower min_score."),
    N_("Better places came first: only {count} are returned. Raise top_k."),
    N_("It was deleted while it was searched."),
    N_("It is part of hit {number}, but there was no room for it. Raise the budget of tokens."),
    N_("It is part of hit {number} and is read as {citation}."),
    N_("Its document is short enough to be given whole: it is read as {citation}."),
    # Status of the installation
    N_("{count} waiting, and no worker is alive. Start one: pagelight worker."),
    N_("{count} of the database's {total} connections are in use. Raise max_connections, or run fewer processes."),
    N_("{count} chunks of ready documents have no vector. Re-index: pagelight reindex."),
    N_("Indexes of the database are invalid: {names}. Rebuild them: REINDEX INDEX."),
    # Exports
    N_("Exported from Pagelight on {_moment}"),
    N_("Understood as"),
    N_("Quoted from the documents"),
    N_("Nothing was quoted"),
    N_("Written by {model}"),
    N_("Evidence"),
    N_("Made from"),
    N_("Index “{name}”, generation {generation}, {model}"),
    N_("Model {model}, instructions version {version}, Pagelight {program}"),
    N_("version {number}"),
    *(N_("Matrix"), N_("Document"), N_("Version"), N_("Page"), N_("Question"), N_("Answer"), N_("Source")),
    *(N_("not found"), N_("failed")),
    # Kinds of text: rag.types.set_apart_labels, and why words prove nothing: rag.export.marks.RESTS_ON
    *(N_("recognised in a picture"), N_("comment"), N_("struck out"), N_("not visible on the page")),
    *(N_("The words are struck out."), N_("The words are not visible on the page.")),
    N_("This is from a comment on the page, not from the text itself."),
    N_("Claim"),
    N_("Verdict"),
    N_("Reason"),
    N_("Quote"),
    N_("Printed page"),
    N_("Cells"),
    N_("Lines"),
    N_("Conflict"),
    N_("State"),
    N_("stale"),
    N_("answered"),
    N_("the document has changed since"),
    # Verdicts: rag.export.marks
    *(N_("◐ partly"), N_("✗ not stated"), N_("? not verified"), N_("✗ contradicted"), N_("? no source")),
    N_("These are the document's own words."),
    N_("The sources say this."),
    N_("The sources say this in other words."),
    N_("The sources say only a part of this."),
    N_("The sources do not say this."),
    N_("It could not be decided whether the sources say this. Read the page."),
    N_("The sources say otherwise."),
    N_("No source is named for this."),
    N_("Not found there: {missing}."),
    *(N_("1 sentence verified"), N_("All {total} sentences verified")),
    *(N_("None of {total} sentences verified"), N_("{count} of {total} sentences verified")),
    N_("The sentence is not verified"),
    N_("contradicted by the sources"),
    N_("not stated in the sources"),
    N_("only partly stated in the sources"),
    N_("could not be decided"),
    N_("without a source"),
)
"""Messages with named fields; a field whose name begins with an underscore is itself translated."""

TERMS = (
    *(N_("Member"), N_("Curator"), N_("Admin")),
    *(N_("Valid"), N_("Expired"), N_("Revoked")),
    *(N_("Reindex"), N_("Sync"), N_("Evaluation"), N_("Matrix")),
    *(N_("reindex"), N_("sync"), N_("evaluation"), N_("matrix")),
    *(N_("Queued"), N_("Running"), N_("Done"), N_("Failed"), N_("Cancelled")),
    *(N_("likely"), N_("unsure")),
    *(N_("Embedding"), N_("Answers"), N_("Reranking")),
    *(N_("embedding"), N_("renewing"), N_("pictures"), N_("jobs")),
    *(N_("user"), N_("group")),
    *(N_("said"), N_("said in the first quote"), N_("first citation on a right page")),
    *(N_("any citation on a right page"), N_("unanswerable, refused"), N_("answerable, refused")),
    N_("citations per answer"),
    *(
        N_("quoted"),
        N_("supported"),
        N_("partly"),
        N_("not_stated"),
        N_("not_verified"),
        N_("contradicted"),
        N_("uncited"),
    ),
    *(
        N_("English"),
        N_("German"),
        N_("French"),
        N_("Spanish"),
        N_("Italian"),
        N_("Dutch"),
        N_("Portuguese"),
        N_("other"),
    ),
    *(N_("Periods"), N_("Vocabulary"), N_("Landmarks"), N_("Routing")),
    N_("Order the best places anew."),
    N_("Take the question apart into single facts, so many at most, and search for each (language model)."),
    N_("Search for periods as documents write them: FY22 as 2022, Q2'23 as second quarter 2023."),
    N_("Search by words for what a trade calls the same, too: net sales where revenue is asked for."),
    N_("Prefer the part of a document that is named or meant: a balance sheet, table 4, page 12."),
    N_("Prefer documents whose name, title or first pages the question speaks of."),
)
"""Terms of the engine that pages translate where they show them."""

_FIELD = re.compile(r"\\{(\w+)\\}")
_NUMERIC_FIELDS = {
    *("done", "total", "kept", "taken", "count", "limit", "size", "page", "rank", "score", "least", "seconds"),
    *("used", "quota", "left", "needed", "dimensions", "tokens"),
}
"""Fields that hold quantities; others, such as labels, names and years, stay unchanged."""
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")
_NUMBER = re.compile(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?")


def translate_message(sentence: str) -> str:
    """Translate an engine message if it is known; otherwise return it unchanged."""
    if current_language() == ENGLISH or not sentence:
        return sentence
    if (known := _(sentence)) != sentence:
        return known
    if _TIMESTAMP.fullmatch(sentence):
        return date_time(dt.datetime.fromisoformat(sentence.replace(" UTC", "+00:00")), _("d MMM y, HH:mm")) + " UTC"
    for message, shape in _patterns():
        if match := shape.fullmatch(sentence):
            return _(message).format(**{name: _translate_field(name, text) for name, text in match.groupdict().items()})
    return "\n".join(map(translate_message, sentence.split("\n"))) if "\n" in sentence else sentence


def _translate_field(name: str, text: str) -> str:
    if name[0] == "_":
        return translate_message(text)
    return _format_number(text) if name in _NUMERIC_FIELDS else text


def _format_number(text: str) -> str:
    """Format a number in the current language; return anything else unchanged."""
    number = _NUMBER.fullmatch(text)
    return decimal(float(text.replace(",", "")), len(number[2] or "")) if number else text


@functools.cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple(
        (message, re.compile(_FIELD.sub(r"(?P<\1>.+?)", re.escape(message)), re.DOTALL))
        for message in (*MESSAGES, *ERRORS)
    )
