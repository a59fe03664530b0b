"""Run files: what came out for each question, for other programs to score."""

import json
from collections.abc import Iterable
from pathlib import Path

import pydantic


def write_rows(path: Path, rows: Iterable[pydantic.BaseModel]) -> None:
    """Write a run file, one JSON object a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n")
