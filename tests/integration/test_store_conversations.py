"""Chats, and vectors that need not be made again."""

import uuid

import pytest

from rag import errors, store
from rag.types import AnswerResponse, EmbeddingSpace
from tests.integration.samples import SPACE, Owner, random_vector


@pytest.fixture
def owner(db: store.Store) -> Owner:
    return Owner.of(db, "ann")


def test_turns_are_kept_in_order_with_their_answers(owner: Owner) -> None:
    conversations = owner.db.of("ann").conversations
    chat = conversations.create(owner.index.id, title="About debt")
    response = AnswerResponse(status="ok", answer="It grew [S1].", model="extractive", retrieval={"top_k": 8})
    question = conversations.append(chat.id, role="user", content="Did debt grow?")
    answer = conversations.append(chat.id, role="assistant", content=response.answer, response=response)
    assert conversations.messages(chat.id) == [question, answer]
    assert conversations.messages(chat.id, last=1) == [answer]
    assert answer.response == response


def test_a_question_is_kept_with_its_answer_or_not_at_all(owner: Owner) -> None:
    conversations = owner.db.of("ann").conversations
    chat = conversations.create(owner.index.id, title="About debt")
    response = AnswerResponse(status="ok", answer="It grew [S1].", model="extractive", retrieval={"top_k": 8})
    answer = conversations.append_both(chat.id, "Did debt grow?", response)
    assert [(turn.role, turn.content) for turn in conversations.messages(chat.id)] == [
        ("user", "Did debt grow?"),
        ("assistant", "It grew [S1]."),
    ]
    assert conversations.messages(chat.id, last=1) == [answer]
    with pytest.raises(errors.ValidationError):  # no table takes NUL
        conversations.append_both(chat.id, "And now?", response.model_copy(update={"answer": "It\0grew."}))
    assert len(conversations.messages(chat.id)) == 2


def test_the_latest_chat_comes_first(owner: Owner) -> None:
    conversations = owner.db.of("ann").conversations
    first, second = (conversations.create(owner.index.id, title=title) for title in ("first", "second"))
    conversations.append(first.id, role="user", content="hello")
    assert [chat.title for chat in conversations.list(owner.index.id)] == ["first", "second"]
    assert conversations.get(first.id).updated_at > second.updated_at


def test_changing_and_deleting(owner: Owner) -> None:
    conversations, document_id = owner.db.of("ann").conversations, uuid.uuid4()
    chat = conversations.create(owner.index.id, title="old", document_ids=[document_id])
    conversations.rename(chat.id, "new")
    conversations.append(chat.id, role="user", content="hello")
    changed = conversations.get(chat.id)
    assert (changed.title, changed.document_ids) == ("new", (document_id,))
    conversations.delete(chat.id)
    with pytest.raises(errors.NotFoundError):
        conversations.messages(chat.id)
    assert conversations.list(owner.index.id) == []


def test_cached_vectors_by_space_and_hash(owner: Owner) -> None:
    cache, vector = owner.db.of("ann").embedding_cache, random_vector("text")
    other = EmbeddingSpace(provider="test", model="other", dimensions=384)
    cache.put(SPACE, {b"one": vector, b"two": [0.0] * 384})
    cache.put(SPACE, {b"one": [0.0]})
    cache.put(SPACE, {})
    found = cache.get(SPACE, [b"one", b"two", b"three"])
    assert found.keys() == {b"one", b"two"}
    assert found[b"one"] == pytest.approx(vector, rel=1e-6)
    assert cache.get(other, [b"one"]) == {}
