"""Versions of documents: list and compare them by paragraph, and follow quotes into later versions."""

import builtins
import difflib
import heapq
import itertools
import re
import unicodedata
import uuid
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rapidfuzz import fuzz, process

from rag import errors, types
from rag.engine.library.files import display_name, sha256_of
from rag.engine.workspace import Workspace
from rag.messages import N_
from rag.store.library.documents import unknown

SAME_PARAGRAPH = 60.0
"""Minimum similarity (rapidfuzz's normalised indel similarity, 0..100) of a changed paragraph. Any two of 200
sentences of English prose are 30 to 50 alike."""
SAME_WORDS = 80.0
"""Minimum similarity (rapidfuzz's partial ratio, 0..100) of a changed quote; unrelated paragraphs reach 50 to 60."""
CANDIDATES = 20
"""Number of paragraphs, those with most of a quote's words, that are compared letter by letter, which is slow."""
NEIGHBOURS = 20
"""Number of paragraphs before and after that are compared; comparing all would take quadratic time."""
BOILERPLATE_PAGES = 3
"""A text on this many pages and half of all, ignoring numbers, is a header or footer."""

_LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]$")
_NUMBER = re.compile(r"\d+")
_NOT_WORDS = re.compile(r"[\W\d_]+")


@dataclass(frozen=True)
class Paragraph:
    """A text block, or a table row, on one page."""

    lines: tuple[types.Line, ...]

    @cached_property
    def key(self) -> str:
        """The text without white space and line-end hyphens, so that line breaks do not matter."""
        return "".join(_keys(self.lines))

    @cached_property
    def text(self) -> str:
        """The readable text."""
        return " ".join(line.text for line in self.lines)

    @property
    def page_number(self) -> int:
        """The page of the first line."""
        return self.lines[0].page_number

    @property
    def pattern(self) -> str:
        """The key with numbers masked, which repeated headers and footers share."""
        return _NUMBER.sub("#", self.key)

    def to_text(self) -> types.ParagraphText:
        """Return the paragraph for a diff."""
        return types.ParagraphText(page_number=self.page_number, text=self.text, regions=_regions(self.lines))


@dataclass(frozen=True)
class QuoteMatch:
    """What became of a quote, and the lines where it is now."""

    change: types.Change
    lines: tuple[types.Line, ...] = ()

    @property
    def regions(self) -> tuple[types.Region, ...]:
        """The boxes of the lines."""
        return _regions(self.lines)


def paragraphs_of(passages: Iterable[types.Passage]) -> list[Paragraph]:
    """Return the paragraphs of chunks in reading order, each line once though chunks overlap."""
    lines = {(line.number, line.text, line.bbox): line for passage in passages for line in passage.lines}
    ordered = sorted(lines.values(), key=lambda line: line.number)
    groups: list[list[types.Line]] = []
    for line in ordered:
        if not groups or line.starts_block or types.BlockKind.TABLE in (line.kind, groups[-1][-1].kind):
            groups.append([])
        groups[-1].append(line)
    return [Paragraph(tuple(group)) for group in groups]


# --- diffs ---


def diff_paragraphs(old: Sequence[Paragraph], new: Sequence[Paragraph]) -> tuple[list[types.ParagraphChange], int]:
    """Return the paragraphs that differ, in the order of `new`, and the number of equal ones.

    Headers and footers are ignored.
    """
    before, after = _without_boilerplate(old), _without_boilerplate(new)
    matcher = difflib.SequenceMatcher(
        None, [paragraph.key for paragraph in before], [paragraph.key for paragraph in after]
    )
    changes: list[types.ParagraphChange] = []
    unchanged = 0
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            unchanged += end - start
        else:
            changes += _match_paragraphs(before[start:end], after[new_start:new_end])
    return changes, unchanged


def _without_boilerplate(paragraphs: Sequence[Paragraph]) -> list[Paragraph]:
    pages: dict[str, set[int]] = defaultdict(set)
    for paragraph in paragraphs:
        pages[paragraph.pattern].add(paragraph.page_number)
    least = max(BOILERPLATE_PAGES, len({paragraph.page_number for paragraph in paragraphs}) / 2)
    return [paragraph for paragraph in paragraphs if len(pages[paragraph.pattern]) < least]


def _match_paragraphs(old: Sequence[Paragraph], new: Sequence[Paragraph]) -> Iterator[types.ParagraphChange]:
    """Match each old paragraph with the most similar new one, in the same order."""
    place = 0
    for number, paragraph in enumerate(old):
        around = number * len(new) // len(old)
        near = range(max(place, around - NEIGHBOURS), min(len(new), max(place, around) + NEIGHBOURS + 1))
        texts = {candidate: new[candidate].text for candidate in near}
        best = process.extractOne(paragraph.text, texts, scorer=fuzz.ratio, score_cutoff=SAME_PARAGRAPH)
        if best is None:
            yield types.ParagraphChange(kind="removed", old=paragraph.to_text())
            continue
        yield from _added(new[place : best[2]])
        yield types.ParagraphChange(kind="changed", old=paragraph.to_text(), new=new[best[2]].to_text())
        place = best[2] + 1
    yield from _added(new[place:])


def _added(paragraphs: Iterable[Paragraph]) -> Iterator[types.ParagraphChange]:
    return (types.ParagraphChange(kind="added", new=paragraph.to_text()) for paragraph in paragraphs)


# --- quotes ---


class QuoteFinder:
    """The full text of a version, to search for quotes of another version."""

    def __init__(self, paragraphs: Sequence[Paragraph]) -> None:
        self._paragraphs = paragraphs
        self._lines = [line for paragraph in paragraphs for line in paragraph.lines]
        keys = [key for paragraph in paragraphs for key in _keys(paragraph.lines)]
        self._starts = list(itertools.accumulate(map(len, keys), initial=0))
        self._text = "".join(keys)
        self._words = [_words(paragraph.text) for paragraph in paragraphs]
        self._vocabularies = [frozenset(words.split()) for words in self._words]

    def find(self, words: str, page_number: int) -> QuoteMatch:
        """Find a quote: identical words nearest to its page, else the most similar paragraph."""
        key = "".join(_keys_of(words.split("\n")))
        # Also where it overlaps itself; an empty one is nowhere
        starts = [match.start() for match in re.finditer(f"(?={re.escape(key)})", self._text)] if key else []
        exact = [self._lines_at(start, start + len(key)) for start in starts]
        if exact:
            return QuoteMatch(
                types.Change.UNCHANGED, min(exact, key=lambda lines: abs(lines[0].page_number - page_number))
            )
        close = self._most_like(words)
        return QuoteMatch(types.Change.REMOVED) if close is None else QuoteMatch(types.Change.CHANGED, close.lines)

    def _lines_at(self, start: int, end: int) -> tuple[types.Line, ...]:
        return tuple(self._lines[bisect_right(self._starts, start) - 1 : bisect_right(self._starts, end - 1)])

    def _most_like(self, text: str) -> Paragraph | None:
        """Return the paragraph most similar to `text`, ignoring numbers, which change most often."""
        words = _words(text)
        quoted = set(words.split())
        long_enough = (place for place, own in enumerate(self._words) if words and 2 * len(own) >= len(words))
        near = heapq.nlargest(CANDIDATES, long_enough, key=lambda place: len(quoted & self._vocabularies[place]))
        candidates = {place: self._words[place] for place in near}
        likely = process.extract(words, candidates, scorer=fuzz.partial_ratio, score_cutoff=SAME_WORDS, limit=None)
        if not likely:
            return None
        _, _, place = max(likely, key=lambda one: (one[1], fuzz.partial_ratio(text, self._paragraphs[one[2]].text)))
        return self._paragraphs[place]


def _keys(lines: Sequence[types.Line]) -> list[str]:
    return _keys_of([line.text for line in lines])


def _keys_of(texts: Sequence[str]) -> list[str]:
    """Return each line without white space, and without a hyphen where the next line continues the word."""
    keys = []
    for text, following in itertools.zip_longest(texts, texts[1:], fillvalue=""):
        goes_on = following[:1].isalpha() and not following[:1].isupper()
        joined = _LINE_HYPHEN.sub("", text.rstrip()) if goes_on else text
        keys.append("".join(unicodedata.normalize("NFKC", joined).split()))
    return keys


def _words(text: str) -> str:
    return _NOT_WORDS.sub(" ", text).strip().casefold()


def _regions(lines: tuple[types.Line, ...]) -> tuple[types.Region, ...]:
    return types.Passage(document_id=uuid.UUID(int=0), lines=lines).regions


class Versions:
    """The versions of one user's documents."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def list(self, document_id: uuid.UUID) -> list[types.Document]:
        """Return all versions of a document, latest first; those in the trash only if it is. Raises NotFoundError."""
        versions = self._workspace.store.versions.list([document_id])
        for document in versions:
            if document.id == document_id:
                in_trash = document.deleted_at is not None
                return [version for version in versions if version.deleted_at is None or in_trash]
        raise unknown(document_id)

    def of_same_name(self, path: Path, name: str, index_name: str = types.DEFAULT_INDEX) -> types.Document | None:
        """Return the document that a file may be a new version of: it has the same name but other content.

        Documents that follow a folder do not count. Raises NotFoundError if there is no such index.
        """
        index = self._workspace.ensure_index(index_name)
        return self._workspace.store.versions.of_same_name(index.id, display_name(name), sha256_of(path))

    def make_current(self, document_id: uuid.UUID) -> types.Document:
        """Make an older version the current one.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: it is current already, was never read, or is in the trash.
        """
        document = self._workspace.store.documents.get(document_id)
        if not self._workspace.store.versions.make_current(document_id):
            raise errors.ConflictError(
                N_("{name} is no older version that was read and is not in the trash. List its versions."),
                name=document.name,
            )
        return self._workspace.store.documents.get(document_id)

    def before(self, document_id: uuid.UUID) -> types.Document:
        """Return the preceding version. Raises NotFoundError and ConflictError."""
        versions = self.list(document_id)
        for version, earlier in itertools.pairwise(versions):
            if version.id == document_id:
                return earlier
        raise errors.ConflictError(
            N_("{name} has no earlier version. Name what to compare it with."), name=versions[-1].name
        )

    def diff(self, old_id: uuid.UUID, new_id: uuid.UUID) -> types.VersionDiff:
        """Compare two documents by paragraph; they need not be versions of one document.

        Raises:
            errors.NotFoundError: there is no such document.
            errors.ConflictError: one has no text yet, or is in the trash.
        """
        documents = self._workspace.store.documents
        old, new = documents.get(old_id), documents.get(new_id)
        changes, unchanged = diff_paragraphs(self._paragraphs(old), self._paragraphs(new))
        return types.VersionDiff(
            old_id=old.id,
            new_id=new.id,
            old_version=old.version,
            new_version=new.version,
            changes=tuple(changes),
            unchanged=unchanged,
        )

    def _paragraphs(self, document: types.Document) -> Sequence[Paragraph]:
        if document.deleted_at is not None or document.indexed_at is None:
            state = (
                N_("in the trash; restore it") if document.deleted_at else N_("not read yet; wait until it is ready")
            )
            raise errors.ConflictError(
                N_("{name} (version {version}) is {_state}."),
                name=document.name,
                version=document.version,
                _state=state,
            )
        return paragraphs_of(self._workspace.store.chunks.of_document(document.id))

    def later_places(self, responses: Sequence[types.AnswerResponse]) -> builtins.list[Mapping[int, types.LaterPlace]]:
        """Return where quotes from older versions are in the current ones, by citation number.

        Leaves out quotes from current documents, and from documents that are gone or in the trash.
        """
        latest = self.latest({hit.passage.document_id for response in responses for hit in response.contexts})
        current = {new.id: new for _, new in latest.values()}
        texts = {document_id: QuoteFinder(self._paragraphs(document)) for document_id, document in current.items()}

        def place(citation: types.Citation, hit: types.Hit) -> types.LaterPlace:
            old, new = latest[hit.passage.document_id]
            match = texts[new.id].find(citation.quote or hit.chunk.text, citation.lines_in(hit)[0].page_number)
            return types.LaterPlace(
                document_id=new.id,
                version=old.version,
                latest_version=new.version,
                change=match.change,
                page_number=match.lines[0].page_number if match.lines else None,
                text=" ".join(line.text for line in match.lines) or None,
                regions=match.regions,
            )

        return [
            {
                number: place(citation, hit)
                for number, (citation, hit) in enumerate(response.cited)
                if hit.passage.document_id in latest
            }
            for response in responses
        ]

    def latest(self, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, tuple[types.Document, types.Document]]:
        """Map each older version among `ids` to itself and the current version."""
        versions = self._workspace.store.versions.list([*ids], in_trash=False) if ids else []
        current = {
            version.lineage_id: version
            for version in versions
            if version.superseded_by is None and version.indexed_at is not None
        }
        return {
            version.id: (version, current[version.lineage_id])
            for version in versions
            if version.id in ids and version.superseded_by is not None and version.lineage_id in current
        }
