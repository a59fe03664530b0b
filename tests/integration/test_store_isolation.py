"""No user sees, searches, counts, changes or removes what another owns: one case per public method of the store."""

import hashlib
import inspect
import uuid
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from rag import errors, store
from rag.types import (
    ApiKey,
    Chunk,
    ChunkingOptions,
    Conversation,
    Document,
    DocumentStatus,
    EmbeddingGeneration,
    EmbeddingSpace,
    Job,
    Scope,
)
from tests.integration.samples import SPACE, Owner, make_chunks, make_parsed, random_vector

VICTIM = "victim"
TEXT = "the confidential merger of Acme"
HASH = b"hash of a text"
DIGEST = b"digest of a secret"
BESIDE = EmbeddingSpace(provider="test", model="another", dimensions=384)
SOURCE = "/home/victim/secret.pdf"

OTHERS = ("other", "", "x' or '1'='1", "victim'--", "victim\n", "%", "Victim", "victim ")
"""Users who own nothing of the victim's, whatever they call themselves."""


@dataclass(frozen=True)
class World:
    """What the victim owns."""

    owner: Owner
    document: Document
    trashed: Document
    chunk: Chunk
    conversation: Conversation
    generation: EmbeddingGeneration
    key: ApiKey
    job: Job

    @property
    def db(self) -> store.Store:
        return self.owner.db

    def scope(self, user_id: str) -> Scope:
        """The victim's index, asked for by another."""
        return Scope(user_id=user_id, index_id=self.owner.index.id)


@pytest.fixture(scope="module")
def world(module_db: store.Store) -> World:
    db = module_db
    owner = Owner.of(db, VICTIM)
    document = owner.ready("secret.pdf", [TEXT, "more text"], source=SOURCE)
    trashed = owner.ready("old.pdf", ["old text"])
    db.documents.trash(VICTIM, [trashed.id])
    db.embedding_cache.put(VICTIM, SPACE, {HASH: [1.0, 2.0]})
    db.caches.keep_completion(VICTIM, "answers", HASH, "a secret answer")
    conversation = db.conversations.create(VICTIM, owner.index.id, title="mine")
    db.conversations.append(VICTIM, conversation.id, role="user", content="hello")
    generation = db.generations.add(VICTIM, owner.index.id, BESIDE)
    chunk = db.chunks.of_document(VICTIM, document.id)[0]
    key = db.api_keys.create(VICTIM, name="mine", digest=DIGEST, hint="pl_abcd", permissions=["read"])
    db.documents.keep_upload_key(VICTIM, document.id, "upload-1")
    job = db.jobs.create(VICTIM, "evaluation", "default", {"question": "a secret one"})
    return World(owner, document, trashed, chunk, conversation, generation, key, job)


Case = Callable[[World, str], object]
CASES: dict[str, Case] = {}
"""Calls as another user: each must raise NotFoundError, or return nothing."""

EXEMPT = {
    "api_keys.exist": "asked before anyone is known; tells nothing of whom",
    "api_keys.find": "finds the user, for one who has the secret",
    "documents.unfinished": "for the restart of a worker; tells user and id only",
    "jobs.unfinished": "for the restart of a worker; tells user and id only",
    "queue.discard_stalled": "works for all users and returns a number of jobs",
    "queue.run": "works for all users",
}


def case(name: str) -> Callable[[Case], Case]:
    def keep(function: Case) -> Case:
        CASES[name] = function
        return function

    return keep


CASES |= {
    "indexes.get": lambda w, user: w.db.indexes.get(user, "default"),
    "indexes.get_by_id": lambda w, user: w.db.indexes.get_by_id(user, w.owner.index.id),
    "indexes.list": lambda w, user: w.db.indexes.list(user),
    "indexes.stats": lambda w, user: w.db.indexes.stats(user, w.owner.index.id),
    "indexes.delete": lambda w, user: w.db.indexes.delete(user, w.owner.index.id),
    "documents.get": lambda w, user: w.db.documents.get(user, w.document.id),
    "documents.list": lambda w, user: [
        *w.db.documents.list(user, w.owner.index.id),
        *w.db.documents.list(user, w.owner.index.id, in_trash=True),
    ],
    "documents.add": lambda w, user: w.db.documents.add(
        user, w.owner.index.id, document_id=uuid.uuid4(), name="x", mime_type="x", sha256=w.document.sha256, size=1
    ),
    "documents.of_sources": lambda w, user: w.db.documents.of_sources(
        user, w.owner.index.id, sources=[SOURCE], prefix=SOURCE[:3]
    ),
    "documents.show": lambda w, user: w.db.documents.show(user, {w.document.id: "taken.pdf"}),
    "documents.named": lambda w, user: w.db.documents.named(
        user, w.owner.index.id, [str(w.document.id), SOURCE, hashlib.sha256(SOURCE.encode()).hexdigest()]
    ),
    "documents.supersede": lambda w, user: w.db.documents.supersede(user, w.trashed.id, [w.document.id]),
    "documents.update_progress": lambda w, user: w.db.documents.update_progress(
        user, w.document.id, DocumentStatus.PARSING, 1, 2
    ),
    "documents.fail": lambda w, user: w.db.documents.fail(user, w.document.id, "code", "message"),
    "documents.requeue": lambda w, user: w.db.documents.requeue(user, w.document.id),
    "documents.trash": lambda w, user: w.db.documents.trash(user, [w.document.id]),
    "documents.restore": lambda w, user: w.db.documents.restore(user, [w.trashed.id]),
    "documents.purge": lambda w, user: w.db.documents.purge(user, [w.document.id, w.trashed.id]),
    "chunks.replace": lambda w, user: w.db.chunks.replace(
        user,
        w.document.id,
        SPACE,
        parsed=make_parsed(["x"]),
        chunks=make_chunks(w.document.id, ["x"]),
        vectors=[random_vector("x")],
        search_texts=["x"],
    ),
    "chunks.dense": lambda w, user: w.db.chunks.dense(w.scope(user), SPACE, random_vector(TEXT), 10),
    "chunks.lexical": lambda w, user: any(w.db.chunks.lexical(w.scope(user), TEXT, 10)),
    "chunks.get": lambda w, user: w.db.chunks.get(user, [w.chunk.id]),
    "chunks.with_words": lambda w, user: w.db.chunks.with_words(user, w.owner.index.id, TEXT, 10),
    "chunks.in_scope": lambda w, user: w.db.chunks.in_scope(w.scope(user), [w.chunk.id]),
    "chunks.vectors": lambda w, user: w.db.chunks.vectors(user, [w.chunk.id]),
    "chunks.of_document": lambda w, user: w.db.chunks.of_document(user, w.document.id),
    "chunks.page_lines": lambda w, user: w.db.chunks.page_lines(user, [(w.document.id, 1)]),
    "chunks.to_embed": lambda w, user: w.db.chunks.to_embed(user, w.document.id),
    "chunks.add_vectors": lambda w, user: w.db.chunks.add_vectors(
        user,
        w.document.id,
        BESIDE,
        chunks=w.db.chunks.to_embed(VICTIM, w.document.id),
        vectors=[random_vector("x"), random_vector("y")],
    ),
    "generations.list": lambda w, user: w.db.generations.list(user, w.owner.index.id),
    "generations.add": lambda w, user: w.db.generations.add(user, w.owner.index.id, BESIDE),
    "generations.missing": lambda w, user: w.db.generations.missing(user, w.generation),
    "generations.switch": lambda w, user: w.db.generations.switch(user, w.generation),
    "generations.drop": lambda w, user: w.db.generations.drop(user, w.generation),
    "embedding_cache.get": lambda w, user: w.db.embedding_cache.get(user, SPACE, [HASH]),
    "caches.completion": lambda w, user: w.db.caches.completion(user, "answers", HASH),
    "caches.stats": lambda w, user: any(cache.entries for cache in w.db.caches.stats(user) if cache.kind == "answers"),
    "caches.clear": lambda w, user: w.db.caches.clear(user, ["answers"]),
    "api_keys.list": lambda w, user: w.key in w.db.api_keys.list(user),
    "api_keys.revoke": lambda w, user: w.db.api_keys.revoke(user, w.key.id),
    "conversations.create": lambda w, user: w.db.conversations.create(user, w.owner.index.id, title="theirs"),
    "conversations.list": lambda w, user: w.db.conversations.list(user, w.owner.index.id),
    "conversations.get": lambda w, user: w.db.conversations.get(user, w.conversation.id),
    "conversations.rename": lambda w, user: w.db.conversations.rename(user, w.conversation.id, "theirs"),
    "conversations.set_documents": lambda w, user: w.db.conversations.set_documents(user, w.conversation.id, []),
    "conversations.delete": lambda w, user: w.db.conversations.delete(user, w.conversation.id),
    "conversations.messages": lambda w, user: w.db.conversations.messages(user, w.conversation.id),
    "conversations.append": lambda w, user: w.db.conversations.append(
        user, w.conversation.id, role="user", content="theirs"
    ),
}


@case("indexes.ensure")
def _index_of_the_same_name(world: World, user: str) -> object:
    if not user:
        raise errors.NotFoundError  # no user at all has no index either; the table refuses it
    index = world.db.indexes.ensure(user, "default", SPACE, ChunkingOptions(chunk_size_chars=500))
    return None if index.id != world.owner.index.id and index.user_id == user else index


@case("api_keys.create")
def _key_of_the_same_name(world: World, user: str) -> object:
    if not user:
        raise errors.NotFoundError  # no user at all has no key either; the table refuses it
    digest = hashlib.sha256(user.encode()).digest()
    world.db.api_keys.create(user, name="mine", digest=digest, hint="pl_abcd", permissions=["admin"])
    found = world.db.api_keys.find(digest)
    return None if found and found.user_id == user else "another's key"


@case("embedding_cache.put")
def _vector_of_the_same_text(world: World, user: str) -> object:
    world.db.embedding_cache.put(user, SPACE, {HASH: [9.0]})
    mine = world.db.embedding_cache.get(VICTIM, SPACE, [HASH])
    return None if mine == {HASH: [1.0, 2.0]} else mine


@case("caches.keep_completion")
def _completion_of_the_same_request(world: World, user: str) -> object:
    world.db.caches.keep_completion(user, "rewrites", HASH, "theirs")
    return world.db.caches.completion(VICTIM, "rewrites", HASH)


@case("documents.claim")
def _claim_on_the_same_document(world: World, user: str) -> object:
    """A claim of another user on the same id does not keep the owner from work."""
    with (
        world.db.documents.claim(user, world.document.id),
        world.db.documents.claim(VICTIM, world.document.id) as claimed,
    ):
        return None if claimed else "blocked"


@case("generations.claim")
def _claim_of_the_same_index(world: World, user: str) -> object:
    """A build that another user claims on the same id does not keep the owner from building."""
    index_id = world.owner.index.id
    with world.db.generations.claim(user, index_id), world.db.generations.claim(VICTIM, index_id) as claimed:
        return None if claimed else "blocked"


CASES |= {
    "jobs.get": lambda w, user: w.db.jobs.get(user, w.job.id),
    "jobs.list": lambda w, user: w.db.jobs.list(user),
    "jobs.start": lambda w, user: w.db.jobs.start(user, w.job.id),
    "jobs.update_progress": lambda w, user: w.db.jobs.update_progress(user, w.job.id, 1, 2),
    "jobs.finish": lambda w, user: w.db.jobs.finish(user, w.job.id, {"answer": 42}),
    "jobs.fail": lambda w, user: w.db.jobs.fail(user, w.job.id, "code", "message"),
    "documents.of_upload_key": lambda w, user: w.db.documents.of_upload_key(user, "upload-1"),
    "documents.keep_upload_key": lambda w, user: w.db.documents.keep_upload_key(user, w.document.id, "upload-2"),
}


@case("jobs.create")
def _job_of_another(world: World, user: str) -> object:
    """Another's new job is not among the owner's."""
    created = world.db.jobs.create(user, "reindex", "default", {}) if user else None
    return created if created in world.db.jobs.list(VICTIM) else None


@case("jobs.claim")
def _claim_of_a_job(world: World, user: str) -> object:
    """Another's claim does not keep the owner from the job."""
    with world.db.jobs.claim(user, world.job.id), world.db.jobs.claim(VICTIM, world.job.id) as claimed:
        return None if claimed else "blocked"


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


def snapshot(world: World) -> object:
    """Everything of the victim's that a call could have changed."""
    db, index_id = world.db, world.owner.index.id
    return (
        db.indexes.list(VICTIM),
        db.indexes.stats(VICTIM, index_id).model_copy(update={"database_bytes": 0}),
        db.documents.list(VICTIM, index_id),
        db.documents.list(VICTIM, index_id, in_trash=True),
        db.chunks.of_document(VICTIM, world.document.id),
        db.chunks.lexical(world.owner.scope, TEXT, 10),
        db.chunks.dense(world.owner.scope, SPACE, random_vector(TEXT), 10),
        db.generations.list(VICTIM, index_id),
        db.embedding_cache.get(VICTIM, SPACE, [HASH]),
        db.caches.completion(VICTIM, "answers", HASH),
        db.api_keys.list(VICTIM),
        db.jobs.list(VICTIM),
        db.jobs.get(VICTIM, world.job.id),
        db.documents.of_upload_key(VICTIM, "upload-1"),
        db.conversations.list(VICTIM, index_id),
        db.conversations.messages(VICTIM, world.conversation.id),
    )


def public_methods(db: store.Store) -> set[str]:
    nouns = {noun: part for noun, part in vars(db).items() if not noun.startswith("_")}
    return {
        f"{noun}.{name}"
        for noun, part in nouns.items()
        for name, _ in inspect.getmembers(type(part), callable)
        if not name.startswith("_")
    }


def test_every_public_method_has_a_case(world: World) -> None:
    assert public_methods(world.db) == CASES.keys() | EXEMPT.keys()


@pytest.mark.parametrize("method", CASES)
def test_others_get_nothing_and_change_nothing(world: World, method: str) -> None:
    before = snapshot(world)
    for user in OTHERS:
        try:
            found = CASES[method](world, user)
        except errors.NotFoundError:
            found = None
        assert not found, f"{method} as {user!r}"
    assert snapshot(world) == before


def test_the_owner_gets_everything(world: World) -> None:
    """The cases above would pass with an empty database; these calls are theirs, made by the owner."""
    for method in (
        "indexes.get",
        "documents.get",
        "documents.of_sources",
        "documents.named",
        "chunks.get",
        "chunks.vectors",
        "chunks.dense",
        "chunks.lexical",
        "chunks.to_embed",
        "api_keys.list",
        "generations.list",
        "generations.missing",
    ):
        assert CASES[method](world, VICTIM), method
    for method in (
        "embedding_cache.get",
        "caches.completion",
        "caches.stats",
        "conversations.messages",
        "documents.list",
    ):
        assert CASES[method](world, VICTIM), method


def test_unfinished_tells_user_and_id_only(world: World) -> None:
    queued = world.owner.add("waiting.pdf")
    assert world.db.documents.unfinished() == [(VICTIM, queued.id)]
