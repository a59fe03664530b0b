"""An answer before the decision whether it is shown."""

from typing import NamedTuple

from rag.types import Citation, Hit, Sentence, Usage


class Draft(NamedTuple):
    """A written or quoted answer with its verdicts; the fields are those of `AnswerResponse`, and who wrote it."""

    model: str
    text: str = ""
    sentences: tuple[Sentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Usage = Usage()
    likelihood: float | None = None
    hint: str | None = None
    nearest: Hit | None = None
    stopped: bool = False
    is_by_small_model: bool = False
