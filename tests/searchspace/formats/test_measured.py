"""What a recording says of how well its computation is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.formats.measured import ELSEWHERE, Measured, parse_end

ONE = Measured(stretches=1000, seconds=1e-3, empty_stretch=5e-8)


def test_the_end_of_a_rank_tells_operations_and_measurement() -> None:
    assert parse_end(b"7\n") == (7, None)
    assert parse_end(b"7\n1000 1.000000e-03 5.000000e-08\n") == (7, ONE)


def test_a_rank_whose_computation_was_declared_measured_nothing() -> None:
    assert parse_end(b"7\n0 0.000000e+00 0.000000e+00\n") == (7, None)


@given(st.binary(max_size=60) | st.from_regex(rb"[0-9]*\n[0-9 .e+-]*\n?", fullmatch=True))
def test_any_text_is_an_end_or_none(text: bytes) -> None:
    end = parse_end(text)
    assert end is None or 0 <= end[0] < 10**18


@pytest.mark.parametrize(
    ("stretches", "seconds", "uncertainty"),
    [(1000, 1e-3, 0.1), (1000, 1.0, 1e-4), (10, 1e-7, 1.0 - ELSEWHERE), (10, 0.0, 1.0)],
    ids=["short stretches", "long ones", "empty ones", "nothing left"],
)
def test_the_shorter_its_stretches_the_less_is_computation_known(
    stretches: int, seconds: float, uncertainty: float
) -> None:
    measured = Measured(stretches=stretches, seconds=seconds, empty_stretch=5e-8)
    assert measured.uncertainty == pytest.approx(min(1.0, ELSEWHERE + uncertainty))


def test_ranks_are_added_up_if_all_were_measured() -> None:
    assert Measured.together([ONE, ONE]) == Measured(
        stretches=2000, seconds=2e-3, empty_stretch=5e-8
    )
    assert Measured.together([ONE, None]) is None
    assert Measured.together([]) is None
