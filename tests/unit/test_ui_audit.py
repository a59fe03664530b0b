"""What the audit's page tells, in the language of the page."""

import datetime as dt

from rag.types import AuditEntry
from rag.ui.admin import audit_log
from rag.ui.language import use_language


def test_an_entry_is_told_in_words_without_losing_a_column() -> None:
    details = {"index": "default", "size": 1_400_000, "message_id": "0d06e961"}
    at = dt.datetime(2026, 11, 23, 6, 16, tzinfo=dt.UTC)
    entry = AuditEntry(id=1, at=at, actor="ada", action="document.move", owner="bob", door="cli", details=details)
    english = audit_log._row(entry, {})
    with use_language("de"):
        german = audit_log._row(entry, {})
    assert (english["What"], english["From"]) == ("Document moved", "Command line")
    assert english["Details"] == "collection: default, size: 1.4 MB"
    assert [*german.values()][2:] == [
        "Dokument verschoben",
        "",
        "bob",
        "Befehlszeile",
        "Sammlung: default, Größe: 1,4 MB",
    ]
    assert len(german) == len(english)


def test_a_change_is_told_with_what_was_before() -> None:
    details = {
        "role": "admin",
        "previous_role": "member",
        "groups": ["board"],
        "previous_groups": [],
        "quota_bytes": 1_400_000,
        "previous_quota_bytes": None,
        "by_login": True,
    }
    at = dt.datetime(2026, 11, 23, 6, 16, tzinfo=dt.UTC)
    entry = AuditEntry(id=1, at=at, actor="ada", action="account.role", owner="ada", details=details)
    assert audit_log._row(entry, {})["Details"] == (
        "role: Admin, role before: Member, groups: board, groups before: none, quota: 1.4 MB, "
        "quota before: system default, from the login provider"
    )
    with use_language("de"):
        assert [*audit_log._row(entry, {}).values()][-1] == (
            "Rolle: Admin, Rolle vorher: Mitglied, Gruppen: board, Gruppen vorher: keine, Speicherplatz: 1,4 MB, "
            "Speicherplatz vorher: wie für alle, durch die Anmeldung"
        )
