from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from searchspace.errors import InvalidInput
from searchspace.formats.pattern_names import canonical_pattern
from searchspace.formats.patterns import PATTERNS, matrix_trace, pattern_trace
from searchspace.kernels import trace_summary, traffic_matrix
from searchspace.traffic import Traffic

SMALL = {"pattern": "linear", "ranks": 4, "size": "64kB", "count": 3, "rate": 100}


@pytest.mark.parametrize(
    ("pattern", "messages"),
    [
        ("all-to-all", 12),
        ("alltoall", 12),
        ("bcast/scatter", 3),
        ("gather/reduce", 3),
        ("linear", 3),
    ],
)
def test_a_round_sends_a_message_to_each_receiver(
    tmp_path: Path, pattern: str, messages: int
) -> None:
    trace = tmp_path / "pattern.ht"
    pattern_trace(SMALL | {"pattern": pattern}, trace)
    found = trace_summary(trace)
    assert (found["messages"], found["bytes"]) == (3 * messages, 3 * messages * 64_000)
    goes = PATTERNS[canonical_pattern(pattern) or ""]
    senders = {i for i in range(4) for j in range(4) if goes(i, j)}
    assert found["flops"] == pytest.approx(len(senders) * 3 * 1e9 / 100)


def test_a_matrix_comes_out_of_its_trace_again(tmp_path: Path) -> None:
    traffic = np.array([[0, 7, 0], [7, 0, 10], [0, 10, 0]], dtype=np.int64)
    trace = tmp_path / "matrix.ht"
    matrix_trace(Traffic.from_dense(traffic), trace, rounds=2)
    directed = traffic_matrix(trace)
    assert np.array_equal(directed + directed.T, 2 * traffic)


@pytest.mark.parametrize("ranks", [1, 3])
def test_there_is_no_trace_of_ranks_that_exchange_nothing(tmp_path: Path, ranks: int) -> None:
    trace = tmp_path / "matrix.ht"
    with pytest.raises(InvalidInput, match="no two ranks exchange a byte"):
        matrix_trace(Traffic.silent(ranks), trace)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pattern", "ring"), ("ranks", 1), ("ranks", 10**9), ("size", "big"), ("size", 0),
        ("count", 0), ("rate", 0), ("rate", True), ("host_speed", "x"), ("colour", 1),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named(tmp_path: Path, field: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        pattern_trace(SMALL | {field: value}, tmp_path / "pattern.ht")
    assert caught.value.field == field


def test_a_trace_that_would_be_too_large_is_refused_before_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="more than 2 GiB"):
        pattern_trace(SMALL | {"count": 10**9}, tmp_path / "pattern.ht")
