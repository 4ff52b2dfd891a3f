from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from searchspace.errors import InvalidInput
from searchspace.formats.matrix_market import read_traffic, write_traffic

HEADER = "%%MatrixMarket matrix coordinate integer symmetric\n"


def test_a_pair_has_the_bytes_of_both_ways() -> None:
    sent = np.array([[7, 100, 0], [20, 0, 0], [0, 3, 0]])

    assert write_traffic(sent) == HEADER + "3 3 2\n2 1 120\n3 2 3\n"


@given(st.integers(1, 8).flatmap(lambda n: arrays(np.int64, (n, n), elements=st.integers(0, 99))))
def test_what_is_written_is_read_back(sent: np.ndarray) -> None:
    both = sent + sent.T
    np.fill_diagonal(both, 0)

    assert np.array_equal(read_traffic(write_traffic(sent)), both)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "does not begin with"),
        ("%%MatrixMarket matrix coordinate real general\n1 1 0\n", "does not begin with"),
        (HEADER, "line 2"),
        (HEADER + "2 3 0\n", "must be square"),
        (HEADER + "999999999 999999999 0\n", "1 to 65536 ranks"),
        (HEADER + "2 2 1\n2 1\n", "line 3"),
        (HEADER + "2 2 1\n3 1 5\n", "outside 1 to 2"),
        (HEADER + "2 2 1\n1 1 5\n", "no new pair"),
        (HEADER + "2 2 2\n2 1 5\n1 2 5\n", "no new pair"),
        (HEADER + "2 2 2\n2 1 5\n", "1 entries where it says 2"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(text: str, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read_traffic(text)
