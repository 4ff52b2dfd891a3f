"""Quantities as people write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchspace.errors import InvalidInput
from searchspace.units import (
    format_bandwidth,
    format_duration,
    format_size,
    format_speed,
    parse_bandwidth,
    parse_duration,
    parse_part,
    parse_size,
    parse_speed,
)


@pytest.mark.parametrize(
    ("parse", "text", "value"),
    [
        (parse_speed, "100Gf", 100e9),
        (parse_speed, "8e9", 8e9),
        (parse_speed, 5, 5.0),
        (parse_bandwidth, "40Gbps", 5e9),
        (parse_bandwidth, "5GBps", 5e9),
        (parse_bandwidth, "10Pbps", 1.25e15),
        (parse_bandwidth, "1GiBps", 2.0**30),
        (parse_duration, "60ns", 60e-9),
        (parse_duration, "1.5us", 1.5e-6),
        (parse_duration, " 10 min ", 600.0),
        (parse_duration, 0, 0.0),
        (parse_size, "4GiB", 4 * 2**30),
        (parse_size, "64kB", 64_000),
        (parse_size, "1.5KiB", 1536),
        (parse_part, "1%", 0.01),
        (parse_part, " 2.5 % ", 0.025),
        (parse_part, 0.1, 0.1),
    ],
)
def test_reads(parse: Callable[[object], float], text: object, value: float) -> None:
    assert parse(text) == value


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_speed, "100GHz", "unknown unit of speed; allowed: f, kf"),
        (parse_bandwidth, "40Gb", "unknown unit of bandwidth"),
        (parse_duration, "60 parsec", "unknown unit of duration; allowed: ps, ns"),
        (parse_duration, "60 nanoseconds", "did you mean '60ns'"),
        (parse_bandwidth, "40gbps", "did you mean '40Gbps'"),
        (parse_bandwidth, "5GBPS", "did you mean '5GBps'"),
        (parse_bandwidth, "40 Gb/s", "is not a bandwidth; write it as 40Gbps"),
        (parse_bandwidth, "40 Gbit/s", "is not a bandwidth; write it as 40Gbps"),
        (parse_duration, "-1s", "write it like 60ns"),
        (parse_duration, "", "write it like 60ns"),
        (parse_duration, None, "is not a duration"),
        (parse_duration, True, "is not a duration"),
        (parse_duration, float("nan"), "finite"),
        (parse_duration, 10**400, "finite"),
        (parse_speed, "1e999f", "finite"),
        (parse_size, "1.5B", "not a whole number of bytes"),
        (parse_part, "0%", "above 0 and below 1"),
        (parse_part, "100%", "above 0 and below 1"),
        (parse_part, "much", "such as 1% or 0.01"),
        (parse_part, "nan", "above 0 and below 1"),
        (parse_part, True, "above 0 and below 1"),
    ],
)
def test_refuses(parse: Callable[[object], float], text: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse(text)


def test_writes_for_people() -> None:
    assert format_speed(100e9) == "100 Gf"
    assert format_bandwidth(5e9) == "40 Gbps"
    assert format_size(4 * 2**30) == "4 GiB"
    assert [format_duration(s) for s in (0, 60e-9, 0.075, 1.5, 600, 10_000)] == [
        "0 s", "60 ns", "75 ms", "1.5 s", "10 min", "2.778 h",
    ]  # fmt: skip


@given(st.floats(min_value=1e-12, max_value=7000))
def test_a_written_duration_reads_back_to_four_digits(seconds: float) -> None:
    assert parse_duration(format_duration(seconds).replace(" ", "")) == pytest.approx(
        seconds, rel=1e-3
    )


@pytest.mark.parametrize("text", ["1" * 300_000 + "!", "1" + " " * 300_000 + "!", "1" * 300_000])
@pytest.mark.parametrize("parse", [parse_speed, parse_bandwidth, parse_duration, parse_size])
def test_long_text_is_read_in_one_pass(parse: Callable[[object], float], text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a"):
        parse(text)


@pytest.mark.parametrize("text", [".5s", "0.5 s", "5e-1", "\t500ms\n", "00.50"])
def test_numbers_may_be_written_in_these_ways(text: str) -> None:
    assert parse_duration(text) == 0.5
