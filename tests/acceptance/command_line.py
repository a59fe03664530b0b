"""Run commands of `pagelight` in this process."""

import json
from typing import Any

from typer import testing

from rag.cli.app import app

HARBOUR = ("The harbour of Lindmark handled 4,812 ships in 2019.", "Its largest crane lifts 95 tonnes.")
ORCHARD = ("The orchard grows eleven kinds of pears.", "Harvest begins in the last week of August.")


def pagelight(*arguments: object, code: int = 0, answer: str | None = None) -> testing.Result:
    """Run a command that must end with `code`; `answer` is its stdin."""
    result = testing.CliRunner().invoke(app, [str(argument) for argument in arguments], input=answer)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def parsed(*arguments: object, code: int = 0, answer: str | None = None) -> Any:
    """Return what a command prints with `--json`."""
    return json.loads(pagelight(*arguments, "--json", code=code, answer=answer).stdout)
