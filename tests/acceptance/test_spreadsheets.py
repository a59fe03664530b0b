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


@pytest.mark.usefixtures("settings")
def test_rows_of_a_sheet_are_counted_and_shown(tmp_path: Path) -> None:
    rows = [
        ("Order", "Region", "Amount (EUR)"),
        *((f"A{n}", ("North", "South")[n % 2], 1000 * n) for n in range(1, 61)),
    ]
    (tmp_path / "orders.xlsx").write_bytes(sheets.workbook(Orders=rows))
    pagelight("ingest", tmp_path / "orders.xlsx")
    assert "Orders!A2:C61" in pagelight("tables", "orders.xlsx").stdout
    (table,) = parsed("tables", "orders.xlsx")
    assert [column["name"] for column in table["columns"]] == ["order", "region", "amount_eur"]
    counted = pagelight("tables", "orders.xlsx", "How many orders over 30,000?").stdout
    assert "30" in counted.splitlines()[1]
    assert "From 30 of 60 rows:" in counted
    assert "Orders!A32:C32: A31 · South · 31000" in counted
    result = parsed(
        "tables", "orders.xlsx", "--sql", "SELECT region, sum(amount_eur) AS total FROM data GROUP BY 1 ORDER BY 1"
    )
    assert result["rows"] == [["North", 930_000], ["South", 900_000]]
    assert result["usedCount"] == 60
    refused = parsed("tables", "orders.xlsx", "--sql", "SELECT * FROM read_csv('/etc/passwd')", code=2)
    assert refused["error"]["code"] == "validation"
