"""A spreadsheet, taken in and asked without a language model: the answer is a cell, lit and named."""

from pathlib import Path
from typing import Any

import pytest

from tests import sheets
from tests.acceptance.command_line import pagelight, parsed

QUESTION = "What were total assets in 2023?"


@pytest.mark.usefixtures("settings")
def test_a_question_to_a_sheet_is_answered_by_its_cell(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "harbour.xlsx").write_bytes(sheets.balance())
    pagelight("ingest", tmp_path / "files")
    answer: dict[str, Any] = parsed("ask", QUESTION)
    citation = answer["citations"][0]
    assert answer["status"] == "ok"
    assert citation["row"]["cells"][citation["row"]["asked"]] == "6,145"
    assert (citation["verdict"], citation["cells"], citation["page"]) == ("verified", "Balance!C9", 1)
    assert citation["regions"][0]["cells"] == "Balance!A9:C9"
    assert "harbour.xlsx, Balance!C9, page 1" in pagelight("ask", QUESTION).stdout
    pagelight("export", tmp_path / "taken out")
