"""Algorithms by message size, as parameters say them."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.collectives import COLLECTIVES, DEFAULT
from searchspace.collectives.by_size import (
    algorithms_of_largest,
    called_bytes,
    canonical,
    dividing,
    lines_of,
    merged_sizes,
    parameter,
    parsed,
    range_text,
    ranges_of,
    thresholds,
)
from searchspace.collectives.decision_table import SIZED, Line

algorithms = st.sampled_from([DEFAULT, "rdb", "lr", "rab"])
begins = st.integers(1, 1 << 40)


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, str]:
    named = draw(st.lists(st.tuples(st.sampled_from(SIZED), st.just(0) | begins), max_size=8))
    chosen = {parameter(*one): draw(algorithms) for one in named}
    return {"topology": "ring", **chosen}


@st.composite
def bins(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    found = []
    for power in sorted(draw(st.sets(st.integers(0, 40), max_size=12))):
        least = draw(st.integers(1 << power, (2 << power) - 1))
        most = draw(st.integers(least, (2 << power) - 1))
        found.append((least, most, draw(st.integers(1, 1000))))
    return found


def at(configuration: dict[str, str], collective: str, size: int) -> str:
    """The algorithm of a call of so many bytes, by what the names of parameters mean."""
    since = max(
        (found[1] for name in configuration if (found := parsed(name)) and found[0] == collective
         and found[1] <= size),
        default=0,
    )  # fmt: skip
    return configuration.get(parameter(collective, since), DEFAULT)


def test_a_parameter_names_a_collective_and_the_bytes_from_which_on_it_holds() -> None:
    assert parameter("bcast") == "collectives.bcast"
    assert parameter("bcast", 4096) == "collectives.bcast@4096"
    assert parsed("collectives.bcast@4096") == ("bcast", 4096)
    assert parsed("collectives.barrier") == ("barrier", 0)


@pytest.mark.parametrize(
    "name",
    [
        "topology",
        "collectives.sort",
        "collectives.bcast@",
        "collectives.bcast@0",
        "collectives.bcast@04",
        "collectives.bcast@-4",
        "collectives.bcast@4.5",
        "collectives.bcast@٤",
        "collectives.bcast@" + 5000 * "9",
        "collectives.barrier@4",
        "collectives.alltoallv@4",
    ],
)
def test_what_is_no_such_parameter_is_none(name: str) -> None:
    assert parsed(name) is None


@given(st.sampled_from(SIZED), st.just(0) | begins)
def test_a_name_is_read_back(collective: str, since: int) -> None:
    assert parsed(parameter(collective, since)) == (collective, since)


@given(configurations(), st.sampled_from(SIZED), st.integers(0, 1 << 41))
def test_lines_say_what_each_size_runs_by(
    configuration: dict[str, str], collective: str, size: int
) -> None:
    lines = lines_of(configuration, collective)
    assert lines[0].bytes == 0
    assert all(a.bytes < b.bytes for a, b in itertools.pairwise(lines))
    assert all(a.algorithm != b.algorithm for a, b in itertools.pairwise(lines))
    said = [line.algorithm for line in lines if line.bytes <= size][-1]
    assert said == at(configuration, collective, size)


@given(configurations())
def test_the_one_form_means_the_same_and_has_nothing_to_leave_out(
    configuration: dict[str, str],
) -> None:
    short = canonical(configuration)
    assert canonical(short) == short
    assert short.get("collectives.bcast") != DEFAULT
    for collective in COLLECTIVES:
        assert lines_of(short, collective) == lines_of(configuration, collective)


def test_the_largest_messages_decide_what_cables_carry() -> None:
    chosen = {"collectives.bcast": "rdb", "collectives.bcast@10": "lr", "collectives.reduce": "rab"}
    assert algorithms_of_largest(chosen) == {"bcast": "lr", "reduce": "rab"}
    assert ranges_of(chosen) == {"bcast": (0, 10), "reduce": (0,)}
    assert lines_of(chosen, "bcast") == (Line(0, "rdb"), Line(10, "lr"))


@given(bins(), st.integers(1, 6))
def test_ranges_divide_what_is_called(called: list[tuple[int, int, int]], ranges: int) -> None:
    found = thresholds(called, ranges=ranges)
    assert len(found) == max(0, min(ranges, len(called)) - 1)
    assert list(found) == sorted(set(found))
    assert dividing(found, called) == found
    for least, most, _ in called:
        assert not any(least < begin <= most for begin in found), "one power of two stays together"


def test_ranges_begin_in_the_widest_gaps() -> None:
    small, middle, large = (8, 8, 90), (65_536, 70_000, 9), (1 << 20, 1 << 20, 1)
    assert thresholds([small, middle, large], ranges=2) == (1024,)
    assert thresholds([small, middle, large]) == (1024, 262_144)
    assert thresholds([small, (12, 15, 3)], ranges=1) == ()
    assert thresholds([]) == ()


@given(bins(), st.lists(begins, max_size=5, unique=True))
def test_what_divides_nothing_is_left_out(
    called: list[tuple[int, int, int]], given_begins: list[int]
) -> None:
    wanted = tuple(sorted(given_begins))
    kept = dividing(wanted, called)
    assert set(kept) <= set(wanted)
    for since, until in itertools.pairwise((0, *kept, 1 << 60)):
        inside = [one for one in called if one[1] >= since and one[0] < until]
        assert inside or not kept


def test_sizes_of_several_programs_are_put_together() -> None:
    one = {"bcast": [(8, 9, 4), (64, 64, 1)]}
    other = {"bcast": [(10, 15, 1)], "reduce": [(1, 1, 2)]}
    assert merged_sizes([one, other]) == {
        "bcast": [[8, 15, 5], [64, 64, 1]],
        "reduce": [[1, 1, 2]],
    }


def test_bytes_are_those_of_the_vector_or_of_one_block() -> None:
    block = {"send_count": 3, "send_size": 4, "recv_count": 2, "recv_size": 8}
    assert called_bytes("allreduce", {"count": 3, "size": 8}) == 24
    assert called_bytes("alltoall", block) == 16
    assert called_bytes("reduce_scatter", {"counts": [1, 2, 3], "size": 4}) == 24
    assert called_bytes("barrier", {}) is None


def test_a_range_in_words() -> None:
    assert range_text(0, 65_536) == "below 64 KiB"
    assert range_text(65_536, 1 << 20) == "from 64 KiB to 1 MiB"
    assert range_text(1 << 20, None) == "from 1 MiB"
