"""Slots of open requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from searchspace.formats.slots import Slots


@given(st.lists(st.none() | st.integers(0, 12)))
def test_a_request_takes_the_lowest_free_slot(steps: list[int | None]) -> None:
    slots, taken = Slots(), set[int]()
    for freed in steps:
        if freed is None:
            lowest = min(set(range(len(taken) + 1)) - taken)
            assert slots.take() == lowest
            taken.add(lowest)
        else:
            slots.free([freed])
            taken.discard(freed)
        assert slots.taken == sorted(taken)
        assert bool(slots) == bool(taken)


def test_very_many_requests_may_be_open_at_once() -> None:
    slots = Slots()
    assert [slots.take() for _ in range(200_000)] == list(range(200_000))
