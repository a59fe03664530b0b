"""Documents that follow a file: told apart by their place, replaced in one moment, found by what people call them."""

import hashlib
import uuid

import pytest

from rag import errors
from rag.store.store import Store
from rag.types import Document
from tests.integration.samples import SPACE, Owner, random_vector


@pytest.fixture
def owner(db: Store) -> Owner:
    return Owner.of(db, "ann")


def follow(owner: Owner, source: str, *, sha256: str = "same", in_trash: bool = False) -> Document:
    return owner.db.of(owner.user_id).documents.add(
        owner.index.id,
        document_id=uuid.uuid4(),
        name=source.rpartition("/")[2],
        mime_type="text/plain",
        sha256=sha256,
        size=1,
        source=source,
        follows_source=True,
        in_trash=in_trash,
    )


def test_equal_content_at_two_places_is_two_documents_and_once_more_at_one_a_duplicate(owner: Owner) -> None:
    first, second = follow(owner, "/a/x.txt"), follow(owner, "/b/x.txt")
    assert first.id != second.id
    with pytest.raises(errors.DuplicateError) as caught:
        follow(owner, "/b/x.txt")
    assert caught.value.details["document_id"] == second.id


def test_an_upload_is_a_duplicate_of_a_followed_file_but_not_the_other_way_round(owner: Owner) -> None:
    followed = follow(owner, "/a/x.txt")
    with pytest.raises(errors.DuplicateError) as caught:
        owner.add("upload.txt", sha256="same")
    assert caught.value.details["document_id"] == followed.id
    owner.add("other.txt", sha256="other")
    assert follow(owner, "/a/other.txt", sha256="other").sha256 == "other"


def test_paths_longer_than_a_key_can_be(owner: Owner) -> None:
    long = "/" + "x" * 5000
    assert follow(owner, long).source == long


def test_documents_of_sources(owner: Owner) -> None:
    first, other = follow(owner, "/a/x.txt"), follow(owner, "/ab/x.txt")
    trashed = follow(owner, "/a/%/y.txt", in_trash=True)
    found = owner.db.of("ann").sources.find
    assert [document.id for document in found(owner.index.id, prefix="/a/")] == [first.id, trashed.id]
    assert found(owner.index.id, prefix="/a/%")[0].deleted_at is not None
    assert [document.id for document in found(owner.index.id, sources=["/ab/x.txt", "/c"])] == [other.id]
    assert found(owner.index.id) == []


def test_a_document_is_named_by_id_source_or_hash(owner: Owner) -> None:
    document = follow(owner, "/a/ü.txt")
    digest = hashlib.sha256("/a/ü.txt".encode()).hexdigest()
    references = [str(document.id), "/a/ü.txt", digest, digest.upper(), "ü.txt", "%"]
    found = owner.db.of("ann").sources.named(owner.index.id, references)
    assert found == {reference: [document.id] for reference in references[:4]}
    owner.db.of("ann").documents.trash([document.id])
    assert owner.db.of("ann").sources.named(owner.index.id, references) == {}


def test_a_new_version_takes_the_place_of_the_old_one_in_one_moment(owner: Owner) -> None:
    old = owner.ready("x.txt", ["the old words"], source="/a/x.txt")
    new = follow(owner, "/a/x.txt", sha256="new", in_trash=True)
    owner.fill(new, ["the new words"])
    other = uuid.uuid4()
    chat = owner.db.of("ann").conversations.create(owner.index.id, title="x", document_ids=[old.id, other])

    def found() -> set[uuid.UUID]:
        return {
            hit.document_id
            for hit in owner.db.of(owner.user_id).chunks.dense(owner.scope, SPACE, random_vector("x"), 10)
        }

    assert found() == {old.id}
    owner.db.of("ann").sources.supersede(new.id, [old.id])
    assert found() == {new.id}
    assert owner.db.of("ann").documents.get(old.id).deleted_at is not None
    assert set(owner.db.of("ann").conversations.get(chat.id).document_ids) == {new.id, other}
    with pytest.raises(errors.NotFoundError):
        owner.db.of("ann").sources.supersede(uuid.uuid4(), [new.id])
    assert found() == {new.id}
