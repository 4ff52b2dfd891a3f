from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from measuring.calibration.fits.eager import FIRST_SIZES, LATE, LATER_SIZES, find_limit


class Library:
    """Sends up to a limit at once."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.asked = 0

    def ask(self, step: int, sizes: Sequence[int]) -> Mapping[int, float]:
        self.asked += len(sizes)
        return {size: 1e-5 if size <= self.limit else LATE + 1e-3 for size in sizes}


@given(st.integers(FIRST_SIZES[0], LATER_SIZES[-1] - 1))
def test_the_limit_is_found_to_the_byte_or_nearly(limit: int) -> None:
    library = Library(limit)
    low, high = find_limit(library.ask)
    assert high is not None
    assert low <= limit < high
    assert high - low <= max(1, limit // 4096)
    assert library.asked < 90


def test_a_library_may_wait_always_or_never() -> None:
    low, high = find_limit(Library(0).ask)
    assert (low, high) == (0, 1)
    assert find_limit(Library(1 << 30).ask) == (LATER_SIZES[-1], None)
