"""The reasoning of a model is separated from its answer."""

import pytest

from rag.providers.model_calls import ReasoningFilter, strip_reasoning

OUTPUTS = {
    "Costs fell.": "Costs fell.",
    "<think>Did costs fall? a < b</think>Costs fell.": "Costs fell.",
    "\n<Thinking>\nHm.\n</Thinking>\n\nCosts fell.": "\n\nCosts fell.",
    "<think></think>Costs fell.": "Costs fell.",
    "<think>Did costs": "",
    "<think": "<think",
    "<thin air>": "<thin air>",
    "": "",
}


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(("output", "answer"), OUTPUTS.items())
def test_reasoning_is_removed_however_the_stream_is_cut(output: str, answer: str, size: int) -> None:
    reasoning = ReasoningFilter()
    pieces = [reasoning.feed(output[at : at + size]) for at in range(0, len(output), size)]
    assert "".join(pieces) + reasoning.finish() == answer
    assert strip_reasoning(output) == answer


def test_reasoning_without_an_opening_tag_is_removed() -> None:
    assert strip_reasoning("Did costs fall? Yes.</think>Costs fell.") == "Costs fell."
