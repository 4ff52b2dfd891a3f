import pytest

from measuring.calibration.fits.hosts import common_speed
from searchspace.errors import HamtuneError


def test_the_speed_is_that_of_the_middle_host_at_its_best() -> None:
    seconds = {0: [1.0, 1.4], 1: [2.0, 1.1], 2: [1.25, 1.3]}
    assert common_speed(seconds, 1.1e9) == pytest.approx(1e9)


def test_a_host_that_was_disturbed_is_not_slow() -> None:
    seconds = {0: [1.0, 1.5, 1.6], 1: [1.45, 1.9, 2.5]}
    assert common_speed(seconds, 1e9) == pytest.approx(1e9 / 1.225)


def test_hosts_that_differ_are_told_of() -> None:
    with pytest.raises(HamtuneError, match=r"rank 0 computes 2.0 times as fast as rank 3"):
        common_speed({0: [0.5], 3: [1.0, 5.0]}, 1e9)
