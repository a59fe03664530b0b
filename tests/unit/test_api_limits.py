"""FairSemaphore: a limited number at the same time, the others in the order of their arrival."""

import threading
import time

import pytest

from rag import errors
from rag.api.limits import FairSemaphore
from tests.waiting import eventually


def test_waiting_requests_are_served_in_order() -> None:
    turns, order = FairSemaphore(1), list[int]()

    def queue(number: int) -> None:
        with turns.acquire():
            order.append(number)

    threads = [threading.Thread(target=queue, args=(number,)) for number in range(20)]
    with turns.acquire():
        for waiting, thread in enumerate(threads):
            thread.start()
            assert eventually(lambda: len(turns._waiting) == waiting + 1)  # noqa: B023
    for thread in threads:
        thread.join()
    assert order == [*range(20)]


def test_concurrent_requests_are_limited() -> None:
    turns, inside, most = FairSemaphore(3), 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(50):
            with turns.acquire():
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


def test_a_request_that_waits_too_long_is_refused() -> None:
    turns = FairSemaphore(1, timeout=0.01)
    with turns.acquire(), pytest.raises(errors.BusyError), turns.acquire():
        pass
    with turns.acquire():  # the turn is free again
        pass


def test_a_failed_request_frees_its_slot() -> None:
    turns = FairSemaphore(1, timeout=0.01)
    with pytest.raises(ZeroDivisionError), turns.acquire():
        raise ZeroDivisionError
    with turns.acquire():
        pass
