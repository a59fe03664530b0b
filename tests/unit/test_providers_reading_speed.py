"""How much a model on this machine gets to read."""

from rag.providers.model_calls import (
    LEAST_TOKENS,
    MEASURED_PROMPTS,
    READING_SECONDS,
    UNKNOWN_TOKENS,
    ReadingSpeeds,
)


def test_before_the_first_measure_a_model_gets_a_small_prompt() -> None:
    assert ReadingSpeeds().budget("ollama:llama3") == UNKNOWN_TOKENS


def test_a_model_gets_what_it_reads_in_time() -> None:
    speeds = ReadingSpeeds()
    speeds.record("a", tokens=2000, seconds=20.0)
    assert speeds.slowest("a") == 100.0
    assert speeds.budget("a") == 100 * READING_SECONDS
    assert speeds.budget("b") == UNKNOWN_TOKENS


def test_the_slowest_of_the_last_prompts_decides() -> None:
    speeds = ReadingSpeeds()
    speeds.record("a", tokens=1000, seconds=20.0)
    speeds.record("a", tokens=1000, seconds=0.1)  # the server still knew its beginning
    assert speeds.slowest("a") == 50.0
    for _ in range(MEASURED_PROMPTS):
        speeds.record("a", tokens=1000, seconds=1.0)
    assert speeds.slowest("a") == 1000.0


def test_short_prompts_and_unmeasured_ones_do_not_count() -> None:
    speeds = ReadingSpeeds()
    speeds.record("a", tokens=50, seconds=5.0)
    speeds.record("a", tokens=5000, seconds=0.0)
    assert speeds.slowest("a") is None


def test_the_slowest_model_still_gets_the_best_passage() -> None:
    speeds = ReadingSpeeds()
    speeds.record("a", tokens=300, seconds=300.0)
    assert speeds.budget("a") == LEAST_TOKENS
