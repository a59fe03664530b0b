"""What the engine says, in the language of the page.

The engine speaks English, to programs too. Its sentences that readers of the pages meet are known here by their shape;
one that is not is shown as it is.
"""

import functools
import re

from rag.ui.language import ENGLISH, N_, _, current
from rag.ui.text import decimal

SHAPES = (
    # How far a document is read: rag.types.reading
    N_("waiting"),
    N_("reading"),
    N_("{_done}, {time} left"),
    N_("page {done} of {total}"),
    N_("chunk {done} of {total}"),
    N_("words only; meaning {share} %"),
    N_("tried again in {time}"),
    N_("{kept} of {total} ({share} %)"),
    N_("{taken} of 1 file in it was taken in."),
    N_("{taken} of 1 file in it were taken in."),
    N_("{taken} of {total} files in it was taken in."),
    N_("{taken} of {total} files in it were taken in."),
    # What the index is told of
    N_("{model} does not speak the language of most of this text. A multilingual model finds more: {command}"),
    # The matrix
    N_("Before it changed (version {version}): {told}"),
    N_("Says yes, others say otherwise"),
    N_("Says no, others say otherwise"),
    N_("Differs from the others"),
    # Places
    N_("page {page}"),
    N_("p. {label} (page {page} of {count})"),
    N_("p. {label} (page {page})"),
    N_("v{version}; changed in v{latest} (page {page})"),
    N_("v{version}; changed in v{latest}"),
    N_("v{version}; gone in v{latest}"),
    # Answers
    N_("I do not have enough grounded context to answer that."),
    N_("No sentence and no row of a table was found that could answer."),
    N_("Nothing that was found answers this closely enough. {_nearest}"),
    N_("The figure itself was not found. {_nearest}"),
    N_("Found for {year}: {told} ({document}, {_page}). No {measure} of {other} was found."),
    N_("{names} was not found. {_nearest}"),
    N_("{names} were not found. {_nearest}"),
    N_("No e-mail address was found that answers this. {_nearest}"),
    N_("No telephone or fax number was found that answers this. {_nearest}"),
    N_("No web address was found that answers this. {_nearest}"),
    N_("The nearest ({years}) stands in {document}, {_page}."),
    N_("The nearest stands in {document}, {_page}."),
    N_("The answer failed. Ask again; if it persists, look into the log."),
    N_("The answer broke off before it was checked. Ask again."),
    N_("The same answer."),
    N_("Changed, though nothing that it is made from did: the model wrote it in another way."),
    # Files that are refused, or cannot be read
    N_("“{name}” is {kind}, which cannot be taken in. Save it as PDF, DOCX, PPTX, XLSX, HTML, Markdown or text."),
    N_("“{name}” is empty. Check that it was saved and copied completely."),
    N_("{name} is empty. Check the file and upload it again."),
    N_("“{name}” is damaged or not what its name says. Open it in another program and save it again."),
    N_("“{name}” is damaged and cannot be read. Open it in another program and save it again."),
    N_("“{name}” is encrypted. Give its password."),
    N_("The password does not open “{name}”. Check it and try again."),
    N_("“{name}” has no pages. Open it in another program and save it again."),
    N_("“{name}” has {count} pages; the limit is {limit}. Split it into smaller files."),
    N_("{name} has {size} MB, more than the limit of {limit} MB. Split it, or raise RAG_PARSING__MAX_FILE_MB."),
    N_("There is no room for {name}: the collection's owner has used what they may."),
    N_(
        "The file is of an older Office version, which only LibreOffice can read. Install it (and leave "
        "RAG_PARSING__OFFICE at auto), or save the file as DOCX, PPTX or PDF."
    ),
    N_("The filter lets everything through. Give tags, an author, a date or another field."),
    N_("This page was open for too long, or the login has ended. Reload it."),
    # Addresses of the web
    N_("This is no address. Give one that begins with https://."),
    N_("Give an address that begins with http:// or https://, without user and password."),
    N_("{host} is not on the public Internet. Save the file in your browser and upload it."),
    N_("There is no host {host}. Check the address."),
    N_("{host} refuses it (status {status}). Check the address."),
    N_("{host} could not be reached ({error}). Check the address and try again."),
    N_("{host} takes too long. Save the file in your browser and upload it."),
    N_("The file has more than {limit} MB, the limit here."),
    N_(
        "Files are not fetched from the web here: RAG_WEB_ADDRESSES is off. Save the file in your browser and "
        "upload it."
    ),
    # Settings
    N_("This is no key: it has blanks or odd characters, or is too short or long."),
    N_("No model writes: answers are quotes, which needs none. Choose one to try it."),
)
"""Messages with names for what differs; what a name with an underscore stands for is said by the engine, too."""

WORDS = (
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
    *(N_("supported"), N_("partly"), N_("unsupported"), N_("uncited")),
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
"""The engine's names of things, which pages translate where they show them."""

_FIELD = re.compile(r"\\{(\w+)\\}")
_COUNTED = frozenset({"done", "total", "kept", "taken", "count", "limit", "size", "page"})
"""What differs and is a number of things; others, such as a label, a name or a year, stay as they are."""
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")


def said(sentence: str) -> str:
    """A sentence of the engine in the present language, if it is known; else as it is."""
    if current() == ENGLISH or not sentence:
        return sentence
    for message, shape in _shapes():
        if match := shape.fullmatch(sentence):
            return _(message).format(**{name: _part(name, text) for name, text in match.groupdict().items()})
    return sentence


def _part(name: str, text: str) -> str:
    if name[0] == "_":
        return said(text)
    return _grouped(text) if name in _COUNTED else text


def _grouped(text: str) -> str:
    """A whole number as the language writes it; anything else as it is."""
    return decimal(int(text.replace(",", ""))) if _NUMBER.fullmatch(text) and len(text) > 3 else text


@functools.cache
def _shapes() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((message, re.compile(_FIELD.sub(r"(?P<\1>.+?)", re.escape(message)), re.DOTALL)) for message in SHAPES)
