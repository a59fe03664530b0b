"""A language model chooses the table that a question is about, and writes its query."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag import errors, types
from rag.engine import RAGEngine
from tests import pdfs, sheets, vendors
from tests.integration.test_tables import AMOUNTS, HEADS, ORDERS, VENTURE_HEADS, VENTURES, add

STAFF = [("Employee", "Region", "Salary"), *((f"e{n}", ("North", "East")[n % 2], 100 * n) for n in range(1, 31))]
BY_REGION = "SELECT region, sum(amount_eur) AS total FROM data GROUP BY region ORDER BY total DESC LIMIT 1"
WEST = sum(AMOUNTS[3::4])


class Model:
    """A model that writes a statement for the table whose description has a text; of other prompts an answer."""

    def __init__(self, engine: RAGEngine) -> None:
        self.engine = engine
        self.table, self.sql = "", ""
        self.prompts: list[str] = []

    def reply(self, prompt: str) -> str:
        if "DuckDB" not in prompt:
            return "Nothing is said of that."
        self.prompts.append(prompt)
        number = next((n for n, of in re.findall(r"^Table (\d+): (.*)", prompt, re.MULTILINE) if self.table in of), "0")
        return json.dumps({"table": int(number), "sql": self.sql or None})

    def answer(self, question: str, table: str, sql: str) -> types.AnswerResponse:
        """Ask in the chat; the model chooses `table` and writes `sql`."""
        self.table, self.sql, self.prompts = table, sql, []
        return self.engine.answer(question)


@pytest.fixture
def model(tmp_path: Path, database_url: str) -> Iterator[Model]:
    with vendors.vendor("openai") as vendor:
        settings = {"rag_data_dir": tmp_path / "data", "rag_database_url": database_url, "rag_embed_model": "local"}
        with RAGEngine(vendor.config(**settings), user_id="ada") as engine:
            model = Model(engine)
            vendor.server.reply_to = model.reply
            yield model


def is_counted(answer: types.AnswerResponse) -> bool:
    return "by a query that" in (answer.hint or "")


def test_it_chooses_among_the_tables_of_several_spreadsheets(model: Model) -> None:
    add(model.engine, sheets.workbook(Costs=[("Item", "Cost"), ("Rent", 5)], Staff=STAFF), "company.xlsx")
    add(model.engine, sheets.workbook(Orders=[HEADS, *ORDERS]), "o.xlsx")
    answer = model.answer("Which region has the top amount?", "Orders", BY_REGION)
    assert [sentence.text for sentence in answer.sentences] == [f"region: West · total: {WEST:,}"]
    assert answer.sentences[0].support is types.Support.NOT_VERIFIED
    assert all("West" in (one.quote or "") for one in answer.citations)
    assert answer.usage.input_tokens
    assert {hit.document_name for hit in answer.contexts} == {"o.xlsx"}
    (prompt,) = model.prompts
    assert re.findall(r"^Table (\d): (.*)", prompt, re.MULTILINE) == [
        ("1", '"Orders" in "o.xlsx", 160 rows'),
        ("2", '"Staff" in "company.xlsx", 30 rows'),
        ("3", '"Costs" in "company.xlsx", 1 rows'),
    ]
    assert '"samples": ["North", "South", "East"]' in prompt
    none = model.answer("Which region has the fewest complaints?", "no such", BY_REGION)
    assert (len(model.prompts), is_counted(none)) == (1, False)
    assert not is_counted(model.answer("Which region has the top amount?", "Orders", ""))
    assert not is_counted(model.answer("Which region has the top amount?", "Orders", "DROP TABLE data"))
    assert len(model.prompts) == 2
    # the staff has more of its words
    north = "SELECT max(amount_eur) AS top FROM data WHERE region = 'North'"
    assert not is_counted(model.answer("Which employee in the North is at the top?", "Orders", north))
    assert is_counted(model.answer("What is the top amount up in the North?", "Orders", north))


def test_a_query_that_other_tables_answer_as_well_is_none(model: Model) -> None:
    years = {str(year): [HEADS, *ORDERS[place::2]] for place, year in enumerate((2023, 2024))}
    old = [(*HEADS[:4], "Value"), *ORDERS]
    add(model.engine, sheets.workbook(None, **years, Old=old, Staff=STAFF), "years.xlsx")
    answer = model.answer("Which region has the top amount?", '"2024"', BY_REGION)
    assert not is_counted(answer)
    assert answer.hint is not None
    assert "It has others beside it that may be meant as well." in answer.hint
    count = "SELECT count(*) AS people FROM data WHERE region = 'North'"
    assert not is_counted(model.answer("How many people from the North do we have?", '"2023"', count))
    assert not is_counted(model.answer("How many of the employees are from the North?", '"2023"', count))
    over = "SELECT count(*) AS number FROM data WHERE value > 30000"
    assert not is_counted(model.answer("How many rows over 30,000?", "Old", over))
    by_name = model.answer("Which region has the top amount in the table of 2024?", '"2024"', BY_REGION)
    assert [sentence.text for sentence in by_name.sentences] == [f"region: West · total: {WEST:,}"]


def test_a_table_with_the_same_words_under_other_heads_may_be_meant(model: Model) -> None:
    heads = ("Order ID", "Area", "Amount")
    add(
        model.engine,
        sheets.workbook(First=[("Order ID", "Region", "Amount"), (1, "North", 5), (2, "South", 7)]),
        "a.xlsx",
    )
    count = "SELECT count(*) AS number FROM data WHERE region = 'North'"
    question = "How many orders came from the North?"
    assert is_counted(model.answer(question, "First", count))
    add(model.engine, sheets.workbook(Second=[heads, (3, "North", 9), (4, "North", 2)]), "b.xlsx")
    answer = model.answer(question, "First", count)
    assert not is_counted(answer)
    assert "It has others beside it that may be meant as well." in (answer.hint or "")


def test_groups_that_are_not_shown_are_no_answer(model: Model) -> None:
    add(model.engine, sheets.workbook(Orders=[HEADS, *ORDERS]), "o.xlsx")
    question = "Which region has the top amount?"
    assert not is_counted(model.answer(question, "Orders", "SELECT sum(amount_eur) FROM data GROUP BY region LIMIT 1"))
    assert is_counted(model.answer(question, "Orders", BY_REGION))


def test_rows_without_a_figure_are_told(model: Model) -> None:
    rows = [(f"e{n}", ("North", "East")[n % 2], None if n % 3 else 100 * n) for n in range(1, 31)]
    document = add(model.engine, sheets.workbook(Staff=[STAFF[0], *rows]), "staff.xlsx")
    question, sql = "What is the usual average of a salary paid?", "SELECT avg(salary) AS mean FROM data"
    answer = model.answer(question, "Staff", sql)
    assert is_counted(answer)
    note = "20 of these rows have no value of “Salary”."
    assert note in (answer.hint or "").splitlines()
    assert model.engine.tables.query(document.id, question=question).notes == (note,)
    people = model.answer("How many people in total?", "Staff", "SELECT count(employee) AS people FROM data")
    assert is_counted(people)
    assert "no value" not in (people.hint or "")


def test_it_sees_how_many_other_documents_are_not_named(model: Model) -> None:
    add(model.engine, sheets.workbook(Staff=STAFF), "staff.xlsx")
    for number in range(22):
        add(model.engine, f"Letter {number}.".encode(), f"letter-{number}.txt")
    model.answer("How many employees sit up in the North?", "Staff", "")
    (prompt,) = model.prompts
    assert len(set(re.findall(r"letter-\d+", prompt))) == 20
    assert "So may 2 more documents" in prompt


def test_beside_other_documents_a_query_of_all_rows_is_none(model: Model) -> None:
    add(model.engine, sheets.workbook(Staff=STAFF), "staff.xlsx")
    add(model.engine, pdfs.plain(["The company has 412 employees."]), "letter.pdf")
    everyone = "SELECT count(*) AS number FROM data"
    assert not is_counted(model.answer("How many employees does the company have?", "Staff", everyone))
    assert not is_counted(model.answer("How many ships were sold?", "Staff", everyone))
    assert model.prompts == []
    for condition in ("region IS NOT NULL", "true"):
        assert not is_counted(
            model.answer("How many employees sit in a region?", "Staff", f"{everyone} WHERE {condition}")
        )
        assert model.prompts
    north = model.answer("How many employees sit up in the North?", "Staff", f"{everyone} WHERE region = 'North'")
    assert 'may answer the question instead: "letter.pdf".' in model.prompts[0]
    assert [sentence.text for sentence in north.sentences] == ["number: 15"]
    named = model.answer("How many people in total are listed in staff.xlsx?", "Staff", everyone)
    assert [sentence.text for sentence in named.sentences] == ["number: 30"]


def test_it_chooses_tables_on_pages_that_were_read_whole(model: Model) -> None:
    add(model.engine, pdfs.tables((VENTURE_HEADS, *VENTURES), title="List of ventures"), "ventures.pdf")
    top = "SELECT country, sum(staff) AS people FROM data GROUP BY country ORDER BY people DESC LIMIT 1"
    answer = model.answer("Which country has the most staff?", "ventures", top)
    assert [sentence.text for sentence in answer.sentences] == ["country: Spain · people: 42,570"]
    assert {hit.document_name for hit in answer.contexts} == {"ventures.pdf"}
    question = "How many staff does the venture “Unit 3 Ltd” have in total?"
    for sql in (
        "SELECT staff FROM data WHERE venture = 'Unit 3 Ltd'",  # passages say it
        "SELECT sum(staff) FROM data",
        "SELECT count(*) FROM data WHERE page_no = 1",
    ):
        assert not is_counted(model.answer(question, "", sql))
        assert len(model.prompts) == 1
    assert not is_counted(model.answer("How many risks are there?", "", top))
    assert model.prompts == []


def test_it_counts_no_table_that_was_read_in_part_and_no_statement(model: Model) -> None:
    rows = (("Plan", "Stage", "Outlay"), *((f"Plan {n}", ("Open", "Done")[n % 2], f"{100 * n:,}") for n in range(1, 9)))
    add(model.engine, pdfs.tables((*rows, ("Total", "", "9,999"))), "plans.pdf")
    add(model.engine, pdfs.annual_report("Acme"), "report.pdf")
    by_stage = "SELECT stage, sum(outlay) AS total FROM data GROUP BY stage ORDER BY total DESC LIMIT 1"
    answer = model.answer("Which stage has the most outlay?", "plans.pdf", by_stage)
    assert not is_counted(answer)
    assert "It has a total that is not the sum of its rows." in (answer.hint or "")
    statement = "SELECT sum(c_2021) FROM data WHERE c_2021 > 5"
    assert not is_counted(model.answer("What was the total of the stage in 2021?", "report.pdf", statement))


def test_rows_that_may_be_totals_are_none_of_a_query(model: Model) -> None:
    rows = [
        ("Area", "Item", "Cost"),
        ("North", "a", 5),
        ("South", "b", 7),
        ("North", "c", 9),
        ("Total North", None, 14),
    ]
    add(model.engine, sheets.workbook(Costs=rows), "costs.xlsx")
    answer = model.answer(
        "What is the share of items over 6?", "Costs", "SELECT count_if(cost > 6) / count(*) FROM data"
    )
    assert not is_counted(answer)
    assert "It has rows that may be totals of others." in (answer.hint or "")


def test_it_sees_the_tables_of_which_a_question_names_most(model: Model) -> None:
    filler = {f"List__{n}": [(f"Thing {n}", f"Figure {n}"), (f"t{n}", n)] for n in range(30)}
    wide = [("Depot", *(f"A measure of the pieces, number {n}" for n in range(200))), ("North", *range(200))]
    document = add(model.engine, sheets.workbook(None, **filler, Wide=wide), "many.xlsx")
    model.table, model.sql = "Wide", "SELECT max(a_measure_of_the_pieces_number_199) FROM data WHERE depot = 'North'"
    question = "The best measure number 199 of all pieces, by depot North?"
    assert model.engine.tables.query(document.id, question=question).rows == ((199,),)
    (prompt,) = model.prompts
    assert len(re.findall(r"^Table", prompt, re.MULTILINE)) == 20
    assert "11 more tables are not described" in prompt
    wide_columns = prompt.partition('Table 1: "Wide"')[2].splitlines()[1:3]
    assert [column.split()[1] for column in wide_columns] == ["depot", "a_measure_of_the_pieces_number_199"]
    assert len(prompt) < 20_000
    model.table = "List 25"
    with pytest.raises(errors.ValidationError, match="finds no table"):
        model.engine.tables.query(document.id, question=question)
