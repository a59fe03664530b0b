"""Tables of documents as data: counted, added up and grouped over all pages, with the rows that were used."""

import json
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rag import errors, types
from rag.engine import RAGEngine
from rag.engine.library.tables import Tables
from tests import pdfs, sheets, vendors

REGIONS = ("North", "South", "East", "West")
HEADS = ("Order ID", "Date", "Region", "Status", "Amount (EUR)")
ORDERS: Sequence[Sequence[object]] = [
    (1000 + n, f"2024-{n % 12 + 1:02d}-15", REGIONS[n % 4], ("Open", "Shipped")[n % 2], 250 * (n + 1))
    for n in range(160)
]
AMOUNTS = [250 * (n + 1) for n in range(160)]


def add(engine: RAGEngine, content: bytes, name: str) -> types.Document:
    document = engine.documents.process(engine.documents.add(content, name, enqueue=False).id)
    assert document.status is types.DocumentStatus.READY, document.error
    return document


@pytest.fixture
def orders(engine: RAGEngine) -> types.Document:
    """A sheet of several pages with a total at its end, and another sheet."""
    total = ("Total", None, None, None, sum(AMOUNTS))
    return add(engine, sheets.workbook(Orders=[HEADS, *ORDERS, total], Costs=[("Item", "Cost"), ("Rent", 5)]), "o.xlsx")


def test_the_tables_of_a_workbook_are_listed_with_typed_columns(engine: RAGEngine, orders: types.Document) -> None:
    first, second = engine.tables.list(orders.id)
    assert (first.name, first.row_count, first.cells, first.totals) == ("Orders", 160, "Orders!A2:E162", (162,))
    assert first.page_end > first.page_start == 1
    assert [(column.name, column.kind, column.unit) for column in first.columns] == [
        ("order_id", "number", None),
        ("date", "date", None),
        ("region", "text", None),
        ("status", "text", None),
        ("amount_eur", "number", "€"),
    ]
    assert (second.name, second.row_count) == ("Costs", 1)


def test_rows_are_counted_over_all_pages_and_cited(engine: RAGEngine, orders: types.Document) -> None:
    result = engine.tables.query(orders.id, question="How many orders over 30,000?")
    assert result.rows == ((40,),)
    assert result.written_by == "words"
    assert result.used_count == len(result.used_rows) == 40
    assert result.used_rows[0] == 122
    assert "162" in result.notes[0]
    cited = result.citations[0]
    assert (cited.number, cited.region.cells) == (122, "Orders!A122:E122")
    assert "30250" in cited.text
    page = engine.pages.text(orders.id, [cited.region.page_number])
    assert any(line.bbox == cited.region.rects[0] and "30250" in line.text for line in page.lines)


def test_sums_by_group_do_not_count_the_total(engine: RAGEngine, orders: types.Document) -> None:
    result = engine.tables.query(orders.id, 1, question="What is the total amount by region?")
    sums = {region: sum(AMOUNTS[place::4]) for place, region in enumerate(REGIONS)}
    assert result.rows == tuple(sorted(sums.items()))
    whole = engine.tables.query(orders.id, 1, sql="SELECT sum(amount_eur), count(*) FROM data")
    assert whole.rows == ((sum(AMOUNTS), 160),)
    assert whole.written_by == "caller"


def test_wide_sheets_are_one_table(engine: RAGEngine) -> None:
    heads = ["Name", *(f"Measure {n}" for n in range(1, 41))]
    rows = [[f"row {n}", *(100 * n + k for k in range(1, 41))] for n in range(1, 101)]
    document = add(engine, sheets.workbook(Wide=[heads, *rows]), "wide.xlsx")
    assert document.page_count > 3
    (table,) = engine.tables.list(document.id)
    assert (table.row_count, len(table.columns)) == (100, 41)
    result = engine.tables.query(document.id, sql="SELECT sum(measure_40), max(measure_1) FROM data")
    assert result.rows == ((sum(100 * n + 40 for n in range(1, 101)), 10001),)


def test_german_csv_files_are_read_with_commas(engine: RAGEngine) -> None:
    lines = ["Kunde;Ort;Umsatz;Datum", "Acme;Köln;1.234,50;01.02.2024", "Bolt;Bonn;950;13.02.2024", "Cent;;1.200,00;"]
    document = add(engine, "\n".join([*lines, "Dorn"]).encode(), "kunden.csv")
    result = engine.tables.query(document.id, question="Wie hoch ist die Summe Umsatz?")
    assert result.rows == ((3384.5,),)
    assert result.notes == ("1 of these rows have no value of “Umsatz”.",)
    assert engine.tables.query(document.id, question="Wie viele Kunden gibt es?").rows == ((4,),)
    assert engine.tables.query(document.id, question="Wie viele Kunden im Februar 2024?").rows == ((2,),)


def test_a_note_below_an_empty_row_is_no_row(engine: RAGEngine) -> None:
    lines = ["Rep,Sales,Year", "Ann,10,2022", "Bob,20,2023", "Cy,,", ",,", '"Source: ERP, not audited",,']
    document = add(engine, "\n".join(lines).encode(), "sales.csv")
    result = engine.tables.query(document.id, question="How many reps?")
    assert result.rows == ((3,),)
    assert result.notes == ("Rows not counted that only name a section: 6.",)


def test_tables_of_a_report_are_queried(engine: RAGEngine) -> None:
    document = add(engine, pdfs.annual_report("Acme"), "report.pdf")
    (table,) = engine.tables.list(document.id)
    assert {column.name: column.scale for column in table.columns} == {
        "label": None,
        "c_2021": "thousand",
        "c_2020": "thousand",
    }
    result = engine.tables.query(document.id, sql="SELECT c_2021 FROM data WHERE label = 'Net sales'")
    assert result.rows == ((5200,),)
    assert [row.text for row in result.citations] == ["Net sales · 5,200 · 4,800"]


def test_what_is_not_understood_is_refused(engine: RAGEngine, orders: types.Document, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    for sql in (f"SELECT * FROM '{secret}'", f"SELECT * FROM read_csv('{secret}')", "SELECT 1; SELECT 2"):
        with pytest.raises(errors.ValidationError, match="one SELECT statement on the table"):
            engine.tables.query(orders.id, 1, sql=sql)
    with pytest.raises(errors.ValidationError, match=r"Order ID, Date"):
        engine.tables.query(orders.id, question="Which risks does the company see?")
    with pytest.raises(errors.ValidationError, match=r"1 \(Orders\), 2 \(Costs\)"):
        engine.tables.query(orders.id, sql="SELECT count(*) FROM data")
    with pytest.raises(errors.ValidationError, match="either sql or question"):
        engine.tables.query(orders.id, 1)
    with pytest.raises(errors.NotFoundError, match="There is no table 3"):
        engine.tables.query(orders.id, 3, sql="SELECT count(*) FROM data")


def test_other_users_tables_are_not_found(engine: RAGEngine, orders: types.Document) -> None:
    eve = engine.installation.for_user("eve")
    with pytest.raises(errors.NotFoundError):
        eve.tables.list(orders.id)
    with pytest.raises(errors.NotFoundError):
        eve.tables.query(orders.id, 1, sql="SELECT count(*) FROM data")
    with pytest.raises(errors.NotFoundError):
        engine.tables.list(uuid.uuid4())


def test_documents_that_are_not_read_or_in_the_trash_have_no_tables(engine: RAGEngine, orders: types.Document) -> None:
    waiting = engine.documents.add(sheets.balance(), "b.xlsx")
    with pytest.raises(errors.ConflictError, match="not read completely"):
        engine.tables.list(waiting.id)
    engine.documents.trash([orders.id])
    assert engine.tables.list(orders.id) == ()
    with pytest.raises(errors.NotFoundError, match="no tables"):
        engine.tables.query(orders.id, question="How many orders are there?")


# --- in the chat ---


def test_a_question_is_answered_from_all_rows_with_citations(engine: RAGEngine, orders: types.Document) -> None:
    answer = engine.answer("How many orders over 30,000?")
    assert (answer.status, answer.answer.split(" [")[0]) == ("ok", "Number of rows (Amount (EUR) > 30,000): 40")
    assert answer.hint is not None
    first, note, query = answer.hint.splitlines()
    assert first == "From 40 of 160 rows of the table “Orders”: Amount (EUR) > 30,000."
    assert note == "Rows left out as totals of others: 162."
    assert query == 'Query: SELECT count(*) AS "count" FROM data WHERE "amount_eur" > 30000'
    quotes = [citation.quote.split("\t")[-1] for citation in answer.citations if citation.quote]
    assert quotes == [str(amount) for amount in AMOUNTS if amount > 30_000][:12]
    assert answer.citations[0].regions[0].cells == "Orders!A122:E122"
    assert {hit.document_name for hit in answer.contexts} == {"o.xlsx"}
    assert answer.sentences[0].support is types.Support.SUPPORTED


def test_groups_are_told_each_with_its_rows(engine: RAGEngine, orders: types.Document) -> None:
    answer = engine.answer("What is the total amount by status?", orders.id)
    assert [sentence.text for sentence in answer.sentences] == [
        f"Open: Sum of Amount (EUR): {sum(AMOUNTS[::2]):,} €",
        f"Shipped: Sum of Amount (EUR): {sum(AMOUNTS[1::2]):,} €",
    ]
    for number, status in enumerate(("Open", "Shipped")):
        quotes = [citation.quote or "" for citation in answer.citations if citation.sentence == number]
        assert len(quotes) == 2
        assert all(status in quote for quote in quotes)


def test_no_row_is_no_answer_from_a_passage(engine: RAGEngine, orders: types.Document) -> None:
    answer = engine.answer("How many orders over 1,000,000?", orders.id)
    assert answer.status == "insufficient_context"
    assert answer.answer == "None of the 160 rows of the table “Orders” is like that."


def test_a_bare_count_is_only_answered_where_nothing_else_is_meant(engine: RAGEngine) -> None:
    rows = [HEADS, *ORDERS]
    document = add(engine, "\n".join(",".join(map(str, row)) for row in rows).encode(), "list.csv")
    question = "How many entries are there?"
    assert engine.answer(question).answer.startswith("Number of rows: 160")
    add(engine, pdfs.plain(["The register had 4,812 entries in 2019."]), "letter.pdf")
    assert "160" not in engine.answer(question).answer
    assert engine.answer(question, document.id).answer.startswith("Number of rows: 160")
    assert engine.answer("How many entries does list.csv have?").answer.startswith("Number of rows: 160")
    german = engine.answer("Wie viele Einträge in list.csv sind über 30.000?")
    assert german.answer.startswith("Anzahl der Zeilen (Amount (EUR) > 30,000): 40")


def test_tables_of_one_sheet_are_told_apart_and_rows_of_long_texts_are_whole(engine: RAGEngine) -> None:
    """Beside and below each other, and over pages."""
    beside = [("City", "People", None, "Fruit", "Kilos"), *((f"c{n}", 9 * n, None, f"f{n}", n) for n in range(1, 91))]
    long = [("Name", "Comment", "Score"), *((f"n{n}", "a word " * (900 if n == 2 else 3), n) for n in range(6))]
    document = add(engine, sheets.workbook(Beside=beside, Long=long), "several.xlsx")
    cities, fruit, comments = engine.tables.list(document.id)
    assert (cities.cells, fruit.cells, comments.cells) == ("Beside!A2:B91", "Beside!D2:E91", "Long!A2:C7")
    assert cities.notes == ("Other tables of the sheet are not included: Beside!D2:E91.",)
    result = engine.tables.query(document.id, 3, sql="SELECT count(*), sum(score), max(length(comment)) FROM data")
    assert result.rows == ((6, 15, 7 * 900 - 1),)
    assert engine.tables.query(document.id, question="total kilos").rows == ((sum(range(1, 91)),),)


def test_the_row_of_an_extreme_and_of_a_group_is_cited(engine: RAGEngine) -> None:
    """Also beyond the rows that results name, and where figures and years are printed in another way."""
    heads = ("Name", "Year", "Rate", "Start", "Price")
    rows = [
        (f"n{n}", 2020 + n % 3, 20.5 if n % 2 else 1000, f"2024-01-{1 + n % 9:02d} 10:00", f"{1000 * n:,}.50")
        for n in range(1, 1201)
    ]
    document = add(engine, sheets.workbook(List=[heads, *rows]), "list.xlsx")
    highest = engine.answer("What is the highest price?", document.id)
    assert highest.answer.startswith("Highest Price: 1,200,000.5")
    assert [(citation.quote or "").split("\t")[0] for citation in highest.citations] == ["n1200"]
    by_rate = engine.answer("total price by rate", document.id)
    assert [sentence.text.partition(":")[0] for sentence in by_rate.sentences] == ["20.5", "1000"]
    quotes = [(citation.sentence, (citation.quote or "").split("\t")[0]) for citation in by_rate.citations]
    assert quotes == [(0, "n1"), (0, "n3"), (1, "n2"), (1, "n4")]
    by_year = engine.answer("highest price by year", document.id)
    assert by_year.sentences[1].text.startswith("2021: Highest Price: 1,198,000.5")
    assert [(one.quote or "").split("\t")[0] for one in by_year.citations] == ["n1200", "n1198", "n1199"]
    assert engine.answer("latest year", document.id).answer.startswith("Highest Year: 2022")
    by_start = engine.answer("number of rows by start", document.id)
    assert [(one.quote or "").split("\t")[0] for one in by_start.citations][:2] == ["n9", "n18"]


def test_a_bare_total_is_only_answered_where_nothing_else_is_meant(engine: RAGEngine) -> None:
    add(engine, sheets.workbook(List=[("Customer", "Amount"), ("Acme", 5), ("Bolt", 7), ("Acme", 9)]), "list.xlsx")
    assert engine.answer("What is the total?").answer.startswith("Sum of Amount: 21")
    add(engine, pdfs.plain(["The maximum is 4,812, and the total is 77,000 of 31 customers."]), "letter.pdf")
    for question in ("What is the total?", "What is the maximum?", "How many customers?"):
        assert not engine.answer(question).answer.startswith(("Sum of", "Highest", "Different"))
    assert engine.answer("What is the total amount?").answer.startswith("Sum of Amount: 21")
    assert engine.answer("How many customers does list.xlsx have?").answer.startswith("Different values of Customer: 2")


VENTURES = [
    (f"Unit {n} Ltd", ("Germany", "France", "Spain")[n % 3], f"{10 * (n % 5 + 1)}%", f"{1000 + 37 * n:,}")
    for n in range(60)
]
VENTURE_HEADS = ("Venture", "Country", "Ownership", "Staff")


def test_rows_of_a_table_on_pages_are_counted_and_cited_with_their_boxes(engine: RAGEngine) -> None:
    tables = [(VENTURE_HEADS, *VENTURES[:35]), (VENTURE_HEADS, *VENTURES[35:])]
    document = add(engine, pdfs.tables(*tables, title="List of ventures"), "ventures.pdf")
    answer = engine.answer("How many ventures are in Spain?", document.id)
    assert answer.answer.startswith("Number of rows (Country = Spain): 20 [S1]")
    assert answer.hint is not None
    assert answer.hint.startswith("From 20 of 60 rows of the table")
    assert answer.sentences[0].support is types.Support.SUPPORTED
    first = answer.citations[0]
    assert (first.quote, first.regions[0].page_number) == ("Unit 2 Ltd\tSpain\t30%\t1,074", 1)
    assert len(first.regions[0].rects) == 4
    highest = engine.answer("highest staff in France", document.id)
    assert highest.answer.startswith("Highest Staff (Country = France): 3,146")
    assert [(one.quote or "").split("\t")[0] for one in highest.citations] == ["Unit 58 Ltd"]
    assert highest.citations[0].regions[0].page_number == 2
    german = engine.answer("Wie viele Ventures nach Country?", document.id)
    assert [sentence.text.rpartition(": ")[2] for sentence in german.sentences] == ["20", "20", "20"]


def test_tables_on_pages_are_only_counted_if_their_columns_are_named(engine: RAGEngine) -> None:
    document = add(engine, pdfs.tables((VENTURE_HEADS, *VENTURES), title="List of ventures"), "ventures.pdf")
    for question in ("How many ventures are there?", "How many are in Spain?", "How many rows over 2,000?"):
        assert not engine.answer(question, document.id).answer.startswith(("Number of rows", "Different values"))
    report = add(engine, pdfs.annual_report("Acme"), "report.pdf")
    for question in ("total 2021", "What was the total in 2021?", "highest 2020"):
        assert not engine.answer(question, report.id).answer.startswith(("Sum of", "Highest"))


def test_a_table_that_was_not_read_whole_is_not_counted_and_told(engine: RAGEngine) -> None:
    rows = (("Plan", "Stage", "Outlay"), *((f"Plan {n}", ("Open", "Done")[n % 2], f"{100 * n:,}") for n in range(1, 9)))
    wrong_total = add(engine, pdfs.tables((*rows, ("Total", "", "9,999"))), "plans.pdf")
    answer = engine.answer("How many plans are open?", wrong_total.id)
    assert not answer.answer.startswith("Number of rows")
    assert answer.hint is not None
    assert answer.hint.splitlines()[0] == (
        "The rows of the table on page 1 of “plans.pdf” are not counted: they may not be those that are meant. "
        "It has a total that is not the sum of its rows."
    )
    right_total = add(engine, pdfs.tables((*rows, ("Total", "", "3,600"))), "right.pdf")
    assert engine.answer("total outlay of open plans", right_total.id).answer.startswith(
        "Sum of Outlay (Stage = Open): 2,000"
    )
    gap = add(engine, pdfs.tables((*rows[:4], ("Plan X", "Open", ""), *rows[4:])), "gap.pdf")
    assert "cells without a value" in (engine.answer("total outlay of open plans", gap.id).hint or "")
    assert engine.answer("How many plans are open?", gap.id).answer.startswith("Number of rows (Stage = Open): 5")


def test_rows_that_may_be_totals_are_not_counted(engine: RAGEngine) -> None:
    rows = [
        ("Area", "Item", "Cost"),
        ("North", "a", 5),
        ("South", "b", 7),
        ("North", "c", 9),
        ("Total North", None, 14),
    ]
    document = add(engine, sheets.workbook(Costs=rows), "costs.xlsx")
    answer = engine.answer("total cost", document.id)
    assert not answer.answer.startswith("Sum of")
    assert "It has rows that may be totals of others." in (answer.hint or "")
    assert engine.answer("total cost of area North", document.id).answer.startswith("Sum of Cost (Area = North): 14")


def test_hidden_rows_are_told_and_merged_cells_fill_their_rows(engine: RAGEngine) -> None:
    def change(book: Any) -> None:
        sheet = book["Stock"]
        sheet.row_dimensions[3].hidden = sheet.column_dimensions["C"].hidden = True
        sheet.merge_cells("A2:A4")
        sheet.merge_cells("A5:A6")

    rows = [
        ("Depot", "Part", "Pieces"),
        ("North", "a", 1),
        (None, "b", 2),
        (None, "c", 3),
        ("South", "d", 4),
        (None, "e", 5),
    ]
    document = add(engine, sheets.workbook(change, Stock=rows), "stock.xlsx")
    result = engine.tables.query(document.id, question="total pieces by depot")
    assert result.rows == (("North", 6), ("South", 9))
    assert result.notes == ("Rows counted that the sheet hides: 3.", "Columns that the sheet hides: Pieces.")


def test_a_model_writes_the_query_that_words_do_not_say(tmp_path: Path, database_url: str) -> None:
    """Its figures are exact, but nobody has checked that it asks what is meant."""
    prompts: list[str] = []

    def reply(prompt: str) -> str:
        prompts.append(prompt)
        sql = "SELECT region, sum(amount_eur) AS total FROM data GROUP BY region ORDER BY total DESC LIMIT 2"
        return json.dumps({"table": 1, "sql": sql})

    with vendors.vendor("openai") as vendor:
        vendor.server.reply_to = reply
        settings = {"rag_data_dir": tmp_path / "data", "rag_database_url": database_url, "rag_embed_model": "local"}
        with RAGEngine(vendor.config(**settings), user_id="ada") as engine:
            document = add(engine, sheets.workbook(Orders=[HEADS, *ORDERS]), "o.xlsx")
            answer = engine.answer("What are the top 2 regions by amount?", document.id)
            assert [sentence.text for sentence in answer.sentences] == [
                f"region: {region} · total: {sum(AMOUNTS[place::4]):,}" for region, place in (("West", 3), ("East", 2))
            ]
            assert {sentence.support for sentence in answer.sentences} == {types.Support.NOT_VERIFIED}
            assert all("West" in (one.quote or "") for one in answer.citations if one.sentence == 0)
            assert "by a query that" in (answer.hint or "")
            assert len(prompts) == 1
            assert engine.answer("How many orders over 30,000?", document.id).model == "extractive"
            assert len(prompts) == 1


@pytest.mark.parametrize(
    "question", ["Which region had the highest amount in the North?", "How many regions have no orders at all?"]
)
def test_rows_are_not_counted_and_ranked_by_passages(engine: RAGEngine, orders: types.Document, question: str) -> None:
    answer = engine.answer(question, orders.id)
    assert answer.status == "insufficient_context"
    assert answer.answer.startswith("Without a language model the rows of a table are counted only if")
    assert not answer.citations


def test_a_query_that_is_refused_is_no_answer(
    engine: RAGEngine, orders: types.Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise errors.ValidationError("refused")

    monkeypatch.setattr(Tables, "answer", refuse)
    assert not engine.answer("How many orders over 30,000?", orders.id).answer.startswith("Number of rows")
