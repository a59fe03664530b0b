"""Read statements about tables."""

import html
import re
from collections.abc import Iterator
from typing import Any

from repositories import CONTRADICTION, ENTAILMENT, NEUTRAL, NLI_LABELS, Pair, Repository, tidy


def sci_tab(repository: Repository) -> Iterator[Pair]:
    """Read statements of computer science papers about their tables."""
    labels = {"supports": ENTAILMENT, "refutes": CONTRADICTION, "not enough info": NEUTRAL}
    for row in repository.json("dataset/sci_tab.json"):
        lines = (row["table_column_names"], *row["table_content_values"])
        rows = [" | ".join(without_layout(cell) for cell in line) for line in lines]
        evidence = "\n".join([without_layout(row["table_caption"]), *rows])
        yield row["paper_id"], evidence, without_layout(row["claim"]), labels[row["label"]]


def without_layout(cell: Any) -> str:
    return re.sub(r"\[(?:BOLD|ITALIC|EMPTY|CONTINUE)\]", "", str(cell)).strip()


def info_tabs(repository: Repository) -> Iterator[Pair]:
    """Read statements about information boxes of Wikipedia, each given as lines of its rows."""
    boxes = {
        name.rsplit("/", 1)[1].removesuffix(".html"): info_box(page.decode("utf-8", "replace"))
        for name, page in repository.folder("data/tables/html").items()
    }
    for part in ("train", "dev", "test_alpha1", "test_alpha2", "test_alpha3"):
        for row in repository.table(f"data/maindata/infotabs_{part}.tsv"):
            label, box = NLI_LABELS.get(row["label"].lower()), boxes.get(row["table_id"])
            if label and box:
                yield f"infotabs-{row['table_id']}", box, row["hypothesis"], label


def info_box(page: str) -> str:
    """Return an information box as text, one row a line."""
    lines = []
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", re.sub(r"^.*?<table", "<table", page, flags=re.S), flags=re.S):
        cells = re.findall(r"<t([hd])[^>]*>(.*?)</t[hd]>", row, flags=re.S)
        shown = []
        for _, cell in cells:
            parted = re.sub(r"</li>|<br\s*/?>", "; ", cell)
            text = html.unescape(re.sub(r"<[^>]+>", "", parted))
            text = re.sub(r"\s+([;,.])", r"\1", re.sub(r"\[\w{1,3}\]", "", " ".join(text.split()))).strip("; ")
            if text:
                shown.append(text)
        if shown:
            lines.append(": ".join(shown))
    return "\n".join(lines)


def tab_fact(repository: Repository) -> Iterator[Pair]:
    """Read statements about tables of Wikipedia, whose tables are in another repository."""
    tables = repository.beside("wenhuchen+Table-Fact-Checking").folder("data/all_csv")
    for part in ("val", "test"):
        for name, (claims, _, labels, caption) in repository.json(f"data/{part}_examples.json").items():
            evidence = "\n".join([caption, *shown_table(tables[f"data/all_csv/{name}"])])
            for claim, label in zip(claims, labels, strict=True):
                yield f"tabfact-{name}", evidence, tidy(claim), ENTAILMENT if label else CONTRADICTION


def shown_table(table: bytes) -> list[str]:
    return [row.replace("#", " | ") for row in table.decode("utf-8", "replace").strip().splitlines()]
