from types import SimpleNamespace

import pydantic
import pytest

from rag.contract import copy_fields


class Model(pydantic.BaseModel):
    kept: int
    changed: str


def test_fields_are_copied_by_name_unless_they_are_given() -> None:
    source = SimpleNamespace(kept=1, changed="before", other=2)
    assert copy_fields(Model, source, changed="after") == Model(kept=1, changed="after")
    with pytest.raises(AttributeError, match="kept"):
        copy_fields(Model, SimpleNamespace(), changed="after")
