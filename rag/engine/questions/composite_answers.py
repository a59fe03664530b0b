"""Extractive answers that combine several searches: summaries, comparisons, calculations."""

import re
import uuid
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from typing import NamedTuple

from rag import answering, prompts, retrieval, types, vocabulary
from rag.answering.extraction import answer_fit, document_comparison, lists, signers_and_parties, summary
from rag.answering.tables import calculation, requested_figures
from rag.engine.library import saved_filters
from rag.engine.library.pages import Pages
from rag.engine.questions.document_mentions import Mention, aliases, find_mentions
from rag.engine.questions.search import Search
from rag.engine.request_parsing import restrict_to_documents
from rag.engine.workspace import Workspace
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.messages import N_
from rag.vocabulary.common_questions import asks_parties

MAX_DOCUMENTS = 6
"""A question about more documents is answered by a search."""

RELATED_SCORE_SHARE = 0.75
"""Minimum score of a related page, as a share of the best page's score."""

STATEMENT_PAGES = 4
"""Number of pages read per financial statement."""


class Side(NamedTuple):
    """Documents to ask separately, their name, and the question for them."""

    name: str
    documents: tuple[types.Document, ...]
    question: str


class CompositeAnswers:
    """Answers one user's question to an index where a single search is not enough."""

    def __init__(
        self,
        workspace: Workspace,
        index: types.Index,
        request: types.AnswerRequest,
        quote: Callable[[types.AnswerRequest], types.AnswerResponse],
    ) -> None:
        """`quote` answers a part of the question by one search, in the documents' words."""
        self._workspace = workspace
        self._index = index
        self._request = saved_filters.resolve_saved_filter(workspace.store, request)
        self._quote = quote
        self._locate = Pages(workspace).locate
        self._listed: list[types.Document] | None = None

    def events(self, question: str) -> Generator[types.AnswerEvent, None, None] | None:
        """Return the events of the answer, or None if a single search should answer `question`.

        Raises:
            errors.ProviderError: the embedding provider refuses or is down.
            errors.GroundingError: a document can no longer be read.
        """
        if found := self._list(question):
            document, listed, note = found
            label = answering.Label(f"*{note.format(shown=len(listed.items), count=listed.total)}*")
            return single_answer(self._compose([label, *summary.to_statements(listed.items, document)]))
        if extract := summary.requested_summary(question):
            return self._extract(question, extract)
        if sides := self.sides(question):
            return self._compare(self._answer_side(sides[0]), sides)  # errors are raised before the answer begins
        answer = self._calculate(question) or self._compare_years(question)
        return None if answer is None else single_answer(answer)

    # --- comparisons ---

    def sides(self, question: str) -> list[Side]:
        """Return the documents that `question` compares, each with its question; empty if it compares none."""
        asks_each = document_comparison.asks_of_each(question)
        compares = document_comparison.compares(question)
        if not (asks_each or compares or re.search(r",|\b(?:and|or|und|oder|et|y)\b", question)):
            return []
        documents = self._documents()
        named = find_mentions(question, documents)
        spans = [mention.span for mention in named]
        if _are_distinct(named) and (compares or document_comparison.are_listed(question, spans)):
            return [
                Side(
                    _side_name(mention, question),
                    mention.documents,
                    document_comparison.question_for_one(question, spans, mention.span),
                )
                for mention in named[:MAX_DOCUMENTS]
            ]
        chosen = bool(self._request.retrieval.filters.document_ids)
        is_meant = asks_each or (chosen and not named and compares)
        if is_meant and 2 <= len(documents) <= MAX_DOCUMENTS:
            asked = document_comparison.question_for_each(question)
            return [Side(document.name, (document,), asked) for document in reversed(documents)]
        return []

    def _compare(self, first: types.AnswerResponse, sides: Sequence[Side]) -> Generator[types.AnswerEvent, None, None]:
        answers: list[tuple[str, types.AnswerResponse]] = []
        text = ""
        for side in sides:
            answers.append((side.name, self._answer_side(side) if answers else first))
            joined = document_comparison.join(answers)
            if joined.status == "ok" and joined.answer.startswith(text):
                yield types.AnswerToken(text=joined.answer[len(text) :])
                text = joined.answer
        yield document_comparison.join(answers)

    def _answer_side(self, side: Side) -> types.AnswerResponse:
        """Answer one side's question from its documents alone."""
        worked_out = self._restricted_to(side.documents)._calculate(side.question)
        if worked_out is not None:
            return worked_out
        return self._quote(self._request_for(side.documents).model_copy(update={"question": side.question}))

    # --- lists and summaries ---

    def _list(self, question: str) -> tuple[types.Document, lists.FoundList, str] | None:
        """Return the list that `question` asks for, its document and a note, if only one document can be meant."""
        may_be_list = lists.may_request_list(question) and not requested_figures.may_request_figure(question)
        if not (may_be_list or signers_and_parties.may_ask_persons(question)):
            return None
        documents, named = self._named_or_all(question)
        if len(documents) != 1:
            return None
        unnamed = _without_names(question, question, named)
        if asks_parties(unnamed):
            found, note = signers_and_parties.find_parties(self._chunks(documents[0])), prompts.PREAMBLE_NOTE
        elif signers_and_parties.asks_signers(unnamed):
            found, note = signers_and_parties.find_signers(self._chunks(documents[0]), unnamed), prompts.SIGNATURES_NOTE
        elif may_be_list and (asked := lists.requested_list(unnamed, documents[0].title or "")):
            found, note = lists.find_list(self._chunks(documents[0]), asked), prompts.LIST_NOTE
        else:
            return None
        if found and len(found.items) < found.total:
            note = prompts.LIST_IN_PART_NOTE
        return found and (self._with_pages(documents[0].id), found, note)

    def _extract(self, question: str, extract: summary.Extract) -> Generator[types.AnswerEvent, None, None] | None:
        documents, extract = self._named_or_all(question)[0], self._with_part(question, extract)
        if len(documents) > MAX_DOCUMENTS:
            if extract.part:
                return None
            message = prompts.WHICH_DOCUMENT_MESSAGE.format(count=len(documents))
            model = answering.EXTRACTIVE_MODEL
            return single_answer(types.AnswerResponse(status="insufficient_context", answer=message, model=model))
        limit = summary.MAX_SENTENCES if len(documents) == 1 else summary.SHORT_SENTENCES
        parts: list[answering.Statement | answering.Label] = []
        for document in documents:
            chunks = self._chunks(document)
            keys = self._key_sentences(chunks, document, extract, limit)
            if keys and len(documents) == 1 and not extract.part:
                keys = summary.naming_lines(chunks, document.title) + keys
            if keys and len(documents) > 1:
                parts.append(answering.Label(document_comparison.heading(document.name)))
            parts += summary.to_statements(keys, self._with_pages(document.id), sections=len(documents) == 1)
        note = answering.Label(f"*{prompts.EXTRACT_NOTE}*")
        return single_answer(self._compose([note, *parts])) if parts else None

    def _named_or_all(self, question: str) -> tuple[list[types.Document], list[Mention]]:
        """Return the documents that `question` names, or all in scope, and the mentions."""
        documents = self._documents()
        named = find_mentions(question, documents)
        return [document for mention in named for document in mention.documents] or documents, named

    def _with_part(self, question: str, extract: summary.Extract) -> summary.Extract:
        named = self._named_or_all(question)[1]
        return extract._replace(part=_without_names(extract.part, question, named)) if named else extract

    def _with_pages(self, document_id: uuid.UUID) -> types.Document:
        """Return a document with its pages, which lists leave out."""
        return self._workspace.store.documents.get(document_id)

    def _key_sentences(
        self, chunks: Sequence[types.Chunk], document: types.Document, extract: summary.Extract, limit: int
    ) -> list[summary.KeySentence]:
        if extract.part:
            chunks = self._section_chunks(chunks, document, extract.part)
        vectors = self._workspace.store.chunks.vectors([chunk.id for chunk in chunks])
        return summary.key_sentences(chunks, vectors, limit=limit)

    def _chunks(self, document: types.Document) -> Sequence[types.Chunk]:
        """Return the chunks of what the document's pages say."""
        chunks = self._workspace.store.chunks.of_document(document.id)
        return [chunk for chunk in chunks if chunk.kinds & types.PAGE_TEXT]

    def _section_chunks(
        self, chunks: Sequence[types.Chunk], document: types.Document, part: str
    ) -> Sequence[types.Chunk]:
        """Return the chunks of the section with that name or number, else those on pages that a search for it finds."""
        wanted = {_normalized(part), *(_normalized(reference.name) for reference in vocabulary.references(part))}
        inside = [
            chunk
            for chunk in chunks
            if any(_is_heading(heading, wanted) for heading in (chunk.section or "").split(SECTION_SEPARATOR))
        ]
        if inside:
            return inside
        found = self._search([document], part)
        least = RELATED_SCORE_SHARE * max((hit.final_score for hit in found), default=0.0)
        pages = {page for hit in found if hit.final_score >= least for page in hit.passage.pages}
        return [chunk for chunk in chunks if pages.intersection(chunk.pages)]

    # --- calculations ---

    def computed_figure(self, question: str) -> Generator[types.AnswerEvent, None, None] | None:
        """Return the events of an answer with the line item, ratio or change that `question` asks for, or None.

        Small language models take other rows and add up wrongly, so that it is also their answer.
        """
        _, parts = self._figure(question) or (None, [])
        return single_answer(self._compose(parts)) if parts and calculation.is_worked_out(parts) else None

    def _calculate(self, question: str) -> types.AnswerResponse | None:
        found = self._figure(question)
        return self._compose(found[1]) if found else None

    def _figure(
        self, question: str
    ) -> tuple[requested_figures.FigureRequest, list[answering.Statement | answering.Label]] | None:
        """Return the figure that `question` asks for, and the parts of an answer; None if nothing is found."""
        if not requested_figures.may_request_figure(question):
            return None
        documents = self._documents()
        named = find_mentions(question, documents)
        subjects = named[0].documents if len(named) == 1 else tuple(documents)
        words = {word for document in subjects for alias in aliases(document) for word in alias}
        task = requested_figures.parse_request(question, words)
        if task is None or len(named) > 1 or (not named and len(documents) != 1):
            return None
        found = self._search(subjects, question) if len(subjects) > 1 else ()
        document_id = found[0].chunk.document_id if found else subjects[0].id
        own = [document for document in subjects if document.id == document_id]
        found_pages = [hit for text in task.searches for hit in self._search(own, text, top_k=STATEMENT_PAGES)]
        hits = [own_text for hit in found_pages if (own_text := hit.of_kinds(types.PAGE_TEXT))]
        places = {figure.place for figure in task.figures if figure.place}
        statements = vocabulary.own_pages(self._workspace.store.pages.landmarks(document_id, places))
        hits += self._statement_hits(document_id, {page for pages in statements.values() for page in pages}, hits)
        parts = calculation.calculate(task, hits, statements)
        return (task, parts) if parts else None

    def _statement_hits(
        self, document_id: uuid.UUID, pages: Collection[int], found: Sequence[types.Hit]
    ) -> list[types.Hit]:
        """Return hits for pages of statements that the search missed, so that statements are always read."""
        missing = sorted({*pages} - {page for hit in found for page in hit.passage.pages})
        document = self._with_pages(document_id) if missing else None
        return [hit for page in missing if document and (hit := self._page_hit(document, page))]

    def _page_hit(self, document: types.Document, page: int) -> types.Hit | None:
        """Return a page as a hit; None for a page without text."""
        store = self._workspace.store.chunks
        found = store.page_lines([(document.id, page)]).get((document.id, page), ())
        lines = tuple(line for line in found if line.kind in types.PAGE_TEXT)
        chunks = store.of_document(document.id, page_number=page, limit=1)
        return summary.to_hit(chunks[0], document, lines) if lines and chunks else None

    # --- changes between two years ---

    def _compare_years(self, question: str) -> types.AnswerResponse | None:
        """Answer a question about change by looking up each year separately, as they may be in different reports.

        If only one year is found, the answer says which. None if nothing is found, or one passage has both years.
        """
        if not requested_figures.may_request_figure(question):
            return None
        subjects, named = self._named_or_all(question)
        words = {word for mention in named for document in mention.documents for al in aliases(document) for word in al}
        task = requested_figures.parse_request(question, words)
        if task is None or task.formula or task.is_level or len(task.years) != 2:
            return None
        found = {year: self._answer_for_year(task.measure, year, subjects) for year in sorted(task.years)}
        given = [(str(year), answer) for year, answer in found.items() if answer.status == "ok"]
        places = [{hit.chunk.id for hit in answer.contexts} for _, answer in given]
        if not given or (len(places) == 2 and places[0] & places[1]):
            return None
        return document_comparison.join(given) if len(given) == 2 else self._other_year_missing(task.measure, found)

    def _answer_for_year(self, measure: str, year: int, documents: Sequence[types.Document]) -> types.AnswerResponse:
        """Answer for one year, keeping only sentences that certainly give the measure of that year."""
        question = f"What was the {measure} in {year}?"
        answer = self._answer_side(Side(str(year), tuple(documents), question))
        rows = {citation.sentence: citation.row for citation in answer.citations}
        other = [
            number
            for number, sentence in enumerate(answer.sentences)
            if not answer_fit.gives_of_year(question, year, sentence.text, rows.get(number))
        ]
        kept = answering.drop_sentences(answer, other)
        return kept if kept.sentences else kept.model_copy(update={"status": "insufficient_context"})

    def _other_year_missing(self, measure: str, found: Mapping[int, types.AnswerResponse]) -> types.AnswerResponse:
        """Report that only one of two years was found."""
        known = next(year for year, answer in found.items() if answer.status == "ok")
        missing = next(year for year in found if year != known)
        citation, hit = found[known].cited[0]
        told = found[known].sentences[citation.sentence].text
        message = self._request.options.insufficient_evidence_message or prompts.INSUFFICIENT_CONTEXT_MESSAGE
        return types.AnswerResponse(
            status="insufficient_context",
            answer=message,
            hint=N_(
                "Found for {year}: {told} ({document}, {_page}). In the passages read, no {measure} of {other} was "
                "recognised."
            ).format(
                year=known,
                told=told,
                document=hit.document_name,
                _page=hit.page_name(citation.lines_in(hit)[0].page_number),
                measure=measure,
                other=missing,
            ),
            nearest=(hit,),
            model=answering.EXTRACTIVE_MODEL,
        )

    # --- passages for a language model ---

    def model_passages(self, question: str) -> list[types.Hit]:
        """Return passages for a language model: from each compared document, or from all of a document to summarise."""
        if listed := self._list(question):
            document, found_list, _ = listed
            return summary.passages(found_list.items, document)
        if extract := summary.requested_summary(question):
            documents = self._named_or_all(question)[0]
            if len(documents) != 1:
                return []
            keys = self._key_sentences(
                self._chunks(documents[0]), documents[0], self._with_part(question, extract), summary.PASSAGES
            )
            return summary.passages(keys, self._with_pages(documents[0].id))
        sides = self.sides(question)
        most = max(self._request.retrieval.top_k // max(len(sides), 1), 1)
        found = [self._search(side.documents, side.question)[:most] for side in sides]
        return [hits[place] for place in range(most) for hits in found if place < len(hits)]

    # --- shared ---

    def _search(
        self, documents: Sequence[types.Document], text: str, *, top_k: int | None = None
    ) -> Sequence[types.Hit]:
        """Search for a text in some documents; `top_k` takes that many hits, whatever their scores."""
        request = self._request_for(documents)
        if top_k:
            options = request.retrieval.model_copy(update={"top_k": top_k, "min_score": 0.0})
            request = request.model_copy(update={"retrieval": options})
        return Search(self._workspace, self._index, request).run(retrieval.Query(text)).results

    def _request_for(self, documents: Sequence[types.Document]) -> types.AnswerRequest:
        return restrict_to_documents(self._request, [document.id for document in documents])

    def _restricted_to(self, documents: Sequence[types.Document]) -> "CompositeAnswers":
        return CompositeAnswers(self._workspace, self._index, self._request_for(documents), self._quote)

    def _documents(self) -> list[types.Document]:
        """Return the searchable documents in scope, newest first."""
        if self._listed is None:
            query = types.DocumentQuery(filters=self._request.retrieval.filters, disabled=False)
            found = self._workspace.store.documents.list(self._index.id, query)
            self._listed = [document for document in found if document.searchable]
        return self._listed

    def _compose(self, parts: Sequence[answering.Statement | answering.Label]) -> types.AnswerResponse:
        return answering.compose(parts, locate=self._locate)


def single_answer(answer: types.AnswerResponse) -> Generator[types.AnswerEvent, None, None]:
    """Yield the text of an answer that is there as a whole, then the answer."""
    yield types.AnswerToken(text=answer.answer)
    yield answer


def _are_distinct(named: Sequence[Mention]) -> bool:
    """Whether there are several names that refer to different documents."""
    ids = [document.id for mention in named for document in mention.documents]
    return len(named) > 1 and len(ids) == len(set(ids))


def _side_name(mention: Mention, question: str) -> str:
    """Return the heading of a side: its document's name, or for several documents the words of the question."""
    if len(mention.documents) == 1:
        return mention.documents[0].name
    return question[mention.span.start : mention.span.end]


def _without_names(part: str, question: str, named: Sequence[Mention]) -> str:
    """Remove document names from the part to summarise; empty (the whole document) if nothing else is left."""
    for mention in named:
        part = part.replace(question[mention.span.start : mention.span.end], " ")
    left = re.sub(
        r"['’]s\b|[^\w\s]|\b(?:the|of|in|from|report|document|file|and|\w*10-?k|pdf|\d+)\b",
        " ",
        part,
        flags=re.IGNORECASE,
    )
    return part.strip() if left.strip() else ""


def _normalized(text: str) -> str:
    return " ".join(re.sub(r"^(?:the|section|chapter)\s+", "", text.strip().lower()).split())


def _is_heading(heading: str, wanted: set[str]) -> bool:
    """Whether a heading is a wanted one, by its words or its number."""
    plain = " ".join(heading.lower().split())
    bare = _NUMBER.sub("", plain)
    begun = any(
        text.startswith(name) and _NAME_ENDS.match(text, len(name))
        for text in {plain, _SECTION.sub("", plain)}
        for name in wanted
        if name
    )
    return plain in wanted or bare in wanted or begun


_NUMBER = re.compile(
    r"(?:(?:section|chapter|part|item|note|article)\s+)?(?<![\divxlc])[\divxlc]+(?:\.\d+){0,9}[a-z]?[.):–—-]{0,9}\s+"
)
_SECTION = re.compile(r"^(?:section|chapter)\s+")
_NAME_ENDS = re.compile(r"(?![\w.]*\d)[\s.:–—-]")
