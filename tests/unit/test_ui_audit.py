"""What the audit's page tells, in the language of the page."""

import datetime as dt

from rag.types import AuditEntry
from rag.ui import audit
from rag.ui.language import spoken


def test_an_entry_is_told_in_words_without_losing_a_column() -> None:
    details = {"index": "default", "size": 1_400_000, "message_id": "0d06e961"}
    at = dt.datetime(2026, 11, 23, 6, 16, tzinfo=dt.UTC)
    entry = AuditEntry(id=1, at=at, actor="ada", action="document.move", owner="bob", door="cli", details=details)
    english = audit._row(entry, {})
    with spoken("de"):
        german = audit._row(entry, {})
    assert (english["What"], english["From"]) == ("Document moved", "Command line")
    assert english["More"] == "collection: default, size: 1.4 MB"
    assert [*german.values()][2:] == [
        "Dokument verschoben",
        "",
        "bob",
        "Befehlszeile",
        "Sammlung: default, Größe: 1,4 MB",
    ]
    assert len(german) == len(english)
