"""The admin page, run without a browser: for admins only, and nothing of anybody's documents."""

import datetime as dt
import uuid
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from rag import errors
from rag.engine import RAGEngine
from rag.types import Identity, Role
from rag.ui import session
from rag.ui.admin import users

PATIENCE_SECONDS = 60

pytestmark = pytest.mark.usefixtures("settings")


def test_an_admin_sees_users_and_keys(app: AppTest) -> None:
    with RAGEngine() as engine:
        bob = engine.installation.for_user("bob")
        bob.documents.add(b"A pear.", "a secret name.txt", enqueue=False)
        _, secret = bob.keys.create("laptop", ["read"])
    app.run().switch_page("pages/admin.py").run()
    assert not app.exception
    (users,) = app.dataframe
    assert [(row["user"], row["role"], row["documents"]) for _, row in users.value.iterrows()] == [("bob", "Member", 1)]
    shown = [users.value]
    app.segmented_control[0].set_value("Keys").run()
    (table,) = app.dataframe
    assert [*table.value.iloc[:, 0]] == ["laptop"]
    shown.append(table.value)
    told = "".join(table.to_string() for table in shown)
    assert "secret name" not in told
    assert secret not in told


def test_a_member_sees_nothing_and_each_action_asks_again(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_ADMINS", "ann")
    app.run().switch_page("pages/admin.py").run()
    assert any("for administrators" in element.value for element in app.subheader)
    assert not app.dataframe
    assert all(link.proto.label != "Admin" for link in app.get("page_link"))
    with pytest.raises(errors.ForbiddenError, match="Only administrators"):
        users._accounts()
    with RAGEngine() as engine:
        engine.installation.accounts.set_role("local", Role.ADMIN)
    app.run()
    assert app.dataframe


def test_an_admin_changes_an_account_and_logs_it_out(app: AppTest) -> None:
    with RAGEngine() as engine:
        started = dt.datetime.now(dt.UTC)
        login = Identity(user_id="bob", login_id=uuid.uuid4(), issued_at=started, groups=("legal",))
        engine.installation.logins.open(login)
        engine.installation.accounts.set_groups("bob", ["board"])

    def panel() -> None:
        from rag.ui.admin import users

        (bob,) = users._accounts().list()
        users._account(bob)

    shown = AppTest.from_function(panel, default_timeout=PATIENCE_SECONDS).run()
    assert "From the login provider: legal" in [caption.value for caption in shown.caption]
    shown.selectbox[0].set_value(Role.CURATOR)
    shown.number_input[0].set_value(5)
    _button(shown, "Save").click().run()
    accounts = session.installation().accounts
    changed = accounts.get("bob")
    assert (changed.role, changed.quota_bytes, changed.groups) == (Role.CURATOR, 5_000_000, ("board", "legal"))
    _button(shown, "Log out everywhere").click().run()
    assert session.installation().logins.list("bob") == []
    assert not session.installation().logins.open(login)


def _button(app: AppTest, label: str) -> Any:
    (found,) = [button for button in app.button if button.label == label]
    return found
