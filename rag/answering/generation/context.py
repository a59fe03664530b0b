"""Build the text of sources that a model reads: stable ids, no line twice, within a token budget."""

import itertools
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rag import prompts, providers, tables, types
from rag.answering.text.markup import INVISIBLE

if TYPE_CHECKING:  # see `rag.lazy_imports`
    from llama_index.core.llms import LLM

CONTEXT_BUDGET_TOKENS = 10_000
"""About eight full pages of English; leaves room in the smallest models in use (16,000 tokens)."""

LARGE_BUDGET_TOKENS = 30_000
LARGE_WINDOW_TOKENS = 128_000
"""Models with such a context window read about twenty-five full pages of English by default."""

EDGE_LINES = 2
RUNNING_PAGES = 3
MIN_RUNNING_CHARS = 12
"""A running header or footer is a line among the first or last two of three pages; shorter ones may be content."""

MIN_SOURCE_TOKENS = 50
"""Minimum room for a further source."""

FAIR_SOURCES = 5
"""Best sources that share the room: the answer stands among them far more often than on the first page alone."""

MIN_SHARE_TOKENS = 200
"""Least share of a source, about a paragraph."""

_GAP = rf"(?:\s|{INVISIBLE})*+"
_KINDS = "|".join(mark.strip("[]").replace(" ", _GAP) for mark in prompts.CONTEXT_KINDS.values())
_FAKE_MARK = re.compile(
    rf"[\[【〔［](?={_GAP}(?:\^|S{_GAP}ources?\b|S{_GAP}\d|Page{_GAP}\d|{_KINDS}))([^\[\]【】〔〕［］]*)([\]】〕］]?)",
    re.IGNORECASE,
)
_FAKE_ROUND_MARK = re.compile(
    rf"\(({_GAP}S{_GAP}\d{{1,4}}(?:{_GAP}[,;]{_GAP}S{_GAP}\d{{1,4}})*{_GAP})\)", re.IGNORECASE
)
_FAKE_TAG = re.compile(
    rf"<(?={_GAP}/?{_GAP}(?:quote|source|system|user|assistant|instruction)s?\b)([^<>]*)>", re.IGNORECASE
)


ReadDocuments = Callable[[Sequence[types.Hit], int], Sequence[Sequence[types.Hit]]]
"""Return the documents in scope that may fit into so many tokens, as hits page by page; those of the hits first."""


class Source(NamedTuple):
    """A hit as given to the model: its id and lines."""

    citation_id: str
    hit: types.Hit
    lines: tuple[types.Line, ...]


class Context(NamedTuple):
    """The sources of one answer and the text that presents them."""

    sources: tuple[Source, ...]
    text: str

    @classmethod
    def of(cls, sources: Sequence[Source]) -> "Context":
        """Present the sources; those of a document stand together."""
        return cls(tuple(sources), "\n".join(_presented(sources).values()))

    @property
    def texts(self) -> dict[str, str]:
        """How each source is presented, by its id, in the order of the text."""
        return _presented(self.sources)

    @property
    def hits(self) -> dict[str, types.Hit]:
        """The hits by their ids."""
        return {source.citation_id: source.hit for source in self.sources}


def _presented(sources: Sequence[Source]) -> dict[str, str]:
    documents = [*dict.fromkeys(source.hit.passage.document_id for source in sources)]
    grouped = sorted(sources, key=lambda source: documents.index(source.hit.passage.document_id))
    return {source.citation_id: format_source(source) for source in grouped}


def default_budget(llm: "LLM | None") -> int:
    """Return the tokens of sources that a question gets unless somebody chose another number."""
    is_large = llm is not None and providers.context_window(llm) >= LARGE_WINDOW_TOKENS
    return LARGE_BUDGET_TOKENS if is_large else CONTEXT_BUDGET_TOKENS


def build_context(
    hits: Iterable[types.Hit], *, budget_tokens: int | None = CONTEXT_BUDGET_TOKENS, first: int = 1
) -> Context:
    """Return the best `hits` as sources S1, S2 …, or from the number `first` on, in order.

    Lines of earlier sources are not repeated, nor are running headers and footers of other pages; a hit without other
    lines is left out. If everything fits into the budget, counted in the embedded model's tokens, what continues on
    another page stands with that page, where that is a source too. Otherwise a source that is too long for its share
    is cut around its chunk. In the text the sources of a document stand together. Without a budget everything fits.
    """
    hits = list(hits)
    running = _running_lines(hits)
    fits = budget_tokens is None or sum(map(hit_tokens, hits)) <= budget_tokens
    sharing = min(FAIR_SOURCES, len(hits))
    main_pages = [hit.chunk.main_page for hit in hits]  # computed once: it reads all lines of the chunk
    at_home = {
        _key(hit, line, ())
        for hit, main_page in zip(hits, main_pages, strict=True)
        for line in hit.passage.lines
        if fits and line.page_number == main_page
    }
    sources: list[Source] = []
    seen: set[tuple[object, ...]] = set()
    room = budget_tokens or 0
    for hit, main_page in zip(hits, main_pages, strict=True):
        lines = [
            line
            for line in hit.passage.lines
            if _key(hit, line, running) not in seen
            and (line.page_number == main_page or _key(hit, line, ()) not in at_home)
        ]
        if not any(line.text.strip() for line in lines):
            continue
        source = Source(f"S{first + len(sources)}", hit, tuple(lines))
        if not fits:
            if sources and room < MIN_SOURCE_TOKENS:
                break
            share = min(max(room // max(sharing - len(sources), 1), MIN_SHARE_TOKENS), room)
            source = _fit(source, share)
            room -= providers.count_tokens(format_source(source))
        sources.append(source)
        seen.update(_key(hit, line, running) for line in source.lines)
    return Context.of(sources)


def build_fitting_context(
    hits: Sequence[types.Hit], *, budget_tokens: int, room: int, documents: Sequence[Sequence[types.Hit]] = ()
) -> Context:
    """Build a context that fits into `room` tokens of the model, whose tokenizer may count more.

    Those of the `documents`, each given as hits page by page, that fit whole are given whole.
    """
    budget = min(budget_tokens, room)
    while True:
        context = build_context(with_whole_documents(hits, documents, budget), budget_tokens=budget)
        most = providers.estimate_max_tokens(context.text)
        if most <= room or budget < MIN_SOURCE_TOKENS:
            return context
        budget = min(budget * room // most, budget - 1)


def with_whole_documents(
    hits: Sequence[types.Hit], documents: Iterable[Sequence[types.Hit]], budget_tokens: int
) -> list[types.Hit]:
    """Replace the hits of the first `documents` that fit whole beside the other hits by all pages, in reading order.

    A document stands where its best hit stood, one without hits at the end. Nothing that was found is left out for it.
    """
    room = budget_tokens - sum(map(hit_tokens, hits))
    whole: dict[uuid.UUID, list[types.Hit]] = {}
    for pages in documents:
        document_id = pages[0].passage.document_id
        own = [hit for hit in hits if hit.passage.document_id == document_id]
        left = room + sum(map(hit_tokens, own))
        for page in pages:
            left -= hit_tokens(page)
            if left < 0:
                break
        else:
            room = left
            found = {hit.chunk.main_page: hit for hit in reversed(own)}
            known = [(found.get(page.chunk.main_page, page), page.passage) for page in pages]
            whole[document_id] = [hit.model_copy(update={"passage": passage}) for hit, passage in known]
    best = {hit.passage.document_id: hit for hit in reversed(hits)}
    given: list[types.Hit] = []
    for hit in hits:
        document_id = hit.passage.document_id
        if document_id not in whole:
            given.append(hit)
        elif hit is best[document_id]:
            given += whole[document_id]
    return given + [page for document_id, pages in whole.items() if document_id not in best for page in pages]


def _running_lines(hits: Iterable[types.Hit]) -> set[tuple[uuid.UUID, str]]:
    pages: dict[tuple[uuid.UUID, str], set[int]] = {}
    for hit in hits:
        for number, group in itertools.groupby(hit.passage.lines, key=lambda line: line.page_number):
            lines = [line for line in group if line.kind in types.PAGE_TEXT]
            for line in (*lines[:EDGE_LINES], *lines[-EDGE_LINES:]):
                if len(line.text) >= MIN_RUNNING_CHARS:
                    pages.setdefault((hit.passage.document_id, line.text), set()).add(number)
    return {key for key, numbers in pages.items() if len(numbers) >= RUNNING_PAGES}


def _key(hit: types.Hit, line: types.Line, running: Collection[tuple[uuid.UUID, str]]) -> tuple[object, ...]:
    if line.kind is types.BlockKind.TEXT and (hit.passage.document_id, line.text) in running:
        return hit.passage.document_id, line.text
    # A caller's own block may give one number to several lines, and a long line may be cut into parts
    return hit.passage.document_id, line.number, line.text


def hit_tokens(hit: types.Hit) -> int:
    """Return the tokens of a hit as it is given to the model."""
    return providers.count_tokens(format_source(Source("S1", hit, hit.passage.lines)))


def _fit(source: Source, room: int) -> Source:
    """Cut `source` to about `room` tokens, by its mean number of characters per token."""
    text = format_source(source)
    tokens = providers.count_tokens(text)
    if tokens <= room:
        return source
    return source._replace(lines=tuple(_cut(source.lines, source.hit, len(text) * max(room, 0) // tokens)))


def _cut(lines: Sequence[types.Line], hit: types.Hit, room: int) -> list[types.Line]:
    """Return as many `lines` as fit, first those of the hit's chunk, then those around it; at least one."""
    first = next((i for i, line in enumerate(lines) if line.number >= hit.chunk.line_start), 0)
    start, end = first, first + 1
    left = room - _length(lines[first])
    while True:
        after = end < len(lines) and _length(lines[end]) + 2 <= left
        in_chunk = end < len(lines) and lines[end].number <= hit.chunk.line_end
        if after and (in_chunk or start == 0 or end - first <= first - start):
            left -= _length(lines[end]) + 2
            end += 1
        elif start > 0 and _length(lines[start - 1]) + 2 <= left:
            start -= 1
            left -= _length(lines[start]) + 2
        elif after:
            left -= _length(lines[end]) + 2
            end += 1
        else:
            return list(lines[start:end])


def _length(line: types.Line) -> int:
    """Return the characters of a line as it is given to the model."""
    mark = prompts.CONTEXT_KINDS.get(line.kind, "")
    return len(line.text) + len(mark) + (2 * line.text.count("\t") + 4 if line.kind is types.BlockKind.TABLE else 0)


def format_source(source: Source) -> str:
    """Format a source for the model: id, `[Source: name, Page X, Lines Y-Z]`, text with page marks and tables."""
    pages = sorted({line.page_number for line in source.lines})
    return prompts.CONTEXT_ITEM.format(
        citation_id=source.citation_id,
        name=neutralise_marks(" ".join(source.hit.document_name.split())).translate(_NO_BRACKETS),
        pages="-".join(map(str, dict.fromkeys((pages[0], pages[-1])))),
        line_start=source.lines[0].number,
        line_end=source.lines[-1].end,
        text=_format_lines(source.lines, with_pages=len(pages) > 1),
    )


def _format_lines(lines: Sequence[types.Line], *, with_pages: bool) -> str:
    """Format lines as paragraphs and Markdown tables, with a mark where a page begins."""
    neutral = neutralise_marks("\n".join(line.text for line in lines))  # of the same length
    starts = itertools.accumulate((len(line.text) + 1 for line in lines), initial=0)
    texts = [neutral[start : start + len(line.text)] for start, line in zip(starts, lines, strict=False)]
    parts: list[str] = []
    rows: dict[int, list[str]] = {}
    page: int | None = None
    for index, (line, text) in enumerate(zip(lines, texts, strict=True)):
        if line.starts_block:
            parts.append("")
        if with_pages and line.page_number != page:
            page = line.page_number
            parts.append(prompts.CONTEXT_PAGE.format(number=page))
        if line.kind is not types.BlockKind.TABLE:
            parts.append(" ".join(filter(None, [prompts.CONTEXT_KINDS.get(line.kind), text])))
            continue
        if index not in rows:
            table = [line, *itertools.takewhile(_continues_table, lines[index + 1 :])]
            rows = dict(enumerate(_markdown(table, texts[index:]), start=index))
        parts += rows[index]
    return "\n".join(parts).strip("\n")


def _continues_table(line: types.Line) -> bool:
    return line.kind is types.BlockKind.TABLE and not line.starts_block


def _markdown(table: Sequence[types.Line], texts: Sequence[str]) -> list[list[str]]:
    """Return the Markdown of each row: each cell in its column, column heads first, also those further above."""
    rows = tables.rows_of(table)
    width = 1 + max(cell.last for row in rows for cell in row.cells)
    count = len([*itertools.takewhile(lambda row: row.is_head, rows)])
    heads = {cell.first: cell.head for row in rows for cell in row.cells if cell.first > 0 and cell.head}
    written: list[list[str]] = []
    for row, text in zip(rows, texts, strict=False):
        cells = [""] * width
        for cell, field in zip(row.cells, text.split("\t"), strict=True):
            cells[cell.first] = f"{cells[cell.first]} {field.strip()}".strip()
        written.append([_row(cells)])
    rule = f"|{'---|' * width}"
    if count:
        written[count - 1].append(rule)
    elif heads:
        above = [prompts.HEADS_ABOVE, *(heads.get(column, "") for column in range(1, width))]
        written[0] = [_row([neutralise_marks(head) for head in above]), rule, *written[0]]
    return written


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_NO_BRACKETS = str.maketrans("[]", "()")


def neutralise_marks(text: str) -> str:
    """Replace the brackets of everything that looks like our own marks by ⟦⟧ or ⟨⟩.

    So a document cannot forge a source, a citation or a quote. Quote matching treats both kinds of bracket as the same
    (`quote_matching.normalize`).
    """
    text = _FAKE_TAG.sub(r"⟨\1⟩", text)
    text = _FAKE_ROUND_MARK.sub(r"⟦\1⟧", text)
    return _FAKE_MARK.sub(lambda mark: f"⟦{mark[1]}{mark[2] and '⟧'}", text)
