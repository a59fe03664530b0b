"""The choice of a chat's sources: what is ticked and unticked, alone and in groups."""

import datetime as dt
import uuid

import pytest

from rag.types import Document, DocumentStatus, Subject
from rag.ui.chat.source_choice import ALL, UNTAGGED, Choice, Sources


def document(number: int, name: str, *tags: str, about: str = "") -> Document:
    return Document(
        id=uuid.UUID(int=number),
        user_id="ada",
        index_id=uuid.UUID(int=0),
        name=name,
        mime_type="application/pdf",
        sha256="",
        size=1,
        status=DocumentStatus.READY,
        searchable=True,
        tags=tags,
        subject=Subject(names=(about,) if about else ()),
        created_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    )


A, B, C, D = (str(uuid.UUID(int=number)) for number in range(1, 5))
SOURCES = Sources.of(
    [
        document(1, "Annual.pdf", "Bank", "2024", about="Acme"),
        document(2, "birds.pdf", "bank"),
        document(3, "canal.pdf", "2024"),
        document(4, "dunes.pdf"),
    ],
    {"ours": [uuid.UUID(A), uuid.UUID(D), uuid.UUID(int=9)]},
)


def test_groups_are_tags_whatever_their_case_saved_filters_and_the_rest() -> None:
    assert {key: (group.name, set(group.ids)) for key, group in SOURCES.groups.items()} == {
        "all": ("", {A, B, C, D}),
        "saved:ours": ("ours", {A, D}),
        "tag:2024": ("2024", {A, C}),
        "tag:bank": ("bank", {A, B}),
        "untagged": ("", {D}),
    }


@pytest.mark.parametrize(
    ("choice", "entry", "ticked"),
    [
        ((), A, (A,)),
        ((A,), "tag:bank", ("tag:bank",)),
        ((A, D), "tag:bank", (D, "tag:bank")),
        (("tag:bank",), "tag:2024", ("tag:bank", "tag:2024")),
        (("tag:bank", D), ALL, (ALL,)),
    ],
)
def test_ticking_a_group_takes_the_place_of_its_documents(choice: Choice, entry: str, ticked: Choice) -> None:
    assert SOURCES.with_entry(choice, entry) == ticked


@pytest.mark.parametrize(
    ("choice", "entry", "left"),
    [
        ((ALL,), ALL, ()),
        ((ALL,), B, (A, C, D)),
        ((ALL,), "tag:bank", (C, D)),
        (("tag:bank",), "tag:bank", ()),
        (("tag:bank", "tag:2024"), B, ("tag:2024",)),
        (("tag:bank", "tag:2024"), A, (B, C)),
        (("tag:bank", "tag:2024"), "tag:bank", (C,)),
        (("tag:bank", UNTAGGED), C, ("tag:bank", UNTAGGED)),
        ((A, B), "tag:bank", ()),
        (("saved:none",), A, ()),
    ],
)
def test_unticking_keeps_what_else_is_ticked(choice: Choice, entry: str, left: Choice) -> None:
    assert SOURCES.without_entry(choice, entry) == left


def test_an_empty_group_is_unticked_as_it_was_ticked() -> None:
    sources = Sources.of(SOURCES.documents, {"none": []})
    assert sources.with_entry((A,), "saved:none") == (A, "saved:none")
    assert sources.without_entry((A, "saved:none"), "saved:none") == (A,)
    assert sources.without_entry((ALL,), "saved:none") == (A, B, C, D)


def test_what_is_asked_is_what_groups_have_now() -> None:
    assert SOURCES.scope((ALL,)).asked == ()
    assert [str(one) for one in SOURCES.scope((D, "tag:bank")).asked] == [A, B, D]


def test_a_choice_loses_what_is_gone_and_has_later_versions() -> None:
    gone, older = str(uuid.UUID(int=9)), str(uuid.UUID(int=8))
    assert SOURCES.existing((gone, A, "tag:gone"), {}) == (A,)
    assert SOURCES.existing((older, A, D), {older: A}) == (A, D)
    assert SOURCES.existing((gone,), {}) == ()
    assert SOURCES.existing((), {}) == ()


def test_what_a_choice_asks_changes_only_with_its_documents() -> None:
    waiting = document(5, "new.pdf", "bank").model_copy(update={"searchable": False, "status": DocumentStatus.PARSING})
    later = Sources.of([document(6, "newer.pdf"), waiting, *SOURCES.documents], {})
    for choice in ((ALL,), ("tag:bank",), (C, D), ()):
        before = SOURCES.scope(choice)
        now = later.scope(choice, before.first)
        assert (now.ready, now.first, now.is_alone) == (before.ready, before.first, before.is_alone), choice
    assert later.scope((ALL,)).first == uuid.UUID(int=6)
    assert later.scope((ALL,), uuid.UUID(int=9)).first == uuid.UUID(int=6)
    assert later.scope((str(waiting.id),)).first is None
    assert later.scope((str(waiting.id),)).is_alone


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["Annual.pdf", "birds.pdf", "canal.pdf", "dunes.pdf"]),
        ("AN", ["Annual.pdf", "birds.pdf", "canal.pdf"]),
        ("acme", ["Annual.pdf"]),
        ("2024 canal", ["canal.pdf"]),
        ("whale", []),
    ],
)
def test_search_is_by_name_subject_and_tag(query: str, names: list[str]) -> None:
    assert [one.name for one in SOURCES.search(query)] == names
