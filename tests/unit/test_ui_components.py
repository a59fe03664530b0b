"""A component's scripts share one scope with the prelude, so no two may declare the same name."""

import re
from collections import Counter

import pytest

from rag.ui.components import ASSETS
from rag.ui.viewer.pdf_viewer import SCRIPTS

DECLARED = re.compile(r"^(?:export default )?(?:async )?(?:const|let|function|class) (?:\{ *)?(\w+)", re.MULTILINE)
PRELUDE = ("LANGUAGE", "TRANSLATIONS")
ALONE = sorted(path.stem for path in ASSETS.glob("*.js") if path.stem != "translate")


@pytest.mark.parametrize("scripts", [*((name,) for name in ALONE), SCRIPTS], ids=[*ALONE, "viewer"])
def test_no_name_is_declared_twice(scripts: tuple[str, ...]) -> None:
    texts = [(ASSETS / f"{name}.js").read_text("utf-8") for name in ("translate", *scripts)]
    names = Counter([*PRELUDE, *(name for text in texts for name in DECLARED.findall(text))])
    assert len(names) > len(PRELUDE)
    assert [name for name, count in names.items() if count > 1] == []
