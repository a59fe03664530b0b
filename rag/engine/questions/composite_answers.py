"""Extractive answers that combine several searches: lists, summaries, comparisons, calculations."""

import functools
import itertools
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NamedTuple

from rag import prompts, retrieval, types, vocabulary
from rag.answering.extraction import answer_fit, key_facts, lists, quoted_answer, summary
from rag.answering.extraction.quoted_answer import EXTRACTIVE_MODEL, compose
from rag.answering.extraction.whole_document_questions import asks_whole_document
from rag.answering.generation.model_answer import Stop, drop_sentences, never_stop
from rag.answering.passages.statements import Label, Statement
from rag.answering.tables import calculation, requested_figures
from rag.answering.tables.question_words import asks_to_compute, may_ask_table
from rag.answering.text.question_parts import without_periods
from rag.engine.library import saved_filters
from rag.engine.library.pages import Pages
from rag.engine.questions.document_mentions import Mention, aliases, documents_of_kind, find_mentions, without_names
from rag.engine.questions.search import Search
from rag.engine.questions.table_answers import TableAnswers, is_sheet
from rag.engine.request_parsing import restrict_to_documents
from rag.engine.workspace import Workspace
from rag.ingestion.chunking import SECTION_SEPARATOR
from rag.messages import N_
from rag.store.store import UserStore

MAX_DOCUMENTS = 12
"""A question about more documents is answered by a search."""

MIN_SIDE_HITS = 4
"""Minimum number of passages of each compared document for a language model."""

RELATED_SCORE_SHARE = 0.75
"""Minimum score of a related page, as a share of the best page's score."""

STATEMENT_PAGES = 4
"""Number of pages read per financial statement."""

Events = Generator[types.AnswerEvent, None, None]
Parts = list[Statement | Label]


class Side(NamedTuple):
    """Documents to ask separately, their name, and the question for them."""

    name: str
    documents: tuple[types.DocumentNames, ...]
    question: str


class CompositeAnswers:
    """Answers one user's question to an index where a single search is not enough."""

    def __init__(
        self,
        workspace: Workspace,
        index: types.Index,
        request: types.AnswerRequest,
        quote: Callable[[types.AnswerRequest], types.AnswerResponse],
        stop: Stop = never_stop,
    ) -> None:
        """`quote` answers a part of the question by one search, in the documents' words.

        Once `stop` returns True, no more searches for a language model begin.
        """
        self._workspace = workspace
        self._store = workspace.store
        self._index = index
        self._request = saved_filters.resolve_saved_filter(workspace.store, request)
        self._quote = quote
        self._stop = stop
        self._locate = Pages(workspace).locate
        self.uncounted: str | None = None
        """Why the rows of a table are not counted that the question is about."""
        self.spent: list[types.Usage] = []
        """What a language model used to write queries."""

    @functools.cached_property
    def _documents(self) -> list[types.DocumentNames]:
        """The searchable documents in scope, newest first."""
        scope = types.Scope(index_id=self._index.id, filters=self._request.retrieval.filters)
        return self._store.documents.subjects(scope)

    def events(self, question: str) -> Events | None:
        """Return the events of the answer, or None if a single search should answer `question`.

        Raises:
            errors.ProviderError: the embedding provider refuses or is down.
            errors.GroundingError: a document can no longer be read.
        """
        if found := self._list(question):
            document, items, note = found
            label = Label(f"*{note.format(shown=len(items.items), count=items.total)}*")
            return single_answer(self._compose([label, *summary.to_statements(items.items, document)]))
        if extract := self._requested_summary(question):
            return self._extract(question, extract)
        if sides := self.sides(question):
            return self._compare(self._answer_side(sides[0]), sides)  # errors are raised before the answer begins
        if parts := self._figure(question):
            return single_answer(self._compose(parts))
        answer = self._compare_years(question) or self._refuse_rows(question)
        return single_answer(answer) if answer else None

    def counted_rows(self, question: str, *, by_model: bool = False) -> Events | None:
        """Return the events of an answer counted, added up or compared over all rows of a spreadsheet, or None.

        It is exact, so that it is also the answer of language models, who see only some of the rows and count wrongly.
        With `by_model` they choose the table and write its query, where the words of the question do not say it.
        """
        retrieval_options = self._request.retrieval
        asks = asks_to_compute(question) if by_model else may_ask_table(question)
        if not asks or retrieval_options.must_include or retrieval_options.passage == "chunk":
            return None
        documents, mentions = self._named_or_all(question)
        unnamed = question
        for start, end in sorted((mention.span for mention in mentions), reverse=True):
            unnamed = f"{unnamed[:start]} {unnamed[end:]}"
        is_named = any("." in question[slice(*mention.span)] for mention in mentions)  # by its file
        counts_rows = is_named or all(map(is_sheet, self._documents))
        tables = TableAnswers(self._workspace, self._locate, documents, counts_rows=counts_rows)
        answer = may_ask_table(question) and tables.answer(dict.fromkeys((question, unnamed)))
        if by_model and not (answer or tables.refusal):
            answer = tables.query(question, self._request.generation, self.spent, self._stop)
        self.uncounted = tables.refusal
        return single_answer(answer) if answer else None

    def _refuse_rows(self, question: str) -> types.AnswerResponse | None:
        documents, _ = self._named_or_all(question) if asks_to_compute(question) else ([], ())
        are_sheets = all(map(is_sheet, documents))
        return TableAnswers(self._workspace, self._locate, documents).refuse(question) if are_sheets else None

    # --- comparisons ---

    def sides(self, question: str) -> list[Side]:
        """Return the documents that `question` compares, each with its question; empty if it compares none."""
        asks_each = quoted_answer.asks_of_each(question)
        compares = quoted_answer.compares(question)
        mentions = find_mentions(question, self._documents)
        spans = [mention.span for mention in mentions]
        ids = [document.id for mention in mentions for document in mention.documents]
        are_distinct = len(mentions) > 1 and len(ids) == len({*ids})
        are_certain = all(mention.is_certain for mention in mentions)
        if are_distinct and (are_certain or compares or quoted_answer.are_listed(question, spans)):
            return [
                Side(
                    documents[0].name if len(documents) == 1 else question[slice(*span)],
                    documents,
                    quoted_answer.question_for_one(question, spans, span),
                )
                for span, documents, _ in mentions[:MAX_DOCUMENTS]
            ]
        texts = quoted_answer.questions_for_reports(question, vocabulary.find_periods(question)) if mentions else []
        reports = [
            [one for mention in find_mentions(text, self._documents) for one in mention.documents] for text in texts
        ]
        if reports and len({one[0].id for one in reports if len(one) == 1}) == len(reports):
            return [Side(one.name, (one,), text) for text, (one,) in zip(texts, reports, strict=True)]
        documents = list(mentions[0].documents) if len(mentions) == 1 else self._documents if not mentions else []
        is_chosen = bool(self._request.retrieval.filters.document_ids) or bool(mentions)
        if asks_each and (of_kind := documents_of_kind(quoted_answer.each_noun(question), documents)):
            documents = of_kind
        if (asks_each or (is_chosen and compares)) and 2 <= len(documents) <= MAX_DOCUMENTS:
            question = quoted_answer.question_for_each(without_names(question, mentions))
            return [Side(document.name, (document,), question) for document in reversed(documents)]
        return []

    def _compare(self, first: types.AnswerResponse, sides: Sequence[Side]) -> Events:
        answers: list[tuple[str, types.AnswerResponse]] = []
        text = ""
        for side in sides:
            answers.append((side.name, self._answer_side(side) if answers else first))
            joined = quoted_answer.join(answers)
            if joined.status == "ok" and joined.answer.startswith(text):
                yield types.AnswerToken(text=joined.answer[len(text) :])
                text = joined.answer
        yield quoted_answer.join(answers)

    def _answer_side(self, side: Side) -> types.AnswerResponse:
        request = self._request_for(side.documents).model_copy(update={"question": side.question})
        composite = CompositeAnswers(self._workspace, self._index, request, self._quote)
        parts = composite._figure(side.question)
        return composite._compose(parts) if parts else self._quote(request)

    # --- lists and summaries ---

    def _list(self, question: str, *, counts: bool = True) -> tuple[types.Document, lists.FoundList, str] | None:
        """Return the list that `question` asks for, its document and a note, if only one document can be meant.

        Unless `counts`, nothing if only the number of its items is asked for.
        """
        may_be_list = lists.may_request_list(question) and not requested_figures.may_request_figure(question)
        if not (may_be_list or lists.may_ask_signers(question)):
            return None
        documents, mentions = self._named_or_all(question)
        if len(documents) != 1:
            return None
        unnamed = part_without_names(question, question, mentions)
        if lists.asks_signers(unnamed):
            found, note = lists.find_signers(self._chunks(documents[0]), unnamed), prompts.SIGNATURES_NOTE
        elif may_be_list and (request := lists.requested_list(unnamed, documents[0].title or "")):
            if request.is_counted and not (counts and asks_whole_document(question)):
                return None  # a figure that the text states
            found, note = lists.find_list(self._chunks(documents[0]), request), prompts.LIST_NOTE
        else:
            return None
        if found and not found.is_whole:
            note = prompts.LIST_OPEN_NOTE
        elif found and len(found.items) < found.total:
            note = prompts.LIST_IN_PART_NOTE
        return found and (self._store.documents.get(documents[0].id), found, note)

    def _requested_summary(self, question: str) -> summary.Extract | None:
        """Return what `question` asks to summarise, also of a document that it names: "what is Acme's 10-K about"."""
        if extract := summary.requested_summary(question):
            return extract
        text, mentions = question, find_mentions(question, self._documents)
        for start, end in sorted((mention.span for mention in mentions), reverse=True):
            before, after = _THE.sub("", text[:start]), _OWNED.sub("", text[end:], count=1)
            text = f"{before}{summary.THIS_DOCUMENT}{after}"
        return summary.requested_summary(without_periods(text)) if mentions else None

    def _extract(self, question: str, extract: summary.Extract) -> Events | None:
        documents, mentions = self._named_or_all(question)
        part = part_without_names(extract.part, question, mentions)
        is_single = len(documents) == 1
        if len(documents) > MAX_DOCUMENTS:
            if part:
                return None
            message = prompts.WHICH_DOCUMENT_MESSAGE.format(count=len(documents))
            model = EXTRACTIVE_MODEL
            return single_answer(types.AnswerResponse(status="insufficient_context", answer=message, model=model))
        parts: Parts = []
        for document in documents:
            sentences = summary.MAX_SENTENCES if is_single else summary.SHORT_SENTENCES
            chunks = self._chunks(document)
            if is_single and not part:
                vectors = self._store.chunks.vectors([chunk.id for chunk in chunks])
                facts = [
                    summary.KeySentence(fact.chunk, fact.unit.span, fact.section, fact.unit)
                    for fact in choose_key_facts(self._store, document, chunks)
                ]
                keys = summary.whole_summary(chunks, vectors, facts)
                keys = summary.naming_lines(chunks, document.title) + keys if keys else []
            else:
                keys = self._key_sentences(document, chunks, part, sentences)
            if keys and not is_single:
                parts.append(Label(quoted_answer.heading(document.name)))
            parts += summary.to_statements(keys, self._store.documents.get(document.id), sections=is_single)
        note = Label(f"*{prompts.EXTRACT_NOTE}*")
        return single_answer(self._compose([note, *parts])) if parts else None

    def _named_or_all(self, question: str) -> tuple[list[types.DocumentNames], list[Mention]]:
        """Return the documents that `question` names, or all in scope, and the mentions."""
        mentions = find_mentions(question, self._documents)
        return [document for mention in mentions for document in mention.documents] or self._documents, mentions

    def _key_sentences(
        self, document: types.DocumentNames, chunks: Sequence[types.Chunk], part: str, limit: int
    ) -> list[summary.KeySentence]:
        """Return the sentences that say most of what the `chunks` of a document say, or the `part` of them."""
        if part:
            # the section with that name or number, else the pages that a search for it finds
            if inside := chunks_of_section(chunks, part):
                chunks = inside
            else:
                hits = self._search([document], part)
                least = RELATED_SCORE_SHARE * max((hit.final_score for hit in hits), default=0.0)
                pages = {page for hit in hits if hit.final_score >= least for page in hit.passage.pages}
                chunks = [chunk for chunk in chunks if pages.intersection(chunk.pages)]
        vectors = self._store.chunks.vectors([chunk.id for chunk in chunks])
        return summary.key_sentences(chunks, vectors, limit=limit)

    def _chunks(self, document: types.DocumentNames) -> Sequence[types.Chunk]:
        """Return the chunks of what the document's pages say."""
        return [chunk for chunk in self._store.chunks.of_document(document.id) if chunk.kinds & types.PAGE_TEXT]

    # --- calculations ---

    def computed_figure(self, question: str) -> Events | None:
        """Return the events of an answer with the line item, ratio or change that `question` asks for, or None.

        Small language models take other rows and add up wrongly, so that it is also their answer.
        """
        parts = self._figure(question)
        return single_answer(self._compose(parts)) if parts and calculation.is_worked_out(parts) else None

    def _figure(self, question: str) -> Parts | None:
        if not requested_figures.may_request_figure(question):
            return None
        mentions = find_mentions(question, self._documents)
        subjects = mentions[0].documents if len(mentions) == 1 else tuple(self._documents)
        request = requested_figures.parse_request(question, _words_of_names(subjects))
        if request is None or len(mentions) > 1 or (not mentions and len(subjects) != 1):
            return None
        hits = self._search(subjects, question) if len(subjects) > 1 else ()
        document = self._store.documents.get(hits[0].chunk.document_id if hits else subjects[0].id)
        pages = [hit for text in request.searches for hit in self._search([document], text, top_k=STATEMENT_PAGES)]
        read = [own_text for hit in pages if (own_text := hit.of_kinds(types.PAGE_TEXT))]
        places = {figure.place for figure in request.figures if figure.place}
        statements = vocabulary.own_pages(self._store.chunks.landmarks(document.id, places))
        # Pages of statements that the search missed are read, too
        seen = {page for hit in read for page in hit.passage.pages}
        for page in sorted({*itertools.chain(*statements.values())} - seen):
            lines = self._store.chunks.page_lines([(document.id, page)]).get((document.id, page), ())
            text_lines = tuple(line for line in lines if line.kind in types.PAGE_TEXT)
            chunks = self._store.chunks.of_document(document.id, page_number=page, limit=1)
            if text_lines and chunks:
                read.append(summary.to_hit(chunks[0], document, text_lines))
        texts = [chunk.text for chunk in self._chunks(document)] if request.is_fiscal else ()
        return calculation.calculate(request, read, statements, texts)

    # --- changes between two years ---

    def _compare_years(self, question: str) -> types.AnswerResponse | None:
        """Answer a question about change by looking up each year separately, as they may be in different reports.

        If only one year is found, the answer says which. None if nothing is found, or one passage has both years.
        """
        if not requested_figures.may_request_figure(question):
            return None
        subjects, mentions = self._named_or_all(question)
        request = requested_figures.parse_request(question, _words_of_names(subjects if mentions else ()))
        if request is None or request.formula or request.is_level or len(request.years) != 2:
            return None
        answers = {year: self._answer_for_year(request.measure, year, subjects) for year in sorted(request.years)}
        given = [(str(year), answer) for year, answer in answers.items() if answer.status == "ok"]
        places = [{hit.chunk.id for hit in answer.contexts} for _, answer in given]
        if not given or (len(places) == 2 and places[0] & places[1]):
            return None
        if len(given) == 2:
            return quoted_answer.join(given)
        return self._other_year_missing(request.measure, answers)

    def _answer_for_year(
        self, measure: str, year: int, documents: Sequence[types.DocumentNames]
    ) -> types.AnswerResponse:
        """Answer for one year, keeping only sentences that certainly give the measure of that year."""
        question = f"What was the {measure} in {year}?"
        answer = self._answer_side(Side(str(year), tuple(documents), question))
        rows = {citation.sentence: citation.row for citation in answer.citations}
        other = [
            number
            for number, sentence in enumerate(answer.sentences)
            if not answer_fit.gives_of_year(question, year, sentence.text, rows.get(number))
        ]
        kept = drop_sentences(answer, other)
        return kept if kept.sentences else kept.model_copy(update={"status": "insufficient_context"})

    def _other_year_missing(self, measure: str, answers: Mapping[int, types.AnswerResponse]) -> types.AnswerResponse:
        year = next(year for year, answer in answers.items() if answer.status == "ok")
        missing = next(other for other in answers if other != year)
        citation, hit = answers[year].cited[0]
        text = answers[year].sentences[citation.sentence].text
        message = self._request.options.insufficient_evidence_message or prompts.INSUFFICIENT_CONTEXT_MESSAGE
        return types.AnswerResponse(
            status="insufficient_context",
            answer=message,
            hint=N_(
                "Found for {year}: {told} ({document}, {_page}). In the passages read, no {measure} of {other} was "
                "recognised."
            ).format(
                year=year,
                told=text,
                document=hit.document_name,
                _page=hit.page_name(citation.lines_in(hit)[0].page_number),
                measure=measure,
                other=missing,
            ),
            nearest=(hit,),
            model=EXTRACTIVE_MODEL,
        )

    # --- passages for a language model ---

    def model_passages(self, question: str, planned: Sequence[Side] = ()) -> list[types.Hit]:
        """Return passages for a language model: of `planned` searches, of each compared document, or of a whole one.

        Empty if one search should find them.
        """
        listed: Sequence[types.Hit] = ()
        # a model would count the shown items only
        if found := self._list(question, counts=False):
            document, items, _ = found
            listed = summary.passages(items.items, document)
        elif extract := self._requested_summary(question):
            documents, mentions = self._named_or_all(question)
            if len(documents) == 1:
                part = part_without_names(extract.part, question, mentions)
                keys = self._key_sentences(documents[0], self._chunks(documents[0]), part, summary.PASSAGES)
                return summary.passages(keys, self._store.documents.get(documents[0].id))
        sides = planned or self.sides(question)
        if len(sides) == 1 and not listed:
            return []
        most = max(self._request.retrieval.top_k // max(len(sides), 1), MIN_SIDE_HITS)
        hits = [self._search(side.documents, side.question)[:most] for side in sides if not self._stop()]
        # What is cut off for lack of room is the least relevant of each document
        in_turn = [of_side[place] for place in range(most) for of_side in hits if place < len(of_side)]
        return [*listed, *{hit.chunk.id: hit for hit in in_turn}.values()]

    # --- shared ---

    def _search(
        self, documents: Sequence[types.DocumentNames], text: str, *, top_k: int | None = None
    ) -> Sequence[types.Hit]:
        """Search for a text in some documents; `top_k` takes that many hits, whatever their scores.

        The text is a rewrite already, so that a language model writes no others of it.
        """
        request = self._request_for(documents)
        changes: dict[str, object] = {"multi_query": 0, "hyde": False}
        if top_k:
            changes |= {"top_k": top_k, "min_score": 0.0}
        request = request.model_copy(update={"retrieval": request.retrieval.model_copy(update=changes)})
        return Search(self._workspace, self._index, request).run(retrieval.Query(text)).results

    def _request_for(self, documents: Sequence[types.DocumentNames]) -> types.AnswerRequest:
        """Return the request restricted to `documents`; as it is without any."""
        ids = [document.id for document in documents]
        return restrict_to_documents(self._request, ids) if ids else self._request

    def _compose(self, parts: Sequence[Statement | Label]) -> types.AnswerResponse:
        return compose(parts, locate=self._locate)


def choose_key_facts(
    store: UserStore, document: types.DocumentNames | types.Document, chunks: Sequence[types.Chunk]
) -> list[key_facts.KeyFact]:
    """Return the key facts of a document in its own words; `chunks` are all of it."""
    places = frozenset(figure.place for trade in vocabulary.definitions() for figure in trade.figures if figure.place)
    return key_facts.key_facts(
        chunks,
        cues=vocabulary.cues_of(document.subject.kind),
        names=document.subject.names,
        statements=vocabulary.own_pages(store.chunks.landmarks(document.id, places)),
    )


def single_answer(answer: types.AnswerResponse) -> Events:
    """Yield the text of an answer that is there as a whole, then the answer."""
    yield types.AnswerToken(text=answer.answer)
    yield answer


def _words_of_names(documents: Sequence[types.DocumentNames]) -> set[str]:
    return {word for document in documents for alias in aliases(document) for word in alias}


def part_without_names(part: str, question: str, mentions: Sequence[Mention]) -> str:
    """Remove document names from the part to summarise; empty (the whole document) if nothing else is left."""
    if not mentions:
        return part
    for mention in mentions:
        part = part.replace(question[slice(*mention.span)], " ")
    left = re.sub(
        r"['’]s\b|[^\w\s]|\b(?:the|of|in|for|from|this|report|document|file|and|fiscal|financial|year|fy\d+|\w*10-?k|pdf|\d+)\b",
        " ",
        part,
        flags=re.IGNORECASE,
    )
    return _DANGLING.sub("", part.strip()) if left.strip() else ""


def chunks_of_section(chunks: Sequence[types.Chunk], name: str) -> list[types.Chunk]:
    """Return the chunks of the sections with that name or number, with those below; none if no heading has it."""
    names = {_normalized(name), *(_normalized(reference.name) for reference in vocabulary.references(name))}
    inside = {
        section
        for section in {chunk.section or "" for chunk in chunks}
        if any(_is_heading(heading, names) for heading in section.split(SECTION_SEPARATOR))
    }
    return [chunk for chunk in chunks if (chunk.section or "") in inside]


def _normalized(text: str) -> str:
    return _AROUND_NAME.sub("", " ".join(text.lower().split()))


def _is_heading(heading: str, names: set[str]) -> bool:
    """Whether a heading has one of the `names`: its words, its number, or the words that it begins with."""
    plain = " ".join(heading.lower().split())
    return not names.isdisjoint({plain, _NUMBER.sub("", plain)}) or any(
        text.startswith(name) and _NAME_ENDS.match(text, len(name))
        for text in (plain, re.sub(r"^(?:section|chapter)\s+", "", plain))
        for name in names
        if name
    )


_THE = re.compile(r"\bthe\s+$", re.IGNORECASE)
_OWNED = re.compile(r"^['’]s?(?!\w)")
"""What stands around the name of a document."""
_AROUND_NAME = re.compile(
    r"^(?:(?:the|section|chapter|der|die|das|den|dem|des|abschnitts?|kapitels?)\s){1,3}|\s(?:section|chapter)$"
)
"""What is said with the name of a section."""
_DANGLING = re.compile(
    r"(?<![\s,])(?:[\s,]++(?:of|in|from|for|by|the|von|vom|aus|im|des|der|dem|den)\b){1,4}[\s,]*+$", re.IGNORECASE
)
"""What is left before a name that was removed."""
_NUMBER = re.compile(
    r"(?:(?:section|chapter|part|item|note|article)\s+)?(?<![\divxlc])[\divxlc]+(?:\.\d+){0,9}[a-z]?[.):–—-]{0,9}\s+"
)
_NAME_ENDS = re.compile(r"(?![\w.]*\d)[\s.:–—-]")
