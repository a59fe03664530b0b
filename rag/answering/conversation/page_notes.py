"""Say which page was read where a question names a page whose label is not its number."""

from rag import types
from rag.messages import N_
from rag.vocabulary import references

LABELLED = N_("Page {label} was read by its printed number; it is page {page} of {count} in the file.")
NUMBERED = N_("Page {page} of {count} in the file was read; its printed number is {label}.")


def page_note(question: str, response: types.AnswerResponse) -> str | None:
    """Return which of the pages that `question` names the answer cites, if its label and number differ."""
    named = {reference.label for reference in references(question) if reference.kind == "page"}
    for citation, hit in response.cited if named else ():
        page = citation.lines_in(hit)[0].page_number
        label = hit.page_labels.get(page)
        if label is not None and label.lower() in named:
            return LABELLED.format(label=label, page=page, count=hit.page_count)
        if label is not None and str(page) in named:
            return NUMBERED.format(label=label, page=page, count=hit.page_count)
    return None
