"""Chats, and vectors that need not be made again."""

import uuid

import pytest

from rag import errors
from rag.store.store import Store
from rag.types import AnswerResponse, EmbeddingSpace
from tests.integration.samples import SPACE, Owner, random_vector


@pytest.fixture
def owner(db: Store) -> Owner:
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


def test_an_answer_is_replaced_in_its_place_with_its_rating(owner: Owner) -> None:
    conversations = owner.db.of("ann").conversations
    chat = conversations.create(owner.index.id, title="About debt")
    response = AnswerResponse(status="ok", answer="It grew [S1].", model="gpt-4.1", retrieval={"top_k": 8})
    asked = conversations.append(chat.id, role="user", content="Did debt grow?")
    turn = conversations.append(chat.id, role="assistant", content=response.answer, response=response)
    conversations.rate(chat.id, turn.id, "good")
    judged = response.model_copy(update={"answer": "It grew, as said [S1].", "follow_ups": ("By how much?",)})
    conversations.replace_answer(chat.id, turn.id, judged)
    changed = {"content": judged.answer, "response": judged, "rating": "good"}
    assert conversations.messages(chat.id) == [asked, turn.model_copy(update=changed)]
    for unknown in (asked.id, uuid.uuid4()):  # a question has no verdicts
        with pytest.raises(errors.NotFoundError):
            conversations.replace_answer(chat.id, unknown, judged)


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


def test_a_turn_takes_the_place_of_another_which_is_kept(owner: Owner) -> None:
    conversations = owner.db.of("ann").conversations
    chat = conversations.create(owner.index.id, title="About debt")

    def shown() -> list[str]:
        return [turn.content for turn in conversations.messages(chat.id)]

    asked = conversations.append(chat.id, role="user", content="Did debt grow?")
    first = conversations.append(chat.id, role="assistant", content="It did.")
    conversations.append(chat.id, role="user", content="By how much?")
    again = conversations.append(chat.id, role="assistant", content="It grew.", beside=first.id)
    assert shown() == ["Did debt grow?", "It grew."]
    assert conversations.messages(chat.id)[-1] == again
    assert again.versions == (first.id, again.id)
    conversations.choose(chat.id, first.id)
    assert shown() == ["Did debt grow?", "It did.", "By how much?"]  # what followed it, too
    response = AnswerResponse(status="ok", answer="It fell.", model="extractive")
    conversations.append_both(chat.id, "Did equity grow?", response, beside=asked.id)
    assert shown() == ["Did equity grow?", "It fell."]
    with pytest.raises(errors.NotFoundError):  # an answer is no question
        conversations.append_both(chat.id, "And now?", response, beside=first.id)


def test_chats_are_found_by_their_words_and_kept_at_the_top(owner: Owner) -> None:
    conversations = owner.db.of("ann").conversations
    debt, ferries = (conversations.create(owner.index.id, title=title) for title in ("Debt 100%", "Ferries"))
    conversations.append(ferries.id, role="user", content="How many ferries sailed?")
    said = conversations.append(ferries.id, role="assistant", content="Seven Ferries sailed to Northmoor.")

    def found(*words: str) -> list[tuple[str, object, str]]:
        hits = conversations.search(owner.index.id, words, most=5)
        return [(hit.conversation.title, hit.message_id, hit.excerpt) for hit in hits]

    assert found("northmoor", "FERRIES") == [("Ferries", said.id, said.content)]
    assert found("northmoor", "debt") == []
    assert found("0%") == [("Debt 100%", None, "Debt 100%")]  # no pattern
    conversations.update(debt.id, pinned=True)
    assert [chat.title for chat in conversations.list(owner.index.id)] == ["Debt 100%", "Ferries"]
    conversations.rate(ferries.id, said.id, "bad", "There were eight.")
    rated = conversations.messages(ferries.id)[-1]
    assert (rated.rating, rated.reason) == ("bad", "There were eight.")


def test_the_latest_chat_comes_first(owner: Owner) -> None:
    conversations = owner.db.of("ann").conversations
    first, second = (conversations.create(owner.index.id, title=title) for title in ("first", "second"))
    conversations.append(first.id, role="user", content="hello")
    assert [chat.title for chat in conversations.list(owner.index.id)] == ["first", "second"]
    assert conversations.get(first.id).updated_at > second.updated_at


def test_changing_and_deleting(owner: Owner) -> None:
    conversations, document_id = owner.db.of("ann").conversations, uuid.uuid4()
    chat = conversations.create(owner.index.id, title="old", document_ids=[document_id], sources=["tag:debt"])
    conversations.update(chat.id, title="new")
    conversations.append(chat.id, role="user", content="hello")
    changed = conversations.get(chat.id)
    assert (changed.title, changed.document_ids, changed.sources) == ("new", (document_id,), ("tag:debt",))
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
