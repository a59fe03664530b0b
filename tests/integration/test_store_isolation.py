"""No user sees, searches, counts, changes or removes what another owns: one case per public method of the store."""

import datetime as dt
import hashlib
import inspect
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import psycopg
import pytest
from psycopg import sql

from rag import errors
from rag.store.files.file_storage import UserFiles
from rag.store.store import Store, UserStore
from rag.types import (
    Annotation,
    AnswerResponse,
    ApiKey,
    CellReview,
    ChatMessage,
    Chunk,
    ChunkingOptions,
    Conversation,
    Document,
    DocumentEdit,
    DocumentStatus,
    EmbeddingGeneration,
    EmbeddingSpace,
    FieldDefinition,
    Filters,
    FollowedDocuments,
    Job,
    KeyFacts,
    Landmark,
    LinkRequest,
    Matrix,
    MatrixCell,
    Part,
    Rect,
    Region,
    Role,
    Scope,
    ShareRequest,
)
from tests.integration.samples import IN_TRASH, SPACE, Owner, make_chunks, make_parsed, random_vector

VICTIM = "victim"
TEXT = "the confidential merger of Acme"
HASH = b"hash of a text"
DIGEST = b"digest of a secret"
BESIDE = EmbeddingSpace(provider="test", model="another", dimensions=384)
SOURCE = "/home/victim/secret.pdf"
LANDMARK = Landmark("balance sheet", 1, 1.0)
INSUFFICIENT_PRIVILEGE = "42501"
SHARE = ShareRequest(grantee="friend")
LINK = LinkRequest(grantee="friend")
LOGIN = uuid.uuid4()
NOW = dt.datetime.now(dt.UTC)
DAY = dt.timedelta(days=1)
PLACE = Region(page_number=1, rects=(Rect(72, 72, 200, 90),))


FIELDS = [FieldDefinition(id=uuid.UUID(int=number), name=name) for number, name in enumerate(("Secret", "Since"), 1)]
OTHER_FIELDS = [FieldDefinition(id=uuid.UUID(int=3), name="What is it?")]

SECRET_FIELD = uuid.UUID(int=1)
REVIEW = CellReview(state="corrected", value="a secret correction", sha256="x", reviewed_at=NOW)

OTHERS = ("other", "", "x' or '1'='1", "victim'--", "victim\n", "%", "Victim", "victim ")
"""Users who own nothing of the victim's, whatever they call themselves."""


@dataclass(frozen=True)
class World:
    """What the victim owns."""

    connection: psycopg.Connection[Any]
    """Which sees what is really there."""
    owner: Owner
    document: Document
    trashed: Document
    part: Document
    chunk: Chunk
    conversation: Conversation
    answer: ChatMessage
    generation: EmbeddingGeneration
    key: ApiKey
    job: Job
    annotation: Annotation
    matrix: Matrix

    @property
    def db(self) -> Store:
        return self.owner.db

    @property
    def link_id(self) -> uuid.UUID:
        """By which the victim shows a friend the conversation."""
        (link,) = self.db.of(VICTIM).answer_links.list()
        return link.id

    @property
    def scope(self) -> Scope:
        """The victim's index."""
        return Scope(index_id=self.owner.index.id)


@pytest.fixture(scope="module")
def world(module_db: Store, module_url: str) -> Iterator[World]:
    with psycopg.connect(module_url, autocommit=True) as connection:
        yield make_world(module_db, connection)


def make_world(db: Store, connection: psycopg.Connection[Any]) -> World:
    """One of everything, of the victim's; the connection is the schema's owner's."""
    connection.execute("SELECT set_config('pagelight.user_id', %s, false)", [VICTIM])  # whom row-level security shows
    owner = Owner.of(db, VICTIM)
    document = owner.ready("secret.pdf", [TEXT, "more text"], source=SOURCE)
    owner.fill(document, [TEXT, "more text"], front=TEXT, landmarks=[LANDMARK])
    read_at = db.of(VICTIM).documents.get(document.id).indexed_at
    assert db.of(VICTIM).documents.keep_key_facts(document.id, KeyFacts(model="mine", made_at=NOW), read_at)
    trashed = owner.ready("old.pdf", ["old text"])
    db.of(VICTIM).documents.trash([trashed.id])
    blank = make_parsed(["a secret blank"])
    db.of(VICTIM).chunks.replace(owner.add("blank.pdf").id, SPACE, parsed=blank, chunks=[], vectors=[], search_texts=[])
    part = owner.add("attached.pdf", container_id=document.id)
    owner.fill(part, ["attached text"])
    db.of(VICTIM).embedding_cache.put(SPACE, {HASH: [1.0, 2.0]})
    db.of(VICTIM).caches.keep("answers", HASH, "a secret answer")
    conversation = db.of(VICTIM).conversations.create(owner.index.id, title="mine")
    db.of(VICTIM).conversations.append(conversation.id, role="user", content="hello")
    db.of(VICTIM).answer_links.share(conversation.id, LINK)
    answer = db.of(VICTIM).conversations.append(conversation.id, role="assistant", content="hello to you")
    generation = db.of(VICTIM).generations.add(owner.index.id, BESIDE)
    chunk = db.of(VICTIM).chunks.of_document(document.id)[0]
    key = db.of(VICTIM).api_keys.create(name="mine", digest=DIGEST, hint="pl_abcd", permissions=["read"])
    db.of(VICTIM).sources.set_upload_key(document.id, "upload-1")
    db.of(VICTIM).indexes.follow(owner.index.id, "/home/victim/", {"source": {"folder_id": "/home/victim"}})
    db.of(VICTIM).saved_filters.put("mine", Filters(tags=("mine",)))
    db.of(VICTIM).documents.set_trace(document.id, "00-mine")
    db.of(VICTIM).documents.tag([document.id], added=["mine"], removed=[])
    db.of(VICTIM).shares.share(owner.index.id, SHARE, is_admin=True)
    job = db.of(VICTIM).jobs.create("matrix", "default", {"question": "a secret one"})
    db.of(VICTIM).jobs.start(job.id)
    db.of(VICTIM).jobs.save_step(job.id, "1", ["a secret outcome"])
    db.of(VICTIM).logins.open(LOGIN, NOW, name="Vic", groups=["secret group"])
    annotation = db.of(VICTIM).annotations.add(document.id, [PLACE], "confidential", "a secret note")
    follows = FollowedDocuments(index_id=owner.index.id, tags=("mine",))
    matrix = db.of(VICTIM).matrices.create(
        "mine", FIELDS, [lineage_of(document)], follows=follows, index_id=owner.index.id
    )
    db.of(VICTIM).matrices.start_job(matrix.id, "default", 2)
    db.of(VICTIM).matrices.put(matrix.id, [(FIELDS[0], cell_of(document, "a secret answer"))])
    db.of(VICTIM).matrices.review(matrix.id, lineage_of(document), SECRET_FIELD, REVIEW, seen_at=None)
    db.of(VICTIM).matrices.save_template("mine", FIELDS)
    things = (owner, document, trashed, part, chunk, conversation, answer, generation, key, job, annotation, matrix)
    return World(connection, *things)


def lineage_of(document: Document) -> uuid.UUID:
    return document.lineage_id or document.id


def cell_of(document: Document, value: str) -> MatrixCell:
    content = {"state": "found", "value": value, "version": 1, "sha256": document.sha256, "filled_at": NOW}
    place = {"lineage_id": lineage_of(document), "field_id": SECRET_FIELD, "document_id": document.id}
    return MatrixCell.model_validate({**place, **content})


Case = Callable[[World, str], object]
CASES: dict[str, Case] = {}
"""Calls as another user: each must raise NotFoundError, or return nothing."""

EXEMPT = {
    "store.open": "before there are users",
    "store.of": "gives one user's part, whose methods are the cases",
    "store.row_security": "tells names of tables",
    "store.distribution": "tells names and sizes of tables",
    "store.distribute": "moves the rows of all users, and shows none",
    "store.shared": "gives what is shared with a user: `test_sharing.py` has the cases",
    "store.health": "tells versions and a number of workers",
    "store.close": "closes connections",
    "store.use_background_timeouts": "has no data",
    "accounts.keys_exist": "asked before anyone is known; tells nothing of whom",
    "accounts.find_key": "finds the user, for one who has the secret",
    "document_scheduler.unfinished": "for the restart of a worker; tells user and id only",
    "accounts.list": "for admins; the doors ask whether one is",
    "accounts.api_keys": "for admins; the doors ask whether one is",
    "accounts.jobs": "for admins; the doors ask whether one is",
    "shares.colleagues": "names people to whoever may share: `test_sharing_engine.py` has the case",
    "account.lock_quota": "needs a transaction: see `documents.add`",
    "account.require_room": "see `account.storage`",
    "queue.discard_stalled": "works for all users and returns a number of jobs",
    "queue.run": "works for all users",
    "all_deletions.due": "works for all users; tells user and id only",
    "all_deletions.unknown": "works for all users; tells whether a folder is known",
    "all_deletions.delete_unknown": "works for all users, on folders that no row knows",
    "all_deletions.alone": "tells whether another process sweeps",
    "document_scheduler.next": "works for all users; tells user and id only",
    "document_scheduler.next_pictures": "works for all users; tells user and id only",
    "document_scheduler.give_back": "works for all users, on what `next` gave",
    "document_scheduler.enqueue_abandoned": "works for all users; tells nothing",
    "job_scheduler.next": "works for all users; tells user and id only",
    "job_scheduler.others_wait": "works for all users; tells only whether anybody waits",
    "document_scheduler.is_due": "asked for all users; tells nothing but yes or no",
    "document_scheduler.are_waiting": "asked for all users; tells nothing but yes or no",
    "monitoring.health": "see `store.health`",
    "monitoring.database": "tells of the server",
    "monitoring.workers": "tells of workers",
    "monitoring.lanes": "for administrators; numbers of all users together",
    "monitoring.running": "for administrators; tells user, id and progress only",
    "monitoring.library": "for administrators; numbers of all users together",
    "monitoring.indexes": "for administrators; numbers of all users together",
    "monitoring.counts": "for administrators; numbers of all users together",
    "monitoring.count": "of a worker; tells nothing",
    "rate_limits.count": "asked before anyone is known; tells how long to wait",
    "rate_limits.forget": "works for all; tells nothing",
    "monitoring.record_backup": "of who made a backup of everything",
    "monitoring.last_backup": "for administrators; tells of a file",
}


def case(name: str) -> Callable[[Case], Case]:
    def keep(function: Case) -> Case:
        CASES[name] = function
        return function

    return keep


CASES |= {
    "indexes.get": lambda w, user: w.db.of(user).indexes.get("default"),
    "indexes.get_by_id": lambda w, user: w.db.of(user).indexes.get_by_id(w.owner.index.id),
    "indexes.list": lambda w, user: w.db.of(user).indexes.list(),
    "indexes.stats": lambda w, user: w.db.of(user).indexes.stats(w.owner.index.id),
    "indexes.find": lambda w, user: w.db.of(user).indexes.find(str(w.owner.index.id)),
    "indexes.follow": lambda w, user: w.db.of(user).indexes.follow(w.owner.index.id, "/theirs/", {"a": 1}),
    "indexes.followed": lambda w, user: w.db.of(user).indexes.followed(w.owner.index.id),
    "indexes.delete": lambda w, user: w.db.of(user).indexes.delete(w.owner.index.id),
    "documents.get": lambda w, user: w.db.of(user).documents.get(w.document.id),
    "documents.list": lambda w, user: [
        *w.db.of(user).documents.list(w.owner.index.id),
        *w.db.of(user).documents.list(w.owner.index.id, IN_TRASH),
    ],
    "documents.ids": lambda w, user: w.db.of(user).documents.ids(w.owner.index.id),
    "documents.count": lambda w, user: w.db.of(user).documents.count(w.owner.index.id),
    "documents.move": lambda w, user: w.db.of(user).documents.move(
        [w.document.id], w.db.of(user).indexes.ensure("else", w.owner.index.space, w.owner.index.chunking).id
    ),
    "documents.add": lambda w, user: w.db.of(user).documents.add(
        w.owner.index.id, document_id=uuid.uuid4(), name="x", mime_type="x", sha256=w.document.sha256, size=1
    ),
    "versions.of_same_name": lambda w, user: w.db.of(user).versions.of_same_name(w.owner.index.id, "secret.pdf", "new"),
    "versions.list": lambda w, user: w.db.of(user).versions.list([w.document.id]),
    "versions.take_over": lambda w, user: w.db.of(user).versions.take_over(w.trashed.id, [w.document.id]),
    "versions.make_current": lambda w, user: w.db.of(user).versions.make_current(w.document.id),
    "sources.find": lambda w, user: w.db.of(user).sources.find(w.owner.index.id, sources=[SOURCE], prefix=SOURCE[:3]),
    "sources.show": lambda w, user: w.db.of(user).sources.show({w.document.id: "taken.pdf"}),
    "sources.named": lambda w, user: w.db.of(user).sources.named(
        w.owner.index.id, [str(w.document.id), SOURCE, hashlib.sha256(SOURCE.encode()).hexdigest()]
    ),
    "sources.resolve": lambda w, user: w.db.of(user).sources.resolve(
        w.owner.index.id, [str(w.document.id), SOURCE, "secret.pdf"]
    ),
    "sources.supersede": lambda w, user: w.db.of(user).sources.supersede(w.trashed.id, [w.document.id]),
    "attachments.of": lambda w, user: w.db.of(user).attachments.of(w.document.id),
    "attachments.set_parts": lambda w, user: w.db.of(user).attachments.set_parts(
        w.document.id, [Part(name="theirs", size=1)]
    ),
    "attachments.match_trash_state": lambda w, user: w.db.of(user).attachments.match_trash_state(
        w.trashed.id, [w.part.id]
    ),
    "attachments.unpacked": lambda w, user: w.db.of(user).attachments.unpacked(w.part.id).depth,
    "documents.languages": lambda w, user: w.db.of(user).documents.languages([w.document.id]),
    "documents.update_progress": lambda w, user: w.db.of(user).documents.update_progress(
        w.document.id, DocumentStatus.PARSING, 1, 2
    ),
    "documents.fail": lambda w, user: w.db.of(user).documents.fail(w.document.id, "code", "message"),
    "documents.cancel": lambda w, user: w.db.of(user).documents.cancel([w.document.id]),
    "documents.lane": lambda w, user: w.db.of(user).documents.lane(w.document.id),
    "documents.set_trace": lambda w, user: w.db.of(user).documents.set_trace(w.document.id, "00-theirs"),
    "documents.trace": lambda w, user: w.db.of(user).documents.trace(w.document.id),
    "documents.resume": lambda w, user: w.db.of(user).documents.resume(w.document.id),
    "documents.enqueue": lambda w, user: w.db.of(user).documents.enqueue(w.document.id),
    "documents.requeue": lambda w, user: w.db.of(user).documents.requeue(w.document.id),
    "documents.trash": lambda w, user: w.db.of(user).documents.trash([w.document.id]),
    "documents.restore": lambda w, user: w.db.of(user).documents.restore([w.trashed.id]),
    "documents.purge": lambda w, user: w.db.of(user).documents.purge([w.document.id, w.trashed.id]).document_ids,
    "chunks.replace": lambda w, user: w.db.of(user).chunks.replace(
        w.document.id,
        SPACE,
        parsed=make_parsed(["x"]),
        chunks=make_chunks(w.document.id, ["x"]),
        vectors=[random_vector("x")],
        search_texts=["x"],
    ),
    "chunks.dense": lambda w, user: w.db.of(user).chunks.dense(w.scope, SPACE, random_vector(TEXT), 10),
    "chunks.lexical": lambda w, user: any(w.db.of(user).chunks.lexical(w.scope, TEXT, 10, landmarks=[LANDMARK.name])),
    "chunks.get": lambda w, user: w.db.of(user).chunks.get([w.chunk.id]),
    "chunks.find": lambda w, user: w.db.of(user).chunks.find(w.chunk.id),
    "chunks.with_words": lambda w, user: w.db.of(user).chunks.with_words(w.owner.index.id, TEXT, 10),
    "chunks.in_scope": lambda w, user: w.db.of(user).chunks.in_scope(w.scope, [w.chunk.id]),
    "chunks.vectors": lambda w, user: w.db.of(user).chunks.vectors([w.chunk.id]),
    "chunks.of_document": lambda w, user: w.db.of(user).chunks.of_document(w.document.id),
    "chunks.page_lines": lambda w, user: w.db.of(user).chunks.page_lines([(w.document.id, 1)]),
    "chunks.to_embed": lambda w, user: w.db.of(user).chunks.to_embed(w.document.id),
    "chunks.add_vectors": lambda w, user: w.db.of(user).chunks.add_vectors(
        w.document.id,
        BESIDE,
        chunks=w.db.of(VICTIM).chunks.to_embed(w.document.id),
        vectors=[random_vector("x"), random_vector("y")],
    ),
    "chunks.without_vector": lambda w, user: w.db.of(user).chunks.without_vector(w.document.id, SPACE, 10),
    "chunks.add_missing_vectors": lambda w, user: w.db.of(user).chunks.add_missing_vectors(
        w.document.id, SPACE, {w.chunk.id: random_vector("x")}
    ),
    "generations.list": lambda w, user: w.db.of(user).generations.list(w.owner.index.id),
    "generations.add": lambda w, user: w.db.of(user).generations.add(w.owner.index.id, BESIDE),
    "generations.missing": lambda w, user: w.db.of(user).generations.missing(w.generation),
    "generations.switch": lambda w, user: w.db.of(user).generations.switch(w.generation),
    "generations.drop": lambda w, user: w.db.of(user).generations.drop(w.generation),
    "embedding_cache.get": lambda w, user: w.db.of(user).embedding_cache.get(SPACE, [HASH]),
    "caches.recall": lambda w, user: w.db.of(user).caches.recall("answers", HASH),
    "caches.stats": lambda w, user: any(
        cache.entries for cache in w.db.of(user).caches.stats() if cache.kind == "answers"
    ),
    "caches.clear": lambda w, user: w.db.of(user).caches.clear(["answers"]),
    "account.get": lambda w, user: w.db.of(user).account.get().groups,
    "account.storage": lambda w, user: w.db.of(user).account.storage(None).used_bytes,
    "account.see": lambda w, user: w.db.of(user).account.see(),
    "logins.is_open": lambda w, user: w.db.of(user).logins.is_open(LOGIN),
    "logins.list": lambda w, user: w.db.of(user).logins.list(DAY),
    "logins.end": lambda w, user: w.db.of(user).logins.end(LOGIN),
    "logins.end_all": lambda w, user: w.db.of(user).logins.end_all(),
    "logins.accepts": lambda w, user: not w.db.of(user).logins.accepts(NOW + DAY),
    "account.set_role": lambda w, user: w.db.of(user).account.set_role(Role.ADMIN),
    "account.set_quota": lambda w, user: w.db.of(user).account.set_quota(0),
    "account.set_language": lambda w, user: w.db.of(user).account.set_language("de"),
    "account.set_groups": lambda w, user: w.db.of(user).account.set_groups([]),
    "logins.open": lambda w, user: w.db.of(user).logins.open(LOGIN, NOW, groups=[]) if user else None,
    "api_keys.list": lambda w, user: w.key in w.db.of(user).api_keys.list(),
    "api_keys.revoke": lambda w, user: w.db.of(user).api_keys.revoke(w.key.id),
    "conversations.create": lambda w, user: w.db.of(user).conversations.create(w.owner.index.id, title="theirs"),
    "conversations.list": lambda w, user: w.db.of(user).conversations.list(w.owner.index.id),
    "conversations.get": lambda w, user: w.db.of(user).conversations.get(w.conversation.id),
    "conversations.update": lambda w, user: w.db.of(user).conversations.update(w.conversation.id, title="theirs"),
    "conversations.delete": lambda w, user: w.db.of(user).conversations.delete(w.conversation.id),
    "conversations.messages": lambda w, user: w.db.of(user).conversations.messages(w.conversation.id),
    "answer_links.list": lambda w, user: w.db.of(user).answer_links.list(),
    "answer_links.share": lambda w, user: w.db.of(user).answer_links.share(w.conversation.id, LinkRequest(grantee="x")),
    "answer_links.unshare": lambda w, user: w.db.of(user).answer_links.unshare(w.link_id),
    "answer_links.shared_with_me": lambda w, user: w.db.of(user).answer_links.shared_with_me(),
    "answer_links.turns": lambda w, user: w.db.of(user).answer_links.turns(w.link_id),
    "conversations.append": lambda w, user: w.db.of(user).conversations.append(
        w.conversation.id, role="user", content="theirs"
    ),
    "conversations.search": lambda w, user: w.db.of(user).conversations.search(w.owner.index.id, ["hello"], most=5),
    "conversations.choose": lambda w, user: w.db.of(user).conversations.choose(w.conversation.id, w.answer.id),
    "conversations.replace_answer": lambda w, user: w.db.of(user).conversations.replace_answer(
        w.conversation.id, w.answer.id, AnswerResponse(status="ok", answer="theirs", model="theirs")
    ),
    "conversations.rate": lambda w, user: w.db.of(user).conversations.rate(w.conversation.id, w.answer.id, "bad"),
    "conversations.append_both": lambda w, user: w.db.of(user).conversations.append_both(
        w.conversation.id,
        "theirs",
        AnswerResponse(status="ok", answer="It is.", model="extractive", retrieval={"top_k": 8}),
    ),
}


@case("indexes.ensure")
def _index_of_the_same_name(world: World, user: str) -> object:
    if not user:
        raise errors.NotFoundError  # no user at all has no index either; the table refuses it
    index = world.db.of(user).indexes.ensure("default", SPACE, ChunkingOptions(chunk_size_chars=500))
    return None if index.id != world.owner.index.id and index.user_id == user else index


@case("api_keys.create")
def _key_of_the_same_name(world: World, user: str) -> object:
    if not user:
        raise errors.NotFoundError  # no user at all has no key either; the table refuses it
    digest = hashlib.sha256(user.encode()).digest()
    world.db.of(user).api_keys.create(name="mine", digest=digest, hint="pl_abcd", permissions=["admin"])
    found = world.db.accounts.find_key(digest)
    return None if found and found.user_id == user else "another's key"


@case("embedding_cache.put")
def _vector_of_the_same_text(world: World, user: str) -> object:
    world.db.of(user).embedding_cache.put(SPACE, {HASH: [9.0]})
    mine = world.db.of(VICTIM).embedding_cache.get(SPACE, [HASH])
    return None if mine == {HASH: [1.0, 2.0]} else mine


@case("caches.keep")
def _completion_of_the_same_request(world: World, user: str) -> object:
    world.db.of(user).caches.keep("rewrites", HASH, "theirs")
    return world.db.of(VICTIM).caches.recall("rewrites", HASH)


@case("documents.lock")
def _claim_on_the_same_document(world: World, user: str) -> object:
    """A claim of another user on the same id does not keep the owner from work."""
    with (
        world.db.of(user).documents.lock(world.document.id),
        world.db.of(VICTIM).documents.lock(world.document.id) as claimed,
    ):
        return None if claimed else "blocked"


@case("pending_deletions.draft")
def _draft_of_the_same_document(world: World, user: str) -> object:
    """Another's draft of the same id is another: the owner's document stays as it is, and so do its files."""
    if user:
        world.db.of(user).pending_deletions.draft(world.document.id)
    files = DeletedFiles()
    world.db.of(VICTIM).pending_deletions.delete_files(files, world.document.id)
    return "unowned" if files.deleted else None


class DeletedFiles(UserFiles):
    """Files of which only the deletion is noted."""

    def __init__(self) -> None:
        self.deleted: list[uuid.UUID] = []

    def delete(self, document_id: uuid.UUID) -> None:
        self.deleted.append(document_id)


@case("pending_deletions.delete_files")
def _deletion_of_the_same_document(world: World, user: str) -> object:
    """What another may delete are files of its own folder; what the owner has noted stays noted."""
    noted = uuid.uuid4()
    world.db.of(VICTIM).pending_deletions.draft(noted)
    try:
        world.db.of(user).pending_deletions.delete_files(DeletedFiles(), noted)
        left = [due.document_id for due in world.db.all_deletions.due(dt.timedelta(0)) if due.user_id == VICTIM]
        return None if noted in left else "taken"
    finally:
        world.db.of(VICTIM).pending_deletions.delete_files(DeletedFiles(), noted)


@case("generations.lock")
def _claim_of_the_same_index(world: World, user: str) -> object:
    """A build that another user claims on the same id does not keep the owner from building."""
    index_id = world.owner.index.id
    with world.db.of(user).generations.lock(index_id), world.db.of(VICTIM).generations.lock(index_id) as claimed:
        return None if claimed else "blocked"


CASES |= {
    "documents.page_labels": lambda w, user: w.db.of(user).documents.page_labels([(w.document.id, 1)]),
    "documents.names": lambda w, user: w.db.of(user).documents.names(w.document.id),
    "documents.subjects": lambda w, user: w.db.of(user).documents.subjects(Scope(index_id=w.owner.index.id)),
    "documents.key_facts": lambda w, user: w.db.of(user).documents.key_facts(w.document.id),
    "documents.keep_key_facts": lambda w, user: w.db.of(user).documents.keep_key_facts(
        w.document.id, KeyFacts(model="theirs", made_at=NOW), w.db.of(VICTIM).documents.get(w.document.id).indexed_at
    ),
    "documents.edit": lambda w, user: w.db.of(user).documents.edit(w.document.id, DocumentEdit(title="theirs")),
    "documents.tag": lambda w, user: w.db.of(user).documents.tag([w.document.id], added=["theirs"], removed=["mine"]),
    "documents.tags": lambda w, user: w.db.of(user).documents.tags(w.owner.index.id),
    "attachments.outermost": lambda w, user: w.db.of(user).attachments.outermost(w.part.id) != w.part.id,
    "documents.give_up_pictures": lambda w, user: w.db.of(user).documents.give_up_pictures(w.document.id),
    "chunks.refresh_front": lambda w, user: w.db.of(user).chunks.refresh_front(w.document.id, "theirs"),
    "matrices.list": lambda w, user: w.db.of(user).matrices.list(),
    "matrices.get": lambda w, user: w.db.of(user).matrices.get(w.matrix.id),
    "matrices.start_job": lambda w, user: w.db.of(user).matrices.start_job(w.matrix.id, "default", 1),
    "matrices.delete": lambda w, user: w.db.of(user).matrices.delete(w.matrix.id),
    "matrices.documents": lambda w, user: w.db.of(user).matrices.documents([lineage_of(w.document)]),
    "matrices.lineages": lambda w, user: w.db.of(user).matrices.lineages([w.document.id]),
    "matrices.rows": lambda w, user: w.db.of(user).matrices.rows(w.matrix, ""),
    "matrices.cells": lambda w, user: w.db.of(user).matrices.cells(w.matrix.id),
    "matrices.compared": lambda w, user: w.db.of(user).matrices.compared(w.matrix.id, [SECRET_FIELD]),
    "matrices.put": lambda w, user: w.db.of(user).matrices.put(
        w.matrix.id, [(FIELDS[0], cell_of(w.document, "theirs"))]
    ),
    "matrices.edit": lambda w, user: w.db.of(user).matrices.edit(
        w.matrix.id, name="theirs", fields=OTHER_FIELDS, lineage_ids=[], sets_follows=True
    ),
    "matrices.set_pilot": lambda w, user: w.db.of(user).matrices.set_pilot(w.matrix.id, 1),
    "matrices.review": lambda w, user: w.db.of(user).matrices.review(
        w.matrix.id, lineage_of(w.document), SECRET_FIELD, None, seen_at=REVIEW.reviewed_at
    ),
    "matrices.open": lambda w, user: w.db.of(user).matrices.open(),
    "matrices.templates": lambda w, user: w.db.of(user).matrices.templates(),
    "matrices.delete_template": lambda w, user: w.db.of(user).matrices.delete_template("mine"),
    "annotations.list": lambda w, user: w.db.of(user).annotations.list(w.document.id),
    "annotations.add": lambda w, user: w.db.of(user).annotations.add(w.document.id, [PLACE], "", "theirs"),
    "annotations.edit": lambda w, user: w.db.of(user).annotations.edit(w.document.id, w.annotation.id, "theirs"),
    "annotations.delete": lambda w, user: w.db.of(user).annotations.delete(w.document.id, w.annotation.id),
    "chunks.landmarks": lambda w, user: w.db.of(user).chunks.landmarks(w.document.id, [LANDMARK.name]),
    "chunks.page_texts": lambda w, user: w.db.of(user).chunks.page_texts(w.document.id),
    "saved_filters.delete": lambda w, user: w.db.of(user).saved_filters.delete("mine"),
    "saved_filters.get": lambda w, user: w.db.of(user).saved_filters.get("mine"),
    "saved_filters.list": lambda w, user: w.db.of(user).saved_filters.list(),
    "shares.list": lambda w, user: w.db.of(user).shares.list(w.owner.index.id),
    "shares.share": lambda w, user: w.db.of(user).shares.share(
        w.owner.index.id, ShareRequest(grantee="other"), is_admin=True
    ),
    "shares.unshare": lambda w, user: w.db.of(user).shares.unshare(w.owner.index.id, SHARE),
    "shares.shared_with_me": lambda w, user: w.db.of(user).shares.shared_with_me(),
    "shares.matrices": lambda w, user: w.db.of(user).shares.matrices(),
    "shares.holding": lambda w, user: w.db.of(user).shares.holding(w.document.id),
    "audit.list": lambda w, user: [one for one in w.db.of(user).audit.list() if VICTIM in {one.actor, one.owner}],
    "indexes.wordless": lambda w, user: w.db.of(user).indexes.wordless(w.owner.index.id).pages,
    "indexes.findings": lambda w, user: w.db.of(user).indexes.findings(w.owner.index.id),
    "documents.postpone": lambda w, user: w.db.of(user).documents.postpone(w.document.id, "code", "message"),
    "jobs.get": lambda w, user: w.db.of(user).jobs.get(w.job.id),
    "jobs.list": lambda w, user: w.db.of(user).jobs.list(),
    "jobs.start": lambda w, user: w.db.of(user).jobs.start(w.job.id),
    "jobs.update_progress": lambda w, user: w.db.of(user).jobs.update_progress(w.job.id, 1, 2),
    "jobs.finish": lambda w, user: w.db.of(user).jobs.finish(w.job.id, {"answer": 42}),
    "jobs.fail": lambda w, user: w.db.of(user).jobs.fail(w.job.id, "code", "message"),
    "jobs.cancel": lambda w, user: w.db.of(user).jobs.cancel(w.job.id),
    "jobs.postpone": lambda w, user: w.db.of(user).jobs.postpone(w.job.id, "code", "message"),
    "jobs.give_back": lambda w, user: w.db.of(user).jobs.give_back(w.job.id),
    "jobs.give_way": lambda w, user: w.db.of(user).jobs.give_way(w.job.id),
    "jobs.steps": lambda w, user: w.db.of(user).jobs.steps(w.job.id),
    "jobs.save_step": lambda w, user: w.db.of(user).jobs.save_step(w.job.id, "1", ["theirs"]),
    "sources.find_by_upload_key": lambda w, user: w.db.of(user).sources.find_by_upload_key("upload-1"),
    "sources.set_upload_key": lambda w, user: w.db.of(user).sources.set_upload_key(w.document.id, "upload-2"),
}


@case("audit.add")
def _entry_of_another(world: World, user: str) -> object:
    """What another notes is told as theirs."""
    world.db.of(user).audit.add("login")
    return [one for one in world.db.of(VICTIM).audit.list() if one.action == "login"]


@case("saved_filters.put")
def _filter_of_the_same_name(world: World, user: str) -> object:
    """Another's filter of the same name is another."""
    if user:
        world.db.of(user).saved_filters.put("mine", Filters(tags=("theirs",)))
        world.db.of(user).saved_filters.delete("mine")
    return None


@case("matrices.create")
def _matrix_of_another(world: World, user: str) -> object:
    """Another's new matrix is not among the owner's, and shows nothing of the owner's documents."""
    if not user:
        return None
    theirs = world.db.of(user).matrices
    created = theirs.create("theirs", FIELDS, [lineage_of(world.document)])
    filled = theirs.put(created.id, [(FIELDS[0], cell_of(world.document, "theirs"))])
    found = created in world.db.of(VICTIM).matrices.list() or theirs.documents(created.lineage_ids) or theirs.open()
    theirs.delete(created.id)
    return found or filled


@case("matrices.join_following")
def _follower_of_another(world: World, user: str) -> object:
    """Another's matrix gets no document of the owner's, nor the owner's matrix by another's hand."""
    if not user:
        return None
    follows = FollowedDocuments(index_id=world.owner.index.id, tags=("mine",))
    created = [(of, world.db.of(of).matrices.create("new", FIELDS, [], follows=follows)) for of in (VICTIM, user)]
    world.db.of(user).matrices.join_following([world.document.id])
    joined = [world.db.of(of).matrices.get(matrix.id).lineage_ids for of, matrix in created]
    for of, matrix in created:
        world.db.of(of).matrices.delete(matrix.id)
    return any(joined)


@case("matrices.save_template")
def _template_of_the_same_name(world: World, user: str) -> object:
    """Another's template of the same name is another."""
    if user:
        world.db.of(user).matrices.save_template("mine", OTHER_FIELDS)
        world.db.of(user).matrices.delete_template("mine")
    return [one for one in world.db.of(VICTIM).matrices.templates() if len(one.fields) != len(FIELDS)]


@case("jobs.create")
def _job_of_another(world: World, user: str) -> object:
    """Another's new job is not among the owner's."""
    created = world.db.of(user).jobs.create("reindex", "default", {}) if user else None
    return created if created in world.db.of(VICTIM).jobs.list() else None


@case("jobs.lock")
def _claim_of_a_job(world: World, user: str) -> object:
    """Another's claim does not keep the owner from the job."""
    with world.db.of(user).jobs.lock(world.job.id), world.db.of(VICTIM).jobs.lock(world.job.id) as claimed:
        return None if claimed else "blocked"


@case("conversations.lock")
def _lock_of_the_same_chat(world: World, user: str) -> object:
    """Another's lock does not keep the owner's answer from being written."""
    chat_id = world.conversation.id
    with world.db.of(user).conversations.lock(chat_id), world.db.of(VICTIM).conversations.lock(chat_id) as locked:
        return None if locked else "blocked"


@case("conversations.is_locked")
def _whether_the_owner_writes(world: World, user: str) -> object:
    with world.db.of(VICTIM).conversations.lock(world.conversation.id):
        return world.db.of(user).conversations.is_locked(world.conversation.id)


@case("queue.enqueue_job")
def _task_for_the_same_job(world: World, user: str) -> object:
    """A task of another user does not stand in for the owner's."""
    job_id = uuid.uuid4()
    world.db.queue.enqueue_job(user, job_id)
    return None if world.db.queue.enqueue_job(VICTIM, job_id) else "blocked"


@case("queue.enqueue")
def _job_for_the_same_document(world: World, user: str) -> object:
    """A job of another user does not stand in for the owner's."""
    document_id = uuid.uuid4()
    world.db.queue.enqueue(user, document_id)
    return None if world.db.queue.enqueue(VICTIM, document_id) else "blocked"


TABLES = """
    SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> 'cache_counts'
"""
"""All that have rows of users, but how often a cache has helped its owner, who asks it in some of the cases."""
ROWS = "SELECT {name}, array_agg(md5(t::text) ORDER BY md5(t::text)) FROM {table} AS t WHERE user_id = {user}"


def snapshot(world: World) -> dict[str, list[str]]:
    """All rows of the victim's, each by its hash, as the server has them: what a call could have changed."""
    tables = [name for (name,) in world.connection.execute(TABLES)]
    rows = (sql.SQL(ROWS).format(name=name, table=sql.Identifier(name), user=VICTIM) for name in tables)
    return dict(world.connection.execute(sql.SQL(" UNION ALL ").join(rows)).fetchall())


def public_methods(db: Store) -> set[str]:
    user_nouns = [noun for noun, part in vars(UserStore).items() if isinstance(part, cached_property)]
    nouns = {noun: part for noun, part in vars(db).items() if not noun.startswith("_")}
    nouns |= {noun: getattr(db.of(VICTIM), noun) for noun in user_nouns} | {"store": db}
    return {
        f"{noun}.{name}"
        for noun, part in nouns.items()
        for name, _ in inspect.getmembers(type(part), callable)
        if not name.startswith("_")
    }


def test_every_public_method_has_a_case(world: World) -> None:
    assert public_methods(world.db) == CASES.keys() | EXEMPT.keys()


@pytest.mark.parametrize("method", CASES)
def test_no_method_reads_or_changes_rows_of_another_user(world: World, method: str) -> None:
    before = snapshot(world)
    for user in OTHERS:
        assert not found_by(world, method, user), f"{method} as {user!r}"
    assert snapshot(world) == before


def found_by(world: World, method: str, user: str) -> object:
    """What another user gets by a method. No user at all may be told by the database that there is no such."""
    try:
        return CASES[method](world, user)
    except errors.NotFoundError:
        return None
    except errors.StoreError as error:
        if user or error.details["sqlstate"] != INSUFFICIENT_PRIVILEGE:
            raise
        return None


def test_the_owner_gets_everything(world: World) -> None:
    """The cases above would pass with an empty database; these calls are theirs, made by the owner."""
    for method in (
        *("indexes.get", "indexes.get_by_id", "indexes.list", "indexes.stats", "indexes.find", "indexes.followed"),
        *("documents.get", "documents.list", "documents.ids", "documents.count"),
        *("sources.find", "sources.named", "sources.resolve", "sources.find_by_upload_key"),
        *(
            "chunks.dense",
            "chunks.lexical",
            "chunks.get",
            "chunks.find",
            "chunks.with_words",
            "chunks.in_scope",
            "chunks.vectors",
        ),
        *("chunks.of_document", "chunks.page_lines", "chunks.to_embed", "generations.list", "generations.missing"),
        *("embedding_cache.get", "caches.recall", "caches.stats", "api_keys.list", "jobs.get", "jobs.list"),
        "jobs.steps",
        *(
            "attachments.of",
            "attachments.unpacked",
            "attachments.outermost",
            "documents.names",
            "documents.subjects",
            "documents.key_facts",
            "documents.tags",
        ),
        *("saved_filters.get", "saved_filters.list", "shares.list", "answer_links.list", "audit.list"),
        *("annotations.list", "chunks.page_texts", "chunks.landmarks"),
        *("matrices.list", "matrices.get", "matrices.documents", "matrices.cells", "matrices.open"),
        *("matrices.templates", "matrices.lineages", "matrices.rows", "matrices.compared"),
        *("account.get", "account.storage", "logins.is_open", "logins.list"),
        *("saved_filters.get", "saved_filters.list", "documents.trace"),
        *("conversations.list", "conversations.get", "conversations.messages", "conversations.search"),
        "conversations.is_locked",
        *("indexes.wordless", "indexes.findings"),
    ):
        assert CASES[method](world, VICTIM), method


def test_unfinished_tells_user_and_id_only(world: World) -> None:
    queued = world.owner.add("waiting.pdf")
    assert world.db.document_scheduler.unfinished() == [(VICTIM, queued.id)]
