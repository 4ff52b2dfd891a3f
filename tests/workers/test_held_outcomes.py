"""Outcomes are stored together, and soon where nothing follows them."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from storage.attempts import Finished
from storage.errors import Unavailable
from storage.records import Outcome
from workers.held_outcomes import HeldOutcomes


def finished(number: int) -> Finished:
    return Finished(f"job/{number}/1", Outcome(status="completed", value=1.0), None)


def test_what_is_added_is_stored_together_and_once() -> None:
    stored: list[list[Finished]] = []
    held = HeldOutcomes(lambda some: stored.append(list(some)), 3600.0)
    held.store()
    held.add(finished(1))
    held.add(finished(2))
    assert stored == []
    held.store()
    held.store()
    assert stored == [[finished(1), finished(2)]]


def test_an_outcome_does_not_wait_for_an_evaluation_that_takes_long() -> None:
    stored: list[Finished] = []
    came = threading.Event()

    def store(some: Sequence[Finished]) -> None:
        stored.extend(some)
        came.set()

    held = HeldOutcomes(store, 0.0)
    held.add(finished(1))
    came.wait()
    held.store()
    assert stored == [finished(1)]


def test_what_could_not_be_stored_by_itself_is_tried_again_and_told() -> None:
    tried = threading.Event()

    def away(some: Sequence[Finished]) -> None:
        tried.set()
        raise Unavailable("the database is away")

    held = HeldOutcomes(away, 0.0)
    held.add(finished(1))
    tried.wait()
    with pytest.raises(Unavailable):
        held.store()
