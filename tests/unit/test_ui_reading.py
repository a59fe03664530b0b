"""Links to places, and tickets of the viewer's door."""

import uuid
from collections.abc import Mapping

import pytest

from rag import errors
from rag.engine import Installation
from rag.types import LOCAL_USER, Rect, RequestOrigin
from rag.ui.viewer.citation_viewer import Place
from rag.ui.viewer.page_server import Tickets

ID = uuid.uuid4()
HERE = RequestOrigin("app", "")


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ({"document": str(ID)}, Place(ID)),
        ({"document": str(ID), "page": "12"}, Place(ID, 12)),
        ({"document": str(ID), "page": "12", "place": "1,2,3.5,4"}, Place(ID, 12, (Rect(1, 2, 3.5, 4),))),
        ({"document": str(ID), "page": "x", "place": "<b>;1,2,3,4;1,2"}, Place(ID, 1, (Rect(1, 2, 3, 4),))),
        ({"document": str(ID), "page": "0"}, Place(ID)),
        ({"document": "../../etc"}, None),
        ({"chat": str(ID)}, None),
    ],
)
def test_a_link_names_a_place(address: Mapping[str, str], place: Place | None) -> None:
    assert Place.of(address) == place


def test_a_ticket_is_its_users_and_no_other_opens_anything() -> None:
    tickets, installation = Tickets(), Installation()
    own = tickets.issue("anna", None, HERE)
    assert tickets.engine(installation, own).user_id == "anna"
    assert tickets.issue("anna", None, HERE, before=own) == own
    others = tickets.issue("bert", None, HERE, before=own)
    assert others != own
    assert tickets.engine(installation, others).user_id == "bert"
    for wrong in ("", LOCAL_USER, own[:-1]):
        with pytest.raises(errors.AuthError):
            tickets.engine(installation, wrong)
