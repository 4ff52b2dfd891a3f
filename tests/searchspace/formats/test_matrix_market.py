from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from searchspace.errors import InvalidInput
from searchspace.formats.matrix_market import read_traffic, write_traffic
from searchspace.traffic import Traffic

HEADER = "%%MatrixMarket matrix coordinate integer symmetric\n"


def test_a_pair_has_the_bytes_of_both_ways() -> None:
    sent = np.array([[7, 100, 0], [20, 0, 0], [0, 3, 0]])

    assert write_traffic(Traffic.from_directed(sent)) == HEADER + "3 3 2\n2 1 120\n3 2 3\n"


@given(st.integers(1, 8).flatmap(lambda n: arrays(np.int64, (n, n), elements=st.integers(0, 99))))
def test_what_is_written_is_read_back(sent: np.ndarray) -> None:
    traffic = Traffic.from_directed(sent)

    assert np.array_equal(read_traffic(write_traffic(traffic)).to_dense(), traffic.to_dense())


def test_rows_of_numbers_are_read_too() -> None:
    assert read_traffic("0 5 0\n5 0 7\n0 7 0\n").to_dense().tolist() == [
        [0, 5, 0],
        [5, 0, 7],
        [0, 7, 0],
    ]
    assert read_traffic("0, 5\n5, 0\n").total == 5


@pytest.mark.parametrize("text", ["0 5\n5 0\n", "0,5\n5,0\n", HEADER + "2 2 1\n2 1 5\n"])
def test_the_mark_of_utf_8_is_no_part_of_a_matrix(text: str) -> None:
    assert read_traffic("\ufeff" + text).total == 5


@pytest.mark.parametrize(
    "text",
    [
        "0 5\n2 0\n",
        "%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 5\n2 1 2\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 5.0\n2 1 2.\n",
    ],
)
def test_what_is_not_symmetric_is_taken_as_directed_and_said(text: str) -> None:
    told: list[str] = []

    assert read_traffic(text, notice=told.append).total == 7
    assert len(told) == 1
    assert "not symmetric" in told[0]


def test_a_general_matrix_that_is_symmetric_holds_bytes_both_ways() -> None:
    general = (
        "%%MatrixMarket matrix coordinate integer general\n% made by hand\n2 2 2\n1 2 5\n2 1 5\n"
    )

    assert read_traffic(general).total == 5
    assert read_traffic(HEADER + "2 2 2\n1 1 9\n2 1 5\n").total == 5  # no bytes to itself


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "does not begin with"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "does not begin with"),
        (HEADER, "line 2"),
        (HEADER + "2 3 0\n", "must be square"),
        (HEADER + "999999999 999999999 0\n", "1 to 65536 ranks"),
        (HEADER + "2 2 1\n2 1\n", "line 3"),
        (HEADER + "2 2 1\n3 1 5\n", "outside 1 to 2"),
        (HEADER + "2 2 2\n2 1 5\n1 2 5\n", "two entries for 2 and 1"),
        (HEADER + "2 2 1\n2 1 -5\n", "line 3 of the traffic matrix has a negative"),
        (HEADER + "2 2 1\n2 1 5.5\n", "line 3"),
        (HEADER + "2 2 1\n2 1 99999999999999999999\n", "line 3"),
        ("0 1\n1 0\n3 4\n", "must be square"),
        ("0 1\n1 x\n", "line 2"),
        ("hello\n", "line 1"),
        (HEADER + "2 2 2\n2 1 5\n", "1 entries where it says 2"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_traffic(text)
