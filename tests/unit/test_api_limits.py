"""Turns: so many at the same time, the others in the order they came."""

import threading
import time

import pytest

from rag import errors
from rag.api.limits import Turns
from tests.waiting import eventually


def test_those_who_wait_are_served_in_their_order() -> None:
    turns, order = Turns(1), list[int]()

    def queue(number: int) -> None:
        with turns.take():
            order.append(number)

    threads = [threading.Thread(target=queue, args=(number,)) for number in range(20)]
    with turns.take():
        for waiting, thread in enumerate(threads):
            thread.start()
            assert eventually(lambda: len(turns._waiting) == waiting + 1)  # noqa: B023
    for thread in threads:
        thread.join()
    assert order == [*range(20)]


def test_never_more_at_the_same_time_than_allowed() -> None:
    turns, inside, most = Turns(3), 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with turns.take():
                with lock:
                    inside += 1
                    most = max(most, inside)
                time.sleep(0)
                with lock:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= most <= 3
    assert turns._free == 3


def test_who_waits_too_long_is_told_and_takes_no_turn() -> None:
    turns = Turns(1, patience_seconds=0.01)
    with turns.take(), pytest.raises(errors.BusyError), turns.take():
        pass
    with turns.take():  # the turn is free again
        pass


def test_a_turn_ends_with_an_error_too() -> None:
    turns = Turns(1, patience_seconds=0.01)
    with pytest.raises(ZeroDivisionError), turns.take():
        raise ZeroDivisionError
    with turns.take():
        pass
