"""Tables of algorithms by ranks and bytes: never slower than the library, and safe everywhere."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.collectives.decision_table import Line, Row, Times, chosen, decide, repeated

NAMES = ("default", "ring", "tree", "doubling")
SECONDS = st.floats(1e-6, 1.0)
TIMES = st.dictionaries(
    st.integers(2, 200),
    st.dictionaries(
        st.integers(1, 1 << 22),
        st.fixed_dictionaries({"default": SECONDS}, optional=dict.fromkeys(NAMES[1:], SECONDS)),
        min_size=1,
        max_size=4,
    ),
    min_size=1,
    max_size=4,
)


def anywhere(_name: str, _ranks: int) -> bool:
    return True


def only_powers_of_two(name: str, ranks: int) -> bool:
    return name != "doubling" or ranks & (ranks - 1) == 0


def test_the_fastest_is_taken_and_lines_begin_between_the_sizes() -> None:
    times = {8: {16: {"default": 2.0, "tree": 1.0}, 4096: {"default": 9.0, "ring": 5.0}}}
    assert decide(times, anywhere) == (Row(8, (Line(0, "tree"), Line(256, "ring"))),)


def test_what_cannot_be_told_or_takes_no_time_is_left_to_the_library() -> None:
    times = {8: {16: {}, 64: {"default": 1.0, "tree": 0.0}, 4096: {"default": 0.0, "ring": 0.0}}}
    assert decide(times, anywhere) == (Row(8, (Line(0, "default"),)),)
    assert decide(times, anywhere, by_size=False) == (Row(8, (Line(0, "default"),)),)


def test_a_gain_that_is_none_leaves_the_choice_to_the_library() -> None:
    times = {8: {16: {"default": 1.0, "tree": 0.97}}}
    assert decide(times, anywhere) == (Row(8, (Line(0, "default"),)),)
    assert decide(times, anywhere, worth=0.01) == (Row(8, (Line(0, "tree"),)),)


def test_an_algorithm_for_powers_of_two_ends_before_other_sizes() -> None:
    times = {4: {16: {"default": 3.0, "doubling": 1.0, "ring": 2.0}}, 8: {16: {"default": 1.0}}}
    assert decide(times, only_powers_of_two) == (
        Row(4, (Line(0, "doubling"),)),
        Row(5, (Line(0, "ring"),)),
        Row(8, (Line(0, "default"),)),
    )


def test_a_library_that_does_not_look_at_sizes_gets_what_is_never_slower() -> None:
    at = {
        1: {"default": 2.0, "tree": 1.0, "ring": 1.5},
        9: {"default": 2.0, "tree": 3.0, "ring": 1},
    }
    assert decide({4: at}, anywhere, by_size=False) == (Row(4, (Line(0, "ring"),)),)


def test_rows_are_repeated_where_lines_would_be_wrong_by_more_than_a_fourth() -> None:
    rows = (Row(8, (Line(0, "a"), Line(9, "b"))), Row(16, (Line(0, "c"),)), Row(32, ()))
    assert [row.ranks for row in repeated(rows)] == [8, 10, 12, 15, 16, 32]
    last = [row.ranks for row in repeated(rows[:1])]
    assert last[:5] == [8, 10, 12, 15, 18]
    assert last[-1] > 16_384 / 1.25


@given(times=TIMES, by_size=st.booleans(), worth=st.floats(0, 0.5))
def test_no_call_that_was_simulated_is_slower_than_the_library(
    times: Times, by_size: bool, worth: float
) -> None:
    rows = decide(times, anywhere, by_size=by_size, worth=worth)
    slower = 1 + (1e-9 if by_size else worth + 1e-9)
    for ranks, sizes in times.items():
        for size, at in sizes.items():
            assert at[chosen(rows, ranks, size)] <= at["default"] * slower


@given(times=TIMES, ranks=st.integers(2, 300), size=st.integers(1, 1 << 23))
def test_no_communicator_gets_what_does_not_work_there(times: Times, ranks: int, size: int) -> None:
    known = {
        at: {
            size: {n: s for n, s in of.items() if only_powers_of_two(n, at)}
            for size, of in sizes.items()
        }
        for at, sizes in times.items()
    }
    assert only_powers_of_two(chosen(decide(known, only_powers_of_two), ranks, size), ranks)


@given(times=TIMES)
def test_rows_and_lines_increase_and_say_something_new(times: Times) -> None:
    rows = decide(times, anywhere)
    assert [row.ranks for row in rows] == sorted({row.ranks for row in rows})
    for row in rows:
        begins = [line.bytes for line in row.lines]
        assert begins[0] == 0
        assert begins == sorted(set(begins))
        names = [line.algorithm for line in row.lines]
        assert all(one != other for one, other in itertools.pairwise(names))


@pytest.mark.parametrize(("ranks", "size"), [(1, 5), (3, 1)])
def test_what_no_row_names_is_left_to_the_library(ranks: int, size: int) -> None:
    assert chosen((Row(4, (Line(0, "ring"),)),), ranks, size) == "default"
